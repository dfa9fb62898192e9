# SPDX-License-Identifier: Apache-2.0
# p0808: PyTorch jobs that share iterable datasets, and batches of other sizes than others
# have; ledgers, the explicit calls, trials in threads, endless loaders, what is an epoch.
long=${DS_LONG-}
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/pytest.sh"
need_torch

run_pytest test_pieces.py test_flows.py test_calls.py test_loops.py
