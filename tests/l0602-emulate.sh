# SPDX-License-Identifier: Apache-2.0
# destall emulate: every sample of every epoch is delivered once, the same bytes
# whatever the batches and threads are, with the cache and without; what it
# prints.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/hub.sh"
. "$top_srcdir/tests/emulate.sh"
need_python

gen --count 50 set
emulate --data set --epochs 2 --ledger plain.ledger
expect_status 0
expect_no_err
expect_out '^epoch 0: 50 samples in .*: [0-9,]+ samples/s, stall [0-9]+ %$'
expect_out '^epoch 1: 50 samples in '
expect_out '^all: 100 samples in .*: [0-9,]+ samples/s, stall [0-9]+ %$'
expect_out '^processor: .* a sample, [0-9]+ threads?; memory: .* at most$'
expect_out '^storage: 100 reads, '
[ "$(wc -l < "$work/out")" -eq 5 ] || fail "other lines"
[ "$(wc -l < plain.ledger)" -eq 100 ] || fail "the ledger has not 100 lines"
check_ledger plain.ledger
[ "$(awk '$1 == 0 { print $4 }' plain.ledger)" != "$(awk '$1 == 1 { print $4 }' plain.ledger)" ] ||
    fail "both epochs have the same order"

# Neither batches nor threads change a byte; touching and keeping neither, nor
# does the step.
n=0
for batch in 1 7 32 50; do
	emulate --data set --epochs 2 --ledger batch$batch.ledger
	expect_status 0
	same_samples plain.ledger batch$batch.ledger "batches of $batch"
done
batch=8
for options in '--threads 1' '--threads 5' '--touch none' '--touch write --keep' '--keep' '--step-ms 0.5' \
    '--set readers=0 --set prefetch=0' '--set simd=plain'; do
	n=$((n + 1))
	emulate --data set --epochs 2 --ledger $n.ledger $options
	expect_status 0
	same_samples plain.ledger $n.ledger "$options"
done
check_ledger plain.ledger ./*.ledger

# Another seed: other orders and other crops.
emulate --data set --epochs 2 --seed 1 --ledger seed.ledger
samples seed.ledger > a
samples plain.ledger > b
[ "$(grep -cxFf a b)" -lt 10 ] || fail "another seed, the same samples"

# In the order of names; a short last batch; a batch for each.
emulate --data set --order listed --ledger listed.ledger
awk '{ print $4 }' listed.ledger > a
sort a | cmp -s - a || fail "not in the order of names"
[ "$(awk '{ print $2 }' listed.ledger | sort -n | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" = \
    "8 8 8 8 8 8 2 " ] || fail "not six batches of 8 and one of 2"
batch=32
emulate --data set --set drop-last=yes
expect_status 0
expect_out '^epoch 0: 32 samples '
batch=8

# Tar shards hold the same pictures.
gen --count 50 --tar 64K shards
emulate --data tar:shards --epochs 2 --json --set labels=none
expect_status 0
expect_json 'doc["samples"] == 100' 'doc["set"] == {"size": "32", "labels": "none"}'

# One is one; a slow job has a decimal.
gen --count 1 one
batch=1
emulate --data one --step-ms 150 --threads 1
expect_status 0
expect_out '^epoch 0: 1 sample in .*: [0-9]\.[0-9] samples/s, stall '
expect_out '^processor: .* a sample, 1 thread; '
expect_out '^storage: 1 read, '
batch=8

# As JSON; to a file, with nothing on standard output.
emulate --data set --epochs 3 --step-ms 2 --json
expect_status 0
expect_no_err
expect_json 'doc["schema_version"] == 1' 'doc["samples"] == 150' \
    'doc["samples_per_epoch"] == 50' 'doc["bad"] == []' 'doc["step_ms"] == 2' \
    'doc["cache"]["in_use"] is False' 'doc["cache"]["storage_reads"] == 150' \
    'doc["stopped_by_signal"] is None' 'doc["failed"] is None' \
    'doc["set"] == {"size": "32"}' 'doc["version"] == "'"$("$destall" --version | awk '{ print $2 }')"'"' \
    '[at["epoch"] for at in doc["epochs"]] == [0, 1, 2]' \
    'all(at["samples"] == 50 and at["complete"] for at in doc["epochs"])' \
    'all(at["seconds"] >= 7 * 0.002 for at in doc["epochs"])' \
    'all(0 <= at["stall_share"] <= 1 for at in doc["epochs"])' \
    'all(abs(at["samples_per_s"] * at["seconds"] - 50) < 1e-3 for at in doc["epochs"])' \
    'doc["cpu_seconds"] > 0' 'doc["peak_bytes"] > 1 << 20'
run "$destall" emulate --data set --json -o out.json
expect_status 0
expect_no_out
expect_no_err
cp out.json "$work/out"
expect_json 'doc["samples"] == 50' 'doc["batch"] == 64'

# With the cache: storage is read once, and by the first job.
start_hub
export DESTALL=1
emulate --data set --epochs 3 --json --ledger cached.ledger
expect_status 0
expect_one_line 'emulate: ready to share: no other job of its stream yet$'
expect_json 'doc["cache"]["in_use"]' 'doc["cache"]["storage_reads"] == 50' 'doc["cache"]["hits"] == 100'
emulate --data set --epochs 2 --ledger second.ledger
expect_out '^cache: 100 hits; storage: 0 reads, 0 B$'
awk '$1 < 2' cached.ledger > first.ledger
same_samples plain.ledger first.ledger "through the cache"
same_samples plain.ledger second.ledger "from the cache"
stop_hub

# Where there can be no hub, one line says so.
DESTALL_HUB=/dev/null/ctl.sock emulate --data set --epochs 2 --ledger alone.ledger
expect_status 0
expect_one_line 'emulate: .*: the job runs without the cache$'
same_samples plain.ledger alone.ledger "without a hub"
unset DESTALL

# Each job has a ledger of its own in the folder that is named so.
mkdir ledgers
DESTALL_LEDGER=$PWD/ledgers emulate --data set --epochs 2
DESTALL_LEDGER=$PWD/ledgers emulate --data set --epochs 2 --threads 1
[ "$(ls ledgers | wc -l)" -eq 2 ] || fail "not two ledgers: $(ls ledgers)"
check_ledger ledgers/*
DESTALL_LEDGER=$PWD/ledgers emulate --data set --ledger named.ledger
[ "$(ls ledgers | wc -l)" -eq 2 ] || fail "--ledger does not come first"

# The share of a rank is a stream of its own; together they are the whole.
for rank in 0 1; do
	emulate --data set --epochs 2 --set ranks=2 --set rank=$rank --ledger rank$rank
	check_ledger --repeats rank$rank
done
cat rank0 rank1 | awk '$1 == 0 { print $4 }' | sort -u > together
[ "$(wc -l < together)" -eq 50 ] || fail "the ranks had $(wc -l < together) samples together"

# What is no ledger is left as it is.
emulate --data set --save position
printf 'not\na ledger' > note
emulate --data set --epochs 2 --resume position --ledger note
expect_status 1
expect_one_line 'ledger note: line 1: it does not begin with the number of an epoch$'
[ "$(cat note)" = "$(printf 'not\na ledger')" ] || fail "what is no ledger was changed"

# The page tells of every option of the loader.
page=$top_builddir/man/destall-emulate.1
[ ! -f "$page" ] || for name in prefetch labels crop max-memory; do
	grep -q "^.fB$(echo $name | sed 's/-/\\\\-/g').fR=" "$page" || fail "the page does not name $name"
done
# And of every member of the document.
emulate --data set --json
[ ! -f "$page" ] || for name in $("$PYTHON" -c '
import json, sys
doc = json.load(open(sys.argv[1]))
del doc["schema_version"]
print(*doc, *doc["epochs"][0], *doc["cache"])' "$work/out"); do
	grep -Eq "^.BR? $name( |\$)" "$page" || fail "the page does not name $name"
done
