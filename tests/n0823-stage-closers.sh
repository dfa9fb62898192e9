# SPDX-License-Identifier: Apache-2.0
# n0823: a job closes all descriptors that it does not know, while it holds
# batches of the stage, and puts files of its own under their numbers.  What it
# holds stays as it is, though the others go on and need memory; it goes on alone,
# and nobody touches its files.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"

drill_set 320
plain_job
export DESTALL_WINDOW=4
start_hub
take_baseline
closers=0

# closer LINE...: one that does these, with two others beside it.
closer() {
	rm -f kept go
	taker closer "$@" check 'rest A' check
	wait_file kept
	start_job a --step-ms 1
	start_job b
	await_lines a.ledger 1
	await_lines b.ledger 1
	: > go
	for name in closer a b; do end_job $name; done
	check_jobs closer a b
	[ "$(sed -n 's/^lost //p' closer.out)" -gt 0 ] || fail "it had nothing to close"
	closers=$((closers + 1))
	expect_stage_idle
}

closer 'keep A 3' 'touch kept' 'await go' lose 'take A 2'
closer 'write A 3' 'touch kept' 'await go' 'keep A 2' lose
closer 'keep A 2' 'touch kept' 'await go' lose fork check join
closer 'epoch A' 'keep A 2' 'touch kept' 'await go' 'keep A 1' lose 'keep A 3'
# Before anything is there to hold.
closer 'touch kept' 'await go' lose
stop_hub
event $closers "jobs that shared, and closed all descriptors"
checked
