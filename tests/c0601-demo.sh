# SPDX-License-Identifier: Apache-2.0
# c0601: destall demo: what it measures, what it draws, and that it leaves
# nothing behind however it ends (lib.sh looks).
. "${top_srcdir:?run by make check}/tests/lib.sh"

# The cache alone: profiles and jobs have their own parts below.
alone='--for 0s --jobs 0'
demo() { "$destall" demo $alone --count 120 "$@"; }

expect_refused 2 "demo: --cache: '8G' is a size" "$destall" demo --cache 8G
expect_refused 2 'demo: --count' "$destall" demo --count 1
expect_refused 2 'demo: --jobs' "$destall" demo --jobs 17
expect_refused 2 'demo: --for: less than a second' "$destall" demo --for 500ms
expect_refused 2 'demo: -o goes with --json' "$destall" demo -o x
expect_refused 1 'demo: cannot make a folder in /nonexistent' env TMPDIR=/nonexistent "$destall" demo

# An instrumented object cannot be loaded into cat.
need_preload

# The picture.
run demo --cache 35%
expect_status 0
expect_no_err
expect_out '^1\. The cache next to the page cache$'
expect_out '^120 images, .* in all, read by cat for 3 epochs'
[ "$(grep -cE '^  (page cache|no cache|without destall|destall run)  .*[0-9]/s$' "$work/out")" -eq 6 ] ||
    fail "not six rows with a speed"
for epoch in 1 2 3; do expect_out "^epoch $epoch\$"; done
# Beside the images, what finds them is read: how much, memory decides.
expect_out '^  destall run +#+ +[0-9.]+ MiB 1[0-4][0-9]\.[0-9] % +[0-9,]+/s$'
expect_out '^  LRU \*  +#+ +[0-9.]+ MiB +[0-9.]+ %$'
expect_out '^  MinIO \*  +#+ +[0-9.]+ MiB +6[0-9]\.[0-9] %$'
expect_out "^After the first epoch the (same )?reader, behind 'destall run', "
! grep -q "$(printf '\033')" "$work/out" || fail "escapes where there is no terminal"
for width in 40 80 120; do
	run env COLUMNS=$width "$destall" demo $alone --cache 35% --count 20
	expect_status 0
	long=$(awk -v w=$width 'length($0) > (w < 60 ? 60 : w) && !/\/sys\//' "$work/out")
	[ -z "$long" ] || fail "wider than $width: $long"
done

# On a disk of this machine what is read from it is counted.
counted=maybe
case $(stat -f -c %T "$TMPDIR") in ext2/ext3 | xfs) counted=yes ;; esac

# The figures, and the law; the same seed gives the same.
if [ -n "${PYTHON-}" ]; then
	for share in 10% 50% 100%; do
		run demo --seed 7 --cache $share --json
		expect_status 0
		cp "$work/out" "$work/first"
		"$PYTHON" - "$work/out" $share $counted <<'END' || fail "the document: $share"
import json, sys
d = json.load(open(sys.argv[1]))
c = float(sys.argv[2][:-1]) / 100
assert d["schema_version"] == 1 and d["items"] == 120 and d["seed"] == 7
assert abs(d["cache_share"] - c) < 1e-9 and abs(d["cap_bytes"] - c * d["bytes"]) <= 1
assert d["storage_is_counted"] or sys.argv[3] == "maybe"
plain, ours = d["measured"]
limit = d["memory_limit_bytes"]
assert plain["cache"] == ("none" if limit is None else "page_cache"), plain
assert limit is None or limit > c * d["bytes"]
assert ours["cache"] == "destall"
missing = 120 - ours["cached_items"]
assert ours["storage_reads"] == [120, missing, missing], ours
assert abs(missing - (1 - c) * 120) <= 6 and ours["cached_bytes"] <= d["cap_bytes"]
lru, random, minio = d["computed"]
assert [x["cache"] for x in d["computed"]] == ["lru", "random_replacement", "minio"]
assert minio["storage_reads"] == ours["storage_reads"]
for x in d["computed"]:
    assert x["storage_reads"][0] == 120 and x["storage_bytes"][0] == minio["storage_bytes"][0]
whole = minio["storage_bytes"][0]
assert d["bytes"] <= whole < d["bytes"] + 120 * 4096
for e in 1, 2:
    if c == 1:
        assert all(x["storage_reads"][e] == x["storage_bytes"][e] == 0 for x in d["computed"])
    else:
        assert missing < random["storage_reads"][e] <= lru["storage_reads"][e] <= 120
for r in d["measured"]:
    assert len(r["seconds"]) == 3 and min(r["seconds"]) > 0
    # Beside the images, what finds them is read.
    if d["storage_is_counted"]:
        assert all(0 <= b <= 1.5 * whole for b in r["storage_bytes"]), r
if d["storage_is_counted"] and limit is None:
    assert min(plain["storage_bytes"]) >= d["bytes"], plain
    for e in range(3):
        assert ours["storage_bytes"][e] >= minio["storage_bytes"][e], (ours, minio)
END
		run demo --seed 7 --cache $share --json -o again.json
		expect_status 0
		expect_no_out
		"$PYTHON" - "$work/first" again.json <<'END' || fail "another time, other figures"
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
for d in a, b:
    del d["seconds"]
    for r in d["measured"]:
        del r["seconds"], r["storage_bytes"]    # the kernel's, not ours
assert a == b, (a, b)
END
	done
fi

# What the user has set for jobs of his own.
run env DESTALL=0 DESTALL_DATA=/nonexistent DESTALL_CACHE=1K DESTALL_JOB=x "$destall" demo $alone --cache 35% --count 20
expect_status 0
expect_no_err

#--- the jobs -----------------------------------------------------------------

# Without Python: none can start so.
run env PYTHONHOME=/nonexistent "$destall" demo --for 0s
expect_status 0
expect_no_err
expect_out "^4 jobs \\('destall emulate', for no Python here has PyTorch"
[ "$(grep -cE '^  (plain|DESTALL=1)  .*[0-9] images/s, +[0-9.]+ ms of a core each$' "$work/out")" -eq 2 ] ||
    fail "not two rows with figures"
expect_out '^With DESTALL=1 (they are [0-9.]+ times as fast|no job had a sample of another)'
run env PYTHONHOME=/nonexistent COLUMNS=60 "$destall" demo --for 0s --jobs 2
expect_status 0
long=$(awk 'length($0) > 60 && !/\/sys\//' "$work/out")
[ -z "$long" ] || fail "wider than 60: $long"

# With what there is; a setting of the user's is none of the jobs'.
run env DESTALL=0 DESTALL_GROUP=x DESTALL_AUDIT=1 DESTALL_LEDGER="$work/ledger" \
    "$destall" demo --for 0s --jobs 2 --json
expect_status 0
expect_no_err
[ ! -e "$work/ledger" ] || fail "a ledger of the user's"
[ -z "${PYTHON-}" ] || "$PYTHON" - "$work/out" <<'END' || fail "the document: sharing"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["profiles"] == {"pictures": None, "arrays": None} and d["caching"] is None, d
assert d["measured"] is d["computed"] is d["items"] is None, d
s = d["sharing"]
assert s["jobs"] == 2 and s["kind"] in ("pytorch", "emulate") and s["failed"] is None, s
for run in s["plain"], s["shared"]:
    assert run["samples"] == 2 * 3 * 480 and run["seconds"] > 0 and run["cpu_seconds"] > 0, s
    assert abs(run["samples_per_s"] * run["seconds"] - run["samples"]) < 1e-3, s
assert s["plain"]["samples_of_others"] == 0 <= s["shared"]["samples_of_others"] < 2880, s
END

# A Python that has PyTorch, as it says, and then fails: all is told but that.
if configured WITH_PYTHON; then
	mkdir bad
	printf '#!/bin/sh\n[ "$1" = -c ] || { echo oh dear >&2; exit 3; }\n' > bad/python3
	chmod +x bad/python3
	run env PATH="$PWD/bad:$PATH" "$destall" demo --for 0s
	expect_status 0
	expect_out '^Jobs that share could not be measured: a job ended with status 3: oh dear\.$'
	run env PATH="$PWD/bad:$PATH" "$destall" demo --for 0s --json
	expect_status 0
	expect_out '"failed": "a job ended with status 3: oh dear"'
fi

#--- the profiles ---------------------------------------------------------------

# Without Python: the job is `destall emulate`, and there are no arrays.
run env PYTHONHOME=/nonexistent "$destall" demo --for 1s --jobs 0
expect_status 0
expect_no_err
expect_out '^1\. Where does the time go\? A job that prepares pictures$'
expect_out '^  \$ destall profile --for 1s --pass-epochs -- \\$'
expect_out '^        destall emulate .* --data pictures$'
expect_out '^2\. Where does the time go\? A job that reads arrays$'
expect_out '^It could not be profiled: no Python here has PyTorch and Pillow'
! grep -q /proc/self "$work/out" || fail "a command that nobody can type"
# A command is one line, to be copied, however long it is.
long=$(awk 'length($0) > 80 && !/^ +destall run /' "$work/out")
[ -z "$long" ] || fail "wider than 80: $long"

# With what there is.  The user's store, and what he has set for profiles of his
# own, are none of the demo's.
run env DESTALL_STORE="$work/store" DESTALL_PROFILE=/nonexistent DESTALL_LIVE=x \
    "$destall" demo --for 3s --jobs 0 --json
expect_status 0
expect_no_err
[ ! -e "$work/store" ] && [ ! -e "$XDG_DATA_HOME/destall" ] || fail "a store of the user's"
mv "$work/out" document.json			# too long to be shown with a failure
[ -z "${PYTHON-}" ] || "$PYTHON" - document.json <<'END' || fail "the document: profiles"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["sharing"] is None and d["measured"] is None, d
p = d["profiles"]

def check_profile(one, command):
    assert command in one["command"] and " --json " not in one["command"], one
    if one["failed"] is None:
        assert one["result"]["schema_version"] == 1 and one["result"]["mode"] == "steered", one
        assert one["result"]["rates_samples_per_s"] and one["result"]["shares"], one
    else:       # too slow a machine for so short a time
        assert one["failed"].startswith("a job ended with status 0: destall: profile: "), one

if "train.py" in p["pictures"]["command"]:
    check_profile(p["pictures"], "python3 train.py --step-ms 5 --times 4 pictures")
    check_profile(p["arrays"], "python3 train.py --step-ms 2 arrays")
    c = d["caching"]
    assert c["failed"] is None, c
    for run in c["plain"], c["cached"]:
        # Whole epochs, without the first.
        assert run["samples"] >= 256 and run["samples"] % 256 == 0 and run["seconds"] > 0, c
        assert abs(run["samples_per_s"] * run["seconds"] - run["samples"]) < 1e-3, c
else:
    check_profile(p["pictures"], "destall emulate ")
    assert p["arrays"]["result"] is None and "PyTorch" in p["arrays"]["failed"], p
    assert d["caching"] is None, d
END

# A job that fails: all is told but that.
if configured WITH_PYTHON; then
	run env PATH="$PWD/bad:$PATH" "$destall" demo --for 1s --jobs 0
	expect_status 0
	expect_no_err
	[ "$(grep -c '^It could not be profiled: a job ended with status 3' "$work/out")" -eq 2 ] ||
	    fail "not two profiles that failed"
	expect_out '^The job with its arrays in the cache could not be measured: a job ended with'
fi

#--- what goes wrong ----------------------------------------------------------

# with_cat TEXT: another cat, a script, is the reader's.
mkdir bin
with_cat() {
	printf '#!/bin/sh\n%s\n' "$1" > bin/cat
	chmod +x bin/cat
	expect_refused 1 "$2" env PATH="$PWD/bin:$PATH" "$destall" demo $alone --cache 35% --count 20
}
real=$(command -v cat)
# It loses the object, as a program that is linked statically does.
with_cat "unset LD_PRELOAD; exec $real \"\$@\"" 'demo: the cache was not asked for a single image'
# It delivers other bytes, fewer and more.
with_cat "$real \"\$@\" | tr '\\\\000' x" 'demo: without destall, epoch 1: not every image was delivered'
with_cat "shift; exec $real \"\$@\"" 'demo: without destall, epoch 1: not every image was delivered'
with_cat "$real \"\$@\"; echo" 'demo: without destall, epoch 1: not every image was delivered'
# It fails, or is not there.
with_cat 'exit 1' 'demo: the reader ended with status 123$'
rm bin/cat
ln -s "$(command -v sh)" "$(command -v xargs)" bin
run env PATH="$PWD/bin" "$destall" demo $alone --cache 35% --count 20
expect_status 1
expect_err '^destall: demo: sh, xargs or cat was not found$'

configured WITH_CRASH_POINTS || exit 0

# An image that is not admitted though it should be: another has its place, or
# it is one read too many.
expect_refused 1 'demo: [0-9]+ images of [0-9]+ bytes are cached where [0-9]+ of [0-9]+ fit ' \
    env DS_DIE_AT=bring.read:3:EIO "$destall" demo $alone --cache 35% --count 40
expect_refused 1 'demo: epoch 2: 1 images were read from storage where the law says 0$' \
    env DS_DIE_AT=bring.read:3:EIO "$destall" demo $alone --count 40 --cache 100%
# A reader that dies.
run env DS_DIE_AT=bring.leased:3 "$destall" demo $alone --cache 35% --count 40
expect_status 1
expect_no_out
expect_err '^destall: demo: the reader ended with status [0-9]+$'
# A hub that cannot start, or dies.
run env DS_DIE_AT=hub.listening:1:EIO "$destall" demo $alone --cache 35% --count 40
expect_status 1
expect_one_line 'demo: its hub did not start: hub: failed as told'

# stopped_below PID: a process that it started, at any remove, and that a crash
# point has stopped.
stopped_below() {
	for child in $(cat "/proc/$1/task/$1/children" 2> /dev/null); do
		if grep -q '^State:.T' "/proc/$child/status" 2> /dev/null; then
			echo "$child"
		else
			(stopped_below "$child")
		fi
	done
}

# expect_ended: by the signal, with nothing said, and no group left.
expect_ended() {
	status=0
	wait $demo || status=$?
	expect_status 143
	expect_no_out
	expect_no_err
	[ -z "$(find /sys/fs/cgroup -type d -name "destall-demo-$demo" 2> /dev/null)" ] ||
	    fail "its control group is left"
}

# A signal, while the reader reads or while images are made: all is cleaned up.
DS_DIE_AT=bring.leased:5:stop "$destall" demo $alone --cache 35% --count 40 > "$work/out" 2> "$work/err" &
demo=$!
until [ -n "$(stopped_below $demo)" ]; do
	kill -0 $demo 2> /dev/null || fail "the demo has ended, and no reader was stopped"
	sleep 0.01
done
kill -TERM $demo
expect_ended
DS_DIE_AT=gen.written:10:stop "$destall" demo $alone --cache 35% --count 40 > "$work/out" 2> "$work/err" &
demo=$!
wait_stopped $demo
kill -TERM $demo
kill -CONT $demo
expect_ended
# The jobs, too, and a profile with its job.
if configured WITH_PYTHON; then
	printf '#!/bin/sh\n[ "$1" = -c ] || { touch "%s/began"; exec sleep 1000; }\n' "$PWD" > bad/python3
	for profile in 0s 1s; do
		rm -f began
		PATH="$PWD/bad:$PATH" "$destall" demo --for $profile > "$work/out" 2> "$work/err" &
		demo=$!
		until [ -e began ]; do
			kill -0 $demo 2> /dev/null || fail "the demo has ended, and no job was started"
			sleep 0.01
		done
		kill -TERM $demo
		expect_ended
	done
fi
