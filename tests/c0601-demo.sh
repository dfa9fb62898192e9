# SPDX-License-Identifier: Apache-2.0
# c0601: destall demo: what it measures, what it draws, and that it leaves
# nothing behind however it ends (lib.sh looks).
. "${top_srcdir:?run by make check}/tests/lib.sh"

demo() { "$destall" demo --count 120 "$@"; }

# The picture.
run demo
expect_status 0
expect_no_err
expect_out '^120 images, .* in all, read for 3'
[ "$(grep -c '^  destall, [14] process' "$work/out")" -eq 6 ] || fail "not six bars"
for epoch in 1 2 3; do expect_out "^epoch $epoch\$"; done
expect_out '^  destall, 1 process    #+ +120  100\.0 %$'
expect_out '^  LRU \*  +#+ +1[0-9]+ +[0-9.]+ %$'
expect_out '^  ideal \*  +#+ +78 +65\.0 %$'
! grep -q "$(printf '\033')" "$work/out" || fail "escapes where there is no terminal"
for width in 40 80 120; do
	run env COLUMNS=$width "$destall" demo --count 20
	expect_status 0
	long=$(awk -v w=$width 'length($0) > (w < 60 ? 60 : w)' "$work/out")
	[ -z "$long" ] || fail "wider than $width: $long"
done

# The figures, and the law; the same seed gives the same.
if [ -n "${PYTHON-}" ]; then
	for share in 10% 50% 100%; do
		run demo --seed 7 --cache $share --json
		expect_status 0
		cp "$work/out" "$work/first"
		"$PYTHON" - "$work/out" $share <<'END' || fail "the document: $share"
import json, sys
d = json.load(open(sys.argv[1]))
c = float(sys.argv[2][:-1]) / 100
assert d["schema_version"] == 1 and d["items"] == 120 and d["seed"] == 7
assert abs(d["cache_share"] - c) < 1e-9 and abs(d["cap_bytes"] - c * d["bytes"]) <= 1
assert d["ideal_storage_reads"] == [120] + 2 * [round((1 - c) * 120)], d
assert [r["processes"] for r in d["measured"]] == [1, 4]
for r in d["measured"]:
    missing = 120 - r["cached_items"]
    assert r["storage_reads"] == [120, missing, missing], r
    assert abs(missing - (1 - c) * 120) <= 6, r
    assert r["cached_bytes"] <= d["cap_bytes"]
lru, random = d["lru_storage_reads"], d["random_replacement_storage_reads"]
assert lru[0] == random[0] == 120
for e in 1, 2:
    assert (lru[e], random[e]) == (0, 0) if c == 1 else missing < random[e] <= lru[e] <= 120
END
		run demo --seed 7 --cache $share --json -o again.json
		expect_status 0
		expect_no_out
		"$PYTHON" - "$work/first" again.json <<'END' || fail "another time, other figures"
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
for d in a, b:
    del d["seconds"], d["measured"][1]   # which items four admit is theirs to race for
assert a == b, (a, b)
END
	done
fi

expect_refused 2 "demo: --cache: '8G' is a size" "$destall" demo --cache 8G
expect_refused 2 'demo: --count' "$destall" demo --count 1
expect_refused 2 'demo: -o goes with --json' "$destall" demo -o x
expect_refused 1 'demo: cannot make a folder in /nonexistent' env TMPDIR=/nonexistent "$destall" demo

configured WITH_CRASH_POINTS || exit 0

# An item that is not admitted though it should be: another has its place, or
# it is one read too many.
expect_refused 1 'demo: ([0-9]+) items of [0-9]+ bytes are cached where [0-9]+ of [0-9]+ fit ' \
    env DS_DIE_AT=cache.written:3:EIO "$destall" demo --count 40
expect_refused 1 'demo: 1 process, epoch 2: 1 items were read from storage where the law says 0$' \
    env DS_DIE_AT=cache.written:3:EIO "$destall" demo --count 40 --cache 100%
# A job that fails or dies.
run env DS_DIE_AT=cache.leased:3:EIO "$destall" demo --count 40
expect_status 1
expect_one_line '.*cannot be read'
run env DS_DIE_AT=cache.leased:3 "$destall" demo --count 40
expect_status 1
expect_one_line 'demo: a job died'
# A hub that cannot start, or dies.
run env DS_DIE_AT=hub.listening:1:EIO "$destall" demo --count 40
expect_status 1
expect_one_line 'demo: its hub did not start: hub: failed as told'

# stopped_child PID: the child of it that a crash point has stopped.
stopped_child() {
	for child in $(cat "/proc/$1/task/$1/children" 2> /dev/null); do
		! grep -q '^State:.T' "/proc/$child/status" 2> /dev/null || echo "$child"
	done
}

# A signal, while a job reads or while images are made: all is cleaned up.
DS_DIE_AT=cache.leased:5:stop "$destall" demo --count 40 > "$work/out" 2> "$work/err" &
demo=$!
until [ -n "$(stopped_child $demo)" ]; do
	kill -0 $demo 2> /dev/null || fail "the demo has ended, and no job was stopped"
	sleep 0.01
done
kill -TERM $demo
status=0
wait $demo || status=$?
expect_status 143
expect_no_out
expect_no_err
DS_DIE_AT=gen.written:10:stop "$destall" demo --count 40 > "$work/out" 2> "$work/err" &
demo=$!
wait_stopped $demo
kill -TERM $demo
kill -CONT $demo
status=0
wait $demo || status=$?
expect_status 143
expect_no_out
expect_no_err
