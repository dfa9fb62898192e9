# SPDX-License-Identifier: Apache-2.0
# A thousand signals a second to the hub (row 25): no client notices.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/hub.sh"
need_preload

export DS_STORM_COUNT="$work/sent"
"$(harness storm)" "$(shim storm)" destall "$destall" serve --foreground > stormy 2>&1 &
hub=$!
until [ -S "$DESTALL_HUB" ]; do
	kill -0 $hub 2> /dev/null || fail "ended: $(cat stormy)"
	sleep 0.01
done
as_client crowd 50
expect_status 0
as_client ping 20000
expect_status 0
as_client hold 200
expect_status 0
run "$destall" serve --stop
expect_status 0
wait $hub || fail "exit status $?: $(cat stormy)"
grep -q 'the hub leaves: it was asked to' stormy || fail "$(cat stormy)"
! grep -E 'error:|warn:' stormy || fail "$(cat stormy)"
[ "$(cat "$work/sent")" -gt 0 ] || fail "no signal was sent"
event "$(cat "$work/sent")" "signals"
