# SPDX-License-Identifier: Apache-2.0
# p0806: PyTorch jobs, workers and hubs that are killed and stopped, late joins: survivors
# have every sample once, and nothing is left behind.
long=${DS_LONG-}
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/pytest.sh"
need_torch

run_pytest test_drills.py
