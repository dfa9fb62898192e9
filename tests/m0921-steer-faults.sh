# SPDX-License-Identifier: Apache-2.0
# A profile that goes wrong: a schedule that is not sound is no profile; a job whose
# profiler is gone, or that cannot tell, leaves, and touches nothing.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/emulate.sh"
. "$top_srcdir/tests/profile.sh"

gen --count 200 set
emulate --data set --ledger plain.ledger
job() {
	rm -f job.ledger
	conduct "$1" "$destall" emulate --batch 8 --set size=32 --data set --ledger job.ledger
}
expect_plain() {
	expect_status 0
	expect_no_err
	expect_out '^epoch 0: 200 samples '
	cmp -s plain.ledger job.ledger || fail "$1: other samples"
}

#--- no profile -------------------------------------------------------------------

for word in magic layout short none; do
	job "$word"
	expect_plain "$word"
	grep -qx 'JOURNALS 0' "$work/records" || fail "$word: there is a journal"
done
for folder in /no/such "$PWD/set" "$PWD/plain.ledger" ''; do
	rm -f job.ledger
	DESTALL_PROFILE=$folder emulate --data set --ledger job.ledger
	expect_plain "DESTALL_PROFILE=$folder"
done
[ -z "$(find set -name '*.journal')" ] || fail "a journal in a folder without a schedule"

#--- it leaves --------------------------------------------------------------------

job "set:2 replay:2 die actual:3 end"
expect_status 0
expect_no_out
expect_left 3
job "set:2 leave"
expect_status 0
expect_left 2
job "set:2 99:1"
expect_left 4
expect_records 1 NOTE '/block 1: it makes no sense/'
job "set:2 badid"
expect_left 4
job "set:2 cut"
expect_status 0
expect_left 3
# Blocks that cannot be done, or are far too large.
for words in cached:2 cold:2 replay:2 busy:2 rawcold:2 alone:2; do
	job "$words end"
	expect_left 4
	expect_records 1 NOTE '/no set of samples/'
done
job "set:4000000000 actual:4000000000 end"
expect_left 1
expect_records 1 SET '$3 == 25'
job "set:1 alone:3:4000000000 end"
expect_left 0
# Nobody is there from the beginning.
job "early die"
expect_status 0
expect_left 3

# The profiler is killed: the job is gone soon, too.
rm -rf "$work/session"
"$(harness conduct)" "$work/session" "set:2" "$destall" emulate --batch 8 --set size=32 --data set > /dev/null 2>&1 &
pid=$!
until [ -n "$(find "$work/session" -name '*.journal' -size +1 2> /dev/null)" ]; do sleep 0.01; done
kill -KILL $pid
wait $pid || :
check_leftovers || fail "the job is still there"

# It waits for its profiler, and can be interrupted.
rm -rf "$work/session"
"$(harness conduct)" "$work/session" "set:2" "$destall" emulate --batch 8 --set size=32 --data set \
    > "$work/records" 2>&1 &
pid=$!
until [ -n "$(find "$work/session" -name '*.journal' -size +1 2> /dev/null)" ]; do sleep 0.01; done
job=$(find "$work/session" -name '*.journal' | sed 's|.*/||;s|\.journal$||')
kill -TERM "$job"
wait $pid || :
expect_records 0 LEFT

#--- nothing can be told ----------------------------------------------------------

# A disk that is full from the third record on; the job's own calls come before.
is_sanitized && exit 0
fail_call="write"
count_calls "$destall" emulate --batch 8 --set size=32 --data set
full() {
	conduct "$1" env LD_PRELOAD="$fail_shim" DS_FAIL="write:$((fail_total + 3))+:ENOSPC" DS_FAIL_EXE=destall \
	    "$destall" emulate --batch 8 --set size=32 --data set
	expect_status 0
	expect_no_err
	[ "$(wc -l < "$work/records")" -le 4 ] || fail "no write has failed"
}
full "set:2 replay:2 end"
expect_records 0 LEFT
expect_no_out
full live
expect_out '^epoch 0: 200 samples '
