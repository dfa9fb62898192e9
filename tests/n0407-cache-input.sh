# SPDX-License-Identifier: Apache-2.0
# Data sets as nobody wants them (rows 22 to 33 of bad input), at the command
# and in a job: what can be read is, nothing else is, and a line says why.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/faults.sh"
need_python
start_hub --cache 64M

warm() { run "$destall" cache warm "$@"; }

# Links: in a circle, out of the folder, to nowhere, to a file within (22, 23).
mkset links 3 1000 2000
ln -s loop links/loop
ln -s ../links links/back
ln -s . links/class000/self
ln -s /etc/passwd links/out
ln -s nothing links/dangling
ln -s class000/000000.bin links/000000.bin
warm links
expect_status 0
expect_out 'all 4 items are cached'

# What is no file (27).
mkset others 3 1000 2000
mkfifo others/fifo.jpg
mkdir others/folder.jpg
is_root && mknod others/zero.jpg c 1 5 || :
"$PYTHON" -c 'import socket; socket.socket(socket.AF_UNIX).bind("others/s.jpg")'
warm others
expect_status 0
expect_out 'all 3 items are cached'

# Too deep (24): one line, and nothing is cached.
deep=deep
for i in 1 2 3 4 5 6 7; do deep=$deep/a/a/a/a/a/a/a/a/a/a; done
mkdir -p "$deep"
warm deep
expect_status 1
expect_one_line '.*more than 64 folders deep'
expect_no_out
run "$(harness sampler)" 1 deep
expect_status 1
expect_err '^sampler: .*more than 64 folders deep'

# Names with everything in them (25): each is its own item, byte for byte.
"$PYTHON" - <<'END'
import os
names = [b"new\nline", b"quote\"'", b"<script>", b"\x1b[31mred", b"\xff\xfe",
         b"x" * 255, b"-rf", b"%s%n", b" ", b"a\\b", b"\xe2\x80\xae"]
os.mkdir("names")
for n in names:
    with open(b"names/" + n, "wb") as f:
        f.write(n * 10)
print(len(names))
END
warm names
expect_status 0
expect_out 'all 11 items are cached'
! LC_ALL=C grep -q "$(printf '\033')" "$work/out" "$work/err" || fail "ESC on a terminal"
run "$destall" cache stat --json
expect_status 0
"$PYTHON" -c 'import json,sys; json.load(open(sys.argv[1]))' "$work/out" || fail "not JSON"

# May not be read; is gone or changed after the listing (28, 29, 30).
mkset gone 4 1000 2000
if ! is_root; then
	chmod 000 gone/class000/000000.bin
	warm gone
	expect_status 1
	expect_one_line 'cache warm: 1 item could not be read, the first: .*000000.bin.*: Permission denied'
	chmod 644 gone/class000/000000.bin
	run "$destall" cache drop gone
fi
job hub=find ready=ready go=go gone > gone.txt 2> gone.err &
pid=$!
await [ -e ready ]
rm gone/class000/000000.bin
printf x >> gone/class000/000001.bin
touch -d '2001-01-01' gone/class000/000002.bin
: > go
status=0
wait $pid || status=$?
[ $status -eq 1 ] || fail "files are gone or changed, and the job ends with $status"
expect_job gone.txt items 1
expect_job gone.txt wrong 0
expect_job gone.txt failed 3
[ "$(grep -c '^job: ' gone.err)" -eq 3 ] || fail "not one line each: $(cat gone.err)"
grep -q '^job: class000/000000.bin: .*No such file' gone.err || fail "$(cat gone.err)"
grep -q '^job: class000/000001.bin: .*changed' gone.err || fail "$(cat gone.err)"

# Sparse and immense: 65 GiB is over the limit, and left out (31).
mkset sparse 2 1000 2000
truncate -s 65G sparse/huge
warm sparse
expect_status 0
expect_out 'all 2 items are cached'

# Shards (32, 33): names are never paths, and a broken shard says where.
"$PYTHON" - <<'END'
import io, tarfile
def add(t, name, data=b"x" * 100, kind=tarfile.REGTYPE):
    i = tarfile.TarInfo(name)
    i.type = kind
    i.size = len(data) if kind == tarfile.REGTYPE else 0
    i.linkname = "/etc/passwd" if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE) else ""
    t.addfile(i, io.BytesIO(data) if i.size else None)
with tarfile.open("good.tar", "w") as t:
    add(t, "a.jpg"); add(t, "b.jpg")
    add(t, "l.jpg", kind=tarfile.SYMTYPE)
    add(t, "h.jpg", kind=tarfile.LNKTYPE)
    add(t, "d", kind=tarfile.DIRTYPE)
for bad in ("../up.jpg", "/etc/abs.jpg"):
    with tarfile.open(bad.strip("./").split("/")[-1].split(".")[0] + ".tar", "w") as t:
        add(t, "a.jpg"); add(t, bad)
with tarfile.open("twice.tar", "w") as t:
    add(t, "a.jpg"); add(t, "a.jpg")
data = open("good.tar", "rb").read()
open("cut.tar", "wb").write(data[:1024 + 50])
open("noend.tar", "wb").write(data[:1024])
b = bytearray(data); b[124:136] = b"\xff" * 12
open("negative.tar", "wb").write(b)
b = bytearray(data); b[124:136] = b"\x80" + b"\x00" * 3 + b"\x7f" + b"\xff" * 7
open("base256.tar", "wb").write(b)
open("text.tar", "wb").write(b"this is no tar\n" * 100)
open("zero.tar", "wb").write(b"")
END
warm tar:good.tar
expect_status 0
expect_out 'all 2 items are cached'
for shard in up abs twice cut negative base256 text; do
	warm "tar:$shard.tar"
	expect_status 1
	expect_one_line ".*$shard\\.tar"
	expect_no_out
	shards=$((${shards:-0} + 1))
done
cat "$work/err"
[ ! -e ../up.jpg ] && [ ! -e up.jpg ] || fail "a member was written"
expect_set good.tar cached_items 2
stop_hub
event $((7 + shards)) "data sets that are not in order"
