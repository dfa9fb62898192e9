# SPDX-License-Identifier: Apache-2.0
# x0403: a job that is hurt at each point of opening a data set and of filling
# an item: killed, the hub and the next job go on; failing, it goes on itself.
. "${top_srcdir:?run by make check}/tests/lib.sh"
need_crash_points
need cc
[ -e "$top_builddir/.libs/libdestall.so" ] || skip "no shared library in this build"
! is_sanitized || skip "a sanitized library wants a sanitized program"

# DS_DIE_AT is for the job, not for a hub that it might start.
export DESTALL_HUB="$work/run/ctl.sock"
trap 'status=$?; "$destall" serve --stop > /dev/null 2>&1 || :; (exit $status); finish' EXIT
cc -o epochs -I"$top_srcdir" "$top_srcdir/doc/examples/epochs.c" \
    -L"$top_builddir/.libs" -ldestall || fail "the example cannot be built"
export LD_LIBRARY_PATH="$top_builddir/.libs"

mkdir data
i=0
while [ $i -lt 30 ]; do
	echo "item $i" > data/$i
	i=$((i + 1))
done
sum=$(cat data/* | od -An -v -tu1 | tr -s ' ' '\n' | awk '{ s += $1 } END { print s }')

# The next job gets all that is right, and in its second epoch from the cache.
check_next() {
	run timeout 60 ./epochs data 2
	expect_status 0
	expect_no_err
	[ "$(grep -c "^sum $sum\$" "$work/out")" -eq 2 ] || fail "$1: wrong bytes"
	expect_out '^epoch 1: 30 from the cache, 0 from storage$'
	run "$destall" cache stat
	expect_status 0
}

points=$(crash_points cache.)
points="$points $(crash_points data.)"
[ "$(echo "$points" | wc -w)" -ge 7 ] || fail "points are missing: $points"
nr=0
for point in $points; do
	# A data set is opened once: then the second time never comes.
	for nth in 1 2 5; do
		"$destall" serve --cache 16M || fail "no hub"
		run env DS_DIE_AT="$point:$nth:kill" timeout 60 ./epochs data 1
		case $status in
		137) nr=$((nr + 1)) ;;
		0) ;;
		*) fail "$point:$nth: exit status $status" ;;
		esac
		check_next "$point:$nth:kill"
		"$destall" serve --stop || fail "$point:$nth: the hub does not stop"
	done
done
[ $nr -ge 17 ] || fail "only $nr jobs were killed"
event $nr "jobs killed while they opened or filled"

# A step that fails costs the item's place in the cache, never its bytes; but
# reading and listing are storage's, and their failure is the job's to hear.
for point in cache.read cache.written cache.closed cache.published data.opened; do
	"$destall" serve --cache 16M || fail "no hub"
	run env DS_DIE_AT="$point:1:EIO" timeout 60 ./epochs data 1
	expect_status 0
	expect_out "^sum $sum\$"
	check_next "$point:EIO"
	"$destall" serve --stop || fail "$point: the hub does not stop"
done
"$destall" serve --cache 16M || fail "no hub"
run env DS_DIE_AT=cache.leased:1:EIO timeout 60 ./epochs data 2
expect_status 1
[ "$(wc -l < "$work/err")" -eq 1 ] || fail "one failure, not one line"
[ "$(grep -c "^sum $sum\$" "$work/out")" -eq 1 ] || fail "not read in the next epoch"
check_next "cache.leased:EIO"
run env DS_DIE_AT=data.listing:1:EIO timeout 60 ./epochs data 1
expect_status 1
expect_err '^epochs: data set .*: cannot be listed$'
"$destall" serve --stop || fail "the hub does not stop"
