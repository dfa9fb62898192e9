# SPDX-License-Identifier: Apache-2.0
# Hostile clients (row 53): each is expelled, and another client's questions
# are answered all the while.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/hub.sh"

start_hub
hub=$(hub_pid)
nr_fds() { ls "/proc/$hub/fd" 2> /dev/null | wc -l; }
"$frames" watch enough > watched 2>&1 &
watcher=$!
await grep -q watching watched
as_client ping 1000
expect_status 0
before=$(nr_fds)
kinds="garbage oversize empty cut fds deaf"
for how in $kinds; do
	as_client $how
	expect_status 0
done
expect_log 'is expelled: a message that is not destall.s'
expect_log 'is expelled: a message with too many bytes or descriptors'
expect_log 'is expelled: a message that says 100 bytes and has 0'
expect_log 'is expelled: it does not read its answers'
attacks=6
for how in $kinds; do
	for i in 1 2 3 4 5 6 7 8 9 10; do
		as_client $how
		expect_status 0
		attacks=$((attacks + 1))
	done
done
as_client opens 10000
expect_status 0
as_client silent		# for five seconds
expect_status 0
: > enough
wait $watcher || fail "the other client: $(cat watched)"
cat watched
grep -Eq '^[1-9][0-9]{2,} pings' watched || fail "the other client: $(cat watched)"
as_client ping 10
expect_status 0
expect_log 'is turned away: it did not say hello'
# The watcher has left; nothing else holds a descriptor (as root, who may look).
[ "$(nr_fds)" -le "$before" ] || fail "$(nr_fds) descriptors, $before before"
[ "$(hub_pid)" = "$hub" ] || fail "it is another hub"
stop_hub
event $attacks "hostile clients"
