# SPDX-License-Identifier: Apache-2.0
"""Loaders of iterable datasets, for jobs that share (flow_job.py), and what each
must be given: a plain DataLoader whose workers are seeded by epoch and number."""

import collections
import functools
import random
import time

import numpy
import torch

from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from destall import _seeds

COUNT = 61


def part():
    """(number, of how many), as datasets ask for it."""
    info = get_worker_info()
    return (info.id, info.num_workers) if info is not None else (0, 1)


class Split(IterableDataset):
    """Each worker has every n-th; random by all three sources."""

    def __init__(self, name, count=COUNT):
        self.name, self.count = name, count

    def numbers(self):
        first, step = part()
        return range(first, self.count, step)

    def __iter__(self):
        for i in self.numbers():
            time.sleep(0.001)   # as long as it takes for others to come
            yield i, torch.rand(3) + random.random(), float(numpy.random.rand())


class Whole(Split):
    """Not split: as in a plain loader, each worker gives all of it."""

    def numbers(self):
        return range(self.count)


class Buffered(Split):
    """Shuffled, as far as a buffer allows."""

    def __iter__(self):
        buffer = []
        for i in self.numbers():
            buffer.append(i)
            if len(buffer) > 5:
                yield buffer.pop(random.randrange(len(buffer)))
        random.shuffle(buffer)
        yield from buffer


class Uneven(Split):
    """Worker w has 11 + 11 w samples: they end in different rounds."""

    def numbers(self):
        return range(100 * part()[0], 111 * part()[0] + 11)


class Mapped(Split):
    """Samples are mappings, but no dict."""

    def __iter__(self):
        for sample in super().__iter__():
            yield collections.UserDict(zip("abc", sample))


class Endless(Split):
    def numbers(self):
        return iter(int, 1)


class Failing(Split):
    def numbers(self):
        for i in super().numbers():
            if i == 20:
                raise ValueError("sample 20 is bad")
            yield i


class Assigned(Split):
    """Its part is what assign() says."""

    mine = range(COUNT)

    def numbers(self):
        return self.mine


def assign(worker):
    info = get_worker_info()
    info.dataset.mine = range(worker, COUNT, info.num_workers)


class Counting(IterableDataset):
    """Changes when it is iterated, as those do that shuffle by epoch."""

    def __init__(self, name):
        self.name, self.epoch = name, 0

    def __iter__(self):
        self.epoch += 1
        first, step = part()
        for i in range(first, COUNT, step):
            time.sleep(0.001)
            yield i, self.epoch


class Counted(Counting):
    """The same, when it has come to its end."""

    def __iter__(self):
        for i in range(COUNT):
            time.sleep(0.001)
            yield i, self.epoch
        self.epoch += 1


def tagged(samples):
    """A collate function of the user's own."""
    return {"all": torch.stack([s[1] for s in samples]), "n": [s[0] for s in samples],
            "noise": torch.rand(2)}


def loader(make, *how, **options):
    return functools.partial(_make, make, how, options)


def _make(make, how, options, **more):
    return DataLoader(make(), *how, **{**options, **more})


SHAPES = {
    "split": loader(lambda: Split("split"), 4),
    "whole": loader(lambda: Whole("whole", 13), 4),
    "buffered": loader(lambda: Buffered("buffered"), 4),
    "uneven": loader(lambda: Uneven("uneven"), 4),
    "last dropped": loader(lambda: Split("dropped"), 4, drop_last=True),
    "one by one": loader(lambda: Split("single", 19), batch_size=None),
    "own collate": loader(lambda: Split("collate"), 5, collate_fn=tagged),
    "empty": loader(lambda: Split("empty", 0), 4),
    "mapped": loader(lambda: Mapped("mapped"), 4),
    "endless": loader(lambda: Endless("endless"), 4),
    "assigned": loader(lambda: Assigned("assigned"), 4, worker_init_fn=assign),
    "failing": loader(lambda: Failing("failing"), 4),
    "persistent": loader(lambda: Split("persistent"), 4, persistent_workers=True),
    "spawned": loader(functools.partial(Split, "spawned", 120), 4, multiprocessing_context="spawn"),
    "counting": loader(lambda: Counting("counting"), 4, persistent_workers=True),
    "counted": loader(lambda: Counted("counted"), 4, persistent_workers=True),
    "counting, new workers": loader(lambda: Counting("counting anew"), 4),
    "counted, new workers": loader(lambda: Counted("counted anew"), 4),
}

CHANGING = ("counting", "counted", "counting, new workers", "counted, new workers")
EPOCHS = {"persistent": 3, "spawned": 1, **dict.fromkeys(CHANGING, 3)}
STOPS = {"endless": 20}                  # batches, and then it is left
SEED = 7


def shapes_for(workers):
    """Those that PyTorch makes with so many; a few, of one that nobody is to share with."""
    if workers == 2:
        return ["split", "whole", "uneven"]
    none = ("persistent", "spawned", "counting", "counted") if workers == 0 else ()
    once = () if workers == 1 else ("spawned",)     # it takes long
    return [name for name in SHAPES if name not in (*none, *once)]


def batches(iterator, stop=None):
    """As a job gets them: errors are something that it gets, too."""
    while stop is None or stop > 0:
        try:
            yield next(iterator)
        except StopIteration:
            return
        except ValueError as e:
            yield "ValueError: %s" % str(e).splitlines()[-1]
        stop = stop - 1 if stop is not None else None


class Seed:
    """A worker_init_fn, after that of the user."""

    def __init__(self, epoch, workers, init=None):
        self.epoch, self.workers, self.init = epoch, workers, init

    def __call__(self, worker):
        if self.init is not None:
            self.init(worker)
        seed = _seeds.derive(_seeds.WORKER, SEED, self.epoch, worker, self.workers)
        torch.manual_seed(seed)
        random.seed(seed)
        numpy.random.seed(seed & 0xffffffff)


def expected(name, workers, epoch):
    """What a plain loader gives under the same seeds."""
    plain = SHAPES[name](num_workers=workers, generator=torch.Generator(),
                         persistent_workers=False, multiprocessing_context=None)
    seed = Seed(0 if name in STOPS else epoch, max(workers, 1), plain.worker_init_fn)
    if workers == 0:
        seed.init = None
        seed(0)
    else:
        plain.worker_init_fn = seed
    return list(batches(iter(plain), STOPS.get(name)))
