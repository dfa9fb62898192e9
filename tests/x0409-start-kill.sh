# SPDX-License-Identifier: Apache-2.0
# One who starts a hub is killed, or the hub while it is started: the next one
# has a hub all the same.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/hub.sh"
need_crash_points
starter=$(harness starter)

# Whatever was left, a job connects, and to one hub.
check_next() {
	run timeout 60 "$starter"
	[ "$status" -eq 0 ] || fail "$1: the next one has no hub: $(cat "$work/err")"
	expect_out '^connected$'
	stop_hub
	wait_end "$(hub_pid)"
}

# At each point of a start.
for point in $(crash_points start.); do
	run env DS_DIE_AT="$point" "$starter"
	[ "$status" -eq 137 ] || fail "$point: exit status $status"
	check_next "$point"
	# It fails, or finds the hub that is there already.
	run env DS_DIE_AT="$point:1:ENOMEM" "$starter"
	[ "$status" -le 1 ] || fail "$point: exit status $status"
	[ "$status" -eq 0 ] || expect_err '^starter: cannot start the hub'
	check_next "$point"
	# Stopped there, it holds up the others no longer than it is stopped.
	env DS_DIE_AT="$point:1:stop" "$starter" > /dev/null 2>&1 &
	pid=$!
	wait_stopped $pid
	"$starter" > other.out 2> other.err &
	other=$!
	kill -KILL $pid
	wait $pid || :
	wait $other || fail "$point: $(cat other.err)"
	check_next "$point"
	event 2 "kills of one who starts a hub"
done

# The hub dies at each point of its own, seen by the one who started it.
for point in $(crash_points hub.); do
	run timeout 60 env DS_DIE_AT="$point" "$starter"
	[ "$status" -le 1 ] || fail "$point: exit status $status"
	[ "$(wc -l < "$work/err")" -eq "$status" ] || fail "$point: not one line"
	check_next "$point"
	event 1 "kills of a hub that is started"
done

# At any moment.
for i in $(seq 20); do
	"$starter" > /dev/null 2>&1 &
	pid=$!
	sleep "$(awk -v seed="$DS_SEED$i" 'BEGIN { srand(seed); printf "%.3f", rand() / 20 }')"
	kill -KILL $pid 2> /dev/null || :
	wait $pid 2> /dev/null || :
	check_next "at a random moment ($i)"
done
event 20 "kills of one who starts a hub"
