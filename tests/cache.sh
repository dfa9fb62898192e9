# SPDX-License-Identifier: Apache-2.0
# cache.sh: what the tests of the cache share.  Sourced after lib.sh, which gives
# each test a runtime directory, and so a hub, of its own.  The programs are
# those of tests/harness/mkset.c and job.c.

. "$top_srcdir/tests/hub.sh"

mkset() { "$(harness mkset)" "$@"; }
job() { "$(harness job)" "$@"; }

# word FILE LINE NAME: the number after NAME in the first line that begins
# with LINE, of what job printed.
word() {
	awk -v line="$2" -v name="$3" '$1 == line {
		for (i = 1; i < NF; i++)
			if ($i == name) { print $(i + 1); exit }
	}' "$1"
}

# stat_of PATH...: numbers of `destall cache stat --json`: used_bytes,
# hub.pid, datasets.0.hits, each on a line.
stat_of() {
	"$destall" cache stat --json | "$PYTHON" -c '
import json, sys
doc = json.load(sys.stdin)
for path in sys.argv[1:]:
    at = doc
    for key in path.split("."):
        at = at[int(key) if key.isdigit() else key]
    print(at)' "$@"
}

need_python() { [ -n "${PYTHON-}" ] || skip "configured without Python"; }
