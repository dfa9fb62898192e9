# SPDX-License-Identifier: Apache-2.0
# c0701: destall env: what it prints is what a shell reads, again and again.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/run.sh"

make_data data 10

run "$destall" env --data data
expect_status 0
expect_one_line "env: caching $PWD/data: 10 files, 9\.77 KiB, all of it\$"
parts() {
	echo "export LD_PRELOAD='$object'"
	[ -z "$hook" ] || echo "export PYTHONPATH='$hook'"
}
{ parts && echo "export DESTALL_DATA='$PWD/data'"; } > want
diff want "$work/out" || fail "not what it should print"
run "$destall" cache stat
expect_out "idle +$PWD/data\$"

# The hub that it started waits for jobs.
run quiet "$destall" env
expect_status 0
expect_no_err
[ "$(cat "$work/out")" = "$(parts)" ] || fail "without a data set"
run "$destall" env --cache 35% --data data
expect_out "^export DESTALL_CACHE='35%'\$"

# evaluate OPTION...: into a new shell, twice; prints what its commands get.
evaluate() {
	sh -c 'eval "$("$0" env "$@")"; eval "$("$0" env "$@")"; env -0' "$destall" "$@" 2> /dev/null |
	    tr '\0' '\n' | sed -n '/^DESTALL/p; /^LD_/p' | grep -v '^DESTALL_HUB=' | sort
}
if ! is_sanitized; then
	evaluate --data data > got
	printf 'DESTALL_DATA=%s\nLD_PRELOAD=%s\n' "$PWD/data" "$object" | diff - got ||
	    fail "evaluated twice"
	# It keeps what is there.
	fail_shim=$(shim fail)
	(export LD_PRELOAD="$fail_shim" && evaluate --data data) > got
	grep -qxF "LD_PRELOAD=$object:$fail_shim" got || fail "LD_PRELOAD: $(cat got)"
	# The variable that it prints is the one that it reads.
	sh -c 'eval "$("$0" env --data "$1")"; eval "$("$0" env)"; printf "%s\n" "$DESTALL_DATA"' \
	    "$destall" data > got 2> /dev/null
	[ "$(cat got)" = "$PWD/data" ] || fail "DESTALL_DATA is lost: $(cat got)"
fi

# Names of any bytes come back as they are.
for name in "a b" "it's" '$(touch made)`touch made`' 'a"b\c' "new
line" "$(printf 'tab\tand \303\244\377')" "*" "-n" "''"; do
	rm -rf odd
	mkdir -p "odd/$name"
	echo item > "odd/$name/one"
	"$destall" env --data "odd/$name" > lines 2> /dev/null || fail "env --data '$name'"
	for shell in sh dash bash zsh; do
		command -v $shell > /dev/null || continue
		printf '%s' "$PWD/odd/$name" > want
		env -u LD_PRELOAD $shell -c '. ./lines; unset LD_PRELOAD; printf %s "$DESTALL_DATA"' > got
		cmp -s want got || fail "$shell reads '$name' as '$(cat got)'"
	done
done
[ ! -e made ] || fail "a name was executed"

# All of it, or nothing.
expect_refused 1 'env: .*nosuch' "$destall" env --data nosuch
expect_refused 1 'env: .*nosuch' env DESTALL_DATA=/nosuch "$destall" env
expect_refused 1 'env: DESTALL_CACHE: ' env DESTALL_CACHE=lots "$destall" env
expect_refused 1 'env: ' env DESTALL_HUB="$work/none/none/s" "$destall" env --data data
expect_refused 2 'env: too many operands' "$destall" env data
status=0
"$destall" env --data data > /dev/full 2> "$work/err" || status=$?
expect_status 1

mkdir -p tree/.libs
cp "$destall" tree/destall
copy_hook tree
cp "$object" tree/.libs/
chmod 755 tree/.libs
chmod 757 tree/.libs/libdestall-preload.so
expect_refused 1 'env: .*libdestall-preload.so is not loaded into jobs: all users can write it$' \
    tree/destall env --data data
stop_hub
