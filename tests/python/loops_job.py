# SPDX-License-Identifier: Apache-2.0
"""A job that goes through loaders as programs do that never ask for one batch more
than there is, leave and come back, or make their loaders anew:

    loops_job.py OUT DOING ARGUMENT...
"""

import gc
import os
import random
import sys
import threading
import time

import torch

from torch.utils.data import DataLoader, DistributedSampler, IterableDataset, get_worker_info

import destall

from calls_job import COUNT, SEED, Samples, _RepeatSampler
from jobside import counts, digest, each, meet, write

BATCH = 8
BATCHES = -(-COUNT // BATCH)


def seeded(name, workers, **options):
    return DataLoader(Samples(name), BATCH, shuffle=True, num_workers=int(workers),
                      generator=torch.Generator().manual_seed(SEED), **options)


def all_of(loader):
    return [digest(b) for b in loader]


def counted(workers):
    """No more than there are; the iterators live on, as in Lightning."""
    loader, given, alive = seeded("counted", workers), [], []
    for _ in range(3):
        alive.append(iter(loader))
        given.append([digest(next(alive[-1])) for _ in range(len(loader))])
    asked = seeded("counted", workers)
    return {"given": given, "asked": [all_of(asked) for _ in range(3)]}


def repeated(workers):
    """Endless, around a sampler that has set_epoch(), which nobody calls."""
    data = Samples("repeated")
    loader = DataLoader(data, BATCH, sampler=DistributedSampler(data, 1, 0, seed=SEED),
                        num_workers=int(workers))
    object.__setattr__(loader, "batch_sampler", _RepeatSampler(loader.batch_sampler))
    iterator = iter(loader)
    return {"given": [[digest(next(iterator)) for _ in range(BATCHES)] for _ in range(3)]}


class Flow(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        for i in range(info.id, COUNT, info.num_workers):
            yield i, torch.rand(2)


def left():
    """Before its end, twice; its workers stay."""
    torch.manual_seed(SEED)
    loader = DataLoader(Flow(), BATCH, num_workers=2, persistent_workers=True)
    given = []
    for batches in (3, 1, None):
        given.append([])
        for batch in loader:
            given[-1].append([batch[0].tolist(), digest(batch)])
            if len(given[-1]) == batches:
                break
    return {"given": given}


def later(first):
    """The other begins their fourth epoch when the first has had three batches of it; how many of
    its batches each has made for itself alone."""
    loader = seeded("later", 1)
    for epoch in range(3):
        all_of(each(loader, "begun %d" % epoch))
    if first == "0":
        meet("three")
    own, given = counts()["own"], []
    for n, batch in enumerate(loader, 1):
        given.append(digest(batch))
        if n == 3 and first == "1":
            meet("three")
    return {"given": given, "own": counts()["own"] - own}


def peeks():
    """Descriptors that are open after some, and after many more."""
    loader, found = seeded("peeked", 0), []
    for peeks in (5, 40):
        for _ in range(peeks):
            next(iter(loader))
        gc.collect()
        found.append(len(os.listdir("/proc/self/fd")))
    return {"given": found}


def rank():
    """Nobody has seeded it."""
    loader = DataLoader(Samples("ranks"), BATCH, shuffle=True)
    return {"given": [all_of(loader) for _ in range(2)]}


def anew(path):
    """A loader for each epoch; of the fourth, what comes after the state was saved."""
    torch.manual_seed(SEED)
    for _ in range(3):
        all_of(DataLoader(Samples("anew"), BATCH, shuffle=True))
    loader = DataLoader(Samples("anew"), BATCH, shuffle=True)
    iterator = iter(loader)
    for _ in range(3):
        next(iterator)
    torch.save(destall.state_dict(), path)
    rest = all_of(iterator)
    del loader, iterator
    return {"given": [rest, all_of(DataLoader(Samples("anew"), BATCH, shuffle=True))]}


def told():
    """set_epoch(10) before a peek, and before the epoch; then what 10 is elsewhere."""
    def make():
        data = Samples("told")
        return DataLoader(data, BATCH, sampler=DistributedSampler(data, 1, 0, seed=SEED))
    loader, other = make(), make()
    all_of(loader)
    loader.sampler.set_epoch(10)
    peek = digest(next(iter(loader)))
    loader.sampler.set_epoch(10)
    other.sampler.set_epoch(10)
    return {"given": all_of(loader), "peek": peek, "other": all_of(other)}


def training_and_validation(path):
    """Both made anew, of one kind of dataset; the state is saved after two epochs."""
    torch.manual_seed(SEED)
    for _ in range(2):
        all_of(DataLoader(Samples("anew"), BATCH, shuffle=True))
        for _ in range(2):
            all_of(DataLoader(Samples("validation"), BATCH))
    torch.save(destall.state_dict(), path)
    return {"given": [all_of(DataLoader(Samples("anew"), BATCH, shuffle=True)) for _ in range(2)]}


def go_on(path):
    torch.manual_seed(SEED)
    destall.load_state_dict(torch.load(path))
    return {"given": [all_of(DataLoader(Samples("anew"), BATCH, shuffle=True)) for _ in range(2)]}


class Slow(Samples):
    """Draws, lets others run, and draws again."""

    def __getitem__(self, i):
        first = random.random()
        time.sleep(0.001)
        return first, random.random(), torch.rand(1)


def trials():
    """In threads without workers, and one after the other."""
    def loader(n):
        return DataLoader(Slow("trial %d" % n), BATCH, shuffle=True,
                          generator=torch.Generator().manual_seed(SEED))

    given = [None, None]

    def trial(n):
        given[n] = all_of(loader(n))

    threads = [threading.Thread(target=trial, args=(n,)) for n in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return {"given": given, "alone": [all_of(loader(n)) for n in range(2)]}


def main(out, doing, *arguments):
    doings = (counted, repeated, left, later, peeks, rank, anew, go_on, told,
              training_and_validation, trials)
    found = {one.__name__: one for one in doings}[doing](*arguments)
    write(out, {**found, "of_others": counts()["of_others"]})


if __name__ == "__main__":
    main(*sys.argv[1:])
