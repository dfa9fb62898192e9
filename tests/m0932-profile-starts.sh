# SPDX-License-Identifier: Apache-2.0
# `destall profile` of jobs however they are started: by a shell script and a console
# entry point, by one that pip has installed in a virtual environment, by python -m; and
# that nothing behind the training is run.
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

# One of an environment, as that of tests/compat is, would not see PyTorch.
{ $torch_python -m venv --system-site-packages --without-pip own &&
    own/bin/python -c 'import setuptools, wheel, pip, torch'; } > "$work/out" 2>&1 ||
    { echo "no entry point: $(tail -n 1 "$work/out")"; exit 0; }
cat > setup.py <<'SETUP'
from setuptools import setup
setup(name="trains", py_modules=["module"], entry_points={"console_scripts": ["train=module:main"]})
SETUP
run own/bin/python -m pip install -q --no-index --no-build-isolation --no-cache-dir .
expect_status 0
profile $profile_options own/bin/train --workers 2 --prep 20 --step 20 --saves
expect_status 0
expect_no_out
expect_nothing_saved "entry point"
expect_stall prep 35 62
