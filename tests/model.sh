# SPDX-License-Identifier: Apache-2.0
# model.sh: what the tests of models (tests/model) share, after lib.sh:
#
#     holds_in_all model 7 'model'       # in each of its 7 configurations
#     breaks wake orphan 'progress: '    # each rule that can be broken
#     no_other_rules 'model'
#
# `make check-all` runs the configurations that take minutes.

first=			# what every trace of a broken rule begins with
broken=			# the rules so far

# holds_in_all PROGRAM NUMBER WORDS: in every one of its so many configurations.
holds_in_all() {
	model=$top_builddir/tests/model/$1
	run "$model"
	expect_status 0
	cat "$work/out"
	[ "$(grep -c ': all hold$' "$work/out")" -eq "$2" ] ||
	    fail "not every configuration was seen"
	event "$(awk '{ n += $4 } END { print n }' "$work/out")" "steps of the $3"
}

# breaks RULE CONFIGURATION TEXT: found there, with a trace in words that begins
# with $first and ends with what is broken.
breaks() {
	run "$model" --break "$1" --only "$2"
	expect_status 1
	expect_out "^ +1\. $first"
	expect_out "^  BROKEN: $3"
	expect_out "^$2 .*: BROKEN$"
	broken="$broken $1"
}

# no_other_rules WORDS: there is no other way to break it than those above.
no_other_rules() {
	set -- "$1" $broken
	event $(($# - 1)) "broken rules of the $1 found"
	run "$model" --break none-such
	expect_status 2
	for rule in $(sed -n 's/.*there are: //p' "$work/err"); do
		case " $broken " in
		*" $rule "*) ;;
		*) fail "nobody breaks $rule" ;;
		esac
	done
}
