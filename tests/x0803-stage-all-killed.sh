# SPDX-License-Identifier: Apache-2.0
# x0803: all jobs that share are killed at once, at any time (row 4): the hub is
# idle then, has no stream, no lease and no slot, and the next jobs start.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"

drill_set 200
plain_job
start_hub
take_baseline
kills=0

round=0
while [ $round -lt "$(scale 5)" ]; do
	round=$((round + 1))
	for name in a b c d; do start_job $name --step-ms 1 --keep; done
	choose_time 200
	for name in a b c d; do kill -KILL "$(pid_of $name)" 2> /dev/null || :; done
	for name in a b c d; do
		await_end "$(pid_of $name)" "a killed job"
		status=0
		wait "$(pid_of $name)" 2> /dev/null || status=$?
		[ $status -eq 137 ] || [ $status -eq 0 ] || fail "status $status: $(cat $name.out)"
		kills=$((kills + (status == 137)))
	done
	check_cut a b c d
	expect_stage_idle
done
start_job a
start_job b
end_job a
end_job b
check_jobs a b
expect_stage_idle
stop_hub
event $kills "kills of jobs that shared, four at once"
checked
