# SPDX-License-Identifier: Apache-2.0
# n0824: the disk of one job's ledger is full, or fails, while it shares: that job
# says so in one line and fails; the others are given everything, and the hub has
# nothing left of it.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"

drill_set 160
plain_job
start_hub
take_baseline
fulls=0

# beside CMD...: a job of CMD that will fail, with two others.
beside() {
	start_job a --step-ms 1
	await_lines a.ledger 1
	DESTALL=1 "$@" > full.out 2> full.err &
	full_pid=$!
	start_job b
	await_end "$full_pid" "the job with the full disk"
	status=0
	wait "$full_pid" || status=$?
	[ "$status" -eq 1 ] || fail "$*: status $status: $(cat full.out full.err)"
	grep -v 'emulate: ' full.err > lines || :	# how it shares
	[ "$(wc -l < lines)" -eq 1 ] || fail "not one line: $(cat full.err)"
	grep -q "No space left on device: what the job is given is not written down any more" lines ||
	    fail "another reason: $(cat full.err)"
	end_job a
	end_job b
	check_jobs a b
	expect_stage_idle
	fulls=$((fulls + 1))
}
cat > job.sh << END
exec "$destall" emulate --data $job_set --batch $batch --set size=32 $job_options "\$@"
END

if [ -w /dev/full ]; then
	beside sh job.sh --ledger /dev/full
fi

# Full after some lines, by a disk of its own.
mkdir disk
space="unshare -m --propagation private"
is_root || space="unshare -rm --propagation private"
if $space mount -t tmpfs -o size=4K tmpfs "$PWD/disk" 2> "$work/err"; then
	beside $space sh -c 'mount -t tmpfs -o size=4K tmpfs "$PWD/disk" &&
	    DESTALL_LEDGER=$PWD/disk sh job.sh'
else
	echo "no mounts here: $(head -n 1 "$work/err")"
fi
stop_hub
[ $fulls -gt 0 ] || skip "neither /dev/full nor mounts here"
event $fulls "full disks of a ledger of a job that shared"
checked
