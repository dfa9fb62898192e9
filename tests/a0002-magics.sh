# SPDX-License-Identifier: Apache-2.0
# a0002: the magics that tell objects, segments and frames apart are unique.
. "${top_srcdir:?run by make check}/tests/lib.sh"

twice() {
	find "$1" -mindepth 1 -name build -prune -o -name '*.[ch]' -exec \
	    sed -n 's/^#define[ \t]\{1,\}[A-Z0-9_]*MAGIC[ \t]\{1,\}\(0x[0-9a-fA-F]*\).*/\1/p' {} + |
	    tr A-F a-f | sort | uniq -d
}

doubled=$(twice "$top_srcdir")
[ -z "$doubled" ] || fail "magics defined twice: $doubled"

mkdir tree
printf '#define A_MAGIC 0x1234abcdu\n#define B_MAGIC\t0x1234ABCDu\n' > tree/x.h
[ -n "$(twice tree)" ] || fail "a doubled magic was not seen"
