# SPDX-License-Identifier: Apache-2.0
# The frame of the benchmarks: its own tests, and real benchmarks in their quick
# form.
. "${top_srcdir:?run by make check}/tests/lib.sh"
[ -n "${PYTHON-}" ] || skip "configured without Python"

export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$top_srcdir/tests/bench"
run "$PYTHON" -m unittest test_bench
expect_status 0
expect_err '^Ran [1-9][0-9]* tests'

run "$PYTHON" "$top_srcdir/tests/bench/wire" --quick
expect_status 0
expect_out 'ns_per_round_trip .*median'
expect_out '^  wire .*\[[0-9.]*, [0-9.]*\]'

# A program that is not built is named, in one line.
top_builddir=$work run "$PYTHON" "$top_srcdir/tests/bench/wire" --quick
expect_status 1
expect_err 'No such file or directory: .*make bench-programs'
[ "$(wc -l < "$work/err")" -eq 1 ] || fail "more than one line"

# The preload object's.  Where one cannot be run it says so, and exits 77.
! is_sanitized || exit 0
run "$PYTHON" "$top_srcdir/tests/bench/preload" --quick --rounds 1 --warmup 0
expect_status 0
expect_out '^  us_hit .*median'
expect_out '^  a hit, times a page-cached file: [0-9]'

# The stage's, as small as it can be.
run "$PYTHON" "$top_srcdir/tests/bench/sharing" --quick --jobs 1,2 --touch none --count 64
expect_status 0
expect_out '^  fp32, --touch none, 2 jobs: [0-9.]* .* times as many'
expect_out '^  stage: at most [0-9]+ MiB of a budget of '

run "$PYTHON" "$top_srcdir/tests/bench/minio" --quick
case $status in
77) expect_err '^minio: skipped: .' ;;
*)
	expect_status 0
	expect_out '^    bytes: .* of the items not admitted'
	expect_out '^    page cache by destall: bytes .*, time '
	;;
esac
