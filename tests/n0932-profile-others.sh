# SPDX-License-Identifier: Apache-2.0
# What others do to a profile: another one at the same time, a command that is stopped,
# a session whose folder is removed, a job that cannot be started a second time, a job that closes all it finds open, a store that
# can only be read.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/emulate.sh"
. "$top_srcdir/tests/profiled.sh"
need_preload
need_python

gen --count 200 set
words="--for 3s --pass-epochs -- $destall emulate --batch 4 --set size=32 --data set --step-ms 5 --epochs 1000"

# Two at a time: each has a session and a run of its own.
"$destall" profile --json one.json $words > /dev/null 2> one.err &
one=$!
"$destall" profile --json two.json $words > /dev/null 2> two.err &
two=$!
wait $one || fail "the first: exit status $?: $(cat one.err)"
wait $two || fail "the second: exit status $?: $(cat two.err)"
expect_nothing_left
for which in one two; do
	[ -s $which.json ] || fail "no result of $which: $(cat $which.err)"
	cp $which.json result.json
	expect_result 'rate["ingest"] > 0 and rate["actual"] > 0 and doc["run"]["id"]'
done
[ "$("$destall" runs --json | grep -c '"id"')" -eq 2 ] || fail "not two runs are stored"

# start: a profile in the background, up to its first block.
start() {
	rm -f result.json
	"$destall" profile --json result.json $words > "$work/out" 2> "$work/err" &
	pid=$!
	until session=$(find "$XDG_RUNTIME_DIR" -name '*.journal' -size +4k) && [ -n "$session" ]; do
		kill -0 $pid 2> /dev/null || fail "the profile has ended: $(cat "$work/err")"
		sleep 0.02
	done
	session=$(dirname "$session")
}
finish_profile() {
	status=0
	wait $pid || status=$?
	check_leftovers || fail "processes are left"
}

# The command is stopped for longer than a block: the job waits, and goes on with it.
start
kill -STOP $pid
wait_stopped $pid
sleep 2
kill -CONT $pid
finish_profile
expect_status 0
expect_result 'rate["ingest"] > 0 and rate["actual"] > 0'
expect_nothing_left

# Its folder is removed: it ends, and says so.
start
rm -rf "$session"
finish_profile
[ -s "$work/err" ] || fail "nothing is told"
expect_nothing_left

# Its command is gone when it is to be started again, for epochs are short: what was
# measured before is told.
cat > once <<'SCRIPT'
#!/bin/sh
rm "$0"
exec "$@"
SCRIPT
chmod +x once
profile --for 3s -- ./once env HF_TOKEN=of-mine $destall emulate --batch 2 --set size=32 --data set \
    --step-ms 5
expect_status 0
expect_result 'doc["starts"] == 1 and rate["ingest"] > 0' \
    'any("could not be started again: No such file" in c for c in doc["confessions"])' \
    '"HF_TOKEN=***" in doc["run"]["command"]'
! grep -q of-mine result.json || fail "a secret was kept"

# A store that is there and can only be read: what was measured is told all the same.
need unshare
if is_root; then
	space="unshare -m --propagation private"
else
	space="unshare -rm --propagation private"
fi
before=$("$destall" runs --json | grep -c '"id"')
cat > only.sh <<'SCRIPT'
mount --bind "$XDG_DATA_HOME" "$XDG_DATA_HOME" || exit 99
mount -o remount,bind,ro "$XDG_DATA_HOME" || exit 99
exec "$@"
SCRIPT
run $space sh only.sh "$destall" profile --json "$PWD/result.json" $words
[ "$status" -ne 99 ] || skip "no mounts here: $(head -n 1 "$work/err")"
expect_status 0
[ "$(grep -c '^destall: profile: this run is not stored: ' "$work/err")" -eq 1 ] ||
    fail "not one line about the store: $(cat "$work/err")"
expect_result 'verdict["sentence"] and doc["run"]["id"] is None'
run $space sh only.sh "$destall" runs --json
expect_status 0
[ "$(grep -c '"id"' "$work/out")" -eq "$before" ] || fail "runs are lost, or more"

# A job that closes whatever it finds open, while it is steered.
need_torch
cat > closing.py <<'SCRIPT'
import os, sys
sys.argv[0] = os.environ["JOB"]
exec(compile(open(sys.argv[0]).read().replace("        self.steps += 1\n", """
        self.steps += 1
        if self.steps == 60:
            os.closerange(3, 1024)
            self.own = open("own", "w")
"""), sys.argv[0], "exec"))
SCRIPT
profile --for 4s -- env JOB="$job" $torch_python closing.py --workers 0
expect_status 0
expect_result 'rate["ingest"] > 0'
[ ! -s own ] || fail "something of ours is in the job's own file"
