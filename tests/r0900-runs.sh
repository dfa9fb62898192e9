# SPDX-License-Identifier: Apache-2.0
# r0900: destall runs: what is stored, for people and for scripts; where the store
# is, and that it is made for the user alone.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/reports.sh"

# None yet, and asking makes nothing.
run "$destall" runs
expect_status 0
expect_no_err
expect_out '^No runs are stored yet\.$'
run "$destall" runs --json
expect_status 0
expect_out '"runs": \[\]'
[ -z "$(ls -A store)" ] || fail "asking made a file"
expect_refused 2 'runs: -o goes with --json' "$destall" runs -o file
expect_refused 2 'runs: too many operands' "$destall" runs last

# Two.
make_profile > profile.json
first=$("$keeper" add profile.json)
sed 's/"name": "resnet"/"name": null/; s/"bottleneck": "prep"/"bottleneck": null/; s/"actual": 1234.5/"actual": null/; s/13:45:02/14:45:02/; s/train.py/tr\\u001b[31main.py/' profile.json > other.json
second=$("$keeper" add other.json)
run env TZ=UTC "$destall" runs
expect_status 0
expect_no_err
expect_out '^run +started +verdict +samples/s  job$'
expect_out "^$first  Nov 17 13:45  prep 62 % +1,235  resnet\$"
expect_out "^$second  Nov 17 14:45  - +-  python tr.x1b\[31main.py --epochs 90\$"
[ "$(wc -l < "$work/out")" -eq 3 ] || fail "not three lines"
case $first-$second in
20261117-134502-????-20261117-144502-????) ;;
*) fail "ids: $first $second" ;;
esac
run "$destall" runs --json -o runs.json
expect_status 0
expect_no_out
"$destall" runs --json | cmp - runs.json || fail "-o gives another document"
if [ -n "${PYTHON-}" ]; then
	"$PYTHON" -c '
import json, sys
d = json.load(open("runs.json"))
assert d["schema_version"] == 1
a, b = d["runs"]
assert (a["id"], b["id"]) == tuple(sys.argv[1:])
assert a["name"] == "resnet" and a["command"] == "python train.py --epochs 90"
assert a["started"] == "2026-11-17T13:45:02Z" and a["seconds"] == 61.25
assert (a["bottleneck"], a["share"], a["samples_per_s"]) == ("prep", 0.62, 1234.5)
assert a["sentence"].startswith("62 %")
assert b["name"] is None and b["bottleneck"] is None and b["samples_per_s"] is None
' "$first" "$second" || fail "$(cat runs.json)"
fi
if [ -c /dev/full ]; then
	status=0
	"$destall" runs > /dev/full 2> "$work/err" || status=$?
	expect_status 1
	expect_one_line 'cannot write to standard output'
fi

# Where it is: the variable, XDG_DATA_HOME, the home; folders are made.
unset DESTALL_STORE
"$keeper" full 1 > /dev/null
[ -f "$XDG_DATA_HOME/destall/runs.sqlite" ] || fail "not in XDG_DATA_HOME"
XDG_DATA_HOME=relative "$keeper" full 1 > /dev/null
[ -f "$HOME/.local/share/destall/runs.sqlite" ] || fail "not in the home"
[ ! -e relative ] || fail "a relative XDG_DATA_HOME was used"
[ "$(stat -c %a "$HOME/.local/share/destall/runs.sqlite" "$HOME/.local/share/destall" | tr '\n' ' ')" = "600 700 " ] ||
    fail "others may look into it"
DESTALL_STORE=here.sqlite "$keeper" full 1 > /dev/null
[ -f here.sqlite ] || fail "not in the current folder"
[ "$(DESTALL_STORE=here.sqlite count_runs)" -eq 1 ] || fail "not one run"
(
	unset XDG_DATA_HOME HOME
	expect_refused 1 'no place for the run store: neither DESTALL_STORE nor HOME is set' "$destall" runs
)
: > plain
expect_refused 1 "cannot make the run store's folder plain/x: Not a directory" \
    env DESTALL_STORE=plain/x/y/runs.sqlite "$keeper" full 1
