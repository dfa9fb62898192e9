# SPDX-License-Identifier: Apache-2.0
# d0600: samples equal those that Pillow and torchvision make with the same cut,
# bit for bit: pictures of every kind and size, every type and layout, in plain
# C and for every instruction set that works here.
long=${DS_LONG-}
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/pytest.sh"
need_torch
need cjpeg
configured WITH_PNG || skip "built without libpng"

run_pytest test_parity.py
