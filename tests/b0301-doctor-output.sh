# SPDX-License-Identifier: Apache-2.0
# doctor: what people see, and what happens when it cannot be shown.
. "${top_srcdir:?run by make check}/tests/lib.sh"

escape=$(printf '\033')
no_escapes() { ! grep -q "$escape" "$work/out" || fail "escape sequences: $1"; }

run "$destall" doctor
expect_status 0
expect_no_err
no_escapes "not a terminal"
expect_out '^Kernel$'
expect_out '^  (ok|limited|missing) +memfd seals  '
tail -n 1 "$work/out" | grep -Eq '^[0-9]+ ok, [0-9]+ limited, [0-9]+ missing: ' ||
    fail "no summary at the end"

# Every row that is not ok is followed by what it means.
awk '/^  (limited|missing) / { want = 1; next }
     /^           means/ { want = 0 }
     /^  ok / && want { print "no advice before: " $0; bad = 1 }
     END { exit bad || want }' "$work/out" || fail "a row without advice"

# The counts of the last line are those of the rows.
for state in ok limited missing; do
	rows=$(grep -c "^  $state  *" "$work/out" || :)
	tail -n 1 "$work/out" | grep -Eq "(^| )$rows $state" || fail "not $rows $state"
done

# No line is wider than asked for.
for width in 60 80 120; do
	run env COLUMNS=$width "$destall" doctor
	expect_status 0
	long=$(awk -v w=$width 'length($0) > w' "$work/out")
	[ -z "$long" ] || fail "wider than $width: $long"
done

run env FORCE_COLOR=1 "$destall" doctor
grep -q "$escape" "$work/out" || fail "no colour though it was forced"
run env FORCE_COLOR=1 NO_COLOR=1 "$destall" doctor
no_escapes "NO_COLOR is set"
if command -v script > /dev/null 2>&1; then
	TERM=xterm script -qec "$destall doctor" /dev/null < /dev/null > "$work/out"
	grep -q "$escape\[32mok" "$work/out" || fail "no colour on a terminal"
	TERM=xterm NO_COLOR=1 script -qec "$destall doctor" /dev/null < /dev/null > "$work/out"
	no_escapes "NO_COLOR on a terminal"
	TERM=dumb script -qec "$destall doctor" /dev/null < /dev/null > "$work/out"
	no_escapes "TERM is dumb"
fi

# Output that cannot be written: one line, status 1.
for option in "" --json; do
	status=0
	"$destall" doctor $option > /dev/full 2> "$work/err" || status=$?
	expect_status 1
	expect_one_line "cannot write to standard output: No space left"
	status=0
	"$destall" doctor $option >&- 2> "$work/err" || status=$?
	expect_status 1
	expect_one_line "cannot write to standard output: Bad file descriptor"
done

# Streams that are closed are not mistaken for what a check opens.
"$destall" doctor --json > all
names() { sed -n 's/^ *"name": //p' "$1"; }
for closed in '<&-' '2>&-' '<&- 2>&-'; do
	eval "\"\$destall\" doctor --json $closed > some" || fail "failed with $closed"
	[ "$(names some)" = "$(names all)" ] || fail "other rows with $closed"
done
status=0
"$destall" doctor <&- >&- 2>&- || status=$?
expect_status 1

# Nothing in the environment is needed.
run env -i "$destall" doctor
expect_status 0
expect_no_err
expect_out '^  ok +memfd seals'

# A stream that is closed early ends it quietly.
"$destall" doctor | head -n 1 > "$work/out"
expect_out '^Kernel$'
