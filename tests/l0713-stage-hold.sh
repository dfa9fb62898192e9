# SPDX-License-Identifier: Apache-2.0
# l0713: jobs that keep every batch, that write into every batch, also by a
# thread while it becomes private, and that fork while they hold some: what a
# job holds is its own, and nobody waits for it.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"

drill_set 240
plain_job
export DESTALL_WINDOW=4
start_hub
take_baseline

# By the job itself, which sees at its end that nothing has changed.
start_job a --keep --step-ms 1
start_job b --keep --touch write --step-ms 1
start_job c --touch write
start_job d
for name in a b c d; do end_job $name; done
check_jobs a b c d
expect_stage_idle

# Two at a time, so that each takes what the other has made.
taker a 'write A 40' 'rest A' check
taker b 'keep A 10' fork 'keep A 10' fork 'take A 5' 'write A 10' 'rest A' join check
start_job c
for name in a b c; do end_job $name; done
check_jobs a b c

# What is held outlives the epoch, the pass and a loader that ends.
taker a 'keep A 3' 'epoch A' 'keep A 2' fork check 'rest A' check join
taker b 'epoch A' 'write A 5' 'epoch A' check
for name in a b; do end_job $name; done
check_jobs a b
expect_stage_idle
stop_hub
checked
