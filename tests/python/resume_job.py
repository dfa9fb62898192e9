# SPDX-License-Identifier: Apache-2.0
"""A job that can be begun again in the middle of an epoch, as Hugging Face's
trainer does it: the same seed, the epoch told, so many batches skipped.

    resume_job.py OUT SAMPLER wait|hang|resume

wait: all epochs, and in the middle of the last it waits until FOLDER/end is
there.  hang: all epochs, and after SKIPPED batches of the last, which it writes
down, it waits to be killed.  resume: the last epoch, without those.
"""

import os
import sys
import time

import torch

from torch.utils.data import DataLoader, Dataset, DistributedSampler, RandomSampler

from jobside import write

SEED = 42
LAST = 2                # epoch
SKIPPED = 7


class Numbers(Dataset):
    def __len__(self):
        return 120

    def __getitem__(self, i):
        return torch.stack([torch.tensor(float(i)), torch.rand(())])


class Seedable(RandomSampler):
    """As accelerate's SeedableRandomSampler."""

    def __init__(self, data):
        super().__init__(data)
        self.initial_seed = torch.random.initial_seed()
        self.epoch = 0

    def __iter__(self):
        if self.generator is None:
            self.generator = torch.Generator()
        self.generator.manual_seed(self.epoch + self.initial_seed)
        yield from super().__iter__()
        self.set_epoch(self.epoch + 1)

    def set_epoch(self, epoch):
        self.epoch = epoch


SAMPLERS = {"accelerate": Seedable,
            "ranks": lambda data: DistributedSampler(data, 1, 0, seed=SEED)}


def make(kind, **options):
    torch.manual_seed(SEED)
    data = Numbers()
    sampler = SAMPLERS[kind](data)
    return DataLoader(data, 4, sampler=sampler, **options), sampler


def path(name):
    return os.path.join(os.environ["FOLDER"], name)


def wait_for(name):
    while not os.path.exists(path(name)):
        time.sleep(0.005)


def last_epoch(loader, how):
    given = []
    for i, batch in enumerate(loader):
        given.append(str(batch.tolist()))
        if how == "hang" and i + 1 == SKIPPED:
            with open(path("seen.part"), "w") as f:
                f.write("\n".join(given))
            os.rename(path("seen.part"), path("seen"))
            wait_for("never")
        if how == "wait" and i == 12:
            wait_for("end")
    return given[SKIPPED:] if how == "resume" else given


def main(out, kind, how):
    loader, sampler = make(kind, num_workers=1)
    for epoch in range(0 if how != "resume" else LAST, LAST):
        sampler.set_epoch(epoch)
        for _ in loader:
            pass
    sampler.set_epoch(LAST)
    write(out, {"given": last_epoch(loader, how)})


if __name__ == "__main__":
    main(*sys.argv[1:])
