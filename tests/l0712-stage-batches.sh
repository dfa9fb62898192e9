# SPDX-License-Identifier: Apache-2.0
# l0712: jobs with batches of 32, 48, 50 and 64 samples on one stream, whoever
# comes first.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"

drill_set 500
batch=32
plain_job
start_hub
take_baseline

# sizes N...: the first of them decides what a unit is.
sizes() {
	names=
	for batch; do
		start_job "b$batch" --step-ms 2
		[ -n "$names" ] || await_lines "b$batch.ledger" 1
		names="$names b$batch"
	done
	for name in $names; do end_job $name; done
	check_jobs $names
	[ "$(result units_of_others $names)" -gt 0 ] || fail "nothing was shared"
	for name in $names; do
		want=${name#b}
		[ "$(awk '$1 == 1 && $2 == 0' "$name.ledger" | wc -l)" -eq "$want" ] ||
		    fail "$name: the first batch of an epoch is not of $want samples"
	done
	expect_stage_idle
}

sizes 32 48 50 64
sizes 64 50 48 32
stop_hub
checked
