# SPDX-License-Identifier: Apache-2.0
# A /dev/shm of 1 MiB does not matter to a cache that has a file system of its
# own (row 18).  Where it may have none, a /dev/shm of 16 MiB is what there is
# (row 19): the cache is smaller or there is none, with the reason, and nobody
# dies of it; it is never larger than its budget.  There the bytes of items can
# be changed by their owner: an audit finds it, the item is fetched again, and
# no job gets the wrong ones (row 33).
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/faults.sh"
need_python
need unshare
need setpriv

# Our own user namespace: its root may mount, and nothing of it stays.
unshare -Urm true 2> /dev/null || skip "no user namespaces here"
unshare -Urm mount -t tmpfs none /dev/shm 2> /dev/null || skip "may not mount in a user namespace"
mkset set 48 500000 500000		# 24 MB

# inside SCRIPT: with functions of ours, and a /dev/shm of $size.
inside() {
	cat > inside.sh
	cat > enter.sh <<-END
		mount -t tmpfs -o size=$size none /dev/shm || exit 99
		$enter
	END
	run unshare -Urm sh enter.sh
	[ "$status" -eq 0 ] || { cat "$hub_log"; fail "inside: exit status $status"; }
	cat "$work/out"
}
prelude='. "$top_srcdir/tests/faults.sh"'
export destall work PYTHON top_builddir top_srcdir
declare_ours='
run() { status=0; "$@" > "$work/out2" 2> "$work/err2" || status=$?; }
fail() { echo "FAILED: $*"; cat "$work/out2" "$work/err2"; "$destall" serve --stop; exit 1; }
harness() { echo "$top_builddir/tests/harness/$1"; }
event() { echo "EVENT $*"; }
set -eu'

size=1M enter='sh -eu inside.sh'
inside <<END
$declare_ours
$prelude
"\$destall" serve --cache 64M
job epochs=2 hub=find set > one.txt || fail "\$(cat one.txt)"
expect_job one.txt reads 48
expect_set set cached_items 48
grep -q 'on a file system of its own' "\$hub_log" || fail "it uses /dev/shm"
"\$destall" serve --stop
event 1 "cache of 24 MB with a /dev/shm of 1 MiB"
END

# Without the right to mount, and without user namespaces.
size=16M enter='echo 0 > /proc/sys/user/max_user_namespaces || exit 77
exec setpriv --bounding-set -sys_admin sh -eu inside.sh'
inside <<END
$declare_ours
$prelude
# 16 MiB, and no more of the set.
"\$destall" serve --cache 64M
job epochs=2 hub=find set > two.txt 2> two.err || fail "\$(cat two.txt two.err)"
expect_job two.txt wrong 0
expect_job two.txt items 96
expect_job two.txt cached 1
grep -q 'using /dev/shm' "\$hub_log" || fail "it does not use /dev/shm"
grep -q '/dev/shm has 16777216 bytes: the cache cannot be larger' "\$hub_log" || fail "no word of its size"
grep -q 'admission is closed at .*: cache: ' "\$hub_log" || fail "admission is open"
cached=\$(set_of set cached_items)
[ "\$cached" -ge 28 ] && [ "\$cached" -le 33 ] || fail "\$cached items are cached"
[ \$((cached + 2 * (48 - cached))) -eq "\$(word two.txt all reads)" ] || fail "\$(cat two.txt)"
"\$destall" serve --stop
[ -z "\$(ls /dev/shm)" ] || fail "left in /dev/shm: \$(ls /dev/shm)"

# Somebody else fills it while the hub is at work.
"\$destall" serve --cache 64M
job ready=ready go=go hub=find set > three.txt 2> three.err &
pid=\$!
await [ -e ready ]
head -c 13000000 /dev/zero > /dev/shm/somebody
: > go
wait \$pid || fail "\$(cat three.txt three.err)"
expect_job three.txt items 48
expect_job three.txt wrong 0
grep -q 'cannot allocate 500000 bytes: No space left on device' "\$hub_log" || fail "no reason"
"\$destall" serve --stop
event 2 "jobs with a full /dev/shm"

# The budget holds, however many ask at once.
rm /dev/shm/somebody
"\$destall" serve --cache 8M
"\$(harness raw)" crowd > crowd.txt || fail "\$(cat crowd.txt)"
read -r _ leased _ used < crowd.txt
[ "\$leased" -ge 4 ] && [ "\$leased" -le 8 ] && [ "\$used" -le 8388608 ] ||
    fail "\$(cat crowd.txt)"
"\$destall" serve --stop
head -c 13000000 /dev/zero > /dev/shm/somebody
event 24 "leases of 1 MiB at once, of 8: \$leased granted"

# Too little for any cache: refused, and a job goes on without.
head -c 3200000 /dev/zero > /dev/shm/another
run "\$destall" serve
[ \$status -eq 1 ] || fail "served without memory"
grep -q '^destall: .*/dev/shm: [0-9]* bytes are free, too few for a cache: make it larger, or allow user namespaces' "\$work/err2" || fail "no reason"
"\$(harness sampler)" 1 set > four.txt 2>&1 || fail "\$(cat four.txt)"
grep -q '^items 48 wrong 0 failed 0 hub 0 ' four.txt || fail "\$(cat four.txt)"
rm /dev/shm/somebody /dev/shm/another

# Bits that changed in memory.
"\$destall" serve --cache 64M
job hub=find set > /dev/null || fail "warm"
cached=\$(set_of set cached_items)
flipped=\$("\$PYTHON" - <<'PY'
import glob, os
files = sorted(glob.glob("/dev/shm/destall-store-*/*"))[::3]
for i, name in enumerate(files):
    os.chmod(name, 0o600)
    with open(name, "r+b") as f:
        f.seek(i * 12345 % 500000)
        b = f.read(1)[0]
        f.seek(-1, 1)
        f.write(bytes([b ^ 1 << i % 8]))
print(len(files))
PY
)
[ "\$flipped" -ge 5 ] || fail "only \$flipped bits were changed"
tries=0
until [ "\$(set_of set corrupt_items)" -ge "\$flipped" ]; do
	DESTALL_AUDIT=1 job epochs=2 hub=find set > audit.txt 2>&1 || fail "\$(cat audit.txt)"
	expect_job audit.txt wrong 0
	tries=\$((tries + 1))
	[ \$tries -lt 30 ] || fail "\$(set_of set corrupt_items) of \$flipped found"
done
expect_set set corrupt_items "\$flipped"
# Their memory was free when the last audit's mappings were gone.
job hub=find set > /dev/null || fail "fetched again"
expect_set set cached_items "\$cached"
job hub=find set > after.txt || fail "\$(cat after.txt)"
expect_job after.txt hits "\$cached"
grep -q 'the bytes of item [0-9]* have changed in memory: forgotten, it will be fetched again' "\$hub_log" || fail "no word"
"\$destall" serve --stop
event "\$flipped" "changed bits, all found by \$tries audits"
END
