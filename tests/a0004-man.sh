# SPDX-License-Identifier: Apache-2.0
# a0004: every command has a man page; page, --help and completions name the
# same options.
. "${top_srcdir:?run by make check}/tests/lib.sh"

[ -f "$top_builddir/man/destall.1" ] || skip "man pages are not built in a cross build"

run "$destall" --help
expect_status 0
sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p' "$work/out" > commands
[ -s commands ] || fail "no commands in --help"

# The long options of a text, one a line.
options_of() { grep -oE -- '--[a-z][a-z-]*' "$1" | sort -u; }

"$destall" completion bash > completion.bash
"$destall" completion zsh > completion.zsh
while read -r command; do
	page=$top_builddir/man/destall-$command.1
	[ -f "$page" ] || fail "destall $command has no man page"
	"$destall" "$command" --help > help
	sed -n 's/^ \{2,\}\(-[a-z],\)\{0,1\} *\(--[a-z-]*\).*/\2/p' help | sort -u > in_help
	sed -n 's/^\\fB\(\\-[a-z]\\fR, \\fB\)\{0,1\}\(\\-\\-[^\\=]*.*\)\\fR.*/\2/p' "$page" |
	    sed 's/\\-/-/g; s/\\fR.*//' | sort -u > in_page
	diff in_help in_page || fail "options of $command: --help and man page differ"
	grep -E "^	+$command\) words=" completion.bash > line || fail "$command is not in the bash completion"
	options_of line > in_bash
	diff in_help in_bash || fail "options of $command: --help and bash completion differ"
	sed -n "/^	$command)/,/;;/p" completion.zsh |
	    grep -oE "'[*]?--[a-z][a-z-]*" | tr -d "'*" | sort -u > in_zsh
	diff in_help in_zsh || fail "options of $command: --help and zsh completion differ"
	grep -q "destall.-$command" "$top_builddir/man/destall.1" || fail "destall.1 does not name $command"
done < commands

# Every page is well-formed.
if command -v man > /dev/null && man --version > /dev/null 2>&1; then
	for page in "$top_builddir"/man/*.1; do
		LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" \
		    > /dev/null 2> warnings || fail "$page: $(cat warnings)"
		[ ! -s warnings ] || fail "$page: $(cat warnings)"
	done
fi
