# SPDX-License-Identifier: Apache-2.0
# l0711: jobs join late, at 1, 50 and 99 % of an epoch (row 13): what they have
# missed they make by themselves, at the end where the order is random, at the
# beginning where it is not; and many join and leave (row 14).
long=${DS_LONG-}
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"
need_crash_points

drill_set 200
export DESTALL_WINDOW=8

# in_order NAME EPOCHS: of the first so many, it was given its samples in the
# order of the plain job.
in_order() {
	for file in plain "$1"; do
		awk -v n="$2" '$1 < n { print $1, $3, $4, $5 }' "$file.ledger" > "$work/$file.order"
	done
	mv "$work/plain.order" "$work/a"
	mv "$work/$1.order" "$work/b"
	cmp -s "$work/a" "$work/b" || fail "$1: another order than that of a plain job"
}

# join_at NTH OPTION...: while the first is stopped at its n-th batch, of 25,
# a second comes.  The first goes on when that has had a batch, or waits.
join_at() {
	nth=$1
	shift
	warm_set
	DS_DIE_AT=emulate.batch:$nth:stop start_job first "$@"
	wait_stopped "$first_pid"
	start_job second "$@"
	await_lines second.ledger 1
	kill -CONT "$first_pid"
	end_job first
	end_job second
	check_jobs first second
	# In the next epoch it may be the late one.
	in_order first 1
}

for order in random listed; do
	job_options="--epochs 2 --seed 3 --order $order"
	plain_job
	start_hub
	take_baseline
	for nth in 1 13 25; do
		join_at $nth
		[ $order = random ] || { in_order first 2; in_order second 2; }
		# A late one of a random order does not begin at 0.
		[ $order$nth != random13 ] || [ "$(awk '{ print $3; exit }' second.ledger)" -gt 0 ] ||
		    fail "it began at 0 beside one that was at the half"
		[ $nth -eq 25 ] || [ "$(result units second)" -gt 0 ] ||
		    fail "joined at batch $nth: nothing was shared"
		expect_stage_idle
	done
	stop_hub
done

# One is there all the time, and others come and leave, or are killed.
job_options="--epochs 1 --seed 3"
plain_job
start_hub
take_baseline
rss() { awk '$1 == "VmRSS:" { print $2 }' "/proc/$hub/status"; }
joins=0 kills=0
churn() {
	start_job steady --step-ms 20
	while ! is_ended "$steady_pid" && [ $joins -lt "$1" ]; do
		for name in x y z; do start_job $name; done
		choose_time 40
		for name in x y z; do
			choose 3
			[ "$chosen" -gt 0 ] || kill -KILL "$(pid_of $name)" 2> /dev/null || :	# gone
			end_hurt $name "at any time"
			joins=$((joins + 1))
		done
	done
	end_job steady
	check_jobs steady
	expect_stage_idle
}
wanted=12
[ -z "$long" ] || wanted=1000
churn 3
first_kb=$(rss)
while [ $joins -lt $wanted ]; do churn $wanted; done
last_kb=$(rss)
figure "resident memory of the hub, kB, $joins joins at the stage:" "$first_kb $last_kb"
[ $((last_kb - first_kb)) -lt 2048 ] || fail "the hub grew from $first_kb to $last_kb kB"
stop_hub
event $joins "joins at the stage"
event $kills "kills of jobs that shared"
checked
