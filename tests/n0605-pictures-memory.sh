# SPDX-License-Identifier: Apache-2.0
# n0605: every allocation fails while pictures are decoded, once and from there
# on: all pixels, or a line that says it is memory and not the picture.
. "${top_srcdir:?run by make check}/tests/lib.sh"
pixels=$top_builddir/tests/harness/pixels
fail_exe=pixels

check_after_failure() {
	if [ "$status" -eq 0 ]; then
		cmp -s expected "$work/out" || fail "with $1: status 0, but not all pixels"
	else
		grep -Eq 'out of memory|Cannot allocate memory' "$work/err" ||
		    fail "with $1: no word of memory"
	fi
}

mkdir files
"$pixels" make files 33 21
[ -z "${PYTHON-}" ] ||
    "$PYTHON" "$top_srcdir/tests/harness/mkpng.py" files 15 11
for file in 4-2-0.jpg 4-2-0-progressive.jpg CMYK.jpg c3-d8.png c6-d16-i.png; do
	[ -f "files/$file" ] || continue
	"$pixels" read "files/$file" > expected 2> why ||
	    { grep -q 'this build does not read' why && continue; }
	for call in malloc calloc aligned_alloc; do
		fail_calls "$call" ENOMEM "$pixels" read "files/$file"
	done
done
