# SPDX-License-Identifier: Apache-2.0
# c0712: whatever is asked of a substitute is told of the file itself, every
# field; its number, flags and offset are those of a plain open
# (tests/harness/fields.c, which proves of each that it is a substitute).
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/compat.sh"
need_hub

fields=$(harness fields)
set=$work/set
mkset "$set" 4 100000
find "$set" -type f -exec touch -d '2021-02-03 04:05:06.000000789' {} +
settle "$set"
find "$set" -type f | sort > names
file=$(sed -n 1p names)

# look HOW FILE CMD...: the same output, and the file itself, without destall.
look() {
	how=$1 seen=$2
	run bounded env FIELDS_PLAIN=1 "$fields" "$how" "$seen"
	expect_status 0
	mv "$work/out" want
	# Opened, but never read from storage.  What was changed just now is not
	# cached at once.
	attempt=0
	until "$destall" run --data "$set" -- cat "$seen" 2>&1 > /dev/null |
	    grep -q ' 1 of 1 opens from the cache'; do
		attempt=$((attempt + 1))
		[ $attempt -lt 100 ] || fail "it is never cached"
	done
	stat_of datasets.0.storage_reads > before
	run bounded "$destall" run --data "$set" -- "$fields" "$how" "$seen"
	expect_status 0
	cmp want "$work/out" || fail "$how: other output than without"
	grep -Eq '^[0-9]{2,} looks$' want || fail "$how: it looked at next to nothing"
	stat_of datasets.0.storage_reads | cmp - before || fail "$how: something was read"
	expect_err 'run: ([0-9,]+) of \1 opens from the cache'
}

for how in opens copies changes closed; do look $how "$file"; done

# A file that is brought in by the very open is a substitute as well.
next=$(sed -n 2p names)
run bounded "$destall" run --data "$set" -- "$fields" opens "$next"
expect_status 0
expect_err '^destall: run: ([0-9]+) of'
n=$(sed -n 's/^destall: run: \([0-9]*\) of \([0-9]*\) opens.*/\1 \2/p' "$work/err")
[ "${n% *}" -eq $((${n#* } - 1)) ] || fail "not all but the first open from the cache: $n"

# Inherited by a program that never opens data, from a shell that does.
run bounded "$destall" run --data "$set" -- sh -c 'exec "$1" check 0 "$2" < "$2"' - \
    "$fields" "$file"
expect_status 0
expect_out 'looks$'
stop_hub
