# SPDX-License-Identifier: Apache-2.0
# n0820: the hub stands still under two jobs that share, and stays so: each gives
# it up once, goes on alone from where it was, and comes to its end.  When the hub
# goes on it finds them gone, and serves the next ones.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"

drill_set 400
plain_job
start_hub
take_baseline
now_ms() { echo $(($(date +%s%N) / 1000000)); }

# Early in the first epoch: most items are still to be brought in, by way of the
# cache's own connection.
start_job a --step-ms 2
start_job b
for name in a b; do await_lines $name.ledger 1; done
kill -STOP "$hub"
wait_stopped "$hub"
since_ms=$(now_ms)
for name in a b; do end_job $name; done
took="$(($(now_ms) - since_ms)) ms"
kill -CONT "$hub"
check_jobs a b
for name in a b; do
	grep -Eq 'alone: the hub (is gone: it does|did) not answer' $name.out ||
	    fail "job $name does not say why it is alone: $(cat $name.out)"
done
expect_stage_idle
echo "from the stop of the hub to the end of both jobs: $took"
figure "stage: from the stop of the hub to the end of both jobs: $took"

# As if nothing had been.
start_job a
start_job b --step-ms 1
for name in a b; do end_job $name; done
check_jobs a b
[ "$(result units_of_others a b)" -gt 0 ] || fail "nothing was shared afterwards"
expect_stage_idle
stop_hub
event 1 "stops of the hub under jobs that shared"
checked
