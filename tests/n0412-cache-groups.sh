# SPDX-License-Identifier: Apache-2.0
# A hub in a memory group smaller than its cache (row 20): it stops admitting
# before the kernel kills it, and says so.  A job in a group smaller than the
# cache it reads (row 21): the memory is the hub's, and the job is not charged.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/faults.sh"
need_python
export PYTHONDONTWRITEBYTECODE=1
cgroup() { "$PYTHON" "$top_srcdir/tests/harness/cgroup.py" "$@"; }
run cgroup check --memory 64M
[ "$status" -ne 77 ] || skip "$(sed 's/^cgroup.py: //' "$work/err")"
expect_status 0

mkset set 240 400000 400000		# 96 MB
sync

# The hub.
cgroup run --memory 64M -- "$destall" serve --foreground --cache 1G > hub.txt 2>&1 &
group=$!
await [ -S "$DESTALL_HUB" ]
job epochs=2 threads=2 hub=find set > small.txt 2> small.err || fail "$(cat small.txt small.err)"
expect_job small.txt items 480
expect_job small.txt wrong 0
expect_job small.txt cached 1
cached=$(set_of set cached_bytes)
[ "$cached" -gt 20000000 ] && [ "$cached" -lt 67108864 ] || fail "$cached bytes are cached"
run "$destall" serve --stop
expect_status 0
wait $group || fail "the hub ended with $?: $(cat hub.txt)"
grep -Eq "admission is closed at [0-9]+ of 96000000 bytes: cache: the hub's control group has [0-9]+ of its 64 MiB left: /" hub.txt ||
    fail "the limit is not named: $(cat hub.txt)"
event 1 "hub in a group of 64 MiB, $cached bytes cached"

# The job.
start_hub --cache 256M
job hub=find set > warm.txt || fail "$(cat warm.txt)"
expect_set set cached_items 240
cat > charged.py <<'END'
import subprocess, sys
import cgroup
with cgroup.Group(memory=32 << 20) as group:
    status = group.start(sys.argv[1:]).wait()
    for name in ("memory.max_usage_in_bytes", "memory.peak", "memory.current"):
        try:
            print("charged", int(group.read(name)))
            break
        except cgroup.Unavailable:
            pass
sys.exit(status if status >= 0 else 128 - status)
END
PYTHONPATH="$top_srcdir/tests/harness" run "$PYTHON" charged.py \
    "$(harness job)" epochs=2 hub=find set
expect_status 0
cp "$work/out" job.txt
expect_job job.txt hits 480
expect_job job.txt reads 0
charged=$(sed -n 's/^charged //p' job.txt)
[ -n "$charged" ] || skip "of the job: its group does not tell what it was charged"
[ "$charged" -lt $((24 << 20)) ] || fail "a job that reads 96 MB of cache is charged $charged bytes"
stop_hub
event "$charged" "bytes charged to a job that read 96 MB from the cache"
