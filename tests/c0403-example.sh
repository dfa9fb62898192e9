# SPDX-License-Identifier: Apache-2.0
# c0403: the example of doc/examples is built by the command that it names,
# against the library of this build, and does what it says.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/examples.sh"
build_example epochs

mkdir data data/a
i=0
while [ $i -lt 40 ]; do
	printf 'item %04d' $i > "data/a/$i"
	i=$((i + 1))
done

# Its answers do not depend on a cache.
check_epochs() {
	[ "$(grep -c '^sum ' "$work/out")" -eq 3 ] || fail "not three epochs"
	[ "$(grep '^sum ' "$work/out" | sort -u | wc -l)" -eq 1 ] || fail "epochs differ"
	expect_out "^sum $(cat data/a/* | od -An -v -tu1 | tr -s ' ' '\n' | awk '{ s += $1 } END { print s }')\$"
}

# Where there can be no hub it says so, and goes on.
run env DESTALL_HUB=/does/not/exist/ctl.sock ./epochs data 3
expect_status 0
expect_err '^epochs: no cache: '
check_epochs
expect_out '^epoch 2: 0 from the cache, 40 from storage$'

run env DESTALL_HUB=/does/not/exist/ctl.sock ./epochs nowhere
expect_status 1
expect_err '^epochs: .*nowhere: No such file or directory$'

# At a hub: half of it is cached in the first epoch, and stays.
export DESTALL_HUB="$work/run/ctl.sock"
trap 'status=$?; "$destall" serve --stop > /dev/null 2>&1 || :; (exit $status); finish' EXIT
"$destall" serve --cache 16M || fail "no hub"
run ./epochs data 3 50%
expect_status 0
expect_no_err
check_epochs
expect_out '^epoch 0: 0 from the cache, 40 from storage$'
expect_out '^epoch 1: 20 from the cache, 20 from storage$'
expect_out '^epoch 2: 20 from the cache, 20 from storage$'

# Another job finds it there.
run ./epochs data 3 50%
check_epochs
expect_out '^epoch 0: 20 from the cache, 20 from storage$'
"$destall" serve --stop || fail "the hub does not stop"
