# SPDX-License-Identifier: Apache-2.0
"""A loader that is no DataLoader and makes PyTorch's iterator itself, over an
object that only looks like one: in the manner of fastai."""

import itertools
import random

import torch

from torch.utils.data import IterableDataset, get_worker_info
from torch.utils.data.dataloader import _DatasetKind, _MultiProcessingDataLoaderIter, \
    _SingleProcessDataLoaderIter

from data import Tensors
from record import BATCH, COUNT, WORKERS, Record


class Batches(IterableDataset):
    def __init__(self, data):
        self.data, self.order = data, []

    def __iter__(self):
        info = get_worker_info()
        number, of = (info.id, info.num_workers) if info is not None else (0, 1)
        for first in range(number * BATCH, len(self.order), of * BATCH):
            samples = [self.data[i] for i in self.order[first:first + BATCH]]
            yield [torch.stack([v for v, _ in samples]), torch.tensor([n for _, n in samples])]


class Loader:
    _auto_collation, collate_fn, drop_last = False, staticmethod(lambda x: x), False
    _dataset_kind, generator, timeout, worker_init_fn = _DatasetKind.Iterable, None, 0, None
    pin_memory, pin_memory_device, persistent_workers, in_order = False, "", False, True
    multiprocessing_context, _IterableDataset_len_called = None, None
    prefetch_factor, num_workers = 2, WORKERS
    _index_sampler = property(lambda self: itertools.count())

    def __init__(self, data):
        self.dataset = Batches(data)

    def __iter__(self):
        self.dataset.order = random.sample(range(COUNT), COUNT)
        kind = _MultiProcessingDataLoaderIter if WORKERS > 0 else _SingleProcessDataLoaderIter
        return kind(self)


random.seed(7)
torch.manual_seed(7)
loader = Loader(Tensors())
record = Record()
record.run(loader)
record.write()
