# SPDX-License-Identifier: Apache-2.0
# x0805: a job that others wait for is killed, and its parent does not look: the
# zombie is dead to the stage at once, though the policy is to wait for ever (row
# 16).  Jobs with equal pids in two pid namespaces share, and when one of them is
# killed it is that one which is buried (row 17).
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"
need_crash_points

drill_set 240
plain_job
export DESTALL_WINDOW=4 DESTALL_LAG=wait
kills=0

# stopped_job CMD...: a job below CMD that stops with batches in its hands, and
# leases; the process of CMD into $outer.
stopped_job() {
	rm -f victim.ledger
	DESTALL=1 DS_DIE_AT=emulate.batch:6:stop "$@" "$destall" emulate --data $job_set \
	    --batch $batch --set size=32 $job_options --keep --ledger victim.ledger \
	    > victim.out 2>&1 &
	outer=$!
}

start_hub
take_baseline
round=0
while [ $round -lt "$(scale 2)" ]; do
	round=$((round + 1))
	warm_set
	# The shell runs nothing that it would wait for, and so see the death.
	rm -f pid
	stopped_job sh -c '"$@" & echo $! > pid; exec sleep 1000' -
	wait_file pid
	until [ -s pid ]; do sleep 0.01; done
	read -r victim_pid < pid
	wait_stopped "$victim_pid"
	start_job a
	start_job b --step-ms 1
	await_stage "any(j['waits_for'] == $victim_pid for j in doc['jobs'])"
	kill -KILL "$victim_pid"
	kills=$((kills + 1))
	end_job a
	end_job b
	grep -q '^State:.Z' "/proc/$victim_pid/status" || fail "it is no zombie: somebody has looked"
	check_jobs a b
	check_cut victim
	expect_stage_idle
	kill $outer
	wait $outer 2> /dev/null || :
done
stop_hub
event $kills "kills of jobs that shared, and became zombies"

#--- namespaces --------------------------------------------------------------

unshare=
for how in "unshare -pf" "unshare -Urpf"; do
	! command -v unshare > /dev/null || [ "$($how sh -c 'echo $$' 2> /dev/null)" != 1 ] ||
	    unshare=${unshare:-$how}
done
if [ -z "$unshare" ]; then
	echo "no pid namespaces here"
	checked
	exit 0
fi

# second_of PID: process 2 of the namespace that this unshare made, as we see it:
# process 1 cannot stop itself.
second_of() {
	for step in 1 2; do
		until second=$(ps -o pid= --ppid "$1") && [ -n "$second" ]; do sleep 0.01; done
		set -- $second
	done
	echo "$1"
}

# inside NAME OPTION...: a job there.
inside() {
	name=$1
	shift
	rm -f "$name.ledger" "$name.json"
	DESTALL=1 $unshare sh -c '"$@"; exit $?' - "$destall" emulate --data $job_set \
	    --batch $batch --set size=32 $job_options --ledger "$name.ledger" \
	    --json -o "$name.json" "$@" > "$name.out" 2>&1 &
	eval "${name}_pid=$!"
}

try_namespaces() {
	warm_set
	stopped_job $unshare sh -c '"$@"; exit $?' -
	victim_pid=$(second_of $outer)
	wait_stopped "$victim_pid"
	grep -q '^NSpid:.*	2$' "/proc/$victim_pid/status" || fail "$(grep NSpid "/proc/$victim_pid/status")"
	inside a
	inside b --step-ms 1
	# The hub may not see the pid of the one that they wait for.
	await_stage "any(j['waits_s'] for j in doc['jobs'])"
	kill -KILL "$victim_pid"
	wait $outer 2> /dev/null || :
	kills=$((kills + 1))
	end_job a
	end_job b
	check_jobs a b
	check_cut victim
	[ "$(result units_of_others a b)" -gt 0 ] || fail "they did not share"
	expect_no_stream
}

kills=0
start_hub
take_baseline
try_namespaces
expect_stage_idle
stop_hub

# The hub in one of its own: it does not see the others' pids at all.
$unshare "$destall" serve --foreground > hub.txt 2>&1 &
outer_hub=$!
until [ -S "$DESTALL_HUB" ]; do
	kill -0 $outer_hub || fail "$(cat hub.txt)"
	sleep 0.01
done
try_namespaces
stop_hub
wait $outer_hub || fail "exit status $?: $(cat hub.txt)"
event $kills "kills of jobs that shared with others of the same pid"
checked
