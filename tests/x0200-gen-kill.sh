# SPDX-License-Identifier: Apache-2.0
# destall gen is killed at every point, at the first five times it comes by:
# nothing half is there, and going on gives the set of an undisturbed run.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/gen.sh"
need_crash_points
ulimit -c 0

gen --count 12 files > /dev/null
gen --count 12 --tar 4K shards > /dev/null
kills=0

# hurt POINT NTH WANT OPTION...
hurt() {
	point=$1 nth=$2 want=$3
	shift 3
	rm -rf set
	run env "DS_DIE_AT=$point:$nth" "$destall" gen --size 40x30 --classes 3 --count 12 "$@" set
	if [ "$status" -eq 137 ]; then
		kills=$((kills + 1))
		echo "$point" >> hit
	else
		expect_status 0
	fi
	check_whole set "killed at $point:$nth, $want"
	# Once more while it goes on, then to the end.
	run env "DS_DIE_AT=$point:2" "$destall" gen --size 40x30 --classes 3 --count 12 "$@" set
	[ "$status" -ne 137 ] || echo "$point" >> hit
	check_whole set "killed again at $point, $want"
	gen --count 12 "$@" set > /dev/null
	check_clean set "after $point:$nth, $want"
	same_tree "$want" set "killed at $point:$nth"
}

points=$(crash_points gen.)
[ -n "$points" ] || fail "no crash points were found"
for point in $points; do
	for nth in 1 2 3 4 5; do
		hurt "$point" $nth files --threads 2
		hurt "$point" $nth shards --tar 4K --threads 2
	done
	grep -q "$point" hit || fail "$point was never come by"
done
event $kills "kills of gen"
