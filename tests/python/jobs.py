# SPDX-License-Identifier: Apache-2.0
"""Jobs for tests: real processes, of scripts that know nothing of destall; a hub
for them; and that nothing of either is left.  The jobs' side is jobside.py.
"""

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ["top_builddir"])
PACKAGE = os.path.join(HERE, "../../loader/python")
PROGRAM = os.path.join(BUILD, "destall")
LIMIT_S = float(os.environ.get("DS_LIMIT_S", 240))     # for anything that must come: then the test has failed, and says where


class Stuck(AssertionError):
    pass


def wait_until(is_so, what):
    """Looks again and again; what it waits for is told if it never comes, by a function, if it
    is to be looked for then."""
    end = time.monotonic() + LIMIT_S
    while True:
        began = time.monotonic()
        found = is_so()
        if found:
            return found
        now = time.monotonic()
        if now > end:
            raise Stuck("it never came: %s" % (what() if callable(what) else what))
        # Some look at all processes: whom they wait for needs the processor, too.
        time.sleep(max(0.005, 10 * (now - began)))


def environment(**changed):
    """As `destall run` would set it; a value of None takes the variable away."""
    path = [PACKAGE + "/site", PACKAGE, *filter(None, [os.environ.get("PYTHONPATH")])]
    mine = {**os.environ, "DESTALL": "1", "PYTHONPATH": os.pathsep.join(path),
            "LD_LIBRARY_PATH": os.path.join(BUILD, ".libs"), "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1", **changed}
    return {name: value for name, value in mine.items() if value is not None}


# --- processes -------------------------------------------------------------------

def _stat(pid):
    """(state, parent), or None."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            state, parent = f.read().rpartition(")")[2].split()[:2]
    except (FileNotFoundError, ProcessLookupError):
        return None
    return state, int(parent)


def state_of(pid):
    found = _stat(pid)
    return found[0] if found is not None else None


def children_of(pid):
    found = {p: _stat(p) for p in map(int, filter(str.isdigit, os.listdir("/proc")))}
    return sorted(p for p, stat in found.items() if stat is not None and stat[1] == pid)


def workers_of(pid):
    """The loader workers among its children: those that run its own program still."""
    with open("/proc/%d/cmdline" % pid) as f:
        own = f.read()
    return [p for p in children_of(pid) if command_of(p) == own]


def command_of(pid):
    with contextlib.suppress(OSError), open("/proc/%d/cmdline" % pid) as f:
        return f.read()
    return None


def marked(name, value):
    """Processes that were started with this in their environment; zombies have none."""
    want, found = ("%s=%s" % (name, value)).encode(), []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open("/proc/%s/environ" % pid, "rb") as f:
            if want in f.read().split(b"\0"):
                found.append(int(pid))
    return found


def describe(pid):
    """What it is, and where it waits."""
    def read(name):
        with contextlib.suppress(OSError), open("/proc/%d/%s" % (pid, name)) as f:
            return f.read().replace("\0", " ").strip()
        return "?"
    tasks = "".join("\n    %s: %s; %s" % (t, read("task/%s/wchan" % t), read("task/%s/syscall" % t))
                    for t in os.listdir("/proc/%d/task" % pid))
    return "%d of %s: %s%s" % (pid, _stat(pid), read("cmdline"), tasks)


# --- hub -------------------------------------------------------------------------

class Hub:
    """At a socket of its own, until stop()."""

    def __init__(self, folder, cache="64M", **env):
        folder.chmod(0o700)
        self.socket = str(folder / "s")
        # What killed jobs leave of Python's own goes with the test.
        (folder / "t").mkdir()
        self.env = {"DESTALL_HUB": self.socket, "TMPDIR": str(folder / "t"), **env}
        self.cache = cache
        self.start()

    def _serve(self, *options, check=True):
        return subprocess.run([PROGRAM, "serve", *options], env={**os.environ, **self.env},
                              check=check, capture_output=True, text=True)

    def start(self):
        self._serve("--cache", self.cache)

    @property
    def pids(self):
        """Of all hubs that were started at this socket: one, or none."""
        return [pid for pid in marked("DESTALL_HUB", self.socket)
                if os.path.basename((command_of(pid) or "").split("\0")[0]) == "destall"]

    def stop(self):
        """Also one that a job has started; then none may be left."""
        self._serve("--stop", check=False)
        wait_until(lambda: not marked("DESTALL_HUB", self.socket),
                   "the end of all processes that used the hub")


@contextlib.contextmanager
def hub_in(folder, **options):
    hub = Hub(folder, **options)
    try:
        yield hub
    finally:
        for pid in marked("DESTALL_HUB", hub.socket):
            if pid not in hub.pids:     # of a test that has failed
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGCONT)
                    os.kill(pid, signal.SIGKILL)
        hub.stop()


# --- jobs ------------------------------------------------------------------------

class Job:
    """A script of this folder, started; it writes one JSON document into its first
    argument."""

    def __init__(self, folder, name, script, *arguments, cwd=None, **env):
        self.name, self.out = name, str(folder / (name + ".json"))
        self.err = str(folder / (name + ".err"))
        with open(self.err, "w") as err:
            self.process = subprocess.Popen(
                [sys.executable, os.path.join(HERE, script), self.out, *map(str, arguments)],
                env=environment(**env), stderr=err, cwd=cwd, start_new_session=True)
        self.pid = self.process.pid

    @property
    def said(self):
        with open(self.err) as f:
            return f.read()

    @property
    def lines(self):
        """Of destall's own."""
        return [line for line in self.said.splitlines() if line.startswith("destall: ")]

    @property
    def is_running(self):
        return self.process.poll() is None

    def wait(self):
        """Its exit status."""
        try:
            return self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            raise Stuck("%s does not end:\n%s" % (self.name, self.said)) from None

    def end(self):
        """What it wrote, after a good end."""
        assert self.wait() == 0, "%s:\n%s" % (self.name, self.said)
        with open(self.out) as f:
            return {**json.load(f), "said": self.said}

    def kill(self, number=signal.SIGKILL):
        os.kill(self.pid, number)

    def clear(self):
        """For tests that have failed: its whole session goes."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGCONT)
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()


def end_all(jobs):
    """What each wrote.  If one fails, the others, which may wait for it, are ended too."""
    try:
        waiting = list(jobs)
        while waiting:
            wait_until(lambda: any(not j.is_running for j in waiting), "the end of a job")
            for job in [j for j in waiting if not j.is_running]:
                waiting.remove(job)
                job.end()
        return [job.end() for job in jobs]
    finally:
        for job in jobs:
            if job.is_running:
                job.clear()


@contextlib.contextmanager
def running(jobs):
    """So that a failing test leaves none."""
    try:
        yield jobs
    finally:
        for job in jobs:
            if job.is_running:
                job.clear()


# --- what they must have been given -------------------------------------------------

def is_turned(given, want):
    """The same from another place on, as one that joins late has it; a short last batch,
    which `want` has last, stays last."""
    if len(given) != len(want):
        return False
    for last in (len(want), len(want) - 1):
        for start in range(max(last, 1)):
            if given == want[start:last] + want[:start] + want[last:]:
                return True
    return False


def differences(a, b, path=""):
    """Where two results of jobs differ, and how; a few of them."""
    if type(a) is type(b) and isinstance(a, dict) and list(a) == list(b):
        found = (d for k in a for d in differences(a[k], b[k], "%s.%s" % (path, k)))
    elif type(a) is type(b) and isinstance(a, list) and len(a) == len(b):
        found = (d for i, (x, y) in enumerate(zip(a, b))
                 for d in differences(x, y, "%s[%d]" % (path, i)))
    else:
        found = iter(["%s: %.200r, not %.200r" % (path, a, b)] if a != b else [])
    return list(itertools.islice(found, 8))
