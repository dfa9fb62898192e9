# SPDX-License-Identifier: Apache-2.0
# Every allocation of the commands that need nothing fails, once and from there
# on: one line and status 1, or the full answer.
. "${top_srcdir:?run by make check}/tests/lib.sh"

check_after_failure() {
	if [ "$status" -eq 0 ]; then
		cmp -s expected "$work/out" || fail "with $1: status 0, but not the whole output"
		expect_no_err
	else
		expect_one_line 'out of memory$'
	fi
}

for args in help "help gen" "help completion" "completion bash" \
    "completion zsh" --version; do
	"$destall" $args > expected || fail "destall $args"
	for call in malloc calloc realloc; do
		fail_calls "$call" ENOMEM "$destall" $args
	done
done
