# SPDX-License-Identifier: Apache-2.0
# l0714: jobs with several loaders each: on two streams, taken in ratios of 1:1
# and 1:5, which would wait for each other for ever if nothing broke the cycle;
# iterators within iterators; an epoch that is left early; a peek; the position
# saved and restored.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"

drill_set 120
export DESTALL_WINDOW=2
loader="share=yes batch=$batch size=32 epochs=2"
other_seed=7

plain_job
cp plain.ledger plain3.ledger
job_options="--epochs 2 --seed $other_seed"
plain_job
mv plain.ledger plain$other_seed.ledger
start_hub
take_baseline

# taker NAME LINE...: as `destall run` starts it, with the token of a job: all its
# loaders are that job.
taker() {
	name=$1
	shift
	taker_nr=$((${taker_nr:-0} + 1))
	rm -f "$name".*.ledger
	printf '%s\n' "$@" > "$name.script"
	DESTALL=1 DESTALL_JOB=$(printf '%016x' $taker_nr) "$(harness taker)" < "$name.script" > "$name.out" 2>&1 &
	eval "${name}_pid=$!"
}

# open LETTER JOB SEED: a line of a script.
open() { echo "open $1 $job_set $loader seed=$3 ledger=$2.$3.ledger"; }

# given JOB SEED
given() {
	cp "plain$2.ledger" plain.ledger
	check_jobs "$1.$2"
}

# Two jobs, two streams each.
for ratio in '1 1' '1 5' '5 1'; do
	rm -f a.there b.there	# both are when they go on
	taker a "$(open A a 3)" "$(open B a $other_seed)" 'take A 1' 'touch a.there' 'await b.there' \
	    "turns A 1 B 1"
	taker b "$(open A b 3)" "$(open B b $other_seed)" 'take A 1' 'touch b.there' 'await a.there' \
	    "turns A ${ratio% *} B ${ratio#* }"
	for name in a b; do
		end_job $name
		given $name 3
		given $name $other_seed
	done
done
expect_log 'is detached at unit [0-9]*: jobs wait for each other in a circle'

# Within each epoch of one, an epoch of another iterator over the same stream;
# and beside it a job that has only one, there before they go on.
rm -f a.there c.there
taker a "$(open A a 3)" "open B $job_set $loader seed=3 ledger=inner.ledger" \
    'take A 1' 'touch a.there' 'await c.there' 'take A 2' 'epoch B' 'epoch A' 'take A 1' 'epoch B' 'rest A'
taker c "$(open A c 3)" 'take A 1' 'touch c.there' 'await a.there' 'rest A'
job_options="--epochs 2 --seed 3"
end_job a
end_job c
given a 3
given c 3
check_jobs inner
# The outer iterator stands in the way of the inner one: it is detached at once,
# and never by the policy of waiting.
expect_log 'is detached at unit [0-9]*: its own job waits for it'
! grep 'whose policy is' "$hub_log" || fail "a job waited for as long as its policy allows"

# An epoch is left after three batches, and begun anew; a peek before it.
taker a "open A $job_set $loader seed=3" 'take A 1' 'close A' \
    "open A $job_set $loader seed=3" 'take A 3' 'close A' "$(open A a 3)" 'rest A'
start_job c --step-ms 2
end_job a
end_job c
given a 3
check_jobs c

# Saved within a unit of another's, and gone on with, with other batches.
taker a "$(open A a 3)" 'take A 7' 'save A position' 'close A' \
    "$(open A a 3) batch=5" 'restore A position' 'take A 9' 'save A position' 'close A' \
    "$(open A a 3)" 'restore A position' 'rest A'
start_job c --step-ms 1
end_job a
end_job c
given a 3
check_jobs c

expect_stage_idle
stop_hub
event 3 "pairs of jobs on two streams each, in ratios"
checked
