# SPDX-License-Identifier: Apache-2.0
# `destall profile` of training loops that are easily disturbed.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/profiled.sh"
need_torch

# A schedule of learning rates that raises after the last step, gradients accumulated
# over 4 batches, a first step of 20 s, batches changed in place with keys popped.
profile_job --rough --accumulate 4 --first 20 --batches 1200 --workers 2 --prep 20 --step 20
expect_status 0
expect_no_out
expect_stall prep 35 62
expect_result 'doc["startup_seconds"] >= 20'
! grep -q Traceback "$work/err" || fail "the job was disturbed"

# The same schedule, of a job that goes on: it takes exactly the steps that it would have.
profile --for 3s --continue -- $torch_python "$job" --rough --workers 2 --batches 500 --epochs 2 --prep 2 --step 4
expect_status 0
expect_out '^trained 1000 steps$'
expect_result 'doc["mode"] == "steered" and verdict["sentence"]'
! grep -q Traceback "$work/err" || fail "the job that goes on was disturbed"

# One whose loader nobody can steer.
profile --for 3s -- $torch_python "$job" --pipe --batches 40 --status 7
expect_status 7
expect_out '^trained 40 steps$'
expect_err '^destall: profile: the loader that trains cannot be steered: it loads from a DataPipe$'

# Another loader, every 50 steps: 3 batches of 20 + 20 ms.
profile_job --validate 50 --prep 5 --step 20
expect_status 0
expect_stall prep 35 62
expect_result 'len(doc["loaders"]) == 2 and len(training) == 1 and training[0]["batches"] > 100' \
    '[l["batches"] for l in doc["loaders"] if not l["is_training"]][0] % 3 == 0' \
    'any("other loaders" in c["what"] and c["times"] >= 1 for c in doc["cuts"])' \
    '160 < rate["ingest"] < 205'

# An epoch that has no room.
profile_job --batches 30 --saves --prep 5 --step 20
expect_status 0
expect_nothing_saved "short epochs"
expect_result 'doc["starts"] > 1' 'verdict["sentence"]'

# One whose length nobody knows: it ends within a block.
profile_options="--for 8s"
profile_job --iterable --batches 24 --saves --prep 5 --step 20
expect_status 0
expect_nothing_saved "the end of a stream"
expect_result 'doc["starts"] > 1 and rate["ingest"] > 100'
profile_options="--for 3s --pass-epochs"
profile_job --iterable --workers 2 --batches 60 --epochs 1000 --prep 5 --step 5
expect_status 0
expect_no_out
expect_result 'doc["starts"] == 1 and rate["actual"] > 0'
