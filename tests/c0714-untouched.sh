# SPDX-License-Identifier: Apache-2.0
# c0714: what is not a whole file that is only read passes through untouched,
# and is counted where that is promised; and programs that no object can be
# preloaded into run as ever.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/compat.sh"
need_hub

touched=$(harness touched)
set=$work/set
mkset "$set" 8 20000 30000
rm -rf "$work/cwd/out"
mkdir out "$set/folder"
: > "$set/empty"
cp "$set/class000/000000.bin" out/file
ln "$set/class000/000000.bin" out/hard
ln -s "$set/class000/000001.bin" out/soft
ln -s "$work/cwd/out/file" "$set/leads-out"
mkfifo "$set/fifo"
age "$set" out
file=$set/class000/000000.bin

# through CMD...: with the data set in the cache.
through() { run bounded "$destall" run --data "$set" -- "$@"; }
fill() {
	through find "$set" -type f -exec cat {} +
	expect_status 0
}

# expect_touched WHAT HOW FILE: the same without destall, but for "another".
expect_touched() {
	run "$touched" "$2" "$3"
	expect_status 0
	[ "$1" = another ] || [ "$(cat "$work/out")" = "$1" ] ||
	    fail "$2 $3, without: $(cat "$work/out"), not $1"
	through "$touched" "$2" "$3"
	expect_status 0
	[ "$(cat "$work/out")" = "$1" ] || fail "$2 $3: $(cat "$work/out"), not $1"
}

fill
#--- how it is opened ---------------------------------------------------------

expect_touched another O_RDONLY "$file"
expect_touched another r "$file"
expect_touched another O_CLOEXEC,O_NONBLOCK "$file"
for how in O_WRONLY O_RDWR O_RDWR,O_APPEND O_RDWR,O_CREAT O_CREAT O_PATH r+ a a+ r+e; do
	expect_touched itself $how "$file"
done
cp "$file" before
expect_touched itself O_WRONLY,O_APPEND "$file"
cmp before "$file" || fail "it was written"
run "$touched" O_DIRECT "$file"
expect_touched "$(cat "$work/out")" O_DIRECT "$file"
expect_touched "errno 17" O_CREAT,O_EXCL "$file"
expect_touched "errno 2" O_RDONLY "$set/none"
expect_touched "errno 20" O_RDONLY "$file/below"
expect_touched "errno 20" O_DIRECTORY "$file"
run "$touched" O_TMPFILE,O_RDWR "$set/folder"
expect_touched "$(cat "$work/out")" O_TMPFILE,O_RDWR "$set/folder"
if ! is_root; then
	chmod 0 "$set/class000/000007.bin"
	expect_touched "errno 13" O_RDONLY "$set/class000/000007.bin"
	chmod 644 "$set/class000/000007.bin"
fi
# O_TRUNC empties it, with O_RDONLY too: the last, and it stays changed.
for how in O_TRUNC O_RDWR,O_TRUNC w w+; do
	cp -p "$file" spoiled
	mv spoiled "$set/class000/000005.bin"
	expect_touched itself $how "$set/class000/000005.bin"
	[ ! -s "$set/class000/000005.bin" ] || fail "$how: it was not emptied"
done
rm "$set/class000/000005.bin"

#--- what it is ---------------------------------------------------------------

for f in out/file out/hard out/soft "$set/leads-out" "$set/empty" "$set/folder" \
    "$set/class000" /dev/null /etc/passwd; do
	expect_touched itself O_RDONLY "$f"
done
expect_touched itself O_RDONLY,O_DIRECTORY "$set"
expect_touched itself O_RDONLY,O_NONBLOCK "$set/fifo"
echo "through a pipe" > "$set/fifo" &
through cat "$set/fifo"
wait $!
expect_out '^through a pipe$'
if is_root && mknod "$set/zero" c 1 5 2> /dev/null && head -c 1 "$set/zero" > /dev/null 2>&1; then
	expect_touched itself O_RDONLY "$set/zero"
	through head -c 5 "$set/zero"
	[ "$(wc -c < "$work/out")" -eq 5 ] || fail "a device"
else
	echo "NOT TRIED: no device can be made here"
fi
rm -f "$set/zero"
stop_hub

#--- containers, which are counted --------------------------------------------

boxes=$work/boxes
mkdir "$boxes"
printf '\211HDF\r\n\032\n' > "$boxes/a.h5"
printf 'SQLite format 3' > "$boxes/c.db"
printf '\0' >> "$boxes/c.db"
printf '0123456789abcdef\336\300\357\276' > "$boxes/data.mdb"
printf 'PAR1' > "$boxes/e.parquet"
printf 'ARROW1\0\0' > "$boxes/f.arrow"
for f in "$boxes"/*; do head -c 30000 "$file" >> "$f"; done
tar -cf "$boxes/shard-000.tar" -C "$set" class000
cp "$file" "$boxes/sample"
age "$boxes"
for round in 1 2; do
	run bounded "$destall" run --data "$boxes" -- sh -c 'cat "$1"/*' - "$boxes"
	expect_status 0
	cat "$boxes"/* | cmp - "$work/out" || fail "containers: other bytes"
done
run bounded "$destall" run --data "$boxes" -- tar -tf "$boxes/shard-000.tar"
expect_status 0
expect_out '^class000/000000.bin$'
run bounded "$destall" run --data "$boxes" -- "$touched" O_RDONLY "$boxes/a.h5"
expect_out '^itself$'
[ "$(stat_of datasets.0.passed_containers datasets.0.cached_items datasets.0.hits \
    datasets.0.storage_reads | tr '\n' ' ')" = "14 1 1 1 " ] || fail "$("$destall" cache stat)"
run "$destall" cache stat
expect_out 'left to the kernel: 14 opens of random-access containers'
stop_hub

# A data base that one process writes and others read, all of them through the
# cache's object; once as they come, once opened for reading only.
if "$PYTHON" -c 'import sqlite3' 2> /dev/null; then
	cat > write.py << 'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=30)
for i in range(100):
    with db:
        db.execute("insert into t values (?, ?)", (i, "x" * 100))
END
	cat > read.py << 'END'
import sqlite3, sys
last = 0
while last < 100:
    for mode in ("ro", "rw"):
        db = sqlite3.connect("file:%s?mode=%s" % (sys.argv[1], mode), uri=True, timeout=30)
        n, total = db.execute("select count(*), sum(a) from t").fetchone()
        assert n >= last and (total or 0) == n * (n - 1) // 2, (n, last, total)
        last = n
        db.close()
assert sqlite3.connect(sys.argv[1]).execute("pragma integrity_check").fetchone()[0] == "ok"
print("right", last)
END
	"$PYTHON" -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("create table t (a, b)")
db.commit()' "$boxes/real.db"
	run bounded "$destall" run --data "$boxes" -- sh -c '
		"$PYTHON" read.py "$1" & r=$!
		"$PYTHON" write.py "$1" || exit 1
		wait $r' - "$boxes/real.db"
	expect_status 0
	expect_out '^right 100$'
	stop_hub
else
	echo "NOT TRIED: Python has no module sqlite3"
fi

#--- changed since it was listed ----------------------------------------------

cache_both() {
	settle "$work/changing"
	set -- "$destall" run --data "$work/changing" -- cat "$work/changing/f" "$work/changing/g"
	run "$@"
	run "$@"
	expect_err 'run: 2 of 2 opens from the cache'
}

# changes SCRIPT: of the file in $1, which is cached; its output must be that of
# the same without destall.
changes() {
	for how in plain cached; do
		rm -rf "$work/changing"
		mkdir "$work/changing"
		cp -p "$file" "$work/changing/f"
		cp -p "$set/class000/000002.bin" "$work/changing/g"
		if [ $how = plain ]; then
			run bounded sh -c "$1" - "$work/changing/f" "$work/changing/g"
			mv "$work/out" want
		else
			cache_both
			run bounded "$destall" run --data "$work/changing" -- sh -c "$1" - \
			    "$work/changing/f" "$work/changing/g"
			expect_status 0
			cmp want "$work/out" || fail "after: $1"
		fi
	done
}
changes 'echo more >> "$1"; cat "$1"'
[ "$(stat_of datasets.0.passed_changed)" -ge 1 ] || fail "it is not counted"
changes 'truncate -s 100 "$1"; cat "$1"'
changes 'printf x | dd of="$1" conv=notrunc status=none; cat "$1"'
changes 'cp "$2" "$1.new"; mv "$1.new" "$1"; cat "$1"'
changes 'rm "$1"; cp "$2" "$1"; cat "$1"'
changes 'rm "$1"; cat "$1" 2>&1 | sed "s/.*: //"'
changes 'mv "$1" "$1.a"; mv "$2" "$1"; mv "$1.a" "$2"; cat "$1" "$2"'
changes 'exec 3< "$1"; cp "$2" "$1.new"; mv "$1.new" "$1"; cat <&3; cat "$1"'
changes 'exec 3< "$1"; rm "$1"; cat <&3'
stop_hub

#--- large ones ---------------------------------------------------------------

mkset "$work/large" 1 1100000
mkset "$work/large/small" 4 5000
age "$work/large"
for round in 1 2; do
	run bounded "$destall" run --cache 4M --data "$work/large" -- \
	    find "$work/large" -type f -exec cat {} +
	expect_status 0
	find "$work/large" -type f -exec cat {} + | cmp - "$work/out" || fail "large: other bytes"
done
[ "$(stat_of datasets.0.passed_large datasets.0.cached_items datasets.0.hits |
    tr '\n' ' ')" = "2 4 4 " ] || fail "$("$destall" cache stat)"
stop_hub

#--- programs without the object ----------------------------------------------

fill
hits=$(stat_of datasets.0.hits)
# bare CMD...: prints the file, says nothing, and has no hit.
bare() {
	through "$@"
	expect_status 0
	cmp "$file" "$work/out" || fail "$*: other bytes"
	! grep -v '^destall: run: ' "$work/err" || fail "$*: it said something"
	expect_err 'run: no file of the data set was opened through destall'
	[ "$(stat_of datasets.0.hits)" -eq "$hits" ] || fail "$*: a hit"
}
cat=$(command -v cat)
bare env -i "$cat" "$file"
bare env -u LD_PRELOAD cat "$file"
bare env -u DESTALL cat "$file"
bare env DESTALL=0 cat "$file"
bare sh -c 'sh -c "env -i sh -c \"exec cat $1\""' - "$file"
bare "$PYTHON" -c 'import os, sys; os.execve(sys.argv[1], ["cat", sys.argv[2]], {})' "$cat" "$file"

echo 'int putchar(int c); int getchar(void);
#include <stdio.h>
int main(int n, char **v) { FILE *f = fopen(v[1], "r"); int c;
if (f == NULL) return n; while ((c = getc(f)) != EOF) putchar(c); return 0; }' > static.c
if gcc -static -o static static.c > /dev/null 2>&1; then
	bare ./static "$file"
else
	echo "NOT TRIED: no static program can be linked here"
fi

# A copy of cat that becomes nobody, whom we let in.
if is_root; then
	cp "$cat" out/cat
	cp "$(command -v id)" out/id
	chown 65534 out/cat out/id
	chmod 4755 out/cat out/id
	chmod 711 "$work" "$work/cwd" out "$set" "$set/class000"
	if [ "$(out/id -u)" = 65534 ]; then
		bare out/cat "$file"
	else
		echo "NOT TRIED: no set-uid programs on this mount"
	fi
else
	echo "NOT TRIED: only root can make a set-uid program of another user"
fi
stop_hub
