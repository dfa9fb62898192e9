# SPDX-License-Identifier: Apache-2.0
# Many clients: 500 at once (row 27), more than the hub takes, and more than it
# has descriptors for (row 26): served, or refused with a reason, and whoever
# was served stays so.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/hub.sh"

start_hub
as_client crowd 500
expect_status 0
expect_out '^0 of 500 failed$'
event 500 "clients at once"
as_client crowd 500
expect_status 0
stop_hub

# One process with many connections; the limit is the hub's own.
if [ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -gt 3000 ]; then
	start_hub
	as_client hold 1010
	expect_status 0
	expect_out '^1000 welcome, 10 refused$'
	expect_out '^refused: .*: the hub has as many clients as it takes'
	as_client hold 1000
	expect_status 0
	expect_out '^1000 welcome, 0 refused$'
	stop_hub
fi

need prlimit
run prlimit --nofile=32 "$destall" serve
expect_status 0
as_client hold 40
expect_status 0
expect_out '^refused: Too many open files: the hub has no descriptors left for another client: raise'
expect_out '^[1-9][0-9]* welcome, [1-9][0-9]* refused$'
welcome=$(sed -n 's/ welcome.*//p' "$work/out")
# All of them are free again.
as_client hold "$welcome"
expect_status 0
expect_out "^$welcome welcome, 0 refused\$"
expect_log 'warn: client .* is refused: the hub has no descriptors left'
stop_hub
