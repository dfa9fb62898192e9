# SPDX-License-Identifier: Apache-2.0
# Every call of a job's library fails in its turn, once and from there on (rows
# 23 and 24): the job gets the right bytes or a reason, nothing is left open or
# allocated, the hub lives and holds no lease.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/faults.sh"
need_python
need_preload
export DS_FAIL_LIMIT="${DS_FAIL_LIMIT:-3}"

mkset set 12 2000 9000
start_hub
hub=$(hub_pid)
fail_exe=sampler fail_statuses="0 1"

before_failure() { "$destall" cache drop set > /dev/null 2>&1 || :; }
figure() { sed -n "s/.* $1 \([0-9]*\).*/\1/p" "$work/out"; }
# What glibc keeps for each thread would look as if it were in use.
sample() { GLIBC_TUNABLES=glibc.malloc.tcache_count=0 "$(harness sampler)" 2 set; }

# With nothing failing: what is left then is what may be left.
before_failure
sample > "$work/out"
heap=$(figure heap) fds=$(figure fds) maps=$(figure maps)
grep -q '^items 24 wrong 0 failed 0 hub 1 ' "$work/out" || fail "undisturbed"

check_after_failure() {
	[ "$(figure wrong)" = 0 ] || fail "$1: wrong bytes"
	[ "$(figure heap)" -le "$heap" ] || fail "$1: $(figure heap) bytes of the heap are left, $heap undisturbed"
	# What cannot be proved to be ours is not closed (data.h, rule 4).
	case $1 in
	fstat:*) ;;
	*) [ "$(figure fds)" -le "$fds" ] ;;
	esac || fail "$1: $(figure fds) descriptors are left, $fds undisturbed"
	[ "$(figure maps)" -le "$maps" ] || fail "$1: $(figure maps) mappings are left, $maps undisturbed"
	[ "$status" -eq 0 ] || expect_err '^sampler: .*[a-z]'
	[ -d "/proc/$hub" ] || fail "$1: the hub is gone: $(cat "$hub_log")"
}

for failure in malloc:ENOMEM calloc:ENOMEM realloc:ENOMEM mmap:ENOMEM \
    memfd_create:EMFILE ftruncate:ENOSPC fallocate:ENOSPC fallocate:EINTR \
    open:EMFILE openat:EMFILE openat:EIO read:EIO read:EINTR read:short \
    pread:EIO pread:EINTR pread:short write:ENOSPC write:EINTR write:short \
    fstat:EIO fstatat:EIO fdopendir:ENOMEM socket:EMFILE connect:ECONNREFUSED \
    sendmsg:EPIPE sendmsg:EINTR sendmsg:ENOBUFS recvmsg:EIO recvmsg:EINTR \
    recvmsg:ECONNRESET poll:EINTR poll:ENOMEM; do
	fail_each "$failure" sample
done

# No lease outlived a job, and the next job has it all.
run "$(harness sampler)" 2 set
expect_status 0
expect_set set leases 0
expect_set set cached_items 12
[ "$(hub_pid)" = "$hub" ] || fail "it is another hub"
stop_hub
