# SPDX-License-Identifier: Apache-2.0
# x0401: the hub is killed while three jobs use it (row 8), at any time and at
# each of its points: every job goes on alone from where it is, gets every item
# of every epoch right, and none waits beyond its bound.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cache.sh"
need_crash_points
ulimit -c 0

items=100 epochs=3
mkset set $items 5000 60000
mkset other 5 5000
kills=0

# start_jobs HUB PACE
start_jobs() {
	rm -f ready? go
	for i in 1 2 3; do
		bounded "$the_job" "hub=$1" epochs=$epochs budget=60% pace="$2" \
		    seed=$((DS_SEED * 100 + i)) threads=$((i % 2 + 1)) \
		    ready="ready$i" go=go set > "job$i.txt" 2> "job$i.err" &
		eval "job$i=$!"
	done
}

end_jobs() {
	for i in 1 2 3; do
		eval "wait_job \$job$i job$i.txt $epochs $items"
		[ ! -s "job$i.err" ] || [ "$1" = quiet ] || fail "$(cat "job$i.err")"
		figure "longest get of a job whose hub was killed, us:" "$(word "job$i.txt" longest longest)"
	done
}

# At any time of the jobs' life.
round=0
while [ $round -lt "$(scale 10)" ]; do
	round=$((round + 1))
	start_hub
	start_jobs find 400
	wait_file ready1 ready2 ready3
	: > go
	choose_time 250
	kill_hub
	end_jobs loud
done

# what_makes POINT: does what leads to it, besides what the jobs do.
what_makes() {
	case $1 in
	hub.revoke | hub.reap)
		run env DS_DIE_AT=cache.leased:2 "$the_job" hub=find seed=7 other
		;;
	hub.drop)
		run timeout 20 "$destall" cache warm other
		run timeout 20 "$destall" cache drop other
		;;
	hub.leaving)
		run timeout 20 "$destall" serve --stop
		;;
	esac
}

# Those of the stage are x0801's.
points=$(crash_points hub. | grep -v '^hub\.stage_')
for point in $points; do
	for nth in 1 2; do
		# Jobs start a hub where there is none: it has the same fate.
		export DS_DIE_AT="$point:$nth"
		run "$destall" serve
		hub=$(hub_pid)
		start_jobs try 0
		unset DS_DIE_AT
		wait_file ready1 ready2 ready3
		what_makes "$point"
		: > go
		what_makes "$point"
		end_jobs quiet
		# Not every point is come by twice.
		grep -q '^State:.[^ZX]' "/proc/$hub/status" 2> /dev/null || {
			kills=$((kills + 1))
			echo "$point" >> hit
		}
		run "$destall" serve --stop
		[ ! -d "/proc/$hub" ] || wait_dead "$hub"
	done
done

for point in $points; do
	grep -qx "$point" hit || fail "$point was never come by"
done

# And nothing of all that is in the way of the next one.
start_hub
start_jobs find 0
: > go
end_jobs loud
stop_hub
event $kills "kills of the hub with three jobs"
