# SPDX-License-Identifier: Apache-2.0
# x0502: a forked child writes on into what its parent had leased (row 5): when
# the parent is killed, when it publishes all the same, and when its lease has
# run out.  Nobody ever sees those bytes; the memory counts until the child is
# gone, and not longer.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cache.sh"
need_python

items=12
mkset set $items 300000 900000
kills=0

# hold HOW: until the item is leased; its pages into $pages.
hold() {
	rm -f ready* go*
	"$(harness leaser)" "$1" set ready go > holder.txt 2>&1 &
	holder=$!
	wait_file ready
	read -r item size < ready
	pages=$(((size + 4095) / 4096 * 4096))
}

# expect_others: they read everything, this item too, and it is admitted.
expect_others() {
	for n in 1 2; do
		run bounded "$the_job" hub=find epochs=2 seed=$((DS_SEED + n)) set
		expect_status 0
		check_job "$work/out" 2 $items
	done
}

# expect_used BYTES WHEN: in the end; a folder of /dev/shm has no count of its
# own, and then nothing is asked.
expect_used() {
	attempt=0
	while :; do
		read_state
		[ "$used" -ne "$1" ] || return 0
		[ $attempt -lt 100 ] || fail "$2: $used bytes are used, not $1"
		attempt=$((attempt + 1))
		sleep 0.05
	done
}

start_hub
take_baseline
if grep -q 'is a folder' "$hub_log"; then
	stop_hub
	skip "the store is no file system of its own here: $(grep 'is a folder' "$hub_log")"
fi
# What all items need, when nobody has been killed.
expect_others
expect_idle
full=$used
expect_baseline set

round=0
while [ $round -lt "$(scale 2)" ]; do
	round=$((round + 1))
	hold die
	kill -KILL $holder
	wait_killed $holder
	expect_others		# while the child writes
	expect_idle		# the child is no client, and has no lease
	[ "$admitted" -eq $items ] || fail "$admitted of $items items are admitted"
	expect_used $((full + pages)) "while the orphan writes"
	: > go
	wait_file ready.late
	expect_others
	read_state
	[ "$admitted" -eq $items ] || fail "after a late publish: $admitted items"
	expect_used $((full + pages)) "after the orphan's publish"
	: > go.end
	expect_used "$full" "when the orphan is gone"
	expect_baseline set
done
event $kills "kills of jobs whose forked child wrote on"

# The parent lives and publishes what its child can still write: not admitted,
# and another fetches it.
hold publish
: > go.own
wait_file ready.own
expect_others
read_state
[ "$admitted" -eq $items ] || fail "$admitted of $items items are admitted"
expect_log "item $item is not admitted: .* is still being written"
: > go
wait_file ready.late
expect_others
: > go.end
wait $holder || fail "holder: $(cat holder.txt)"
grep -qx sent holder.txt || fail "the late publish could not be sent: $(cat holder.txt)"
expect_baseline set
stop_hub

# Its lease runs out, another has fetched the item, and then it publishes.
start_hub --lease 300ms
take_baseline
hold keep
expect_others
read_state
[ "$admitted" -eq $items ] || fail "$admitted of $items items are admitted"
[ "$late" -eq 0 ] || fail "$late late publishes before there is one"
: > go.own
wait_file ready.own
attempt=0
until read_state && [ "$late" -eq 1 ]; do
	[ $attempt -lt 100 ] || fail "the late publish was not counted"
	attempt=$((attempt + 1))
done
expect_others
: > go.end
wait $holder || fail "holder: $(cat holder.txt)"
expect_log "item $item is not there after 0.3 s: client [0-9]* may be stuck"
expect_baseline set
stop_hub
