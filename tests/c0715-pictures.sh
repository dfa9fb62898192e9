# SPDX-License-Identifier: Apache-2.0
# c0715: Pillow and OpenCV decode the same pixels from the cache as from the
# files, as data loaders call them.  What is not installed is named.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/compat.sh"
need_hub

run "$destall" gen -n 16 --size 160x120 --classes 2 "$work/origin"
expect_status 0
age "$work/origin"

mkdir "$work/bin"
# Its warnings tell the time.
export bin="$work/bin" OPENCV_LOG_LEVEL=SILENT
cat > "$bin/pil.py" << 'END'
import hashlib, io, multiprocessing, sys
from concurrent.futures import ThreadPoolExecutor
from PIL import Image

def load(f):
    with Image.open(f) as im:
        return im.size, im.mode, hashlib.md5(im.convert("RGB").tobytes()).hexdigest()

def load_stream(f):
    with open(f, "rb") as fp:
        return hashlib.md5(Image.open(fp).convert("RGB").tobytes()).hexdigest()

def load_draft(f):
    im = Image.open(f)
    im.draft("RGB", (40, 30))
    return im.size, hashlib.md5(im.tobytes()).hexdigest()

files = sys.argv[1:]
for f in files:
    print(f, load(f), load_stream(f), load_draft(f))
Image.open(files[0]).save("result/pil.png")
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(load, files))
with ThreadPoolExecutor(4) as pool:
    print(list(pool.map(load, files)))
END
cat > "$bin/cv.py" << 'END'
import hashlib, sys
import cv2

def digest(a):
    return a.shape, hashlib.md5(a.tobytes()).hexdigest()

for f in sys.argv[1:]:
    print(f, digest(cv2.imread(f)), digest(cv2.imread(f, cv2.IMREAD_GRAYSCALE)),
          digest(cv2.imread(f, cv2.IMREAD_REDUCED_COLOR_2)))
print(cv2.imread("set/none"))
END

echo '. ../steps.sh
files=$(find set -name "*.jpg" | sort)' > "$work/steps"
tried=
# tries MODULE HITS FILE
tries() {
	if "$PYTHON" -c "import $1" 2> /dev/null; then
		echo "reads $2 $1 \"\$PYTHON\" \"\$bin/$3\" \$files" >> "$work/steps"
		tried="$tried $1"
	else
		echo "NOT TRIED: Python has no module $1"
	fi
}
tries PIL 81 pil.py
tries cv2 48 cv.py
[ -n "$tried" ] || skip "neither Pillow nor OpenCV is installed"

compare_all
for module in $tried; do
	grep -qx 0 "$work/plain/$module.status" || fail "$module: $(cat "$work/plain/$module.err")"
done
