# SPDX-License-Identifier: Apache-2.0
# c0402: the protocol of leases holds in every order of events of a small
# world (tests/model/world.h), and the search finds each rule that is broken on
# purpose.  `make check-all` runs the configurations that take minutes.
. "${top_srcdir:?run by make check}/tests/lib.sh"
model=$top_builddir/tests/model/model

run "$model"
expect_status 0
cat "$work/out"
[ "$(grep -c ': all hold$' "$work/out")" -eq 7 ] || fail "not every configuration was seen"
event "$(awk '{ n += $4 } END { print n }' "$work/out")" "steps of the model"

# breaks RULE CONFIGURATION TEXT...: found there, with a trace in words that
# ends with what is broken.
breaks() {
	rule=$1 configuration=$2 text=$3
	run "$model" --break "$rule" --only "$configuration"
	expect_status 1
	expect_out "^ +1\. client A asks to open set 0"
	expect_out "^  BROKEN: $text"
	expect_out "^$configuration .*: BROKEN$"
	broken=$((${broken:-0} + 1))
}
breaks generation orphan '3: READY, but the file is not complete'
breaks proof orphan '4: bytes that had a name were written'
breaks revoke orphan 'rule 6: a lease of a set that nobody uses'
breaks revoke three '(5|rule 6): '
breaks drop-in-use drop '9: a set in use was dropped'
breaks wake orphan 'progress: '
breaks wake-revoke orphan 'progress: '
breaks load-order orphan 'progress: '
breaks quarantine orphan '7: memory is held that is not counted'
breaks holds orphan '2: a draft without the lease'
breaks leave orphan '6: the users'
breaks reopen corrupt '10: admission was opened again'
breaks report corrupt '9: an item of a set in use was dropped'
event "$broken" "broken rules of the model found"

# There is no other way to break it than those above.
run "$model" --break none-such
expect_status 2
for rule in $(sed -n 's/.*there are: //p' "$work/err"); do
	grep -q "^breaks $rule " "$top_srcdir/tests/c0402-model.sh" || fail "nobody breaks $rule"
done
