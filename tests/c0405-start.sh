# SPDX-License-Identifier: Apache-2.0
# The hub on first use: one however many start it, and nothing of the job in it.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/hub.sh"
starter=$(harness starter)

nr_hubs() { grep -c ' hub [0-9a-f]\{16\}, process ' "$hub_log" || :; }

# Fifty at once.
for i in $(seq 50); do
	"$starter" > "out.$i" 2> "err.$i" &
	echo $! >> pids
done
i=0
while read -r pid; do
	i=$((i + 1))
	wait "$pid" || fail "starter $i: $(cat "err.$i")"
	[ "$(cat "out.$i")" = connected ] || fail "starter $i says: $(cat "out.$i")"
done < pids
[ "$(nr_hubs)" -eq 1 ] || fail "$(nr_hubs) hubs were started"
event 50 "starts at once"
stop_hub
wait_end "$(hub_pid)"

# A pipe ends though the hub, which a command or a job in it started, lives on.
run timeout 60 sh -c '"$0" serve 2>&1 | cat' "$destall"
expect_status 0
kill -0 "$(hub_pid)" || fail "no hub is there"
stop_hub
wait_end "$(hub_pid)"
run timeout 60 sh -c '"$0" 2>&1 | cat' "$starter"
expect_status 0
expect_out '^connected$'
kill -0 "$(hub_pid)" || fail "no hub is there"
stop_hub
wait_end "$(hub_pid)"

# A job bound to one processor, with a file open, an ignored signal and what
# makes it a job.
need taskset
all=$(sed -n 's/^Cpus_allowed_list:[ \t]*//p' "/proc/$$/status")
exec 9> held
one=${all%%[-,]*}
run sh -c 'trap "" INT USR1; taskset -c "$1" env DESTALL=1 "$0"' "$starter" "$one"
expect_status 0
exec 9>&-
hub=$(hub_pid)
now=$(sed -n 's/^Cpus_allowed_list:[ \t]*//p' "/proc/$hub/status")
[ "$all" = "$one" ] || [ "$now" != "$one" ] || fail "the hub may use processor $now only"
ignored=$(sed -n 's/^SigIgn:[ \t]*//p' "/proc/$hub/status")
# SIGINT is 2, SIGUSR1 10.
[ $((0x$ignored & 0x202)) -eq 0 ] || fail "the hub ignores signals: $ignored"
if is_root; then
	[ "$(readlink "/proc/$hub/cwd")" = / ] || fail "the hub is not in /"
	! readlink "/proc/$hub/fd/"* | grep -q "$work/cwd" || fail "a file of the job is open"
	for fd in 0 1 2; do
		[ "$(readlink "/proc/$hub/fd/$fd")" = /dev/null ] || fail "descriptor $fd"
	done
	! tr '\0' '\n' < "/proc/$hub/environ" | grep -q '^DESTALL=' || fail "the hub is a job"
	tr '\0' '\n' < "/proc/$hub/environ" | grep -q '^DESTALL_HUB=' || fail "no environment"
fi

# What doctor says of it.
run env COLUMNS=200 "$destall" doctor
expect_status 0
expect_out "^  (ok|limited) +hub +runs as process $hub, destall .*; (its memory counts against group /|in which)"
stop_hub
wait_end "$hub"
run "$destall" doctor
expect_out '^  ok +hub +none runs'

# A folder that is not ours alone, a wrong name, no folder.
mkdir -m 755 open
run env DESTALL_HUB="$PWD/open/s" "$starter"
expect_status 1
expect_err "the hub's folder $PWD/open: not ours alone: chmod"
run env DESTALL_HUB=s "$starter"
expect_status 1
expect_err "DESTALL_HUB=s is not an absolute path"
run env DESTALL_HUB="$PWD/no/such/s" "$starter"
expect_status 1
expect_err "cannot make the hub's folder"
