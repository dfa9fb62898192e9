# SPDX-License-Identifier: Apache-2.0
# hub.sh: what tests of the hub share, after lib.sh: a socket in the test's own
# folder, and the hub there.

export DESTALL_HUB="$work/run/s"
hub_log=$work/run/hub.log
frames=$(harness frames)

# start_hub OPTION...
start_hub() {
	run "$destall" serve "$@"
	expect_status 0
	expect_no_out
	expect_no_err
}

# The process of the hub that started last.
hub_pid() { sed -n 's/.* process \([0-9]*\), at .*/\1/p' "$hub_log" | tail -n 1; }

stop_hub() {
	run "$destall" serve --stop
	expect_status 0
	expect_no_err
	[ ! -e "$DESTALL_HUB" ] || fail "the socket is still there"
}

# await COMMAND...: until it succeeds.
await() {
	until "$@"; do sleep 0.02; done
}

# wait_end PID: until that hub, which is no child of ours, has ended.
wait_end() {
	while [ -d "/proc/$1" ] && ! grep -q '^State:.Z' "/proc/$1/status" 2> /dev/null; do
		sleep 0.01
	done
}

# expect_log REGEX
expect_log() { grep -Eq -- "$1" "$hub_log" || fail "the log has no line like: $1: $(cat "$hub_log")"; }

# as_client ARGUMENT...: a client of tests/harness/frames.c.
as_client() { run "$frames" "$@"; }
