# SPDX-License-Identifier: Apache-2.0
# x0407: jobs in two pid namespaces have the same pid (row 17), and a hub in its
# own sees none of theirs: each is a client of its own, and when one is killed,
# it is that one which the hub buries.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cache.sh"
need_crash_points
need_python
need unshare
unshare=
for how in "unshare -pf" "unshare -Urpf"; do
	if [ "$($how sh -c 'echo $$' 2> /dev/null)" = 1 ]; then
		unshare=$how
		break
	fi
done
[ -n "$unshare" ] || skip "no pid namespaces here"

items=30
mkset set $items 5000 20000
kills=0

# child_of PID: the first process of its namespace, as we see it.
child_of() {
	until child=$(ps -o pid= --ppid "$1") && [ -n "$child" ]; do sleep 0.01; done
	echo $child
}

# expect_leases N: as many clients, with one each; soon.
expect_leases() {
	attempt=0
	until read_state && [ "$leases" -eq "$1" ] && [ "$clients" -eq "$1" ]; do
		[ $attempt -lt 200 ] || fail "$clients clients with $leases leases, not $1"
		attempt=$((attempt + 1))
		sleep 0.05
	done
}

# one NUMBER SEED: process 2 of a namespace (process 1 cannot stop itself), and
# holds a lease.
one() {
	DS_DIE_AT=cache.leased:2:stop $unshare sh -c '"$@"; exit $?' - \
	    "$the_job" hub=find seed="$2" set > "job$1.txt" 2>&1 &
	inner=$(child_of "$(child_of $!)")
	eval "outer$1=$! inner$1=$inner"
	wait_stopped "$inner"
	grep -q '^NSpid:.*	2$' "/proc/$inner/status" || fail "$(grep NSpid "/proc/$inner/status")"
}

try() {
	one 1 "$DS_SEED"
	expect_leases 1
	one 2 $((DS_SEED + 1))
	expect_leases 2
	kill -KILL "$inner1"
	wait $outer1 2> /dev/null || :
	kills=$((kills + 1))
	expect_leases 1
	kill -0 "$inner2" || fail "the other one is gone"
	# It goes on where it was, and publishes; the third gets all the rest.
	kill -CONT "$inner2"
	run bounded "$the_job" hub=find set
	expect_status 0
	check_job "$work/out" 1 $items
	wait_job $outer2 job2.txt 1 $items
	[ "$(word job2.txt all cached)" -eq 1 ] || fail "the other one was buried"
	expect_idle
	[ "$admitted" -eq $items ] || fail "$admitted of $items items"
	[ "$late" -eq 0 ] || fail "$late late publishes"
	[ "$(state_of storage_reads)" -eq $items ] || fail "$(state_of storage_reads) reads"
}

start_hub --lease 60s
take_baseline
try
expect_baseline set
stop_hub

# The hub in a namespace too: it does not see the others' pids at all.
$unshare "$destall" serve --foreground --lease 60s > hub.txt 2>&1 &
outer=$!
until [ -S "$DESTALL_HUB" ]; do
	kill -0 $outer || fail "$(cat hub.txt)"
	sleep 0.01
done
try
stop_hub
wait $outer || fail "exit status $?: $(cat hub.txt)"
event $kills "kills of one of two jobs with the same pid"
