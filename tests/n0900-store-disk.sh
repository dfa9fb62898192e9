# SPDX-License-Identifier: Apache-2.0
# n0900: a run store on a disk that fills up, and on one that is read-only: one
# line, and the runs before are there.  A file system in memory, in a mount
# namespace of its own.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/reports.sh"
need unshare

if is_root; then
	space="unshare -m --propagation private"
else
	space="unshare -rm --propagation private"
fi
$space mount -t tmpfs -o size=1M tmpfs "$PWD/store" 2> "$work/err" ||
    skip "no mounts here: $(head -n 1 "$work/err")"

cat > inside.sh << 'END'
fail() { echo "FAILED: $*"; exit 1; }
count_runs() { "$destall" runs --json | grep -c '"id":' || :; }
mount -t tmpfs -o size=$size tmpfs store || exit 1
n=0
while "$keeper" full $n > out 2> err; do
	n=$((n + 1))
	[ $n -lt 1000 ] || fail "the disk is never full"
done
echo "size $size: full after $n runs: $(cat err)"
[ "$(wc -l < err)" -eq 1 ] || fail "not one line: $(cat err)"
grep -q '^destall: .*the run store .*: No space left on device' err || fail "the line: $(cat err)"
[ ! -s out ] || fail "standard output: $(cat out)"
# Again, and again the same: what is there can be read on a disk that is full.
! "$keeper" full 1 > out 2> err || fail "a run was stored on a full disk"
[ "$(wc -l < err)" -eq 1 ] || fail "not one line: $(cat err)"
if [ $n -gt 0 ]; then
	[ "$(count_runs)" -eq $n ] || fail "$(count_runs) of $n runs"
	"$destall" report > out || fail "the last run cannot be read"
fi
[ -z "$(ls store/*damaged* 2> /dev/null)" ] || fail "a full disk is no damage"
mount -o remount,size=40M tmpfs store
"$keeper" full 1 > out 2> err || fail "with room again: $(cat err)"
[ "$(count_runs)" -eq $((n + 1)) ] || fail "$(count_runs) of $((n + 1)) runs"

# Read-only.
mount -o remount,ro tmpfs store
! "$keeper" full 1 > out 2> err || fail "a run was stored on a read-only disk"
[ "$(wc -l < err)" -eq 1 ] || fail "not one line: $(cat err)"
grep -q '^destall: .*the run store .*: Read-only file system' err || fail "the line: $(cat err)"
[ "$(count_runs)" -eq $((n + 1)) ] || fail "read-only: $(count_runs) of $((n + 1)) runs"
"$destall" report > out || fail "read-only: the last run cannot be read"
END
for size in 16K 100K 300K; do
	size=$size keeper=$keeper destall=$destall \
	    $space "$(readlink /proc/$$/exe)" ./inside.sh || fail "size $size"
done

