# SPDX-License-Identifier: Apache-2.0
# l0710: 1, 2, 4 and 8 jobs on one stream, at speeds of 1:1, 1:2 and 1:10: each
# is given every sample of every epoch once, with the bytes of a plain job, and
# they make less than they are given.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"

drill_set 160
plain_job
start_hub
take_baseline

# together STEP-MS...: a job of each speed.  Quick ones may miss each other: then they
# are started again.
together() {
	for attempt in 1 2 3 4 5; do
		run_together "$@"
		[ $# -gt 1 ] && [ "$taken" -eq 0 ] || return 0
	done
	fail "$# jobs never met"
}

run_together() {
	names=
	for step; do
		name=j$(echo $names | wc -w)
		start_job $name --step-ms "$step"
		names="$names $name"
	done
	for name in $names; do end_job $name; done
	check_jobs $names
	made=$(result units_published $names)
	taken=$(result units $names)
	echo "steps of $* ms: $made units made, $taken taken"
	[ $# -eq 1 ] || [ "$taken" -eq 0 ] || [ "$made" -lt "$taken" ] ||
	    fail "$made units were made, and $taken taken"
	expect_stage_idle
}

together 0
together 0 0
together 2 2 2 2
together 1 1 1 1 1 1 1 1
together 1 2
together 1 10
together 1 2 10 1
stop_hub
checked
