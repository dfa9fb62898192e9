# SPDX-License-Identifier: Apache-2.0
# A thousand signals a second to a job (row 25), a wall clock that jumps by an
# hour (row 38), and processors that belong to others (row 39): no error, no
# short item, no lease or client lost.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/faults.sh"
need_python

mkset set 400 2000 9000
nothing_lost() {
	expect_set set expired_leases 0
	expect_set set late_publishes 0
	expect_set set leases 0
	[ "$(stat_of hub.expelled)" = 0 ] || fail "a client was expelled"
	[ "$(stat_of hub.refused)" = 0 ] || fail "a client was refused"
}

# Starved: sixteen who want all there is.
start_hub
spinners=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	(while :; do :; done) &
	spinners="$spinners $!"
done
for i in 1 2 3; do
	job epochs=2 seed=$i threads=2 budget=50% hub=find set > starved$i.txt 2>&1 &
	eval "job$i=\$!"
done
status=0
wait $job1 || status=$?
wait $job2 || status=$?
wait $job3 || status=$?
kill $spinners
wait $spinners 2> /dev/null || :
[ $status -eq 0 ] || fail "starved: $(cat starved?.txt)"
for i in 1 2 3; do
	expect_job starved$i.txt items 800
	expect_job starved$i.txt cached 1
done
nothing_lost
stop_hub
event 3 "jobs beside 16 spinners"

is_sanitized && skip "of the rest: no preloaded shims in a sanitized build"

# Signals.
start_hub
export DS_STORM_COUNT="$work/sent"
fail_exe=job
storm "$(harness job)" epochs=150 threads=2 hold=8 budget=50% hub=find set
expect_status 0
expect_no_err
cp "$work/out" storm.txt
expect_job storm.txt items 60000
expect_job storm.txt cached 1
nothing_lost
stop_hub
[ "$(cat "$work/sent")" -gt 0 ] || fail "no signal was sent"
event "$(cat "$work/sent")" "signals to a job"

# The clock.
export DS_CLOCK_COUNT="$work/clock"
LD_PRELOAD=$(shim clock) "$destall" serve --foreground --lease 2s > hub.txt 2>&1 &
hub=$!
await [ -S "$DESTALL_HUB" ]
LD_PRELOAD=$(shim clock) "$(harness job)" epochs=20 threads=2 budget=50% hub=find set > clock.txt ||
    fail "the clock jumps: $(cat clock.txt)"
expect_job clock.txt items 8000
expect_job clock.txt cached 1
nothing_lost
run "$destall" serve --stop
expect_status 0
wait $hub || fail "the hub: $(cat hub.txt)"
! grep -E 'warn:|error:' hub.txt || fail "the hub complains"
grep -q 'the hub leaves: it was asked to' hub.txt || fail "$(cat hub.txt)"
readings=$(awk '{ n += $1 } END { print n + 0 }' "$work/clock")
[ "$readings" -gt 0 ] || fail "the clock was never read"
event "$readings" "jumps of the wall clock by an hour or two"
