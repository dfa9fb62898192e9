# SPDX-License-Identifier: Apache-2.0
# destall gen on a disk that is too small, as large as it needs after a while,
# and read-only: a file system in memory, in a mount namespace of its own.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/gen.sh"
need unshare

if is_root; then
	space="unshare -m --propagation private"
else
	space="unshare -rm --propagation private"
fi
mkdir disk
$space mount -t tmpfs -o size=1M tmpfs "$PWD/disk" 2> "$work/err" ||
    skip "no mounts here: $(head -n 1 "$work/err")"

gen --count 2000 expected > /dev/null
gen --count 2000 --tar 64K shards > /dev/null

# Within the namespace: the disk fills, is made larger, and is filled again.
cat > inside.sh << 'END'
. "$top_srcdir/tests/gen.sh"
fail() { echo "FAILED: $*"; exit 1; }
mount -t tmpfs -o size=500K tmpfs disk || exit 1
status=0
gen --count 2000 $options disk/set > out 2> err || status=$?
[ $status -eq 1 ] || fail "exit status $status: $(cat err)"
[ "$(wc -l < err)" -eq 1 ] || fail "not one line: $(cat err)"
grep -Eq "^destall: cannot write disk/set/[^ ]*: No space left on device: [0-9]+ of 2000 images are there, the same command goes on from them\$" err ||
    fail "the line: $(cat err)"
check_clean disk/set "a full disk"
[ ! -s out ] || fail "standard output: $(cat out)"
mount -o remount,size=40M tmpfs disk
gen --count 2000 $options disk/set > out || fail "going on"
same_tree $want disk/set "after the disk was full"

# Read-only: a complete set is seen to be complete, nothing else works.
mount -o remount,ro tmpfs disk
gen --count 2000 $options disk/set > out 2> err || fail "a complete set: $(cat err)"
grep -q 'nothing to do' out || fail "a complete set: $(cat out)"
status=0
gen --count 2001 $options disk/set > out 2> err || status=$?
[ $status -eq 1 ] || fail "read-only: exit status $status"
grep -Eq '^destall: cannot write disk/set/.*: Read-only file system: 2000 of 2001 images are there' err ||
    fail "read-only: $(cat err)"
status=0
gen --count 3 disk/other > out 2> err || status=$?
[ $status -eq 1 ] && grep -q '^destall: cannot make the folder disk/other: Read-only file system' err ||
    fail "read-only, a new folder: $(cat err)"
END
for want in expected shards; do
	options=
	[ $want = expected ] || options="--tar 64K"
	work=$work destall=$destall top_srcdir=$top_srcdir options=$options want=$want \
	    $space "$(readlink /proc/$$/exe)" ./inside.sh || fail "$want"
done
