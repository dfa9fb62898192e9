# SPDX-License-Identifier: Apache-2.0
# The hub with each of its calls failing in turn (rows 23, 24, 48), while
# clients come, ask, are expelled and go: it says in one line why it cannot
# start, or it serves to its end; the next one starts in any case.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/hub.sh"
need_preload
export DS_FAIL_LIMIT="${DS_FAIL_LIMIT:-2}"

# A hub and its clients; the exit status is the hub's.  Its log is not shown,
# but for what it says when it cannot start.
live() {
	"$destall" serve --foreground 2> hub.err &
	hub=$!
	until [ -S "$DESTALL_HUB" ] || ! kill -0 $hub 2> /dev/null; do
		sleep 0.01
	done
	for how in "ping 5" garbage "hold 3" deaf "hello 0.0.9"; do
		timeout 1 "$frames" $how > /dev/null 2>&1 || :
	done
	kill -TERM $hub 2> /dev/null || :
	hub_status=0
	wait $hub || hub_status=$?
	grep -v '^[0-9T:-]*Z ' hub.err >&2 || :
	return $hub_status
}

before_failure() { rm -f "$work"/run/*; }
check_after_failure() {
	[ "$status" -eq 0 ] || expect_one_line '.'
	rm -f "$work/run/s"	# should it have had no way to
	start_hub
	as_client ping 3
	expect_status 0
	stop_hub
}

for failure in malloc:ENOMEM calloc:ENOMEM open:EMFILE openat:EMFILE openat:ENOSPC \
    write:ENOSPC write:short read:EIO memfd_create:EMFILE fallocate:ENOSPC mmap:ENOMEM \
    fstat:EIO fstatat:EIO unlinkat:EIO poll:ENOMEM \
    socket:EMFILE bind:EACCES accept4:EMFILE accept4:ENOMEM sendmsg:EPIPE sendmsg:ENOBUFS \
    recvmsg:ENOMEM epoll_create1:EMFILE pthread_create:EAGAIN; do
	fail_calls "${failure%:*}" "${failure#*:}" live
done
