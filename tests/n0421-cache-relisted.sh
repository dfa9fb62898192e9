# SPDX-License-Identifier: Apache-2.0
# A folder that changes while a job reads it: the next job fetches what changed
# and nothing else, the first goes on with what it has, and its set goes with
# it.  And a job that may not read an item: nobody else fails for it.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/faults.sh"
need_python
need_crash_points

mkset set 301 2000 9000
mv set/class003/000300.bin added		# the last
start_hub --cache 64M
job hub=find set > warm.txt || fail "$(cat warm.txt)"
expect_job warm.txt reads 300

# One more, one less, one touched.
job epochs=2 ready=ready go=go hub=find set > old.txt 2>&1 &
old=$!
await [ -e ready ]
mv added set/class003/000300.bin
mv set/class001/000150.bin removed
touch -d '2001-01-01' set/class000/000007.bin
job hub=find set > new.txt || fail "$(cat new.txt)"
expect_job new.txt items 300
expect_job new.txt reads 2
expect_job new.txt hits 298
[ "$(stat_of datasets.1.items)" = 300 ] || fail "the old set is gone before its job"

: > go
wait_job $old old.txt 2 300
expect_job old.txt hits 600
expect_job old.txt reads 0
expect_idle
job hub=find set > again.txt || fail "$(cat again.txt)"
expect_job again.txt hits 300
expect_idle

# As much is used as by one listing alone.
read_state
relisted=$used
[ "$admitted" -eq 300 ] || fail "$admitted items are cached, not 300"
stop_hub
start_hub --cache 64M
job hub=find set > fresh.txt || fail "$(cat fresh.txt)"
expect_idle
[ "$used" = "$relisted" ] || fail "$relisted bytes are used after a change, $used without"
event 1 "changed folder"

# Rights: the second's epoch has begun before the first fails.
run "$destall" cache drop set
expect_status 0
job ready=ready2 go=go2 hub=find set > may.txt 2>&1 &
may=$!
await [ -e ready2 ]
for errno in EACCES EPERM; do
	run env DS_DIE_AT=cache.leased:1:$errno "$(harness job)" hub=find set
	expect_status 1
	[ "$(word "$work/out" all failed)" = 1 ] || fail "$errno: $(cat "$work/out")"
	expect_set set failed_items 0
done
: > go2
wait_job $may may.txt 1 300
stop_hub
event 2 "jobs that may not read an item"
