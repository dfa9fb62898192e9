# SPDX-License-Identifier: Apache-2.0
# The hub is killed, or fails, at each of its points: the next one starts, and
# clients of the old one see its end.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/hub.sh"
need_crash_points
ulimit -c 0
kills=0

# A hub that will die at a point; a client that comes and goes; and its end.
hurt() {
	run env "DS_DIE_AT=$1" "$destall" serve
	if [ "$status" -eq 0 ]; then
		hub=$(hub_pid)
		as_client ping 1
		as_client ping 1
		run "$destall" serve --stop
		wait_end "$hub"
	else
		expect_status 1
		expect_one_line "$2"
	fi
}

recover() {
	start_hub
	as_client ping 5
	expect_status 0
	stop_hub
}

points=$(crash_points hub.)
[ -n "$points" ] || fail "no crash points were found"
for point in $points; do
	for nth in 1 2; do
		hurt "$point:$nth" 'the hub ended without a word: '
		recover
		kills=$((kills + 1))
	done
done
event $kills "kills of the hub"

for point in hub.locked hub.bound hub.listening; do
	hurt "$point:1:ENOSPC" 'cannot start the hub: hub: failed as told'
	[ ! -e "$DESTALL_HUB" ] || fail "$point: the socket was left"
	recover
done

# While a hub that starts stands still, it is the only one.
DS_DIE_AT=hub.locked:1:stop "$destall" serve --foreground > stopped 2>&1 &
slow=$!
wait_stopped $slow
expect_refused 1 'another hub is at work in ' "$destall" serve --foreground
kill -CONT $slow
until [ -S "$DESTALL_HUB" ]; do sleep 0.01; done
as_client ping 1
stop_hub
wait $slow || fail "exit status $?: $(cat stopped)"
