# SPDX-License-Identifier: Apache-2.0
# run.sh: what tests of `destall run` and `destall env` share, after lib.sh.

. "$top_srcdir/tests/cachecmd.sh"

object=$(readlink -f "$top_builddir")/.libs/libdestall-preload.so
[ -f "$object" ] || { echo "no $object" >&2; exit 99; }

# quiet CMD...: without our notes.
quiet() { env DESTALL_LOG=quiet "$@"; }
