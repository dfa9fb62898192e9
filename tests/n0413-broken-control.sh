# SPDX-License-Identifier: Apache-2.0
# A bit of the hub's own table changes in memory (row 34): the hub sees it at its
# next tick and dies, in words; jobs go on from what is cached and from storage,
# and the next hub is another one.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/faults.sh"
need_python
is_root || skip "only root may write the memory of a hub"

mkset set 60 2000 9000
cat > flip.py <<'END'
import sys
pid, byte, bit = map(int, sys.argv[1:])
with open(f"/proc/{pid}/maps") as f:
    at = [int(l.split("-")[0], 16) for l in f if "destall control" in l]
with open(f"/proc/{pid}/mem", "r+b", 0) as f:
    f.seek(at[0] + byte)
    old = f.read(1)[0]
    f.seek(at[0] + byte)
    f.write(bytes([old ^ 1 << bit]))
END

generations=
nr=0
for byte in 0 3 4 8 12 17 24 31; do
	rm -f ready go
	"$destall" serve --foreground > hub.txt 2>&1 &
	hub=$!
	await [ -S "$DESTALL_HUB" ]
	job part=0/2 hub=find set > half.txt || fail "$(cat half.txt)"
	generation=$(stat_of hub.generation)
	case " $generations " in
	*" $generation "*) fail "a second hub is called $generation" ;;
	esac
	generations="$generations $generation"
	job epochs=2 hub=find ready=ready go=go set > job.txt 2> job.err &
	job=$!
	await [ -e ready ]
	"$PYTHON" flip.py $hub $byte $((nr % 8)) || skip "may not write the memory of a hub"
	status=0
	wait $hub 2> /dev/null || status=$?
	[ $status -eq 134 ] || fail "byte $byte: the hub ended with $status: $(cat hub.txt)"
	grep -q 'this is a bug in destall: .*control_head.* does not hold' hub.txt ||
	    fail "byte $byte: the hub did not say why: $(cat hub.txt)"
	: > go
	wait $job || fail "byte $byte: the job: $(cat job.txt job.err)"
	expect_job job.txt items 120
	expect_job job.txt wrong 0
	expect_job job.txt hits 60
	expect_job job.txt cached 0
	nr=$((nr + 1))
done
# The next one replaces the socket.
start_hub
job set > after.txt || fail "$(cat after.txt)"
expect_job after.txt cached 1
stop_hub
event $nr "changed bits of the control segment, all seen"
