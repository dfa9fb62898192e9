# SPDX-License-Identifier: Apache-2.0
# emulate.sh: what the tests of `destall emulate` share, after lib.sh.

need_python() { [ -n "${PYTHON-}" ] || skip "configured without Python"; }

# Small pictures and samples: the tests are about the job, not the pixels.
gen() { "$destall" gen --size 48-72 --classes 3 "$@" > /dev/null || fail "gen $*"; }
batch=8
emulate() { run "$destall" emulate --batch $batch --set size=32 "$@"; }

# expect_json EXPRESSION...: each holds of the JSON document in $work/out, doc.
expect_json() {
	"$PYTHON" -c '
import json, sys
doc = json.load(open(sys.argv[1]))
for text in sys.argv[2:]:
    if not eval(text):
        sys.exit("not so: " + text)' "$work/out" "$@" 2> "$work/wrong" || fail "$(tail -n 1 "$work/wrong")"
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
