# SPDX-License-Identifier: Apache-2.0
# cache.sh: what the tests of the cache share.  Sourced after lib.sh, which gives
# each test a runtime directory, and so a hub, of its own.  The programs are
# those of tests/harness/mkset.c and job.c.

. "$top_srcdir/tests/hub.sh"

mkset() { "$(harness mkset)" "$@"; }
job() { "$(harness job)" "$@"; }

# word FILE LINE NAME: the number after NAME in the first line that begins
# with LINE, of what job printed.
word() {
	awk -v line="$2" -v name="$3" '$1 == line {
		for (i = 1; i < NF; i++)
			if ($i == name) { print $(i + 1); exit }
	}' "$1"
}

# stat_of PATH...: numbers of `destall cache stat --json`: used_bytes,
# hub.pid, datasets.0.hits, each on a line.
stat_of() {
	"$destall" cache stat --json | "$PYTHON" -c '
import json, sys
doc = json.load(sys.stdin)
for path in sys.argv[1:]:
    at = doc
    for key in path.split("."):
        at = at[int(key) if key.isdigit() else key]
    print(at)' "$@"
}

need_python() { [ -n "${PYTHON-}" ] || skip "configured without Python"; }

#--- tests that kill ---------------------------------------------------------

# To be started in the background: a function would put a shell before it.
the_job=$(harness job)

# No job of a test takes longer, unless it hangs.
bounded() { timeout -k 1 100 "$@"; }

# scale N: that often here, and more where DS_KILLS asks for it.
scale() { echo $(($1 * ${DS_KILLS:-1})); }

# choose N: a number from 0 to N - 1 into $chosen; DS_SEED decides.
choose_state=$DS_SEED
choose() {
	choose_state=$(((choose_state * 1103515245 + 12345) % 2147483648))
	chosen=$((choose_state / 65536 % $1))
}

# choose_time MS: sleeps less than that.
choose_time() {
	choose "$1"
	sleep "$(printf '%d.%03d' $((chosen / 1000)) $((chosen % 1000)))"
}

# wait_file FILE...
wait_file() {
	for f in "$@"; do
		until [ -e "$f" ]; do sleep 0.01; done
	done
}

# check_job FILE EPOCHS ITEMS: of what it printed, every epoch has every item,
# none of them wrong; and no get waited longer than one may.
check_job() {
	awk -v epochs="$2" -v items="$3" '
	    $1 == "epoch" { n++; bad += $4 != items || $6 != 0 || $8 != 0 }
	    $1 == "longest" { long += $2 > 20000000 }
	    END { exit !(n == epochs && bad == 0 && long == 0) }' "$1" ||
	    fail "not $2 epochs of $3 right items, in time: $1: $(cat "$1")"
}

# wait_job PID FILE EPOCHS ITEMS: its end, and that it was a good one.
wait_job() {
	status=0
	wait "$1" || status=$?
	[ "$status" -eq 0 ] || fail "a job ended with status $status: $(cat "$2")"
	shift
	check_job "$@"
}

# wait_killed PID: a job that died of SIGKILL.
wait_killed() {
	status=0
	wait "$1" 2> /dev/null || status=$?
	[ "$status" -eq 137 ] || fail "exit status $status of a job that was to be killed"
	kills=$((${kills:-0} + 1))
}

# figure NAME VALUE...: for doc/reliability.md.
figure() {
	[ -z "${DS_FIGURES-}" ] || echo "$*" >> "$DS_FIGURES"
}

# The hub as it is: clients, leases, used bytes, late publishes, admitted items.
hub_state() {
	"$destall" cache stat --json > "$work/state.json" || fail "no statistics"
	"$PYTHON" -c '
import json, sys
doc = json.load(open(sys.argv[1]))
total = lambda key: sum(d[key] for d in doc["datasets"])
print(doc["hub"]["clients"], total("leases"), doc["used_bytes"],
      total("late_publishes"), total("cached_items"))' "$work/state.json"
}

# read_state: into variables.
read_state() {
	hub_state > "$work/state"
	read -r clients leases used late admitted < "$work/state"
}

# state_of NAME: the last state's number of that name, of the first data set.
state_of() { sed -n "s/^ *\"$1\": \([0-9]*\),*$/\1/p" "$work/state.json" | head -n 1; }

# expect_idle: nobody is there, and nothing is leased; soon.
expect_idle() {
	attempt=0
	while :; do
		read_state
		[ "$clients" -ne 0 ] || [ "$leases" -ne 0 ] || return 0
		[ $attempt -lt 100 ] ||
		    fail "the hub has $clients clients and $leases leases when nobody is there"
		attempt=$((attempt + 1))
		sleep 0.05
	done
}

# Descriptors of a process; 0 where we may not look.
count_fds() { find "/proc/$1/fd" -mindepth 1 2> /dev/null | wc -l; }

# take_baseline: of a hub with which nobody has done anything.
take_baseline() {
	hub=$(hub_pid)
	expect_idle
	base_used=$used
	sleep 0.1
	base_fds=$(count_fds "$hub")
}

# expect_baseline SET...: idle, and as it was when these sets are dropped.
expect_baseline() {
	expect_idle
	for set in "$@"; do
		run "$destall" cache drop "$set"
		[ "$status" -eq 0 ] || grep -q 'nothing of it is cached' "$work/err" ||
		    fail "cannot drop $set"
	done
	attempt=0
	while :; do
		read_state
		fds=$(count_fds "$hub")
		[ "$used" -ne "$base_used" ] || [ "$fds" -ne "$base_fds" ] || return 0
		[ $attempt -lt 100 ] ||
		    fail "used bytes $used, at first $base_used; descriptors $fds, at first $base_fds"
		attempt=$((attempt + 1))
		sleep 0.05
	done
}

# wait_dead PID: with all its threads: a zombie's may still hold the lock.
wait_dead() {
	wait_end "$1"
	while [ "$(find "/proc/$1/task" -mindepth 1 -maxdepth 1 2> /dev/null | wc -l)" -gt 1 ]; do
		sleep 0.01
	done
}

# kill_hub: and waits for its end.
kill_hub() {
	hub=$(hub_pid)
	kill -KILL "$hub"
	wait_dead "$hub"
	kills=$((${kills:-0} + 1))
}
