# SPDX-License-Identifier: Apache-2.0
# x0604: an emulated job is stopped, its hub is killed meanwhile, and it goes on:
# alone, from where it was, with the samples that it would have had.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/hub.sh"
. "$top_srcdir/tests/emulate.sh"
need_crash_points

gen --count 30 set
emulate --data set --epochs 3 --ledger plain.ledger
expect_status 0

for nth in 1 3 9; do
	start_hub
	hub=$(hub_pid)
	DESTALL=1 DS_DIE_AT=emulate.batch:$nth:stop "$destall" emulate --batch $batch \
	    --set size=32 --data set --epochs 3 --ledger job.ledger > "$work/out" 2> "$work/err" &
	job=$!
	wait_stopped $job
	kill -KILL "$hub"
	wait_end "$hub"
	kill -CONT $job
	wait $job || fail "the job ended with $? after its hub was killed: $(cat "$work/err")"
	expect_out '^cache: '
	check_ledger job.ledger
	same_samples plain.ledger job.ledger "without its hub from batch $nth on"
	rm -f job.ledger
done
event 3 "hubs killed under a stopped job of the native loader"
