# SPDX-License-Identifier: Apache-2.0
"""A row for each framework: jobs of jobs/, all at once, two of them with DESTALL=1
and one plain.  Each must have been given what is right, and must have shared, or
say why not: destall.status() in each tells.  Run by tests/compat/run.
"""

import collections
import importlib.metadata
import json
import os
import re
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COUNT = 256             # as jobs/record.py
TIMEOUT_S = 300
WORK = os.environ["work"]
BUILD = os.environ["top_builddir"]
PACKAGE = os.path.join(os.environ["top_srcdir"], "loader/python")
PROGRAM = os.path.join(BUILD, "destall")

# random: values are random, and equal in jobs that share only.  workers: of the plain job, and
# of those that share.  alone: what they say, where they are not to share.
Row = collections.namedtuple("Row", "name package command ranks random variables workers alone",
                             defaults=(1, False, {}, (2, 2, 1), None))
EQUAL = (2, 2, 2)       # each worker of an iterable dataset has a part of it

ROWS = [
    Row("DataLoader", "torch", "plain_loader.py"),
    Row("DataLoader, in_order=False", "torch", "plain_loader.py in_order=False",
        alone="in_order=False"),
    Row("an endless loader, as ultralytics has", "torch", "endless_job.py"),
    Row("an iterator made by hand, as fastai does", "torch", "own_iterator_job.py",
        alone="it is no DataLoader"),
    Row("torchvision, transforms v1", "torchvision", "torchvision_job.py v1", random=True),
    Row("torchvision, transforms v2", "torchvision", "torchvision_job.py v2", random=True),
    Row("Albumentations", "albumentations", "albumentations_job.py", random=True),
    Row("timm, create_loader", "timm", "timm_job.py"),
    Row("timm, augmented", "timm", "timm_job.py augmented", random=True),
    Row("timm, MultiEpochsDataLoader", "timm", "timm_job.py multi"),
    Row("accelerate", "accelerate", "accelerate_job.py"),
    Row("accelerate, dispatch_batches=False", "accelerate", "accelerate_job.py dispatch=off"),
    Row("accelerate, seedable sampler", "accelerate", "accelerate_job.py seedable"),
    Row("transformers, Trainer", "transformers", "trainer_job.py"),
    Row("Lightning", "lightning", "lightning_job.py"),
    Row("Lightning, DDP of two ranks", "lightning", "lightning_job.py ddp", ranks=2),
    Row("torchdata, StatefulDataLoader", "torchdata", "stateful_job.py",
        alone="it has an iterator of its own"),
    Row("datasets, with_format", "datasets", "datasets_job.py torch"),
    Row("datasets, set_transform", "datasets", "datasets_job.py transform"),
    Row("datasets, iterable", "datasets", "datasets_job.py iterable", workers=EQUAL),
    Row("webdataset, DataLoader", "webdataset", "webdataset_job.py", workers=EQUAL),
    Row("webdataset, WebLoader", "webdataset", "webdataset_job.py loader", workers=EQUAL),
    Row("Optuna, trials as threads", "optuna", "optuna_job.py"),
    Row("Optuna, trials as processes", "optuna", "trial_job.py",
        variables={"STUDY": os.path.join(WORK, "study")}),
    Row("a job array, as Slurm starts it", "torch", "trial_job.py",
        variables={"SLURM_JOB_ID": "77", "SLURM_ARRAY_JOB_ID": "76"}),
]


class Wrong(Exception):
    """What a job was given is not right: why."""


# --- running --------------------------------------------------------------------

def environment(row, folder, number, workers):
    common = {**os.environ, **row.variables, "OUT": os.path.join(folder, "out%d" % number),
              "WORKERS": str(workers), "FILES": os.path.join(WORK, "files"),
              "SLURM_ARRAY_TASK_ID": str(number)}
    if number == 0:
        return {**common, "PYTHONPATH": HERE}
    return {**common, "DESTALL": "1", "DESTALL_HUB": os.path.join(WORK, "hub/s"),
            "DESTALL_GROUP": re.sub(r"\W+", "-", row.name), "LD_LIBRARY_PATH": BUILD + "/.libs",
            "PYTHONPATH": ":".join((PACKAGE + "/site", PACKAGE, HERE)),
            "GATE": os.path.join(folder, "gate"), "TOGETHER": str(2 * row.ranks)}


def start(row, folder, number, workers):
    script, *arguments = row.command.split()
    return subprocess.Popen(
        [sys.executable, os.path.join(HERE, "jobs", script), *arguments],
        env=environment(row, folder, number, workers), stdout=subprocess.DEVNULL,
        stderr=open(os.path.join(folder, "said%d" % number), "w"), start_new_session=True)


def end(process):
    """Its status; None: it hung."""
    try:
        return process.wait(TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return None


def end_rest(process):
    """Of a job that hung or died: it has a session of its own."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


class Result:
    """Of one job."""

    def __init__(self, row, folder, number, status):
        self.status = status
        with open(os.path.join(folder, "said%d" % number)) as f:
            self.said = f.read()
        self.parts = []
        out = os.path.join(folder, "out%d" % number)
        for path in [out] if row.ranks == 1 else ["%s.%d" % (out, r) for r in range(row.ranks)]:
            if os.path.exists(path):
                with open(path) as f:
                    self.parts.append(json.load(f))

    @property
    def epochs(self):
        """Of all ranks together."""
        return [sum(of_ranks, []) for of_ranks in zip(*(p["epochs"] for p in self.parts))]

    @property
    def loaders(self):
        """As destall.status() tells of them."""
        return [loader for p in self.parts for loader in p["loaders"]]

    def count(self, name):
        return sum(loader[name] for loader in self.loaders)


# --- judging --------------------------------------------------------------------

def judge_alone(row, result):
    """Every sample once per epoch, and what the job itself looked at."""
    if result.status != 0:
        raise Wrong("it hung" if result.status is None else "it ended with %d: %s" % (
            result.status, (result.said.strip().splitlines() or ["?"])[-1]))
    if len(result.parts) != row.ranks:
        raise Wrong("it wrote nothing")
    if len(result.epochs) < 2:
        raise Wrong("it had %d epochs" % len(result.epochs))
    for epoch, given in enumerate(result.epochs):
        if sorted(n for n, _ in given) != list(range(COUNT)):
            raise Wrong("epoch %d: %d samples, %d of them different" % (
                epoch, len(given), len({n for n, _ in given})))
    for part in result.parts:
        for name, holds in part["checks"].items():
            if not holds:
                raise Wrong("%s: not right" % name)


def judge(row, plain, shared):
    for result in (plain, *shared):
        try:
            judge_alone(row, result)
        except Wrong as e:
            raise Wrong("%s: %s" % ("the plain job" if result is plain else "a job", e)) from e
    other = shared[0] if row.random else plain
    for result in shared:
        if len(result.epochs) != len(plain.epochs):
            raise Wrong("%d epochs, and %d" % (len(result.epochs), len(plain.epochs)))
        for epoch, (given, want) in enumerate(zip(result.epochs, other.epochs)):
            if dict(given) != dict(want) and (not row.random or result.count("of_others") > 0):
                raise Wrong("epoch %d: other values" % epoch)


def judge_sharing(row, shared):
    """What there is to say of it."""
    if row.alone is not None:
        return judge_alone_line(row, shared)
    made, batches = (sum(r.count(name) for r in shared) for name in ("of_others", "batches"))
    if made == 0:
        states = dict.fromkeys(l["state"] for r in shared for l in r.loaders)
        raise Wrong("nothing was shared: %s" % ("; ".join(states) or "it says nothing"))
    return "shared: %d of %d batches were made by the other" % (made, batches)


def judge_alone_line(row, shared):
    for result in shared:
        for loader in result.loaders or [{"state": "it says nothing"}]:
            if not loader["state"].startswith("alone: " + row.alone):
                raise Wrong("it is to be plain, but: %s" % loader["state"])
            if loader["name"] not in result.said:
                raise Wrong("no line of %s" % loader["name"])
    return "plain, and says so: %s" % shared[0].loaders[0]["state"]


def run(row):
    """(whether it is right, what there is to say)"""
    folder = os.path.join(WORK, re.sub(r"\W+", "-", row.name))
    os.makedirs(os.path.join(folder, "gate"))
    jobs = [start(row, folder, number, workers) for number, workers in enumerate(row.workers)]
    statuses = []
    try:
        statuses = [end(job) for job in jobs]
    finally:
        for job in jobs:
            end_rest(job)
    results = [Result(row, folder, n, status) for n, status in enumerate(statuses)]
    try:
        judge(row, results[0], results[1:])
        return True, judge_sharing(row, results[1:])
    except Wrong as e:
        if "KEEP" in os.environ:
            for n, result in enumerate(results):
                sys.stderr.write("--- job %d\n%s" % (n, result.said))
        return False, str(e)


def main(names):
    os.mkdir(os.path.join(WORK, "hub"), 0o700)
    os.environ["DESTALL_HUB"] = os.path.join(WORK, "hub/s")
    subprocess.run([sys.executable, os.path.join(HERE, "jobs/make_files.py"),
                    os.path.join(WORK, "files")], check=True)
    subprocess.run([PROGRAM, "serve", "--cache", "64M"], check=True)
    is_right = True
    try:
        print("| what | version | right | shared, or why not |\n|---|---|---|---|")
        for row in [r for r in ROWS if not names or any(n in r.name for n in names)]:
            right, text = run(row)
            is_right = is_right and right
            print("| %s | %s %s | %s | %s |" % (
                row.name, row.package, importlib.metadata.version(row.package),
                "yes" if right else "**no**", text), flush=True)
    finally:
        subprocess.run([PROGRAM, "serve", "--stop"], check=True)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
