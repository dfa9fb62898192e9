# SPDX-License-Identifier: Apache-2.0
# a0008: what git tracks is what the tarball carries.
. "${top_srcdir:?run by make check}/tests/lib.sh"
need git
need make
[ -e "$top_srcdir/.git" ] || skip "this is no git checkout"
git -C "$top_srcdir" rev-parse --git-dir > "$work/out" 2>&1 || skip "git does not trust this checkout"

make -s -C "$top_builddir" distdir distdir="$work/tree" > "$work/out" 2>&1 ||
    fail "make distdir failed"
git -C "$top_srcdir" ls-files | grep -vx .gitignore | sort > tracked
(cd "$work/tree" && find . -type f) | sed 's|^\./||' | sort > carried
comm -23 tracked carried > missing
[ ! -s missing ] || fail "tracked, but not in the tarball: $(cat missing)"
