# SPDX-License-Identifier: Apache-2.0
# x0806: a job that is alone keeps its units; another comes, and wants them.  The
# first is killed or stopped at the points that only such a job comes by, or finds
# no memory there, and the hub is killed while it is given what was kept.
#     DS_LONG=1 sh tests/x0806-stage-kept.sh     at all points
long=${DS_LONG-}
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"
need_crash_points
ulimit -c 0

drill_set 120
plain_job
kills=0 stops=0 hit=
points=$(crash_points own.)
[ -z "$long" ] || points="$points $(crash_points stage.) $(crash_points loader.)"

# begin_first PLAN: it has taken three batches, and is busy with other things; or
# it was hurt before.
begin_first() {
	rm -f there go
	DS_DIE_AT=$1 taker first 'take A 3' 'touch there' 'await go' 'rest A'
	await_since=$(date +%s)
	until [ -e there ] || is_ended "$first_pid" || is_stopped "$first_pid"; do
		[ $(($(date +%s) - await_since)) -lt $hang_s ] || fail "$1: hangs while it is alone"
		sleep 0.01
	done
}

# join_first: another comes, and is given all, whatever becomes of the first.
join_first() {
	start_job second
	end_job second
	check_jobs second
	! is_stopped "$first_pid" || stops=$((stops + 1))
	touch go
}

start_hub
take_baseline
for point in $points; do
	for nth in 1 3; do
		begin_first "$point:$nth"
		join_first
		end_hurt first "at $point:$nth"
		[ "$job_status" -eq 0 ] || hit="$hit $point"
	done
	begin_first "$point:2:stop"
	join_first
	until is_ended "$first_pid"; do
		kill -CONT "$first_pid"
		sleep 0.05
	done
	end_job first
	check_jobs first
done
for point in $(crash_points own.); do
	case "$hit " in *" $point "*) ;; *) fail "$point was never come by" ;; esac
done
event $kills "kills of a job that was alone before"
event $stops "stops of a job that was alone before"

# No memory for a copy: the other makes it.
begin_first own.room:1:ENOMEM
join_first
end_job first
check_jobs first
expect_stage_idle
stop_hub

# The hub is killed while it finds memory for what was kept, and before it shows it.
for point in $(crash_points hub.stage_); do
	for nth in 1 2; do
		run env "DS_DIE_AT=$point:$nth" "$destall" serve
		expect_status 0
		hub=$(hub_pid)
		begin_first ''
		join_first
		end_job first
		check_jobs first
		if is_ended "$hub"; then
			hubs=$((${hubs:-0} + 1))
		else
			stop_hub
		fi
	done
done
event "${hubs:-0}" "kills of the hub while it was given what was kept"
[ "${hubs:-0}" -ge 3 ] || fail "only $hubs hubs were killed"
checked
