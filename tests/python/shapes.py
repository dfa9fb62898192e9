# SPDX-License-Identifier: Apache-2.0
"""Loaders of many shapes, for jobs that share (sharing_job.py) and for what they
are compared with."""

import collections
import random
import time

import numpy
import torch

from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler, Sampler, \
    SubsetRandomSampler, Subset, WeightedRandomSampler, DistributedSampler, TensorDataset, \
    ConcatDataset

COUNT = 53
Pair = collections.namedtuple("Pair", "image label")


class Images(Dataset):
    """Random by all three sources, as transforms are."""

    def __init__(self, count=COUNT, transform=None, name=None):
        self.count, self.transform, self.name = count, transform, name

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        time.sleep(0.002)       # as long as it takes for others to come
        x = torch.full((3, 8, 8), float(i)) + torch.rand(3, 8, 8) + random.random()
        x += float(numpy.random.rand())
        return (self.transform(x) if self.transform else x), i % 10


class Words(Dataset):
    def __len__(self):
        return COUNT

    def __getitem__(self, i):
        return {"text": "word %d" % i, "ids": torch.arange(i % 7 + 1), "n": i,
                "array": numpy.full(3, i), "pair": Pair(float(i), [i, "x"])}


class Many(Images):
    """Makes a batch at once."""

    def __getitems__(self, indices):
        noise = torch.rand(1)
        return [(torch.full((4,), float(i)) + noise, i) for i in indices]


class OwnRandom(Dataset):
    """With sources of its own, as Albumentations has."""

    def __init__(self):
        self.a, self.b = random.Random(1), numpy.random.default_rng(2)
        self.c = torch.Generator().manual_seed(3)

    def __len__(self):
        return COUNT

    def __getitem__(self, i):
        return i + self.a.random() + self.b.random(), torch.rand(2, generator=self.c)


class Backwards(Sampler):
    def __init__(self, data):
        self.data = data

    def __iter__(self):
        order = list(range(len(self.data)))
        random.shuffle(order)
        return iter(order)

    def __len__(self):
        return len(self.data)


class Buckets:
    """A batch sampler of the user's own, of batches of several sizes."""

    def __iter__(self):
        at = 0
        while at < COUNT:
            n = int(numpy.random.randint(1, 9))
            yield list(range(at, min(at + n, COUNT)))
            at += n

    def __len__(self):
        return 12


class FixedBuckets(Buckets):
    def __iter__(self):
        for i in range(12):
            yield list(range(i, COUNT, 12))[:3 + i % 2]


def pad(samples):
    """A collate function of the user's own."""
    ids = torch.nn.utils.rnn.pad_sequence([s["ids"] for s in samples], batch_first=True)
    return {"ids": ids, "text": tuple(s["text"] for s in samples), "noise": torch.rand(2)}


def with_factor(k):
    return lambda x: x * k


SHAPES = {
    "shuffled": lambda **o: DataLoader(Images(), 8, shuffle=True, **o),
    "in order": lambda **o: DataLoader(Images(), 8, **o),
    "last dropped": lambda **o: DataLoader(
        Images(name="dropped"), 8, shuffle=True, drop_last=True, **o),
    "one by one": lambda **o: DataLoader(Images(), batch_size=None, **o),
    "batches of one": lambda **o: DataLoader(Images(13), **o),
    "words, padded": lambda **o: DataLoader(Words(), 8, shuffle=True, collate_fn=pad, **o),
    "lists": lambda **o: DataLoader(Words(), 8, collate_fn=list, **o),
    "many at once": lambda **o: DataLoader(Many(), 8, shuffle=True, **o),
    "own randomness": lambda **o: DataLoader(OwnRandom(), 8, shuffle=True, **o),
    "own sampler": lambda **o: DataLoader(Images(), 8, sampler=Backwards(range(COUNT)), **o),
    "own batches": lambda **o: DataLoader(Images(), batch_sampler=FixedBuckets(), **o),
    "with replacement": lambda **o: DataLoader(
        Images(), 8, sampler=RandomSampler(range(COUNT), replacement=True, num_samples=40), **o),
    "weighted": lambda **o: DataLoader(
        Images(), 8, sampler=WeightedRandomSampler([1.0 + i for i in range(COUNT)], 40), **o),
    "subset": lambda **o: DataLoader(
        Images(), 8, sampler=SubsetRandomSampler(list(range(0, COUNT, 2))), **o),
    "part": lambda **o: DataLoader(Subset(Images(), range(5, 40)), 8, shuffle=True, **o),
    "put together": lambda **o: DataLoader(
        ConcatDataset([Images(20), Images(15)]), 8, shuffle=True, **o),
    "tensors": lambda **o: DataLoader(
        TensorDataset(torch.arange(COUNT), torch.arange(2.0 * COUNT).view(-1, 2)), 8,
        shuffle=True, **o),
    "lambda": lambda **o: DataLoader(Images(transform=with_factor(2)), 8, shuffle=True, **o),
    "batch sampler": lambda **o: DataLoader(
        Images(name="batched"),
        batch_sampler=BatchSampler(RandomSampler(range(COUNT)), 7, True), **o),
    "generator": lambda **o: DataLoader(
        Images(name="generator"), 8, shuffle=True,
        generator=torch.Generator().manual_seed(11), **o),
    "a rank of two": lambda **o: DataLoader(
        Images(), 8, sampler=DistributedSampler(range(COUNT), 2, 1, seed=5), **o),
}

# Permutations, of which a job that joins late takes the rest first.
PERMUTED = ("shuffled", "last dropped", "words, padded", "many at once", "own randomness",
            "subset", "part", "put together", "tensors", "lambda", "batch sampler", "generator",
            "a rank of two")
