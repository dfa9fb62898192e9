# SPDX-License-Identifier: Apache-2.0
# p0801: PyTorch jobs that share, with loaders of 21 shapes: each is given what a
# plain DataLoader gives under the same seeds.
long=${DS_LONG-}
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/pytest.sh"
need_torch

run_pytest test_sharing.py
