# SPDX-License-Identifier: Apache-2.0
# `destall profile` of jobs however they are started: by a shell script and a console
# entry point, by python -m; and that nothing behind the training is run.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/profiled.sh"
need_torch

mkdir bin
cat > bin/train <<ENTRY
#!$torch_python
import sys
sys.path.insert(0, "${job%/*}")
import profile_job
sys.exit(profile_job.main())
ENTRY
cat > train.sh <<'SCRIPT'
echo begins
train "$@"
touch after
echo ends
SCRIPT
chmod +x bin/train
PATH=$PWD/bin:$PATH
profile $profile_options sh train.sh --prep 5 --step 20 --saves
expect_status 0
expect_stall prep 35 62
printf 'begins\n' | cmp -s - "$work/out" || fail "standard output is another"
[ ! -e after ] || fail "the script went on"
expect_nothing_saved "shell script"

cp "$job" module.py
profile $profile_options -- $torch_python -m module --prep 0 --step 30
expect_status 0
expect_stall none
