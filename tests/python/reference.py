# SPDX-License-Identifier: Apache-2.0
"""What a shared job must be given: a plain DataLoader, whose dataset, sampler and
collate function are wrapped so that they are seeded by epoch and position."""

import torch

from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from destall import _make, _seeds


class Seeded:
    """A dataset whose indices are (position, index)."""

    def __init__(self, loader, seed):
        self.data, self.collate = loader.dataset, loader.collate_fn
        self.batched = loader.batch_sampler is not None
        self.seed, self.epoch = seed, 0
        if getattr(self.data, "__getitems__", None):
            self.__getitems__ = self.get_many

    def __len__(self):
        return len(self.data)

    def sources(self):
        return _make.find_sources(self.data, self.collate)

    def __getitem__(self, at):
        position, index = at
        self.sources().seed(_seeds.derive(_seeds.SAMPLE, self.seed, self.epoch, position))
        return position, self.data[index]

    def get_many(self, pairs):
        first = pairs[0][0]
        self.sources().seed(_seeds.derive(_seeds.SAMPLE, self.seed, self.epoch, first, len(pairs)))
        samples = self.data.__getitems__([index for _, index in pairs])
        return [(first + i, s) for i, s in enumerate(samples)]

    def put_together(self, samples):
        if not self.batched:
            position, samples = samples
            count = 1
        else:
            position, count = samples[0][0], len(samples)
            samples = [s for _, s in samples]
        self.sources().seed(_seeds.derive(_seeds.COLLATE, self.seed, self.epoch, position, count))
        return self.collate(samples)


def order(loader, seed, epoch):
    """The loader's own sampler, seeded."""
    if not isinstance(loader.sampler, DistributedSampler):
        own = [g for g in (getattr(loader.sampler, "generator", None),) if g is not None]
        _seeds.Sources(own).seed(_seeds.derive(_seeds.ORDER, seed, epoch))
    position, out = 0, []
    for indices in loader._index_sampler:
        if loader.batch_sampler is None:
            out.append((position, indices))
            position += 1
        else:
            out.append([(position + i, index) for i, index in enumerate(indices)])
            position += len(indices)
    return out


def batches(loader, seed, epoch, workers):
    data = Seeded(loader, seed)
    data.epoch = epoch
    lists = order(loader, seed, epoch)
    how = {"batch_sampler": lists} if loader.batch_sampler is not None else {
        "batch_size": None, "sampler": lists}
    generator = torch.Generator().manual_seed(1)
    return DataLoader(data, collate_fn=data.put_together, num_workers=workers,
                      generator=generator, **how)
