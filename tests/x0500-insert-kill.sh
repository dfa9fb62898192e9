# SPDX-License-Identifier: Apache-2.0
# x0500: a job is killed inside an insert, or while it opens the data set
# (row 7), at each point, at the first times it comes by, while another reads
# the same: that one gets every item right, no half item is ever seen, and the
# only item fetched twice is the one that was in the dead job's hands.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cache.sh"
need_crash_points
need_python

items=60
mkset set $items 5000 90000
start_hub
take_baseline
kills=0 twice=0

# expect_twice N: so many items were read twice, of all that was read.
expect_twice() {
	reads=$(state_of storage_reads)
	[ "$admitted" -eq $items ] || fail "$at: $admitted of $items items were admitted"
	[ "$reads" -eq $((items + $1)) ] ||
	    fail "$at: $reads reads of storage for $items items, $1 of them twice"
	[ "$late" -eq 0 ] || fail "$at: $late late publishes"
	twice=$((twice + $1))
}

# hurt POINT:NTH TWICE
hurt() {
	at=$1
	rm -f ready go
	bounded "$the_job" hub=find seed=$((DS_SEED + 1)) ready=ready go=go set > other.txt 2>&1 &
	other=$!
	wait_file ready
	DS_DIE_AT=$1 "$the_job" hub=find seed="$DS_SEED" set > victim.txt 2>&1 &
	victim=$!
	: > go
	ended=0
	wait $victim 2> /dev/null || ended=$?
	wait_job $other other.txt 1 $items
	expect_idle
	# The other one may have been so fast that there was nothing to insert.
	case $ended in
	137)	kills=$((kills + 1))
		echo "${1%%:*}" >> hit
		expect_twice "$2" ;;
	0)	expect_twice 0 ;;
	*)	fail "$1: exit status $ended: $(cat victim.txt)" ;;
	esac
	expect_baseline set
}

for point in $(crash_points data.); do
	hurt "$point:1" 0
done
for point in $(crash_points cache.); do
	case $point in
	cache.leased | cache.published) again=0 ;;
	*) again=1 ;;	# it had been read
	esac
	for nth in 1 3; do
		hurt "$point:$nth" $again
	done
done

# Alone, so that the point is come by for certain; the next one finds what the
# dead one had published, and nothing else.
for point in $(crash_points cache.); do
	for nth in 1 4; do
		at=$point:$nth
		run env DS_DIE_AT="$point:$nth" "$the_job" hub=find seed="$DS_SEED" set
		expect_status 137
		kills=$((kills + 1))
		expect_idle
		want=$((nth - 1))
		[ "$point" != cache.published ] || want=$nth
		[ "$admitted" -eq $want ] || fail "$at: $admitted items are there, not $want"
		run bounded "$the_job" hub=find seed="$DS_SEED" set
		check_job "$work/out" 1 $items
		expect_idle
		case $point in
		cache.leased | cache.published) expect_twice 0 ;;
		*) expect_twice 1 ;;
		esac
		expect_baseline set
	done
	echo "$point" >> hit
done
for point in $(crash_points data.) $(crash_points cache.); do
	grep -qx "$point" hit || fail "$point was never come by"
done
stop_hub
event $kills "kills of jobs inside an insert"
event $twice "fetches of an item that a killed job had fetched"
