# SPDX-License-Identifier: Apache-2.0
# destall serve: starts a hub, says when there is one, stops it.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/hub.sh"

start_hub
first=$(hub_pid)
as_client ping 10
expect_status 0
run "$destall" serve
expect_status 0
expect_one_line 'a hub is running already$'
run "$destall" serve --cache 1G --stage 1M --idle 5s --lease 1s
expect_status 0
expect_one_line 'a hub is running already: --cache, --stage, --idle, --lease is not changed: '
expect_refused 1 "another hub is at work in $work/run\$" "$destall" serve --foreground
[ "$(hub_pid)" = "$first" ] || fail "there was a second hub"
expect_log "info: destall .*: hub [0-9a-f]{16}, process $first, at $DESTALL_HUB\$"
expect_log 'info: memory group: '
expect_log 'info: cache: half of what is free; leaves after 1 min 00 s without clients, 1 h 00 min'
expect_log 'info: stage: an eighth of that, four batches at least$'
[ "$(stat -c %a "$hub_log" "$work/run/hub.lock" "$DESTALL_HUB" | tr '\n' ' ')" = "600 600 700 " ] ||
    fail "modes: $(ls -la "$work/run")"
[ "$(readlink "/proc/$first/cwd")" = / ] || ! is_root || fail "it is not in /"
stop_hub
wait_end "$first"
expect_log 'client [0-9]+ \(destall\) asks the hub to leave'
run "$destall" serve --stop
expect_status 0
expect_one_line 'no hub is running$'

# Options reach it; a killed one is replaced, socket and all.
start_hub --cache 3G --stage 100M --idle 7s --lease 2s
expect_log 'cache: 3.00 GiB; leaves after 7.00 s without clients, 7.00 s'
expect_log 'stage: 100 MiB$'
second=$(hub_pid)
kill -KILL "$second"
wait_end "$second"
[ -e "$DESTALL_HUB" ] || fail "no stale socket to replace"
as_client ping 1
expect_status 1
DESTALL_CACHE=5G DESTALL_STAGE=300M start_hub
expect_log 'cache: 5.00 GiB'
expect_log 'stage: 300 MiB$'
as_client ping 1
expect_status 0
kill -TERM "$(hub_pid)"
wait_end "$(hub_pid)"
expect_log 'the hub leaves: SIGTERM'
[ ! -e "$DESTALL_HUB" ] || fail "the socket is still there"
DESTALL_CACHE=30% DESTALL_STAGE=300M start_hub --cache 6G --stage 500M
expect_log 'cache: 6.00 GiB'
expect_log 'stage: 500 MiB$'
stop_hub

# In the foreground, with its log shown; Ctrl-C ends it.
"$destall" serve --foreground > fore.out 2> fore.err &
fore=$!
until [ -S "$DESTALL_HUB" ]; do
	kill -0 $fore 2> /dev/null || fail "ended: $(cat fore.err)"
	sleep 0.01
done
as_client ping 1
expect_status 0
kill -TERM $fore
wait $fore || fail "exit status $?"
[ ! -s fore.out ] || fail "standard output is not empty"
grep -q 'info: the hub leaves: SIGTERM' fore.err || fail "its log is not shown: $(cat fore.err)"

# It leaves by itself.
start_hub --idle 200ms
wait_end "$(hub_pid)"
expect_log 'the hub leaves: nobody needs it'
[ ! -e "$DESTALL_HUB" ] || fail "the socket is still there"
