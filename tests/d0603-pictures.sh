# SPDX-License-Identifier: Apache-2.0
# d0603: JPEG and PNG of every kind are the pixels of Pillow's convert("RGB"),
# CMYK, palettes, transparency and interlacing included; what no format reads
# is refused by its name.
. "${top_srcdir:?run by make check}/tests/lib.sh"
pixels=$top_builddir/tests/harness/pixels
"${PYTHON:-false}" -c 'import PIL' 2> /dev/null ||
    skip "no Pillow (Debian: python3-pil)"

mkdir jpeg png
"$pixels" make jpeg 75 53
"$PYTHON" "$top_srcdir/tests/harness/mkpng.py" png 39 29
with_png=yes
"$pixels" read png/c2-d8.png > one 2> refused || with_png=no

cat > compare.py << 'END'
import glob, subprocess, sys, warnings
from PIL import Image
warnings.simplefilter("ignore")
pixels, patterns = sys.argv[1], sys.argv[2:]
BOX = (11, 7, 31, 23)
nr = 0
for path in sorted(f for p in patterns for f in glob.glob(p)):
    with Image.open(path) as im:
        grey16 = im.format == "PNG" and im.mode == "I"
        want = im.convert("RGB")
    for box in (None, BOX):
        tail = []
        if box:
            tail = ["--"] + [str(n) for n in
                             (box[0], box[1], box[2] - box[0], box[3] - box[1])]
        run = subprocess.run([pixels, "read", path] + tail, capture_output=True)
        if grey16:
            assert run.returncode == 1 and b"16 bits" in run.stderr, path
            continue
        assert run.returncode == 0, run.stderr
        part = want.crop(box) if box else want
        assert run.stdout == part.tobytes(), "%s %s differs" % (path, box)
        nr += 1
print(nr, "compared")
END

"$PYTHON" compare.py "$pixels" 'jpeg/*.jpg' > said || fail "JPEG: $(cat said)"
[ "$(cat said)" = "52 compared" ] || fail "JPEG: $(cat said)"
if [ $with_png = yes ]; then
	"$PYTHON" compare.py "$pixels" 'png/*.png' > said || fail "PNG: $(cat said)"
	[ "$(cat said)" = "96 compared" ] || fail "PNG: $(cat said)"
else
	grep -q 'it is a PNG, which this build does not read' refused ||
	    fail "without libpng: $(cat refused)"
fi

# What Pillow writes itself.
cat > write.py << 'END'
import random
from PIL import Image
rng = random.Random(2)
for mode, size in (("CMYK", 4), ("RGB", 3), ("L", 1)):
    im = Image.frombytes(mode, (61, 47), bytes(
        rng.randrange(256) for _ in range(61 * 47 * size)))
    for quality in (40, 95):
        im.save("own-%s-%d.jpg" % (mode, quality), quality=quality)
exif = Image.Exif()
for turned in range(1, 9):
    exif[0x0112] = turned
    im.convert("RGB").save("own-exif-%d.jpg" % turned, exif=exif)
im.convert("RGB").save("own-broken-exif.jpg", exif=b"Exif\0\0MM\0*\xff\xff\xff\xff")
im.convert("RGB").save("own-mpo.jpg", format="MPO", save_all=True,
                       append_images=[im.convert("RGB").rotate(90)])
END
"$PYTHON" write.py
"$PYTHON" compare.py "$pixels" 'own-*.jpg' > said || fail "Pillow's: $(cat said)"
[ "$(cat said)" = "32 compared" ] || fail "Pillow's: $(cat said)"
