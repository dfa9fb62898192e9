# SPDX-License-Identifier: Apache-2.0
# examples.sh: building the examples of doc/examples, after lib.sh, as their
# readers would.
need pkg-config
need cc
[ -e "$top_builddir/.libs/libdestall.so" ] || skip "no shared library in this build"
! is_sanitized || skip "a sanitized library wants a sanitized program"

# As if it were installed.
sed -e "s|^libdir=.*|libdir=$top_builddir/.libs|" \
    -e "s|^includedir=.*|includedir=$top_srcdir|" \
    "$top_builddir/destall.pc" > destall.pc
export PKG_CONFIG_PATH="$PWD" LD_LIBRARY_PATH="$top_builddir/.libs"

# build_example NAME: by the command that it names itself.
build_example() {
	cp "$top_srcdir/doc/examples/$1.c" .
	command=$(sed -n 's/^ \*  *\(cc .*\)/\1/p' "$1.c")
	[ -n "$command" ] || fail "the example does not say how it is built"
	eval "$command" || fail "the example cannot be built"
	cc -std=c11 -pedantic -Wall -Wextra -Werror -fsyntax-only -I. -I"$top_srcdir" "$1.c" ||
	    fail "the example is not clean"
}
