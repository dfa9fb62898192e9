# SPDX-License-Identifier: Apache-2.0
# Programs read through the preload object when there is little of something
# (rows 18 to 20, 22, 26): the cache is full, or its control group's memory, or
# its store; few descriptors, little address space, a limit on the size of
# files, a pipe that is full.  They see what they would see without us.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/preloaded.sh"
need_object
need_python
export PYTHONDONTWRITEBYTECODE=1
cgroup() { "$PYTHON" "$top_srcdir/tests/harness/cgroup.py" "$@"; }

items=60
mkset set $items 20000 90000

# The cache is full: what fits is read once, the rest each time.  `destall run` keeps the
# set in use: one reader that is late would come to a set that nobody uses any more, whose
# admission begins anew with items that others have read before.
start_hub --cache 1M
bounded "$destall" run --data set sh "$work/four.sh" epochs=3 set > four.out 2> four.err &
wait_four $! 3 $items 0
expect_idle
[ "$admitted" -gt 5 ] && [ "$admitted" -lt 40 ] || fail "$admitted of $items items fit into 1 MiB"
[ "$(state_of storage_reads)" -le $((admitted + 4 * 3 * (items - admitted))) ] ||
    fail "$(state_of storage_reads) reads with $admitted items admitted"
event 1 "full cache, $admitted of $items items in it"
stop_hub

# Its store is full: a lease cannot be given memory.
if unshare -Urm mount -t tmpfs none /dev/shm 2> /dev/null; then
	cat > inside.sh <<-END
		set -e
		"$destall" serve --cache 64M
		head -c 7300000 /dev/zero > /dev/shm/somebody
		"$preload" sh "$work/four.sh" epochs=2 set
		"$destall" serve --stop
	END
	cat > enter.sh <<-'END'
		mount -t tmpfs -o size=8M none /dev/shm || exit 99
		echo 0 > /proc/sys/user/max_user_namespaces || exit 99
		exec setpriv --bounding-set -sys_admin sh inside.sh
	END
	run unshare -Urm sh enter.sh
	[ "$status" -eq 0 ] || { cat "$hub_log"; fail "with a full /dev/shm: $status"; }
	expect_lines "$work/err" 0
	for i in 1 2 3 4; do check_plain r$i.txt 2 $items; done
	grep -q 'cannot allocate .* No space left on device' "$hub_log" || fail "it was not full: $(cat "$hub_log")"
	event 1 "full store"
else
	echo "no full store: no user namespaces here"
fi

# Hub and readers in a group that has less memory than they would like.
run cgroup check --memory 32M
if [ "$status" -eq 0 ] && ! is_sanitized; then
	mkset large 120 400000 400000		# 48 MB
	cat > group.sh <<-END
		"$destall" serve --foreground --cache 1G > hub.txt 2>&1 &
		hub=\$!
		until [ -S "$DESTALL_HUB" ]; do sleep 0.01; done
		sh "$work/four.sh" epochs=1 part=0/1 large
		worst=\$?
		"$destall" serve --stop
		wait \$hub || worst=\$?
		exit \$worst
	END
	status=0
	DESTALL_DATA=$PWD/large cgroup run --memory 32M -- "$preload" sh group.sh > four.out 2> four.err || status=$?
	[ "$status" -eq 0 ] || fail "in 32 MiB: $status: $(cat four.out four.err hub.txt r?.txt)"
	for i in 1 2 3 4; do check_plain r$i.txt 1 120; done
	expect_lines four.err 1
	! grep 'does not answer' four.err || fail "a hub that was preloaded itself waits for itself"
	grep -q 'admission is closed at ' hub.txt || fail "admission is open: $(cat hub.txt)"
	rm -r large
	event 1 "hub and readers in a group of 32 MiB"
else
	echo "no group of 32 MiB: $(sed 's/^cgroup.py: //' "$work/err")"
fi

# Few descriptors: a program opens all it can.  Each that it gets is right, and
# the refusal is the same; the two that the object keeps, of its connection and
# of the store's folder, are all that it has less.  Where there is no room for
# those, or for one more for a moment, it has the real files.
cat > descriptors.py <<'END'
import errno, os, sys
held, said = [], "all"
for path in sys.argv[1:]:
    try:
        held.append(os.open(path, os.O_RDONLY))
    except OSError as e:
        said = errno.errorcode[e.errno]
        break
right = all(len(os.pread(fd, 1 << 20, 0)) == os.fstat(fd).st_size for fd in held)
print(len(held), said, right)
END
start_hub
files=$(find "$data" -name '*.bin')
for limit in 7 9 12 24 48; do
	for state in cold warm; do
		prlimit --nofile=$limit:$limit "$PYTHON" descriptors.py $files > plain.txt ||
		    fail "$limit descriptors: not even plain"
		run "$preload" prlimit --nofile=$limit:$limit "$PYTHON" descriptors.py $files
		expect_status 0
		expect_lines "$work/err" 1
		cat plain.txt "$work/out" | awk '{ nr[NR] = $1; said[NR] = $2; right[NR] = $3 }
		    END { exit !(NR == 2 && nr[2] >= nr[1] - 2 && nr[2] <= nr[1] &&
		    said[2] == said[1] && right[2] == "True") }' ||
		    fail "$limit descriptors, $state: $(cat "$work/out") where a plain program has $(cat plain.txt)"
	done
	# One after the other is always possible.
	if prlimit --nofile=$limit:$limit "$the_plain" how=mixed set > /dev/null; then
		run "$preload" prlimit --nofile=$limit:$limit "$the_plain" how=mixed epochs=2 set
		expect_status 0
		expect_lines "$work/err" 1
		check_plain "$work/out" 2 $items
	fi
done
expect_idle
event 15 "programs with 7 to 48 descriptors"

# A limit on the size of files that it may write: the cache's are none of its.
for limit in 4096 30000 60000; do
	run "$destall" cache drop set
	run "$preload" prlimit --fsize=$limit:$limit "$the_plain" how=mixed epochs=2 set
	expect_status 0
	expect_lines "$work/err" 1
	check_plain "$work/out" 2 $items
done
# And a signal that was waiting before is still there.
cat > waiting.py <<'END'
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGXFSZ])
os.kill(os.getpid(), signal.SIGXFSZ)
for path in sys.argv[1:]:
    with open(path, "rb") as f:
        f.read()
print(signal.SIGXFSZ in signal.sigpending(),
      signal.SIGXFSZ in signal.pthread_sigmask(signal.SIG_BLOCK, []))
END
run "$destall" cache drop set
run "$preload" prlimit --fsize=30000:30000 "$PYTHON" waiting.py $files
expect_status 0
[ "$(cat "$work/out")" = "True True" ] || fail "its signals: $(cat "$work/out")"
expect_idle
event 4 "programs that may write small files only"

# Little address space, from when the program has begun.
for limit in 1 5000 20000 100000 150000 300000 1000000 4000000; do
	for how in read stdio mmap; do
		"$destall" cache drop set > /dev/null 2>&1 || :
		run "$the_plain" how=$how epochs=2 space=$limit $files
		[ "$status" -eq 0 ] || continue		# a plain one has not enough
		run "$preload" "$the_plain" how=$how epochs=2 space=$limit $files
		expect_status 0
		expect_lines "$work/err" 1
		check_plain "$work/out" 2 $items
		spaces=$((${spaces:-0} + 1))
	done
done
[ "${spaces:-0}" -gt 8 ] || fail "only $spaces had enough address space to run plain"
event $spaces "programs with little address space"
stop_hub
