# SPDX-License-Identifier: Apache-2.0
# x0404: jobs come and go without end (row 14): in good order, killed, or while
# they are joining.  The hub neither leaks descriptors nor memory, and no client
# has the number of another.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cache.sh"
need_python

items=20
mkset set $items 5000 20000
start_hub
take_baseline
kills=0 joins=0

rss() { awk '$1 == "VmRSS:" { print $2 }' "/proc/$hub/status"; }

# churn N: five at a time, of which some are killed.
churn() {
	n=0
	while [ $n -lt "$1" ]; do
		n=$((n + 1))
		list=
		for i in 1 2 3 4 5; do
			"$the_job" hub=find epochs=2 pace=$((i * 100)) \
			    seed=$((DS_SEED * 1000 + n * 5 + i)) set > "job$i.txt" 2>&1 &
			list="$list $!"
			joins=$((joins + 1))
		done
		choose_time 60
		i=0
		for pid in $list; do
			i=$((i + 1))
			choose 2
			if [ "$chosen" -eq 1 ] && kill -KILL "$pid" 2> /dev/null; then
				kills=$((kills + 1))
				wait "$pid" 2> /dev/null || :
			else
				wait_job "$pid" "job$i.txt" 2 $items
			fi
		done
	done
	expect_baseline set
}

rounds=$(scale 6)
churn $((rounds / 3 + 2))	# what is kept of clients that left is full now
first_kb=$(rss)
churn "$rounds"
second_kb=$(rss)
churn "$rounds"
third_kb=$(rss)
echo "resident memory of the hub after each part: $first_kb $second_kb $third_kb kB"
figure "resident memory of the hub in churn, kB:" "$first_kb $second_kb $third_kb, $joins joins"
# What the allocator keeps is noise; a leak grows with each part.
[ $((third_kb - first_kb)) -lt 2048 ] || fail "the hub grew from $first_kb to $third_kb kB"
run "$(harness frames)" numbers 300
expect_status 0
stop_hub
event $kills "kills of jobs that came and went"
event $joins "joins"
