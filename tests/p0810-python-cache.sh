# SPDX-License-Identifier: Apache-2.0
# p0810: files that the workers of PyTorch jobs open in Python, from the cache,
# with DESTALL=1 alone; which folders; and that open() is what it always was.
long=${DS_LONG-}
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/pytest.sh"
need_torch
[ -f "$top_builddir/.libs/libdestall-preload.so" ] || skip "built without the preload object"

run_pytest test_roots.py test_cache.py test_opens.py
