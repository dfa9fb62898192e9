# SPDX-License-Identifier: Apache-2.0
# c0501: destall cache stat: what it shows, for people and for scripts.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cachecmd.sh"

escape=$(printf '\033')
no_escapes() { ! grep -q "$escape" "$work/out" || fail "escape sequences: $1"; }

# It starts the hub, which does not keep the pipe open; nothing is there yet.
"$destall" cache stat | cat > "$work/out" || fail "stat | cat"
expect_out '^Cache: .* of .* used \(.* %\); hub [0-9]+, up .*, 0 processes$'
expect_out '^Nothing is cached\.'
check_json '
assert d["schema_version"] == 1
assert d["datasets"] == [] and d["jobs"] == []
assert d["budget_bytes"] > 0 and d["used_bytes"] == 0
h = d["hub"]
assert h["pid"] > 0 and len(h["generation"]) == 16
assert h["clients"] == 0 and h["connects"] >= 2
assert h["deaths"] >= 0 and h["refused"] == h["expelled"] == 0 and h["turns"] > 0 and h["up_seconds"] > 0
assert h["longest_turn_cpu_us"] > 0 and h["longest_turn_wall_us"] > 0
'

# Of which the hit rate, the reads and the users are known.
make_data data 40
run "$destall" cache warm data
expect_status 0
hold data
check_json '
import os
want = {"root": os.path.realpath("data"), "items": 40, "bytes": 40000,
    "cached_items": 40, "cached_bytes": 40000, "hits": 40, "misses": 40,
    "storage_reads": 40, "storage_bytes": 40000, "in_use": True,
    "cached_pages_bytes": 40 * 4096, "cap_bytes": None, "admission": "open",
    "failed_items": 0, "corrupt_items": 0, "leases": 0, "late_publishes": 0,
    "expired_leases": 0, "passed_containers": 0, "passed_large": 0,
    "passed_changed": 0}
assert {k: s[k] for k in want} == want, s
assert s["index_bytes"] > 40 * 64
assert 0 < s["fetch_p50_us"] <= s["fetch_p99_us"] <= s["fetch_max_us"]
assert 40 * 4096 + s["index_bytes"] <= d["used_bytes"] < d["budget_bytes"]
assert d["hub"]["clients"] == 1
gone, job = d["jobs"]
want = {"live": True, "pid": '"$holder"', "root": s["root"], "hits": 40, "misses": 0,
    "storage_reads": 0, "storage_bytes": 0, "failures": 0}
assert {k: job[k] for k in want} == want and "holder" in job["name"], job
want = {"live": False, "hits": 0, "misses": 40, "storage_reads": 40, "storage_bytes": 40000}
assert {k: gone[k] for k in want} == want and "destall" in gone["name"], gone
'
run "$destall" cache stat
expect_status 0
expect_no_err
no_escapes "not a terminal"
expect_out ', 1 process$'
expect_out "^ +40 +100\.0 % 39\.1 KiB +50\.0 % +40  in use  $PWD/data\$"
expect_out "^ +100\.0 % +0  runs +$holder \(holder\)\$"
expect_out '^ +0\.0 % +40  ended +1 process$'
! grep -q 'left to the kernel' "$work/out" || fail "nothing was left to it"
awk -v w=$((54 + ${#PWD} + 5)) 'length($0) > (w > 80 ? w : 80) { exit 1 }' "$work/out" ||
    fail "wider than it needs to be"
run env FORCE_COLOR=1 "$destall" cache stat
grep -q "$escape" "$work/out" || fail "no colour though it was forced"
run env FORCE_COLOR=1 NO_COLOR=1 "$destall" cache stat
no_escapes "NO_COLOR is set"

# One that ended is remembered, and the data set is idle.
let_go
attempt=0
until "$destall" cache stat | grep -Eq ' idle +/'; do
	attempt=$((attempt + 1))
	[ $attempt -lt 1000 ] || fail "in use for ever"
done
run "$destall" cache stat
expect_out '^ +50\.0 % +40  ended +2 processes$'
check_json '
assert not s["in_use"] and [j["live"] for j in d["jobs"]] == [False, False]
'

# Names of any bytes: fit for a terminal, and for JSON.
odd=$(printf 'odd\033[31m\377\n name')
make_data "$odd" 3
run "$destall" cache warm --cache 70% "$odd"
expect_status 0
run "$destall" cache stat
no_escapes "a name"
[ "$(wc -l < "$work/out")" -eq 7 ] || fail "a name has broken a line"
expect_out '^ +3 +66\.7 % .*/odd\\x1b\[31m\\xff\\x0a name$'
check_json '
o = d["datasets"][1]
assert o["root"].endswith("/odd\x1b[31m\\xff\n name"), o["root"]
assert (o["cached_items"], o["cap_bytes"], o["admission"]) == (2, 2100, "closed")
'

# Where the document goes, and where it cannot.
run "$destall" cache stat --json -o stat.json
expect_status 0
expect_no_out
grep -q '"datasets"' stat.json || fail "no document in the file"
expect_refused 1 'cannot write .*nowhere' "$destall" cache stat --json -o nowhere/stat.json
if [ -c /dev/full ]; then
	status=0
	"$destall" cache stat > /dev/full 2> "$work/err" || status=$?
	expect_status 1
	expect_one_line 'cannot write to standard output'
fi

expect_refused 2 'cache: stat \| warm DATA \| drop DATA is missing' "$destall" cache
expect_refused 2 "cache: unknown word 'stats': did you mean 'stat'\?" "$destall" cache stats
expect_refused 2 "cache: unknown word 'fill': stat, warm or drop" "$destall" cache fill
expect_refused 2 'cache stat: takes no data set' "$destall" cache stat data
expect_refused 2 'cache stat: -o goes with --json' "$destall" cache stat -o x
expect_refused 2 'cache stat: --cache and --threads are for warm' "$destall" cache stat --threads 2
expect_refused 2 'cache drop: --json and -o are for stat' "$destall" cache drop --json data
expect_refused 2 'cache: too many operands' "$destall" cache drop data data

# A place where no hub can be.
expect_refused 1 '.*DESTALL_HUB' env DESTALL_HUB=relative/h.sock "$destall" cache stat
stop_hub
