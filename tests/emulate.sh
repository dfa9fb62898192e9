# SPDX-License-Identifier: Apache-2.0
# emulate.sh: what the tests of `destall emulate` share, after lib.sh.

need_python() { [ -n "${PYTHON-}" ] || skip "configured without Python"; }

# Small pictures and samples: the tests are about the job, not the pixels.
gen() { "$destall" gen --size 48-72 --classes 3 "$@" > /dev/null || fail "gen $*"; }
emulate() { run "$destall" emulate --batch 8 --set size=32 "$@"; }

# value PATH...: of the JSON document in $work/out, each on a line.
value() {
	"$PYTHON" -c '
import json, sys
doc = json.load(open(sys.argv[1]))
for path in sys.argv[2:]:
    at = doc
    for key in path.split("."):
        at = at[int(key) if key.isdigit() else key]
    print(at)' "$work/out" "$@"
}

# expect_value PATH TEXT
expect_value() {
	got=$(value "$1") || fail "no $1"
	[ "$got" = "$2" ] || fail "$1 is $got, not $2"
}

# samples FILE: a ledger without its batches, by position: what each sample is.
samples() { awk '{ print $1, $3, $4, $5 }' "$1" | sort -k 1,1n -k 2,2n; }

# same_samples A B WHAT
same_samples() {
	samples "$1" > "$work/a"
	samples "$2" > "$work/b"
	cmp -s "$work/a" "$work/b" || fail "$3: other samples: $(diff "$work/a" "$work/b" | head -n 4)"
}

# check_ledger FILE...
check_ledger() {
	"$destall" ledger check --complete "$@" > "$work/checked" 2>&1 ||
	    fail "$(cat "$work/checked")"
}
