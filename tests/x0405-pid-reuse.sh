# SPDX-License-Identifier: Apache-2.0
# x0405: a job is killed and another gets its pid (row 15) before the hub has
# looked: the new one is not taken for the old one, neither for what that had
# leased nor for being dead.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cache.sh"
need_crash_points
need_python
need unshare

# The test runs once more, in a namespace of its own, as its process 1.
if [ "${in_namespace-}" != yes ]; then
	for how in "unshare -pf --mount-proc" "unshare -Urpf --mount-proc"; do
		if $how sh -c 'echo 1000 > /proc/sys/kernel/ns_last_pid && (exit 0)' 2> /dev/null; then
			TMPDIR=$keep_tmp in_namespace=yes $how sh "$top_srcdir/tests/$test_name"
			exit 0
		fi
	done
	skip "the next pid cannot be chosen here"
fi

items=30
mkset set $items 5000 20000
start_hub --lease 60s
hub=$(hub_pid)
kills=0
while [ $kills -lt "$(scale 10)" ]; do
	choose 5
	DS_DIE_AT=cache.leased:$((chosen + 1)):stop "$the_job" hub=find seed="$DS_SEED" set > old.txt 2>&1 &
	old=$!
	wait_stopped $old
	kill -STOP "$hub"
	kill -KILL $old
	wait_killed $old
	attempt=0
	while :; do
		echo $((old - 1)) > /proc/sys/kernel/ns_last_pid
		"$the_job" hub=find seed="$DS_SEED" set > new.txt 2>&1 &
		new=$!
		[ $new -ne $old ] || break
		kill -KILL $new
		wait $new 2> /dev/null || :
		[ $attempt -lt 20 ] || fail "pid $old was not to be had again"
		attempt=$((attempt + 1))
	done
	choose_time 30
	kill -CONT "$hub"
	wait_job $new new.txt 1 $items
	[ "$(word new.txt all cached)" -eq 1 ] || fail "it was buried for the old one"
	expect_idle
	[ "$admitted" -eq $items ] || fail "$admitted of $items items"
	[ "$(state_of storage_reads)" -eq $items ] || fail "$(state_of storage_reads) reads"
	run "$destall" cache drop set
	expect_status 0
done
stop_hub
event $kills "kills of jobs whose pid was used again at once"
