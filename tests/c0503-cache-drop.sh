# SPDX-License-Identifier: Apache-2.0
# c0503: destall cache drop: forgets what nobody uses, and nothing else.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cachecmd.sh"

make_data data 30
make_data other 5
ln -s data link

# It starts no hub.
expect_refused 1 "$PWD/data: nothing of it is cached: no hub runs\$" "$destall" cache drop data
expect_refused 1 "data set none: No such file" "$destall" cache drop none
run "$destall" cache warm data
run "$destall" cache warm other
expect_refused 1 ".*/none: nothing of it is cached\$" "$destall" cache drop "$PWD/none"

# In use.
hold data
expect_refused 1 "$PWD/data: in use: .*: such as $holder \(holder\)\$" "$destall" cache drop data
check_json 'assert s["cached_items"] == 30'
let_go

# By any name of it; the memory is given back, the others stay.
attempt=0
until run "$destall" cache drop ./link; [ "$status" -eq 0 ]; do
	expect_one_line '.*in use'
	attempt=$((attempt + 1))
	[ $attempt -lt 1000 ] || fail "in use for ever"
done
expect_no_err
expect_out "^$PWD/data: dropped, with 30 items of 29\.3 KiB\$"
check_json '
assert len(d["datasets"]) == 1 and s["items"] == 5
assert d["used_bytes"] < 30 * 4096
assert [j["root"] for j in d["jobs"]].count(None) == 2
'
expect_refused 1 "$PWD/data: nothing of it is cached\$" "$destall" cache drop data
run "$destall" cache warm data
expect_out ': 30 read in '

# One that is gone from its place, of any bytes.
odd=$(printf 'odd\033[31m\377\n name')
mv other "$odd"
run "$destall" cache warm "$odd"
expect_status 0
rm -r "$odd"
run "$destall" cache drop "$PWD/$odd"
expect_status 0
expect_out '/odd\\x1b\[31m\\xff\\x0a name: dropped, with 5 items of 4\.88 KiB$'
expect_refused 1 '.*/odd\\x1b\[31m\\xff\\x0a name: nothing of it is cached$' "$destall" cache drop "$PWD/$odd"
run "$destall" cache drop "$PWD/other"
expect_status 0

# Shards are another data set than their folder.
mkdir shards
tar -cf shards/0.tar -C data a b
run "$destall" cache warm tar:shards
expect_status 0
expect_refused 1 ".*/shards: nothing of it is cached\$" "$destall" cache drop shards
run "$destall" cache drop tar:shards
expect_status 0
expect_out "^tar:$PWD/shards: dropped, with 30 items"

run "$destall" cache drop data
expect_status 0
check_json 'assert d["datasets"] == [] and d["used_bytes"] == 0, d'
stop_hub
