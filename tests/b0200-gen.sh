# SPDX-License-Identifier: Apache-2.0
# destall gen: names, classes, the same bytes for the same seed, adding to a
# set, and what it prints.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/gen.sh"

# Names and classes.
run gen --count 20 --threads 1 one
expect_status 0
expect_no_err
expect_out '^one: 20 images, .* 20 made in .* a minute$'
check_clean one "a plain run"
[ "$(ls one | tr '\n' ' ')" = "class000 class001 class002 " ] || fail "classes: $(ls one)"
[ -f one/class001/000019.jpg ] && [ ! -e one/class001/000020.jpg ] || fail "the last image"
[ "$(count_images one)" -eq 20 ] || fail "not 20 images"

# Threads change nothing; seeds and qualities change everything.
gen --count 20 --threads 2 two > /dev/null
same_tree one two "two threads"
gen --count 20 --threads 7 seven > /dev/null
same_tree one seven "seven threads"
gen --count 20 --seed 1 seed > /dev/null
for f in $(cd one && find . -name '*.jpg'); do
	! cmp -s "one/$f" "seed/$f" || fail "$f is the same with another seed"
done
cat one/*/*.jpg | wc -c > "$work/full"
gen --count 20 --quality 50 low > /dev/null
[ "$(cat low/*/*.jpg | wc -c)" -lt "$(cat "$work/full")" ] || fail "quality 50 is not smaller"

# The bytes are those of this model, here and everywhere.
want=b82e2f531909dc25fb4cf88846189328c99aa0fae68118c9ffd0e21026fcf42e
[ "$(cat one/*/*.jpg | sha256sum)" = "$want  -" ] ||
    fail "other bytes: $(cat one/*/*.jpg | sha256sum)"

# A complete set is left alone; a larger count adds, a smaller one does nothing.
touch -d '2001-01-01' one/class000/000000.jpg
run gen --count 20 one
expect_status 0
expect_out '^one: 20 images, .*: all were there already, nothing to do$'
[ -z "$(find one/class000/000000.jpg -newermt 2002-01-01)" ] || fail "made again"
gen --count 8 grown > /dev/null
run gen --count 20 grown
expect_out '20 images, .* 12 made in'
same_tree one grown "after adding"
run gen --count 5 grown
expect_out '^grown: 5 images, .*: all were there already, nothing to do; 20 images are there, 5 asked for$'
same_tree one grown "after asking for fewer"
run gen --count 2 --json grown
for field in '"count": 2' '"images": 2' '"images_in_set": 20' '"found": 2' '"made": 0'; do
	grep -q "$field\>" "$work/out" || fail "asked for fewer: no $field"
done
[ "$(sed -n 's/.*"bytes": \([0-9]*\).*/\1/p' "$work/out")" -eq \
    "$(cat grown/class000/000000.jpg grown/class001/000001.jpg | wc -c)" ] || fail "bytes of fewer"

# Other names in a class folder are nobody's image.
mkdir strange
cp -R one/. strange
for name in 000021.jpeg 0000021.jpg 21.jpg 000022.jpg .jpg 99999999999999999999999999999999.jpg; do
	cp one/class000/000000.jpg strange/class000/$name
done
run gen --count 20 strange
expect_out 'nothing to do$'

# What is lost or empty is made again.
rm two/class000/000003.jpg
: > two/class001/000004.jpg
run gen --count 20 two
expect_out ' 2 made in'
same_tree one two "after losses"

# JSON, and nothing else on standard output.
run gen --count 21 --json two
expect_status 0
expect_no_err
if [ -n "${PYTHON-}" ]; then "$PYTHON" - "$work/out" << 'END' || fail "the document"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema_version"] == 1
assert (d["images"], d["made"], d["found"]) == (21, 1, 20), d
assert (d["classes"], d["seed"], d["quality"], d["shards"]) == (3, 0, 94, 0), d
assert (d["max_width"], d["max_height"], d["dir"]) == (40, 30, "two"), d
assert d["bytes"] > 21 * d["median_bytes"] / 2 > 0, d
assert d["seconds"] > 0 and d["images_per_minute"] > 0 and d["threads"] == 1, d
END
fi
run gen --count 21 --json -o doc.json two
expect_status 0
expect_no_out
grep -q '"made": 0' doc.json || fail "no document in the file"

# Sizes of a range.  Width and height stand in the frame header, which comes
# after tables of fixed length.
"$destall" gen --count 40 --size 20-50 --classes 1 range > /dev/null
find range -name '*.jpg' | while read -r f; do
	od -An -v -tu1 -w4 -j 163 -N 4 "$f"
done | awk '{ h = $1 * 256 + $2; w = $3 * 256 + $4; s = w > h ? w : h
	if (s < 20 || s > 50) bad = 1; seen[s]++ }
	END { for (s in seen) n++; exit bad || n < 10 }' || fail "sizes of a range"
