# SPDX-License-Identifier: Apache-2.0
# p0804: PyTorch behaves as without destall: loops, workers, errors, interrupts, batches
# that are kept, changed, sent and forked, the randomness of the main process.
long=${DS_LONG-}
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/pytest.sh"
need_torch

run_pytest test_behaviour.py
