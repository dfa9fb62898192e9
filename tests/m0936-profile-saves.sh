# SPDX-License-Identifier: Apache-2.0
# A job that saves at the end of an epoch, when it is interrupted, in `finally` and at
# exit: none of its files is touched by a profile, nor by one that is interrupted.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/profiled.sh"
need_torch

interrupted() {
	rm -f reached result.json
	run $torch_python "$top_srcdir/tests/python/profile_group.py" reached SIGINT \
	    "$destall" profile --for 60s --json result.json -- "$@"
	expect_nothing_left
}

profile_job --saves --workers 2 --prep 10 --step 20
expect_status 0
expect_no_out
expect_nothing_saved "at its end"
expect_err '^destall: profile: .*for measuring only.*--live'

interrupted $torch_python "$job" --saves --workers 2 --prep 10 --step 20 --tell 150
expect_status 0
expect_no_out
expect_nothing_saved interrupted
expect_result 'verdict["sentence"]'
! grep -q Traceback "$work/err" || fail "the job was interrupted"

# In a step that does not look at signals for a while; by a script.
cat > train.sh <<'SCRIPT'
"$@"
touch saved.script
SCRIPT
interrupted sh train.sh $torch_python "$job" --saves --prep 1 --step 300 --tell 14
expect_status 0
expect_nothing_saved "interrupted, by a script"
