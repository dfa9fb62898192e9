# SPDX-License-Identifier: Apache-2.0
# p0805: no PyTorch job is ever given a batch that it would not have made itself; those
# that may share do.
long=${DS_LONG-}
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/pytest.sh"
need_torch

run_pytest test_foreign.py
