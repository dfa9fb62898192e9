# SPDX-License-Identifier: Apache-2.0
# a0002: the magics that tell objects, segments and frames apart are unique.
. "${top_srcdir:?run by make check}/tests/lib.sh"

twice() {
	sources '*.[ch]' | while read -r file; do
		sed -n 's/^#define[ \t]\{1,\}[A-Z0-9_]*MAGIC[ \t]\{1,\}\(0x[0-9a-fA-F]*\).*/\1/p' \
		    "$top_srcdir/$file"
	done | tr A-F a-f | sort | uniq -d
}

doubled=$(twice)
[ -z "$doubled" ] || fail "magics defined twice: $doubled"

mkdir tree
printf '#define A_MAGIC 0x1234abcdu\n#define B_MAGIC\t0x1234ABCDu\n' > tree/x.h
top_srcdir=$PWD/tree
[ -n "$(twice)" ] || fail "a doubled magic was not seen"
