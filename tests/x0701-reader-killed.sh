# SPDX-License-Identifier: Apache-2.0
# x0701: a program that reads through the preload object is killed inside an
# open, at each point at which it brings an item in, and at any time (rows 4 and
# 7): the others go on with the right bytes, the item in its hands is fetched by
# another, and the hub keeps no client, lease, page or descriptor of it.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/preloaded.sh"
need_object
need_crash_points
need_python

items=60
mkset set $items 3000 60000
start_hub
take_baseline
kills=0

# At the point for certain, alone; what had been published is all that is there,
# and the next one brings the rest.
alone() {
	at=$1:$2
	run env DS_DIE_AT="$at" "$preload" "$the_plain" seed="$DS_SEED" set
	expect_status 137
	expect_no_err
	kills=$((kills + 1))
	expect_idle
	want=$(($2 - 1))
	[ "$1" != bring.published ] || want=$2
	[ "$admitted" -eq "$want" ] || fail "$at: $admitted items are there, not $want"
	run bounded "$preload" "$the_plain" epochs=2 how=mixed set
	expect_status 0
	expect_no_err
	check_plain "$work/out" 2 $items
	expect_idle
	[ "$admitted" -eq $items ] || fail "$at: $admitted of $items items were admitted"
	[ "$late" -eq 0 ] || fail "$at: $late late publishes"
	# Those before it once, the one in its hands twice, the others once.
	again=1
	[ "$1" != bring.published ] || again=0
	[ "$(state_of storage_reads)" -eq $((items + again)) ] ||
	    fail "$at: $(state_of storage_reads) reads for $items items"
	expect_baseline set
}

# Beside others, who may be waiting for just that item.
beside() {
	at=$1:$2
	rm -f ready go
	bounded "$preload" sh "$work/four.sh" epochs=2 ready=ready go=go set > four.out 2> four.err &
	job=$!
	DS_DIE_AT=$at "$preload" "$the_plain" seed="$DS_SEED" ready=ready2 go=go set > victim.txt 2>&1 &
	victim=$!
	wait_file ready
	: > go
	ended=0
	wait $victim 2> /dev/null || ended=$?
	case $ended in
	137) kills=$((kills + 1)) ;;
	0) ;;	# the others had brought it all
	*) fail "$at: exit status $ended: $(cat victim.txt)" ;;
	esac
	wait_four $job 2 $items
	expect_lines four.err 0
	expect_idle
	[ "$admitted" -eq $items ] || fail "$at: $admitted of $items items were admitted"
	expect_baseline set
}

points=$(crash_points bring.)
[ -n "$points" ] || fail "no crash points were found"
for point in $points; do
	for nth in 1 2 3; do
		alone "$point" $nth
	done
	beside "$point" 2
done

# At any time, four at once or one of them; what is left is used, or not.
round=0
while [ $round -lt "$(scale 10)" ]; do
	round=$((round + 1))
	"$preload" "$the_plain" epochs=100000 how=mixed pace=300 seed=$round set > victim.txt 2>&1 &
	victim=$!
	bounded "$preload" "$the_plain" epochs=2 pace=300 set > r1.txt 2> four.err &
	job=$!
	choose_time 120
	kill -KILL $victim
	wait_killed $victim
	! grep -v ' wrong 0 failed 0$' victim.txt || fail "the victim saw what is wrong"
	wait_plain $job r1.txt 2 $items
	expect_lines four.err 0
	choose 2
	if [ "$chosen" -eq 0 ]; then expect_idle; else expect_baseline set; fi
done
expect_baseline set

# Asked to end inside an open: by that signal, and nothing is left either.
for point in $points; do
	for signal in TERM INT; do
		env --default-signal=INT,TERM DS_DIE_AT="$point:3:stop" "$preload" \
		    "$the_plain" set > victim.txt 2>&1 &
		victim=$!
		wait_stopped $victim
		kill -$signal $victim
		kill -CONT $victim
		status=0
		wait $victim 2> /dev/null || status=$?
		[ $status -eq 143 ] || [ $status -eq 130 ] || fail "$point: $signal: exit status $status"
		expect_baseline set
	done
done
stop_hub
event $kills "kills of programs that knew nothing of the cache"
