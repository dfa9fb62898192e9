# SPDX-License-Identifier: Apache-2.0
# The hub's folder is removed (row 36): those who are connected go on, new ones
# get another hub or a clear line, and the old one leaves.  A client of another
# version (row 37) is told both.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/hub.sh"

mkdir -m 700 "$work/run/d"
export DESTALL_HUB="$work/run/d/s"
hub_log=$work/run/d/hub.log
start_hub
first=$(hub_pid)
"$frames" watch enough > watched 2>&1 &
watcher=$!
await grep -q watching watched
as_client ping 1
expect_status 0
rm -r "$work/run/d"
expect_refused 0 'no hub is running$' "$destall" serve --stop
start_hub
second=$(hub_pid)
[ "$second" != "$first" ] || fail "it is the same hub"
as_client ping 1
expect_status 0
kill -0 "$first" || fail "the first is gone, and has a client"
: > enough
wait $watcher || fail "the client of the first: $(cat watched)"
wait_end "$first"
as_client ping 1		# it has not removed the second's socket
expect_status 0

as_client hello 0.0.9
expect_status 0
expect_out "^refused: Protocol error: the hub is [0-9.]*, this client 0.0.9: use one version, or end the hub \(kill $second\)\$"
as_client hello "$("$destall" --version | sed 's/destall //')"
expect_status 0
expect_out '^welcome$'
stop_hub
