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

#--- a path from a descriptor -------------------------------------------------

# FOLDER PATH: prints the file at PATH from there, and nothing of two others.
mkdir out
echo another | tee out/one > out/two
ln -s ../set out/link
cat > from.py << 'END'
import os, sys
def read(folder, path):
    d = os.open(folder, os.O_RDONLY)
    f = os.open(path, os.O_RDONLY, dir_fd=d)
    os.close(d)
    text = os.read(f, 100)
    os.close(f)
    return text
assert read("out", "one") == read("out", "two") == b"another\n"
os.write(1, read(sys.argv[1], sys.argv[2]))
END
from() {
	want=$1
	shift
	expect_hit "$want" env "$with_object" DESTALL=1 DESTALL_DATA="$PWD/set" \
	    "$PYTHON" from.py "$@"
}
from YES set in/file
from YES set/in file
from YES . set/in/file
from YES / "${PWD#/}/set/in/file"
from YES out ../set/in/file
from NO out link/in/file

stop_hub
