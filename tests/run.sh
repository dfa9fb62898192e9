# SPDX-License-Identifier: Apache-2.0
# run.sh: what tests of `destall run` and `destall env` share, after lib.sh.

. "$top_srcdir/tests/cachecmd.sh"

object=$(readlink -f "$top_builddir")/.libs/libdestall-preload.so
[ -f "$object" ] || { echo "no $object" >&2; exit 99; }

# quiet CMD...: without our notes.
quiet() { env DESTALL_LOG=quiet "$@"; }

# The folder that Python finds us by; none in a build without.
hook=$(readlink -f "$top_builddir")/python/destall/site
configured WITH_PYTHON || hook=
[ -z "$hook" ] || [ -f "$hook/sitecustomize.py" ] || { echo "no $hook" >&2; exit 99; }

# copy_hook DIR: for a copy of the program in DIR, as in a build folder.
copy_hook() { [ -z "$hook" ] || cp -R "$top_builddir/python" "$1/"; }
