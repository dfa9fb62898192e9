# SPDX-License-Identifier: Apache-2.0
# reports.sh: what tests of the run store and of reports have in common; sourced
# after lib.sh.

mkdir store
store=$PWD/store/runs.sqlite
export DESTALL_STORE="$store"
keeper=$(harness keeper)

# keep NUMBER: one more run (tests/harness/fullresult.c); its id into $id.
keep() {
	id=$("$keeper" full "$1") || fail "keeper full $1"
}

# count_runs: how many are stored, as destall runs says.
count_runs() { "$destall" runs --json | grep -c '"id":' || :; }

# Python with SQLite, for what our own program would not do to a store.
need_sqlite() {
	[ -n "${PYTHON-}" ] && "$PYTHON" -c 'import sqlite3' 2> /dev/null ||
	    skip "no Python with sqlite3"
}

# whole FILE: SQLite finds no fault.
whole() {
	"$PYTHON" -c '
import sqlite3, sys
d = sqlite3.connect(sys.argv[1])
assert d.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
' "$1" || fail "$1 is not whole"
}

# A profile, all that is known in it.
make_profile() {
	cat << 'END'
{"schema_version": 1,
 "run": {"id": null, "name": "resnet", "command": "python train.py --epochs 90",
  "started": "2026-11-17T13:45:02Z"},
 "verdict": {"bottleneck": "prep",
  "sentence": "62 % of your epoch is prep stall: 3.1 cores are missing"},
 "rates_samples_per_s": {"ingest": 3980.5, "ingest_busy": 3710, "prep": 1240.25,
  "storage": null, "cache": 41000, "loader_cached": 1238, "loader_cold": 1190,
  "actual": 1234.5},
 "handover_ms_per_batch": 1.25,
 "shares": {"compute": 0.31, "prep": 0.62, "fetch": 0.05, "handover": 0.02},
 "cpu_ms_per_sample": 12.25,
 "intervals": {
  "rates_samples_per_s": {"ingest": [3950, 4010], "actual": [1220.5, 1250]},
  "shares": {"compute": [0.302, 0.318], "prep": [0.612, 0.63]},
  "cpu_ms_per_sample": [12, 12.5]},
 "workers": [{"fetch_ms_per_sample": 0.5, "prep_ms_per_sample": 3.25},
  {"fetch_ms_per_sample": 0.75, "prep_ms_per_sample": 3.75}],
 "fixes": [
  {"what": "8 workers instead of 4", "gain": 0.93, "command": "DataLoader(..., num_workers=8)"},
  {"what": "share with 3 other jobs", "gain": 0.4, "command": "DESTALL=1 python train.py"}],
 "confessions": ["storage: its speed could not be told, because no file could be put out of memory"],
 "mode": "steered", "seconds": 61.25, "startup_seconds": 4.5, "measured_seconds": 50, "starts": 2,
 "job": {"batch_size": 256, "workers": 2, "prefetch": 2, "ranks": 1, "samples_per_epoch": 1281167,
  "cores": 8, "bytes_per_sample": 110000, "resident_share": 0.25, "is_iterable": false},
 "alone": [{"workers": 1, "samples_per_s": 310, "interval": [300, 320], "cpu_ms_per_sample": 3.1},
  {"workers": 2, "samples_per_s": 620, "interval": [610, 630], "cpu_ms_per_sample": 3.1}],
 "loaders": [{"name": "train", "is_training": true, "batch_size": 256, "workers": 2, "batches": 400, "seconds": 50},
  {"name": "val", "is_training": false, "batch_size": 512, "workers": 4, "batches": 98, "seconds": 3.5}],
 "cuts": [{"what": "validation", "seconds": 3.5, "times": 1}, {"what": "checkpoints", "seconds": 1.25, "times": 3}],
 "observations": [{"phase": "replay", "source": "proc", "name": "rss", "unit": "bytes", "value": 1234567}]}
END
}
