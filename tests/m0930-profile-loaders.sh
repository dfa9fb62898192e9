# SPDX-License-Identifier: Apache-2.0
# `destall profile` of unmodified PyTorch jobs with loaders of all kinds, whose stalls
# are known, because they are slept.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/profiled.sh"
need_torch

# A batch takes 80 ms of one worker, so 40 of two; a step of 20 waits half of the time.
profile_job --workers 2 --prep 20 --step 20
expect_status 0
expect_no_out
expect_stall prep 35 62
expect_result 'len(training) == 1 and training[0]["name"] == "Sleepy"' \
    'training[0]["batch_size"] == 4 and training[0]["workers"] == 2' \
    'doc["mode"] == "steered" and doc["starts"] == 1' \
    '160 < rate["ingest"] < 205' '75 < rate["actual"] < 105' '75 < rate["prep"] < 105' \
    'rate["storage"] is None and any("files" in c for c in doc["confessions"])'
expect_err 'prep stall'

# None that are ahead: 20 + 20 ms.
profile_job --prep 5 --step 20
expect_status 0
expect_stall prep 35 62
expect_result 'training[0]["workers"] == 0'

# All is ready in time.
profile_job --workers 2 --start spawn --prep 1 --step 30
expect_status 0
expect_stall none
profile_job --workers 2 --start forkserver --persistent --prep 20 --step 20
expect_status 0
expect_stall prep 35 62

# Its samples are those of its beginning; and its end is no end.
profile_job --iterable --workers 2 --prep 20 --step 20
expect_status 0
expect_no_out
expect_stall prep 35 62
expect_result 'doc["job"]["is_iterable"] and any("iterable" in c for c in doc["confessions"])'
