# SPDX-License-Identifier: Apache-2.0
# l0604: the trainer of doc/examples is built by the command that it names,
# learns, and goes on from its checkpoint to the same weights.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/examples.sh"
build_example train
if command -v c++ > /dev/null; then
	c++ -x c++ -Wall -Wextra -Werror -fsyntax-only -I"$top_srcdir" train.c ||
	    fail "the example is no C++"
fi

"$destall" gen --count 200 --size 40x30 --classes 4 set > /dev/null
export DESTALL_HUB=/dev/null/ctl.sock

run ./train set 6 whole
expect_status 0
expect_err '^train: no cache: '
[ "$(grep -c '^epoch [0-9]: loss [0-9.]*, .* samples/s, waited [0-9]* %$' "$work/out")" -eq 6 ] ||
    fail "not six epochs"
loss() { sed -n "s/^epoch $1: loss \([0-9.]*\),.*/\1/p" "$work/out"; }
awk -v a="$(loss 0)" -v b="$(loss 5)" 'BEGIN { exit !(b < a) }' || fail "it does not learn"

# Interrupted in the middle of epochs, and gone on with: the same to the byte.
for batches in 3 5 4; do
	run ./train set 6 parts $batches
	expect_status 0
done
run ./train set 6 parts
expect_status 0
expect_out '^goes on from the checkpoint$'
cmp whole parts || fail "other weights after it was interrupted"

# It is no checkpoint of this job.
echo nonsense > bad
run ./train set 6 bad
expect_status 1
expect_err '^train: the checkpoint is not one of this job$'
run ./train nowhere
expect_status 1
expect_err '^train: .*nowhere: No such file or directory$'

# Bad pictures are left out, and told of.
: > set/class000/bad.jpg
run ./train set 1
expect_status 0
expect_err '^train: 1 bad pictures were left out$'

# Through the cache, the same.
export DESTALL_HUB="$work/run/ctl.sock"
trap 'status=$?; "$destall" serve --stop > /dev/null 2>&1 || :; (exit $status); finish' EXIT
rm set/class000/bad.jpg
run ./train set 6 cached
expect_status 0
expect_no_err
cmp whole cached || fail "other weights through the cache"
"$destall" serve --stop || fail "the hub does not stop"
