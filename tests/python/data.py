# SPDX-License-Identifier: Apache-2.0
"""Datasets and samplers of the cases."""

import os
import signal

import torch

from torch.utils.data import Dataset, IterableDataset, Sampler, get_worker_info

COUNT = 46              # samples; 12 batches of four, the last one short


class Numbers(Dataset):
    """Sample i is (i, scale * i)."""

    def __init__(self, count=COUNT, scale=2):
        self.count, self.scale = count, scale

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return torch.tensor([i, self.scale * i])


class Noisy(Numbers):
    """With randomness, in the second column."""

    def __getitem__(self, i):
        return torch.stack([torch.tensor(float(i)), torch.rand(())])


class Large(Numbers):
    """Batches of some pages each."""

    def __getitem__(self, i):
        return torch.full((64, 64), float(i))


class ByName(Dataset):
    """Its indices are words."""

    def __len__(self):
        return COUNT

    def __getitem__(self, name):
        return torch.tensor([int(name.split()[1]), 0])


class Odd(Exception):
    """One that cannot be made from a message alone."""

    def __init__(self, a, b):
        super().__init__(a, b)


class Failing(Numbers):
    """Raises at some samples."""

    def __init__(self, errors):
        super().__init__()
        self.errors = errors

    def __getitem__(self, i):
        if i in self.errors:
            kind = self.errors[i]
            raise kind("sample %d" % i, 2) if kind is Odd else kind("sample %d is bad" % i)
        return super().__getitem__(i)


class Deadly(Numbers):
    """Kills the worker that makes sample 21."""

    def __init__(self, how):
        super().__init__()
        self.how = how

    def __getitem__(self, i):
        if i == 21 and get_worker_info() is not None:
            if self.how == "exit":
                os._exit(3)
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(i)


class Asking(Numbers):
    """What a worker can know of itself; -1: it is none."""

    def __getitem__(self, i):
        info = get_worker_info()
        if info is None:
            return torch.tensor([i, -1, -1, -1, -1])
        return torch.tensor([i, info.num_workers, 0 <= info.id < info.num_workers,
                             info.dataset is self, isinstance(info.seed, int)])


class Logged(Sampler):
    """Counts what is drawn of it."""

    def __init__(self):
        self.drawn = []

    def __iter__(self):
        for i in range(COUNT):
            self.drawn.append(i)
            yield i

    def __len__(self):
        return COUNT


class Unlimited(Sampler):
    """Does not know its length, but ends."""

    def __init__(self, breaks=None):
        self.breaks = breaks

    def __iter__(self):
        for i in range(COUNT):
            if i == self.breaks:
                raise LookupError("the sampler is broken")
            yield i


class Endless:
    """As timm's and ultralytics' loaders have it: a batch sampler that begins anew."""

    def __init__(self, plain):
        self.plain = plain

    def __len__(self):
        return len(self.plain)

    def __iter__(self):
        while True:
            yield from iter(self.plain)


class Stream(IterableDataset):
    """Split among the workers; or not, so that each worker gives all of it."""

    def __init__(self, is_split=True, count=COUNT):
        self.is_split, self.count = is_split, count

    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info is not None and self.is_split else (0, 1)
        for i in range(first, self.count, step):
            yield torch.tensor([i, i * i])


class StreamWithLength(Stream):
    def __len__(self):
        return self.count
