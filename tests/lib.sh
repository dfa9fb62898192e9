# SPDX-License-Identifier: Apache-2.0
# lib.sh: what every scenario test begins with:
#
#     . "${top_srcdir:?run by make check}/tests/lib.sh"
#
# It gives the test an empty directory of its own ($work, the current one), a
# clean environment, and at the end checks that the test left no process and
# no temporary file behind.  What a test may read of the environment:
#
#     DS_SEED         seed of whatever it chooses at random; 1 if not given
#     DS_FAIL_LIMIT   how many calls fail_calls fails at most, of each kind
#     DS_KILLS        so many times as many kills in tests that count them; 1
#     DS_FIGURES      a file that what was measured is added to

set -eu

destall=$top_builddir/destall
test_name=${0##*/}

# Every process of the test carries this mark, so that those left behind can be
# found.  Subshells show the environment their shell was started with, hence
# the second start.
if [ "${DS_TEST_MARK-}" != "$test_name.$$" ]; then
	export DS_TEST_MARK="$test_name.$$"
	case $- in
	*x*) exec "$(readlink "/proc/$$/exe")" -x "$0" "$@" ;;
	*) exec "$(readlink "/proc/$$/exe")" "$0" "$@" ;;
	esac
fi

keep_tmp=${TMPDIR:-/tmp}
work=$(mktemp -d "$keep_tmp/destall-$test_name.XXXXXX") || exit 99
mkdir "$work/home" "$work/run" "$work/tmp" "$work/cwd"
chmod 700 "$work/run"

# Nothing else of the caller's choices reaches the program.
for name in $(env | sed -n 's/^\(DESTALL[A-Z_]*\|DS_[A-Z_]*\)=.*/\1/p'); do
	case $name in
	DS_TEST_MARK | DS_SEED | DS_FAIL_LIMIT | DS_KILLS | DS_FIGURES) ;;
	*) unset "$name" ;;
	esac
done
unset NO_COLOR FORCE_COLOR CLICOLOR_FORCE COLUMNS LD_PRELOAD PYTHONPATH
export LC_ALL=C TERM=dumb HOME="$work/home" XDG_RUNTIME_DIR="$work/run"
export XDG_DATA_HOME="$work/home/share" TMPDIR="$work/tmp"
export DS_SEED="${DS_SEED:-1}"
cd "$work/cwd"

fail() {
	echo "FAILED: $*"
	for f in out err; do
		[ ! -s "$work/$f" ] || { echo "--- $f:"; head -c 4000 "$work/$f"; }
	done
	exit 1
}

skip() {
	echo "SKIPPED: $*"
	exit 77
}

# The processes that carry our mark, but for this shell, into $work/left.
leftovers() {
	grep -lzxF "DS_TEST_MARK=$DS_TEST_MARK" /proc/[0-9]*/environ \
	    > "$work/marked" 2> /dev/null || :
	: > "$work/left"
	while IFS=/ read -r _ _ pid _; do
		[ "$pid" = $$ ] || [ ! -d "/proc/$pid" ] ||
		    echo "$pid" >> "$work/left"
	done < "$work/marked"
}

# Says which are left and kills them; those that a test killed last may still
# need a moment to go: so many tenths of a second.
leftover_patience=100
check_leftovers() {
	attempt=0
	while [ $attempt -lt $leftover_patience ]; do
		leftovers
		[ -s "$work/left" ] || return 0
		sleep 0.1
		attempt=$((attempt + 1))
	done
	while read -r pid; do
		echo "LEFT BEHIND: process $pid:" \
		    "$(tr '\0' ' ' 2> /dev/null < "/proc/$pid/cmdline")"
		kill -KILL "$pid" 2> /dev/null
	done < "$work/left"
	return 1
}

finish() {
	status=$?
	trap - EXIT
	set +e
	check_leftovers || [ $status -ne 0 ] || status=1
	if [ -n "$(ls -A "$work/tmp")" ]; then
		echo "LEFT BEHIND: in TMPDIR:" "$work"/tmp/*
		[ $status -ne 0 ] || status=1
	fi
	cd /
	chmod -R u+rwX "$work" 2> /dev/null
	rm -rf "$work"
	exit $status
}
trap finish EXIT
# A shell that dies of a signal runs no EXIT trap.
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# run CMD...: its exit status into $status, its output into $work/out and err.
run() {
	status=0
	"$@" > "$work/out" 2> "$work/err" || status=$?
}

expect_status() {
	[ "$status" -eq "$1" ] || fail "exit status $status where $1 was expected"
}

# expect_out REGEX, expect_err REGEX: one line of it matches.
expect_out() { grep -Eq -- "$1" "$work/out" || fail "standard output has no line like: $1"; }
expect_err() { grep -Eq -- "$1" "$work/err" || fail "standard error has no line like: $1"; }
expect_no_out() { [ ! -s "$work/out" ] || fail "standard output is not empty"; }
expect_no_err() { [ ! -s "$work/err" ] || fail "standard error is not empty"; }

# expect_one_line REGEX: standard error is exactly one line of ours.
expect_one_line() {
	[ "$(wc -l < "$work/err")" -eq 1 ] || fail "not exactly one line on standard error"
	expect_err "^destall: $1"
}

# expect_refused STATUS REGEX CMD...: a clear line, nothing on standard output.
expect_refused() {
	want=$1 text=$2
	shift 2
	run "$@"
	expect_status "$want"
	expect_one_line "$text"
	expect_no_out
}

is_stopped() { grep -q '^State:.T' "/proc/$1/status" 2> /dev/null; }

# wait_stopped PID: until a crash point has stopped it.
wait_stopped() {
	until is_stopped "$1"; do
		kill -0 "$1" 2> /dev/null || fail "process $1 has ended, and was not stopped"
		sleep 0.01
	done
}

need() { command -v "$1" > /dev/null 2>&1 || skip "$1 is not installed"; }
is_root() { [ "$(id -u)" -eq 0 ]; }

# Has configure defined this (WITH_PNG, ...)?
configured() { grep -q "^#define $1 1" "$top_builddir/config.h"; }
need_crash_points() { configured WITH_CRASH_POINTS || skip "built without --enable-crash-points"; }

# event N WHAT: so much was done; `make soak` adds it up.
event() { echo "EVENT $*"; }

# sources GLOB: the files of the tree that have such a name, without what a
# build within it has made.
sources() {
	(cd "$top_srcdir" && find . -mindepth 1 \( -name build -o -name _build -o \
	    -name _inst -o -name build-aux \) -prune -o -type f -name "$1" \
	    ! -name config.h -print) | sed 's|^\./||' | sort
}

# crash_points PREFIX: the names of all points in the source that begin so.
crash_points() {
	sources '*.c' | grep -v '^tests/' | while read -r source; do
		sed -n "s/.*crash_point(\"\($1[^\"]*\)\").*/\1/p" "$top_srcdir/$source"
	done | sort -u
}

#--- preloaded shims ---------------------------------------------------------

# A preloaded shim and AddressSanitizer's own allocator do not go together.
is_sanitized() { nm "$destall" 2>/dev/null | grep -Eq '__(asan|tsan)_init'; }
need_preload() { ! is_sanitized || skip "no preloaded shims in a sanitized build"; }

# shim NAME: the object of tests/shim/NAME.c, to preload.
shim() {
	shim_file=$top_builddir/tests/shim/.libs/$1.so
	[ -f "$shim_file" ] || { echo "no $shim_file" >&2; exit 99; }
	echo "$shim_file"
}

# harness NAME: the program of tests/harness/NAME.c.
harness() { echo "$top_builddir/tests/harness/$1"; }

# with_fail SETTING CMD...: as run, with the calls that SETTING names failing
# (tests/shim/fail.c) in $fail_exe.  CMD may be a function of the test.
with_fail() {
	fail_setting=$1
	shift
	status=0
	(
		ulimit -c 0
		export LD_PRELOAD="$fail_shim" DS_FAIL="$fail_setting"
		export DS_FAIL_EXE="$fail_exe" DS_FAIL_COUNT="$work/calls"
		"$@"
	) > "$work/out" 2> "$work/err" || status=$?
}

# fail_calls FUNCTION ERRNO CMD...: runs CMD with the first call of FUNCTION
# failing with ERRNO (or being `short`), then with the second one, and so on;
# each once, and each from there on.  After each, CMD must have ended with one
# of $fail_statuses, no signal, at most $fail_lines lines on standard error,
# and no sanitizer's report; then check_after_failure is called, where the test
# has one, as `check_after_failure SETTING`.  A function before_failure, where
# there is one, puts things in order before each run.
#
# Of more calls than DS_FAIL_LIMIT, one is chosen in each of as many equal
# stretches; DS_SEED chooses.
fail_exe=destall
fail_statuses="0 1"
fail_lines=1
fail_calls() {
	fail_call=$1 fail_errno=$2
	shift 2
	count_calls "$@"
	for k in $(choose_calls "$fail_total"); do
		fail_once "$fail_call:$k:$fail_errno" "$@"
		fail_once "$fail_call:$k+:$fail_errno" "$@"
		fail_runs=$((${fail_runs:-0} + 2))
	done
	event "${fail_runs:-0}" "failing calls of $fail_call ($fail_errno, of $fail_total)"
	fail_runs=0
}

# count_calls CMD...: how often it calls $fail_call when nothing fails, into
# $fail_total.  One run counts all functions, and serves for as long as it is
# the same command; a test that changes what it does empties $fail_counted.
fail_counted=
count_calls() {
	need_preload
	fail_shim=$(shim fail)
	if [ "$fail_counted" != "$*" ]; then
		rm -f "$work/calls"
		call_hook before_failure
		with_fail "" "$@"
		[ "$status" -eq 0 ] || fail "with nothing failing: exit status $status"
		[ -s "$work/calls" ] || fail "no call was counted: is $fail_exe the program's name?"
		mv "$work/calls" "$work/counted"
		fail_counted=$*
	fi
	fail_total=$(awk -v f="$fail_call" '$2 == f && $3 > n { n = $3 }
	    END { print n + 0 }' "$work/counted")
}

choose_calls() {
	awk -v n="$1" -v limit="${DS_FAIL_LIMIT:-60}" -v seed="$DS_SEED" 'BEGIN {
		srand(seed)
		if (n <= limit)
			limit = n
		for (i = 0; i < limit; i++)
			print 1 + int((i + (limit == n ? 0 : rand())) * n / limit)
	}'
}

fail_once() {
	call_hook before_failure
	fail_about="with DS_FAIL=$1"
	with_fail "$@"
	check_end "$fail_about"
	call_hook check_after_failure "$1"
}

# A function that the test may define.
call_hook() {
	! command -v "$1" > /dev/null || "$@"
}

# check_end ABOUT: what must hold however a command was hurt.
check_end() {
	[ "$status" -lt 128 ] || fail "$1: died of signal $((status - 128))"
	case " $fail_statuses " in
	*" $status "*) ;;
	*) fail "$1: exit status $status, not one of $fail_statuses" ;;
	esac
	[ "$(wc -l < "$work/err")" -le "$fail_lines" ] ||
	    fail "$1: more than $fail_lines lines on standard error"
	! grep -Eq 'Sanitizer|runtime error:' "$work/err" ||
	    fail "$1: a sanitizer's report"
}

# fail_syscalls SYSCALL ERRNO CMD...: the same beneath the C library, by
# strace, so that what printf writes is seen too.  Calls before main() count:
# name a call that the loader does not make.
fail_syscalls() {
	fail_call=$1 fail_errno=$2
	shift 2
	need_tracing
	call_hook before_failure
	run strace -f -qq -o "$work/calls" -e "trace=$fail_call" "$@"
	[ "$status" -eq 0 ] || fail "with nothing failing: exit status $status"
	fail_total=$(grep -c "$fail_call(" "$work/calls") || fail "$fail_call is never called"
	for k in $(choose_calls "$fail_total"); do
		trace_once "$k" "$@"
		trace_once "$k+" "$@"
		fail_runs=$((${fail_runs:-0} + 2))
	done
	event "${fail_runs:-0}" "failing system calls of $fail_call ($fail_errno, of $fail_total)"
	fail_runs=0
}

trace_once() {
	fail_about="with the system call $fail_call:$1:$fail_errno"
	trace_when=$1
	shift
	call_hook before_failure
	run strace -f -qq -o /dev/null \
	    -e "inject=$fail_call:error=$fail_errno:when=$trace_when" "$@"
	check_end "$fail_about"
	call_hook check_after_failure "$fail_call:$trace_when:$fail_errno"
}

# LeakSanitizer cannot work under a tracer.
need_tracing() {
	need strace
	! is_sanitized || skip "no tracing of a sanitized build"
	strace -qq -o /dev/null true 2> /dev/null || skip "strace may not trace here"
}

# storm CMD...: as run, with a thousand signals a second to $fail_exe.
storm() {
	need_preload
	run "$(harness storm)" "$(shim storm)" "$fail_exe" "$@"
}
