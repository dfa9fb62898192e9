# SPDX-License-Identifier: Apache-2.0
# n0810: one of two jobs that share stands still (rows 10, 11).  The other waits
# for it only when the window is full, and then as its policy says; the one that
# stood goes on exactly where it was, and reads nothing that is not its own.
long=${DS_LONG-}
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"

drill_set 240
plain_job
window=4
export DESTALL_WINDOW=$window
stops=0

# stand POLICY: the slow one is stopped when both share, with all that it was
# given in its hands, by --keep; it only reads that, so that it would see if
# another wrote there.
stand() {
	export DESTALL_LAG="$1"
	warm_set
	start_job slow --keep --step-ms 50
	await_lines slow.ledger 1
	start_job fast --step-ms 1
	await_lines fast.ledger $((3 * batch))
	kill -STOP "$slow_pid"
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
	stand $policy
	waits $policy
	[ -z "$long" ] || sleep 10
	goes_on
done

# One that waits long says for whom, once; and can be told to stop, at once.
stand wait
waits wait
until grep -q 'waits for process' fast.out; do
	! is_ended "$fast_pid" || fail "it did not wait"
	sleep 0.05
done
kill -TERM "$fast_pid"
end_job fast 143
check_cut fast
[ "$(grep -c "emulate: waits for process $slow_pid, which is behind: [0-9.]* s so far\$" fast.out)" -eq 1 ] ||
    fail "$(cat fast.out)"
[ "$(result blocked_seconds fast)" -ge 3 ] || fail "blocked: $(cat fast.json)"
! grep -q 'once more' fast.out || fail "it had to be told twice: $(cat fast.out)"
kill -CONT "$slow_pid"
end_job slow
check_jobs slow
expect_stage_idle

# The slow one is detached: the fast one comes to its end while it stands.
for policy in detach:200ms wait:300ms; do
	stand $policy
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
	stand auto
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
