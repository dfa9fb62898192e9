# SPDX-License-Identifier: Apache-2.0
# x0700: the hub is killed at any time, and at each of its points, while four
# programs that know nothing of it read through the preload object (row 8):
# each gets every byte of every epoch, none fails, and the job has one line at
# most.  Then another hub is started (row 9): programs that had the old one find
# it when they need it, and new ones at once.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/preloaded.sh"
need_object
need_crash_points
need_python
ulimit -c 0

items=80
mkset set $items 3000 50000
kills=0

# Under `destall run`: from when the readers are there.
by_run() {
	rm -f ready go
	start_hub --cache 3M		# not all of it
	"$destall" run --data set -- sh "$work/four.sh" epochs=3 pace=300 \
	    ready=ready go=go set > four.out 2> four.err &
	job=$!
	wait_file ready
	: > go
	choose_time 150
	kill_hub
	wait_four $job 3 $items
	[ ! -s four.out ] || fail "output of its own: $(cat four.out)"
}

# By the object alone: from before the first open.
by_object() {
	start_hub
	"$preload" sh "$work/four.sh" epochs=2 pace=200 set > four.out 2> four.err &
	job=$!
	choose_time 150
	kill_hub
	[ "$1" = no ] || start_hub
	wait_four $job 2 $items
	[ "$1" = no ] || {
		run "$preload" "$the_plain" set
		expect_status 0
		check_plain "$work/out" 1 $items
		expect_lines "$work/err" 0
		is_cached set $items || fail "the new hub has $(set_of set cached_items) items"
		stop_hub
	}
}

round=0
while [ $round -lt "$(scale 9)" ]; do
	round=$((round + 1))
	by_run
	by_object no
	[ $((round % 3)) -ne 0 ] || by_object again
done

# At its points, which readers lead to.
for point in hub.welcome hub.listing hub.allocate hub.publish hub.reap; do
	run env DS_DIE_AT="$point:2" "$destall" serve
	expect_status 0
	hub=$(hub_pid)
	run "$preload" "$the_plain" set		# so that there is a second time
	expect_status 0
	"$preload" sh "$work/four.sh" epochs=2 set > four.out 2> four.err &
	wait_four $! 2 $items
	run "$destall" cache drop set
	"$preload" sh "$work/four.sh" epochs=1 set > four.out 2> four.err &
	wait_four $! 1 $items
	! grep -q '^State:.[^ZX]' "/proc/$hub/status" 2> /dev/null || fail "$point was not come by"
	kills=$((kills + 1))
	wait_dead "$hub"
done

# A program that stands inside an open as its hub is killed and another started
# goes on with that one, without a line; the old one's cache serves meanwhile.
for point in bring.leased bring.read bring.closed; do
	start_hub
	DS_DIE_AT=$point:20:stop "$preload" "$the_plain" epochs=2 set > r1.txt 2> four.err &
	job=$!
	wait_stopped $job
	kill_hub
	start_hub
	kill -CONT $job
	wait_plain $job r1.txt 2 $items
	expect_lines four.err 1
	[ "$(set_of set cached_items)" -gt $((items / 2)) ] ||
	    fail "$point: the new hub has $(set_of set cached_items) items"
	stop_hub
done
event $kills "kills of the hub with four programs that know nothing of it"
