# SPDX-License-Identifier: Apache-2.0
# The harness itself: little tests that pass, fail or leave something behind,
# and what becomes of them; and each kind of leak in a unit test.
. "${top_srcdir:?run by make check}/tests/lib.sh"

shell=$(readlink "/proc/$$/exe")
head='. "$top_srcdir/tests/lib.sh"'

# inner STATUS REGEX: the test on standard input ends so, and says so.
inner() {
	{ echo "$head"; cat; } > inner.sh
	run "$shell" ./inner.sh
	expect_status "$1"
	[ -z "$2" ] || expect_out "$2"
	rm -f inner.sh
}

inner 0 "" <<'END'
true
END
inner 1 "" <<'END'
false
true
END
inner 1 '^FAILED: because' <<'END'
fail because
END
inner 77 '^SKIPPED: no moon' <<'END'
skip no moon
END
inner 0 "" <<'END'
run sh -c 'echo yes; echo no >&2; exit 5'
expect_status 5
expect_out '^yes$'
expect_err '^no$'
END

# Each expectation can fail.
for expectation in 'expect_status 1' 'expect_out no' 'expect_err yes' \
    expect_no_out expect_no_err 'expect_one_line yes' \
    'expect_refused 0 no sh -c "echo no >&2"'; do
	inner 1 '^FAILED: ' <<-END
	run sh -c 'echo yes; echo no >&2'
	$expectation
	END
done

# Processes left behind: a command, a subshell, an orphan.  All of them would
# stay for ever, so there is nothing to wait for; but until it has begun, a
# command is a shell that does not carry the mark.
head="$head
leftover_patience=2
await_begun() { until leftovers; [ -s \"\$work/left\" ]; do sleep 0.01; done; }"
inner 1 '^LEFT BEHIND: process [0-9]*: sleep' <<'END'
sleep 1000 &
echo $! > ../../pid
await_begun
END
inner 1 '^LEFT BEHIND: process' <<'END'
(while :; do sleep 1000; done) &
await_begun
END
inner 1 '^LEFT BEHIND: process' <<'END'
(sleep 1000 &)
await_begun
END
inner 1 '^LEFT BEHIND: process' <<'END'
setsid sleep 1000 < /dev/null > /dev/null 2>&1 &
await_begun
END
pid=$(cat "$TMPDIR/pid")
rm "$TMPDIR/pid"
# Killed, though not yet gone perhaps: a zombie has no command line.
! grep -q sleep "/proc/$pid/cmdline" 2> /dev/null ||
    fail "process $pid of an inner test still runs"

inner 1 '^LEFT BEHIND: in TMPDIR: .*forgotten' <<'END'
touch "$TMPDIR/forgotten"
END
inner 0 "" <<'END'
mkdir closed
touch closed/file
chmod 0 closed
END
[ -z "$(ls -A "$TMPDIR")" ] || fail "an inner test left its directory"

# Ended from outside, it cleans up too.
inner 143 '^LEFT BEHIND: process' <<'END'
sleep 1000 &
kill -TERM $$
END
[ -z "$(ls -A "$TMPDIR")" ] || fail "an ended test left its directory"

# Nothing of the caller's choices is seen but the seed.
export DESTALL=1 DESTALL_CACHE=1G DS_DIE_AT=here DS_SEED=17 NO_COLOR=1
inner 0 "" <<'END'
[ -z "${DESTALL-}${DESTALL_CACHE-}${DS_DIE_AT-}${NO_COLOR-}" ]
[ "$DS_SEED" = 17 ]
case $HOME$TMPDIR$XDG_RUNTIME_DIR in
"$work"*"$work"*"$work"*) ;;
*) fail "not at home" ;;
esac
END
unset DESTALL DESTALL_CACHE DS_DIE_AT NO_COLOR

# Leaks in unit tests.  AddressSanitizer looks at the heap by itself.
leaky=$(harness leaky)
export ASAN_OPTIONS=detect_leaks=0
run "$leaky" clean
expect_status 0
expect_no_err
"$leaky" list > leaks
[ "$(wc -l < leaks)" -gt 5 ] || fail "no list of leaks"
while IFS=: read -r what words; do
	case $what in
	heap | mapping) ! is_sanitized || continue ;;
	esac
	run "$leaky" "$what"
	expect_status 1
	expect_err "^leak: .*${words# }"
done < leaks
