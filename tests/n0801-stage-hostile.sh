# SPDX-License-Identifier: Apache-2.0
# Hostile clients of the stage (rows 53 and 54): streams that cannot be, passes
# and leases of others, publishes of what was never granted, seats that lie, more
# of everything than there is.  Each is answered as the headers say, and jobs that
# share go on all the while, with every byte right.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/faults.sh"

start_hub --cache 16M --stage 8M
hub=$(hub_pid)

# The others: two jobs that share, one after another.
share() {
	while [ ! -e enough ]; do
		"$(harness stagejob)" --stream ours --units 300 --bytes 5000 \
		    --epochs 3 --make-us 100 > "$1" || exit 1
		tail -n 1 "$1" >> jobs.txt
	done
}
share job1 2> job1.err & job1=$!
share job2 2> job2.err & job2=$!
await [ -s jobs.txt ]

# attack STREAM HOW ANSWER...: prints exactly these lines.
attacks=0
attack() {
	stream=$1 how=$2
	shift 2
	run "$(harness stageframes)" "$how" "$stream"
	expect_status 0
	for line in "$@"; do echo "$line"; done > want
	cmp -s want "$work/out" || fail "$how: $(cat "$work/out"), not $(cat want)"
	attacks=$((attacks + 1))
}

for round in 1 2 3; do
	for how in key group nul seeded order samples unit at window; do
		attack prey $how expelled
	done
	for how in pass nopass cut grown type zero bytes threads; do
		attack prey $how expelled
	done
	for how in publish generation twice toomuch nomemory room how; do
		attack prey $how expelled
	done
	for how in begin end endtwice past lag; do
		attack prey $how expelled
	done
	expect_log 'is expelled: a message of type [0-9]+ that no client of the stage sends$'
	for how in back beyond released waits; do
		attack prey $how expelled
	done
	expect_log 'is expelled: stage: a seat that says what cannot be$'
	attack prey map 'refused: stage: slot 4000 is not staged' welcome
	for how in unmapped news fds; do
		attack prey $how welcome
	done
	attack prey places '64, then refused: stage: a process can be attached to 64 passes'
	attack prey leases some welcome
done

# At the jobs' own stream, too: what they do there is gone with them.
for how in publish twice toomuch beyond back leases news; do
	run "$(harness stageframes)" $how ours
	expect_status 0
	attacks=$((attacks + 1))
done

: > enough
wait $job1 || fail "a job: $(cat job1.err job1)"
wait $job2 || fail "a job: $(cat job2.err job2)"
[ ! -s job1.err ] && [ ! -s job2.err ] || fail "a job: $(cat job?.err)"
! grep -v '"wrong": 0' jobs.txt || fail "a byte was wrong"
! grep -v '"lost_hub": 0' jobs.txt || fail "a job lost its hub"
[ "$(hub_pid)" = "$hub" ] || fail "it is another hub"
stop_hub
event $attacks "hostile clients of the stage"
event "$(grep -c . jobs.txt)" "jobs beside them"
