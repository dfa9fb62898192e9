# SPDX-License-Identifier: Apache-2.0
# n0933: the run store under a profile: locked by another program, on a full disk,
# damaged; and jobs that are killed.  What was measured is told, one line says what is
# not stored, the runs before are there; what is stored is what was told.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/emulate.sh"
. "$top_srcdir/tests/profiled.sh"
. "$top_srcdir/tests/reports.sh"
need_preload
need_sqlite

gen --count 200 set
words="--for 3s --pass-epochs -- $destall emulate --batch 4 --set size=32 --data set --step-ms 5 --epochs 1000"

# expect_told ID: the job was ended by us, its verdict is printed and in the result,
# which has an id, or is None.
expect_told() {
	expect_status 0
	expect_result "doc['run']['id'] is $1" \
	    "verdict['sentence'] and verdict['sentence'] in ' '.join(open('$work/err').read().split())"
}

about_store='^destall: .*\(run store\|stored\)'
# expect_said TEXT: of our lines, one is about the store, and says this.
expect_said() {
	[ "$(grep -c "$about_store" "$work/err")" -eq 1 ] || fail "not one line about the store"
	expect_err "^destall: profile: $1"
}

# expect_runs ID...: these are stored, and no others.
expect_runs() {
	"$destall" runs --json > runs.json || fail "the runs cannot be listed"
	[ "$(grep -c '"id":' runs.json)" -eq $# ] || fail "not $# runs: $(cat runs.json)"
	for run_id; do
		grep -q "\"$run_id\"" runs.json || fail "run $run_id is lost: $(cat runs.json)"
	done
}

result_id() { "$PYTHON" -c 'import json; print(json.load(open("result.json"))["run"]["id"])'; }

#--- as it should be --------------------------------------------------------------

profile --name first $words
expect_told "not None"
! grep "$about_store" "$work/err" || fail "there is a line about the store"
first=$(result_id)
grep -v '^destall: ' "$work/err" > told
cp result.json told.json
# The report is what was told, to the byte, and in the same words.
run "$destall" report
expect_status 0
expect_no_err
cmp -s told "$work/out" || fail "the report is another: $(diff told "$work/out" | head -n 4)"
run "$destall" report --as json "$first"
expect_status 0
cmp -s told.json "$work/out" || fail "the document is another: $(diff told.json "$work/out" | head -n 4)"
expect_runs "$first"
run "$destall" runs
expect_no_err
expect_out "^$first .* first"

#--- locked -----------------------------------------------------------------------

# By another program, from before the start until after the end.
mkfifo go
"$PYTHON" -c '
import sqlite3, sys
d = sqlite3.connect(sys.argv[1], isolation_level=None)
d.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
d.execute("BEGIN EXCLUSIVE")
d.execute("CREATE TABLE x (y)")
open("held", "w").close()
open("go").read()
' "$store" &
holder=$!
until [ -e held ]; do
	kill -0 $holder 2> /dev/null || fail "the other program has ended"
	sleep 0.01
done
profile $words
kill -0 $holder 2> /dev/null || fail "the store was not locked until the end"
: > go
wait $holder || fail "the other program"
expect_told None
expect_said "this run is not stored: the run store $store: another program has kept it locked for 3 s\$"
expect_runs "$first"

#--- a full disk ------------------------------------------------------------------

if is_root; then
	space="unshare -m --propagation private"
else
	space="unshare -rm --propagation private"
fi
# What is stored is copied to a small one, and the rest of that is filled.
cat > full.sh <<'SCRIPT'
cp "$DESTALL_STORE" copy || exit 99
mount -t tmpfs -o size=1M tmpfs store || exit 99
cp copy "$DESTALL_STORE" || exit 99
! cat /dev/zero > store/filler 2> /dev/null || exit 99
status=0
"$@" || status=$?
"$destall" runs --json > full.json || : > full.json
exit $status
SCRIPT
export destall
if $space mount -t tmpfs -o size=1M tmpfs "$PWD/store" 2> /dev/null; then
	rm -f result.json
	run $space sh full.sh "$destall" profile --json "$PWD/result.json" $words
	[ "$status" -ne 99 ] || fail "no full disk was made"
	expect_nothing_left
	expect_told None
	expect_said "this run is not stored: the run store $store: No space left on device"
	grep -q "\"$first\"" full.json || fail "the run before cannot be read on a full disk"
	expect_runs "$first"
else
	echo "no mounts here: nothing is known of full disks"
fi

#--- jobs that are killed ---------------------------------------------------------

# expect_ended STATUS: as the job did; a verdict, and its run is there with those
# before, or one line that nothing was measured, and they are.
expect_ended() {
	expect_status "$1"
	if [ -s result.json ]; then
		kept="$kept $(result_id)"
		expect_result "verdict['sentence'] in ' '.join(open('$work/err').read().split())"
	else
		[ "$(grep -c '^destall: profile: .*the job ended\|no data loader was seen' "$work/err")" -eq 1 ] ||
		    fail "neither a verdict nor one line why there is none"
	fi
	expect_runs $kept
}
kept=$first
profile -- sh -c 'kill -KILL $$'
expect_ended 137
# With whoever started it, while it is measured, or before.
profile --for 60s --confidence 0.01% --pass-epochs -- timeout -s KILL 2 \
    "$destall" emulate --batch 4 --set size=32 --data set --step-ms 5 --epochs 100000
expect_ended 137

#--- damaged ----------------------------------------------------------------------

# It is put aside, as it was, and the run is in a new one.
echo "this is no database, but it is long enough to be something else" > "$store"
cp "$store" was
profile $words
expect_told "not None"
expect_said "the run store $store was damaged: it is now $store.damaged-1, and a new one is begun\$"
cmp -s was "$store.damaged-1" || fail "the damaged store was changed"
kept=$(result_id)
expect_runs $kept
whole "$store"

#--- PyTorch's that are killed ----------------------------------------------------

# By themselves, at their 300th step; or a worker is.
need_torch
cat > dying.py <<'SCRIPT'
import multiprocessing, os, signal, sys
victim = sys.argv.pop(1)
sys.argv[0] = os.environ["JOB"]
exec(compile(open(sys.argv[0]).read().replace("        self.steps += 1\n", """
        self.steps += 1
        if self.steps == 300:
            os.kill(os.getpid() if victim == "itself" else multiprocessing.active_children()[0].pid,
                    signal.SIGKILL)
"""), sys.argv[0], "exec"))
SCRIPT
dying() {
	profile --for 60s --confidence 0.01% -- env JOB="$job" $torch_python dying.py "$1" --workers 2 \
	    --batches 40000
	rm -rf "$TMPDIR"/pymp-* "$TMPDIR"/tmp*		# as it would without us
}
dying itself
expect_ended 137
dying worker
expect_ended 1
expect_err '^[A-Za-z]*Error'
