# SPDX-License-Identifier: Apache-2.0
# `destall profile` and signals: what is sent to us reaches the job, or ends the
# measuring with what there is; job control, the terminal and both outputs are as
# without us; on a terminal one line says how far it is.
. "${top_srcdir:?run by make check}/tests/lib.sh"
. "$top_srcdir/tests/emulate.sh"
. "$top_srcdir/tests/profiled.sh"
need_preload
need_python
ulimit -c 0
# A terminal can be drawn on, where there is one.
export PYTHONPATH="$top_srcdir/tests/python" TERM=xterm COLUMNS=200

# Shells start what is in the background with these two ignored.
as_started="env --default-signal=INT,QUIT"
$as_started true 2> /dev/null || skip "env cannot set signals to their defaults"

# start WORD FILE OPTION... -- CMD...: a profile in the background, until FILE has WORD.
start() {
	word=$1 file=$2
	shift 2
	rm -f reached result.json
	: > "$work/err"
	$as_started "$destall" profile --json result.json "$@" > "$work/out" 2> "$work/err" &
	pid=$!
	until grep -qs "$word" "$file"; do
		kill -0 $pid 2> /dev/null || fail "the job has ended"
		sleep 0.01
	done
}

end() {
	status=0
	wait $pid 2> /dev/null || status=$?
	expect_nothing_left
}

gen --count 400 set
emulated="$destall emulate --batch 4 --set size=32 --data set --step-ms 5 --epochs 100000"

#--- signals ------------------------------------------------------------------------

# Before a loader is known they are all the program's.
for signal in HUP INT TERM USR1 USR2; do
	start ready reached -- sh -c "trap 'echo $signal; exit 7' $signal
	    echo ready > reached; n=0; while [ \$n -lt 500 ]; do sleep 0.05; n=\$((n + 1)); done"
	kill -s $signal $pid
	end
	expect_status 7
	[ "$(cat "$work/out")" = $signal ] || fail "$signal did not reach the program"
done

# A job that is steered dies of them, and so do we; but Ctrl-C is for us.
for signal in HUP TERM USR1 USR2 INT; do
	start 'is steered' "$work/err" --for 60s --pass-epochs -- $emulated
	kill -s $signal $pid
	end
	case $signal in
	INT) expect_status 0 ;;
	*) [ "$(kill -l $status)" = $signal ] || fail "$signal: exit status $status" ;;
	esac
done

# A program of which only steps are seen is not run again for its other phases.
for signal in HUP TERM INT; do
	rm -f runs
	start 'step 9' "$work/out" --for 60s --step-marker stdout:step -- sh -c 'echo run >> runs
	    n=0; while [ $n -lt 500 ]; do cat set/class000/* > /dev/null; echo "step $n"; sleep 0.05; n=$((n + 1)); done'
	kill -s $signal $pid
	end
	case $signal in
	INT) expect_status 0 ;;
	*) [ "$(kill -l $status)" = $signal ] || fail "$signal: exit status $status" ;;
	esac
	[ "$(wc -l < runs)" -eq 1 ] || fail "$signal: it was run again"
done

#--- what the job writes ------------------------------------------------------------

# Every byte there is comes on both outputs, equally often; the rest of standard error
# is ours, and no line of it is drawn again.
cat > written.py <<'PYTHON'
import re, sys
every = bytes(range(256)) + b"\n"
out, err = (open(path, "rb").read() for path in sys.argv[1:3])
times = len(out) // len(every)
assert out == times * every and times > 1, "standard output is another"
ours = re.compile(rb"^destall: .*\n", re.M)
theirs = ours.sub(b"", err)
assert theirs.startswith(out), "standard error is another"
report = theirs[len(out):]
assert b"of the time" in report and every not in report, report
for text in ours.findall(err) + [report]:
    assert not re.search(rb"[\r\033]| left$", text), text
PYTHON

# A job that handles signals goes on.
if [ -x $torch_python ] && $torch_python -c 'import torch' 2> /dev/null; then
	cat > told.py <<-'PYTHON'
	import os, signal, sys
	import profile_job

	class Told(profile_job.Training):
	    def step(self, batch):
	        super().step(batch)
	        for fd in (1, 2):
	            os.write(fd, bytes(range(256)) + b"\n")

	def note(number, frame):
	    with open("signals", "a") as f:
	        f.write(signal.Signals(number).name + "\n")

	for one in (signal.SIGHUP, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
	    signal.signal(one, note)
	profile_job.Training = Told
	sys.exit(profile_job.main())
	PYTHON
	start x reached --for 5s -- $torch_python told.py --tell 40 --prep 1 --step 5
	for signal in HUP TERM USR1 USR2; do
		kill -s $signal $pid
		until grep -qs "SIG$signal" signals; do
			kill -0 $pid 2> /dev/null || fail "$signal did not reach the job"
			sleep 0.01
		done
	done
	end
	expect_status 0
	[ "$(wc -l < signals)" -eq 4 ] || fail "signals came twice: $(cat signals)"
	expect_result 'verdict["sentence"] and rate["actual"] > 1'
	"$PYTHON" written.py "$work/out" "$work/err" || fail "the job has written something else"
fi

# What is looked at on its way, for steps, is the same, in each of three runs.
head -c 300000 /dev/urandom > bytes
run "$destall" profile --step-marker stdout -- sh -c 'cat bytes; printf no-newline'
expect_status 0
for n in 1 2 3; do
	cat bytes
	printf no-newline
done | cmp -s - "$work/out" || fail "standard output is another"

#--- on a terminal ------------------------------------------------------------------

cat > on_terminal.py <<'PYTHON'
import os, re, signal, sys, time
from terminal import ended, rest, session, shell, state, until

job = sys.argv[2:]
profile = [sys.argv[1], "profile", "--for", "60s"]
passing = profile + ["--pass-epochs"] + job
line = re.compile(rb"\r\033\[Kprofile: (actual|replay|cached|cold|reading|loader alone|between)[^;]*"
                  rb", \d+/s as it is, \d+/s if data cost nothing; at most [\d.]+ s left$")

def until_speeds(fd):
    """Until the line shows all that it can."""
    return until(fd, b" if data cost nothing; at most ") + until(fd, b" left")

def jobs_of(shell_pid):
    """The processes at the terminal of a shell."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getsid(int(name)) == shell_pid != int(name):
                yield int(name)
        except ProcessLookupError:
            pass

def until_all(pids, stopped):
    end = time.time() + 20
    while any((state(pid) == "T") != stopped for pid in pids):
        assert time.time() < end, [(pid, state(pid)) for pid in pids]
        time.sleep(0.01)

# The program has the terminal.
pid, fd = session(profile + [sys.executable, "-c", "import os\n"
    "print(os.tcgetpgrp(0) == os.getpgrp(), input('READY'))"])
until(fd, b"READY")
os.write(fd, b"word\n")
assert b"True word" in rest(fd)
assert ended(pid) == 0

# How far it is; then Ctrl-C.
pid, fd = session(passing)
text = until_speeds(fd)
assert line.search(text), text
assert b"epochs are short" not in text, text
os.write(fd, b"\x03")
assert b"of the time" in rest(fd)
assert ended(pid) == 0

# Another signal, of which the job dies: what was measured is told all the same.
pid, fd = session(passing)
until_speeds(fd)
os.kill(pid, signal.SIGTERM)
assert b"of the time" in rest(fd)
assert ended(pid) == -signal.SIGTERM

# Epochs that have no room for the blocks.
pid, fd = session(profile + job)
until(fd, b"(start 2, for epochs are short)")
os.write(fd, b"\x03")
assert re.search(rb"\d starts: ", rest(fd))
ended(pid)

# Ctrl-Z, and on by a signal to us alone; once more, and fg; Ctrl-C.
pid, fd = shell()
os.write(fd, " ".join(passing).encode() + b" & echo PI''D $! END; fg\n")
us = int(re.search(rb"PID (\d+) ", until(fd, b"END"))[1])
until_speeds(fd)
group = list(jobs_of(pid))
assert len(group) == 2 and us in group, group
for alone in (True, False):
    os.write(fd, b"\x1a")
    until(fd, b"topped")
    until_all(group, stopped=True)
    if alone:
        os.kill(us, signal.SIGCONT)
        until_all(group, stopped=False)
    os.write(fd, b"echo SHE''LL; fg\n")
    until(fd, b"SHELL")
    until_all(group, stopped=False)
    until_speeds(fd)
os.write(fd, b"\x03")
until(fd, b"of the time")
os.write(fd, b"echo STA''TUS $?; exit\n")
assert b"STATUS 0" in rest(fd)
assert ended(pid) == 0
PYTHON
run "$PYTHON" on_terminal.py "$destall" $emulated
expect_status 0
