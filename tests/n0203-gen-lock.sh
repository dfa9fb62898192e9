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
wait_stopped $first
expect_refused 1 'another destall gen is at work in set: wait for it, or stop it' gen --count 12 set
check_whole set "the first stands still"
kill -CONT $first
wait $first || fail "the first: $(cat first)"
same_tree expected set "after it went on"

# Both find a new folder; the one that was slower to claim it harms nothing.
rm -rf set
mkdir set
env DS_DIE_AT=gen.unclaimed:1:stop "$destall" gen --size 40x30 --classes 3 --count 12 set \
    > slower 2>&1 &
slower=$!
wait_stopped $slower
env DS_DIE_AT=gen.written:3:stop "$destall" gen --size 40x30 --classes 3 --count 12 set \
    > first 2>&1 &
first=$!
wait_stopped $first
kill -CONT $slower
! wait $slower || fail "both were at work in one folder"
grep -q 'another destall gen is at work in set' slower || fail "the slower: $(cat slower)"
kill -CONT $first
wait $first || fail "the first: $(cat first)"
same_tree expected set "after the race for a new folder"
