# SPDX-License-Identifier: Apache-2.0
# tests/soak/run on little tests of its own: seeds, counts, logs of failures.
. "${top_srcdir:?run by make check}/tests/lib.sh"

soak=$top_srcdir/tests/soak/run
mkdir -p fake/tests build
cd fake/tests
cat > x0001-good.sh <<'END'
echo "$DS_SEED" >> seeds
echo "EVENT 3 kills (of 7)"
echo "EVENT 2 stops"
END
cat > x0002-bad-at-12.sh <<'END'
echo "seed $DS_SEED"
[ "$DS_SEED" -ne 12 ]
END
cat > n0001-skips.sh <<'END'
echo "SKIPPED: no moon"
exit 77
END
echo exit 1 > b0001-not-chosen.sh
cd ../..

soak() {
	run env top_srcdir="$PWD/fake" top_builddir="$PWD/build" "$@" sh "$soak"
}

soak SOAK_ROUNDS=3 SOAK_SEED=10
expect_status 1
expect_out '^5 passed, 1 failed, 3 skipped$'
expect_out '^  9 kills$'
expect_out '^  6 stops$'
expect_out '^3 rounds in [0-9]* s, seed 10$'
expect_out '^skipped: n0001-skips: no moon$'
expect_out '^FAILED: x0002-bad-at-12: DS_SEED=12: '
[ "$(cat build/soak/x0002-bad-at-12.12.log)" = "seed 12" ] || fail "no log"
[ "$(ls build/soak)" = x0002-bad-at-12.12.log ] || fail "more than the log"
[ "$(tr '\n' ' ' < seeds)" = "11 12 13 " ] || fail "seeds $(cat seeds)"
[ "$(tail -n 1 "$work/out")" = "5 passed, 1 failed, 3 skipped" ] ||
    fail "the counts are not the last line"

# Chosen tests, no failure, a folder of its own.
soak SOAK_ROUNDS=2 SOAK_SEED=20 SOAK_TESTS='x*' SOAK_DIR="$PWD/logs"
expect_status 0
expect_out '^4 passed, 0 failed, 0 skipped$'

# The time is over at once, or no test is chosen: nothing ran, nothing is shown.
soak SOAK_SECONDS=0 SOAK_ROUNDS=1 SOAK_TESTS='z*'
expect_status 1
expect_out '^0 passed, 0 failed, 0 skipped$'
soak SOAK_SECONDS=5 SOAK_TESTS='x0001*'
expect_status 0
expect_out '^[1-9][0-9]* passed, 0 failed, 0 skipped$'

# A chance seed is printed too.
soak SOAK_ROUNDS=1 SOAK_TESTS='x0001*'
expect_out '^seed [0-9]+: 1 tests'
