# SPDX-License-Identifier: Apache-2.0
# doctor: the JSON document, -o FILE, and its command line.
. "${top_srcdir:?run by make check}/tests/lib.sh"
python=${PYTHON-}
[ -n "$python" ] || skip "built without Python"

cat > check.py <<'END'
import json, sys
doc = json.load(open(sys.argv[1]))
assert list(doc) == ["schema_version", "checks"], list(doc)
assert doc["schema_version"] == 1
for c in doc["checks"]:
    assert set(c) == {"group", "name", "state", "detail", "meaning", "remedy"}, c
    assert all(isinstance(v, str) for v in c.values()), c
    assert c["state"] in ("ok", "limited", "missing"), c
    assert c["name"] and c["detail"] and c["group"], c
    if c["state"] == "ok":
        assert c["meaning"] == "" and c["remedy"] == "", c
    else:
        assert c["meaning"] and c["remedy"], c
have = [c["name"] for c in doc["checks"]]
for name in """kernel|memfd seals|memfd noexec|pidfd|pidfd of a peer|
populate write|user namespaces|detached tmpfs|page eviction|cgroup|
memory limit|memory available|swap|processors|descriptors|/dev/shm|
runtime directory|hub|perf permission|software events|cycles, user code|
cycles, kernel|libpfm4|pressure (PSI)|CUDA driver|CUPTI|Python|PyTorch|
memory cgroup|disk throttling|FUSE|strace|destall|libraries|
part: libpfm4|part: CUDA|part: CUPTI|part: Redis|part: HTTP, S3|part: PNG|
crash points""".replace("\n", "").split("|"):
    assert name in have, "no row " + name
    assert name == "Python" or have.count(name) == 1, "twice: " + name
END

run "$destall" doctor --json
expect_status 0
expect_no_err
$python check.py "$work/out" || fail "the document is not as promised"

run "$destall" doctor --json -o doc.json
expect_status 0
expect_no_out
expect_no_err
$python check.py doc.json || fail "the file is not as promised"
run "$destall" doctor --json --output=doc2.json
expect_status 0
[ -f doc2.json ] || fail "--output made no file"

# Wrong command lines, and a file that cannot be written.
expect_refused 2 "doctor: -o goes with --json" "$destall" doctor -o text
[ ! -e text ] || fail "a file was made nonetheless"
expect_refused 2 "doctor: too many operands" "$destall" doctor now
expect_refused 2 "doctor: unknown option --jsn: did you mean --json" "$destall" doctor --jsn
expect_refused 1 "cannot write no/such/dir" "$destall" doctor --json -o no/such/dir
if ! is_root; then
	mkdir closed
	chmod 500 closed
	expect_refused 1 "cannot write closed/doc" "$destall" doctor --json -o closed/doc
fi

# What the build says of itself is what configure found.
for part in PFM:libpfm4 CUDA:CUDA CUPTI:CUPTI REDIS:Redis CURL:HTTP PNG:PNG; do
	want="not found when built"
	! configured "WITH_${part%:*}" || want="found when built"
	"$destall" doctor > text
	grep -Eq "part: ${part#*:}.* $want" text || fail "part: ${part#*:} is not '$want'"
done
