# SPDX-License-Identifier: Apache-2.0
# l0702: the protocol of the stage holds in every order of events of a small
# world (tests/model/stage_world.h), and the search finds each rule that is
# broken on purpose.  `make check-all` runs the configurations that take minutes.
. "${top_srcdir:?run by make check}/tests/lib.sh"
model=$top_builddir/tests/model/stage

run "$model"
expect_status 0
cat "$work/out"
[ "$(grep -c ': all hold$' "$work/out")" -eq 15 ] || fail "not every configuration was seen"
event "$(awk '{ n += $4 } END { print n }' "$work/out")" "steps of the model of the stage"

# breaks RULE CONFIGURATION TEXT...: found there, with a trace in words that
# ends with what is broken.
breaks() {
	rule=$1 configuration=$2 text=$3
	run "$model" --break "$rule" --only "$configuration"
	expect_status 1
	expect_out "^ +1\. "
	expect_out "^  BROKEN: $text"
	expect_out "^$configuration .*: BROKEN$"
	broken=$((${broken:-0} + 1))
}
breaks retire-early window '2: what was taken has other bytes now'
breaks no-quarantine keep '4: memory is mapped that is not counted'
breaks no-generation pair '2: what was taken has other bytes now'
breaks wait-own-job nested 'progress: '
breaks no-cycle 1:1 'progress: '
breaks no-cycle 1:5 'progress: '
breaks no-cycle ranks 'progress: '
breaks reuse-late-slot threads '3: a FREE slot is written'
breaks pin-none detach '2: what was taken has other bytes now'
breaks lost-wake pair 'progress: '
breaks no-recheck window 'progress: '
breaks look-order detach '2: what was taken has other bytes now'
breaks no-private keep 'progress: '
breaks wake-no-maker window 'progress: '
breaks away epochs '9: all are done, and one is a member'
breaks stopped-maker workers 'progress: '
event "$broken" "broken rules of the model of the stage found"

# There is no other way to break it than those above.
run "$model" --break none-such
expect_status 2
for rule in $(sed -n 's/.*there are: //p' "$work/err"); do
	grep -q "^breaks $rule " "$top_srcdir/tests/l0702-model.sh" || fail "nobody breaks $rule"
done
