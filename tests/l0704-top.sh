# SPDX-License-Identifier: Apache-2.0
# l0704: destall top: jobs and streams for people and for scripts, who waits for
# whom, and the picture on a terminal.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/cache.sh"
need_python

escape=$(printf '\033')
no_escapes() { ! grep -q "$escape" "$work/out" || fail "escape sequences: $1"; }

# holds PYTHON: of the document, as d, and the jobs in it by their process.
holds() {
	"$destall" top --json --once > "$work/top.json" || fail "top --json"
	"$PYTHON" -c '
import json, sys
d = json.load(open(sys.argv[1]))
job = {j["pid"]: j for j in d["jobs"]}
'"$1" "$work/top.json" 2> "$work/err"
}
check_top() { holds "$1" || fail "$(cat "$work/top.json")"; }
await_top() {
	until holds "$1"; do
		kill -0 "$first" "$second" || fail "a job has ended: $(cat jobs.txt)"
		sleep 0.02
	done
}

# No hub, and none is started for this.
expect_refused 1 "no hub runs at $DESTALL_HUB: " "$destall" top
expect_refused 1 'no hub runs at ' "$destall" top --json --once
[ ! -e "$DESTALL_HUB" ] || fail "a hub was started"
expect_refused 2 'top: -o goes with --json' "$destall" top -o file
expect_refused 2 'top: --interval is at least 10ms' "$destall" top --interval 1ms
expect_refused 2 'top: too many operands' "$destall" top jobs

# Nothing is shared.
start_hub
run "$destall" top --once
expect_status 0
expect_no_err
expect_out '^Stage: 0 streams, 0 jobs, 0 B; hub [0-9]+, up '
expect_out '^Cache: 0 B of .* used$'
expect_out '^No batches are shared now\.'
check_top '
assert d["schema_version"] == 1 and d["jobs"] == [] and d["streams"] == []
c = d["cache"]
assert c["datasets"] == [] and c["used_bytes"] == 0 and c["hub"]["pid"] == '"$(hub_pid)"'
'
run "$destall" top --json -o top.json
expect_status 0
expect_no_out
grep -q '"streams"' top.json || fail "no document in the file"
if [ -c /dev/full ]; then
	status=0
	"$destall" top > /dev/full 2> "$work/err" || status=$?
	expect_status 1
	expect_one_line 'cannot write to standard output'
fi

# Two jobs on one stream, and one in a group of its own, whose name is odd.
job() { exec "$(harness stagejob)" --units 100000 --bytes 8192 --job-ms 5 "$@" >> jobs.txt 2>&1; }
(job --stream one) &
first=$!
export DESTALL_LAG=wait:10m
(job --stream one) &
second=$!
odd=$(printf 'odd\033[31m\377')
(DESTALL_GROUP="$odd"; export DESTALL_GROUP; job --stream one) &
third=$!
await_top '
assert len(d["jobs"]) == 3 and len(d["streams"]) == 2
assert all(j["state"] == "live" and j["batch"] > 20 for j in d["jobs"])
'
check_top '
mine, other, odd = job['"$first"'], job['"$second"'], job['"$third"']
assert mine["stream"] == other["stream"] != odd["stream"]
assert (mine["group"], odd["group"]) == ("", "odd\x1b[31m\\xff")
ids = {s["id"]: s for s in d["streams"]}
s, lone = ids[mine["stream"]], ids[odd["stream"]]
assert (s["jobs"], lone["jobs"], lone["group"]) == (2, 1, odd["group"])
assert len(s["id"]) == 12 and s["window_batches"] >= 2 and s["bytes"] > 0
assert mine["epoch"] == 0 and mine["batches"] == 100000 and "stagejob" in mine["name"]
assert mine["samples_per_s"] > 0 and mine["waited_s"] >= mine["waits_s"] >= 0
assert 0 < s["made"] < s["delivered"], s
assert s["made"] >= mine["made"] + other["made"] - 2 > 0
'
run "$destall" top --once
expect_status 0
expect_no_err
no_escapes "not a terminal, and a group's name"
expect_out '^Stage: 2 streams, 3 jobs, .*B; hub [0-9]+, up '
expect_out '^stream [0-9a-f]{12}: window of [0-9]+, [0-9,]+ made, [0-9,]+ delivered, [0-9.]+ .*B$'
expect_out '^stream [0-9a-f]{12}: .*B, group odd\\x1b\[31m\\xff$'
expect_out "^ *$first  live +0 +[0-9]+/100000 +[0-9,]+ +[0-9]+ .* stagejob\$"
run env FORCE_COLOR=1 NO_COLOR=1 "$destall" top --once
no_escapes "NO_COLOR is set"
run env FORCE_COLOR=1 "$destall" top --once
grep -q "$escape" "$work/out" || fail "no colour though it was forced"

# Again and again, until nobody reads on.
"$destall" top --interval 10ms 2> "$work/err" | grep -m 3 '^Stage: ' > heads || :
[ "$(wc -l < heads)" -eq 3 ] || fail "not again and again"
expect_no_err

# One that stands still is waited for by name, and by the other alone.
kill -STOP $first
await_top 'assert job['"$second"']["waits_for"] == '"$first"
check_top '
j = job['"$second"']
assert j["waits_for"] == '"$first"' and 0 < j["waits_s"] <= j["waited_s"], j
assert job['"$first"']["waits_for"] is None and job['"$third"']["waits_for"] is None
'
run "$destall" top --once
expect_out "^ *$second  live .*  $first, [0-9.]+ m?s +stagejob\$"
kill -CONT $first
await_top '
j = job['"$second"']
assert j["waits_for"] is None and j["waits_s"] == 0 and j["waited_s"] > 0
'

# On a terminal.
cat > terminal.py <<'END'
import fcntl, os, pty, re, select, signal, struct, sys, termios, time

top, unread = sys.argv[1], b""
size = lambda fd, rows, columns: fcntl.ioctl(fd, termios.TIOCSWINSZ,
    struct.pack("HHHH", rows, columns, 0, 0))

def begin(rows, columns, **env):
    global unread
    unread = b""
    pid, fd = pty.fork()
    if pid == 0:
        size(0, rows, columns)
        os.execve(top, [top, "top", "--interval", "50ms"],
                  dict(os.environ, TERM="xterm", **env))
    return pid, fd

def until(fd, word):
    """What comes until that word, and the word."""
    global unread
    end = time.time() + 50
    while word not in unread and time.time() < end:
        if select.select([fd], [], [], 1)[0]:
            unread += os.read(fd, 4096)
    assert word in unread, (word, unread)
    at = unread.index(word) + len(word)
    text, unread = unread[:at], unread[at:]
    return text

def finish(pid, fd, key):
    """Its status after that key; a child that cannot write does not end."""
    os.write(fd, key)
    while True:
        if select.select([fd], [], [], 0.01)[0]:
            try:
                os.read(fd, 4096)
            except OSError:
                pass
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status

lflag = lambda fd: termios.tcgetattr(fd)[3]
DRAWN = b"\x1b[J\x1b[?7h"

# Drawn over the last picture, every line cut; then q.
pid, fd = begin(40, 70)
first = until(fd, DRAWN)
assert b"\x1b[1mStage:" in first and first.startswith(b"\x1b[?7l"), first
lines = first.count(b"\n")
assert lines == 2 + 2 + 2 + 3, first
assert not lflag(fd) & (termios.ICANON | termios.ECHO)
assert until(fd, DRAWN).startswith(b"\r\x1b[%dA\x1b[?7l" % lines)
os.write(fd, b"x")          # is no key of ours
until(fd, DRAWN)
# Another size: all is cleared, and no more lines than fit.
size(fd, 5, 60)
until(fd, b"\x1b[H\x1b[2J")
assert until(fd, DRAWN).count(b"\n") == 4
assert finish(pid, fd, b"q") == 0

# No colour; Ctrl-C ends it by its signal.
pid, fd = begin(24, 80, NO_COLOR="1")
assert not re.search(rb"\x1b\[[0-9;]*m", until(fd, DRAWN) + until(fd, DRAWN))
assert os.WTERMSIG(finish(pid, fd, b"\x03")) == signal.SIGINT

# What it did to the terminal is undone: another process holds it open.
master, slave = pty.openpty()
before = termios.tcgetattr(slave)
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for n in 0, 1:
        os.dup2(slave, n)
    os.execve(top, [top, "top"], dict(os.environ, TERM="xterm"))
unread = b""
until(master, DRAWN)
assert lflag(slave) != before[3]
assert finish(pid, master, b"q") == 0
assert termios.tcgetattr(slave) == before
END
run timeout 100 "$PYTHON" terminal.py "$destall"
expect_status 0
expect_no_err

# Without memory, and with a hub that cannot be heard, one line says so.
if ! is_sanitized; then
	export DS_FAIL_LIMIT="${DS_FAIL_LIMIT:-3}"
	for form in --once --json; do
		for failure in malloc:ENOMEM calloc:ENOMEM realloc:ENOMEM recvmsg:EIO; do
			fail_calls "${failure%:*}" "${failure#*:}" "$destall" top $form
		done
	done
fi

# It ends with the hub, and says so.
"$destall" top --interval 10ms > top.txt 2> "$work/err" &
top=$!
until grep -q '^Stage: ' top.txt; do sleep 0.01; done
kill $first $second $third
for pid in $first $second $third; do wait $pid || :; done
"$destall" serve --stop > /dev/null || fail "serve --stop"
status=0
wait $top || status=$?
expect_status 1
expect_one_line '.*hub'
