# SPDX-License-Identifier: Apache-2.0
# `destall profile`: figures beside those of the verdict, and how long it measures.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/profiled.sh"
need_torch torchvision PIL
need taskset

# It ends when it is as sure as it is to be, and has tried other numbers of workers by
# then: one alone is half as fast as two.
profile_options="--for 60s --confidence 30%"
profile_job --workers 2 --prep 20 --step 20
expect_status 0
expect_no_out
expect_result 'doc["starts"] == 1 and doc["seconds"] - doc["startup_seconds"] < 50' \
    '{1, 2} <= {a["workers"] for a in doc["alone"]}' \
    'all(38 < a["samples_per_s"] / a["workers"] < 52 for a in doc["alone"] if a["workers"] <= 2)' \
    'all(a["interval"][0] <= a["samples_per_s"] <= a["interval"][1] for a in doc["alone"])' \
    'len(doc["workers"]) == 2 and all(w["fetch_ms_per_sample"] < 5 for w in doc["workers"])' \
    'all(19 < w["prep_ms_per_sample"] < 35 for w in doc["workers"])'

# Of one processor, a step has half while a worker is busy.  It is over in time.
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
profile --for 5s -- taskset -c "$cpu" $torch_python "$job" --burn --workers 1 --prep 5 --step 20
expect_status 0
expect_result '0.3 < rate["ingest_busy"] / rate["ingest"] < 0.8' \
    'doc["measured_seconds"] < 10 and doc["seconds"] - doc["startup_seconds"] < 20'

# Two ranks read from one storage, of 200 KiB a second: what it gives is the sum of both.
"$destall" gen --count 1600 --size 40-64 --classes 3 set > /dev/null
rm -f result.json
run env LD_PRELOAD="$(shim slow)" DS_SLOW_ROOT="$PWD/set" DS_SLOW_STATE="$work/state" DS_SLOW_RATE=200K \
    "$destall" profile --for 8s --json result.json -- \
    $torch_python "$job" --ranks 2 --workers 1 --images "$PWD/set" --batches 200 --step 20
expect_nothing_left
expect_status 0
expect_result 'doc["job"]["ranks"] == 2' 'training[0]["workers"] == 1' \
    '150 < rate["storage"] * doc["job"]["bytes_per_sample"] / 1024 < 250'
