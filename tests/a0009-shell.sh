# SPDX-License-Identifier: Apache-2.0
# a0009: the shell scripts are well-formed.
. "${top_srcdir:?run by make check}/tests/lib.sh"
need shellcheck

cd "$top_srcdir"
# SC1091: lib.sh is found at run time.  SC2154: its variables are set there.
# SC2086, SC2046: word splitting is how lists are kept.  SC3045: every sh of
# Debian's has ulimit -c.
shellcheck -S warning -e SC1091,SC2154,SC2034,SC2086 -s bash quickstart .ci/run \
    tests/suite.sh tests/check-all tests/fresh-debian > "$work/out" 2>&1 || fail "shellcheck"
shellcheck -S warning -e SC1091,SC2154,SC2034,SC2046,SC3043,SC3045 -s sh tests/lib.sh \
    tests/[a-z]0*.sh > "$work/out" 2>&1 || fail "shellcheck"
