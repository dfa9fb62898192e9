# SPDX-License-Identifier: Apache-2.0
# a0006: program, library and preload object are hardened as the build promises.
. "${top_srcdir:?run by make check}/tests/lib.sh"
need readelf

check() {
	readelf -Wl "$1" > segments
	readelf -Wd "$1" > dynamic
	grep -q GNU_RELRO segments || fail "$1: no RELRO"
	grep -Eq 'BIND_NOW|FLAGS.*NOW' dynamic || fail "$1: not bound at start"
	grep GNU_STACK segments | grep -q 'RW ' || fail "$1: executable stack"
	! grep -Eq 'RPATH|RUNPATH' dynamic || fail "$1: has a library path"
	# With it Python could not load the library.
	! grep -q NODLOPEN dynamic || fail "$1: cannot be opened at run time"
}

check "$destall"
readelf -Wh "$destall" | grep -q 'Type:.*DYN' || fail "destall is not position independent"
for so in libdestall.so libdestall-preload.so; do
	so=$top_builddir/.libs/$so
	[ ! -e "$so" ] || check "$so"
done
is_sanitized || grep -q -- '-O0' "$top_builddir/config.log" ||
    nm -D "$destall" | grep -Eq '__(printf|fprintf|snprintf|read)_chk' || fail "destall is not fortified"
is_sanitized || nm -D "$destall" | grep -q '__stack_chk_fail' || fail "destall has no stack protector"
