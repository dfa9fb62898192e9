# SPDX-License-Identifier: Apache-2.0
# a0005: every source begins with its licence and a head that names the file
# and says which process runs it; none holds debt that nobody sees.
. "${top_srcdir:?run by make check}/tests/lib.sh"

# The first comment of a file.
head_of() { sed -n '1,/\*\//p' "$1"; }

check_head() {
	head_of "$1" > first
	grep -q 'SPDX-License-Identifier: Apache-2.0' first || echo "$2: no licence line"
	grep -q "${2##*/}: " first || echo "$2: its head does not begin with its name"
	# In the tree of tests and examples the file itself says it.
	case $2 in tests/*|doc/*) return ;; esac
	grep -Eqi 'runs? (in|at)|the program|(made|created) (and written )?by the hub' first ||
	    [ "$2" = destall.h ] || echo "$2: its head does not say which process runs it"
}

sources '*.[ch]' | while read -r name; do
	file=$top_srcdir/$name
	check_head "$file" "$name"
	grep -nE '\b(TODO|FIXME|HACK)\b' "$file" | sed "s|^|$name: |"
	awk -v f="$name" '{ gsub(/\t/, "        ") } length > 100 { print f ":" NR ": longer than 100 columns" }' "$file"
done > wrong
[ ! -s wrong ] || fail "$(cat wrong)"

for glob in '*.sh' '*.mk' quickstart check-all fresh-debian; do
	sources "$glob"
done | while read -r name; do
	head -n 3 "$top_srcdir/$name" | grep -q '^# ' || echo "$name: no head"
done > wrong
[ ! -s wrong ] || fail "$(cat wrong)"
