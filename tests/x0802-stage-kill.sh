# SPDX-License-Identifier: Apache-2.0
# x0802: four jobs share, and one of them is killed, at any time, and followed by
# another that joins late; again and again (rows 1, 3).  Nothing is lost, doubled
# or different.  How soon the others go on is told, not judged: machines differ.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"

drill_set 600
job_options="--epochs 1 --seed 3"
plain_job
start_hub
take_baseline
kills=0
echo "seed $DS_SEED"

wanted=$(scale 50)
while [ $kills -lt "$wanted" ]; do
	run_drill jobs=4 kills=25 pause=50 "dice=$((DS_SEED * 1000 + kills))" seed=3 epochs=1
	expect_stage_idle
done
for what in recovery batches; do
	text="us, $what, $(percentiles "$work/$what")"
	echo "$text"
	figure "stage: from a kill to the next batch of all others, $text"
done
stop_hub
event $kills "kills of jobs that shared, at any time"
checked
