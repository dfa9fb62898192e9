# SPDX-License-Identifier: Apache-2.0
# Wrong values for destall serve, on the command line and in the environment
# (row 52): one line each, exit status 2, and no hub.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/hub.sh"

expect_refused 2 'serve: --cache: a number of bytes, such as 8G: .*DESTALL_CACHE=30%' "$destall" serve --cache 30%
for value in 1e30 -1 10GBB NaN inf '' ' 1G' 99999999999999999999 0x10 1,5G; do
	expect_refused 2 "serve: .*--cache" "$destall" serve "--cache=$value"
	[ -n "$value" ] || continue
	expect_refused 2 'DESTALL_CACHE: ' env "DESTALL_CACHE=$value" "$destall" serve
	expect_refused 2 'DESTALL_CACHE: ' env "DESTALL_CACHE=$value" "$destall" serve --foreground
done
expect_refused 2 "serve: --cache: more than 0" "$destall" serve --cache 0
expect_refused 2 'DESTALL_CACHE: ' env DESTALL_CACHE=0 "$destall" serve
expect_refused 2 'DESTALL_CACHE: ' env DESTALL_CACHE=101% "$destall" serve
for value in 1e30 -1 10GBB NaN '' 30% 0 ' 1G'; do
	expect_refused 2 "serve: .*--stage" "$destall" serve "--stage=$value"
	[ -z "$value" ] || expect_refused 2 'DESTALL_STAGE: ' env "DESTALL_STAGE=$value" "$destall" serve
done
expect_refused 2 "serve: --idle: more than 0" "$destall" serve --idle 0s
expect_refused 2 "serve: .*--idle" "$destall" serve --idle 10
expect_refused 2 "serve: .*--lease" "$destall" serve --lease soon
expect_refused 2 "serve: .*twice|serve: .*--cache" "$destall" serve --cache 1G --cache 2G
expect_refused 2 "serve: --stop goes with no other option" "$destall" serve --stop --cache 1G
expect_refused 2 "serve: --stop goes with no other option" "$destall" serve --stop --stage 1G
expect_refused 2 "serve: --ready-fd goes with --foreground" "$destall" serve --ready-fd 3
expect_refused 2 "serve: --ready-fd: no such descriptor" "$destall" serve --foreground --ready-fd 99
expect_refused 2 "DESTALL_LOG: 'loud' is not quiet, error, warn, info or debug" env DESTALL_LOG=loud "$destall" serve

# What is wrong is also told to the one who started it.
status=0
DESTALL_CACHE=10GBB "$destall" serve --foreground --ready-fd 3 3> told > "$work/out" 2> "$work/err" || status=$?
expect_status 2
grep -q "^DESTALL_CACHE: '10GBB'" told || fail "told: $(cat told)"

# Where the socket cannot be.
expect_refused 1 'DESTALL_HUB=relative is not an absolute path' env DESTALL_HUB=relative "$destall" serve
expect_refused 1 '.*longer than' env "DESTALL_HUB=/$(printf '%0110d' 0)" "$destall" serve
mkdir open
chmod 755 open
expect_refused 1 '.*not ours alone' env "DESTALL_HUB=$PWD/open/s" "$destall" serve
: > "$work/run/s"
run "$destall" serve --foreground	# its log is on standard error, too
expect_status 1
expect_err "^destall: .*$work/run/s is there and no socket"
expect_refused 1 ".*$work/run/s is there and no socket" "$destall" serve
rm "$work/run/s"
[ ! -e "$work/run/s" ] || fail "there is a socket"
