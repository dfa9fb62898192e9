# SPDX-License-Identifier: Apache-2.0
# `destall ledger check`: ledgers that are right pass, and whatever is wrong
# with one is found, at its line.
. "${top_srcdir:?run by make check}/tests/lib.sh"

# lines EPOCHS [AWK-CONDITION]: of 100 samples in an order of its own in each
# epoch; those for which the condition holds.
lines() {
	awk -v epochs="$1" 'BEGIN {
		srand(7)
		for (e = 0; e < epochs; e++) {
			for (i = 0; i < 100; i++)
				p[i] = i
			for (i = 99; i > 0; i--) {
				j = int(rand() * (i + 1))
				t = p[i]; p[i] = p[j]; p[j] = t
			}
			for (i = 0; i < 100; i++)
				printf "%d %d %d class%d/%03d.jpg %s\n", e, i / 8, i,
				    p[i] % 7, p[i],
				    p[i] % 33 ? sprintf("%04x%04x", p[i], e) : "skipped"
		}
	}' | awk "${2:-1}"
}

passes() {
	run "$destall" ledger check "$@"
	expect_status 0
	[ "$(wc -l < "$work/out")" -eq 1 ] || fail "not one line"
}

# refuses REGEX ARG...: with one line.
refuses() {
	expected="ledger check: $1"
	shift
	expect_refused 1 "$expected" "$destall" ledger check "$@"
}

# edit SED: a changed copy of good.
edit() { sed "$1" good > bad; }

lines 3 > good
#--- right ones --------------------------------------------------------------
passes good
expect_out '^1 file, 3 epochs, 300 samples, 12 skipped: '
expect_no_err
passes --complete good
cp good same
passes good same good
expect_out '^3 files, 3 epochs, 900 samples, 36 skipped: '
# Batches of another size are the same samples.
awk '{ $2 = int($3 / 13); print }' good > batches
passes good batches
# How a name is escaped does not matter.
sed 's/class1/%63lass1/' good > escaped
passes good escaped
# An end that is cut is said, and fails with --complete.
lines 3 'NR <= 250' > ended
passes good ended
expect_one_line 'ledger check: ended: the last epoch is cut$'
passes ended
refuses 'ended: line 250: epoch 2 has 50 samples, but epoch 0 of ended has 100$' --complete ended
refuses 'ended: line 250: .* but epoch 0 of good has 100$' --complete good ended
# So is a line that has no end.
head -c 5000 good > torn
passes torn
expect_err '^destall: ledger check: torn: the last line has no end, and was left out'
# Late joiners: the rest of an epoch first, then the part that was missed.
{ lines 2 'NR > 40 && NR <= 100'; lines 2 'NR <= 40'; lines 2 'NR > 100'; } > late
passes --complete good late
expect_no_err
{ lines 2 'NR > 140'; lines 2 'NR > 100 && NR <= 120'; } > late
passes good late
expect_err 'late: the last epoch is cut$'
passes late
# Then a last unit that is short comes last: here of 100 by 8, of 40 at most.
{ lines 2 'NR > 40 && NR <= 96'; lines 2 'NR <= 40'; lines 2 'NR > 96'; } > late
passes --complete good late
for end in 100 140 196 197 199; do
	{ lines 1; lines 2 'NR > 140 && NR <= 196'; lines 2 'NR > 100 && NR <= 140'
	  lines 2 'NR > 196'; } | head -n "$end" > late
	passes good late
done
# A ledger that begins where such a job resumed.
{ lines 1 'NR > 60 && NR <= 96'; lines 1 'NR <= 40'; lines 1 'NR > 96'; } > late
refuses 'late: line 80: epoch 0 ends here without position 40: .*--resumed$' --complete late
passes --resumed --complete good late
# A ledger that begins where its job resumed.
lines 3 'NR > 30' > resumed
refuses 'resumed: line 71: epoch 0 ends here without position 0: if its job resumed there, check with --resumed$' resumed
passes --resumed resumed
passes --resumed --complete good resumed
lines 1 'NR > 30 && NR < 60' > resumed
passes --resumed good resumed
# An order that repeats samples.
sed 's/class[0-9]*.....jpg/class1\/x.jpg/' good > repeats
refuses 'repeats: line 2: epoch 0 has class1/x.jpg a second time: .*--repeats$' repeats
passes --repeats repeats
# Nothing at all.
: > empty
passes empty
expect_out '^1 file, 0 epochs, 0 samples, 0 skipped: empty has no samples yet$'
passes empty empty
expect_out '0 skipped: empty and 1 more have no samples yet$'
passes good empty
expect_out ' nothing is missing, nothing came twice; empty has no samples yet$'
refuses 'empty: line 0: no epoch is in it$' --complete good empty
# From a pipe.
mkfifo pipe
cat good > pipe &
passes pipe
wait

#--- wrong ones --------------------------------------------------------------
edit 57d
refuses 'bad: line 100: epoch 0 ends here without position 56$' bad
edit 257d
refuses 'bad: line 299: epoch 2 has position 99, but not 56$' bad
refuses 'bad: line 299: epoch 2 ends here without position 56$' --complete bad
edit '57p'
refuses 'bad: line 58: epoch 0, position 56 a second time$' bad
edit '101,200d'
refuses 'bad: line 101: epoch 2 behind epoch 0: those between are missing$' bad
{ lines 2 'NR > 100'; lines 1; } > bad
refuses 'bad: line 101: epoch 0 behind epoch 1$' bad
edit '100d'
refuses 'bad: line 200: epoch 1 has 100 samples, but epoch 0 of bad has 99$' bad
edit '300d; 299p'
refuses 'bad: line 300: epoch 2, position 98 a second time$' bad
# The last epoch is longer than the others.
{ cat good; echo '2 12 100 more.jpg 00000000'; } > bad
refuses 'bad: line 301: epoch 2 has 101 samples, but epoch 0 of bad has 100$' bad
lines 1 > bad
echo '0 12 100 more.jpg 00000000' >> bad
refuses 'bad: line 101: epoch 0 has 101 samples, but epoch 0 of good has 100$' good bad
# Only a file's first epoch can lack its beginning.
edit '101,110d'
refuses 'bad: line 191: epoch 1 ends here without position 0$' --resumed bad
# A sample in place of another: there already, or new.
edit "130s/class.*jpg/$(sed -n '150s/.* \(class.*jpg\) .*/\1/p' good | sed 's,/,\\/,')/"
refuses 'bad: line 150: epoch 1 has class./0...jpg a second time' bad
edit '130s/class.*jpg/new.jpg/'
refuses 'bad: line 201: epoch 1 does not have the samples of epoch 0 of bad$' bad
edit '230s/class.*jpg/new.jpg/'
refuses 'bad: line 300: epoch 2 does not have the samples of epoch 0 of bad$' bad
# What a late joiner cannot be.
{ lines 2 'NR > 140 && NR <= 150'; lines 2 'NR > 100 && NR <= 120'; } > bad
passes bad
refuses 'bad: line 30: epoch 1 began again from 0 behind position 49, before its end$' good bad
{ lines 1 'NR > 40'; lines 1 'NR <= 20 || NR == 30'; } > bad
refuses 'bad: line 81: epoch 0, from position 40 on and then from 0, lacks 20$' bad
{ lines 1 'NR > 40 && NR != 60'; lines 1 'NR <= 20'; } > bad
refuses 'bad: line 79: epoch 0 has position 99, but not 59$' bad
# Between files: another sample, another crc, skipped in one.
edit '57s/ ........$/ 12345678/'
refuses 'bad: line 57: epoch 0, position 56 is class./0...jpg 12345678, but class./0...jpg 00..0000 in line 57 of good$' good bad
edit '157s/ ........$/ skipped/'
refuses 'bad: line 157: epoch 1, position 56 is .* skipped, but .* in line 157 of same$' same good bad
# What was skipped has no crc, not even 0.
sed '157s/ ........$/ 00000000/' good > zero
refuses 'bad: line 157: epoch 1, position 56 is .* skipped, but .* 00000000 in line 157 of zero$' zero bad
edit '157s/class/Class/'
refuses 'bad: line 157: epoch 1, position 56 is Class./' good bad
cat good > pipe &
refuses 'bad: line 157: epoch 1, position 56 is not what another file has there$' pipe bad
wait

#--- no ledgers --------------------------------------------------------------
for line in '' hello '0 0 0 a' '0 0 0 a b 00000000' '0 0 99999999999999999999 a 00000000' \
    '0 0 0 a 0000000x' '-1 0 0 a 00000000' '0 0 0 a%2 00000000' '0 0 0 a 00000000 '; do
	{ head -n 9 good; printf '%s\n' "$line"; tail -n +11 good; } > bad
	refuses 'bad: line 10: ' bad
	refuses 'bad: line 10: ' good bad
done
edit '10s/$/\r/'
refuses 'bad: line 10: no crc32c' bad
{ head -n 9 good; printf '0 1 9 a\0b 00000000\n'; } > bad
refuses 'bad: line 10: no sample' bad
{ head -n 9 good; printf '0 1 9 \033[31m%% 00000000\n'; } > bad
refuses 'bad: line 10: no sample' bad
{ head -n 9 good; printf '0 1 4294967296 a 00000000\n'; } > bad
refuses 'bad: line 10: position 4294967296: no epoch is that long$' bad
{ head -n 9 good; printf '0 1 4294967295 a 00000000\n'; } > bad
refuses 'bad: line 10: epoch 0 has position 4294967295, but not 9$' good bad
head -c 100000 /dev/zero > bad
refuses 'bad: line 1: too long to be of a ledger$' bad
head -c 100000 "$destall" > bad
refuses 'bad: line 1: ' bad
refuses 'nothing: No such file or directory$' nothing
refuses '\.: Is a directory$' .
refuses 'nothing: No such file or directory$' good nothing

#--- JSON --------------------------------------------------------------------
member() { "${PYTHON:-python3}" -c "
import json, sys
d = json.load(open(sys.argv[1]))
assert d['schema_version'] == 1
print(eval(sys.argv[2]))" "$work/out" "$1"; }
if [ -n "${PYTHON-}" ] && [ "$PYTHON" != : ]; then
	run "$destall" ledger check --json good ended torn
	expect_status 0
	[ "$(member "d['epochs'], d['samples'], d['skipped'], d['samples_per_epoch'], d['violation']")" = \
	    "(3, $((550 + $(wc -l < torn))), $(cat good ended torn | grep -c 'skipped$'), 100, None)" ] || fail "its counts"
	[ "$(member "[(f['path'], f['epochs'], f['cut'], f['torn']) for f in d['files']]")" = \
	    "[('good', 3, False, False), ('ended', 3, True, False), ('torn', 2, True, True)]" ] || fail "its files"
	edit 57d
	run "$destall" ledger check --json bad
	expect_status 1
	expect_one_line 'ledger check: bad: line 100: '
	[ "$(member "d['violation']['file'], d['violation']['line'], d['violation']['text'], d['samples_per_epoch']")" = \
	    "('bad', 100, 'bad: line 100: epoch 0 ends here without position 56', None)" ] || fail "its violation"
	run "$destall" ledger check --json -o doc good
	expect_status 0
	expect_no_out
	[ -s doc ] || fail "no document"
fi

#--- command lines -----------------------------------------------------------
expect_refused 2 'ledger: ' "$destall" ledger
expect_refused 2 'ledger: unknown word .chek.' "$destall" ledger chek good
expect_refused 2 'ledger check: name the ledgers' "$destall" ledger check
expect_refused 2 'ledger check: -o is for --json' "$destall" ledger check -o x good
expect_refused 2 'ledger: .*--complet' "$destall" ledger check --complet=1 good

# Output that cannot be written is a failure.
if [ -w /dev/full ]; then
	status=0
	"$destall" ledger check good > /dev/full 2> "$work/err" || status=$?
	expect_status 1
fi
