# SPDX-License-Identifier: Apache-2.0
# d0602: the loader's batches are what torchvision's ImageFolder and transforms
# make with the same cuts, in the same order, whatever the batch size, the
# number of threads, and where it was interrupted.
long=${DS_LONG-}
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/pytest.sh"
need_torch
need cjpeg
configured WITH_PNG || skip "built without libpng"

run_pytest test_loader.py
