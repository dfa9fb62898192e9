# SPDX-License-Identifier: Apache-2.0
# n0811: jobs whose batches are made by worker processes, as PyTorch's are.  The
# main process is killed and its workers live on and write (row 5); a worker is
# killed and the main process lives (row 6).  Nobody reads what is half written,
# and whoever lives is given everything once.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"

job_set=
units=80
what="--stream s --units $units --bytes 20000 --epochs 2"
"$(harness stagejob)" $what --ledger plain.ledger > "$work/out" 2>&1 || fail "alone"
export DESTALL_WINDOW=6
start_hub
take_baseline
kills=0 orphans=0

# start_workers NAME OPTION...
start_workers() {
	name=$1
	shift
	"$(harness stagejob)" $what --workers 2 --make-us 300 --ledger "$name.ledger" "$@" > "$name.out" 2>&1 &
	eval "${name}_pid=$!"
}

workers_of() { grep -lsx "PPid:.$1" /proc/[0-9]*/status | cut -d/ -f3; }

# expect_shared NAME...: and every byte was right.
expect_shared() {
	check_jobs "$@"
	for name; do
		[ "$(sed -n 's/.*"staged": \([0-9]*\),.*/\1/p' "$name.out")" -gt 0 ] ||
		    fail "$name shared nothing: $(cat $name.out)"
	done
}

round=0 workers=0
while [ $round -lt "$(scale 2)" ]; do
	round=$((round + 1))
	# The main process, with leases, slots and batches in all hands.
	start_workers a --orphan-ms 300 --keep
	start_workers b --write
	start_workers c --job-ms 1
	await_lines a.ledger 5
	choose_time 60
	orphans_now=$(workers_of "$a_pid")
	kill_job a
	for pid in $orphans_now; do
		is_ended "$pid" || orphans=$((orphans + 1))
	done
	end_job b
	end_job c
	expect_shared b c
	check_cut a
	for pid in $orphans_now; do await_end "$pid" "an orphan"; done
	expect_stage_idle

	# One worker, or both: then the others' make what is missing, or the
	# main process itself.
	start_workers a --keep --write
	start_workers b
	await_lines a.ledger 5
	choose_time 60
	for pid in $(workers_of "$a_pid" | head -n $((1 + round % 2))); do
		# It may have ended by itself since: on a busy machine time is chosen late.
		! kill -KILL "$pid" 2> /dev/null || workers=$((workers + 1))
	done
	end_job a
	end_job b
	expect_shared a b
	expect_stage_idle
done
kills=$((kills + workers))
[ $workers -gt 0 ] || fail "no worker was killed"
[ $orphans -gt 0 ] || fail "no worker outlived its main process"
stop_hub
event $kills "kills of main processes and of workers that share"
event $orphans "workers that went on without their main process"
checked
