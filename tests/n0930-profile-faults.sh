# SPDX-License-Identifier: Apache-2.0
# Jobs that go wrong while they are profiled: killed, stopped, with a worker that dies
# or a dataset that raises: each ends as it would have, and what was measured is told.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/profiled.sh"
need_torch

ls /dev/shm > shm.before

# start TIME OPTION...: a profile of the job in the background, for so long, up to its step
# --tell; the number of the process that trains into $main.  A machine may be too slow for
# that step, so those that are killed have time in plenty.
plenty=120s
start() {
	rm -f reached result.json
	time=$1
	shift
	"$destall" profile --for "$time" --confidence 0.01% --json result.json -- \
	    $torch_python "$job" --prep 4 --step 8 --batches 40000 "$@" \
	    > "$work/out" 2> "$work/err" &
	pid=$!
	until [ -e reached ]; do
		kill -0 $pid 2> /dev/null || unsettled "the time was over before the step was reached"
		sleep 0.05
	done
	main=$(pgrep -P $pid) || fail "the job is gone"
}
finish_job() {
	status=0
	wait $pid || status=$?
	expect_nothing_left
	check_leftovers || fail "processes are left"
}

# The job is killed.
start $plenty --tell 120 --workers 1
kill -KILL "$main"
finish_job
expect_status 137
rm -rf "$TMPDIR"/pymp-*		# as it would without us
expect_result 'rate["ingest"] > 100'

# A worker is: PyTorch says so, or finds a broken connection before, and the job fails by
# itself.
start $plenty --tell 40 --workers 2
kill -KILL $(pgrep -P "$main" | head -n 1)
finish_job
expect_status 1
expect_err 'DataLoader worker .* (killed by signal|exited unexpectedly)|Connection[A-Za-z]*Error|EOFError'

# A worker stops for good: when the time is over, what was measured is told.
start 20s --tell 120 --workers 2
kill -STOP $(pgrep -P "$main" | head -n 1)
finish_job
expect_status 0
rm -rf "$TMPDIR"/pymp-*		# of processes that were killed
expect_result 'rate["ingest"] > 100'

# It is stopped for a while: that is no step.
start 8s --tell 60 --workers 0
kill -STOP "$main"
wait_stopped "$main"
sleep 0.5
kill -CONT "$main" $pid
finish_job
expect_status 0
expect_result 'verdict["bottleneck"] == "prep"' '0.5 < share["prep"] < 0.8'

# It raises, while the set is chosen: a process that makes its 60th sample, or its 30th.
for how in 0:60 2:30; do
	profile --for 6s -- $torch_python "$job" --workers ${how%:*} --raise-at ${how#*:} --prep 2
	expect_status 1
	expect_err '^ValueError: '
	expect_err 'sample [0-9]+ is bad'
	expect_err 'the job ended before a block was measured'
done

# Nobody is there to measure: it leaves, and saves nothing.
start $plenty --tell 60 --workers 2 --saves
kill -KILL $pid
status=0
wait $pid 2> /dev/null || status=$?
expect_status 137
check_leftovers || fail "the job is still there"
expect_nothing_saved "the profiler was killed"
expect_nothing_left

# What batches are handed over in is gone with who had it.
ls /dev/shm | sort | comm -13 shm.before - | sed -n 's/^torch_\([0-9]*\)_.*/\1/p' | while read -r owner; do
	[ -d "/proc/$owner" ] || fail "memory is left in /dev/shm, of process $owner"
done
