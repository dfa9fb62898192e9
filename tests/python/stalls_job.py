# SPDX-License-Identifier: Apache-2.0
"""A PyTorch training script whose stalls are known: each sample reads its file,
then is prepared for a time that was chosen; the accelerator takes its step by
sleeping to a deadline.

    stalls_job.py DATA [--workers N] [--batch N] [--epochs N] [--step-ms MS]
                  [--prep-ms MS] [--prep-work N] [--resident SHARE] ...
    stalls_job.py --calibrate MS        how much --prep-work takes so long here

As it is, it is an ordinary job, in which nothing knows of destall.  With --phases
its epochs are of different kinds, from which the truth about it is had:

    synthetic   batches that are in memory already, no loader
    alone       the loader without steps, files in memory
    cached      the job, files in memory
    actual      the job, as many files in memory as --resident says
    ready       the job, each batch taken only when it must be there
    raw         reading alone, files out of memory, with as many readers

Figures (--json) are of the steady state: start-up, the filling of the queue and
its end are left out, and batches are counted in multiples of the workers, because
they come in bunches of so many.  With --tries an epoch from which the host of a
virtual machine took processor time is made again, and the calmest counts.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import time

import torch

PHASES = ("synthetic", "alone", "cached", "actual", "ready", "raw")
BLOCK = bytes(range(256)) * 64
WORD = 8
RING_BYTES = 64 << 20           # more than caches of processors hold
RING_MOST = 64
SPARE = 1.2                     # times what a worker takes for a batch: it is ready then
SPARE_S = 0.01
READY_BATCHES = 40              # are enough to know how long taking one takes
CALM = 0.005                    # of the processors' time: so little may the host take
LEFT_MOST = 0.005               # of what is read, from storage where it should be in memory


# --- a sample ---------------------------------------------------------------

def sleep_until(deadline):
    left = deadline - time.monotonic()
    if left > 0:
        time.sleep(left)


def work(times):
    """The same work each time: only the speed of the core decides how long it takes."""
    for _ in range(times):
        hashlib.sha256(BLOCK).digest()


def calibrate(ms):
    """How much work() takes so many milliseconds of a core, by the best of some tries."""
    best = float("inf")
    for _ in range(20):
        since = time.thread_time()
        work(50)
        best = min(best, (time.thread_time() - since) / 50)
    return max(round(ms / 1e3 / best), 1)


class Samples:
    """The n-th is the n-th file, prepared; with it, what that took: seconds for fetching, for
    preparing, and of a processor for the latter."""

    def __init__(self, paths, o):
        self.paths = paths
        self.prep_s, self.prep_work = o.prep_ms / 1e3, o.prep_work
        self.shape = (o.pieces, max(o.sample_bytes // o.pieces // WORD, 1) * WORD)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        began = time.monotonic()
        with open(self.paths[i], "rb") as f:
            data = f.read()
        read, cpu = time.monotonic(), time.thread_time()
        sleep_until(read + self.prep_s)
        work(self.prep_work)
        pieces = torch.full(self.shape, data[0] if data else 0, dtype=torch.uint8).unbind()
        took = (read - began, time.monotonic() - read, time.thread_time() - cpu)
        return list(pieces), torch.tensor(took, dtype=torch.float64)


def make_loader(o, paths):
    more = {"prefetch_factor": o.prefetch, "multiprocessing_context": o.start_method} \
        if o.workers > 0 else {}
    return torch.utils.data.DataLoader(Samples(paths, o), o.batch, shuffle=True,
                                       num_workers=o.workers, **more)


# --- the accelerator --------------------------------------------------------

def take_step(o, batch):
    """It reads every byte of a batch, if it does, while it takes its time."""
    began = time.monotonic()
    if o.touch:
        for piece in batch[0]:
            int(piece.view(torch.int64).sum())
    sleep_until(began + o.step_ms / 1e3)


# --- which files are in memory ----------------------------------------------

def evict(paths):
    for path in paths:
        fd = os.open(path, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


def warm(paths):
    """By another program, for which storage is not slow."""
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    subprocess.run(["xargs", "-0", "-r", "cat"], input="\0".join(paths).encode(), env=env,
                   stdout=subprocess.DEVNULL, check=True)


def arrange(paths, resident):
    """So that this share is in memory, always the same files."""
    if resident is None:
        return
    order = random.Random(1).sample(paths, len(paths))
    nr = round(resident * len(paths))
    evict(order[nr:])
    warm(order[:nr])


# --- what processes use -----------------------------------------------------

def cpu_of(pid):
    """Of a process, as clock_getcpuclockid() has it."""
    return time.clock_gettime((~pid << 3) | 2)


def used_seconds():
    """Of this process, and of its workers."""
    return time.process_time(), sum(cpu_of(p.pid) for p in multiprocessing.active_children())


def storage_bytes():
    """That were read for them from storage."""
    total = 0
    for pid in (os.getpid(), *(p.pid for p in multiprocessing.active_children())):
        with open("/proc/%d/io" % pid) as f:
            total += int(dict(line.split(": ") for line in f)["read_bytes"])
    return total


class Meter:
    """When each batch was done with, and in the steady state what was used and told."""

    def __init__(self, o, batches):
        self.batch, bunch = o.batch, max(o.workers, 1)
        self.first = o.workers * o.prefetch + bunch
        self.last = self.first + (batches - 1 - bunch - self.first) // bunch * bunch
        self.done, self.used, self.took, self.waits, self.times = 0, [], [], [], []

    def note(self, batch=None, wait=None):
        if self.first <= self.done <= self.last:
            self.times.append(time.monotonic())
        if self.done in (self.first, self.last) and self.first < self.last:
            self.used.append((time.monotonic(), storage_bytes(), *used_seconds()))
        if self.first < self.done <= self.last:
            if batch is not None:
                self.took.append(batch[1].mean(dim=0))
            if wait is not None:
                self.waits.append(wait)
        self.done += 1

    def figures(self):
        """None of an epoch that is too short for a steady state."""
        if self.last <= self.first:
            return {}
        (t0, bytes0, main0, workers0), (t1, bytes1, main1, workers1) = self.used
        samples = (self.last - self.first) * self.batch
        found = {"samples": samples, "seconds": t1 - t0, "samples_per_s": samples / (t1 - t0),
                 "storage_bytes_per_sample": (bytes1 - bytes0) / samples,
                 "median_ms_per_batch": 1e3 * statistics.median(
                     b - a for a, b in zip(self.times, self.times[1:])),
                 "cpu_ms_per_sample": 1e3 * (main1 - main0 + workers1 - workers0) / samples,
                 "worker_cpu_ms_per_sample": 1e3 * (workers1 - workers0) / samples}
        if self.took:
            fetch, prep, cpu = (1e3 * torch.stack(self.took).mean(dim=0)).tolist()
            found.update(fetch_ms_per_sample=fetch, prep_ms_per_sample=prep,
                         prep_cpu_ms_per_sample=cpu)
        if self.waits:                  # one by one, in turn: a few that the host delayed do not count
            found["handover_ms_per_batch"] = 1e3 * statistics.median(self.waits)
        return found


# --- epochs -----------------------------------------------------------------

def train(o, loader):
    meter = Meter(o, len(loader))
    for batch in loader:
        take_step(o, batch)
        meter.note(batch)
    return meter.figures()


def run_synthetic(o, loader):
    batch = torch.utils.data.default_collate([loader.dataset[i] for i in range(o.batch)])
    nr = min(max(2, RING_BYTES // (o.batch * o.sample_bytes)), RING_MOST)
    ring = [([piece.clone() for piece in batch[0]], batch[1]) for _ in range(nr)]
    meter = Meter(o, len(loader))
    for i in range(len(loader)):
        take_step(o, ring[i % nr])
        meter.note(ring[i % nr])
    return meter.figures()


def run_alone(o, loader):
    meter = Meter(o, len(loader))
    for batch in loader:
        meter.note(batch)
    return meter.figures()


def run_ready(o, loader, batch_s):
    """How long next() takes when there is nothing to wait for, and no worker has anything to do:
    what one needed for the last batch says how long the next one may take."""
    meter = Meter(o, len(loader))
    batches = iter(loader)
    for _ in range(len(loader)):
        time.sleep(SPARE * batch_s + SPARE_S)
        asked = time.monotonic()
        batch = next(batches)
        meter.note(batch, time.monotonic() - asked)
        batch_s = max(batch_s, batch[1][:, :2].sum().item())
    return {k: v for k, v in meter.figures().items() if k == "handover_ms_per_batch"}


def read_all(paths, start, ends):
    start.wait()
    for path in paths:
        with open(path, "rb") as f:
            f.read()
    ends.put(time.monotonic())


def run_raw(o, paths):
    """As many readers as the job has, which prepare nothing."""
    nr = max(o.workers, 1)
    paths = random.Random(o.seed).sample(paths, len(paths))
    paths = paths[:len(paths) // nr * nr]
    fork = multiprocessing.get_context("fork")
    start, ends = fork.Barrier(nr + 1), fork.SimpleQueue()
    readers = [fork.Process(target=read_all, args=(paths[i::nr], start, ends))
               for i in range(nr)]
    for p in readers:
        p.start()
    start.wait()
    began = time.monotonic()
    seconds = max(ends.get() for _ in readers) - began
    for p in readers:
        p.join()
    return {"samples": len(paths), "seconds": seconds, "samples_per_s": len(paths) / seconds}


def run_phase(o, phase, paths, known):
    loader = make_loader(o, paths)
    if phase == "synthetic":
        return run_synthetic(o, loader)
    if phase == "raw":
        arrange(paths, 0)
        return run_raw(o, paths)
    arrange(paths, o.resident if phase == "actual" else 1)
    if phase == "alone":
        return run_alone(o, loader)
    if phase == "ready":
        loader = make_loader(o, paths[:READY_BATCHES * o.batch])
        return run_ready(o, loader, o.workers * o.batch / known["alone"]["samples_per_s"])
    return train(o, loader)


# --- calm epochs ------------------------------------------------------------

def run_in_place(o, phase, paths, known):
    """Where storage is slow: files that were to be in memory must have been, but for a few."""
    for _ in range(o.tries):
        found = run_phase(o, phase, paths, known)
        read = found.get("storage_bytes_per_sample", 0)
        if phase not in ("alone", "cached") or "DS_SLOW_ROOT" not in os.environ or \
                read <= LEFT_MOST * os.stat(paths[0]).st_size:
            break
    return found


def run_calmly(o, phase, paths, known):
    if o.tries == 1:
        return run_phase(o, phase, paths, known)
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench"))
    import bench
    found, share, tries = bench.calmly(lambda: run_in_place(o, phase, paths, known), o.tries, CALM)
    return {**found, "stolen_share": share, "tries": tries}


# --- main -------------------------------------------------------------------

def find_files(folder, nr):
    found = sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)
    if not found:
        raise SystemExit("stalls_job: %s: no files" % folder)
    return found[:nr]


def parse_phases(text):
    phases = text.split(",")
    if not set(phases) <= set(PHASES):
        raise argparse.ArgumentTypeError("phases are " + ", ".join(PHASES))
    if "ready" in phases and "alone" not in phases[:phases.index("ready")]:
        raise argparse.ArgumentTypeError("before 'ready' there must be 'alone'")
    return phases


def parse_arguments():
    p = argparse.ArgumentParser()
    p.add_argument("data", nargs="?")
    p.add_argument("--calibrate", type=float, metavar="MS")
    p.add_argument("--samples", type=int, metavar="N", help="of an epoch [all files]")
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--prefetch", type=int, default=2)
    p.add_argument("--start-method", choices=("fork", "spawn", "forkserver"), default="fork")
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--epochs", type=int, default=1)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--step-ms", type=float, default=0)
    p.add_argument("--touch", action="store_true", help="the step reads every byte")
    p.add_argument("--prep-ms", type=float, default=0, help="of sleep, for a sample")
    p.add_argument("--prep-work", type=int, default=0, help="for a sample, see --calibrate")
    p.add_argument("--sample-bytes", type=int, default=4096)
    p.add_argument("--pieces", type=int, default=1, help="tensors of which a sample is made")
    p.add_argument("--resident", type=float, metavar="SHARE",
                   help="of the files, in memory at the start of each epoch [as they are]")
    p.add_argument("--phases", type=parse_phases, metavar="LIST")
    p.add_argument("--tries", type=int, default=1, metavar="N", help="of each epoch")
    p.add_argument("--json", metavar="FILE")
    o = p.parse_args()
    if (o.data is None) == (o.calibrate is None):
        p.error("either DATA or --calibrate")
    return o


def main():
    o = parse_arguments()
    if o.calibrate is not None:
        print(calibrate(o.calibrate))
        return 0
    torch.manual_seed(o.seed)
    paths = find_files(o.data, o.samples)
    epochs, known = [], {}
    for phase in (o.phases or ["actual"]) * o.epochs:
        known[phase] = run_calmly(o, phase, paths, known)
        epochs.append({"phase": phase, **known[phase]})
    if o.json is not None:
        with open(o.json, "w") as f:
            json.dump({"epochs": epochs}, f)
    return 0


if __name__ == "__main__":
    sys.exit(main())
