# SPDX-License-Identifier: Apache-2.0
# preloaded.sh: what the fault tests of the preload object share, after lib.sh.
# The readers are programs that know nothing of it (tests/harness/plain.c).

. "$top_srcdir/tests/faults.sh"

the_plain=$(harness plain)
the_object=$top_builddir/.libs/libdestall-preload.so
data=$PWD/set

# A sanitized object needs its runtime before any other, which a plain program
# does not bring along.
need_object() {
	[ -f "$the_object" ] || skip "built without the preload object"
	! is_sanitized || skip "a plain program cannot take a sanitized object"
}

# preloaded CMD...: as `destall run --data set` would start it, with no process
# between us and it.  To be started in the background: `in_object CMD... &`
# would put a shell before it, so "$preload" CMD... & is for that.
cat > "$work/preload" <<END
#!/bin/sh
# A job of its own, unless it is told which.
: "\${DESTALL_JOB:=\$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')}"
export DESTALL_JOB DESTALL=1 DESTALL_DATA="\${DESTALL_DATA:-$data}"
LD_PRELOAD="$the_object\${LD_PRELOAD:+:\$LD_PRELOAD}" exec "\$@"
END
chmod +x "$work/preload"
preload=$work/preload

# check_plain FILE EPOCHS ITEMS: what it printed: that many whole epochs, or
# more, and not a byte that is wrong.
check_plain() {
	awk -v epochs="$2" -v items="$3" '
	    $1 == "epoch" { n++; bad += $4 != items || $6 != 0 || $8 != 0 }
	    $1 == "all" { all++ }
	    END { exit !(n >= epochs && bad == 0 && all == 1) }' "$1" ||
	    fail "not $2 epochs of $3 right files: $1: $(cat "$1")"
}

# wait_plain PID FILE EPOCHS ITEMS: its end, and that it was a good one.
wait_plain() {
	status=0
	wait "$1" || status=$?
	[ "$status" -eq 0 ] || fail "a reader ended with status $status: $(cat "$2")"
	shift
	check_plain "$@"
}

# expect_lines FILE MOST: of what a job's processes wrote to standard error, so
# many lines of the object at most, and nothing else but the notes of
# `destall run`.
expect_lines() {
	! grep -v '^destall: ' "$1" || fail "somebody else wrote to standard error"
	lines=$(grep -vc '^destall: run: ' "$1") || :
	[ "$lines" -le "$2" ] || fail "$lines lines, not $2: $(cat "$1")"
}

# is_cached SET ITEMS: so many of it are.
is_cached() { [ "$(set_of "$1" cached_items)" = "$2" ]; }

# four.sh OPTION...: a job of four readers, each in its own way and order.
# What they print is in r1.txt to r4.txt; the exit status is the worst.
cat > "$work/four.sh" <<END
worst=0 pids=
for i in 1 2 3 4; do
	case \$i in 1) how=read ;; 2) how=stdio ;; 3) how=mmap ;; *) how=mixed ;; esac
	"$the_plain" how=\$how seed=\$((DS_SEED * 100 + i)) "\$@" > "r\$i.txt" &
	pids="\$pids \$!"
done
for pid in \$pids; do
	wait "\$pid" || worst=\$?
done
exit \$worst
END

# wait_four PID EPOCHS ITEMS [MOST]: the end of such a job, and that all went
# well, with one line at most, or so many.
wait_four() {
	status=0
	wait "$1" || status=$?
	[ "$status" -eq 0 ] || fail "readers ended with status $status: $(cat r?.txt four.err)"
	for i in 1 2 3 4; do
		check_plain "r$i.txt" "$2" "$3"
	done
	expect_lines four.err "${4:-1}"
}
