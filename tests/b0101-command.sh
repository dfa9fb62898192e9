# SPDX-License-Identifier: Apache-2.0
# b0101: the command line: help, version, wrong words, exit statuses.
. "${top_srcdir:?run by make check}/tests/lib.sh"

run "$destall"
expect_status 2
expect_err '^usage: destall COMMAND'
expect_no_out

run "$destall" --help
expect_status 0
expect_out '^usage: destall COMMAND'
expect_no_err
sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p' "$work/out" > commands

run "$destall" --version
expect_status 0
expect_out '^destall [0-9]+\.[0-9]+\.[0-9]+$'

# Everywhere the same.
while read -r command; do
	run "$destall" "$command" --help
	expect_status 0
	expect_out "^usage: destall $command"
	cp "$work/out" help
	run "$destall" help "$command"
	cmp -s help "$work/out" || fail "help $command and $command --help differ"
	run "$destall" "$command" -h
	cmp -s help "$work/out" || fail "$command -h and --help differ"
	run "$destall" "$command" --version
	expect_status 0
	expect_out '^destall [0-9]'
	expect_refused 2 "$command: unknown option --hepl: did you mean --help\?" "$destall" "$command" --hepl
	expect_refused 2 "$command: unknown option -Q" "$destall" "$command" -Q
done < commands

expect_refused 2 "unknown command 'docter': did you mean 'doctor'\?" "$destall" docter
expect_refused 2 "unknown command 'xyzzy': see 'destall --help'" "$destall" xyzzy
expect_refused 2 "unknown command ''" "$destall" ''
expect_refused 2 "unknown option --frobnicate: see 'destall --help'" "$destall" --frobnicate
expect_refused 2 'unknown option --versoin: did you mean --version\?' "$destall" --versoin
expect_refused 2 "unknown command 'nosuch'" "$destall" help nosuch
expect_refused 2 'completion: bash\|zsh is missing' "$destall" completion
expect_refused 2 "completion: too many operands: 'zsh'" "$destall" completion bash zsh
expect_refused 2 "completion: 'fish' is not known" "$destall" completion fish
# What a stranger wrote does not reach the terminal as it is.
expect_refused 2 "unknown command '.x1b\[31mred'" "$destall" "$(printf '\033[31mred')"

# Output that does not arrive is a failure.
if [ -w /dev/full ]; then
	status=0
	"$destall" completion bash > /dev/full 2> "$work/err" || status=$?
	: > "$work/out"
	expect_status 1
	expect_one_line 'cannot write to standard output: No space left on device'
fi
status=0
"$destall" completion bash >&- 2> "$work/err" || status=$?
expect_status 1
expect_one_line 'cannot write to standard output: Bad file descriptor'
