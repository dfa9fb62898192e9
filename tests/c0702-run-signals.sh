# SPDX-License-Identifier: Apache-2.0
# c0702: destall run and signals: what is sent to us reaches the command, once;
# what ends the command ends us; stops and job control as without us.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/run.sh"
export DESTALL_LOG=quiet
ulimit -c 0

# wait_for FILE: until the command has made it.
wait_for() {
	until [ -e "$1" ]; do
		kill -0 "$job" 2> /dev/null || fail "the job has ended"
		sleep 0.01
	done
}

# Shells start what is in the background with these two ignored, and what is
# ignored at its start a shell cannot handle.
as_started="env --default-signal=INT,QUIT"
$as_started true 2> /dev/null || skip "env cannot set signals to their defaults"

# start COMMANDS: a shell that does this, under us, in the background.
start() {
	rm -f ready
	$as_started "$destall" run sh -c "$1" > "$work/out" 2> "$work/err" &
	job=$!
	wait_for ready
}

end() {
	status=0
	wait "$job" 2> /dev/null || status=$?
}

# Passed on, every one; shells count those that they handle.
for signal in HUP INT QUIT TERM USR1 USR2 ALRM VTALRM PROF XCPU WINCH URG IO TSTP TTIN TTOU; do
	start "trap 'echo $signal; exit 7' $signal; : > ready; while :; do sleep 0.05; done"
	kill -s $signal "$job"
	end
	[ "$(cat "$work/out")" = $signal ] || fail "$signal did not reach the command"
	expect_status 7
done

# We die as it died.
for number in 1 2 3 4 6 8 9 11 13 14 15 31; do
	run "$destall" run sh -c "ulimit -c 0; kill -$number \$\$"
	expect_status $((128 + number))
	expect_no_err
done
if [ -n "${PYTHON-}" ]; then
	run "$PYTHON" -c 'import subprocess, sys
print([subprocess.run([sys.argv[1], "run", "sh", "-c", "kill -%d $$" % n]).returncode
    for n in (2, 9, 11, 15, 40)])' "$destall"
	[ "$(cat "$work/out")" = '[-2, -9, -11, -15, -40]' ] || fail "not by the same signal: $(cat "$work/out")"
fi
start 'echo $$ > pid; : > ready; exec sleep 1000'
kill -s TERM "$job"
end
expect_status 143
[ ! -d "/proc/$(cat pid)" ] || fail "the command is left"

# A signal that we ignore, it may handle.
(
	trap '' HUP
	start 'trap : HUP; : > ready; exec sleep 1000'
	kill -s HUP "$job"
	kill -s TERM "$job"
	end
	expect_status 143
) || exit 1

# Killed, we leave it alone.
start 'echo $$ > pid; : > ready; exec sleep 1000'
kill -s KILL "$job"
end
[ -d "/proc/$(cat pid)" ] || fail "the command was killed with us"
kill -s TERM "$(cat pid)"

# Who stops the command alone has it go on alone: nobody would continue us.
# Where there is no terminal, that is: setsid, as with a batch system.  When we
# are continued, so is it, whether we stopped or not.
if command -v setsid > /dev/null; then
	as_before=$as_started
	as_started="$as_started setsid"
	start 'echo $$ > pid; trap "echo on; exit 3" USR1; : > ready; while :; do sleep 0.05; done'
	n=0
	while [ $n -lt 20 ]; do
		kill -s STOP "$(cat pid)"
		wait_stopped "$(cat pid)"
		kill -s CONT "$(cat pid)"
		n=$((n + 1))
	done
	kill -s STOP "$(cat pid)"
	wait_stopped "$(cat pid)"
	kill -s CONT "$job"
	kill -s USR1 "$job"
	while grep -q '^State:.[RSD]' "/proc/$job/status" 2> /dev/null; do
		sleep 0.01
	done
	! grep -q '^State:.T' "/proc/$job/status" 2> /dev/null || {
		kill -s CONT "$job"
		kill -s TERM "$(cat pid)"
		fail "we stopped, and nobody has us go on"
	}
	end
	expect_status 3
	as_started=$as_before
fi

[ -n "${PYTHON-}" ] || { echo "configured without Python: no terminal"; exit 0; }
# On a terminal: Ctrl-C once to each, Ctrl-Z and fg as without us.
cat > on_terminal.py <<'PYTHON'
import os, signal, sys, time
from terminal import ended, session, shell, state, until

def stop_alone(pid):
    """Stops it and has it go on, often enough to be seen at it."""
    for _ in range(20):
        os.kill(pid, signal.SIGSTOP)
        while state(pid) != "T":
            time.sleep(0.001)
        os.kill(pid, signal.SIGCONT)

count = r'''
import signal, sys, time
seen, over = [], []
def note(*a):
    seen.append(1)
    print("INT", flush=True)
signal.signal(signal.SIGINT, note)
signal.signal(signal.SIGUSR1, lambda *a: over.append(1))
print("READY", flush=True)
while not over:
    time.sleep(0.01)
print("SEEN %d END" % len(seen), flush=True)
sys.exit(5)
'''

# We are stopped while the command handles it, so that a second one could not
# be taken for the first; of two signals that wait the smaller number is first.
pid, fd = session([sys.argv[1], "run", sys.executable, "-c", count])
until(fd, b"READY")
os.kill(pid, signal.SIGSTOP)
os.waitpid(pid, os.WUNTRACED)
os.write(fd, b"\x03")
until(fd, b"INT")
os.kill(pid, signal.SIGUSR1)
os.kill(pid, signal.SIGCONT)
assert b"SEEN 1 " in until(fd, b"END"), "SIGINT came twice"
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
os.close(fd)

# What the terminal ends, it ends by that signal.
pid, fd = session([sys.argv[1], "run", "sh", "-c", "echo READY; exec sleep 1000"])
until(fd, b"READY")
os.write(fd, b"\x03")
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGINT
os.close(fd)

# A shell with job control: stopped by Ctrl-Z, continued by fg, and by kill.
pid, fd = shell()
os.write(fd, b"'%s' run sh -c 'echo GO; read -r x; echo GOT-$x'\n" % sys.argv[1].encode())
until(fd, b"GO")
os.write(fd, b"\x1a")
until(fd, b"topped")
os.write(fd, b"echo SHE''LL; fg\n")
until(fd, b"SHELL")
time.sleep(0.1)
os.write(fd, b"word\n")
until(fd, b"GOT-word")
os.write(fd, b"echo STA''TUS $?; exit\n")
until(fd, b"STATUS 0")
os.waitpid(pid, 0)
os.close(fd)

# The shell sees what stops in the background, to read from its terminal or by
# a signal to the job, and what somebody stops in the foreground; and fg has it
# all go on.
def jobs_say(fd, word):
    end, text = time.time() + 20, b""
    while word not in text and time.time() < end:
        os.write(fd, b"jobs; echo LI''STED\n")
        text = until(fd, b"LISTED")
    assert word in text, text

reader = b"'%s' run sh -c 'echo G''O; read -r x; echo GOT-$x'" % sys.argv[1].encode()
waiter = b"'%s' run sh -c 'echo $$ > pid; echo G''O; read -r x < over; echo EN''D'" % sys.argv[1].encode()
os.mkfifo("over")
over = os.open("over", os.O_RDWR)
pid, fd = shell()
os.write(fd, reader + b" &\n")
until(fd, b"GO")
jobs_say(fd, b"topped")
os.write(fd, b"fg\nword\n")
until(fd, b"GOT-word")
os.write(fd, waiter + b" &\n")
until(fd, b"GO")
os.write(fd, b"kill -s TSTP %1\n")
jobs_say(fd, b"topped")
os.write(fd, b"fg\n")
os.write(over, b"\n")
until(fd, b"END")
os.write(fd, waiter + b"\n")
until(fd, b"GO")
os.kill(int(open("pid").read()), signal.SIGSTOP)
until(fd, b"topped")
os.write(fd, b"echo SHE''LL; fg\n")
until(fd, b"SHELL")
os.write(over, b"\n")
until(fd, b"END")
# In the background what somebody stops, he continues.
os.write(fd, waiter + b" &\n")
until(fd, b"GO")
stop_alone(int(open("pid").read()))
os.write(over, b"\n")
until(fd, b"END")
os.write(fd, b"wait; exit\n")
os.waitpid(pid, 0)
os.close(fd)

# A terminal, and no shell at it.
pid, fd = session([sys.argv[1], "run", "sh", "-c", "echo $$ > pid; echo READY; read -r x; echo GOT-$x"])
until(fd, b"READY")
stop_alone(int(open("pid").read()))
os.write(fd, b"word\n")
until(fd, b"GOT-word")
assert ended(pid) == 0, "it stopped, and nobody has it go on"
os.close(fd)

# One that ignores Ctrl-Z goes on, and we with it.
pid, fd = session([sys.argv[1], "run", "sh", "-c", "trap '' TSTP; echo READY; read -r x; echo GOT-$x"])
until(fd, b"READY")
os.write(fd, b"\x1a")
os.write(fd, b"word\n")
until(fd, b"GOT-word")
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
os.close(fd)
print("ok")
PYTHON
run env PYTHONPATH="$top_srcdir/tests/python" PYTHONDONTWRITEBYTECODE=1 "$PYTHON" on_terminal.py "$destall"
expect_status 0
expect_out '^ok$'
