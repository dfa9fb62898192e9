# SPDX-License-Identifier: Apache-2.0
# `destall profile` of two ranks of DistributedDataParallel, which wait for one another in
# each step: started by torchrun, and by torch.multiprocessing.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/profiled.sh"
need_torch

# Without the last two options, Debian 12's torchrun does not go together with its Python.
# Each takes 4 samples in 20 + 20 ms.
profile $profile_options -- $torch_python -m torch.distributed.run --standalone --nproc_per_node 2 --redirects 1 --tee 1 \
    "$job" --prep 5 --step 20 --saves
expect_status 0
expect_nothing_saved torchrun
rm -rf "$TMPDIR"/torchelastic_*		# which it leaves behind by itself
expect_stall prep 35 62
expect_result 'doc["job"]["ranks"] == 2' '140 < rate["actual"] < 210' 'len(training) == 1'

profile $profile_options -- $torch_python "$job" --ranks 2 --prep 5 --step 20 --saves
expect_status 0
expect_nothing_saved spawn
expect_stall prep 35 62
expect_result 'doc["job"]["ranks"] == 2'

# Ctrl-C.
rm -f reached result.json
run $torch_python "$top_srcdir/tests/python/profile_group.py" reached SIGINT "$destall" profile \
    --for 30s --json result.json -- $torch_python "$job" --ranks 2 --prep 5 --step 20 --saves --tell 60
expect_status 0
expect_nothing_left

expect_nothing_saved "spawn, interrupted"
expect_result 'rate["ingest"] > 100'
