# SPDX-License-Identifier: Apache-2.0
# l0705: the producer of doc/examples is built by the command that it names, and
# several of it share: alone, together and without a hub they find the same.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/hub.sh"
. "$top_srcdir/tests/examples.sh"
build_example units
if command -v c++ > /dev/null; then
	c++ -x c++ -Wall -Wextra -Werror -fsyntax-only -I"$top_srcdir" units.c ||
	    fail "the example is no C++"
fi

DESTALL_HUB=/dev/null/ctl.sock run ./units 12
expect_status 0
expect_err '^units: alone: '
expect_out '^sum [0-9a-f]*: 12 units made here, 0 taken$'
sum=$(cut -d : -f 1 "$work/out")

start_hub
run ./units 12
expect_status 0
expect_no_err
expect_out "^$sum: 12 units made here, 12 taken\$"
pids=''
for n in 1 2 3; do
	./units 12 > out$n 2> err$n &
	pids="$pids $!"
done
for pid in $pids; do
	wait "$pid" || fail "ended with $?"
done
for n in 1 2 3; do
	[ ! -s err$n ] || fail "$(cat err$n)"
	[ "$(cut -d : -f 1 out$n)" = "$sum" ] || fail "another sum: $(cat out$n)"
done
stop_hub
