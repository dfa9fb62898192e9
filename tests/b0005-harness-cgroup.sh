# SPDX-License-Identifier: Apache-2.0
# Less memory and slower storage by cgroups (tests/harness/cgroup.py), where we
# may make some: the limits hold, exit statuses pass, nothing stays behind.
. "${top_srcdir:?run by make check}/tests/lib.sh"
[ -n "${PYTHON-}" ] || skip "configured without Python"

cgroup() { run "$PYTHON" "$top_srcdir/tests/harness/cgroup.py" "$@"; }
export PYTHONDONTWRITEBYTECODE=1

# What needs no cgroup.
cgroup
expect_status 2
cgroup run --memory much -- true
expect_status 2
cgroup run -- sh -c 'exit 5'
expect_status 5
cgroup run -- sh -c 'kill -KILL $$'
expect_status 137
cgroup run -- ./none
expect_status 127

# Where it cannot be done it says why.
cgroup run --read-bps 1M --device-of /proc -- true
expect_status 77
expect_err '^cgroup.py: /proc is on no block device$'

cgroup check --memory 64M
[ "$status" -ne 77 ] || skip "$(sed 's/^cgroup.py: //' "$work/err")"
expect_status 0

nobody_left() {
	grep -Eo 'destall-test-[0-9]+' "$work/out" | sort -u > names
	[ -s names ] || fail "the command was in no cgroup of ours"
	while read -r name; do
		[ -z "$(find /sys/fs/cgroup -name "$name")" ] ||
		    fail "the cgroup $name was left"
	done < names
}

cgroup run --memory 64M -- cat /proc/self/cgroup
expect_status 0
nobody_left

# The limit holds: killed by the kernel, not refused; a larger one is enough.
hog='x = b"x" * (200 << 20)'
cgroup run --memory 64M -- "$PYTHON" -c "$hog"
expect_status 137
cgroup run --memory 512M -- "$PYTHON" -c "$hog"
expect_status 0

# What the command left running goes with its cgroup.
cgroup run --memory 64M -- sh -c 'cat /proc/self/cgroup; setsid sleep 1000 > /dev/null 2>&1 &'
expect_status 0
nobody_left

# Ended from outside.
for signal in INT TERM; do
	mkfifo pipe
	"$PYTHON" "$top_srcdir/tests/harness/cgroup.py" run --memory 64M -- \
	    sh -c 'cat /proc/self/cgroup; echo ready; exec sleep 1000' > pipe &
	pid=$!
	# A background process of a shell ignores SIGINT, until Python is told.
	sed '/ready/q' pipe > "$work/out"
	kill -$signal $pid
	status=0
	wait $pid || status=$?
	[ "$status" -gt 128 ] || fail "not ended by SIG$signal: status $status"
	nobody_left
	rm pipe
done

# A disk, where the build lies on one.
cgroup run --memory 64M --read-bps 1M --read-iops 1000 --write-bps 2M \
    --device-of "$top_builddir" -- cat /proc/self/cgroup
[ "$status" -ne 77 ] || skip "of disks: $(sed 's/^cgroup.py: //' "$work/err")"
expect_status 0
nobody_left

# As a module, and the limit is the one that was asked for.
cat > module.py <<'END'
import sys
import cgroup
with cgroup.Group(read_bps=1 << 20, device_of=sys.argv[1]) as group:
    group.start(["true"]).wait()
    try:
        text = group.read("blkio.throttle.read_bps_device")
    except cgroup.Unavailable:
        text = group.read("io.max")
print(text)
END
PYTHONPATH="$top_srcdir/tests/harness" run "$PYTHON" module.py "$top_builddir"
expect_status 0
expect_out '(^[0-9]+:[0-9]+ 1048576$|rbps=1048576)'
