# SPDX-License-Identifier: Apache-2.0
# x0804: the hub is killed under three jobs that share (row 8): each goes on alone
# from where it was.  Another hub is started meanwhile (row 9): they find it at
# their next epoch; what was of the old one is never mixed with it.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"

drill_set 200
job_options="--epochs 3 --seed 3"
plain_job
hubs=0

# The time to the next batch of each is told.
while [ $hubs -lt "$(scale 5)" ]; do
	start_hub
	run_drill jobs=3 "hub=$(hub_pid)" pause=120 "dice=$((DS_SEED * 100 + hubs))" seed=3 epochs=3
	wait_dead "$(hub_pid)"
	hubs=$((hubs + 1))
done
text="us, $(percentiles "$work/recovery")"
echo "to the next batch of all jobs: $text"
figure "stage: from the hub's death to the next batch of all jobs, $text"

# And another takes its place, at once or later.
round=0
while [ $round -lt "$(scale 3)" ]; do
	round=$((round + 1))
	start_hub
	for name in a b c; do start_job $name --step-ms 4; done
	for name in a b c; do await_lines $name.ledger 1; done
	choose_time 150
	kill_hub
	hubs=$((hubs + 1))
	choose_time 50
	start_hub

	start_job d --step-ms 1
	for name in a b c d; do end_job $name; done
	check_jobs a b c d
	expect_idle
	expect_no_stream
	stop_hub
done
event $hubs "kills of the hub under jobs that shared"
checked
