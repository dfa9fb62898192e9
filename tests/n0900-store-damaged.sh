# SPDX-License-Identifier: Apache-2.0
# n0900: a run store that is no database, cut, changed, has another's log, is of a
# newer schema, a link: one clear line; nothing is lost, nothing dies of it.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/reports.sh"
need_sqlite

fresh() {
	rm -rf store
	mkdir store
}

#--- no database ------------------------------------------------------------------

# aside FILE: a run is stored nonetheless, and FILE, as it was, has another name.
aside() {
	cp "$store" was
	run "$keeper" full 1
	expect_status 0
	expect_one_line "the run store $store was damaged: it is now $store.damaged-$1, and a new one is begun\$"
	cmp -s was "$store.damaged-$1" || fail "the damaged store was changed"
	[ "$(count_runs)" -eq 1 ] || fail "the run is not in the new store"
}
echo "this is no database, but it is long enough to be something else" > "$store"
aside 1
head -c 5000 /dev/urandom > "$store"
aside 2
printf 'SQLite format 3\000' > "$store"
aside 3
head -c 4096 /dev/zero > "$store"
aside 4
[ ! -e "$store-wal" ] || fail "a log is left"

# Reading finds it, too.
echo nonsense > "$store"
run "$destall" runs
expect_status 0
expect_one_line 'the run store .* was damaged: it is now .*\.damaged-5'
expect_out 'No runs'
echo nonsense > "$store"
run "$destall" report
expect_status 1
[ "$(wc -l < "$work/err")" -eq 2 ] || fail "not two lines: $(cat "$work/err")"
expect_err 'was damaged: it is now .*\.damaged-6'
expect_err 'no runs are stored yet'
run "$destall" runs
expect_no_err

#--- cut and changed --------------------------------------------------------------

# survive WHAT: whatever is done, no signal, few lines; the bytes as they were are
# in the store or beside it, and what is in the store is whole.
survive() {
	cp "$store" was
	for command in runs "report last" "report 2026"; do
		run "$destall" $command
		fail_statuses="0 1" fail_lines=2 check_end "$1: destall $command"
	done
	run "$keeper" full 7
	fail_lines=2 check_end "$1: keeper full"
	if [ -e "$store.damaged-1" ]; then
		cmp -s was "$store.damaged-1" || fail "$1: the damaged store was changed"
		event=aside
	elif [ "$status" -ne 0 ]; then
		cmp -s was "$store" || fail "$1: what was refused was changed"
		event=refused
	else
		whole "$store"
		event=used
	fi
	echo $event >> events
}

fresh
for i in 1 2 3 4 5 6; do keep $i; done
cp "$store" good
size=$(stat -c %s good)
cuts=0
for part in 1 16 99 100 511 512 4095 4096 $((size / 2)) $((size - 4096)) $((size - 1)); do
	fresh
	head -c $part good > "$store"
	survive "cut to $part"
	[ -e "$store.damaged-1" ] || fail "cut to $part: not put aside"
	cuts=$((cuts + 1))
done
event $cuts "stores cut"
flips=$((40 * ${DS_KILLS:-1}))
: > events
i=0
while [ $i -lt $flips ]; do
	fresh
	"$PYTHON" -c '
import random, sys
seed, out = sys.argv[1], sys.argv[2]
r = random.Random(seed)
b = bytearray(open("good", "rb").read())
# Every other time in the head of the file or of a page, where it hurts.
for _ in range(r.choice((1, 1, 8))):
    at = r.randrange(len(b)) if r.random() < .5 else r.randrange(0, len(b), 4096) + r.randrange(110)
    b[at] ^= r.randrange(1, 256)
open(out, "wb").write(b)
' "$DS_SEED.$i" "$store"
	survive "changed $DS_SEED.$i"
	i=$((i + 1))
done
grep -q aside events || fail "no change was seen"
event $flips "stores changed ($(sort events | uniq -c | tr '\n' ' '))"

#--- logs -------------------------------------------------------------------------

# Our own, left by one that was killed: its run is there.
if configured WITH_CRASH_POINTS; then
	fresh
	keep 1
	run env DS_DIE_AT=runstore.committed "$keeper" full 2
	expect_status 137
	[ -s "$store-wal" ] || fail "no log was left"
	cp "$store-wal" log
	run "$destall" runs
	expect_no_err
	[ "$(count_runs)" -eq 2 ] || fail "the run in the log is lost"
	# Changed where it begins: as if it were not there.
	cp good "$store"
	(echo nonsense; cat log) > "$store-wal"
	run "$destall" runs
	expect_status 0
	expect_no_err
	[ "$(count_runs)" -eq 6 ] || fail "runs are lost for a log of nonsense"
fi

# Another program's: what is without it is whole, and stays.
"$PYTHON" -c '
import os, sqlite3
d = sqlite3.connect("foreign")
d.execute("PRAGMA page_size = 4096")
d.execute("PRAGMA journal_mode = WAL")
d.execute("CREATE TABLE other (x)")
for i in range(500):
    d.execute("INSERT INTO other VALUES (?)", ("x" * 100,))
d.commit()
os._exit(0)
'
[ -s foreign-wal ] || fail "no foreign log was made"
for command in "$destall runs" "$keeper full 7"; do
	fresh
	cp good "$store"
	cp foreign-wal "$store-wal"
	run $command
	expect_status 0
	expect_one_line "the log of the run store $store did not fit it: it is now $store.damaged-1-wal\$"
	cmp -s foreign-wal "$store.damaged-1-wal" || fail "the foreign log was changed"
	[ "$(count_runs)" -ge 6 ] || fail "runs are lost for a foreign log"
	whole "$store"
done

#--- what is refused --------------------------------------------------------------

# refused REGEX: by all who ask, and nothing is touched.
refused() {
	cp -a store before
	for command in "$destall runs" "$destall report" "$keeper full 1"; do
		expect_refused 1 "$1" $command
	done
	diff -r before store > /dev/null && [ "$(ls store)" = "$(ls before)" ] ||
	    fail "touched: $1: $(ls store)"
	rm -rf before
}
fresh
cp good "$store"
"$PYTHON" -c '
import sqlite3, sys
d = sqlite3.connect(sys.argv[1])
d.execute("PRAGMA user_version = 99")
' "$store"
refused "the run store $store is of a newer destall \(schema 99, this one knows 1\): "
fresh
cp foreign "$store"
"$PYTHON" -c '
import sqlite3, sys
sqlite3.connect(sys.argv[1]).execute("CREATE TABLE x (y)")
' "$store"
refused "the run store $store is a file of another program: set DESTALL_STORE"
fresh
cp good store/elsewhere
ln -s elsewhere "$store"
refused "the run store $store is a symbolic link: set DESTALL_STORE"
fresh
mkdir "$store"
refused "the run store $store is not a file: set DESTALL_STORE"
fresh
mkfifo "$store"
expect_refused 1 "the run store $store is not a file" "$destall" runs

# In a folder that may not be changed the runs can be read, and a damaged store is
# said to be that.
if ! is_root; then
	fresh
	cp good "$store"
	chmod 400 "$store"
	chmod 500 store
	[ "$(count_runs)" -eq 6 ] || fail "a read-only store cannot be read"
	expect_refused 1 "the run store $store: " "$keeper" full 1
	chmod 700 store
	chmod 600 "$store"
	echo nonsense > "$store"
	chmod 500 store
	expect_refused 1 "the run store $store is damaged, and cannot be renamed: Permission denied" "$destall" runs
	chmod 0 store
	expect_refused 1 "the run store $store: Permission denied" "$destall" runs
	chmod 700 store
fi
