# SPDX-License-Identifier: Apache-2.0
# p0803: destall in an environment of Python, by make install, by pip from the
# source and by the wheel: DESTALL=1 alone lets two PyTorch jobs share, and the
# doctor has nothing to say against it.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/hub.sh"
. "$top_srcdir/tests/pytest.sh"
configured WITH_PYTHON || skip "built without Python"
need make
need_torch
$torch_python -c 'import ensurepip, venv' 2> /dev/null || skip "$torch_python makes no environments"
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
# Nothing is downloaded.
export PIP_NO_INDEX=1
version=$("$destall" --version | sed 's/destall //')

# make_env NAME OPTION...: a fresh one.
make_env() {
	name=$1
	shift
	$torch_python -m venv "$@" "$work/$name" || fail "no environment: $name"
}

# pip NAME ARG...: of that environment.
pip() {
	name=$1
	shift
	run "$work/$name/bin/python" -m pip install -q "$@"
	expect_status 0
}

#--- two jobs -----------------------------------------------------------------

# Goes through the data, three times, once it may begin.
cat > job.py <<'END'
import os, time
import torch
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __init__(self):
        self.root = os.path.abspath("data")
    def __len__(self):
        return 32
    def __getitem__(self, i):
        while not os.path.exists("go"):
            time.sleep(0.01)
        with open("%s/%d" % (self.root, i)) as f:
            return torch.full((1000,), int(f.read()))

torch.manual_seed(3)
loader = DataLoader(Numbers(), batch_size=4, shuffle=True, num_workers=1)
for _ in range(3):
    seen = [int(row[0]) for batch in loader for row in batch]
    assert sorted(seen) == list(range(32)), seen
END

mkdir data
for i in $(seq 0 31); do echo $i > data/$i; done

# expect_shared CMD...: two of these jobs share, and end well, and what they read is
# cached.  No sample is made before both are in their first epoch.
expect_shared() {
	rm -f go
	: > one.err
	: > two.err
	DESTALL=1 DESTALL_DATA=$PWD/data "$@" job.py > one.out 2> one.err &
	one=$!
	DESTALL=1 DESTALL_DATA=$PWD/data "$@" job.py > two.out 2> two.err &
	two=$!
	for job in one two; do
		until grep -q '^destall: loader 1' $job.err; do
			kill -0 $one && kill -0 $two || fail "it ended: $(cat one.err two.err)"
			sleep 0.05
		done
	done
	touch go
	wait $one && wait $two || fail "a job failed: $(cat one.err two.err)"
	# Whoever came second says so; the first may have begun before.
	grep -q '^destall: loader 1 .* shared with 1 other job' one.err two.err ||
	    fail "they did not share: $(cat one.err two.err)"
	[ ! -s one.out ] && [ ! -s two.out ] || fail "something on standard output"
	run "$destall" cache stat --json
	expect_out '"cached_items": 32,'
}

# expect_plain CMD...: it goes through the data, with one line.
expect_plain() {
	DESTALL=1 "$@" -c '
import torch
print([b.tolist() for b in torch.utils.data.DataLoader(range(4), 2)])' > "$work/out" 2> "$work/err"
	expect_out '^\[\[0, 1\], \[2, 3\]\]$'
	expect_one_line 'loaders are not shared: '
}

# expect_healthy: of the doctor, in the rows on itself.
expect_healthy() {
	run env COLUMNS=200 "$1" doctor
	expect_status 0
	expect_out '^  ok +Python hook '
	expect_out '^  ok +DESTALL=1 alone +starts destall in [1-9]'
}

#--- make install -------------------------------------------------------------

make -s -C "$top_builddir" install DESTDIR="$work/root" > "$work/out" 2>&1 ||
    fail "make install failed"
prefix=$(sed -n 's/^prefix = //p' "$top_builddir/Makefile")
site=$(sed -n 's/^pythondir = //p' "$top_builddir/Makefile" | sed "s|\${prefix}|$prefix|")
in=$work/root$prefix
for file in destall.pth destall/__init__.py destall/site/sitecustomize.py destall/lib/libdestall.so.0; do
	[ -s "$work/root$site/$file" ] || fail "$file was not installed"
done
for module in "$top_srcdir"/loader/python/destall/*.py; do
	[ -f "$work/root$site/destall/${module##*/}" ] || fail "${module##*/} was not installed"
done

# A tree that was moved as a whole: under run, and for a Python that reads its
# folder as it would read its own.
run env DESTALL_LOG=quiet "$in/bin/destall" run env
expect_out "^PYTHONPATH=$work/root$site/destall/site\$"
expect_out "^LD_PRELOAD=$in/"
expect_shared "$in/bin/destall" run -- $torch_python
stop_hub
cat > as_site.py <<END
import site, sys
site.addsitedir("$work/root$site")
sys.argv = sys.argv[1:]
exec(compile(open(sys.argv[0]).read(), sys.argv[0], "exec"))
END
expect_shared $torch_python as_site.py
stop_hub
# Off, no module of ours is imported.
[ -z "$($torch_python -c "
import site, sys
site.addsitedir('$work/root$site')
print(*[m for m in sys.modules if m.startswith('destall')])")" ] || fail "imported for nothing"

#--- pip, from the source ------------------------------------------------------

make_env source --system-site-packages
pip source "$top_srcdir/loader/python"
if ! ldconfig -p 2> /dev/null | grep -q libdestall; then
	expect_plain env PATH=/usr/bin:/bin "$work/source/bin/python"
fi
expect_shared env PATH="$in/bin:/usr/bin:/bin" "$work/source/bin/python"
stop_hub
pip source --no-build-isolation --force-reinstall --no-deps "$top_srcdir/loader/python"
[ ! -e "$top_srcdir/loader/python/build" ] || fail "pip left something in the source"
# A package of another version than the library steps aside.
sed -i 's/^VERSION = .*/VERSION = "0.0"/' "$work/source"/lib/python3*/site-packages/destall/_version.py
expect_plain env PATH="$in/bin:/usr/bin:/bin" "$work/source/bin/python"
expect_err 'the library is .*, this package 0\.0: install one version'
# What stays when the package goes does no harm.
rm -r "$work/source"/lib/python3*/site-packages/destall
run env DESTALL=1 "$work/source/bin/python" -c 'print("here")'
expect_status 0
expect_out '^here$'
expect_one_line 'not started in Python: '

make -s -C "$top_builddir" uninstall DESTDIR="$work/root" > "$work/out" 2>&1 ||
    fail "make uninstall failed"
left=$(find "$work/root" ! -type d)
[ -z "$left" ] && [ ! -e "$work/root$site/destall" ] || fail "uninstall left $left"

#--- the wheel ------------------------------------------------------------------

need patchelf
need readelf
command -v dpkg-query > /dev/null || skip "not Debian: the wheel was not made"
mkdir dist
make -s -C "$top_builddir" wheel wheeldir="$PWD/dist" > "$work/out" 2> "$work/err" ||
    fail "make wheel failed"
wheel=$(echo dist/destall-"$version"-py3-none-manylinux_2_*_"$(uname -m)".whl)
[ -f "$wheel" ] || fail "no wheel: $(ls dist)"
[ "$(ls dist)" = "${wheel#dist/}" ] || fail "more than a wheel: $(ls dist)"

# Its tag is true: no file in it needs more.
mkdir unpacked
$torch_python -m zipfile -e "$wheel" unpacked
newest=$(find unpacked -type f \( -name '*.so*' -o -path '*/scripts/destall' \) -exec readelf -VW {} + |
    grep -o 'GLIBC_2\.[0-9]*' | sort -t. -k2n -u | tail -n 1)
case $wheel in
*-manylinux_2_"${newest#GLIBC_2.}"_*) ;;
*) fail "the newest symbol is of $newest: $wheel" ;;
esac

# Alone on the machine: no program on PATH, no library but its own.
export PATH=/usr/bin:/bin
make_env wheel --system-site-packages
pip wheel "$wheel"
venv=$work/wheel
ln -s "$venv/bin/destall" link
[ "$(./link --version)" = "destall $version" ] || fail "not this version"
run "$venv/bin/python" -m destall --version
expect_out "^destall $version\$"
expect_shared "$venv/bin/python"
# Only root is told what program a hub is.
hub=$(sed -n '/"hub": {/,$s/.*"pid": \([0-9]*\),/\1/p' "$work/out")
[ "$(id -u)" -ne 0 ] || [ "$(readlink "/proc/$hub/exe")" = "$venv/bin/destall" ] ||
    fail "the hub is not that of the environment: process $hub"
"$venv/bin/destall" serve --stop || fail "the hub does not stop"
expect_shared "$venv/bin/destall" run -- "$venv/bin/python"
expect_shared "$venv/bin/destall" run -- $torch_python
"$venv/bin/destall" serve --stop || fail "the hub does not stop"
expect_healthy "$venv/bin/destall"
run env DESTALL_LOG=quiet ./link run env
expect_no_err
expect_out "^LD_PRELOAD=$venv/lib.*/destall/lib/libdestall-preload\.so\$"

# Without the system's packages: there is no PyTorch, and nothing to complain of.
make_env bare
pip bare "$wheel"
expect_healthy "$work/bare/bin/destall"
run env DESTALL=1 "$work/bare/bin/python" -c 'import destall; print(destall.__version__)'
expect_no_err
expect_out "^$version\$"
run "$work/bare/bin/python" -m pip uninstall -q -y destall
expect_status 0
left=$(find "$work/bare" -iname '*destall*')
[ -z "$left" ] || fail "pip uninstall left $left"
