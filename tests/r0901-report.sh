# SPDX-License-Identifier: Apache-2.0
# r0901: destall report: a run by any of its names, as text and as JSON, and the
# condition by which CI fails.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/reports.sh"

escape=$(printf '\033')
make_profile > profile.json

expect_refused 1 'no runs are stored yet' "$destall" report
expect_refused 1 'no runs are stored yet' "$destall" report last
expect_refused 1 'cannot read none.json: No such file' "$destall" report none.json
expect_refused 1 'cannot read ./none: No such file' "$destall" report ./none
expect_refused 2 "report: .*html" "$destall" report --as html
expect_refused 2 'report: too many operands' "$destall" report a b

#--- text -----------------------------------------------------------------------

run "$destall" report profile.json
expect_status 0
expect_no_err
cat > expected << 'END'
62 % of your epoch is prep stall: 3.1 cores are missing

  [========================###############################################%%%--]
  of the time              95 % interval
  = compute        31.0 %  30.2 to 31.8
  # prep stall     62.0 %  61.2 to 63.0
  % fetch stall     5.0 %  5.0 to 5.0
  - hand-over       2.0 %  2.0 to 2.0

  speed    samples/s  95 % interval
  actual       1,235  1,221 to 1,250     the job as it is
  G            3,981  3,950 to 4,010     the same if data cost nothing
  G, busy      3,710  3,710 to 3,710     the same, with workers busy
  P            1,240  1,240 to 1,240     its loader alone, files in memory
  C           41,000  41,000 to 41,000   reading alone, files in memory
  cached       1,238  1,238 to 1,238     the job, files in memory
  cold         1,190  1,190 to 1,190     the job, files not in memory

  processor     12.2 ms per sample (12 to 12.5)
  hand-over     1.25 ms per batch (1.25 to 1.25)
  workers       2, per sample: fetch 0.625 ms (0.5 to 0.75), prep 3.5 ms (3.25
                to 3.75)
  loader alone  samples/s: 310 with 1 worker, 620 with 2
  other loaders val: batch of 512, 4 workers, 98 batches in 3.50 s
  left out      validation 3.50 s; checkpoints 1.25 s (3 times)
  run           steered, 1 min 01 s, 2 starts: resnet: python train.py --epochs
                90

What would help
  +93 %    8 workers instead of 4
           DataLoader(..., num_workers=8)
  +40 %    share with 3 other jobs
           DESTALL=1 python train.py

Not measured, or not for sure
  - storage: its speed could not be told, because no file could be put out of
    memory
END
diff expected "$work/out" || fail "the text"
"$destall" report profile.json -o text || fail "-o"
cmp -s expected text || fail "another text in a file"
COLUMNS=60 "$destall" report profile.json > narrow
awk 'length > 60 && !/ [a-z,]+ alone, |the (job|same)/ { exit 1 }' narrow || fail "wider than 60 columns"
run env FORCE_COLOR=1 "$destall" report profile.json
grep -q "$escape" "$work/out" || fail "no colour though it was forced"
sed "s/$escape\[[0-9]*m//g" "$work/out" | diff expected - || fail "another text in colour"

# Of a job that does not stall, and of one of which nothing is known, little.
cat > short.json << 'END'
{"schema_version": 1, "rates_samples_per_s": {"actual": 10, "ingest": 10},
 "verdict": {"bottleneck": "compute", "sentence": null},
 "shares": {"compute": 1, "prep": 0, "fetch": 0, "handover": 0}}
END
run "$destall" report short.json
expect_status 0
expect_out '^No data stall$'
! grep -q 'would help\|Not measured' "$work/out" || fail "too many words"
echo '{"schema_version": 1, "rates_samples_per_s": {}, "shares": {}}' > nothing.json
run "$destall" report nothing.json
expect_status 0
expect_out '^No verdict: too little could be measured$'
[ "$(wc -l < "$work/out")" -le 3 ] || fail "words about nothing"

# What strangers wrote does not reach the terminal as it is.
sed 's/resnet/\\u001b[2J\\u202e/; s/3 other jobs/\\u001b]0;x\\u0007/; s/DESTALL=1/\\u009b/; s/"val"/"\\r\\n"/; s/prep stall:/\\u001b[5m/; s/put out of/\\u001bc/; s/checkpoints/\\u0008/' profile.json > hostile.json
run "$destall" report hostile.json
expect_status 0
! LC_ALL=C grep -q "[$(printf '\001-\010\013-\037\177')]" "$work/out" || fail "control characters"
[ "$(grep -o 'x1b' "$work/out" | wc -l)" -eq 4 ] || fail "escapes were not made visible"

#--- from the store ---------------------------------------------------------------

id=$("$keeper" add profile.json)
for name in "$id" "${id%????}" last; do
	run "$destall" report "$name"
	expect_status 0
	head -8 expected > first
	head -8 "$work/out" | cmp -s - first || fail "another verdict by $name"
	expect_out "^  run           $id, steered, "
done
run "$destall" report
expect_status 0
expect_out "^  run           $id, "
"$keeper" add profile.json > /dev/null
expect_refused 1 "'2026' is the beginning of several runs: .*$id" "$destall" report 2026
expect_refused 1 "no run '1999': see 'destall runs'" "$destall" report 1999
expect_refused 1 "no run '': see" "$destall" report ''

#--- JSON -------------------------------------------------------------------------

"$destall" report --as json "$id" > stored.json || fail "--as json"
"$destall" report --as json "$id" -o file.json || fail "--as json -o"
cmp -s stored.json file.json || fail "-o gives another document"
"$destall" report --as json profile.json > passed.json
sed "s/\"id\": \"$id\"/\"id\": null/" stored.json | cmp - passed.json ||
    fail "the store and the document differ"
"$destall" report --as json ./stored.json | cmp - stored.json || fail "not the same again"
if [ -n "${PYTHON-}" ]; then
	"$PYTHON" -c '
import json
want, d = json.load(open("profile.json")), json.load(open("stored.json"))
assert list(d)[0] == "schema_version" and d["schema_version"] == 1
for key in want:
    if key in ("run", "intervals", "job"):
        continue
    assert d[key] == want[key], (key, d[key])
assert d["run"]["started"] == want["run"]["started"]
for key in "rates_samples_per_s", "shares":
    assert set(d["intervals"][key]) == set(d[key])
assert d["intervals"]["rates_samples_per_s"]["actual"] == [1220.5, 1250]
assert d["intervals"]["rates_samples_per_s"]["storage"] is None
assert d["intervals"]["cpu_ms_per_sample"] == [12, 12.5]
for key in want["job"]:
    assert d["job"][key] == want["job"][key], key
' || fail "$(cat stored.json)"
fi

#--- --fail-if --------------------------------------------------------------------

# gate STATUS CONDITION [REGEX]: after the whole report was printed.
gate() {
	run "$destall" report profile.json --fail-if "$2"
	expect_status "$1"
	diff expected "$work/out" || fail "--fail-if changes the report"
	if [ "$1" -eq 0 ]; then
		expect_no_err
	else
		expect_one_line "$3"
	fi
}
gate 3 'prep_stall>10%' '--fail-if: prep_stall is 62 %, which is > 10 %$'
gate 0 'prep_stall>62%'
gate 3 'prep_stall >= 62%' '--fail-if: prep_stall is 62 %'
gate 0 'speed<1000'
gate 3 'speed<=1234.5' '--fail-if: speed is 1234.5 samples/s'
run "$destall" report short.json --fail-if 'speed<100' --as json
expect_status 3
run "$destall" report nothing.json --fail-if 'fetch_stall>10%'
expect_status 1
expect_one_line '--fail-if fetch_stall>10%: fetch_stall is not known of this run'
expect_refused 2 "report: .*'stall' is not known" "$destall" report profile.json --fail-if 'stall>10%'
expect_refused 2 'report: .*no percentage' "$destall" report profile.json --fail-if 'compute>10'
expect_refused 2 'report: .*has no < or >' "$destall" report profile.json --fail-if compute

# What cannot be written is a failure.
expect_refused 1 'cannot write none/x: No such file' "$destall" report profile.json -o none/x
expect_refused 1 'cannot write none/x: No such file' "$destall" report profile.json --as json -o none/x
