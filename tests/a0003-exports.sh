# SPDX-License-Identifier: Apache-2.0
# a0003: the library exports what its map says, the map says what the public
# header declares, and neither more nor less.
. "${top_srcdir:?run by make check}/tests/lib.sh"
need nm

so=$top_builddir/.libs/libdestall.so
[ -e "$so" ] || skip "no shared library in this build"

nm -D --defined-only "$so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    sort > exported
sed -n 's/^[ \t]*\(ds_[a-z0-9_]*\);.*/\1/p' "$top_srcdir/base/libdestall.map" |
    sort > mapped
sed -n 's/.*DS_EXPORT.*[ *]\(ds_[a-z0-9_]*\)(.*/\1/p' "$top_srcdir/destall.h" |
    sort > declared

[ -s exported ] || fail "nothing is exported"
# Sanitizers and coverage add symbols of their own; ours begin with ds_.
grep '^ds_' exported > ours
is_sanitized || cmp -s ours exported || fail "exported without ds_: $(grep -v '^ds_' exported)"
diff ours mapped || fail "exported symbols differ from base/libdestall.map"
diff mapped declared || fail "base/libdestall.map differs from destall.h"

# What runs inside a job needs nothing but libc and what reads pictures.
wrong=$(readelf -d "$so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    grep -Ev '^(libc\.so|libpthread|libdl|ld-linux|libasan|libubsan|libtsan|libgcc_s|libm\.so|libjpeg\.so|libpng16\.so)' || :)
[ -z "$wrong" ] || fail "libdestall needs $wrong"
