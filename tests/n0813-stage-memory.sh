# SPDX-License-Identifier: Apache-2.0
# n0813: a stage that is too small for what is to be shared, and memory that
# cannot be had, in the hub and in jobs: every job is given everything all the
# same, or says that it is memory it lacks.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"

drill_set 64
plain_job
unit=$((batch * 32 * 32 * 3 * 4 + batch + 8))

# Room for no unit, one, too few to share, and a few; kept batches take it away.
for budget in 1000 $((unit + 4096)) $((unit * 3)) $((unit * 4 + 16384)); do
	DESTALL_STAGE=$budget start_hub
	take_baseline
	start_job a
	start_job b --keep --touch write
	start_job c --step-ms 2
	for name in a b c; do end_job $name; done
	check_jobs a b c
	expect_stage_idle
	line="a unit of $unit bytes does not fit four times into the stage of $budget bytes"
	if [ $budget -lt $((unit * 4)) ]; then
		expect_log "$line"
	elif grep -q "$line" "$hub_log"; then
		fail "a unit that fits is not shared: $line"
	fi
	stop_hub
done
event 4 "budgets of a stage that is too small"

# The hub finds no memory for slots, maps or segments, at its k-th try.
need_preload
for failure in memfd_create:EMFILE ftruncate:ENOSPC fallocate:ENOSPC mmap:ENOMEM \
    calloc:ENOMEM; do
	for k in 20 60; do
		LD_PRELOAD=$(shim fail) DS_FAIL=${failure%:*}:$k:${failure#*:} DS_FAIL_EXE=destall \
		    "$destall" serve > "$work/out" 2> "$work/err" || continue
		start_job a
		start_job b --step-ms 1
		for name in a b; do end_job $name; done
		check_jobs a b
		run "$destall" serve --stop
		failures=$((${failures:-0} + 1))
	done
done
event "${failures:-0}" "failing calls of a hub with a stage"

# A job that cannot have what it asks for, beside one that can.
start_hub
take_baseline
for failure in mmap:ENOMEM malloc:ENOMEM calloc:ENOMEM sendmsg:ENOBUFS recvmsg:EIO; do
	for k in 10 60; do
		start_job a
		rm -f hurt.ledger
		LD_PRELOAD=$(shim fail) DS_FAIL=${failure%:*}:$k:${failure#*:} DS_FAIL_EXE=destall \
		    start_job hurt
		await_end "$hurt_pid" "a job with $failure at its call $k"
		status=0
		wait "$hurt_pid" || status=$?
		case $status in
		0)	check_jobs hurt ;;
		1)	check_cut hurt ;;
		*)	fail "$failure at call $k: status $status: $(cat hurt.out)" ;;
		esac
		end_job a
		check_jobs a
		hurts=$((${hurts:-0} + 1))
	done
done
event $hurts "failing calls of a job that shares"
expect_stage_idle
stop_hub
checked
