# SPDX-License-Identifier: Apache-2.0
# b0103: make install puts everything in its place, and a C and a C++ program
# can be built against what it installed, by pkg-config alone.
. "${top_srcdir:?run by make check}/tests/lib.sh"
need make
need pkg-config

make -s -C "$top_builddir" install DESTDIR="$work/root" > "$work/out" 2>&1 ||
    fail "make install failed"
prefix=$(sed -n 's/^prefix = //p' "$top_builddir/Makefile")
in=$work/root$prefix
for file in bin/destall include/destall.h lib/libdestall.so lib/pkgconfig/destall.pc \
    lib/destall/libdestall-preload.so \
    share/bash-completion/completions/destall share/zsh/site-functions/_destall \
    share/man/man1/destall.1 share/man/man1/destall-gen.1; do
	[ -s "$in/$file" ] || fail "$file was not installed"
done
[ "$("$in/bin/destall" --version)" = "$("$destall" --version)" ] || fail "the installed program does not run"

! is_sanitized || exit 0
need cc
export PKG_CONFIG_PATH="$in/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$work/root"
cat > uses.c <<'C'
#include <destall.h>
#include <stdio.h>
int main(void) { struct ds_err e; e.code = 0; printf("%s\n", ds_version()); return e.code; }
C
# shellcheck disable=SC2046
cc -Wall -Wextra -Werror -std=c11 -pedantic -o uses uses.c $(pkg-config --cflags --libs destall) ||
    fail "a C program cannot be built"
[ "destall $(LD_LIBRARY_PATH=$in/lib ./uses)" = "$("$destall" --version)" ] || fail "the library is of another version"
if command -v c++ > /dev/null; then
	cp uses.c uses.cc
	# shellcheck disable=SC2046
	c++ -Wall -Wextra -Werror -pedantic -o uses_cc uses.cc $(pkg-config --cflags --libs destall) ||
	    fail "a C++ program cannot be built"
fi
# A job with the installed library starts the installed program as its hub.
mkdir data
echo item > data/one
# shellcheck disable=SC2046
cc -o epochs "$top_srcdir/doc/examples/epochs.c" $(pkg-config --cflags --libs destall) ||
    fail "the example cannot be built"
run env LD_LIBRARY_PATH="$in/lib" ./epochs data 2
expect_status 0
expect_no_err
expect_out '^epoch 1: 1 from the cache, 0 from storage$'
"$in/bin/destall" serve --stop || fail "the hub does not stop"
mv "$in/bin/destall" "$in/bin/aside"
if [ ! -e "$prefix/bin/destall" ]; then
	run env LD_LIBRARY_PATH="$in/lib" ./epochs data 2
	expect_status 0
	expect_err '^epochs: no cache: '
fi
mv "$in/bin/aside" "$in/bin/destall"

make -s -C "$top_builddir" uninstall DESTDIR="$work/root" > "$work/out" 2>&1 || fail "make uninstall failed"
left=$(find "$work/root" -type f)
[ -z "$left" ] || fail "uninstall left $left"
