# SPDX-License-Identifier: Apache-2.0
"""The truth about a job of truth_jobs.py: what the closed form has, and how it is had from runs
of the job, without `destall profile`.
"""

import dataclasses
import json
import os

import bench
import service
import torch_jobs

from truth_jobs import JOB, environment, native_command, run, torch_command

EPOCHS = 4              # of native jobs: the first one starts and fills, the last one empties
BATCHES_LEAST = 24      # of an epoch, and so many more for each worker
TRIES = 3               # of an epoch that the host of this machine disturbed
PATIENCE = 20 * TRIES   # times as long as it should take is a failure
LONG_S = 3600
CALM = 0.005            # of the processors' time: so little may the host take of an epoch
CALM_MS = 150           # of a step, in which makers have long done all that they may


class Law:
    """The closed form: how long a sample takes in a phase, if cpu_s is the processor time that
    preparing it takes, and handover_s that of handing it over, which is of a processor, too."""

    def __init__(self, job, cores, readers=None):
        self.job, self.cores = job, cores
        self.readers = readers or max(job.workers, 1)

    def seconds(self, phase, cpu_s, handover_s=0):
        j = self.job
        missing = 1 - j.resident if phase == "actual" else 0
        storage = missing / j.rate if j.rate else 0
        fetch = max(missing * j.latency_ms / 1e3, storage)
        step = 0 if phase == "alone" else j.step_ms / 1e3 / j.batch + handover_s
        one = j.prep_ms / 1e3 + cpu_s
        if j.kind == "native":
            return max(cpu_s / self.cores, storage, fetch / self.readers, step)
        if j.workers == 0:
            return fetch + one + step
        return max((fetch + one) / j.workers, cpu_s / self.cores, storage, step)

    def scale(self, phase, cpu_s, handover_s, times):
        """Of a rate, when a sample takes so many times as much of a processor."""
        return self.seconds(phase, cpu_s, handover_s) / \
            self.seconds(phase, times * cpu_s, times * handover_s)


def samples_for(job, cores, seconds, most):
    """An epoch of about so many seconds, with enough batches to leave some out."""
    per = 1 / job.about if job.about else Law(job, cores).seconds("actual", job.prep_cpu_ms / 1e3)
    batches = max(round(seconds / per / job.batch), BATCHES_LEAST + 8 * job.workers)
    return min(batches * job.batch, most)


def phases_of(job):
    return ["synthetic", "alone", "cached", *["ready"] * (job.workers > 0),
            *["actual", "raw"] * job.is_slow]


def torch_truth(job, data, cores, seconds, tries):
    samples = samples_for(job, cores, seconds, data.nr_files)
    out = os.path.join(data.top, "truth.json")
    phases = phases_of(job)
    run([*torch_command(job, data, samples), "--phases", ",".join(phases), "--tries", str(tries),
         "--json", out],
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
        **taken_by_host(had.values()),
    }


def steady(doc):
    """Epochs that begin and end with as much in work as there may be."""
    return doc["epochs"][1:-1]


def native_epochs(job, data, folder, most, alone=False, cached=True):
    """Of steady epochs, of which there are that many tries at the most: samples, seconds, those
    of waiting; and the document, with what the host took of them."""
    env = environment(job, data, cached)

    def run_once():
        if cached:
            service.read_all(folder)    # whatever has left memory meanwhile
        return json.loads(run([*native_command(job, folder, alone), "--epochs", str(EPOCHS),
                               "--json"], env, LONG_S))

    doc, share, tries = bench.calmly(run_once, most, CALM)
    doc.update(stolen_share=share, tries=tries)
    samples = sum(e["samples"] for e in steady(doc))
    seconds = sum(e["seconds"] for e in steady(doc))
    waited = sum(e["stall_share"] * e["seconds"] for e in steady(doc))
    return samples, seconds, waited, doc


def native_readers(doc):
    """A thread that makes samples reads, too, when it has nothing to make."""
    return doc["readers"] + doc["threads"]


def cpu_ms(doc):
    """Of a sample; the first epoch looks at every picture to its end."""
    return 1e3 * sum(e["cpu_seconds"] for e in steady(doc)) / \
        sum(e["samples"] for e in steady(doc))


def touch_ms(doc):
    return 1e3 * doc["touch_cpu_seconds"] / doc["samples"]


def native_truth(job, data, tries):
    """G is that of pictures that are there at once, the hand-over of such for which there is more
    than enough time; what is read from storage is read so in every epoch."""
    folder = data.of(job)
    samples, seconds, waited, tiny = native_epochs(job, data, data.folder("tiny"), tries)
    ingest = samples / (seconds - waited)
    calm = dataclasses.replace(job, step_ms=CALM_MS)
    samples, _, waited, ready = native_epochs(calm, data, data.folder("tiny"), tries)
    handover = 1e3 * waited / (samples / job.batch)
    samples, seconds, _, alone = native_epochs(job, data, folder, tries, alone=True)
    prep = samples / seconds
    samples, seconds, _, doc = native_epochs(job, data, folder, tries)
    cached = actual = samples / seconds
    docs, storage = [tiny, ready, alone, doc], None
    if job.is_slow:
        samples, seconds, _, doc = native_epochs(job, data, folder, tries, cached=False)
        actual = samples / seconds
        docs.append(doc)
        storage = raw_rate(job, data, native_readers(doc))
    return {
        "ingest": ingest, "prep": prep, "loader_cached": cached, "actual": actual,
        "storage": storage, "handover_ms_per_batch": handover,
        "cpu_ms_per_sample": cpu_ms(doc), "alone_cpu_ms_per_sample": cpu_ms(alone),
        "prep_cpu_ms_per_sample": cpu_ms(doc) - touch_ms(doc),
        "readers": native_readers(doc),
        **taken_by_host(docs),
    }


def taken_by_host(runs):
    """The most of one, and how many of them had to be made again."""
    return {"stolen_share": max(r.get("stolen_share", 0) for r in runs),
            "tries": 1 + sum(r.get("tries", 1) - 1 for r in runs)}


def raw_rate(job, data, readers):
    out = os.path.join(data.top, "raw.json")
    run([torch_jobs.PYTHON, JOB, data.of(job), "--workers", str(readers), "--phases", "raw",
         "--json", out], environment(job, data), LONG_S)
    with open(out) as f:
        return json.load(f)["epochs"][0]["samples_per_s"]


def truth_of(job, data, cores, seconds, tries=TRIES):
    if job.kind == "torch":
        return torch_truth(job, data, cores, seconds, tries)
    return native_truth(job, data, tries)
