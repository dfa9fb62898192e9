# SPDX-License-Identifier: Apache-2.0
# n0810: one of two jobs that share stands still (rows 10, 11).  The other waits
# for it only when the window is full, and then as its policy says; the one that
# stood goes on exactly where it was, and reads nothing that is not its own.
long=${DS_LONG-}
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"
need_crash_points

drill_set 240
plain_job
window=4
export DESTALL_WINDOW=$window
stops=0

# stand POLICY NTH: the slow one is stopped at its n-th batch, with that and,
# by --keep, all others in its hands; it only reads them, so that it would see if
# another wrote there.
stand() {
	export DESTALL_LAG="$1"
	warm_set
	DS_DIE_AT=emulate.batch:$2:stop start_job slow --keep
	await_lines slow.ledger 1
	start_job fast --step-ms 1
	wait_stopped "$slow_pid"
	stops=$((stops + 1))
}

# place_of NAME: the sample that it was given last.
place_of() { tail -n 1 "$1.ledger" | awk -v n=$drill_count '{ print $1 * n + $3 }'; }

# waits: until the fast one waits for the slow one; then it is a window ahead of
# it at the most, and stays there.
waits() {
	await_stage "any(j['pid'] == $fast_pid and j['waits_for'] == $slow_pid for j in doc['jobs'])"
	ahead=$(($(place_of fast) - $(place_of slow)))
	[ $ahead -le $(((window + 1) * batch)) ] || fail "$1: it is $ahead samples ahead"
	! is_ended "$fast_pid" || fail "$1: it did not wait"
}

goes_on() {
	kill -CONT "$slow_pid"
	end_job slow
	end_job fast
	check_jobs slow fast
	expect_stage_idle
}

start_hub
take_baseline
for policy in auto wait wait:60s; do
	stand $policy 6
	waits $policy
	[ -z "$long" ] || sleep 10
	goes_on
done

# One that waits can be told to stop, at once, and goes on later from there.
stand wait 6
waits wait
kill -TERM "$fast_pid"
end_job fast 143
check_cut fast
! grep -q 'once more' fast.out || fail "it had to be told twice: $(cat fast.out)"
kill -CONT "$slow_pid"
end_job slow
check_jobs slow
expect_stage_idle

# The slow one is detached: the fast one comes to its end while it stands.
for policy in detach:200ms wait:300ms; do
	stand $policy 6
	end_job fast
	check_jobs fast
	await_stage "any(j['pid'] == $slow_pid and j['state'] == 'detached' for j in doc['jobs'])"
	kill -CONT "$slow_pid"
	end_job slow
	check_jobs slow
	expect_stage_idle
done

# By auto, when the fast one has had less than it would have made, for ten
# seconds.
if [ -n "$long" ]; then
	stand auto 6
	end_job fast
	check_jobs fast
	kill -CONT "$slow_pid"
	end_job slow
	check_jobs slow
	expect_stage_idle
fi
stop_hub
event $stops "jobs that shared, and stood still"
checked
