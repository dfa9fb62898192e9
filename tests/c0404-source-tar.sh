# SPDX-License-Identifier: Apache-2.0
# c0404: shards that tar, Python and destall gen make are read item by item,
# byte for byte; what cannot be read is refused with one line.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/gen.sh"
need tar

items=$top_builddir/tests/harness/items

# same URI SHARD FOLDER: the items of the shard are the files of the folder.
same() {
	rm -rf items && mkdir items
	"$items" "$1" items > "$work/out" 2> "$work/err" || fail "$1: $(cat "$work/err")"
	diff -r "items/$2" "$3" > "$work/diff" || fail "$1: $(cat "$work/diff")"
}

# refused URI REGEX: with one line that says why.
refused() {
	rm -rf items && mkdir items
	! "$items" "$1" items > "$work/out" 2> "$work/err" || fail "$1 was taken"
	[ "$(wc -l < "$work/err")" -eq 1 ] || fail "$1: not one line: $(cat "$work/err")"
	grep -q "$2" "$work/err" || fail "$1: $(cat "$work/err")"
}

# Sizes around a block, long names, names that are not letters.
long=$(printf '%060d' 7)
mkdir -p "files/a b/$long" files/plain
size=0
while [ $size -lt 2600 ]; do
	head -c "$size" /dev/urandom > "files/plain/$size"
	size=$((size + 171))
done
head -c 512 /dev/urandom > files/plain/512
head -c 40000 /dev/urandom > files/plain/large
head -c 700 /dev/urandom > "files/a b/$long/$long.jpg"
head -c 10 /dev/urandom > "files/a b/-rf \$x'\""

for format in ustar pax gnu oldgnu; do
	tar --format=$format -cf $format.tar -C files . || fail "tar --format=$format"
	same "tar:$format.tar" $format.tar files
done
# Names for which ustar and v7 have no room.
cp files/plain/large "files/a b/$long/$long$long"
for format in pax gnu; do
	tar --format=$format -cf $format.tar -C files . || fail "tar --format=$format"
	same "tar:$format.tar" $format.tar files
done
tar --format=v7 -cf v7.tar -C files/plain . && same tar:v7.tar v7.tar files/plain

# A folder of shards: each item of each.
rm -rf items && mkdir items
"$items" tar:. items > "$work/out" || fail "a folder of shards"
for format in ustar pax gnu oldgnu v7; do
	[ -d items/$format.tar ] || fail "no items of $format.tar"
done
diff -r items/gnu.tar files || fail "the folder's items differ"

# Links and folders are no items; sparse members are refused.
cp -r files linked
ln -s plain/512 linked/symbolic
ln linked/plain/512 linked/zzz-hard
tar -cf linked.tar -C linked .
"$items" tar:linked.tar "$(mkdir -p other && echo other)" > "$work/out" || fail "links"
grep -q ' [1-9][0-9]* members left out' "$work/out" || fail "links: $(cat "$work/out")"
[ ! -e other/linked.tar/symbolic ] || fail "a link became an item"
rm -f sparse && truncate -s 10M sparse && printf x >> sparse
for format in gnu pax; do
	tar --format=$format -S -cf sparse-$format.tar sparse
	refused tar:sparse-$format.tar 'byte [0-9]*: a sparse member'
done
tar -czf packed.tar files && refused tar:packed.tar 'gzip\|not whole blocks'
tar -P -cf up.tar ../"${PWD##*/}"/files/plain/512 && refused tar:up.tar '`\.\.'
tar -P -cf absolute.tar "$PWD/files/plain/512" && refused tar:absolute.tar 'absolute'
head -c 20480 gnu.tar > short.tar && refused tar:short.tar 'byte [0-9]*: cut short'
cat gnu.tar pax.tar > both.tar && refused tar:both.tar 'after the end mark'
tar -cf twice.tar files/plain/512 files/plain/512 2> /dev/null
tar -rf twice.tar files/plain/512
case $(tar -tvf twice.tar | grep -c '^-') in
1) ;;
*) refused tar:twice.tar 'there twice, at bytes [0-9]* and [0-9]*' ;;
esac

# What destall itself makes.
gen --count 40 made > /dev/null
gen --count 40 --tar 1M shards > /dev/null
rm -rf items && mkdir items
"$items" tar:shards items > "$work/out" || fail "shards of gen"
grep -q '^40 items' "$work/out" || fail "shards of gen: $(cat "$work/out")"
mkdir joined
for shard in items/*.tar; do cp -r "$shard"/. joined; done
diff -r -x .destall-gen made joined > "$work/diff" || fail "gen: $(cat "$work/diff")"
rm -rf items && mkdir items
"$items" made items > "$work/out" || fail "the folder of gen"
diff -r -x .destall-gen made items > "$work/diff" || fail "folder: $(cat "$work/diff")"

# What Python makes, where there is one.
if [ -n "$PYTHON" ] && "$PYTHON" -c 'import tarfile' 2> /dev/null; then
	for format in USTAR GNU PAX; do
		[ $format = USTAR ] && from=files/plain || from=files
		"$PYTHON" -c "
import sys, tarfile
with tarfile.open('python.tar', 'w', format=tarfile.${format}_FORMAT) as t:
    t.add(sys.argv[1], arcname='x')
" "$from" || fail "Python's $format"
		same tar:python.tar python.tar/x "$from"
	done
fi
