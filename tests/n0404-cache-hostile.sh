# SPDX-License-Identifier: Apache-2.0
# Hostile clients of the cache (rows 53 and 54): listings that lie, leases and
# publishes of others, drafts that were cut, have holes or are still open, counts that go back, more of
# everything than there is.  Each is answered as the headers say, and another
# client's jobs go on all the while.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/faults.sh"
need_python

mkset set 200 2000 9000
mkset prey 300 1000 3000
start_hub --cache 64M
hub=$(hub_pid)

# The other client: three processes and more, one after another.
(while [ ! -e enough ]; do
	job epochs=20 hub=find set >> jobs.txt || exit 1
done) 2> jobs.err &
jobs=$!
await [ -s jobs.txt ]
bytes=$(bytes_of prey)

# attack HOW ANSWER...: prints exactly these lines, as an awk of spaces.
attacks=0
attack() {
	how=$1
	shift
	run "$(harness cacheframes)" "$how" prey
	expect_status 0
	for line in "$@"; do echo "$line"; done > want
	cmp -s want "$work/out" || fail "$how: not answered by: $(cat want)"
	attacks=$((attacks + 1))
}
cannot="refused: listing: "

for round in 1 2 3; do
	# Descriptors.
	for how in unsealed pipe folder resizable; do
		attack $how 'refused: shared memory: the descriptor received is not sealed'
	done
	attack unwritten "${cannot}it can be written"
	attack nofd expelled
	attack twofds expelled
	attack uri expelled
	attack share expelled

	# Heads and items.
	attack empty "${cannot}1 bytes are none"
	attack magic "${cannot}not one of destall"
	attack total "${cannot}its items are $bytes bytes and not $((bytes + 1))"
	attack offset "${cannot}item 0: a name out of bounds"
	attack order "${cannot}item 1: not in ascending order"
	attack end "${cannot}item 0: a name without its end"
	attack size "${cannot}item 0: too large"
	for how in itemsize items names short up; do
		run "$(harness cacheframes)" $how prey
		expect_status 0
		expect_out "^${cannot}"
		attacks=$((attacks + 1))
	done
done

# Leases and drafts.  The set goes with the first who opens it, and stays.
attack generation welcome 'item 0 is leased' welcome 'item 0 is ready' \
    welcome 'item 0 is ready'
attack others welcome 'item 1 is leased' welcome 'item 1 is ready'
for how in cut grown held read holes beyond; do
	attack $how welcome 'item 2 is empty'
done
expect_log 'item 2 is not admitted: cache: a draft of [0-9]+ bytes in [0-9]+ for an item of [0-9]+$'
expect_log 'item 2 is not admitted: cache: a file is still being written'
attack sound welcome 'item 3 is ready'
expect_set prey cached_items 3
expect_set prey late_publishes 5
expect_set prey corrupt_items 0
expect_set prey leases 0

# More than there is.
attack opens '63, then refused: cache: a process can have 64 data sets open'
attack leases "256, then refused: cache: a process can fetch 256 items at once"
expect_set prey leases 0
expect_set prey cached_items 3

# What no client says, and a page that goes back without a word.
for how in item publish giveup report set close code type cutbody; do
	attack $how expelled
done
expect_log 'is expelled: a message of type [0-9]+ that no client of the cache sends$'
attack back expelled
expect_log 'is expelled: destall page: a count went back$'

: > enough
wait $jobs || fail "the other client: $(cat jobs.err jobs.txt)"
[ ! -s jobs.err ] || fail "the other client: $(cat jobs.err)"
! grep -q '^all.*cached 0' jobs.txt || fail "the other client lost its hub"
# Each item was read once, by the first of them.
expect_set set storage_reads 200
expect_set set cached_items 200
expect_set prey leases 0
[ "$(hub_pid)" = "$hub" ] || fail "it is another hub"
stop_hub
event $attacks "hostile clients of the cache"
event "$(grep -c ^all jobs.txt)" "jobs beside them"
