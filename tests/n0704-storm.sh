# SPDX-License-Identifier: Apache-2.0
# A thousand signals a second to programs that read through the preload object
# (row 25): no error, no short file, no lease lost, whether the files come in or
# are there.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/preloaded.sh"
need_object
need_preload
need_python

items=300
mkset set $items 2000 40000
start_hub
export DS_STORM_COUNT="$work/sent"

# stormy FILE OPTION...: the storm takes LD_PRELOAD for its own object, so ours
# is put before that.
stormy() {
	file=$1
	shift
	"$(harness storm)" "$(shim storm)" plain "$preload" "$the_plain" "$@" set > "$file" 2> "$file.err"
}

# Cold, two beside each other who want the same; then warm, by all ways.
stormy cold1.txt epochs=1 seed=1 how=mixed &
first=$!
DS_STORM_COUNT="$work/sent2" stormy cold2.txt epochs=1 seed=2 how=read
wait $first || fail "cold: $(cat cold1.txt cold1.txt.err)"
check_plain cold1.txt 1 $items
check_plain cold2.txt 1 $items
read_state
[ "$admitted" -eq $items ] || fail "$admitted of $items items"
[ "$(state_of storage_reads)" -ge $items ] || fail "too few reads"
stormy warm.txt epochs=20 how=mixed || fail "warm: $(cat warm.txt warm.txt.err)"
check_plain warm.txt 20 $items
for file in cold1 cold2 warm; do
	[ ! -s $file.txt.err ] || fail "$file: $(cat $file.txt.err)"
done
expect_set set expired_leases 0
expect_set set late_publishes 0
expect_set set leases 0
[ "$(set_of set hits)" -ge $((20 * items)) ] || fail "only $(set_of set hits) hits"
sent=$(($(cat "$work/sent") + $(cat "$work/sent2")))
[ $sent -gt 0 ] || fail "no signal was sent"
stop_hub
event $sent "signals to programs that read through the object, and more"
