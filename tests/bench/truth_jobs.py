# SPDX-License-Identifier: Apache-2.0
"""Jobs whose stalls are known: what they are, their data, and how they are run.

A job is PyTorch's (tests/python/stalls_job.py) or native (`destall emulate`).  Its
storage is tests/shim/slow.c: of a rate that all readers share, or of a latency that
each waits for itself; with the page cache before it.
"""

import contextlib
import dataclasses
import os
import subprocess

import bench
import service
import torch_jobs

JOB = os.path.normpath(os.path.join(torch_jobs.HERE, "../python/stalls_job.py"))
FOUND = os.path.join(torch_jobs.HERE, "truth_found")
FILE_BYTES = 32768
PICTURE = "500x375"
TINY = "16x16"
NATIVE_BATCH = 64
MANY_TIMES = 8          # as many pictures, for blocks of a profile to find room in an epoch


@dataclasses.dataclass(frozen=True)
class Job:
    """Times in milliseconds, rates in samples a second."""
    name: str
    kind: str = "torch"
    workers: int = 2
    batch: int = 16
    step_ms: float = 20
    prep_ms: float = 0          # of sleep
    prep_cpu_ms: float = 0      # of a processor, about
    latency_ms: float = 0
    rate: float = 0
    resident: float = 1         # of the files, in memory at the start
    sample_bytes: int = 4096
    pieces: int = 1
    touch: bool = False
    about: float = 0            # how fast it is, where the law cannot know

    @property
    def is_slow(self):
        """Is anything read from storage that is slow?"""
        return self.latency_ms > 0 or self.rate > 0

    @property
    def is_pure(self):
        """Nothing but sleeps: the speed of the processor plays no part."""
        return self.kind == "torch" and self.prep_cpu_ms == 0 and self.pieces == 1 and \
            self.batch * self.sample_bytes < 1 << 20


# Those that sleep do so for long: a sample takes a processor for 0.3 to 0.6 ms all the same, to
# be read, to wake up and to be sent, which is to play no part.
JOBS = (
    Job("compute", step_ms=240, prep_ms=20),
    Job("prep", step_ms=80, prep_ms=20),
    Job("prep, 1 worker", workers=1, step_ms=80, prep_ms=16),
    Job("prep, 4 workers", workers=4, step_ms=80, prep_ms=32),
    Job("compute to prep", step_ms=148, prep_ms=20),
    Job("prep to compute", step_ms=184, prep_ms=20),
    Job("fetch by latency", step_ms=40, prep_ms=8, latency_ms=32, resident=0),
    Job("fetch by rate", step_ms=80, prep_ms=16, rate=37.5, resident=0),
    Job("fetch to prep by rate", step_ms=80, prep_ms=20, rate=65, resident=0),
    Job("fetch, half in memory", step_ms=40, prep_ms=8, latency_ms=48, resident=0.5),
    Job("no workers", workers=0, step_ms=128, prep_ms=20, latency_ms=8, resident=0),
    Job("compute by latency, 4 workers", workers=4, step_ms=256, prep_ms=16, latency_ms=24,
        resident=0),
    Job("prep of a processor", step_ms=10, prep_cpu_ms=3),
    Job("prep of a processor, 4 workers", workers=4, step_ms=10, prep_cpu_ms=3),
    Job("compute, prep of a processor", workers=1, step_ms=80, prep_cpu_ms=3, touch=True),
    Job("fetch, prep of a processor", workers=4, step_ms=10, prep_cpu_ms=2, latency_ms=20,
        resident=0),
    Job("hand-over of many tensors", step_ms=2, sample_bytes=40960, pieces=160, about=300),
    Job("large batches", batch=32, step_ms=20, sample_bytes=602112, touch=True,
        about=800),
    Job("native, compute", kind="native", batch=NATIVE_BATCH, step_ms=400),
    Job("native, prep", kind="native", batch=NATIVE_BATCH, step_ms=20),
    Job("native, fetch by rate", kind="native", batch=NATIVE_BATCH, step_ms=40, rate=300,
        resident=0),
    Job("native, fetch by latency", kind="native", batch=NATIVE_BATCH, step_ms=40, latency_ms=20,
        resident=0),
)


def faster(job, times):
    """All that sleeps."""
    return dataclasses.replace(job, step_ms=job.step_ms / times, prep_ms=job.prep_ms / times,
                               latency_ms=job.latency_ms / times, rate=job.rate * times)


# --- their data -------------------------------------------------------------

class Data:
    """Files of PyTorch's jobs, pictures of the native ones: made when first asked for."""

    def __init__(self, top, nr_files, nr_pictures):
        self.top, self.nr_files = top, nr_files
        self.nr_pictures = -(-nr_pictures // NATIVE_BATCH) * NATIVE_BATCH     # whole batches
        self.made = {}
        self.work_per_ms = None

    def folder(self, what):
        if what not in self.made:
            path = os.path.join(self.top, what)
            {"files": self.make_files, "pictures": self.make_pictures,
             "many": self.make_many, "tiny": self.make_tiny}[what](path)
            service.let_go(path)
            self.made[what] = path
        return self.made[what]

    def make_files(self, path):
        for i in range(self.nr_files):
            at = os.path.join(path, "%03d" % (i // 100))
            os.makedirs(at, exist_ok=True)
            with open(os.path.join(at, "%06d" % i), "wb") as f:
                f.write(os.urandom(FILE_BYTES))

    def make_pictures(self, path):
        self.generate(path, self.nr_pictures, PICTURE)

    def make_many(self, path):
        self.generate(path, MANY_TIMES * self.nr_pictures, PICTURE)

    def make_tiny(self, path):
        self.generate(path, self.nr_pictures, TINY)

    @staticmethod
    def generate(path, count, size):
        service.call([bench.program("destall"), "gen", "--count", str(count), "--size", size,
                      "--json", path])

    def work(self, ms):
        """That takes so long, as stalls_job.py counts it: found once, then fixed."""
        if self.work_per_ms is None:
            self.work_per_ms = int(service.call([torch_jobs.PYTHON, JOB, "--calibrate", "20"],
                                                env=plain_environment())) / 20
        return round(ms * self.work_per_ms)

    def of(self, job):
        return self.folder("files" if job.kind == "torch" else "pictures")

    def profiled(self, job):
        """What a profile of it reads: an epoch of the truth is soon over."""
        return self.folder("files" if job.kind == "torch" else "many")

    def paths(self, job):
        return [os.path.join(at, name)
                for at, _, names in os.walk(self.of(job)) for name in names]

    def file_bytes(self, job):
        sizes = [os.stat(path).st_size for path in self.paths(job)]
        return sum(sizes) / len(sizes)


# --- what this machine must have --------------------------------------------

def need_disk(top):
    """Files of a file system in memory cannot be out of it."""
    kind = service.call(["stat", "-f", "-c", "%T", top]).strip()
    if kind in ("tmpfs", "ramfs"):
        raise torch_jobs.Missing("%s is in memory: it must be on a disk" % top)


def need_profile():
    r = subprocess.run([bench.program("destall"), "profile", "--help"], check=False,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    if r.returncode != 0:
        raise torch_jobs.Missing("this build has no `destall profile`")


# --- running them -----------------------------------------------------------

def plain_environment():
    """More workers than cores are no mistake here, of which PyTorch would warn."""
    return {**torch_jobs.environment(False), "PYTHONWARNINGS": "ignore"}


def shim():
    path = os.path.abspath(bench.program("tests/shim/.libs/slow.so"))
    if not os.path.exists(path):
        raise bench.Broken("%s is not there: 'make bench-programs' builds it, and top_builddir=DIR "
                           "says where" % path)
    return path


def environment(job, data, cached=True):
    """With its storage; without a page cache before it, every read is slow."""
    env = plain_environment()
    if job.is_slow:
        env.update(LD_PRELOAD=shim(),
                   DS_SLOW_ROOT=data.top, DS_SLOW_STATE=os.path.join(data.top, "storage"))
        if cached:
            env["DS_SLOW_CACHED"] = "fast"
        if job.latency_ms > 0:
            env["DS_SLOW_LATENCY"] = "%dus" % (job.latency_ms * 1e3)
        if job.rate > 0:
            env["DS_SLOW_RATE"] = "%d" % (job.rate * data.file_bytes(job))
        with contextlib.suppress(FileNotFoundError):
            os.unlink(env["DS_SLOW_STATE"])
    return env


def run(argv, env, seconds):
    """Its output; one that takes longer is ended.  Workers of PyTorch's end by themselves when
    their job is gone."""
    try:
        return service.call(argv, env=env, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise bench.Broken("%s: not done after %.0f s" % (" ".join(argv[:3]), seconds))


def torch_command(job, data, samples=None):
    argv = [torch_jobs.PYTHON, JOB, data.of(job), "--workers", job.workers, "--batch", job.batch,
            "--step-ms", job.step_ms, "--prep-ms", job.prep_ms,
            "--prep-work", data.work(job.prep_cpu_ms) if job.prep_cpu_ms else 0,
            "--sample-bytes", job.sample_bytes, "--pieces", job.pieces,
            "--resident", job.resident, *["--touch"] * job.touch,
            *(["--samples", samples] if samples else [])]
    return list(map(str, argv))


def native_command(job, folder, alone=False):
    """Alone: without the accelerator."""
    return [bench.program("destall"), "emulate", "--data", folder, "--batch", str(job.batch),
            *(["--touch", "none"] if alone else ["--step-ms", str(job.step_ms)])]


def command(job, data):
    """For a user to profile.  A native job begins with its files as they are to be found."""
    if job.kind == "torch":
        return torch_command(job, data)
    folder = data.profiled(job)
    found = "warm" if job.resident == 1 else "cold"
    return [torch_jobs.PYTHON, FOUND, found, folder, *native_command(job, folder)]
