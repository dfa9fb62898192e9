# SPDX-License-Identifier: Apache-2.0
# A profile that cannot keep what it wants to: no room for its session, none for its
# result: one clear line, and the rest is told.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/emulate.sh"
. "$top_srcdir/tests/profiled.sh"
need_preload
need_python

gen --count 200 set
emulated() {
	profile "$@" -- "$destall" emulate --batch 4 --set size=32 --data set --step-ms 5 --epochs 1000
}

#--- the store ----------------------------------------------------------------------

# A file stands where its folder should be.
mkdir "$XDG_DATA_HOME"
: > "$XDG_DATA_HOME/destall"
emulated --for 3s --pass-epochs
expect_status 0
[ "$(grep -c '^destall: profile: this run is not stored: ' "$work/err")" -eq 1 ] ||
    fail "not one line about the store"
expect_result 'verdict["sentence"] and doc["run"]["id"] is None'
rm "$XDG_DATA_HOME/destall"

#--- the session --------------------------------------------------------------------

# A folder that cannot be written to, for who is not root.
mkdir -m 500 none
if ! is_root; then
	expect_refused 125 'profile: .*Permission denied' \
	    env XDG_RUNTIME_DIR="$PWD/none" TMPDIR="$PWD/none" "$destall" profile -- touch started
	[ ! -e started ] || fail "the command was started"
fi

need unshare
if is_root; then
	space="unshare -m --propagation private"
else
	space="unshare -rm --propagation private"
fi
$space mount -t tmpfs -o size=1M tmpfs "$PWD/none" 2> "$work/err" ||
    skip "no mounts here: $(head -n 1 "$work/err")"
# small SIZE CMD...: a profile with so much room for its session; what is left: LEFT.
cat > small.sh <<'SCRIPT'
mount -t tmpfs -o size=$1 tmpfs none || exit 99
export XDG_RUNTIME_DIR=$PWD/none
shift
status=0
"$@" || status=$?
ls -A none > LEFT
exit $status
SCRIPT
small() { run $space sh small.sh "$@"; }

# None at all: the command is not started.
small 4k "$destall" profile -- touch started
expect_status 125
expect_one_line 'profile: .*No space left'
expect_no_out
[ ! -e started ] || fail "the command was started"
[ ! -s LEFT ] || fail "left: $(cat LEFT)"

# Enough for the schedule, and for hardly anything else: the job is not hurt, and
# nobody waits for what cannot be told.
small 76k "$destall" profile --for 3s --pass-epochs -- "$destall" emulate --batch 4 --set size=32 --data set \
    --step-ms 1 --epochs 1000
[ "$status" -eq 0 ] || fail "exit status $status"
[ -s "$work/err" ] || fail "nothing is told"
[ ! -s LEFT ] || fail "left: $(cat LEFT)"
need_torch
small 76k timeout 60 "$destall" profile --for 3s -- $torch_python "$job" --step 5
[ "$status" -eq 0 ] || fail "exit status $status"
expect_err '^destall: profile: .*cannot write there: '
[ ! -s LEFT ] || fail "left: $(cat LEFT)"
