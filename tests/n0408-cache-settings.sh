# SPDX-License-Identifier: Apache-2.0
# Settings that are none (row 52 of bad input): the exact reason, status 2 of a
# command, and a job that does not begin.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/faults.sh"

mkset set 3 1000 2000
nr=0
# bad TEXT CMD...
bad() {
	expect_refused 2 "$@"
	nr=$((nr + 1))
}
for value in 1e30 -1 10GBB NaN inf 0x10 '' ' ' 1.5.5 9999999999999999999999 1G1 0; do
	bad 'serve: .*--cache' "$destall" serve --cache "$value"
	[ -z "$value" ] || bad 'DESTALL_CACHE: ' env DESTALL_CACHE="$value" "$destall" serve
done
for value in 1e30s -1s 10ss NaN '' 5 1h1 0 99999999999999999999s; do
	bad 'serve: .*--idle' "$destall" serve --idle "$value"
	bad 'serve: .*--lease' "$destall" serve --lease "$value"
done
for value in loud DEBUG -1 2 'info '; do
	bad 'DESTALL_LOG: ' env DESTALL_LOG="$value" "$destall" serve
done
bad 'serve: --cache: a number of bytes' "$destall" serve --cache 30%
for value in 101% -5% NaN% 1e30% 0x10% 5%% 35 10G; do
	bad 'cache: .*--cache' "$destall" cache warm --cache "$value" set
done
for value in 0 -1 1000000 x; do
	bad 'cache: .*--threads' "$destall" cache warm --threads "$value" set
done

# The library's own: the job is told, and starts nothing.
start_hub
for value in 101% -5% NaN% 1e30%; do
	run env DESTALL_CACHE="$value" "$(harness job)" hub=find set
	expect_status 1
	expect_err '^job: DESTALL_CACHE: .'
	run "$(harness job)" hub=find budget="$value" set
	expect_status 1
	expect_err '^job: .'
	nr=$((nr + 2))
done
for value in 2 -1 1e30 NaN 101% x 0.1.1; do
	run env DESTALL_AUDIT="$value" "$(harness job)" hub=find set
	expect_status 1
	expect_err "^job: DESTALL_AUDIT: '$value' is not a fraction: write 0.01 or 1%, at most 1 or 100%\$"
	nr=$((nr + 1))
done
run env DESTALL_AUDIT=0.5 DESTALL_CACHE=35% "$(harness job)" hub=find set
expect_status 0
stop_hub

# With no hub, a job that may start one says what the hub says.
run env DESTALL_CACHE=10GBB "$(harness job)" set
expect_status 1
expect_err '^job: .*DESTALL_CACHE: '
run env DESTALL_STAGE=10GBB "$(harness job)" set
expect_status 1
expect_err '^job: .*DESTALL_STAGE: '
[ ! -e "$DESTALL_HUB" ] || fail "a hub was started"
event $nr "settings that are none"
