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

find "$top_srcdir" -mindepth 1 -name build -prune -o -name '*.[ch]' -print | sort |
while read -r file; do
	name=${file#"$top_srcdir"/}
	check_head "$file" "$name"
	grep -nE '\b(TODO|FIXME|HACK)\b' "$file" | sed "s|^|$name: |"
	awk -v f="$name" '{ gsub(/\t/, "        ") } length > 100 { print f ":" NR ": longer than 100 columns" }' "$file"
done > wrong
[ ! -s wrong ] || fail "$(cat wrong)"

find "$top_srcdir" -mindepth 1 -name 'build*' -prune -o \( -name '*.sh' -o -name '*.mk' -o -name quickstart \) -print |
while read -r file; do
	head -n 3 "$file" | grep -q '^# ' || echo "${file#"$top_srcdir"/}: no head"
done > wrong
[ ! -s wrong ] || fail "$(cat wrong)"
