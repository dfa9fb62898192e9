# SPDX-License-Identifier: Apache-2.0
# destall gen in folders that are not what it needs: one line each, and
# nothing that is not its own is touched.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/gen.sh"

refused() {
	text=$1
	shift
	expect_refused 1 "$text" gen --count 5 "$@"
}

# Something else is there.
echo mine > file
refused 'cannot open the folder file: Not a directory' file
refused 'cannot make the folder none/set: No such file or directory' none/set
mkdir foreign
echo mine > foreign/notes
refused 'foreign is not empty, and not a set of destall gen: choose a new folder' foreign
[ "$(ls -A foreign)" = notes ] || fail "foreign was touched: $(ls -A foreign)"
mkdir odd
printf 'hello\nend\n' > odd/.destall-gen
refused 'odd: not a record of this version of destall gen: choose a new folder' odd
mkdir pipe
mkfifo pipe/.destall-gen
refused 'pipe/.destall-gen is not a file' pipe

# Another set is there: the line names the difference.
gen --count 5 set > /dev/null
tree set > before
refused 'set: the set there was made with --seed 0, not with --seed 7: use the same options, or another folder' --seed 7 set
refused 'set: the set there was made with --quality 94, not with --quality 50' --quality 50 set
refused 'set: the set there was made without --tar, not with --tar 64K' --tar 64K set
expect_refused 1 'set: the set there was made with --size 40x30, not with --size 30-40' \
    "$destall" gen --count 5 --size 30-40 --classes 3 set
expect_refused 1 'set: the set there was made with --classes 3, not with --classes 4' \
    "$destall" gen --count 5 --size 40x30 --classes 4 set
sed 's/^libjpeg-turbo .*/libjpeg-turbo 1.9.77/' set/.destall-gen > record
mkdir other
cp record other/.destall-gen
refused 'other: the set there was made with libjpeg-turbo 1.9.77, and this destall has [0-9.]+: choose a new folder$' other

# However long the path is, the line says what differs and what to do.
name=$(printf '%0200d' 0)
mkdir -p $name/$name/$name
gen --count 1 $name/$name/$name/set > /dev/null
refused "0+\.\.\.[0/]*/set: the set there was made with --seed 0, not with --seed 7: use the same options, or another folder\$" \
    --seed 7 $name/$name/$name/set
tree set > after
cmp before after || fail "a refused command changed the set"

# Links are not followed: neither that of a class, nor of an image, of a part,
# or of the record.
gen --count 12 expected > /dev/null
mkdir outside
rm -rf set/class001
ln -s ../outside set/class001
refused 'set/class001 is a link, which gen does not follow: remove it, or choose a new folder$' set
[ -z "$(ls -A outside)" ] || fail "followed the link of a class"
rm set/class001
echo precious > outside/file
ln -sf ../../outside/file set/class000/000009.jpg
ln -s ../outside/file set/.destall-gen.part0
gen --count 12 set > /dev/null
[ "$(cat outside/file)" = precious ] || fail "followed the link of a file"
same_tree expected set "after links"
rm set/.destall-gen
ln -s ../outside/file set/.destall-gen
refused 'set/.destall-gen is a link, which gen does not follow' set
[ "$(cat outside/file)" = precious ] || fail "followed the link of the record"
ln -s expected link
gen --count 12 link > /dev/null || fail "the folder itself may be a link"
mkdir -p set2/.destall-gen.part0
cp expected/.destall-gen set2
refused 'cannot remove set2/.destall-gen.part0: ' set2

# What the same command cannot mend does not send the user to it.
cp -R expected blocked
rm blocked/class001/000001.jpg
mkdir blocked/class001/000001.jpg
refused 'cannot write blocked/class001/000001.jpg: Is a directory$' blocked
rm -rf blocked/class001
echo mine > blocked/class001
refused 'cannot open blocked/class001: Not a directory$' blocked

# A torn record and nothing else: a run died at its very beginning.
mkdir torn
head -c 20 expected/.destall-gen > torn/.destall-gen
gen --count 12 torn > /dev/null || fail "a torn record"
same_tree expected torn "after a torn record"
head -c 20 expected/.destall-gen > torn/.destall-gen
refused 'torn is not empty, and not a set' torn

# A file for the document that cannot be written is noticed before the work.
mkdir kept
ln -s nowhere/file dangling
ln -s kept/doc.json leading
for doc in none/doc.json file/doc.json kept dangling; do
	refused "cannot write $doc: (No such file or directory|Not a directory|Is a directory)" \
	    --json -o $doc unmade
	[ ! -e unmade ] || fail "made with -o $doc"
done
for doc in kept/doc.json kept/doc.json leading ./doc.json "$PWD/doc.json" /dev/null /dev/stdout; do
	gen --count 5 --json -o "$doc" expected > "$work/out" || fail "refused: -o $doc"
done
grep -q '"images": 5' "$work/out" || fail "no document by /dev/stdout"
[ -L leading ] || fail "the link was replaced"

# Limits of the process.
status=0
(ulimit -n 6; gen --count 5 many) > "$work/out" 2> "$work/err" || status=$?
[ $status -eq 0 ] || { expect_status 1; expect_one_line '.*Too many open files'; }
rm -rf many
status=0
(ulimit -f 1; "$destall" gen --count 5 --size 300x300 large) > "$work/out" 2> "$work/err" || status=$?
expect_status 1
expect_one_line 'cannot write large/class00./00000..jpg: File too large: no image is there yet, run the same command again$'
# However long the path is, the reason and the advice are there.
status=0
(ulimit -f 1; "$destall" gen --count 5 --size 300x300 $name/$name/$name/large) > "$work/out" 2> "$work/err" || status=$?
expect_status 1
expect_one_line 'cannot write 0.*: File too large: no image is there yet, run the same command again$'
check_clean large "a limit on the size of files"

# A folder that may not be written; root may write everywhere.
! is_root || exit 0
chmod 555 kept
refused 'cannot write kept/new.json: Permission denied' --json -o kept/new.json unmade
refused 'cannot write leading: Permission denied' --json -o leading unmade
chmod 444 doc.json
refused 'cannot write doc.json: Permission denied' --json -o doc.json unmade
[ ! -e unmade ] || fail "made, and the document cannot be written"
mkdir closed
chmod 555 closed
refused 'cannot open closed/.destall-gen: Permission denied' closed
refused 'cannot make the folder closed/set: Permission denied' closed/set
chmod 755 closed
gen --count 12 part > /dev/null
rm part/class002/000002.jpg
chmod 555 part/class002
refused 'cannot write part/class002/000002.jpg: Permission denied: 4 of 5 images are there' part
check_clean part "a class that may not be written"
chmod 755 part/class002
chmod 555 part
run gen --count 2 part
expect_status 0
refused 'cannot write part/class002/000002.jpg: Permission denied' part
chmod 755 part
gen --count 12 part > /dev/null
same_tree expected part "after permissions"
