# SPDX-License-Identifier: Apache-2.0
# x0408: a job is killed while it starts the hub, at each point of that, and
# others start theirs at the same time: there is one hub, and they use it.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cache.sh"
need_crash_points
need_python

items=20
mkset set $items 5000 20000
kills=0

for point in $(crash_points start.); do
	round=0
	while [ $round -lt "$(scale 3)" ]; do
		round=$((round + 1))
		DS_DIE_AT=$point:1 "$the_job" set > victim.txt 2>&1 &
		victim=$!
		[ $round -ne 1 ] || wait_killed $victim	# alone, for certain
		list=
		for i in 1 2 3; do
			bounded "$the_job" seed=$i set > "job$i.txt" 2>&1 &
			list="$list $!"
		done
		i=0
		for pid in $list; do
			i=$((i + 1))
			wait_job "$pid" "job$i.txt" 1 $items
			[ "$(word "job$i.txt" all cached)" -eq 1 ] || fail "$point: $(cat "job$i.txt")"
		done
		[ $round -eq 1 ] || {
			ended=0
			wait $victim 2> /dev/null || ended=$?
			case $ended in
			137) kills=$((kills + 1)) ;;
			0) ;;	# another was the one who started it
			*) fail "$point: exit status $ended: $(cat victim.txt)" ;;
			esac
		}
		expect_idle
		[ "$admitted" -eq $items ] || fail "$point: $admitted of $items items"
		[ "$(grep -c ' process [0-9]*, at ' "$hub_log")" -ge 1 ] || fail "no hub"
		stop_hub
		wait_dead "$(hub_pid)"
		leftovers
		[ ! -s "$work/left" ] || fail "$point: another hub is left: $(cat "$work/left")"
	done
done
event $kills "kills of jobs that started the hub"
