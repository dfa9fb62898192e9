# SPDX-License-Identifier: Apache-2.0
# n0812: one job ten times as slow as the others (row 12), and one that keeps all
# it is given: the memory of the stage stays within its budget all the time, as
# the kernel counts it.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"

drill_set 320
plain_job
unit=$((batch * 32 * 32 * 3 * 4 + batch))
budget=$((unit * 9))
export DESTALL_STAGE=$budget DESTALL_WINDOW=64
start_hub
take_baseline

# within NAME...: until they have ended, the stage is within its budget.
within() {
	pids=
	for name; do pids="$pids $(pid_of $name)"; done
	watch_slots $pids > looked
	read -r most looks < looked
	for name; do end_job $name; done
	echo "$looks looks: at most $most bytes of $budget"
	[ "$most" -le $budget ] || fail "the stage had $most bytes, its budget is $budget"
	[ "$most" -gt 0 ] || fail "nothing was staged"
	check_jobs "$@"
	expect_stage_idle
}

start_job slow --step-ms 10
start_job fast --step-ms 1
start_job faster
within slow fast faster

start_job keeps --keep --touch write --step-ms 2
start_job slow --step-ms 10
start_job fast
within keeps slow fast
figure "stage: most bytes of a budget of $budget: $most"
stop_hub
checked
