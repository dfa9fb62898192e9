# SPDX-License-Identifier: Apache-2.0
"""A job that does one of these and writes what it was given:

    calls_job.py OUT DOING ARGUMENT...
"""

import collections
import contextlib
import os
import random
import resource
import sys
import threading
import time

import torch

from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

import destall

from jobside import counts, digest, each, meet, write

COUNT = 53
SEED = 7
SIZES = (8, 12, 5, 16)
Pair = collections.namedtuple("Pair", "image label")


class Samples(Dataset):
    def __init__(self, name, kind="tuple"):
        self.name, self.kind = name, kind

    def __len__(self):
        return COUNT

    def __getitem__(self, i):
        time.sleep(0.002)       # as long as it takes for others to come
        x = torch.full((4,), float(i)) + torch.rand(4) + random.random()
        return {"tuple": (x, i), "named": Pair(x, i), "dict": {"x": x, "t": "s%d" % i},
                "text": "s%d" % i}[self.kind]


class Flow(IterableDataset):
    def __init__(self, name):
        self.name = name

    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info is not None else (0, 1)
        for i in range(first, COUNT, step):
            time.sleep(0.002)
            yield torch.rand(4) + i + random.random()


class _RepeatSampler:
    """As timm and ultralytics have it."""

    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from iter(self.sampler)


def epochs(loader, name, count):
    meet(name)
    return [[digest(b) for b in each(loader, "%s %d" % (name, e))] for e in range(count)]


# --- other sizes ---------------------------------------------------------------------------------

KINDS = ("tuple", "named", "dict", "text")


def sized(kind, size, drop_last, **options):
    torch.manual_seed(SEED)
    return DataLoader(Samples("sized", kind), size, shuffle=True, drop_last=drop_last, **options)


def sizes(workers, size, drop_last):
    given = {}
    for kind in KINDS:
        loader = sized(kind, int(size), drop_last == "1", num_workers=int(workers))
        given[kind] = epochs(loader, kind, 2)
    return {"given": given}


# --- ledgers -------------------------------------------------------------------------------------

def ledgers(workers, size, pictures):
    """Their order is that of test_calls.LEDGERS."""
    with contextlib.suppress(ImportError):
        import operators        # noqa: F401 (tests/compat: of a torchvision that lacks them)
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import functional
    how = {"num_workers": int(workers)}
    folder = ImageFolder(pictures, functional.pil_to_tensor)
    own = torch.Generator().manual_seed(3)
    for name, loader in (
            ("hub", DataLoader(Samples("hub"), 8, shuffle=True, **how)),
            ("seeded", DataLoader(Samples("seeded"), 8, shuffle=True, generator=own, **how)),
            ("in order", DataLoader(Samples("in order"), 8, **how)),
            ("collate", DataLoader(Samples("collate"), 8, shuffle=True, collate_fn=list, **how)),
            ("sizes", DataLoader(Samples("sizes"), int(size), shuffle=True, **how)),
            ("iterable", DataLoader(Flow("iterable"), 8, **how)),
            ("pictures", DataLoader(folder, 4, shuffle=True, **how)),
            ("peeked", DataLoader(Samples("peeked"), 8, shuffle=True, **how))):
        if name == "peeked":
            next(iter(loader))
        epochs(loader, name, 3)
    return {}


def no_ledger(limit):
    loader = DataLoader(Samples("no ledger"), 8)
    given = []
    for batch in loader:
        given += batch[1].tolist()
        if int(limit):          # as a full disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    return {"given": given}


# --- explicit calls --------------------------------------------------------------------------------

def share(workers):
    loader = DataLoader(Samples("share"), 8, shuffle=True, num_workers=int(workers),
                        generator=torch.Generator().manual_seed(SEED))
    plain = DataLoader(Samples("not share"), 8)
    is_same = destall.share(loader) is loader
    given = epochs(loader, "share", 2)
    return {"given": given, "plain": sum(len(b[1]) for b in plain), "is_same": is_same,
            "status": destall.status()}


def resumable(workers):
    how = {"num_workers": workers}
    own = torch.Generator().manual_seed(3)
    return [DataLoader(Samples("drawn"), 8, shuffle=True, **how),
            DataLoader(Samples("seeded"), 8, shuffle=True, generator=own, **how),
            DataLoader(Flow("flow"), 8, **how)]


def save(workers, path):
    """After three batches of the second epoch of each; what comes then is to come again."""
    loaders, going = resumable(int(workers)), []
    for loader in loaders:
        collections.deque(loader, 0)
        going.append(iter(loader))
        for _ in range(3):
            next(going[-1])
    torch.save(destall.state_dict(), path)
    rest = [[digest(b) for b in one] for one in going]
    return {"given": [[r, [digest(b) for b in loader]] for r, loader in zip(rest, loaders)]}


def load(workers, path):
    destall.load_state_dict(torch.load(path))
    return {"given": [[[digest(b) for b in loader] for _ in range(2)]
                      for loader in resumable(int(workers))]}


def refused(path):
    """Why, for each wrong state."""
    def why(doing):
        try:
            doing()
        except ValueError as e:
            return str(e)
        return None

    good = torch.load(path)
    other = {**good, "loaders": [{**good["loaders"][0], "dataset": "Others"}]}
    found = [why(lambda: destall.load_state_dict({"format": 99, "loaders": []})),
             why(lambda: destall.load_state_dict({}))]
    destall.load_state_dict(other)
    found.append(why(lambda: list(DataLoader(Samples("drawn"), 8))))
    return {"given": found}


# --- threads, endless loaders --------------------------------------------------------------------

def threads(workers):
    """Three trials, each with its own loader over an equal dataset."""
    given, barrier = {}, threading.Barrier(3)

    def trial(n):
        loader = DataLoader(Samples("trial"), 8, shuffle=True, num_workers=int(workers))
        given[n] = []
        for _ in range(2):
            barrier.wait()
            given[n].append([])
            for k, batch in enumerate(loader):
                given[n][-1] += batch[1].tolist()
                if k == 0:
                    barrier.wait()

    trials = [threading.Thread(target=trial, args=(n,)) for n in range(3)]
    for t in trials:
        t.start()
    for t in trials:
        t.join()
    return {"given": [given[n] for n in range(3)]}


def endless(workers):
    loader = DataLoader(Samples("endless"), 8, shuffle=True, num_workers=int(workers))
    object.__setattr__(loader, "batch_sampler", _RepeatSampler(loader.batch_sampler))
    iterator, given = iter(loader), []
    for epoch in range(3):
        given.append([])
        for k in range(-(-COUNT // 8)):
            given[-1] += next(iterator)[1].tolist()
            if k == 0:
                meet("endless %d" % epoch)
    return {"given": given}


def main(out, doing, *arguments):
    found = {"sizes": sizes, "ledgers": ledgers, "no_ledger": no_ledger, "share": share,
             "save": save, "load": load, "refused": refused, "threads": threads,
             "endless": endless}[doing](*arguments)
    write(out, {**found, "of_others": counts()["of_others"]})
    sys.stdout.flush()


if __name__ == "__main__":
    os.environ.setdefault("PARTIES", "1")
    main(*sys.argv[1:])
