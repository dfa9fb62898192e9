# SPDX-License-Identifier: Apache-2.0
# m0911: what a profile tells of the machine, phase by phase: of the job's processes, of
# its workers, and of a stage at which others share.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/profiled.sh"
. "$top_srcdir/tests/stage.sh"
need_preload

# Of result.json: what was seen, seen[phase][source][name].
cat > seen.py <<'SCRIPT'
import json, sys
doc = json.load(open("result.json"))
seen = {}
for o in doc["observations"]:
    names = seen.setdefault(o["phase"], {}).setdefault(o["source"], {})
    assert o["name"] not in names and o["value"] >= 0, o
    names[o["name"]] = o["value"]

def total(source, name):
    return sum(p[source].get(name, 0) for p in seen.values() if source in p)

def clocks(phase):
    return [v for n, v in phase.get("pfm", {}).items()
            if n.startswith("worker.") and n.endswith(".task_clock")]

def counted():
    return all(total("pfm", "worker.%d.task_clock" % i) > 0 for i in (0, 1))

for text in sys.argv[1:]:
    if not eval(text):
        sys.exit("not so: %s: %s" % (text, seen))
SCRIPT
expect_seen() {
	[ -s result.json ] || fail "there is no result"
	"$PYTHON" seen.py "$@" 2> "$work/wrong" || unsettled "$(tail -n 1 "$work/wrong")"
}

# In each phase: its time, and of /proc the job's own.
expect_phases() {
	expect_seen '{"replay", "actual", "cached"} <= set(seen)' \
	    'all(p["phase"]["time"] > 0 for p in seen.values())' \
	    'all({"main.cpu_user", "main.cpu_system", "main.minor_faults"} <= set(p["proc"]) for p in seen.values())' \
	    'all(0 < p["proc"]["main.rss"] <= 1.001 * p["proc"]["main.rss.max"] for p in seen.values())' \
	    'all(p["proc"]["main.threads"] >= 1 for p in seen.values())' \
	    'total("proc", "main.cpu_user") > 0'
}

#--- a job with threads, while two others share -----------------------------------

# The hub is not in the folder of sessions, which a profile is to leave as it was.
mkdir -m 700 "$work/hub"
export DESTALL_HUB="$work/hub/s"
hub_log=$work/hub/hub.log
drill_set 320
start_hub
job_options="--epochs 100000 --seed 3 --step-ms 20"
start_job a
start_job b
await_stage 'len(doc["jobs"]) == 2 and sum(s["delivered"] for s in doc["streams"]) > 0'
profile --for 3s --pass-epochs -- "$destall" emulate --batch 4 --set size=32 --data set --step-ms 5 --epochs 1000
for name in a b; do kill -TERM "$(pid_of $name)"; done
end_job a 143
end_job b 143
expect_status 0
expect_phases
# Its threads are no workers.  What the stage has made meanwhile is not more than what
# the two have in all.
expect_seen 'not any(n.startswith("worker") for p in seen.values() for n in p["proc"])' \
    'total("hub", "stage_made") > 0 and total("hub", "stage_delivered") > 0' \
    "total('hub', 'stage_made') <= $(result units_published a b)" \
    'total("hub", "cache_hits") > 0'
expect_no_stream
stop_hub

#--- a job with workers -----------------------------------------------------------

need_torch
profile_job --workers 2 --prep 3
expect_status 0
expect_phases
expect_result 'len(doc["workers"]) == 2 and all(w["prep_ms_per_sample"] > 2 for w in doc["workers"])'
expect_seen 'all(seen[p]["proc"]["workers.threads"] >= 2 for p in ("replay", "actual", "cached"))' \
    'all(seen[p]["proc"]["workers.rss"] > 0 for p in ("replay", "actual", "cached"))' \
    'total("proc", "workers.cpu_user") + total("proc", "workers.cpu_system") > 0' \
    'not any("hub" in p for p in seen.values())'
# Counters are told of each worker, too, and these are what all of them are; there may
# be none.
expect_seen 'any("not observed: hardware counters: " in c for c in doc["confessions"]) or counted()' \
    'all(abs(p["pfm"]["workers.task_clock"] - sum(clocks(p))) < 1000 for p in seen.values() if clocks(p))'

#--- without blocks ----------------------------------------------------------------

# A run that is only watched is all one phase.
profile --live -- "$destall" emulate --batch 4 --set size=32 --data set --step-ms 5 --epochs 5
expect_status 0
expect_seen 'set(seen) == {"actual"} and seen["actual"]["phase"]["time"] > 0' \
    'seen["actual"]["proc"]["main.cpu_user"] > 0'
# One of which only steps are seen has a run for each; what is its own is not known.
cat > steps.sh <<'SCRIPT'
for i in 1 2 3 4 5 6 7 8 9; do
	cat set/class*/*01.jpg > /dev/null
	sleep 0.1
	echo "step $i"
	[ $i -lt 5 ] || [ ! -e second ] || exit 3
done
touch second
SCRIPT
profile --for 6s --step-marker stdout:step -- sh steps.sh
expect_status 0
expect_seen 'set(seen) == {"actual", "cached", "cold"}' \
    'all(p["phase"]["time"] > 0 for p in seen.values())' 'not any("proc" in p for p in seen.values())'
expect_result 'any("files in memory ended otherwise than the first, by status 3" in c for c in doc["confessions"])'
