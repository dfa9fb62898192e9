# SPDX-License-Identifier: Apache-2.0
# Files change while programs read them through the preload object: cut,
# overwritten, replaced, removed, made anew, made unreadable; before an open,
# between open and read, and between two opens.  A program sees what it would
# see without us, or the old bytes, whole: never a mixture (row 43).
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/preloaded.sh"
need_object
need_python

# The same steps for each file, plain and preloaded: what was seen of it, as
# old, new, or an error.  The old and the new are of one size unless it is cut.
cat > steps.py <<'END'
import errno, os, sys

folder = sys.argv[1]
OLD, NEW = b"o" * 20000, b"N" * 20000

def overwrite(path):            # in place
    with open(path, "r+b") as f:
        f.write(NEW)

def cut(path):
    os.truncate(path, 5000)

def cut_to_nothing(path):
    os.truncate(path, 0)

def grow(path):
    with open(path, "ab") as f:
        f.write(NEW)

def replace(path):
    with open(path + ".new", "wb") as f:
        f.write(NEW)
    os.rename(path + ".new", path)

def replace_same_time(path):
    st = os.stat(path)
    replace(path)
    os.utime(path, ns=(st.st_atime_ns, st.st_mtime_ns))

def overwrite_same_time(path):  # who does that wants it not to be seen
    st = os.stat(path)
    overwrite(path)
    os.utime(path, ns=(st.st_atime_ns, st.st_mtime_ns))

def remove(path):
    os.unlink(path)

def remake(path):
    os.unlink(path)
    with open(path, "wb") as f:
        f.write(NEW)

def forbid(path):
    os.chmod(path, 0)

def touch(path):
    os.utime(path)

def become_folder(path):
    os.unlink(path)
    os.mkdir(path)

def become_link(path):
    os.rename(path, path + ".old")
    with open(path + ".other", "wb") as f:
        f.write(NEW)
    os.symlink(path + ".other", path)

def nothing(path):
    pass

WAYS = (nothing, overwrite, cut, cut_to_nothing, grow, replace,
        replace_same_time, overwrite_same_time, remove, remake, forbid, touch,
        become_folder, become_link)

def name(data):
    for text, whole in (("old", OLD), ("new", NEW), ("cut", OLD[:5000]),
                        ("nothing", b""), ("grown", OLD + NEW)):
        if data == whole:
            return text
    return "MIXED"

def read_on(fd):
    data = b""
    while True:
        piece = os.pread(fd, 1 << 16, len(data))
        if not piece:
            return data
        data += piece

def see(path, act=None):
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError as e:
        return errno.errorcode[e.errno]
    try:
        if act:
            act(path)
        size = os.fstat(fd).st_size
        data = read_on(fd)
        # fstat and the bytes are of one file.
        return name(data) + ("" if size == len(data) else " of another size")
    except OSError as e:
        return errno.errorcode[e.errno]
    finally:
        os.close(fd)

def half(path, act):
    fd = os.open(path, os.O_RDONLY)
    first = os.read(fd, 10000)
    act(path)
    rest = os.read(fd, 10000)
    os.close(fd)
    # What a plain program reads then is of both; a copy stays what it was.
    return name(first * 2) + "+" + (name(rest * 2) if len(rest) == 10000 else
                                    str(len(rest)))

def line(when, act, *seen):
    print(when, act.__name__, *seen)

for i, act in enumerate(WAYS):
    for state in ("cold", "warm"):
        def path(when):
            return "%s/%s/%s-%d" % (folder, state, when, i)
        act(path("before"))
        line(state + " before", act, see(path("before")), see(path("before")))
        line(state + " between", act, see(path("between"), act), see(path("between")))
        p = path("opens")
        first = see(p)
        act(p)
        line(state + " opens", act, first, see(p), see(p))
        line(state + " half", act, half(path("half"), act))
END
cat > make.py <<'END'
import os, sys
for folder in sys.argv[1:]:
    for state in ("cold", "warm"):
        os.makedirs("%s/%s" % (folder, state))
        for when in ("before", "between", "opens", "half"):
            for i in range(14):
                path = "%s/%s/%s-%d" % (folder, state, when, i)
                with open(path, "wb") as f:
                    f.write(b"o" * 20000)
                os.utime(path, (1000000000, 1000000000))
END
# What a plain program may not see, but one of ours: the old one whole, where
# that one saw what came after.
cat > compare.py <<'END'
import sys
plain, ours = ([l.split() for l in open(name)] for name in sys.argv[1:3])
bad = 0
for p, o in zip(plain, ours):
    for a, b in zip(p[2:], o[2:]):
        if a != b and b not in ("old", "old+old"):
            print("plain:", *p, "/ preloaded:", *o)
            bad += 1
            break
# And these are told by the inode, or the time of its last change, which nobody
# can set: the new one, once it is opened after the change.
told = ("overwrite", "cut", "cut_to_nothing", "grow", "replace", "remake",
        "replace_same_time", "overwrite_same_time", "remove", "forbid",
        "become_folder", "become_link")
for p, o in zip(plain, ours):
    if p[2] in told and p[1] in ("before", "opens") and p[-1] != o[-1]:
        print("opened after the change, plain:", *p, "/ preloaded:", *o)
        bad += 1
differ = sum(p != o for p, o in zip(plain, ours))
print(len(plain), "cases,", differ, "with the old bytes where a plain program sees the new")
sys.exit(bad > 0 or len(plain) != len(ours) or len(plain) < 100)
END

start_hub
"$PYTHON" make.py one set
"$PYTHON" steps.py one > plain.txt || fail "plain: $(cat plain.txt)"
# Listed, and half of it cached.
cat > warm.sh <<'END'
cat "$1"/warm/* | wc -c
END
run "$preload" sh warm.sh set
expect_status 0
is_cached set 56 || fail "not warm: $(set_of set cached_items)"
run "$preload" "$PYTHON" steps.py set
expect_status 0
expect_no_err
cp "$work/out" ours.txt
! grep -E 'MIXED|size' plain.txt ours.txt || fail "mixed bytes"
run "$PYTHON" compare.py plain.txt ours.txt
expect_status 0
cat "$work/out"
[ "$(set_of set hits)" -gt 30 ] || fail "there were no hits: this shows nothing"
event "$(wc -l < ours.txt)" "changes of files, before, between and after opens"
stop_hub

# The same files once more, as from an archive that keeps times, in another
# order: inodes are used again, by others of the same size and time.
rm -rf set one
mkset set 60 8000
find set -name '*.bin' -exec touch -d @1000000000 {} +
sleep 0.1		# more than a tick: they are not too young
start_hub
rm -f begun over
"$destall" run --data set -- sh -c ': > begun
    until [ -e over ]; do sleep 0.05; done' 2> run.err &
runner=$!
wait_file begun
run "$preload" "$the_plain" set
expect_status 0
is_cached set 60 || fail "$(set_of set cached_items) of 60 are cached"
cp -rp set archive
rm set/class000/*
for file in $(find archive -name "*.bin" -printf "%f\n" | sort -r); do
	cp -p archive/class000/"$file" set/class000
done
for state in running listed; do
	run "$preload" "$the_plain" how=mixed epochs=2 set
	expect_status 0
	check_plain "$work/out" 2 60
	[ $state = listed ] || {
		: > over
		wait $runner
		run "$destall" run --data set -- true
	}
done
stop_hub
event 60 "files made again from an archive"

# Written while four read it: by rename, in place, cut and written again; each
# version is whole for who reads long enough, and a copy never is a mixture.
rm -rf set one
mkset set 40 9000 9000
cat > contents.py <<'END'
import sys
M = (1 << 64) - 1
def mix(x):
    x = (x + 0x9e3779b97f4a7c15) & M
    x = ((x ^ x >> 30) * 0xbf58476d1ce4e5b9) & M
    x = ((x ^ x >> 27) * 0x94d049bb133111eb) & M
    return x ^ x >> 31
def content(name, size, version):       # content.h
    seed = size
    for c in name.encode():
        seed = mix(seed ^ c)
    seed = (seed + version) & M
    return b"".join(mix((seed + at) & M).to_bytes(8, sys.byteorder)
                    for at in range(0, size, 8))[:size]
END
cat > write.py <<'END'
import os, random, sys, time
from contents import content
random.seed(int(os.environ["DS_SEED"]))
paths = [os.path.join(d, n) for d, _, names in os.walk("set") for n in names]
whole = {p: [content(os.path.basename(p), 9000, v) for v in range(4)] for p in paths}
open("writing", "w").close()
n = 0
while not os.path.exists("end"):
    p = random.choice(paths)
    data = random.choice(whole[p])
    how = random.randrange(3)
    if how == 0:
        with open("draft", "wb") as f:
            f.write(data)
        os.rename("draft", p)
    elif how == 1:
        with open(p, "r+b", buffering=0) as f:
            f.write(data)
    else:
        with open(p, "r+b", buffering=0) as f:
            f.write(data[:4000])
            f.write(data[4000:])
            if random.randrange(2):
                os.utime(f.fileno(), (1000000000, 1000000000))
    n += 1
    time.sleep(0.0003)
for p in paths:         # and what is there at last is seen by all
    with open(p, "r+b") as f:
        f.write(whole[p][3])
print("writes", n)
END
start_hub
rm -f writing end
"$PYTHON" write.py > writes.txt &
writer=$!
wait_file writing
round=0
while [ $round -lt "$(scale 6)" ]; do
	round=$((round + 1))
	# Each lists anew.
	bounded "$destall" run --data set -- sh "$work/four.sh" epochs=8 versions=4 \
	    set > four.out 2> four.err &
	job=$!
	status=0
	wait $job || status=$?
	[ $status -eq 0 ] || fail "files that are written: $(cat four.err r?.txt)"
	for i in 1 2 3 4; do check_plain "r$i.txt" 8 40; done
done
: > end
wait $writer || fail "the writer: $(cat writes.txt)"
event "$(sed -n 's/^writes //p' writes.txt)" "writes to files that four programs read"
run "$destall" run --data set -- "$the_plain" versions=4 epochs=2 set
expect_status 0
cp "$work/out" last.txt
"$destall" run --data set -- sh -c 'cat set/*/*.bin' > bytes 2> /dev/null
cat set/*/*.bin | cmp - bytes || fail "not the last bytes"
stop_hub

# One is half written when it is brought in: what was copied is of both, and is
# not given to anybody; the program, which has the file itself, sees its end.
if configured WITH_CRASH_POINTS; then
	cat > half.py <<-'END'
		import sys
		from contents import content
		path, part = sys.argv[1:]
		whole = content("000000.bin", 9000, 1)
		with open(path, "r+b") as f:
		    if part == "second":
		        f.seek(4500)
		        f.write(whole[4500:])
		    else:
		        f.write(whole[:4500])
	END
	for point in bring.leased bring.read; do
		rm -rf set
		mkset set 1 9000
		sleep 0.1		# more than a tick of the clock
		start_hub
		DS_DIE_AT=$point:1:stop "$preload" "$the_plain" versions=2 set > half.txt 2>&1 &
		reader=$!
		wait_stopped $reader
		"$PYTHON" half.py set/class000/000000.bin second
		kill -CONT $reader
		await sh -c "'$destall' cache stat --json | grep -q '\"leases\": 0'"
		"$PYTHON" half.py set/class000/000000.bin first
		wait_plain $reader half.txt 1 1
		# Whoever comes now has the new one.
		run "$preload" "$the_plain" versions=2 set
		expect_status 0
		"$preload" cat set/class000/000000.bin | cmp - set/class000/000000.bin ||
		    fail "$point: not the new one"
		stop_hub
	done
	event 2 "files half written when they were brought in"
fi

# Written within a tick of its clock, a file may change once more and keep its
# time: it is not cached until that is over; nor is one without fractions for
# two seconds.  One from the future is as good as any.
mkdir young
start_hub
attempt=0
while :; do
	attempt=$((attempt + 1))
	[ $attempt -lt 20 ] || fail "never in time"
	rm -f young/*
	now=$(date +%s)
	echo some bytes > young/one
	echo some bytes > young/two
	touch -d "@$now" young/one
	touch -d "@$((now + 1000))" young/two
	sleep 0.1			# more than a tick of the clock
	run "$destall" run --data young -- cat young/one young/two
	expect_status 0
	[ "$(cat "$work/out")" = "$(cat young/one young/two)" ] || fail "of the young"
	# In a second, so that all of it was within two.
	[ "$(($(date +%s) - now))" -gt 1 ] || break
done
expect_set young cached_items 1
stop_hub
event 1 "file that was too young to be cached"
