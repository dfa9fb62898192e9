# SPDX-License-Identifier: Apache-2.0
# n0601: pictures with changed bytes, of every kind: decoded or refused, never
# a crash, never longer than the limit of time.  DS_KILLS=30 makes 10,000 tries
# of each.
. "${top_srcdir:?run by make check}/tests/lib.sh"
pixels=$top_builddir/tests/harness/pixels
tries=$((333 * ${DS_KILLS:-1}))

mkdir seeds
"$pixels" make seeds 57 43
[ -z "${PYTHON-}" ] ||
    "$PYTHON" "$top_srcdir/tests/harness/mkpng.py" seeds 25 19
"$pixels" shake $tries "$DS_SEED" seeds/* > said || fail "$(tail -n 1 said)"
# It hurts: most are refused, and what is accepted as damaged is known.
awk '{ sub(/.*: /, ""); whole += $1; damaged += $3; refused += $5; n++ }
     END { exit !(whole && damaged && refused > whole / 4 && n > 50) }' said ||
    fail "nothing was hurt: $(cat said)"
cat said
