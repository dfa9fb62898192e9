# SPDX-License-Identifier: Apache-2.0
# a0007: every crash point in the source is tried by a test: one that asks for
# all points of its prefix, or names it.  One that asks for all there are does
# not count: it may never come to them.
. "${top_srcdir:?run by make check}/tests/lib.sh"

find "$top_srcdir/tests" -maxdepth 1 -name '[nx]*.sh' -exec \
    grep -ho 'crash_points [a-z][a-z._]*' {} + | sed 's/.* //' | sort -u > prefixes

is_tried() {
	while read -r prefix; do
		case $1 in "$prefix"*) return 0 ;; esac
	done < prefixes
	grep -qF "DS_DIE_AT=$1" "$top_srcdir"/tests/[nx]*.sh 2>/dev/null
}

points=$(crash_points '')
[ -n "$points" ] || fail "no crash points were found"
for point in $points; do
	is_tried "$point" || fail "no test tries the crash point $point"
done
