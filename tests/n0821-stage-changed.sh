# SPDX-License-Identifier: Apache-2.0
# n0821: a picture becomes another one of the same size, in the same file, with
# the time that it had, after one job has started and before the next does: the
# two have different samples, and share none, though all but one are the same.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/stage.sh"
need_crash_points

drill_set 64
gen --count 1 --seed 2 other
victim=$(find set -name '*.jpg' | sort | sed -n 33p)
cp "$(find other -name '*.jpg')" other.jpg
# What is behind the end of a picture is no part of it.
truncate -s 20000 other.jpg "$victim"
touch -r "$victim" when

plain_job
mv plain.ledger before.ledger
start_hub
take_baseline
run "$destall" cache warm set
expect_status 0

# It has the old picture in the cache, and most batches on the stage.
export DESTALL_LAG=wait
DS_DIE_AT=emulate.batch:3:stop start_job old
wait_stopped "$old_pid"
cat other.jpg > "$victim"
touch -r when "$victim"
[ "$(stat -c %y "$victim")" = "$(stat -c %y when)" ] || fail "another time"

start_job new
end_job new
kill -CONT "$old_pid"
end_job old
plain_job
! cmp -s before.ledger plain.ledger || fail "it is the same picture"
same_samples before.ledger old.ledger "the job that was there"
same_samples plain.ledger new.ledger "the job that came"
[ "$(result units_of_others old new)" -eq 0 ] || fail "they shared"
expect_stage_idle
stop_hub
event 2 "jobs with one sample that is not the other's"
