# SPDX-License-Identifier: Apache-2.0
# Jobs that may open few files (row 26, of clients): as many items as can be
# read are, with the right bytes, and the rest has a reason; the hub's other
# client notices nothing.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/faults.sh"
need prlimit
need_python
! is_sanitized || skip "a sanitizer opens files of its own"

mkset set 60 2000 9000
start_hub
job hub=find part=0/2 set > half.txt || fail "$(cat half.txt)"
# Not through libtool's shell, which needs descriptors of its own.
program=$top_builddir/tests/harness/.libs/sampler
[ -x "$program" ] || program=$(harness sampler)
whole=0 nr=0
for limit in 3 4 5 6 7 8 9 10 11 12 14 16 20 24; do
	run env LD_LIBRARY_PATH="$top_builddir/.libs" prlimit --nofile=$limit:$limit "$program" 2 set
	case $status in
	0) whole=$((whole + 1)) ;;
	1) expect_err '^sampler: .*(Too many open files|cannot)' ;;
	127) [ $limit -lt 5 ] || fail "$limit descriptors: not even begun" ;;
	*) fail "$limit descriptors: exit status $status" ;;
	esac
	! grep -q 'wrong [1-9]' "$work/out" || fail "$limit descriptors: wrong bytes"
	nr=$((nr + 1))
done
[ $whole -gt 3 ] || fail "only $whole of $nr could read all"
job hub=find epochs=2 set > after.txt || fail "$(cat after.txt)"
expect_job after.txt cached 1
expect_set set leases 0
stop_hub
event $nr "jobs with 3 to 24 descriptors, $whole of them whole"
