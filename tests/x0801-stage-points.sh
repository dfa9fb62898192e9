# SPDX-License-Identifier: Apache-2.0
# x0801: jobs that share are killed at each point of the stage and of the
# loader, each at another of its first five hits (rows 2, 3), and the hub at its
# own: whoever lives is given everything once, with the right bytes.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"
need_crash_points
ulimit -c 0

drill_set 120
plain_job
export DESTALL_WINDOW=4
: > hit
kills=0

# ended NAME POINT: it was killed there, or came to its end without.
ended() {
	end_hurt "$1" "at $2"
	[ "$job_status" -eq 0 ] || echo "${2%:*}" >> hit
}

# hurt POINT: five at once, beside one that lives.
hurt() {
	start_job alive --step-ms 1
	for nth in 1 2 3 4 5; do
		how=
		# Some points are come by only by those who keep or write.
		[ $((nth % 2)) -eq 0 ] || how="--keep --touch write"
		DS_DIE_AT=$1:$nth start_job v$nth $how
	done
	for nth in 1 2 3 4 5; do ended v$nth "$1:$nth"; done
	end_job alive
	check_jobs alive
	expect_no_stream
}

start_hub
take_baseline
for point in $(crash_points stage.) $(crash_points loader.); do
	hurt "$point"
done
expect_stage_idle
stop_hub
event $kills "kills of jobs that shared, at points"

# The hub at each of its points of the stage, under three jobs.
for point in $(crash_points hub.stage_); do
	for nth in 1 3; do
		run env "DS_DIE_AT=$point:$nth" "$destall" serve
		expect_status 0
		hub=$(hub_pid)
		for name in a b c; do start_job $name --step-ms 1; done
		# One of them dies, too: there are points that only deaths come by.
		DS_DIE_AT=loader.leased:2 start_job d
		ended d "loader.leased:2"
		for name in a b c; do end_job $name; done
		check_jobs a b c
		if is_ended "$hub"; then
			echo "$point" >> hit
			hubs=$((${hubs:-0} + 1))
		else
			stop_hub
		fi
	done
done
event "${hubs:-0}" "kills of the hub at points of the stage"

for point in $(crash_points stage.) $(crash_points loader.) $(crash_points hub.stage_); do
	grep -qx "$point" hit || fail "$point was never come by"
done
checked
