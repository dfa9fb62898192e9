# SPDX-License-Identifier: Apache-2.0
"""Jobs whose stalls are known: what they are, their data, and how the truth about
each is had from runs of its own, without `destall profile`.

A job is PyTorch's (tests/python/stalls_job.py) or native (`destall emulate`).  Its
storage is tests/shim/slow.c: of a rate that all readers share, or of a latency that
each waits for itself; with the page cache before it.
"""

import contextlib
import dataclasses
import json
import os
import subprocess

import bench
import service
import torch_jobs

JOB = os.path.normpath(os.path.join(torch_jobs.HERE, "../python/stalls_job.py"))
COLD = os.path.join(torch_jobs.HERE, "truth_cold")
FILE_BYTES = 32768
PICTURE = "500x375"
TINY = "16x16"
EPOCHS = 3              # of native jobs: the first one starts and fills
BATCHES_LEAST = 24      # of an epoch, and so many more for each worker
PATIENCE = 20           # times as long as it should take is a failure


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

    @property
    def is_slow(self):
        """Is anything read from storage that is slow?"""
        return self.latency_ms > 0 or self.rate > 0

    @property
    def is_pure(self):
        """Nothing but sleeps: the speed of the processor plays no part."""
        return self.kind == "torch" and self.prep_cpu_ms == 0 and self.pieces == 1 and \
            self.batch * self.sample_bytes < 1 << 20


JOBS = (
    Job("compute", step_ms=60, prep_ms=5),
    Job("prep", prep_ms=5),
    Job("prep, 1 worker", workers=1, prep_ms=4),
    Job("prep, 4 workers", workers=4, prep_ms=8),
    Job("compute to prep", step_ms=37, prep_ms=5),
    Job("prep to compute", step_ms=46, prep_ms=5),
    Job("fetch by latency", step_ms=10, prep_ms=2, latency_ms=8, resident=0),
    Job("fetch by rate", prep_ms=4, rate=150, resident=0),
    Job("fetch to prep by rate", prep_ms=5, rate=260, resident=0),
    Job("fetch, half in memory", step_ms=10, prep_ms=2, latency_ms=12, resident=0.5),
    Job("no workers", workers=0, step_ms=32, prep_ms=5, latency_ms=2, resident=0),
    Job("compute by latency, 4 workers", workers=4, step_ms=64, prep_ms=4, latency_ms=6,
        resident=0),
    Job("prep of a processor", step_ms=10, prep_cpu_ms=3),
    Job("prep of a processor, 4 workers", workers=4, step_ms=10, prep_cpu_ms=3),
    Job("compute, prep of a processor", workers=1, step_ms=80, prep_cpu_ms=3, touch=True),
    Job("fetch, prep of a processor", workers=4, step_ms=10, prep_cpu_ms=2, latency_ms=20,
        resident=0),
    Job("hand-over of many tensors", step_ms=2, sample_bytes=40960, pieces=160),
    Job("hand-over of large batches", batch=32, step_ms=20, sample_bytes=602112, touch=True),
    Job("native, compute", kind="native", batch=64, step_ms=400),
    Job("native, prep", kind="native", batch=64, step_ms=40),
    Job("native, fetch by rate", kind="native", batch=64, step_ms=40, rate=150, resident=0),
    Job("native, fetch by latency", kind="native", batch=64, step_ms=40, latency_ms=80,
        resident=0),
)


# --- their data -------------------------------------------------------------

class Data:
    """Files of PyTorch's jobs, pictures of the native ones: made when first asked for."""

    def __init__(self, top, nr_files, nr_pictures):
        self.top, self.nr_files, self.nr_pictures = top, nr_files, nr_pictures
        self.made = {}
        self.work_per_ms = None

    def folder(self, what):
        if what not in self.made:
            path = os.path.join(self.top, what)
            {"files": self.make_files, "pictures": self.make_pictures,
             "tiny": self.make_tiny}[what](path)
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

    def paths(self, job):
        return [os.path.join(at, name)
                for at, _, names in os.walk(self.of(job)) for name in names]

    def file_bytes(self, job):
        sizes = [os.stat(path).st_size for path in self.paths(job)]
        return sum(sizes) / len(sizes)

    def warm(self, job):
        for path in self.paths(job):
            with open(path, "rb") as f:
                f.read()


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
                   DS_SLOW_ROOT=data.of(job), DS_SLOW_STATE=os.path.join(data.top, "storage"))
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
    argv = native_command(job, data.of(job))
    return [torch_jobs.PYTHON, COLD, data.of(job), *argv] if job.resident == 0 else argv


# --- the truth --------------------------------------------------------------

class Law:
    """The closed form: how long a sample takes in a phase, if its processor time is cpu_s."""

    def __init__(self, job, cores, readers=None):
        self.job, self.cores = job, cores
        self.readers = readers or max(job.workers, 1)

    def seconds(self, phase, cpu_s):
        j = self.job
        missing = 1 - j.resident if phase == "actual" else 0
        storage = missing / j.rate if j.rate else 0
        fetch = max(missing * j.latency_ms / 1e3, storage)
        step = 0 if phase == "alone" else j.step_ms / 1e3 / j.batch
        one = j.prep_ms / 1e3 + cpu_s
        if j.kind == "native":
            return max(cpu_s / self.cores, storage, fetch / self.readers, step)
        if j.workers == 0:
            return fetch + one + step
        return max((fetch + one) / j.workers, cpu_s / self.cores, storage, step)

    def scale(self, phase, cpu_s, other_s):
        """Of a rate, when a sample takes other_s of a processor instead of cpu_s."""
        return self.seconds(phase, cpu_s) / self.seconds(phase, other_s)


def samples_for(job, cores, seconds, most):
    """An epoch of about so many seconds, with enough batches to leave some out."""
    per = Law(job, cores).seconds("actual", job.prep_cpu_ms / 1e3) or 1e-3
    batches = max(round(seconds / per / job.batch), BATCHES_LEAST + 8 * job.workers)
    return min(batches * job.batch, most)


def phases_of(job):
    return ["synthetic", "alone", "cached", *["ready"] * (job.workers > 0),
            *["actual", "raw"] * job.is_slow]


def torch_truth(job, data, cores, seconds):
    samples = samples_for(job, cores, seconds, data.nr_files)
    out = os.path.join(data.top, "truth.json")
    phases = phases_of(job)
    run([*torch_command(job, data, samples), "--phases", ",".join(phases), "--json", out],
        environment(job, data), PATIENCE * (seconds * len(phases) + 10))
    with open(out) as f:
        had = {e["phase"]: e for e in json.load(f)["epochs"]}
    actual = had.get("actual", had["cached"])
    prep_cpu = "worker_cpu_ms_per_sample" if job.workers else "cpu_ms_per_sample"
    return {
        "ingest": had["synthetic"]["samples_per_s"],
        "prep": had["alone"]["samples_per_s"],
        "loader_cached": had["cached"]["samples_per_s"],
        "actual": actual["samples_per_s"],
        "storage": had["raw"]["samples_per_s"] if job.is_slow else None,
        "handover_ms_per_batch": had.get("ready", {}).get("handover_ms_per_batch", 0),
        "cpu_ms_per_sample": actual["cpu_ms_per_sample"],
        "alone_cpu_ms_per_sample": had["alone"]["cpu_ms_per_sample"],
        "prep_cpu_ms_per_sample": actual[prep_cpu],
        "readers": max(job.workers, 1),
    }


def native_epochs(job, data, folder, alone=False, cached=True):
    """Of all epochs but the first: samples, seconds, the share of waiting; and the document."""
    env = environment(job, data, cached)
    text = run([*native_command(job, folder, alone), "--epochs", str(EPOCHS), "--json"], env, 3600)
    doc = json.loads(text)
    later = doc["epochs"][1:]
    samples, seconds = (sum(e[k] for e in later) for k in ("samples", "seconds"))
    waited = sum(e["stall_share"] * e["seconds"] for e in later)
    return samples, seconds, waited, doc


def cpu_ms(doc):
    return 1e3 * doc["cpu_seconds"] / doc["samples"]


def native_truth(job, data):
    """G and the hand-over are those of pictures that are there at once; what is read from
    storage is read so in every epoch."""
    folder = data.of(job)
    data.warm(job)
    samples, seconds, waited, _ = native_epochs(job, data, data.folder("tiny"))
    ingest, handover = samples / (seconds - waited), 1e3 * waited / (samples / job.batch)
    samples, seconds, _, alone = native_epochs(job, data, folder, alone=True)
    prep = samples / seconds
    samples, seconds, _, doc = native_epochs(job, data, folder)
    cached = actual = samples / seconds
    storage = None
    if job.is_slow:
        samples, seconds, _, doc = native_epochs(job, data, folder, cached=False)
        actual = samples / seconds
        storage = raw_rate(job, data, doc["readers"])
    return {
        "ingest": ingest, "prep": prep, "loader_cached": cached, "actual": actual,
        "storage": storage, "handover_ms_per_batch": handover,
        "cpu_ms_per_sample": cpu_ms(doc), "alone_cpu_ms_per_sample": cpu_ms(alone),
        "prep_cpu_ms_per_sample":
        1e3 * (doc["cpu_seconds"] - doc["touch_cpu_seconds"]) / doc["samples"],
        "readers": doc["readers"],
    }


def raw_rate(job, data, readers):
    out = os.path.join(data.top, "raw.json")
    run([torch_jobs.PYTHON, JOB, data.of(job), "--workers", str(readers), "--phases", "raw",
         "--json", out], environment(job, data), 3600)
    with open(out) as f:
        return json.load(f)["epochs"][0]["samples_per_s"]


def truth_of(job, data, cores, seconds):
    if job.kind == "torch":
        return torch_truth(job, data, cores, seconds)
    return native_truth(job, data)
