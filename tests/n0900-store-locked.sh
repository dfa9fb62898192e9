# SPDX-License-Identifier: Apache-2.0
# n0900: another program keeps the run store locked: a line after the time that is
# waited, and all is well when it lets go.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/reports.sh"
need_sqlite

keep 1
mkfifo go
# hold SQL: another connection does this, and keeps it until `go` is read.
hold() {
	rm -f held
	"$PYTHON" -c '
import sqlite3, sys
d = sqlite3.connect(sys.argv[1], isolation_level=None)
for sql in sys.argv[2:]:
    d.execute(sql).fetchall()
open("held", "w").close()
open("go").read()
' "$store" "$@" &
	holder=$!
	until [ -e held ]; do
		kill -0 $holder || fail "the other program has ended"
		sleep 0.01
	done
}
let_go() {
	: > go
	wait $holder || fail "the other program"
}

# All of it: neither read nor written.
hold 'PRAGMA locking_mode = EXCLUSIVE' 'BEGIN EXCLUSIVE' 'CREATE TABLE x (y)'
locked="the run store $store: another program has kept it locked for 3 s\$"
expect_refused 1 "$locked" "$keeper" full 2
expect_refused 1 "$locked" "$destall" runs
let_go
keep 2
[ "$(count_runs)" -eq 2 ] || fail "not two runs"

# A writer: reading goes on.
hold 'BEGIN IMMEDIATE'
expect_refused 1 "$locked" "$keeper" full 3
[ "$(count_runs)" -eq 2 ] || fail "reading waits for a writer"
let_go

# A reader keeps nobody from writing.
hold 'BEGIN' 'SELECT * FROM runs'
keep 3
[ "$(count_runs)" -eq 3 ] || fail "not three runs"
let_go

# One that lets go in time is waited for.
hold 'BEGIN IMMEDIATE'
"$keeper" full 4 > id 2> "$work/err" &
adder=$!
: > go
wait $adder || fail "waiting for a writer"
wait $holder || fail "the other program"
[ "$(count_runs)" -eq 4 ] || fail "not four runs"
[ ! -e "$store.damaged-1" ] || fail "a lock is no damage"
