# SPDX-License-Identifier: Apache-2.0
# x0406: a job is killed while it holds a lease, and its parent does not look
# (row 16): the zombie is dead to the hub at once, and who wants its item gets
# it.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cache.sh"
need_crash_points
need_python

items=20
mkset set $items 5000 20000
start_hub --lease 60s
take_baseline
kills=0
while [ $kills -lt "$(scale 10)" ]; do
	rm -f pid
	choose 5
	# The shell runs nothing that it would wait for, and so see the death.
	DS_DIE_AT=cache.leased:$((chosen + 1)):stop sh -c '
		"$@" > job.txt 2>&1 &
		echo $! > pid
		exec sleep 1000' - "$the_job" hub=find seed="$DS_SEED" set &
	parent=$!
	until [ -s pid ]; do sleep 0.01; done
	read -r pid < pid
	wait_stopped "$pid"
	us=$("$(harness leaser)" take set "$pid") || fail "the item was not given back"
	# Its socket ends a moment before it does.
	until grep -q '^State:.Z' "/proc/$pid/status" 2> /dev/null; do
		[ -d "/proc/$pid" ] || fail "it is no zombie: somebody has looked"
		sleep 0.01
	done
	kills=$((kills + 1))
	figure "from the kill to the next lease of the item, us:" "$us"
	expect_idle
	run bounded "$the_job" hub=find set
	expect_status 0
	check_job "$work/out" 1 $items
	expect_baseline set
	kill $parent
	wait $parent 2> /dev/null || :
done
stop_hub
event $kills "kills of jobs that became zombies"
