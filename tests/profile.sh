# SPDX-License-Identifier: Apache-2.0
# profile.sh: what the tests of steered jobs share, after lib.sh.

# conduct "WORD..." CMD...: as run, with a profiler that does what the words say
# (tests/harness/conduct.c); the records into $work/records, what the job printed
# into $work/out.
conduct() {
	conduct_words=$1
	shift
	rm -rf "$work/session"
	status=0
	"$(harness conduct)" "$work/session" "$conduct_words" \
	    sh -c 'exec "$@" > "$0"' "$work/out" "$@" \
	    > "$work/records" 2> "$work/err" || status=$?
	[ "$status" -ne 99 ] || fail "conduct: $(cat "$work/err")"
}

# records KIND [AWK]: those of a kind, for which an expression holds; $3... are
# its words.
records() { awk -v k="$1" "\$1 == k && (${2:-1})" "$work/records"; }

# expect_records N KIND [AWK]
expect_records() {
	[ "$(records "$2" "${3:-1}" | wc -l)" -eq "$1" ] ||
	    fail "not $1 records $2 with ${3:-1}: $(cat "$work/records")"
}

# expect_left WHY: the last thing that was told.
expect_left() {
	expect_records 1 LEFT "\$4 == $1"
	[ "$(sed -n 'x;$p' "$work/records" | awk '{ print $1 }')" = LEFT ] || fail "LEFT is not the last record"
}
