# SPDX-License-Identifier: Apache-2.0
"""A loader that keeps one iterator for all epochs, over a sampler without an end,
and can be reset: in the manner of ultralytics."""

import torch

from torch.utils.data import DataLoader

from data import Tensors
from record import BATCH, WORKERS, Record, wait


class _RepeatSampler:
    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from iter(self.sampler)


class InfiniteDataLoader(DataLoader):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        object.__setattr__(self, "batch_sampler", _RepeatSampler(self.batch_sampler))
        self.iterator = super().__iter__()

    def __len__(self):
        return len(self.batch_sampler.sampler)

    def __iter__(self):
        for _ in range(len(self)):
            yield next(self.iterator)

    def reset(self):
        self.iterator = self._get_iterator()


torch.manual_seed(7)
record = Record()
wait()
loader = InfiniteDataLoader(Tensors(), BATCH, shuffle=True, num_workers=WORKERS)
for epoch in range(4):
    if epoch == 2:
        loader.reset()
    record.begin()
    for values, numbers in loader:
        record.batch(numbers, values)
record.check("other orders", len({tuple(record.samples(e)) for e in (0, 1)}) == 2)
record.write()
