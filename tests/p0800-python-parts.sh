# SPDX-License-Identifier: Apache-2.0
# p0800: the parts of the Python package: batches as bytes and back, and what
# samples depend on as a digest; and that it is of the library's version.
long=${DS_LONG-}
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/pytest.sh"
need_torch

run_pytest test_payload.py test_state.py
grep -q "^VERSION = \"$("$destall" --version | sed 's/destall //')\"$" \
    "$top_srcdir/loader/python/destall/_version.py" || fail "the package is of another version"
