# SPDX-License-Identifier: Apache-2.0
# Clients that come in the middle of something (tests/harness/raw.c): of a newer
# listing that takes over items, of a hub that has listings enough, of a drop
# that makes room; a large item that takes its time, and a report of an item
# that belongs to a newer listing by now.  Each once brought down the hub, or
# cost somebody else an item.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/faults.sh"
need_python

# raw HOW LINE...: prints exactly these lines, and the hub lives.
raw() {
	how=$1
	shift
	run bounded "$(harness raw)" "$how"
	expect_status 0
	for line in "$@"; do echo "$line"; done > want
	cmp -s want "$work/out" || fail "$how: not: $(cat want)"
	[ "$(stat_of hub.pid)" = "$(hub_pid)" ] || fail "$how: it is another hub"
	tried=$((${tried:-0} + 1))
}

# What is not whole yet is not opened by its stamp.
start_hub --cache 256M
for round in 1 2 3; do
	raw takeover 'the last is ready' 'asked for, it is look' welcome
	for set in set other0; do
		await "$destall" cache drop "tar:/$set" 2> /dev/null
	done
done
stop_hub

# One listing a process; those of one that is gone are forgotten.  What stays
# is a set or two.
start_hub --cache 256M
hub=$(hub_pid)
before=$(count_fds "$hub")
raw flood 'refused: cache: another listing of this process is being worked on' \
    'the other has opened its own'
few_fds() { [ "$(count_fds "$hub")" -le $((before + 10)) ]; }
expect_idle
await few_fds
stop_hub

# The lease of a large item is longer.
start_hub --cache 128M --lease 1s
raw large 'the small one is empty' 'the large one is ready'
expect_log 'tar:/small: item 0 is not there after 1.0 s'
stop_hub

# An item is the newer listing's to forget, and its alone.
start_hub --cache 64M
raw audit 'the item is ready' 'its file is there' 'reported, it is empty' \
    'its file is gone'
[ "$(grep -c 'the bytes of item 0 have changed in memory' "$hub_log")" = 1 ] ||
    fail "not forgotten once: $(cat "$hub_log")"
stop_hub

# Room is waited for, not asked for again and again.
start_hub --cache 48M
run bounded "$(harness raw)" room
expect_status 0
expect_out '^the other is leased$'
fit=$(sed -n 's/ fit$//p' "$work/out")
asks=$(sed -n 's/^asks //p' "$work/out")
[ "$fit" -gt 5000 ] || fail "only $fit items fit into 48 MiB"
[ "$asks" -lt 10 ] || fail "asked $asks times for room while $fit items were dropped"
stop_hub
event $((tried + 1)) "clients in the middle of something"
