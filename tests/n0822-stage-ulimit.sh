# SPDX-License-Identifier: Apache-2.0
# n0822: a job with little address space (ulimit -v), enough for itself, shares
# with one that has plenty: what sharing takes of it is given back when a batch
# needs it, and the job goes on alone, with one line; the other goes on as well.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"
! is_sanitized || skip "a sanitizer needs more address space than there is"

batch=16
job_options="--epochs 2 --seed 3 --set size=128"
export MALLOC_ARENA_MAX=1	# others are 64 MiB each, by chance
drill_set 160
plain_job

# Of threads: how many of them find room is chance, and each would take 8 MiB.
stack=512

# What it needs alone, in MiB.
least=10
until (ulimit -s $stack && ulimit -v $((least * 1024)) && DESTALL=0 "$destall" emulate --data $job_set \
    --batch $batch $job_options) > "$work/out" 2>&1; do
	least=$((least + 4))
	[ $least -lt 2000 ] || fail "nothing is enough for a plain job"
done

start_hub
take_baseline
# try_more MIB: so much more than it needs alone.
try_more() {
	more=$1
	tried=$((tried + 1))
	# It is there for as long as the poor one is: a step takes longer than its batch.
	start_job rich --step-ms 20
	await_stage 'len(doc["jobs"]) > 0'
	# The limit is the job's alone: a subshell's.
	rm -f poor.ledger
	(
		ulimit -s $stack
		ulimit -v $(((least + more) * 1024))
		DESTALL=1 exec "$destall" emulate --data $job_set --batch $batch $job_options \
		    --ledger poor.ledger --json -o poor.json
	) > poor.out 2>&1 &
	poor_pid=$!
	end_job poor
	end_job rich
	check_jobs poor rich
	if grep -q 'alone: too little memory to share: ' poor.out; then
		short=$((short + 1))
		[ "$(grep -c alone: poor.out)" -eq 1 ] || fail "not one line: $(cat poor.out)"
	fi
	expect_stage_idle
}

# When it is short, and of what, is chance as well.
short=0 tried=0
while [ $short -eq 0 ] && [ $tried -lt 60 ]; do
	for mib in 4 6 8 10 12 16 20 24 28 32 40 60 90 120; do
		try_more $mib
	done
done
[ $short -gt 0 ] || fail "it was never short of memory"
stop_hub
event $tried "jobs with little address space"
checked
