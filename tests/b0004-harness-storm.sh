# SPDX-License-Identifier: Apache-2.0
# The storm of signals (tests/harness/storm.c): it does interrupt, only the
# program it names, and passes the exit status on.
. "${top_srcdir:?run by make check}/tests/lib.sh"
need_preload

victim=$(harness victim)
fail_exe=victim

# Only an interrupted read lets it end.
storm "$victim" interrupted 50
expect_status 0
expect_out '^interrupted 50 times$'

# Started by others that are not to be hurt, it still is.
storm env sh -c 'exec "$0" interrupted 5' "$victim"
expect_status 0
expect_out '^interrupted 5 times$'
storm sh -c 'exit 3'
expect_status 3

# In another program the signals change nothing: a read that fails would.
fail_exe=another
export DS_STORM_COUNT="$work/sent"
storm sh -c 'i=0; while [ $i -lt 20 ]; do "$0" read; i=$((i + 1)); done' \
    "$victim"
expect_status 0
[ "$(grep -c '^read 8$' "$work/out")" -eq 20 ] || fail "a read was hurt"
[ "$(cat "$work/sent")" -gt 0 ] || fail "no signal was sent"

storm "$victim" abort
expect_status 134
storm ./none
expect_status 127
