# SPDX-License-Identifier: Apache-2.0
# n0826: every call of a job that shares, and of the hub, fails in its turn, once
# and from there on (rows 23, 24, 48): that job is given the right samples or says
# why it ends; the job beside it is given all of them, always.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"
. "$top_srcdir/tests/faults.sh"
need_preload
export DS_FAIL_LIMIT="${DS_FAIL_LIMIT:-2}"

drill_set 40
plain_job

shared() {
	rm -f "$1.ledger" "$1.json"
	DESTALL=1 bounded "$destall" emulate --data $job_set --batch $batch --set size=32 $job_options \
	    --ledger "$1.ledger" --json -o "$1.json"
}

# without CMD...: without the failing calls.
without() {
	(
		unset LD_PRELOAD DS_FAIL
		"$@"
	)
}

#--- a job

# hurt_one: with the failing calls, and one beside it that has nothing of them.
hurt_one() {
	without shared a > a.out 2>&1 &
	beside=$!
	end=0
	shared hurt || end=$?
	wait $beside || return 42
	return $end
}

check_after_failure() {
	check_jobs a
	case $status in
	0)	check_jobs hurt ;;
	*)	check_cut hurt
		expect_err '^destall: .*[a-z]' ;;
	esac
	[ -d "/proc/$hub" ] || fail "$1: the hub is gone: $(cat "$hub_log")"
	runs=$((runs + 1))
}

start_hub
take_baseline
fail_lines=4 runs=0		# how it shares, and why it does not
for failure in malloc:ENOMEM calloc:ENOMEM realloc:ENOMEM mmap:ENOMEM pthread_create:EAGAIN \
    fstat:EIO socket:EMFILE connect:ECONNREFUSED sendmsg:EPIPE sendmsg:EINTR sendmsg:EAGAIN \
    sendmsg:ENOBUFS recvmsg:EIO recvmsg:EINTR recvmsg:ECONNRESET poll:EINTR poll:ENOMEM; do
	fail_each "$failure" hurt_one
done
expect_stage_idle
stop_hub
event $runs "jobs that shared with failing calls"

#--- the hub

# serve_two: a hub with the failing calls, and two jobs that have nothing of them.
serve_two() {
	"$destall" serve --foreground --idle 5s &
	serves=$!
	until [ -S "$DESTALL_HUB" ] || ! kill -0 $serves 2> /dev/null; do sleep 0.01; done
	without shared a > a.out 2>&1 &
	beside=$!
	without shared b > b.out 2>&1 || return 42
	wait $beside || return 43
	without "$destall" serve --stop > /dev/null 2>&1 || :
	kill -TERM $serves 2> /dev/null || :
	end=0
	wait $serves || end=$?
	return $end
}

check_after_failure() {
	check_jobs a b
	# A second hub, if a job had to start one.
	end_hub
	rm -f "$DESTALL_HUB"
	runs=$((runs + 1))
}

fail_counted=""
fail_lines=1000 runs=0
for failure in malloc:ENOMEM calloc:ENOMEM realloc:ENOMEM mmap:ENOMEM memfd_create:EMFILE \
    ftruncate:ENOSPC fallocate:ENOSPC fallocate:EINTR fstat:EIO sendmsg:EPIPE sendmsg:EAGAIN \
    sendmsg:EINTR recvmsg:EIO recvmsg:EINTR recvmsg:EAGAIN epoll_wait:EINTR; do
	fail_each "$failure" serve_two
done
event $runs "hubs of jobs that shared, with failing calls"
checked
