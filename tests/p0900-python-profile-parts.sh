# SPDX-License-Identifier: Apache-2.0
# p0900: the parts that profile a job from within: journals, the schedule, files and
# memory, batches that are replayed, which loader trains, and what is told of batches.
long=${DS_LONG-}
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/pytest.sh"
need_torch

run_pytest test_profile_parts.py
