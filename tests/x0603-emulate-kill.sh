# SPDX-License-Identifier: Apache-2.0
# destall emulate is killed at each of its points: the position that it saved is
# whole, and what goes on from there delivers the rest, with one ledger of both.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/emulate.sh"
need_crash_points

gen --count 30 set
job="--data set --epochs 3 --seed 3"
emulate $job --ledger whole.ledger --save whole.position
expect_status 0
check_ledger whole.ledger

points=$(crash_points emulate.)
[ -n "$points" ] || fail "no points"
kills=0
for point in $points; do
	for nth in 1 2 4; do
		rm -f job.ledger job.position
		DS_DIE_AT=$point:$nth emulate $job --ledger job.ledger --save job.position
		expect_status 137
		from="--resume job.position"
		# Killed before the first was saved, it begins anew.
		[ -e job.position ] || from=
		[ -n "$from" ] || rm -f job.ledger
		emulate $job --ledger job.ledger --save job.position $from
		expect_status 0
		cmp whole.ledger job.ledger || fail "killed at $point, $nth: another ledger"
		cmp whole.position job.position || fail "killed at $point, $nth: another end"
		kills=$((kills + 1))
	done
done
event $kills "kills of an emulated job"
[ -z "$(find . -name '.destall-part*')" ] || fail "a part was left by a job that was not killed in it"

# A step that fails is a failure of the job, and is said.
for point in $points; do
	rm -f job.position
	DS_DIE_AT=$point:2:ENOSPC emulate $job --save job.position
	expect_status 1
	expect_one_line '.*No space left on device$'
done
