# SPDX-License-Identifier: Apache-2.0
# Pictures that are bad, and odd ones that are not (faults (d) 1-20), in a data
# set: what a job makes of each by each policy.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/emulate.sh"
need_python

"$destall" gen --count 3 --size 160x120 --classes 1 good > /dev/null
picture=good/class000/000001.jpg

# Odd pictures, made of a good one; FOLDER/class000/odd.jpg each.
"$PYTHON" - $picture << 'END' || exit 99
import os, struct, sys, zlib

good = open(sys.argv[1], "rb").read()
sof = good.index(b"\xff\xc0")
sos = good.index(b"\xff\xda")
middle = (sos + len(good)) // 2

def put(row, data, name="odd.jpg"):
    os.makedirs(row + "/class000")
    for i in range(3):
        os.link("good/class000/00000%d.jpg" % i, "%s/class000/00000%d.jpg" % (row, i))
    with open("%s/class000/%s" % (row, name), "wb") as f:
        f.write(data)

def patch(at, data, to=good):
    return to[:at] + data + to[at + len(data):]

put("empty", b"")
put("half", good[:middle])
put("short", good[:-1])
put("soi", b"\xff\xd8")
put("zeros", bytes(5000))
put("text", b"It was a dark and stormy night.\n" * 20)
put("html", b"<!DOCTYPE html><html><body>404</body></html>\n")
put("hole", patch(middle, b"\xff\xd7" * 32))
put("zeroed", patch(middle, bytes(len(good) - middle)))
put("huge", patch(sof + 5, struct.pack(">HH", 65500, 65500)))
put("head", patch(sof + 5, struct.pack(">HH", 16173, 48010))[:sos + 14] + b"\xff\xd9")
put("dnl", patch(sof + 5, b"\0\0"))
put("twelve", patch(sof + 4, b"\x0c"))
put("gif", b"GIF89a" + bytes(100))
put("exif", good[:2] + b"\xff\xe1\x00\x10Exif\0\0garbage." + good[2:])
put("trailing", good + b"trailing bytes" * 50 + good)
put("comment", good[:2] + (b"\xff\xfe\xff\xff" + b"x" * 65533) * 20 + good[2:])
put("name", good[:middle], "a\n\x1b[31m<b>%s.jpg")

def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data +
            struct.pack(">I", zlib.crc32(kind + data)))

rows = b"".join(b"\0" + bytes((x * 3 + y) % 256 for x in range(40 * 3)) for y in range(30))
png = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 40, 30, 8, 2, 0, 0, 0)) +
       chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
put("png", png, "odd.JPEG")
put("pngshort", png[:-20], "odd.png")
put("pngbad", patch(60, b"\xff\xff\xff", png), "odd.png")

wide = (png[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", 1 << 20, 1, 1, 0, 0, 0, 0)) +
        chunk(b"IDAT", zlib.compress(bytes(1 + (1 << 17)))) + chunk(b"IEND", b""))
put("wide", wide, "odd.png")

put("large", b"")
os.truncate("large/class000/odd.jpg", 8 << 20)
END

emulate() { run "$destall" emulate --batch 3 --set size=32 --set crop=none "$@"; }
cases=0

# bad ROW REGEX [OPTION...]: the line of each policy.
bad() {
	row=$1 why=$2
	shift 2
	emulate --data "$row" "$@"
	expect_status 1
	expect_one_line "([^:]*/)?class000/.*(jpg|JPEG|png): .*$why"
	rm -f "$row.skip" "$row.zeros"
	emulate --data "$row" --on-bad skip --epochs 2 --ledger "$row.skip" "$@"
	expect_status 0
	expect_no_err
	expect_out '^epoch 1: 3 samples '
	expect_out '^bad samples: 2 skipped, 0 substituted, 0 cut short$'
	expect_out "^  class000/.*: .*$why"
	[ "$(wc -l < "$work/out")" -eq 7 ] || fail "$row: it is named more than once"
	check_ledger "$row.skip"
	[ "$(grep -c ' skipped$' "$row.skip")" -eq 2 ] || fail "$row: not skipped in the ledger"
	emulate --data "$row" --on-bad substitute --ledger "$row.zeros" "$@"
	expect_status 0
	expect_out '^epoch 0: 4 samples '
	expect_out '^bad samples: 0 skipped, 1 substituted, 0 cut short$'
	expect_out "^  class000/.*: .*$why"
	check_ledger "$row.zeros"
	# Zeros, the same ones whatever was bad.
	awk '$4 !~ /00000[0-2].jpg$/ { print $5 }' "$row.zeros" >> crcs
	cases=$((cases + 3))
}

# fine ROW [OPTION...]: nothing is bad in it.
fine() {
	row=$1
	shift
	emulate --data "$row" "$@"
	expect_status 0
	expect_no_err
	expect_out '^epoch 0: 4 samples '
	! grep bad "$work/out" || fail "$row: bad samples"
	cases=$((cases + 1))
}

bad empty 'empty'				# 1
bad half 'cut short'				# 2
bad short 'cut short'
bad soi '.'					# 3
bad zeros '.'					# 4
bad text '.'
bad html '.'
bad hole '.'					# 5
bad zeroed '.'
bad huge '65500'				# 7
bad head '48010'				# 8
bad dnl '.'					# 9
bad twelve '.'					# 16
bad gif 'GIF'					# 14
bad large '.' --set max-bytes=4M		# 20, 31
emulate --data large --set max-bytes=4M
expect_one_line '.*: --on-bad=skip leaves such files out$'
bad name 'cut short'				# 25
fine exif					# 18
fine trailing					# 19
fine comment					# 20
fine comment --set max-bytes=8M
bad comment '.' --set max-bytes=1M
if configured WITH_PNG; then
	fine png				# 14
	bad wide 'too unequal' --set crop=center --set resize=16384
	bad pngshort '.'
	bad pngbad '.'
else
	bad png 'PNG'
fi
[ "$(sort -u crcs | wc -l)" -eq 1 ] || fail "substitutes differ: $(sort crcs | uniq -c)"

# A name is fit for a terminal wherever it is shown, and exact in the ledger.
emulate --data name --on-bad skip
grep -q "$(printf '\033')" "$work/out" && fail "an escape reaches the terminal"
expect_out '^  class000/a.x0a.x1b\[31m<b>%s.jpg: '
grep -q ' class000/a%0A%1B\[31m<b>%25s.jpg ' name.skip || fail "the ledger: $(cat name.skip)"

# What is damaged is accepted where that is asked for, and counted.
for row in half short zeroed hole; do
	emulate --data $row --set truncated=yes
	expect_status 0
	expect_out '^epoch 0: 4 samples '
	expect_out '^bad samples: 0 skipped, 0 substituted, 1 cut short$'
	cases=$((cases + 1))
done
# As JSON, with the place of each.
emulate --data half --on-bad skip --epochs 2 --json
expect_json 'doc["skipped"] == 2' 'doc["samples"] == 6' 'doc["epochs"][1]["skipped"] == 1' \
    'doc["epochs"][1]["complete"]' 'len(doc["bad"]) == 2' 'doc["bad"][1]["epoch"] == 1' \
    'doc["bad"][0]["sample"] == "class000/odd.jpg"' '"cut short" in doc["bad"][0]["why"]' \
    '"odd" not in doc["bad"][0]["why"]'

# What has no picture at all is not.
emulate --data soi --set truncated=yes
expect_status 1

# Five are named, and the rest counted; each once, however many epochs there are.
mkdir -p many/class000
cp $picture many/class000/good.jpg
for i in 1 2 3 4 5 6 7; do : > many/class000/bad$i.jpg; done
emulate --data many --on-bad skip --epochs 2
expect_status 0
expect_no_err
expect_out '^epoch 1: 1 sample in '
expect_out '^bad samples: 14 skipped, '
[ "$(grep -c '^  class000/bad..jpg: ' "$work/out")" -eq 5 ] || fail "not five names"
expect_out '^  and 2 more$'
# More than are remembered.
emulate --data many --on-bad skip --epochs 20
expect_out '^  and at least 2 more$'
rm many/class000/bad[67].jpg
emulate --data many --on-bad skip
! grep ' more$' "$work/out" || fail "more than all"

# None is good: that is said, by figures that mean something.
rm many/class000/good.jpg
emulate --data many --on-bad skip
expect_status 0
expect_one_line 'emulate: every sample was bad: '
expect_out '^epoch 0: 0 samples in .*: 0\.0 samples/s'
expect_out '^processor: [^,]*, [0-9]+ threads?; '
emulate --data many --on-bad substitute --json
expect_status 0
expect_one_line 'emulate: every sample was bad: '
expect_json 'doc["substituted"] == 5'
emulate --data many
expect_status 1
expect_one_line 'class000/bad..jpg: .*: --on-bad=skip leaves such files out$'
expect_no_out

# Limits on pixels and scans are options.
emulate --data good --set max-pixels=19200
expect_status 0
emulate --data good --set max-pixels=19199
expect_status 1
expect_one_line 'class000/00000[0-2].jpg: .*160x120'
if command -v jpegtran > /dev/null; then
	for kind in progressive grayscale arithmetic; do
		mkdir -p $kind/class000
		cp good/class000/*.jpg $kind/class000
		jpegtran -$kind -outfile $kind/class000/odd.jpg $picture 2> /dev/null || continue
		# 10, 15, 17; where the library was built without, a reason.
		[ $kind != arithmetic ] && fine $kind || emulate --data $kind --on-bad skip
		expect_status 0
	done
	bad progressive 'scans' --set max-scans=2	# 11
fi

# Not to be read: told by name, by every policy.
mkdir -p gone/class000
cp good/class000/*.jpg gone/class000
if ! is_root; then
	cp $picture gone/class000/odd.jpg
	chmod 0 gone/class000/odd.jpg
	bad gone 'Permission denied(: --on-bad=skip leaves such files out)?$'
	emulate --data gone
	expect_one_line '.*odd.jpg: Permission denied: --on-bad=skip leaves such files out$'
fi
event $cases "bad and odd pictures"
