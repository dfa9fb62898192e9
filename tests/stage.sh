# SPDX-License-Identifier: Apache-2.0
# stage.sh: what the drills of the stage share, after lib.sh: jobs of `destall
# emulate` at one hub, each with its ledger, and what must hold when they are
# over.  A test sets $job_set and $job_options before its jobs start:
#
#     drill_set 160                  # pictures, in $job_set
#     plain_job                      # plain.ledger, of a job that knows no hub
#     start_hub; take_baseline
#     start_job a --step-ms 3
#     start_job b
#     end_job a; end_job b
#     check_jobs a b                 # 0 lost, 0 doubled, 0 different bytes
#     expect_baseline $job_set; stop_hub

. "$top_srcdir/tests/cache.sh"
. "$top_srcdir/tests/emulate.sh"
need_python

job_set='set'
job_options="--epochs 2 --seed 3"
hang_s=100		# no job of a drill takes longer, unless it hangs

drill_set() {
	drill_count=$1
	gen --count "$1" $job_set
}

# plain_job [OPTION...]: what every job is to be given, by one that is alone.
plain_job() {
	rm -f plain.ledger
	emulate --data $job_set $job_options --ledger plain.ledger "$@"
	expect_status 0
	check_ledger plain.ledger
}

# start_job NAME [OPTION...]: a job that shares; its process into $NAME_pid,
# what it delivers into NAME.ledger, its result into NAME.json.
start_job() {
	job_name=$1
	shift
	rm -f "$job_name".ledger "$job_name".json
	DESTALL=1 "$destall" emulate --data $job_set --batch $batch --set size=32 \
	    $job_options --ledger "$job_name.ledger" --json -o "$job_name.json" "$@" \
	    > "$job_name.out" 2>&1 &
	eval "${job_name}_pid=$!"
}

# taker NAME LINE...: a job by tests/harness/taker.c.
taker() {
	name=$1
	shift
	rm -f "$name.ledger"
	printf '%s\n' "open A $job_set share=yes seed=3 epochs=2 batch=$batch size=32 ledger=$name.ledger" \
	    "$@" > "$name.script"
	DESTALL=1 "$(harness taker)" < "$name.script" > "$name.out" 2>&1 &
	eval "${name}_pid=$!"
}

pid_of() { eval "echo \$${1}_pid"; }

is_ended() { [ ! -d "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status" 2> /dev/null; }

# await_end PID WHAT: not for ever.
await_end() {
	await_since=$(date +%s)
	until is_ended "$1"; do
		[ $(($(date +%s) - await_since)) -lt $hang_s ] || {
			kill -KILL "$1"
			fail "$2 hangs"
		}
		sleep 0.02
	done
}

# end_job NAME [STATUS]: its end, which is a good one unless another is named.
end_job() {
	job_pid=$(pid_of "$1")
	await_end "$job_pid" "job $1"
	job_status=0
	wait "$job_pid" 2> /dev/null || job_status=$?
	[ "$job_status" -eq "${2:-0}" ] || fail "job $1 ended with $job_status: $(cat "$1.out")"
}

# end_hurt NAME WHAT: its end, which was a kill ($job_status is 137) or came
# before it.
end_hurt() {
	job_pid=$(pid_of "$1")
	await_end "$job_pid" "job $1, to be killed $2"
	job_status=0
	wait "$job_pid" 2> /dev/null || job_status=$?
	case $job_status in
	137)	kills=$((${kills:-0} + 1))
		check_cut "$1" ;;
	0)	check_jobs "$1" ;;
	*)	fail "job $1, $2: exit status $job_status: $(cat "$1.out")" ;;
	esac
}

# kill_job NAME: SIGKILL, and its end.
kill_job() {
	kill -KILL "$(pid_of "$1")"
	end_job "$1" 137
	kills=$((${kills:-0} + 1))
}

# check_jobs NAME...: each was given what the plain job was, once.
check_jobs() {
	job_ledgers=
	for job_name; do
		job_ledgers="$job_ledgers $job_name.ledger"
		same_samples plain.ledger "$job_name.ledger" "job $job_name"
		! grep -qs '"units_different": [1-9]' "$job_name.json" ||
		    fail "job $job_name found other bytes than its own"
		checked_jobs=$((${checked_jobs:-0} + 1))
		checked_samples=$((${checked_samples:-0} + $(wc -l < "$job_name.ledger")))
	done
	check_ledger plain.ledger $job_ledgers
}

# check_cut NAME...: what a job was given that did not come to its end: nothing
# twice, nothing else than the plain job.
check_cut() {
	for job_name; do
		[ -s "$job_name.ledger" ] || continue
		"$destall" ledger check plain.ledger "$job_name.ledger" > "$work/checked" 2>&1 ||
		    fail "$(cat "$work/checked")"
		checked_samples=$((${checked_samples:-0} + $(wc -l < "$job_name.ledger")))
	done
}

# checked: what was looked at, for `make soak`.
checked() {
	event "${checked_jobs:-0}" "shared jobs that were given all, once, as a plain one"
	event "${checked_samples:-0}" "samples compared by their ledgers"
}

# result KEY NAME...: a number of their JSON documents, summed.
result() {
	result_key=$1 result_sum=0
	shift
	for job_name; do
		result_one=$(sed -n "s/^ *\"$result_key\": \([0-9]*\)[.0-9]*,*$/\1/p" "$job_name.json")
		result_sum=$((result_sum + result_one))
	done
	echo $result_sum
}

# stage_now EXPRESSION: of what the hub says of the stage now, doc.
stage_now() {
	"$destall" top --json --once > "$work/top.json" || fail "no table of the stage"
	"$PYTHON" -c '
import json, sys
doc = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$work/top.json" "$1"
}

# await_stage EXPRESSION: until it is true.
await_stage() {
	await_since=$(date +%s)
	until [ "$(stage_now "$1")" = True ]; do
		[ $(($(date +%s) - await_since)) -lt $hang_s ] ||
		    fail "never so: $1: $(cat "$work/top.json")"
		sleep 0.02
	done
}

# expect_stage_idle: nobody is at a stream, and the hub is as it was at first:
# a slot would be a descriptor more.
expect_stage_idle() {
	expect_baseline $job_set
	expect_no_stream
}

expect_no_stream() {
	run "$destall" top --json --once
	expect_out '^  "streams": \[\],$'
}

# warm_set: who is stopped while it brings something into the cache would hold up
# others for as long as the cache waits.
warm_set() {
	run "$destall" cache warm $job_set
	expect_status 0
}

# await_lines FILE N: until a ledger has as many.
await_lines() {
	until [ -e "$1" ] && [ "$(wc -l < "$1")" -ge "$2" ]; do sleep 0.01; done
}

# percentiles FILE: of numbers, one on a line: p50, p99, the largest, how many.
percentiles() {
	sort -n "$1" | awk '{ v[NR] = $1 }
	    END {
		if (NR == 0) { print "none"; exit }
		printf "p50 %d p99 %d max %d of %d\n", v[int((NR + 1) / 2)],
		    v[int((99 * NR + 99) / 100)], v[NR], NR
	    }'
}

# run_drill NAME=VALUE...: of tests/harness/drill.c, on $job_set; then all its
# ledgers are checked.  Recovery times are added to $work/recovery.
run_drill() {
	drill_nr=$((${drill_nr:-0} + 1))
	run bounded "$(harness drill)" $job_set "drill$drill_nr" batch=$batch size=32 "$@"
	expect_status 0
	cp "$work/out" "drill$drill_nr.txt"
	drill_ended=$(sed -n 's/^ended //p' "drill$drill_nr.txt")
	drill_killed=$(sed -n 's/^killed //p' "drill$drill_nr.txt")
	sed -n 's/^recovery \([0-9]*\) .*/\1/p' "drill$drill_nr.txt" >> "$work/recovery"
	sed -n 's/^batch //p' "drill$drill_nr.txt" >> "$work/batches"
	for f in $drill_ended; do mv "$f" "$f.ledger"; done
	for f in $drill_killed; do [ ! -e "$f" ] || mv "$f" "$f.ledger"; done
	[ -z "$drill_ended" ] || check_jobs $drill_ended
	check_cut $drill_killed
	kills=$((${kills:-0} + $(echo $drill_killed | wc -w)))
	rm -f drill$drill_nr.*
}

# watch_slots PID...: until these have ended: "MOST LOOKS", the most bytes that
# slots had at a time: those that the hub holds, where we may look, and those
# that are mapped.
watch_slots() {
	"$PYTHON" -c '
import os, sys, time
hub, pids = sys.argv[1], sys.argv[2:]

def held(pid):
    folder = "/proc/%s/fd/" % pid
    for name in os.listdir(folder) if os.access(folder, os.R_OK | os.X_OK) else []:
        try:
            if "memfd:destall slot" in os.readlink(folder + name):
                st = os.stat(folder + name)
                yield st.st_ino, st.st_size
        except OSError:
            pass

def mapped(pid):
    try:
        with open("/proc/%s/maps" % pid) as f:
            for line in f:
                if "memfd:destall slot" in line:
                    at, _, _, _, inode, _ = line.split(None, 5)
                    begin, end = (int(x, 16) for x in at.split("-"))
                    yield int(inode), end - begin
    except OSError:
        pass

def runs(pid):
    try:
        with open("/proc/%s/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False

most = looks = 0
while any(map(runs, pids)):
    sizes = {}
    for who in [held(hub), *map(mapped, pids)]:
        for inode, size in who:
            sizes[inode] = max(sizes.get(inode, 0), size)
    most, looks = max(most, sum(sizes.values())), looks + 1
    time.sleep(0.002)
print(most, looks)' "$hub" "$@"
}
