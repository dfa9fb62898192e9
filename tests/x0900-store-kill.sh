# SPDX-License-Identifier: Apache-2.0
# x0900: who stores a run is killed, at random times and at every point: what was
# said to be stored is there, whole; nothing is half there.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/reports.sh"
ulimit -c 0

kills=$((50 * ${DS_KILLS:-1}))
run "$keeper" kill $kills "$DS_SEED"
expect_status 0
expect_no_err
expect_out "^$kills kills, [0-9]+ stored\$"
event $kills "kills of who stores runs: $(cat "$work/out")"
[ -z "$PYTHON" ] || ! "$PYTHON" -c 'import sqlite3' 2> /dev/null || whole "$store"
[ ! -e "$store.damaged-1" ] || fail "the store was thought damaged"

need_crash_points
rm -f store/*
keep 1
was=1
# hurt POINT ADDED: killed there, so many runs more are stored.
hurt() {
	run env "DS_DIE_AT=$1" "$keeper" full 2
	expect_status 137
	expect_no_out
	was=$((was + $2))
	[ "$(count_runs)" -eq $was ] || fail "killed at $1: $(count_runs) runs, not $was"
	"$destall" report "$id" > /dev/null || fail "killed at $1: the first run is lost"
}
points=$(crash_points runstore.)
[ -n "$points" ] || fail "no crash points were found"
for point in $points; do
	case $point in
	runstore.written) hurt "$point" 0 ;;
	runstore.committed) hurt "$point" 1 ;;
	*) fail "unknown point $point" ;;
	esac
done
# In the middle of the first of all, too.
rm -f store/*
run env DS_DIE_AT=runstore.written "$keeper" full 2
expect_status 137
[ "$(count_runs)" -eq 0 ] || fail "half a run is there"
keep 3
[ "$(count_runs)" -eq 1 ] || fail "not one run"
