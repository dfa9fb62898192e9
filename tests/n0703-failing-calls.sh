# SPDX-License-Identifier: Apache-2.0
# Every call that the preload object makes in a program fails in its turn, once
# and from there on (rows 23 and 24): the program's output and exit status are
# those of one without it, with one line more at most; the hub lives, and holds
# no lease.  Calls that the program makes itself fail once only, and it tries
# again, as programs do.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/preloaded.sh"
need_object
need_preload
need_python
export DS_FAIL_LIMIT="${DS_FAIL_LIMIT:-2}"

items=12
mkset set $items 2000 9000
files=$(find "$data" -name '*.bin')
start_hub
hub=$(hub_pid)
fail_exe=plain fail_statuses=0 fail_lines=1

"$the_plain" tries=3 epochs=2 $files | grep -v longest > want.txt
before_failure() { "$destall" cache drop set > /dev/null 2>&1 || :; }
read_all() { "$preload" "$the_plain" tries=3 epochs=2 $files; }
check_after_failure() {
	grep -v longest "$work/out" | cmp -s want.txt - || fail "$1: its output: $(cat "$work/out")"
	grep -v '^destall: ' "$work/err" && fail "$1: not our line" || :
	[ -d "/proc/$hub" ] || fail "$1: the hub is gone: $(cat "$hub_log")"
}

# once CALL:ERRNO: not from there on.
once() {
	fail_shim=$(shim fail)
	rm -f "$work/calls"
	before_failure
	with_fail "" read_all
	check_after_failure "${1%:*}, unhurt"
	total=$(awk -v f="${1%:*}" '$2 == f && $3 > n { n = $3 } END { print n + 0 }' "$work/calls")
	[ "$total" -gt 0 ] || fail "${1%:*} is never called"
	runs=0
	for k in $(choose_calls "$total"); do
		fail_once "${1%:*}:$k:${1#*:}" read_all
		runs=$((runs + 1))
	done
	event $runs "failing calls of ${1%:*} (${1#*:}, of $total)"
}

# What only the object calls.
for failure in malloc:ENOMEM calloc:ENOMEM mmap:ENOMEM fstat:EIO \
    socket:EMFILE connect:ECONNREFUSED sendmsg:EPIPE sendmsg:ENOBUFS \
    recvmsg:EIO recvmsg:ECONNRESET poll:ENOMEM write:ENOSPC; do
	fail_calls "${failure%:*}" "${failure#*:}" read_all
done
# What may be told to come again, and what the program calls, too.
for failure in sendmsg:EINTR recvmsg:EINTR poll:EINTR write:EINTR write:short \
    connect:EINTR open:EMFILE openat:EMFILE openat:ENOENT pread:EIO pread:EINTR \
    pread:short; do
	once "$failure"
done

# Beneath the C library.
if command -v strace > /dev/null && strace -qq -o /dev/null true 2> /dev/null; then
	for failure in dup3:EBUSY fcntl:EMFILE getsockopt:EPERM connect:EACCES \
	    recvmsg:ENOMEM fadvise64:EINVAL madvise:EINVAL; do
		# Not by a shell, which has calls of its own.
		fail_syscalls "${failure%:*}" "${failure#*:}" env LD_PRELOAD="$the_object" \
		    DESTALL=1 DESTALL_DATA="$data" "$the_plain" tries=3 epochs=2 $files
	done
else
	echo "nothing beneath the C library: no strace"
fi

# Each of its points returns an error.
if configured WITH_CRASH_POINTS; then
	nr=0
	for point in $(crash_points bring.) data.opened; do
		for errno in ENOMEM EIO ESTALE; do
			before_failure
			run env DS_DIE_AT="$point:1:$errno" "$preload" "$the_plain" epochs=2 $files
			check_end "$point:$errno"
			check_after_failure "$point:$errno"
			nr=$((nr + 1))
		done
	done
	event $nr "errors at points of the object"
fi

run read_all
check_after_failure "at last"
expect_idle
is_cached set $items || fail "$(set_of set cached_items) of $items are cached at last"
[ "$(hub_pid)" = "$hub" ] || fail "it is another hub"
stop_hub
