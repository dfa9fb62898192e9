# SPDX-License-Identifier: Apache-2.0
# A thousand signals a second: no error, nothing missing in what is written.
. "${top_srcdir:?run by make check}/tests/lib.sh"

export DS_STORM_COUNT="$work/sent"
sent=0
for args in help "completion bash" "completion zsh"; do
	"$destall" $args > expected
	i=0
	while [ $i -lt 20 ]; do
		storm "$destall" $args
		expect_status 0
		expect_no_err
		cmp expected "$work/out" || fail "$args: not the whole output"
		sent=$((sent + $(cat "$work/sent")))
		i=$((i + 1))
	done
done
event $sent "signals"
