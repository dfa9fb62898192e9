# SPDX-License-Identifier: Apache-2.0
"""PyTorch jobs of a benchmark: what they need, how sharing is switched on for
them, what they and their hub use, and what their figures are.
"""

import contextlib
import json
import os
import subprocess
import threading
import time

import bench

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.normpath(os.path.join(HERE, "../../loader/python"))
JOB = os.path.join(HERE, "pytorch_job.py")
COUNTS = os.path.join(HERE, "pytorch_counts")
PYTHON = os.environ.get("BENCH_PYTHON", "/usr/bin/python3")
EXIT_SKIP = 77
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
LOOK_SHARE = 0.02       # of a core, at most, for looking at memory


class Missing(Exception):
    """What this machine has not."""


def need_torch():
    try:
        r = subprocess.run([PYTHON, "-c", "import torch, torchvision, PIL"],
                           stderr=subprocess.PIPE, text=True, check=False)
    except OSError as e:
        raise Missing("%s: %s" % (PYTHON, e.strerror))
    if r.returncode != 0:
        raise Missing("%s: %s" % (PYTHON, (r.stderr.strip().splitlines() or ["no torch"])[-1]))


# --- how sharing is switched on ---------------------------------------------

def environment(shared, counts=None):
    """Of a job: all that makes it share, and a file in which what it shared is counted.  The
    hub is the one that DESTALL_HUB names."""
    env = {k: v for k, v in os.environ.items() if k not in ("DESTALL", "PYTHONPATH")}
    env.update(OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    if shared:
        env.update(DESTALL="1", LD_LIBRARY_PATH=os.path.abspath(bench.program(".libs")),
                   PYTHONPATH=os.pathsep.join([os.path.join(PACKAGE, "site"), PACKAGE]))
        if counts is not None:
            env["PYTHONPATH"] += os.pathsep + COUNTS
            env["BENCH_COUNTS"] = counts
    return env


# --- what processes use -----------------------------------------------------

def parents():
    """{pid: parent} of all processes."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open("/proc/%s/stat" % name) as f:
            found[int(name)] = int(f.read().rpartition(")")[2].split()[1])
    return found


def families(roots):
    """These processes and all that descend from them."""
    of, found, new = parents(), set(), set(roots)
    while new:
        found |= new
        new = {pid for pid, parent in of.items() if parent in new} - found
    return found


def pss_bytes(pids):
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError), open("/proc/%d/smaps_rollup" % pid) as f:
            total += sum(int(line.split()[1]) << 10 for line in f if line.startswith("Pss:"))
    return total


def used_seconds(pid):
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


class Watch(threading.Thread):
    """The most memory that jobs and hub have, and the hub's processor time, while jobs run."""

    def __init__(self, roots, hub=None):
        super().__init__(daemon=True)
        self.roots, self.hub = roots, hub
        self.most, self.used = 0, []
        self.over = threading.Event()
        self.start()

    def look(self):
        since = time.thread_time()
        self.most = max(self.most, pss_bytes(families(self.roots) | ({self.hub} - {None})))
        if self.hub is not None:
            self.used.append((time.monotonic(), used_seconds(self.hub)))
        return time.thread_time() - since

    def run(self):
        pause = 0.2
        while not self.over.wait(pause):
            with contextlib.suppress(OSError):
                pause = max(0.2, self.look() / LOOK_SHARE)

    def end(self):
        self.over.set()
        self.join()

    def hub_seconds(self, low, high):
        """That the hub used between two times."""
        def at(t):
            return max([used for when, used in self.used if when <= t], default=0.0)
        return at(high) - at(low)


# --- jobs -------------------------------------------------------------------

class Job:
    def __init__(self, top, number, data, kind, epochs, shared, workers=2, batch=64,
                 persistent=False, start=subprocess.Popen, before=()):
        self.out = "%s/job%d.json" % (top, number)
        self.counts = self.out + ".counts"
        self.errors = self.out + ".err"
        for path in (self.out, self.counts):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        with open(self.errors, "w") as err:
            self.process = start(
                [*before, PYTHON, JOB, data, self.out, "--type", kind, "--epochs", str(epochs),
                 "--workers", str(workers), "--batch", str(batch),
                 *["--persistent"] * persistent],
                env=environment(shared, self.counts), stdin=subprocess.DEVNULL, stderr=err)

    def end(self):
        """What it wrote, and counted."""
        if self.process.wait() != 0:
            with open(self.errors) as err:
                raise bench.Broken("a job: exit status %d: %s" % (
                    self.process.returncode, err.read().strip()[-500:]))
        with open(self.out) as f:
            doc = json.load(f)
        doc["counts"] = {}
        with contextlib.suppress(FileNotFoundError), open(self.counts) as f:
            doc["counts"] = json.load(f)
        return doc

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def run(jobs, hub=None):
    """Their documents, and what they used; none is left if one fails."""
    watch = Watch([j.process.pid for j in jobs], hub)
    try:
        return [j.end() for j in jobs], watch
    finally:
        watch.end()
        for j in jobs:
            j.kill()


def had(doc, first=0):
    """(when, how many) of each batch, from an epoch on."""
    return [pair for e in doc["epochs"][first:] for pair in e["had"]]


def together(docs, quick=False):
    """(from, to): the time when each job had its first epoch behind, and none had ended; of
    short jobs, which may have missed each other, all of theirs."""
    if quick:
        return min(d["began"]["at"] for d in docs), max(d["epochs"][-1]["at"] for d in docs)
    low = max(d["epochs"][0]["at"] for d in docs)
    high = min(d["epochs"][-1]["at"] for d in docs)
    if high <= low:
        raise bench.Broken("the jobs did not run together: more --epochs")
    return low, high


def rate(docs, quick=False):
    """Samples a second of all together, in that time."""
    low, high = together(docs, quick)
    return sum(n for d in docs for at, n in had(d) if low < at <= high) / (high - low)


def cpu_per_sample(docs, watch):
    """Microseconds, after the first epoch, of all processes and the hub."""
    first = [d["epochs"][0] if len(d["epochs"]) > 1 else {**d["began"]} for d in docs]
    used = sum(d["epochs"][-1]["cpu"] - f["cpu"] for d, f in zip(docs, first))
    used += watch.hub_seconds(min(f["at"] for f in first), max(d["epochs"][-1]["at"] for d in docs))
    return 1e6 * used / sum(n for d, f in zip(docs, first) for at, n in had(d) if at > f["at"])


def touch_per_sample(docs):
    return 1e6 * sum(d["epochs"][-1]["touch"] for d in docs) / sum(
        n for d in docs for _, n in had(d))


def counted(docs, name):
    """Of what the jobs counted, the share of all batches."""
    batches = sum(d["counts"].get("batches", 0) for d in docs)
    return sum(d["counts"].get(name, 0) for d in docs) / batches if batches else 0.0
