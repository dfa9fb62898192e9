# SPDX-License-Identifier: Apache-2.0
# destall emulate --save and --resume: whatever has ended a job, what goes on
# from its position delivers exactly the rest.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/emulate.sh"
need_python
need_crash_points
env --default-signal=INT true 2> /dev/null || skip "env has no --default-signal"

gen --count 50 set
job="--data set --epochs 3 --seed 5"
emulate $job --ledger whole.ledger --save whole.position
expect_status 0

# stopped SIGNAL NTH OPTION...: the signal comes while it holds its NTH batch.
stopped() {
	signal=$1 nth=$2
	shift 2
	env --default-signal=INT,TERM,HUP DS_DIE_AT="emulate.batch:$nth:stop" "$destall" emulate \
	    --batch 8 --set size=32 "$@" > "$work/out" 2> "$work/err" &
	pid=$!
	wait_stopped $pid
	kill -"$signal" $pid
	kill -CONT $pid
	status=0
	wait $pid || status=$?
}

# Early, at the end of an epoch (7 batches), in the last one.
for at in TERM:15:1 INT:2:7 HUP:1:8 TERM:15:20; do
	signal=${at%%:*} nth=${at##*:} at=${at#*:}
	rm -f job.ledger job.position
	stopped "$signal" "$nth" $job --ledger job.ledger --save job.position
	expect_status $((128 + ${at%:*}))
	expect_one_line 'emulate: stopped: --resume job.position goes on from there$'
	expect_out '^epoch [0-9]: [0-9]+ '
	[ "$(wc -l < job.ledger)" -lt 150 ] || fail "it was not stopped"
	emulate $job --ledger job.ledger --save job.position --resume job.position
	expect_status 0
	cmp whole.ledger job.ledger || fail "stopped at batch $nth: another ledger"
	cmp whole.position job.position || fail "another end"
done
check_ledger whole.ledger

# Other batches, other threads.
rm -f job.ledger
stopped TERM 9 $job --ledger job.ledger --save job.position
batch=11
emulate $job --threads 1 --ledger job.ledger --resume job.position --json
batch=8
expect_status 0
same_samples whole.ledger job.ledger "resumed with other batches"
check_ledger job.ledger
expect_json '[(at["epoch"], at["complete"]) for at in doc["epochs"]] == [(1, False), (2, True)]'

# Nothing is left: that is no failure.
emulate $job --resume whole.position
expect_status 0
expect_out '^nothing is left to do: all epochs are over$'
# More epochs than before: they follow.
emulate --data set --epochs 4 --seed 5 --resume whole.position
expect_status 0
expect_out '^epoch 3: 50 samples '

# A batch that cannot be made: mended, it is the first that comes.
rm -f job.ledger job.position
cp set/class001/000004.jpg good.jpg
head -c "$(wc -c < good.jpg)" /dev/zero > set/class001/000004.jpg
emulate $job --ledger job.ledger --save job.position
expect_status 1
expect_one_line 'class001/000004.jpg: .*: --on-bad=skip leaves such files out$'
[ "$(wc -l < job.ledger)" -lt 50 ] || fail "the whole epoch was delivered"
# What was measured until then is told.
expect_out '^epoch 0: [0-9]+ of 50 samples '
expect_out '^processor: '
expect_out '^storage: '
emulate $job --json
expect_status 1
expect_json 'doc["failed"].startswith("class001/000004.jpg: ")' 'doc["failed"].endswith("leaves such files out")' \
    '0 < doc["samples"] < 50' 'doc["samples"] == doc["epochs"][0]["samples"]' \
    'not doc["epochs"][0]["complete"]' 'doc["cpu_seconds"] > 0' 'doc["stopped_by_signal"] is None'
emulate $job --json -o failed.json
expect_no_out
[ -s failed.json ] || fail "no document of a job that failed"
cp good.jpg set/class001/000004.jpg
emulate $job --ledger job.ledger --save job.position --resume job.position
expect_status 0
cmp whole.ledger job.ledger || fail "mended: another ledger"

# What is no position, or that of another job, is refused.
refused() { expect_refused 1 "$@"; }
job() { "$destall" emulate --set size=32 --data set "$@"; }
refused 'cannot read nowhere: No such file or directory: .* leave --resume out' \
    job --seed 5 --epochs 3 --resume nowhere
: > empty.position
refused 'empty.position: ' job --resume empty.position
refused 'whole.ledger: ' job --resume whole.ledger
head -c 300 /dev/zero > zeros
refused 'zeros: no position of a job$' job --resume zeros
refused 'whole.position: ' job --seed 6 --resume whole.position
refused 'whole.position: ' job --seed 5 --order listed --resume whole.position
refused 'cannot read set: Is a directory' job --resume set
gen --count 51 larger
refused 'whole.position: ' "$destall" emulate --data larger --seed 5 --resume whole.position
# A ledger of another job is not gone on in unasked.
refused 'ledger whole.ledger: it has lines already: only a job that resumes adds to it$' \
    job --seed 5 --ledger whole.ledger
# What is wrong with a ledger is no picture to leave out.
echo 'hello world' > no.ledger
refused 'ledger no.ledger: line 1: [^:]*$' job --seed 5 --epochs 4 --resume whole.position --ledger no.ledger


# A signal that waits for it already: it begins nothing, and the old position
# stays.
cp whole.position old.position
"$PYTHON" -c '
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
os.kill(os.getpid(), signal.SIGTERM)
os.execv(sys.argv[1], sys.argv[1:])' "$destall" emulate --data set --seed 5 --save old.position \
    > "$work/out" 2> "$work/err" &
pid=$!
status=0
wait $pid || status=$?
expect_status 143
expect_one_line 'emulate: stopped before the first batch$'
expect_no_out
cmp whole.position old.position || fail "the position is gone"
