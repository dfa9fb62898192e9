# SPDX-License-Identifier: Apache-2.0
# a0010: a file that the documents name is there, and so is what they link to.
. "${top_srcdir:?run by make check}/tests/lib.sh"

# Folders that are planned, and what a build makes, are not looked for.
paths='(base|tool|man|doc|tests)/[A-Za-z0-9_./*-]+\.(c|h|sh|md|mk|py|in|map)'
cd "$top_srcdir"
for doc in *.md doc/*.md tests/bench/README.md; do
	grep -oE "$paths" "$doc" | grep -v NAME | sort -u | while read -r path; do
		# shellcheck disable=SC2086
		ls $path > /dev/null 2>&1 || [ -e "${doc%/*}/$path" ] || echo "$doc names $path"
	done
	sed -n 's/.*](\([^):#]*\)).*/\1/p' "$doc" | while read -r link; do
		[ -e "$(dirname "$doc")/$link" ] || echo "$doc links to $link"
	done
done > "$work/wrong"
[ ! -s "$work/wrong" ] || fail "$(cat "$work/wrong")"
