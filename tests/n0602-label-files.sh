# SPDX-License-Identifier: Apache-2.0
# Lists of labels that are wrong (row 21 of bad input), and calls that fail
# while labels are read and a ledger is written: one line that says why, and a
# ledger that tells of nothing but what was delivered.
. "${top_srcdir:?run by make check}/tests/lib.sh"

labeled=$(harness labeled)
mkdir -p set/a set/b
for i in 0 1 2 3 4; do
	echo $i > "set/a/$i x.jpg"
	echo $i > set/b/$i.jpg
done

#--- right ones --------------------------------------------------------------
run "$labeled" folders set
expect_status 0
expect_out '^a/4 x.jpg 0 a$'
expect_out '^b/0.jpg 1 b$'
printf 'b/1.jpg 5\na/0 x.jpg\t7\n' > list
run "$labeled" list set
expect_status 0
printf 'b/1.jpg 5 -\na/0 x.jpg 7 -\n' | cmp - "$work/out" || fail "not in the order of the list"

#--- wrong ones --------------------------------------------------------------
nr=0
# bad REGEX PRINTF-ARG...: the list, and what is said of it.
bad() {
	text=$1
	shift
	# shellcheck disable=SC2059
	printf "$@" > list
	run "$labeled" list set
	expect_status 1
	expect_no_out
	[ "$(wc -l < "$work/err")" -eq 1 ] || fail "not one line for: $*"
	expect_err "^labeled: list: $text"
	nr=$((nr + 1))
}
bad 'line 2: holds a NUL byte' 'b/1.jpg 5\nb/2.jpg\0 5\n'
bad 'line 1: holds a NUL byte' '\377\376b\0/\0'
bad 'line 1: ends as DOS ends lines' 'b/1.jpg 5\r\nb/2.jpg 5\r\n'
bad 'line 1: begins with a byte order mark' '\357\273\277b/1.jpg 5\n'
bad 'line 3: b/1.jpg is listed already' 'b/1.jpg 5\nb/2.jpg 5\nb/1.jpg 6\n'
bad 'line 2: b/9.jpg is not in data set ' 'b/1.jpg 5\nb/9.jpg 6\n'
bad 'line 1: \.\./set/b/1.jpg is not in data set ' '../set/b/1.jpg 5\n'
bad 'line 1: no label' 'b/1.jpg\n'
bad 'line 2: no label' '\nb/1.jpg \n'
bad 'line 1: .x.jpg. is no label' 'a/0 x.jpg\n'
bad 'line 1: .-1. is no label' 'b/1.jpg -1\n'
bad 'line 1: a label is 2147483647 at most' 'b/1.jpg 2147483648\n'
bad 'line 1: a label is 2147483647 at most' 'b/1.jpg 18446744073709551616\n'
bad 'line 1: too long' '%09000d 1\n' 0
run "$labeled" nothing set
expect_status 1
expect_err '^labeled: list of labels nothing: No such file or directory: labels are '
run "$labeled" . set
expect_err '^labeled: list of labels \.: not a regular file$'
mkfifo pipe
run "$labeled" pipe set
expect_err '^labeled: list of labels pipe: not a regular file$'
if ! is_root; then
	chmod 0 list
	run "$labeled" list set
	expect_err '^labeled: list of labels list: Permission denied$'
	chmod 600 list
fi
event $((nr + 3)) "lists of labels that are wrong"

#--- the ledger of one epoch -------------------------------------------------
run "$labeled" folders set ledger
expect_status 0
run "$destall" ledger check --complete ledger
expect_status 0
expect_out '^1 file, 1 epoch, 10 samples, 1 skipped: '
cp ledger whole
run "$labeled" folders set ledger
expect_status 1
expect_err '^labeled: ledger ledger: it has lines already'
cmp ledger whole || fail "it was changed"
# Killed at any byte, and resumed at the batch that was torn.
len=$(wc -c < whole)
for at in 0 1 $((len / 3)) $((len / 2)) $((len - 1)); do
	head -c "$at" whole > ledger
	batches=$(($(wc -l < ledger) / 4))
	run "$labeled" folders set ledger 0 $((4 * batches))
	expect_status 0
	cmp ledger whole || fail "cut at $at and resumed, it is another"
done
# Resumed from before its end: what is delivered again is written once.
run "$labeled" folders set ledger 0 4
expect_status 0
cmp ledger whole || fail "resumed from 4, it is another"
run "$labeled" folders set ledger 1 0
expect_status 0
run "$destall" ledger check --complete ledger whole
expect_status 0
# On a disk that is full.
run "$labeled" folders set /dev/full
expect_status 1
expect_err '^labeled: ledger /dev/full: No space left on device: '

#--- failing calls -----------------------------------------------------------
fail_exe=labeled
printf 'b/%s.jpg 1\n' 0 1 2 3 4 > list
before_failure() { head -c $((len / 2)) whole > ledger; }
resume() { "$labeled" folders set ledger 0 2 && "$labeled" list set; }
check_after_failure() {
	"$destall" ledger check ledger > "$work/checked" 2>&1 || fail "$1: $(cat "$work/checked")"
}
for call in malloc:ENOMEM calloc:ENOMEM realloc:ENOMEM open:EMFILE read:EIO \
    pread:EIO write:ENOSPC write:short ftruncate:EIO fstat:EIO; do
	fail_calls "${call%:*}" "${call#*:}" resume
done

fail_exe=destall
before_failure() { :; }
check() { "$destall" ledger check whole whole; }
check_after_failure() {
	[ "$status" -eq 1 ] || grep -q '^2 files, 1 epoch, 20 samples' "$work/out" ||
	    fail "$1: status $status, and no result"
}
for call in malloc:ENOMEM calloc:ENOMEM realloc:ENOMEM open:EMFILE read:EIO read:short; do
	fail_calls "${call%:*}" "${call#*:}" check
done
