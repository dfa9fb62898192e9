# SPDX-License-Identifier: Apache-2.0
# Two of destall gen in one folder: the second is refused while the first is
# at work, however long that stands still.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/gen.sh"
need_crash_points

gen --count 12 expected > /dev/null
env DS_DIE_AT=gen.written:3:stop "$destall" gen --size 40x30 --classes 3 --count 12 set \
    > first 2>&1 &
first=$!
until grep -q '^State:.T' "/proc/$first/status"; do
	kill -0 $first || fail "the first has ended: $(cat first)"
	sleep 0.01
done
expect_refused 1 'another destall gen is at work in set: wait for it, or stop it' gen --count 12 set
check_whole set "the first stands still"
kill -CONT $first
wait $first || fail "the first: $(cat first)"
same_tree expected set "after it went on"
