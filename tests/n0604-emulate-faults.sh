# SPDX-License-Identifier: Apache-2.0
# destall emulate: a wrong command line, no data, disks that are full, calls that
# fail, a second signal: one clear line each, and never a hang.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/emulate.sh"

gen --count 20 set

#--- wrong options

usage() {
	text=$1
	shift
	expect_refused 2 "emulate: $text.*see 'destall emulate --help'" "$destall" emulate "$@"
}

usage '--data is missing'
usage '--data is empty' --data ''
usage 'too many operands' set
usage "--batch: '0' is out of range" --data set --batch 0
usage "--batch: '1e3' is not" --data set --batch 1e3
usage "--epochs: '0' is out of range" --data set --epochs 0
usage "--step-ms: '-1' is not a number" --data set --step-ms -1
usage "--step-ms: '1e30' is not a number" --data set --step-ms 1e30
usage "--step-ms: 'nan' is not a number" --data set --step-ms nan
usage "--step-ms: '99999999' is more than an hour" --data set --step-ms 99999999
usage "--order: 'sorted' is not" --data set --order sorted
usage "--touch: 'both' is not" --data set --touch both
usage "--on-bad: 'ignore' is not" --data set --on-bad ignore
usage "--threads: '0' is out of range" --data set --threads 0
usage '--output is for --json' --data set -o file
usage 'a file without a name' --data set --save ''
usage "--set 'size': write NAME=VALUE" --data set --set size
usage "--set '=3': write NAME=VALUE" --data set --set =3
usage '--set batch: there is --batch for that' --data set --set batch=3
usage '--set sise: there is no such option: did you mean size' --data set --set sise=3
usage '--set xyzzy: there is no such option' --data set --set xyzzy=3
usage '--set size: ' --data set --set size=0
usage '--set type: ' --data set --set type=fp64
usage "--seed: '-1' is not" --data set --seed -1

# Each is right by itself.
expect_refused 2 'emulate: resize=100 is smaller than the sample' "$destall" emulate --data set \
    --set crop=center --set resize=100

#--- no data

expect_refused 1 'data set nowhere: No such file or directory' "$destall" emulate --data nowhere
mkdir empty
expect_refused 1 '.*no pictures' "$destall" emulate --data empty
echo hello > empty/notes.txt
expect_refused 1 '.*no pictures' "$destall" emulate --data empty
expect_refused 1 'data set .*out.txt: Not a directory' "$destall" emulate --data empty/notes.txt/out.txt
expect_refused 1 '.*labels.txt: ' "$destall" emulate --data set --set labels=labels.txt

#--- what cannot be written

refused() { expect_refused 1 "$@"; }
job() { "$destall" emulate --batch 8 --set size=32 --data set "$@"; }
refused 'cannot write /nowhere/p: No such file or directory' job --save /nowhere/p
refused '.*/nowhere/l' job --ledger /nowhere/l
refused 'cannot write /nowhere/o: No such file or directory' job --json -o /nowhere/o
refused 'cannot write set: Is a directory' job --save set
if [ -w /dev/full ]; then
	refused 'cannot write /dev/full: No space left on device' job --save /dev/full
	refused '.*/dev/full: No space left on device: what the job is given is not written down any more$' \
	    job --ledger /dev/full
	refused 'cannot write /dev/full: No space left on device' job --json -o /dev/full
	status=0
	job > /dev/full 2> "$work/err" || status=$?
	expect_status 1
	expect_one_line 'cannot write to standard output: '
fi

# The old position stays where the new one cannot be written.
job --save p > /dev/null
mkdir folder
cp p folder/p
cp p before
if ! is_root; then
	chmod 500 folder
	chmod 400 folder/p
	refused 'cannot write folder/p: Permission denied' job --epochs 2 --save folder/p --resume p
	cmp folder/p before || fail "the old position is gone"
	chmod 700 folder
fi

#--- a second signal, while a batch cannot be had: the first waits for it

if configured WITH_CRASH_POINTS && env --default-signal=INT true 2> /dev/null; then
	env --default-signal=INT DS_DIE_AT=emulate.batch:1:sleep=60000 "$destall" emulate \
	    --batch 8 --set size=32 --data set --save q > "$work/out" 2> "$work/err" &
	pid=$!
	until [ -s q ]; do kill -0 $pid || fail "it has ended"; sleep 0.01; done
	kill -INT $pid
	until [ -s "$work/err" ]; do kill -0 $pid || fail "it has ended"; sleep 0.01; done
	expect_one_line 'emulate: stopping after the batch .*; once more to stop now$'
	kill -INT $pid
	status=0
	wait $pid || status=$?
	expect_status 130
fi

# A step of an hour ends at once when it is asked to.
env --default-signal=TERM true 2> /dev/null && {
	env --default-signal=TERM "$destall" emulate --data set --batch 8 --step-ms 3600000 --save r \
	    --ledger r.ledger > "$work/out" 2> "$work/err" &
	pid=$!
	until [ -s r.ledger ]; do kill -0 $pid || fail "it has ended"; sleep 0.01; done
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	expect_status 143
	expect_one_line 'emulate: stopped: --resume r goes on from there$'
	expect_out '^epoch 0: 8 of 20 samples '
}

#--- calls that fail

check_after_failure() {
	[ "$status" -eq 0 ] || [ -s "$work/err" ] || fail "with $1: silence"
	[ ! -s saved ] || grep -q '^destall-position ' saved || fail "with $1: no position"
}
before_failure() { rm -f saved; }
is_sanitized || {
	for call in malloc calloc realloc posix_memalign; do
		DS_FAIL_LIMIT=${DS_FAIL_LIMIT:-12} fail_calls $call ENOMEM "$destall" emulate --batch 8 \
		    --set size=32 --data set --threads 1 --save saved --keep
	done
	for call in pthread_create:EAGAIN fsync:EIO rename:EACCES; do
		fail_calls "${call%:*}" "${call#*:}" "$destall" emulate --batch 8 --set size=32 \
		    --data set --threads 2 --save saved
	done
}
