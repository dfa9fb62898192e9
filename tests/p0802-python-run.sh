# SPDX-License-Identifier: Apache-2.0
# p0802: destall run and destall env let Python find destall at its start, by one
# folder before the user's own; what Python would have started, it starts still.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/run.sh"
[ -n "$hook" ] || skip "built without Python"
! is_sanitized || skip "Python cannot load a sanitized library"
export PYTHONDONTWRITEBYTECODE=1 DESTALL_LOG=quiet

# What is there of us, once a program runs.
cat > look.py <<'END'
import sys
print("started" if "destall._start" in sys.modules else "not started")
END

# expect_same CMD...: standard output, standard error and status as without us.
expect_same() {
	run "$@"
	cp "$work/out" want_out
	cp "$work/err" want_err
	want=$status
	run "$destall" run -- "$@"
	expect_status "$want"
	cmp -s want_out "$work/out" && cmp -s want_err "$work/err" || fail "not the same: $*"
}

#--- the path ----------------------------------------------------------------

run "$destall" run "$PYTHON" look.py
expect_status 0
expect_no_err
expect_out '^started$'
run "$destall" run "$PYTHON" -c 'import destall, sys; print(destall.__file__); print(sys.path[1])'
expect_out "^${hook%/site}/__init__\.py\$"
[ "$(sed -n 2p "$work/out")" = "$hook" ] || fail "not the first entry of Python's path"
run "$destall" run "$PYTHON" -c 'import destall._lib as l, destall; l.load(destall.__version__)'
expect_status 0
expect_no_err

# Nothing but our own entry is new, and no other name can be imported from it.
"$PYTHON" -c 'import sys; print(*sys.path, sep="\n")' > want
"$destall" run "$PYTHON" -c 'import sys; print(*sys.path, sep="\n")' | grep -vxF "$hook" > got
cmp -s want got || fail "another path"
[ "$(ls "$hook")" = sitecustomize.py ] || fail "other names in $hook: $(ls "$hook")"

path() { sed -n 's/^PYTHONPATH=//p' "$work/out"; }
run env PYTHONPATH=/a::/b "$destall" run env
[ "$(path)" = "$hook:/a::/b" ] || fail "merged: $(path)"
run env PYTHONPATH=/a "$destall" run "$destall" run env
[ "$(path)" = "$hook:/a" ] || fail "twice: $(path)"
run env PYTHONPATH= "$destall" run env
[ "$(path)" = "$hook" ] || fail "empty: $(path)"
run env PYTHONPATH=/a DESTALL=0 "$destall" run env
[ "$(path)" = /a ] || fail "DESTALL=0: $(path)"
run env DESTALL=0 "$destall" run "$PYTHON" look.py
expect_out '^not started$'

#--- destall env -------------------------------------------------------------

# evaluate CMD...: in a shell that has evaluated it twice.
evaluate() {
	run sh -c 'eval "$("$0" env)"; eval "$("$0" env)"; exec "$@"' "$destall" "$@"
	expect_status 0
	expect_no_err
}
evaluate env
[ "$(path)" = "$hook" ] || fail "env, twice: $(path)"
evaluate "$PYTHON" look.py
expect_out '^not started$'
evaluate "$PYTHON" -c 'import destall'
evaluate env DESTALL=1 "$PYTHON" look.py
expect_out '^started$'

#--- what else would have started ---------------------------------------------

mkdir user package package/sitecustomize raises lacks
echo 'print("the user is here")' > user/sitecustomize.py
echo 'print("a package is here")' > package/sitecustomize/__init__.py
echo 'raise ValueError("of the user")' > raises/sitecustomize.py
echo 'import not_there_at_all' > lacks/sitecustomize.py
for folder in user package raises lacks; do
	PYTHONPATH=$PWD/$folder
	export PYTHONPATH
	expect_same "$PYTHON" -c 'import sys; print("sitecustomize" in sys.modules)'
	run "$destall" run "$PYTHON" look.py
	expect_out '^started$'
done
unset PYTHONPATH
expect_same "$PYTHON" -c 'import sys; m = sys.modules.get("sitecustomize"); print(m and m.__file__)' \
    > /dev/null
for option in -I -E -S; do
	expect_same "$PYTHON" $option look.py
done
expect_same "$PYTHON" -c 'raise SystemExit(7)'

# Every process of a job, however it is started.
cat > starts.py <<'END'
import multiprocessing, sys
def look(_):
    return "destall._start" in sys.modules
if __name__ == "__main__":
    for method in "fork", "spawn", "forkserver":
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, pool.map(look, range(4)))
END
run "$destall" run "$PYTHON" starts.py
expect_status 0
expect_no_err
[ "$(grep -c 'True, True, True, True' "$work/out")" -eq 3 ] || fail "not in every process"

#--- broken, or not to be trusted ---------------------------------------------

# In a copy, as in a build folder.
mkdir -p tree/.libs
cp "$destall" tree/destall
cp "$object" tree/.libs/
chmod 755 tree/.libs tree/.libs/libdestall-preload.so
copy_hook tree
copy=$PWD/tree/python/destall
run tree/destall run "$PYTHON" look.py
expect_no_err
expect_out '^started$'

echo 'raise RuntimeError("broken")' > "$copy/_start.py"
run tree/destall run "$PYTHON" look.py
expect_status 0
expect_one_line 'not started in Python: RuntimeError: broken$'
expect_out '^not started$'

# refused WHAT: one line, and the job has the cache, and not that folder.
refused() {
	chmod o+w "$1"
	run tree/destall run env
	expect_status 0
	expect_one_line "run: Python jobs do not share batches: $1 is not loaded into jobs: all users"
	expect_out '^LD_PRELOAD='
	[ -z "$(path)" ] || fail "named all the same: $(path)"
	run tree/destall env
	expect_status 0
	expect_one_line "env: Python jobs do not share batches: $1 is not loaded into jobs"
	chmod o-w "$1"
}
refused "$copy"
refused "$copy/site"
refused "$copy/site/sitecustomize.py"
refused "$copy/_start.py"
mkdir -m 755 "$copy/__pycache__"
refused "$copy/__pycache__"
prefix=$(sed -n 's/^prefix = //p' "$top_builddir/Makefile")
pythondir=$(sed -n 's/^pythondir = //p' "$top_builddir/Makefile" | sed "s|\${prefix}|$prefix|")
if [ ! -e "$pythondir/destall" ]; then
	rm -r tree/python
	run tree/destall run env
	expect_status 0
	expect_one_line 'run: Python jobs do not share batches: there is no .*/destall/site: install'
	expect_out '^LD_PRELOAD='
fi

#--- the start itself ---------------------------------------------------------

. "$top_srcdir/tests/pytest.sh"
if $torch_python -c 'import pytest' 2> /dev/null; then
	long="" run_pytest test_start.py
fi
stop_hub
