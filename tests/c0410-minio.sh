# SPDX-License-Identifier: Apache-2.0
# c0410: the law of MinIO, exactly.  For shares from 25 to 80 % of 2,000 files,
# shuffled anew each epoch: every item that was admitted is read from storage
# once, ever; every other one once per epoch by each process that reads the
# whole epoch.  So with A admitted of N, E epochs read
#
#     A + E (N - A)       one process, or four that split each epoch
#
# and four that each read all of it at most 4 E (N - A) + A.  What the block
# layer read agrees, in whole pages; what it read of the file system's own is
# told apart.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cache.sh"
need_python

items=2000 epochs=3
metadata=65536	# what the file system may read besides: inodes, folders
mkset set $items 2000 9000
sync

# expect_reads WHAT GOT LEAST MOST
expect_reads() {
	[ "$2" -ge "$3" ] && [ "$2" -le "$4" ] ||
	    fail "$1: $2 reads of storage, not $3 to $4"
}

# sum NAME FILE...: over what several jobs printed.
sum() {
	sum_name=$1
	shift
	for f in "$@"; do word "$f" all "$sum_name"; done | awk '{ n += $1 } END { print n + 0 }'
}

# check_stat WHAT READS: the hub's own count is the same, hits and misses add up.
check_stat() {
	stat_of datasets.0.cached_items datasets.0.storage_reads datasets.0.hits \
	    datasets.0.misses datasets.0.cached_bytes datasets.0.bytes > stat
	{ read -r admitted; read -r reads; read -r hits; read -r misses
	  read -r cached; read -r bytes; } < stat
	[ "$reads" -eq "$2" ] || fail "$1: the hub counts $reads reads, the jobs $2"
	[ "$misses" -eq "$2" ] || fail "$1: $misses misses, but $2 reads"
	# Within the share, and no more below it than the item that closed it.
	awk -v cached="$cached" -v bytes="$bytes" -v share="$share" 'BEGIN {
		cap = bytes * share / 100
		exit !(cached <= cap && cached > cap - 9001)
	}' || fail "$1: $cached of $bytes bytes are cached"
}

one() {
	start_hub
	job epochs=$epochs budget="$share%" evict=1 set > one.txt || fail "one job: $(cat one.txt)"
	got=$(word one.txt all reads)
	check_stat "one, $share %" "$got"
	want=$((admitted + epochs * (items - admitted)))
	expect_reads "one, $share %" "$got" $want $want
	[ "$hits" -eq $((epochs * items - want)) ] || fail "one, $share %: $hits hits"
	block=$(word one.txt block block) expected=$(word one.txt block expected)
	if [ "$block" -gt 0 ]; then	# 0: a file system without a block device
		[ "$block" -ge "$expected" ] && [ $((block - expected)) -le $metadata ] ||
		    fail "one, $share %: the block layer read $block bytes, not $expected"
		echo "one, $share %: $expected bytes of items, $((block - expected)) besides"
	fi
	stop_hub
}

split() {
	start_hub
	for i in 0 1 2 3; do
		job epochs=$epochs budget="$share%" part=$i/4 set > "split$i.txt" &
	done
	wait_jobs
	got=$(sum reads split?.txt)
	check_stat "four that split, $share %" "$got"
	want=$((admitted + epochs * (items - admitted)))
	expect_reads "four that split, $share %" "$got" $want $want
	stop_hub
}

each() {
	start_hub
	for i in 0 1 2 3; do
		job epochs=$epochs budget="$share%" seed=$((i + 1)) set > "each$i.txt" &
	done
	wait_jobs
	got=$(sum reads each?.txt)
	check_stat "four that each read all, $share %" "$got"
	expect_reads "four that each read all, $share %" "$got" \
	    $((admitted + epochs * (items - admitted))) \
	    $((admitted + 4 * epochs * (items - admitted)))
	stop_hub
}

wait_jobs() {
	for pid in $(jobs -p); do
		wait "$pid" || fail "a job failed"
	done
}

for share in 25 35 50 65 80; do
	one
	split
	each
done
event 15 "runs of the law of MinIO, exact"
