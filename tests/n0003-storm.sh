# SPDX-License-Identifier: Apache-2.0
# A thousand signals a second: no error, nothing missing in what is written.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/gen.sh"

export DS_STORM_COUNT="$work/sent"
sent=0

# stormy ARGUMENT...: destall under the storm says what it says in calm.
stormy() {
	storm "$destall" "$@"
	expect_status 0
	expect_no_err
	sent=$((sent + $(cat "$work/sent")))
}

for args in help "completion bash" "completion zsh"; do
	"$destall" $args > expected
	i=0
	while [ $i -lt 20 ]; do
		stormy $args
		cmp expected "$work/out" || fail "$args: not the whole output"
		i=$((i + 1))
	done
done

gen --count 400 calm > /dev/null
stormy gen --size 40x30 --classes 3 --count 400 files
same_tree calm files "in a storm"
gen --count 400 --tar 64K calm-shards > /dev/null
stormy gen --size 40x30 --classes 3 --count 400 --tar 64K shards
same_tree calm-shards shards "in a storm"

[ $sent -gt 0 ] || fail "no signal was sent"
event $sent "signals"
