# SPDX-License-Identifier: Apache-2.0
# c0717: a data set is known however its folder and its files are spelled, and
# what lies elsewhere is left alone.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/compat.sh"
need_hub

mkdir set set/in
echo "this and that" > set/in/file
ln -s set link
file=in/file

# expect_hit YES CMD...: the file, from the cache, or with NO from itself.
expect_hit() {
	want=$1
	shift
	hits=$(stat_of datasets.0.hits)
	run bounded "$@"
	expect_status 0
	cmp "set/$file" "$work/out" || fail "$*: other bytes"
	case $want in
	YES) [ "$(stat_of datasets.0.hits)" -gt "$hits" ] || fail "$*: no hit" ;;
	NO) [ "$(stat_of datasets.0.hits)" -eq "$hits" ] || fail "$*: a hit" ;;
	esac
}

# By the hub itself: a file that is as new as this is not brought by readers.
run bounded "$destall" cache warm set
expect_status 0

#--- the folder, as it is given -----------------------------------------------

for root in link ./link .//link/. "$PWD/./link" "$PWD//link/"; do
	expect_hit YES "$destall" run --data "$root" -- cat "$PWD/link/$file"
	expect_hit YES "$destall" run --data "$root" -- cat "$PWD/./set/$file"
	expect_hit YES "$destall" run --data "$root" -- cat "link/$file"
done

#--- the folder, on the command line ------------------------------------------

with_object=LD_PRELOAD=$top_builddir/.libs/libdestall-preload.so
expect_hit YES env "$with_object" DESTALL=1 grep -rh . "$PWD/set"
expect_hit NO env "$with_object" DESTALL=1 DESTALL_DATA= grep -rh . "$PWD/set"

stop_hub
