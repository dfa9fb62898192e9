# SPDX-License-Identifier: Apache-2.0
# lib.sh: what every scenario test begins with:
#
#     . "${top_srcdir:?run by make check}/tests/lib.sh"
#
# It gives the test an empty directory of its own ($work, the current one), a
# clean environment, and at the end checks that the test left no process and
# no temporary file behind.

set -eu

destall=$top_builddir/destall
test_name=${0##*/}
keep_tmp=${TMPDIR:-/tmp}
work=$(mktemp -d "$keep_tmp/destall-$test_name.XXXXXX")
mkdir "$work/home" "$work/run" "$work/tmp" "$work/cwd"
chmod 700 "$work/run"

# Nothing of the caller's choices reaches the program.
for name in $(env | sed -n 's/^\(DESTALL[A-Z_]*\|DS_[A-Z_]*\)=.*/\1/p'); do
	unset "$name"
done
unset NO_COLOR FORCE_COLOR CLICOLOR_FORCE COLUMNS LD_PRELOAD PYTHONPATH
export LC_ALL=C TERM=dumb HOME="$work/home" XDG_RUNTIME_DIR="$work/run"
export XDG_DATA_HOME="$work/home/share" TMPDIR="$work/tmp"
# Children carry this mark, so that those left behind can be found.
export DS_TEST_MARK="$test_name.$$"
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

# The processes that carry our mark, but for this shell and its subshells.
leftovers() {
	for dir in /proc/[0-9]*; do
		pid=${dir#/proc/}
		[ "$pid" != $$ ] || continue
		tr '\0' '\n' < "$dir/environ" 2>/dev/null |
		    grep -qx "DS_TEST_MARK=$DS_TEST_MARK" || continue
		[ "$(readlink "$dir/exe" 2>/dev/null)" != "$(readlink "/proc/$$/exe")" ] ||
		    continue
		echo "$pid ($(tr '\0' ' ' < "$dir/cmdline" 2>/dev/null))"
	done
}

finish() {
	status=$?
	trap - EXIT
	left=$(leftovers)
	if [ -n "$left" ]; then
		echo "LEFT BEHIND: process $left"
		echo "$left" | while read -r pid rest; do
			kill -KILL "$pid" 2>/dev/null || :
		done
		[ $status -ne 0 ] || status=1
	fi
	if [ -n "$(ls -A "$work/tmp")" ]; then
		echo "LEFT BEHIND: in TMPDIR: $(ls -A "$work/tmp")"
		[ $status -ne 0 ] || status=1
	fi
	cd /
	rm -rf "$work"
	exit $status
}
trap finish EXIT

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

need() { command -v "$1" > /dev/null 2>&1 || skip "$1 is not installed"; }
is_root() { [ "$(id -u)" -eq 0 ]; }

# Has configure defined this (WITH_PNG, ...)?
configured() { grep -q "^#define $1 1" "$top_builddir/config.h"; }
need_crash_points() { configured WITH_CRASH_POINTS || skip "built without --enable-crash-points"; }

# A preloaded shim and AddressSanitizer's own allocator do not go together.
is_sanitized() { nm "$destall" 2>/dev/null | grep -Eq '__(asan|tsan)_init'; }
need_preload() { ! is_sanitized || skip "no preloaded shims in a sanitized build"; }

# crash_points PREFIX: the names of all points in the source that begin so.
crash_points() {
	find "$top_srcdir" -name build -prune -o -name '*.c' -exec \
	    sed -n "s/.*crash_point(\"\($1[^\"]*\)\").*/\1/p" {} + | sort -u
}
