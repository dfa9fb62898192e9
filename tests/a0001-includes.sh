# SPDX-License-Identifier: Apache-2.0
# a0001: a file includes headers of its own folder and of folders to its left:
#
#     base <- hub <- cache <- preload <- prep <- stage <- loader <- tool
#     base <- reports <- analyzer <- tool
#     base <- launch <- loader, analyzer: starting jobs
#     base <- probe <- preload, loader, analyzer: what passes between a job and its profiler
#
# Everyone may include destall.h.
. "${top_srcdir:?run by make check}/tests/lib.sh"

allowed() {
	case $1 in
	base)		echo base ;;
	hub)		echo base hub ;;
	cache)		echo base hub cache ;;
	probe)		echo base probe ;;
	launch)		echo base launch ;;
	preload)	echo base probe hub cache preload ;;
	prep)		echo base prep ;;
	stage)		echo base hub stage ;;
	loader)		echo base probe launch hub cache preload prep stage loader ;;
	reports)	echo base reports ;;
	analyzer)	echo base probe launch reports analyzer ;;
	tool)		echo base probe launch hub cache preload prep stage loader reports analyzer tool ;;
	man)		echo base tool ;;
	tests)		echo base probe launch hub cache preload prep stage loader reports analyzer tool tests ;;
	*)		fail "folder $1 has no place in the order of includes" ;;
	esac
}

# check_includes: every quoted include of every source below $top_srcdir.
check_includes() {
	sources '*.[ch]' | grep / | grep -v '^doc/' | while read -r file; do
		folder=${file%%/*}
		sed -n 's/^#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$top_srcdir/$file" |
		while read -r header; do
			case $header in
			destall.h) continue ;;
			*/*) ;;
			*) echo "$file includes \"$header\" without its folder"; continue ;;
			esac
			case " $(allowed "$folder") " in
			*" ${header%%/*} "*) ;;
			*) echo "$file includes \"$header\", which is to its right" ;;
			esac
		done
	done
}

wrong=$(check_includes)
[ -z "$wrong" ] || fail "$wrong"

# The check itself: it sees a step to the right.
mkdir -p tree/base
echo '#include "tool/commands.h"' > tree/base/bad.c
top_srcdir=$PWD/tree
[ -n "$(check_includes)" ] || fail "a wrong include was not seen"
