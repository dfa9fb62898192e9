# SPDX-License-Identifier: Apache-2.0
# `destall profile` of jobs that run to their end: past epochs, on after it, and only
# watched: their status and output are theirs.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/profiled.sh"
need_torch

profile_job() { profile $profile_options -- $torch_python "$job" --saves --workers 1 "$@"; }
expect_saved() {
	for name in epoch finally atexit; do
		[ -e saved.$name ] || fail "no saved.$name"
	done
	rm -f saved.*
}

profile_options="--for 6s --pass-epochs"
profile_job --batches 40 --epochs 1000 --prep 10 --step 20
expect_status 0
expect_no_out
expect_stall prep 35 62
expect_result 'doc["starts"] == 1'
[ -e saved.epoch ] || fail "no epoch was passed"
[ ! -e saved.finally ] || fail "it was not ended"
rm -f saved.*

# It ends before all is measured.
profile_job --batches 40 --epochs 2 --prep 10 --step 20 --status 7
expect_status 7
expect_out '^trained 80 steps$'
expect_saved

profile_options="--for 5s --continue"
profile_job --batches 900 --prep 2 --step 4 --status 7
expect_status 7
expect_out '^trained 900 steps$'
expect_saved
expect_stall prep 35 62
[ "$(grep -c '^destall: profile: .*this epoch begins anew' "$work/err")" -eq 1 ] ||
    fail "it is not said what the model sees"

profile_options=--live
profile_job --batches 100 --epochs 2 --prep 5 --step 10 --status 7
expect_status 7
expect_out '^trained 200 steps$'
expect_saved
! grep -q '^destall: ' "$work/err" || fail "something is said of a run that is only watched"
expect_result 'not any(o["source"] == "pfm" for o in doc["observations"])'
expect_result 'doc["mode"] == "live"' '0.35 < share["compute"] < 0.6' 'training[0]["batches"] == 200' \
    '140 < rate["actual"] < 210'
