# SPDX-License-Identifier: Apache-2.0
# n0827: a hub in a memory group that is smaller than its stage (row 20): jobs
# share with fewer slots, or go on alone; nothing is killed.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"
. "$top_srcdir/tests/faults.sh"
export PYTHONDONTWRITEBYTECODE=1
cgroup() { "$PYTHON" "$top_srcdir/tests/harness/cgroup.py" "$@"; }
run cgroup check --memory 16M
[ "$status" -ne 77 ] || skip "$(sed 's/^cgroup.py: //' "$work/err")"
expect_status 0
! is_sanitized || skip "a sanitizer needs more memory than the group has"

batch=16		# 3 MiB a unit
job_options="--epochs 2 --seed 3 --set size=128"
drill_set 160
plain_job
export DESTALL_WINDOW=64

# in_group SIZE: a hub there, and two jobs, one of which keeps all that it gets;
# what others had made for them into $others.
in_group() {
	cgroup run --memory "$1" -- "$destall" serve --foreground --stage 1G --cache 1G \
	    > hub.txt 2>&1 &
	group=$!
	await [ -S "$DESTALL_HUB" ]
	start_job a
	start_job b --keep --touch write
	start_job c --step-ms 2
	for name in a b c; do end_job $name; done
	check_jobs a b c
	others=$(result units_of_others a b c)
	expect_no_stream
	run "$destall" serve --stop
	expect_status 0
	wait $group || fail "in $1 the hub ended with $?: $(cat hub.txt)"
	echo "in $1: $others units of others"
}

in_group 64M
[ "$others" -gt 0 ] || fail "nothing was shared"
in_group 32M
in_group 16M
event 3 "hubs in a group smaller than their stage"
checked
