# SPDX-License-Identifier: Apache-2.0
# destall gen --tar: shards that tar reads, with the images of the folders.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/gen.sh"
need tar

gen --count 50 files > /dev/null
run gen --count 50 --tar 16K --threads 1 one
expect_status 0
expect_no_err
expect_out '^one: 50 images, .* 50 made in'
check_clean one "a plain run"

# The members, one after the other, are the files.
mkdir unpacked
for shard in one/shard-*.tar; do
	[ "$(wc -c < "$shard")" -le 16384 ] || fail "$shard is too large"
	tar -tf "$shard" >> listed 2> "$work/err" || fail "tar does not read $shard"
	expect_no_err
	tar -xf "$shard" -C unpacked
done
find files -name '*.jpg' -printf '%P %f\n' | LC_ALL=C sort -k2 | cut -d' ' -f1 > expected
cmp listed expected || fail "members: $(diff listed expected)"
diff -r -x .destall-gen files unpacked > "$work/out" || fail "contents differ"
tar --numeric-owner --full-time -tvf one/shard-000000.tar > "$work/out"
expect_out '^-rw-r--r-- 0/0 .* 1970-01-01 00:00:00 class000/000000.jpg'

# No shard could have held the first image of the next.
[ "$(ls one | wc -l)" -gt 2 ] || fail "only one shard"
previous=
for shard in one/shard-*.tar; do
	if [ -n "$previous" ]; then
		next=$(tar -tvf "$shard" | head -n 1 | awk '{ print $3 }')
		[ $(($(wc -c < "$previous") + 512 + (next + 511) / 512 * 512)) -gt 16384 ] ||
		    fail "$previous had room"
	fi
	previous=$shard
done

# Threads, pauses and losses change nothing.
gen --count 50 --tar 16K --threads 5 five > /dev/null
same_tree one five "five threads"
for n in 1 9 10 23 49 50; do
	gen --count $n --tar 16K grown > /dev/null
	check_clean grown "grown to $n"
done
same_tree one grown "after adding"
run gen --count 50 --tar 16K grown
expect_out 'all were there already, nothing to do'
run gen --count 7 --tar 16K grown
expect_out '^grown: 7 images, .*: all were there already, nothing to do; 50 images are there, 7 asked for$'
run gen --count 7 --tar 16K --json grown
for field in '"count": 7' '"images": 7' '"images_in_set": 50' '"found": 7' '"made": 0'; do
	grep -q "$field\>" "$work/out" || fail "asked for fewer: no $field"
done
same_tree one grown "after asking for fewer"
rm five/shard-000001.tar
gen --count 50 --tar 16K five > /dev/null
same_tree one five "after the loss of a shard"
printf x | dd of=five/shard-000001.tar bs=1 seek=700 conv=notrunc 2> /dev/null
truncate -s -512 five/shard-000002.tar
run gen --count 50 --tar 16K --json five
grep -q '"images": 50' "$work/out" || fail "the document"
cmp five/shard-000002.tar one/shard-000002.tar || fail "a torn shard was not made again"

# An image that is larger than a shard has one of its own.
"$destall" gen --count 3 --size 200x200 --tar 4K large > /dev/null
[ "$(ls large | tr '\n' ' ')" = "shard-000000.tar shard-000001.tar shard-000002.tar " ] ||
    fail "shards of large images: $(ls large)"
