# SPDX-License-Identifier: Apache-2.0
# The shim that fails the Nth call (tests/shim/fail.c), on a program that makes
# the calls it is told to; and the loops of lib.sh around it.
. "${top_srcdir:?run by make check}/tests/lib.sh"
need_preload

victim=$(harness victim)
fail_exe=victim
fail_shim=$(shim fail)
"$victim" list > calls
[ "$(wc -l < calls)" -gt 40 ] || fail "no list of calls"

# Every call that fail.h names has its line in the victim, and the reverse.
sed -n '/^#define FAIL_CALLS/,/^$/s/X(\([a-z0-9_]*\))/\n\1\n/gp' \
    "$top_srcdir/tests/shim/fail.h" | grep '^[a-z]' | grep -v '[ \\]' |
    sort > named
sort calls | diff named - > differ || fail "fail.h and victim.c: $(cat differ)"

# Unhurt, every call succeeds; the second of three fails, or all from there on.
for call in $(cat calls); do
	good="ok"
	case $call in
	read | readv | pread | write | writev | pwrite | sendmsg | recvmsg)
		good=8 ;;
	esac
	with_fail "" "$victim" "$call" "$call" "$call"
	printf "$call $good\n$call $good\n$call $good\n" | cmp - "$work/out" ||
	    fail "$call unhurt"
	with_fail "$call:2:EPERM" "$victim" "$call" "$call" "$call"
	printf "$call $good\n$call EPERM\n$call $good\n" | cmp - "$work/out" ||
	    fail "the second $call"
	with_fail "$call:2+:EPERM" "$victim" "$call" "$call" "$call"
	printf "$call $good\n$call EPERM\n$call EPERM\n" | cmp - "$work/out" ||
	    fail "$call from the second on"
done

# Half the bytes; the default error.
with_fail "read:1+:short" "$victim" read read pread
printf 'read 4\nread 4\npread 8\n' | cmp - "$work/out" || fail "short reads"
with_fail "write:2:short" "$victim" write write write
printf 'write 8\nwrite 4\nwrite 8\n' | cmp - "$work/out" || fail "a short write"
with_fail calloc:1 "$victim" calloc
expect_out '^calloc ENOMEM$'
with_fail open:1 "$victim" open
expect_out '^open EIO$'

# Counts are exact, over threads too, and only one of them is the Nth.
rm -f "$work/calls"
with_fail "write:2000:EIO" "$victim" threads 4
expect_out '^1 failed$'
grep -q '^[0-9]* write 4000$' "$work/calls" || fail "not 4000 writes counted"
with_fail "write:2000+:EIO" "$victim" threads 4
expect_out '^2001 failed$'

# Another program is not hit.
fail_exe=another
with_fail "write:1:EIO" "$victim" write
expect_out '^write 8$'
fail_exe=victim

# A setting that cannot be read is a broken test, never a run unhurt.
for setting in write write: write:0:EIO write:x:EIO write:1:ENONSENSE \
    write:1EIO write:1+EIO nonsense:1:EIO; do
	with_fail "$setting" "$victim" write
	expect_status 99
done

# The loop: every call once, once failing and failing from there on.
seen=0
check_after_failure() {
	seen=$((seen + 1))
	grep -q '^pread EIO$' "$work/out" || fail "$1 did not fail"
}
fail_calls pread EIO "$victim" pread write pread pread > log
[ "$seen" -eq 6 ] || fail "$seen runs for three calls"
grep -q '^EVENT 6 failing calls of pread (EIO, of 3)$' log || fail "no event"

# Many calls are thinned out evenly, to the limit.
seen=0
DS_FAIL_LIMIT=5
fail_calls pread EIO "$victim" $(yes pread | head -n 40) > log
[ "$seen" -eq 10 ] || fail "$seen runs where 10 were the limit"
seq 8 8 40 > last
choose_calls 40 | paste - last | while read -r k last; do
	[ "$k" -le "$last" ] && [ "$k" -gt $((last - 8)) ] ||
	    fail "the call $k is not of its stretch"
done
unset DS_FAIL_LIMIT

# What the loop must refuse.
check_after_failure() { :; }
refuses() {
	text=$1
	shift
	status=0
	(fail_calls "$@") > log 2>&1 || status=$?
	expect_status 1
	grep -q "^FAILED: .*$text" log || fail "not refused: $text: $(cat log)"
}
crashing() { "$victim" pread; [ -z "$DS_FAIL" ] || "$victim" abort; }
chatting() { "$victim" pread; echo one >&2; echo two >&2; }
leaving() { "$victim" pread; [ -z "$DS_FAIL" ] || return 5; }
reporting() { "$victim" pread; echo "AddressSanitizer: leak" >&2; }
refuses "died of signal 6" pread EIO crashing
refuses "more than 1 lines" pread EIO chatting
refuses "exit status 5" pread EIO leaving
refuses "a sanitizer's report" pread EIO reporting
refuses "with nothing failing: exit status" pread EIO false
fail_exe=somebody
refuses "no call was counted" pread EIO "$victim" pread
