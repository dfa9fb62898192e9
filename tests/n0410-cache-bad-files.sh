# SPDX-License-Identifier: Apache-2.0
# Files that cannot be read (row 43): tried once by all jobs together in an
# epoch, and again in the next.  A file whose reading never comes back (row 44):
# everything else flows, its lease ends, and another job reads it.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/faults.sh"
need_python
need_preload

mkset set 200 2000 9000
# In a process of its own, which CMD becomes.
slow() {
	exec env LD_PRELOAD="$(shim slow)" DS_SLOW_ROOT=set DS_SLOW_STATE="$work/state" "$@"
}
counted() { "$(harness slowstat)" "$work/state" | sed -n "s/^$1 //p"; }

# Four jobs in one epoch; five files are bad.
start_hub
export DS_SLOW_FAIL='EIO:00001[0-4].bin'
for i in 1 2 3 4; do
	slow "$(harness job)" seed=$i threads=2 hub=find ready=ready$i go=go set > bad$i.txt 2> bad$i.err &
	eval "job$i=\$!"
done
for i in 1 2 3 4; do await [ -e ready$i ]; done
: > go
for i in 1 2 3 4; do
	eval "pid=\$job$i"
	status=0
	wait "$pid" || status=$?
	[ $status -eq 1 ] || fail "job $i ends with $status"
	expect_job bad$i.txt items 195
	expect_job bad$i.txt wrong 0
	expect_job bad$i.txt failed 5
	[ "$(grep -Ec '^job: class000/00001[0-4].bin: .*Input/output error' bad$i.err)" -eq 5 ] ||
	    fail "not one line for each: $(cat bad$i.err)"
done
[ "$(counted failed)" -eq 5 ] || fail "5 bad files were tried $(counted failed) times by 4 jobs"
expect_set set failed_items 5
expect_set set storage_reads 195
expect_set set leases 0
event 5 "bad files, each tried once by 4 jobs"

# Each epoch tries again; one that is mended is cached.
rm "$work/state"
(slow "$(harness job)" epochs=3 hub=find set) > bad.txt 2> bad.err && fail "no error"
[ "$(counted failed)" -eq 15 ] || fail "5 bad files were tried $(counted failed) times in 3 epochs"
unset DS_SLOW_FAIL
job hub=find set > mended.txt || fail "mended: $(cat mended.txt)"
expect_set set failed_items 0
expect_set set cached_items 200
stop_hub
event 15 "tries of bad files in 3 epochs"

# One file hangs for those who read it through the shim.
start_hub --lease 500ms
export DS_SLOW_HANG=000003.bin
rm "$work/state"
slow "$(harness job)" threads=2 hub=find set > hung.txt 2>&1 &
hung=$!
await sh -c "'$(harness slowstat)' '$work/state' 2> /dev/null | grep -q '^hung 1'"
unset DS_SLOW_HANG
job threads=2 hub=find set > others.txt || fail "the other job: $(cat others.txt)"
expect_job others.txt items 200
expect_job others.txt wrong 0
await sh -c "[ \"\$('$destall' cache stat --json | grep -c '\"leases\": *0')\" -ge 1 ]"
expect_set set expired_leases 1
expect_set set cached_items 200
expect_log 'item [0-9]+ is not there after 0.5 s: client [0-9]+ may be stuck in reading it'
kill -0 $hung || fail "the stuck job has ended: $(cat hung.txt)"
kill -KILL $hung
wait $hung 2> /dev/null || :
stop_hub
event 1 "reading that never came back"
