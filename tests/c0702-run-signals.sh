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

# When it stops, we stop; when we are continued, so is it.
start 'echo $$ > pid; trap "echo on; exit 3" USR1; : > ready; while :; do sleep 0.05; done'
kill -s STOP "$(cat pid)"
wait_stopped "$job"
kill -s CONT "$job"
kill -s USR1 "$job"
end
expect_status 3

[ -n "${PYTHON-}" ] || { echo "configured without Python: no terminal"; exit 0; }
# On a terminal: Ctrl-C once to each, Ctrl-Z and fg as without us.
cat > terminal.py <<'PYTHON'
import os, pty, select, signal, sys, time

def session(argv):
    """A child on a terminal of its own, its foreground group."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp(argv[0], argv)
    return pid, fd

def until(fd, word, limit=20):
    text, end = b"", time.time() + limit
    while word not in text and time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                text += os.read(fd, 4096)
            except OSError:
                break
    assert word in text, (word, text)
    return text

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
pid, fd = session(["sh", "-m"])
os.write(fd, b"PS1=; stty -echo; echo RE''ADY\n")
until(fd, b"READY")
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
run "$PYTHON" terminal.py "$destall"
expect_status 0
expect_out '^ok$'
