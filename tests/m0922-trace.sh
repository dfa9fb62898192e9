# SPDX-License-Identifier: Apache-2.0
# The preload object tells which files are opened between two calls, in C programs
# and in Python, whether DESTALL is set or not; and tells nobody else.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/emulate.sh"
need_preload

so=$top_builddir/.libs/libdestall-preload.so
[ -e "$so" ] || skip "no shared object in this build"

mkdir data
head -c 10000 /dev/zero > data/one
head -c 1 /dev/zero > data/two
: > data/empty
ln -s one data/link
here=$(cd data && pwd -P)
pages=$(((10000 + $(getconf PAGESIZE) - 1) / $(getconf PAGESIZE)))
cp data/one data/module.py

#--- a C program --------------------------------------------------------------------

cat > want <<END
10000 $pages $here/one
10000 $pages $here/one
10000 $pages $here/one
1 1 $here/two
1 1 $here/two
1 1 $here/two
10000 $pages $here/one
10000 $pages $here/one
10000 $pages $here/one
0 0 $here/empty
0 0 $here/empty
0 0 $here/empty
END
for setting in DESTALL= DESTALL=0 DESTALL=1 DESTALL_PROFILE=/no/such; do
	run env LD_PRELOAD="$so" "$setting" DESTALL_DATA=/no/such "$(harness traced)" data/one "$here/two" \
	    data/link data/empty data/module.py data /etc/passwd /dev/null /no/such
	expect_status 0
	expect_no_err
	awk '{ print $1, $2, $4 }' "$work/out" | diff want - || fail "$setting: other files"
	awk '$3 > $2 && $3 != 4294967295 { exit 1 }' "$work/out" || fail "$setting: more pages in memory than there are"
done

# Files of our own were just written: they are in memory.
awk '$3 != $2 { exit 1 }' "$work/out" || fail "what was just written is not in memory"

# More than there is room for.
set --
for i in $(seq 400); do set -- "$@" data/one; done
run env LD_PRELOAD="$so" "$(harness traced)" "$@"
expect_status 0
expect_out '^LOST$'
[ "$(grep -c . "$work/out")" -gt 100 ] || fail "little was kept"

#--- Python -------------------------------------------------------------------------

need_python
cat > trace.py <<'END'
import ctypes, os, struct, sys
lib = ctypes.CDLL(None)
lib.ds_trace_end.restype = ctypes.c_ssize_t
buf = ctypes.create_string_buffer(65536)
assert lib.ds_trace_begin(buf, ctypes.c_size_t(len(buf))) == 0
import json.decoder, csv
with open("data/one", "rb") as f:
    f.read()
os.close(os.open("data/two", os.O_RDONLY))
with open("data/written", "w") as f:
    f.write("x")
n = lib.ds_trace_end()
assert n >= 0 and n & 1 == 0, n
at = 0
while at < n:
    size, pages, resident, length = struct.unpack_from("<QIII", buf, at)
    path = buf.raw[at + 20:at + 20 + length - 1].decode()
    print(size, pages, path)
    at += (20 + length + 7) & ~7
END
run env LD_PRELOAD="$so" DESTALL_PROFILE=/no/such "$PYTHON" trace.py
expect_status 0
printf '10000 %s %s\n1 1 %s\n' "$pages" "$here/one" "$here/two" | diff - "$work/out" || fail "Python: other files"
