# SPDX-License-Identifier: Apache-2.0
# d0601: cuts are drawn by the laws of torchvision's transforms.
long=${DS_LONG-}
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/pytest.sh"
need_torch

run_pytest test_laws.py
