# SPDX-License-Identifier: Apache-2.0
# l0701: jobs over the C interface of the stage, from threads and from worker
# processes: each unit once, every byte right, however they treat what they are
# given; and when a step of the stage fails in them.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/hub.sh"

stagejob=$(harness stagejob)

# share N OPTION...: so many jobs at once, and their ledgers.
share() {
	nr=$1
	shift
	pids=
	for i in $(seq "$nr"); do
		rm -f "l$i"
		"$stagejob" --ledger "l$i" --epochs 2 "$@" > "o$i" 2>&1 &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid" || fail "$*: status $?: $(cat o?)"
	done
	run "$destall" ledger check --complete $(seq -f 'l%g' "$nr")
	expect_status 0
	grep -q '"staged": [1-9]' o1 || fail "$*: nothing was shared: $(cat o1)"
}

start_hub --cache 64M
share 1 --units 200
share 3 --units 200
share 3 --units 100 --bytes 20000 --workers 2
share 3 --units 100 --bytes 20000 --keep
share 2 --units 100 --bytes 20000 --keep --write
share 3 --units 100 --bytes 20000 --write
share 2 --units 60 --bytes 20000 --fork 7
share 2 --units 60 --peek 3
share 3 --units 100 --order listed
share 2 --units 100 --at 40
stop_hub

# One unit fits, and then another.
start_hub --cache 64M --stage 160K
share 3 --units 60 --bytes 30000 --keep
stop_hub

# Without a hub.
for i in 1 2; do rm -f "l$i"; done
run "$stagejob" --units 50 --ledger l1
expect_status 0
run "$destall" ledger check --complete l1
expect_status 0

configured WITH_CRASH_POINTS || exit 0
start_hub --cache 64M
for point in attached leased filled; do
	for nth in 1 3; do
		DS_DIE_AT=stage.$point:$nth:ENOSPC "$stagejob" --units 40 --epochs 4 --ledger l9 > o9 2>&1 ||
		    fail "stage.$point:$nth: $(cat o9)"
		run "$destall" ledger check --complete l9
		expect_status 0
		grep -q '"wrong": 0' o9 || fail "stage.$point: $(cat o9)"
	done
done
stop_hub
