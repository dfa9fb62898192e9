# SPDX-License-Identifier: Apache-2.0
"""What a job of tests/compat was given, for tests/compat/rows.py to judge.

    OUT        the file that is written, if any, .RANK behind it in a job of several ranks
    WORKERS    of its loaders
    TOGETHER   how many jobs wait for each other before the first epoch, at GATE
"""

import hashlib
import json
import os
import sys
import time

import numpy
import torch

WORKERS = int(os.environ.get("WORKERS", "2"))
COUNT = 256             # samples of the data sets
BATCH = 8
STEP_S = 0.01           # an emulated step of training: epochs of nothing would hardly overlap


def digest(value):
    if not isinstance(value, bytes):
        value = numpy.ascontiguousarray(torch.as_tensor(value).numpy()).tobytes()
    return hashlib.blake2b(value, digest_size=6).hexdigest()


def wait():
    """Until all jobs of the row are here, so that they run at the same time."""
    gate, together = os.environ.get("GATE"), int(os.environ.get("TOGETHER", "1"))
    if together < 2:
        return
    open(os.path.join(gate, str(os.getpid())), "w").close()
    while len(os.listdir(gate)) < together:
        time.sleep(0.01)


def loaders():
    """What destall tells of this job's, in a job that has it."""
    destall = sys.modules.get("destall")
    return destall.status()["loaders"] if destall is not None else []


class Record:
    """`epochs`: of each, [sample, digest] in the order of delivery; `checks`: what the job
    itself looked at."""

    def __init__(self):
        self.epochs, self.checks = [], {}

    def begin(self):
        self.epochs.append([])

    def batch(self, numbers, values):
        self.epochs[-1] += [[int(n), digest(v)] for n, v in zip(numbers, values)]
        time.sleep(STEP_S)

    def run(self, loader):
        """Two epochs, at the same time as the other jobs."""
        wait()
        for _ in range(2):
            self.begin()
            for values, numbers in loader:
                self.batch(numbers, values)

    def samples(self, epoch):
        return [n for n, _ in self.epochs[epoch]]

    def check(self, name, holds):
        self.checks[name] = bool(holds) and self.checks.get(name, True)

    def write(self, rank=None):
        if "OUT" not in os.environ:     # of one that was started by hand
            return
        path = os.environ["OUT"] + (".%d" % rank if rank is not None else "")
        with open(path, "w") as f:
            json.dump({"epochs": self.epochs, "checks": self.checks, "loaders": loaders()}, f)
