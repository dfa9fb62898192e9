# SPDX-License-Identifier: Apache-2.0
# a0011: the preload object exports the names that it wraps, a few of its own for
# our Python package, and no other, needs nothing but libc, allocates nothing at its start, and
# a program that has no data set cannot tell whether it is there.
. "${top_srcdir:?run by make check}/tests/lib.sh"
need nm
need readelf

so=$top_builddir/.libs/libdestall-preload.so
[ -e "$so" ] || skip "no shared object in this build"

#--- the object ---------------------------------------------------------------

nm -D --defined-only "$so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    sort > exported
sed -n '/^global:/,/^local:/s/^[ \t]*\([a-z0-9_]*\);.*/\1/p' \
    "$top_srcdir/preload/preload.map" | sort > mapped
sed -n 's/^[ \t]*X([^,]*, \([a-z0-9_]*\),.*/\1/p' "$top_srcdir/preload/real.h" |
    sort > wrapped
[ -s exported ] || fail "nothing is exported"
# Sanitizers add symbols of their own.
is_sanitized && grep -xFf mapped exported > ours || cp exported ours
diff ours mapped || fail "exported symbols differ from preload/preload.map"
grep -v '^ds_' mapped | diff - wrapped || fail "preload/preload.map differs from the table in preload/real.h"

wrong=$(readelf -d "$so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    grep -Ev '^(libc\.so|libpthread|libdl|ld-linux|libasan|libubsan|libtsan|libgcc_s|libm\.so)' || :)
[ -z "$wrong" ] || fail "the preload object needs $wrong"

#--- programs under it ----------------------------------------------------------

need_preload
program=$(harness wrapped)

# with_object CMD...: as a job of `destall run` that has no data set.
with_object() { LD_PRELOAD=$so DESTALL=1 DESTALL_DATA=/no/such "$@"; }

# A start of a program allocates as much with it as without, if it is told the
# roots and need not look for them on the command line.
allocations() {
	rm -f "$work/counts"
	LD_PRELOAD=$1 DESTALL=$2 DESTALL_DATA=/no/such DS_FAIL_COUNT=$work/counts "$(harness victim)" write > /dev/null
	[ -s "$work/counts" ] || fail "no call was counted"
	awk '$2 ~ /alloc/ { print $2, $3 }' "$work/counts" | sort
}
counter=$(shim fail)
allocations "$counter" 1 > plain
# Whichever of the two starts first.
for objects in "$counter $so" "$so $counter"; do
	allocations "$objects" 1 > loaded
	diff plain loaded || fail "the start of the object allocates"
done

# Files of all kinds, one with an attribute where there are such.
mkdir data data/folder scratch
head -c 100000 /dev/urandom > data/file
: > data/empty
echo secret > data/closed
chmod 0 data/closed
echo sticky > data/sticky
chmod 1644 data/sticky
ln data/file data/hard
ln -s file data/link
ln -s nowhere data/dangling
mkfifo data/fifo
echo "in it" > scratch/here
"$program" mark data/file > /dev/null

# same HOW PATH...: as without it.  Once before, for what the first reader of a
# file changes; $prepare comes before each.
prepare=:
same() {
	$prepare
	"$program" "$@" > /dev/null 2>&1 || fail "wrapped $*"
	$prepare
	"$program" "$@" > "$work/plain" 2> "$work/plain.err" || fail "wrapped $*"
	$prepare
	with_object "$program" "$@" > "$work/loaded" 2> "$work/loaded.err" ||
	    fail "wrapped $*, with the object: exit status $?"
	diff "$work/plain" "$work/loaded" > "$work/out" ||
	    fail "wrapped $*: differs with the object"
	diff "$work/plain.err" "$work/loaded.err" || fail "wrapped $*: standard error differs"
	sed -n 's/^called //p' "$work/loaded" >> called
}

for file in file empty closed sticky hard link dangling fifo folder missing; do
	same look "$PWD/data/$file"
	same look "data/$file"
done
same look /dev/null "$PWD/data//./folder/../file"

make_files() {
	rm -rf changed
	mkdir changed changed/folder
	echo file > changed/file
	touch -d @1500000000 changed/file changed/folder
	chmod 600 changed/file changed/folder
}
prepare=make_files
same change "$PWD/changed/file" "$PWD/changed/folder"
prepare=:
same create "$PWD/scratch"
same fail "$PWD/scratch"
same move "$PWD/scratch"
same cancel "$PWD/data/fifo"

sort -u called > tried
diff wrapped tried || fail "not every wrapped name was called"

# Off, it is as if it were not there, too.
LD_PRELOAD=$so "$program" look "$PWD/data/file" > "$work/loaded"
"$program" look "$PWD/data/file" | diff - "$work/loaded" || fail "differs when it is off"
