# SPDX-License-Identifier: Apache-2.0
# c0700: destall run: the command finds what it would find without us, and we
# end as it ended.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/run.sh"

make_data data 10

#--- how it ends -------------------------------------------------------------

n=0
while [ $n -lt 256 ]; do
	run quiet "$destall" run sh -c "exit $n"
	expect_status $n
	expect_no_out
	expect_no_err
	n=$((n + 1))
done
expect_refused 127 'run: nosuchcommand: No such file or directory$' \
    quiet env PATH=/usr/bin:/bin "$destall" run nosuchcommand
expect_refused 127 "run: ./nosuch: No such file or directory$" quiet "$destall" run ./nosuch
: > plain
expect_refused 126 'run: ./plain: Permission denied$' quiet "$destall" run ./plain
expect_refused 126 'run: data: Permission denied$' env PATH=. DESTALL_LOG=quiet "$destall" run data
expect_refused 2 'run: CMD \[ARG\]\.\.\. is missing' "$destall" run
expect_refused 2 'run: CMD \[ARG\]\.\.\. is missing' "$destall" run --data data --
expect_refused 2 'run: --cache: .0. is no cache' "$destall" run --cache 0 true
expect_refused 2 'run: --cache: .many. is not a size' "$destall" run --cache many true
expect_refused 2 'run: --cache was given twice' "$destall" run --cache 1G --cache 2G true
expect_refused 2 'run: unknown option --date: did you mean --data' "$destall" run --date x true

# What the user named must be there: nothing is started.
expect_refused 125 'run: .*nosuch' "$destall" run --data nosuch touch started
expect_refused 125 'run: .*plain' "$destall" run --data data --data plain touch started
expect_refused 125 'run: .*nosuch' env DESTALL_DATA="$PWD/data:$PWD/nosuch" "$destall" run touch started
expect_refused 125 'run: DESTALL_CACHE: .lots. is not a size' env DESTALL_CACHE=lots "$destall" run touch started
[ ! -e started ] || fail "the command was started"

#--- which data sets ---------------------------------------------------------

caching() { expect_err "^destall: run: caching $1: 10 files, 9\.77 KiB, $2\$"; }
run "$destall" run --data data true
expect_status 0
caching "$PWD/data" 'all of it'
expect_err '^destall: run: no file of the data set was opened through destall$'
[ "$(wc -l < "$work/err")" -eq 2 ] || fail "more than two lines"
run env DESTALL_DATA="$PWD/data" "$destall" run true
caching "$PWD/data" 'all of it'
ln -s data link
run "$destall" run echo --epochs 3 --data=link
caching "$PWD/link" 'all of it'
expect_out '^--epochs 3 --data=link$'
run "$destall" run echo plain "$PWD/none"
expect_one_line "run: no data set: name it with --data DIR${hook:+; PyTorch loaders find their own}\$"
run env DESTALL_DATA= "$destall" run ls data
expect_one_line 'run: no data set: name it with --data DIR$'
run "$destall" run sh -c "'$destall' run ls data"
[ "$(grep -c 'run: no data set' "$work/err")" -eq 2 ] || fail "a job within the job has a data set"
run env DESTALL_DATA= "$destall" run --data data true
caching "$PWD/data" 'all of it'
# --data, the variable, the command line: the first of these.
mkdir other
echo item > other/one
run env DESTALL_DATA="$PWD/data" "$destall" run --data other ls data
expect_err "caching $PWD/other: 1 file, 5 B"
! grep -q "$PWD/data" "$work/err" || fail "more than what was asked for"
run quiet "$destall" run --data data true
expect_no_err
"$destall" cache drop data > "$work/out" || fail "the data set is still in use"
run "$destall" run --cache 35% --data data true
caching "$PWD/data" 'up to 35%'
# The job may unmount it: we hold nothing of it open, but keep it in use.
run "$destall" run --data data --data other sh -c "ls -l /proc/\$PPID/fd; '$destall' cache stat"
expect_status 0
expect_out ' -> /dev/null$'
! grep -Eq " -> $PWD/(data|other)" "$work/out" || fail "a data set is held open"
[ "$(grep -Ec "in use +$PWD/(data|other)\$" "$work/out")" -eq 2 ] || fail "a data set is not in use"
# One that was only found is left out.
if ! is_root; then
	mkdir -p found/locked
	chmod 000 found/locked
	run "$destall" run ls found
	expect_status 0
	chmod 700 found/locked
fi

# The ceiling belongs to the hub that is started.
stop_hub
run "$destall" run --cache 64M --data data true
caching "$PWD/data" 'all of it'
[ "$(wc -l < "$work/err")" -eq 2 ] || fail "a line about the ceiling of our own hub"
check_json 'assert d["budget_bytes"] == 64 << 20'
run "$destall" run --cache 32M --data data true
expect_status 0
expect_err '^destall: run: a hub runs already, with a cache of 64\.0 MiB: for 32M stop it first'

#--- what it saved -----------------------------------------------------------

if ! is_sanitized; then
	run "$destall" run --data data "$(harness holder)" data < /dev/null
	expect_err '^destall: run: 0 of 10 opens from the cache; 9\.77 KiB read from storage$'
	run "$destall" run --data data sh -c "'$(harness holder)' data; '$(harness holder)' data" < /dev/null
	expect_err '^destall: run: 20 of 20 opens from the cache; 0 B read from storage instead of 19\.5 KiB$'
fi

#--- what it is born with ----------------------------------------------------

# same CMD...: prints the same without us and with us; both are started by
# $starter, with what it sets.
starter=
same() {
	$starter "$@" > want || fail "$* fails"
	$starter env DESTALL_LOG=quiet "$destall" run --data data -- "$@" > got || fail "run $* fails"
	diff want got || fail "$* sees the difference"
}
show="grep -E '^(Sig[BIC]|ShdP|Umask|Groups|NoNewPrivs|Seccomp|Cpus_allowed)' /proc/self/status
	pwd; ls /proc/self/fd | wc -l; ls -l /proc/self/fd/ | sed -n 's/.* \([0-9]* -> [^p].*\)/\1/p' | grep -v /proc/
	ulimit -a; cat /proc/self/oom_score_adj; ps -o pgid= -p \$\$"
command -v ps > /dev/null || show=${show%;*}
same sh -c "$show" < /dev/null
(umask 027 && ulimit -n 100 && ulimit -c 0 && same sh -c "$show") || exit 1
(trap '' PIPE HUP USR1 && same sh -c "$show") || exit 1
if env --block-signal=USR1 true 2> /dev/null; then
	starter="env --ignore-signal=CHLD,INT,TSTP --block-signal=USR2,TERM,CHLD"
	# A shell would put some of it right.
	same grep -E '^Sig[BIC]' /proc/self/status
	grep -q 'SigIgn:.*90002' want || fail "nothing was ignored: $(cat want)"
	grep -q 'SigBlk:.*14800' want || fail "nothing was blocked: $(cat want)"
	starter="env --default-signal"
	same grep -E '^Sig[BIC]' /proc/self/status
	starter=
fi
same sh -c "$show" 5> opened 7< /dev/null
same sh -c 'ls /proc/self/fd' 0<&-
(same sh -c 'ls /proc/self/fd' 2>&-) || exit 1
status=0
quiet "$destall" run sh -c 'test -e /proc/self/fd/1' >&- || status=$?
expect_status 1

env -0 | sort -z > before
"$destall" run --data link --cache 35% env -0 2> /dev/null | sort -z > after
# The shell's own name of what it runs.
tr '\0' '\n' < before | grep -v '^_=' > before.txt
tr '\0' '\n' < after | grep -v '^_=' > after.txt
comm -13 before.txt after.txt | sed 's/\(DESTALL_JOB=\)[0-9a-f]\{16\}$/\1x/' > new
[ -z "$(comm -23 before.txt after.txt)" ] || fail "variables are gone: $(comm -23 before.txt after.txt)"
cat > want <<END
DESTALL=1
DESTALL_CACHE=35%
DESTALL_DATA=$PWD/link:$PWD/data
DESTALL_JOB=x
LD_PRELOAD=$object
END
[ -z "$hook" ] || echo "PYTHONPATH=$hook" >> want
sort new | diff want - || fail "the environment is another"
"$destall" run env > again 2> /dev/null
! grep -q '^DESTALL_CACHE=' again || fail "a variable for nothing"
# No data set is none for all processes of the job, whatever they are given.
grep -qx 'DESTALL_DATA=:' again || fail "each process looks for a data set of its own"
[ "$(sed -n 's/^DESTALL_JOB=//p' again)" != "$(sed -n 's/^DESTALL_JOB=//p' after.txt)" ] ||
    fail "two jobs of one name"

# Merged with what is there, ours first, never twice.
fail_shim=$(shim fail)
preload() { sed -n 's/^LD_PRELOAD=//p' "$work/out"; }
if ! is_sanitized; then
	run env LD_PRELOAD="$fail_shim" DESTALL_LOG=quiet "$destall" run env
	[ "$(preload)" = "$object:$fail_shim" ] || fail "merged: $(preload)"
	run quiet "$destall" run "$destall" run env LD_PRELOAD="$object:$fail_shim" "$destall" run env
	[ "$(preload)" = "$object:$fail_shim" ] || fail "twice: $(preload)"
fi

#--- streams -----------------------------------------------------------------

printf 'a\0b' > bytes
quiet "$destall" run cat < bytes > copy
cmp bytes copy || fail "standard input or output is not as it was"
[ -z "$("$destall" run -- true 2> /dev/null | cat)" ] || fail "something on standard output"
"$destall" run --data data -- true 2> /dev/null | cat > "$work/out"
expect_no_out
# Who reads what the command writes sees its end when the command closes it.
mkfifo hold written
env DESTALL_LOG=quiet "$destall" run sh -c 'echo first; exec >&-; read -r word < hold' > written &
job=$!
timeout 60 cat written > copy || fail "it is not closed"
[ "$(cat copy)" = first ] || fail "not what the command wrote"
[ -d "/proc/$job" ] || fail "it ended too early to tell"
echo go > hold
wait $job || fail "the command failed"
# A standard error that nobody reads changes nothing.
status=0
mkfifo gone
(: < gone) &
"$destall" run --data data sh -c 'exit 9' 2> gone || status=$?
wait $!
expect_status 9

#--- without us --------------------------------------------------------------

# plain_job: the environment as it was, whatever the options said.
plain_job() {
	env DESTALL_CACHE=10% "$@" env | grep -v '^_=' | sort > before.txt
	run env DESTALL_CACHE=10% "$@" "$destall" run --cache 35% --data data env
	expect_status 0
	grep -v '^_=' "$work/out" | sort | diff before.txt - || fail "the environment is not as it was"
}
plain_job env DESTALL=0
expect_one_line 'run: DESTALL=0: the job runs without the cache$'
stop_hub
mkdir -m 777 "$work/forbidden"
plain_job env DESTALL_HUB="$work/forbidden/s"
expect_one_line 'run: .*: the job runs without the cache$'
plain_job env DESTALL_HUB="$work/none/none/s"
expect_one_line 'run: .*: the job runs without the cache$'
plain_job env DESTALL_HUB=relative
expect_one_line 'run: .*: the job runs without the cache$'

# Of the object: none, or one that others could have changed.
mkdir -p tree/.libs
cp "$destall" tree/destall
copy_hook tree
destall=$PWD/tree/destall
prefix=$(sed -n 's/^prefix = //p' "$top_builddir/Makefile")
if [ ! -e "$prefix/lib/destall/libdestall-preload.so" ]; then
	plain_job env -u NOTHING
	expect_one_line 'run: there is no .*libdestall-preload\.so: .*: the job runs without the cache$'
fi
cp "$object" tree/.libs/
chmod 755 tree/.libs tree/.libs/libdestall-preload.so
run "$destall" run --data data env
expect_out "^LD_PRELOAD=$PWD/tree/.libs/libdestall-preload.so\$"
chmod 757 tree/.libs
plain_job env -u NOTHING
expect_one_line 'run: .*/.libs is not loaded into jobs: all users can write it: the job runs without the cache$'
chmod 755 tree/.libs
mv tree 'a tree'
destall="$PWD/a tree/destall"
plain_job env -u NOTHING
expect_one_line 'run: .* LD_PRELOAD holds no blank and no colon'
mv 'a tree' tree
destall=$PWD/tree/destall
# One that is not to be used does not hide another that is.
if grep -qx 'bindir = ${exec_prefix}/bin' "$top_builddir/Makefile" &&
    grep -qx 'libdir = ${exec_prefix}/lib' "$top_builddir/Makefile"; then
	mkdir -p moved/lib/destall
	mv tree moved/bin
	destall=$PWD/moved/bin/destall
	cp "$object" moved/lib/destall/
	chmod 755 moved/lib/destall moved/lib/destall/libdestall-preload.so
	chmod 757 moved/bin/.libs
	run quiet "$destall" run --data data env
	expect_no_err
	expect_out "^LD_PRELOAD=$PWD/moved/lib/destall/libdestall-preload.so\$"
	# Of several faults the first is told.
	chmod 757 moved/lib/destall
	if [ ! -e "$prefix/lib/destall/libdestall-preload.so" ]; then
		plain_job env -u NOTHING
		expect_one_line 'run: .*/bin/.libs is not loaded into jobs: all users can write it: the job runs without'
	fi
fi
stop_hub
