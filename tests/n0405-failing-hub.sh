# SPDX-License-Identifier: Apache-2.0
# Every call of the hub fails in its turn, once and from there on (rows 23, 24
# and 48): jobs get the right bytes, from this hub, another one, or storage;
# one that is killed with a lease is reaped or costs the hub; the hub says why
# it ends, if it does, and dies of no signal.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/faults.sh"
need_preload
export DS_FAIL_LIMIT="${DS_FAIL_LIMIT:-2}"

mkset set 12 2000 9000
fail_statuses="0 1" fail_lines=1000

plain() { env -u LD_PRELOAD -u DS_FAIL "$@"; }

# A hub of ours under the failing calls, and jobs that have nothing of it.
serve_two() {
	"$destall" serve --foreground --idle 5s &
	hub=$!
	attempts=0
	until [ -S "$DESTALL_HUB" ] || ! kill -0 $hub 2> /dev/null; do sleep 0.01; done
	! configured WITH_CRASH_POINTS ||
	    plain env DS_DIE_AT=cache.written:2 "$(harness sampler)" 1 set > killed.txt 2>&1 || :
	plain "$(harness sampler)" 2 set > job.txt 2> job.err || return 42
	plain "$destall" serve --stop > /dev/null 2> stop.err || :
	kill -TERM $hub 2> /dev/null || :
	end=0
	wait $hub || end=$?
	# An eventfd that cannot be read or written is no fault that a kernel
	# has: the hub dies of it, in words, as of any other bug (row 34).
	case $end,$failure in
	134,read:EIO | 134,write:ENOSPC) end=1 ;;
	esac
	return $end
}

before_failure() { rm -f job.txt job.err; }
check_after_failure() {
	grep -q '^items 24 wrong 0 failed 0 ' job.txt || fail "$1: the job: $(cat job.txt job.err)"
	# Nothing can be said where writing fails.
	case $status,$1 in
	0,* | *,write:*) ;;
	*) expect_err '(destall|error|hub).*: ' ;;
	esac
	# A second hub, if the job had to start one.
	end_hub
	[ ! -S "$DESTALL_HUB" ] || rm -f "$DESTALL_HUB"
}

for failure in malloc:ENOMEM calloc:ENOMEM realloc:ENOMEM mmap:ENOMEM \
    memfd_create:EMFILE ftruncate:ENOSPC fallocate:ENOSPC fallocate:EINTR \
    open:EMFILE openat:EMFILE openat:EIO read:EIO read:EINTR pread:EIO write:ENOSPC \
    write:EINTR pwrite:ENOSPC fstat:EIO linkat:ENOSPC socket:EMFILE bind:EACCES \
    accept4:ECONNABORTED sendmsg:EPIPE sendmsg:EAGAIN sendmsg:EINTR recvmsg:EIO \
    recvmsg:EINTR recvmsg:EAGAIN epoll_create1:EMFILE epoll_wait:EINTR epoll_wait:EBADF \
    pthread_create:EAGAIN; do
	fail_each "$failure" serve_two
done

# Whoever is never let in waits for five seconds: one call will do.
DS_FAIL_LIMIT=1 failure=accept4:EMFILE
fail_each "$failure" serve_two
