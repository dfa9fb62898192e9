# SPDX-License-Identifier: Apache-2.0
# Programs do what is legal while a thread of theirs is within the preload
# object (tests/harness/inside.c): a forked child attaches anew beside threads
# that look at what it inherited; the environment is changed; what the object
# has open is closed, over and over; its hub is another, again and again; an
# open is left by siglongjmp().  None crashes, nothing grows, nobody hangs.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/preloaded.sh"
need_object
need_python
ulimit -c 0

inside=$(harness inside)
items=64
mkset set $items 2000 20000
mkset cold 6 2000 20000
cold=$(find "$PWD/cold" -type f | sort)
all=$(find "$data" -type f | sort)

# Files that are too new are not cached yet.
is_warm() { "$preload" cat $all > /dev/null && is_cached set $items; }

# of_cold CMD...: as the object sees it, of the other data set.
of_cold() { DESTALL_DATA=$PWD/cold "$preload" "$@"; }

expect_right() {
	expect_status 0
	expect_out '^right$'
	expect_lines "$work/err" "$1"
}

# wait_right PID NAME LINES: the same of one that ran beside us.
wait_right() {
	status=0
	wait "$1" || status=$?
	cp "$2.txt" "$work/out"
	cp "$2.err" "$work/err"
	expect_right "$3"
}

#--- a forked child attaches anew, beside threads that read --------------------

start_hub
await is_warm
mkfifo go
: > forked.txt
"$preload" "$inside" forked end $all < go > forked.txt 2> forked.err &
forked=$!
exec 7> go
await grep -q '^ready' forked.txt
# One of its threads waits for the hub; the others read meanwhile what they
# inherited, which is replaced when the hub goes on.
hub=$(hub_pid)
kill -STOP "$hub"
echo >&7
await grep -q '^reading' forked.txt
kill -CONT "$hub"
has_both() { read_state && [ "$clients" -ge 2 ]; }
await has_both
: > end
wait_right $forked forked 1
event 1 "forked child with 8 threads that attached anew"

#--- an open is left while it attaches ----------------------------------------

(
	export DESTALL_HUB="$work/run/j/s"
	hub_log=$work/run/j/hub.log
	mkdir -m 700 "$work/run/j"
	start_hub
	hub=$(hub_pid)
	kill -STOP "$hub"
	run "$preload" "$inside" jump ${all%%[[:space:]]*}
	kill -CONT "$hub"
	expect_right 1
	cat "$work/out"
	stop_hub
) || exit 1
event 1 "open that was left by a jump"

#--- descriptors are closed, the environment is changed -----------------------

run of_cold "$inside" again 30 $cold
expect_right 0
cat "$work/out"
run of_cold "$inside" environ 300 $cold
expect_right 0
event 330 "attachments after all descriptors were closed"

stop_hub

#--- another hub, again and again ---------------------------------------------

has_told() { [ "$(grep -c '^ready' told.txt)" -ge "$1" ]; }
start_hub
: > told.txt
of_cold "$inside" told $cold < go > told.txt 2> told.err &
told=$!
for round in 1 2 3 4 5; do
	await has_told $round
	kill_hub
	start_hub
	echo >&7
done
wait_right $told told 0
cat told.txt
stop_hub
event 5 "hubs, one after the other, of one program"
