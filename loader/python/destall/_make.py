# SPDX-License-Identifier: Apache-2.0
"""How a loader's batches are made: samples of the dataset, each seeded by its
position, then the collate function.  Runs in workers, and in the main process
of a loader that has none.
"""

import torch

from torch.utils.data import _utils

from . import _seeds, _state


def is_default_collate(function):
    return function is _utils.collate.default_collate


class Position:
    """Where a batch begins, and the seeds there."""

    def __init__(self, seed, epoch, first):
        self.seed, self.epoch, self.first = seed, epoch, first

    def sample(self, i):
        return _seeds.derive(_seeds.SAMPLE, self.seed, self.epoch, self.first + i)

    def samples(self, count):
        return _seeds.derive(_seeds.SAMPLE, self.seed, self.epoch, self.first, count)

    def collate(self, count):
        return _seeds.derive(_seeds.COLLATE, self.seed, self.epoch, self.first, count)


def find_sources(dataset, collate):
    """Of randomness, that they have of their own; what cannot be looked into has none
    that could be found."""
    state = _state.State()
    for name, obj in (("dataset", dataset), ("collate_fn", collate)):
        try:
            state.add(name, obj)
        except _state.Opaque:
            pass
    return _seeds.Sources(state.sources)


class Recipe:
    """The sources are seeded before each sample and before the collate function.

    Of random and numpy that takes as long as a small sample takes to make.  So once a batch
    was made without a draw from them, they are seeded once a batch, and a batch that draws
    after all is made again."""

    def __init__(self, dataset, auto_collation, collate):
        self.dataset, self.auto_collation, self.collate = dataset, auto_collation, collate
        self.sources = find_sources(dataset, collate)
        self.is_quiet = None            # None: not known yet

    def make(self, seed, epoch, first, indices, arena=None):
        """The batch at positions from `first` on, of these indices; its tensors in the arena,
        where the default collate function stacks them."""
        at = Position(seed, epoch, first)
        if not self.auto_collation:
            self.sources.seed(at.sample(0))
            samples = self.dataset[indices]
        elif getattr(self.dataset, "__getitems__", None):
            self.sources.seed(at.samples(len(indices)))
            samples = self.dataset.__getitems__(indices)
        elif self.is_quiet:
            return self._make_quietly(at, indices, arena)
        else:
            samples = [self._sample(at.sample(i), index) for i, index in enumerate(indices)]
        self.sources.seed(at.collate(len(indices) if self.auto_collation else 1))
        batch = self._collate(samples, arena)
        if self.is_quiet is None:
            self.is_quiet = self.auto_collation and \
                self.sources.is_untouched(at.collate(len(indices)))
        return batch

    def _sample(self, seed, index):
        self.sources.seed(seed)
        sample = self.dataset[index]
        if self.is_quiet is None and not self.sources.is_untouched(seed):
            self.is_quiet = False
        return sample

    def _make_quietly(self, at, indices, arena):
        sources, seed = self.sources, at.sample(0)
        sources.seed(seed)
        try:
            samples = []
            for i, index in enumerate(indices):
                sources.seed_torch(at.sample(i))
                samples.append(self.dataset[index])
            sources.seed_torch(at.collate(len(indices)))
            batch = self._collate(samples, arena)
        except Exception:
            batch = None                # it comes again, or something else
        if batch is not None and sources.is_untouched(seed):
            return batch
        self.is_quiet = False
        if arena is not None:
            arena.clear()
        return self.make(at.seed, at.epoch, at.first, indices, arena)

    def _collate(self, samples, arena):
        if arena is None or not is_default_collate(self.collate):
            return self.collate(samples)
        return _utils.collate.collate(samples, collate_fn_map={
            **_utils.collate.default_collate_fn_map, torch.Tensor: _stack_in(arena)})


def _stack_in(arena):
    plain = _utils.collate.default_collate_fn_map[torch.Tensor]

    def stack(batch, *, collate_fn_map=None):
        first = batch[0]
        if type(first) is not torch.Tensor or first.layout != torch.strided or \
                first.device.type != "cpu" or getattr(first, "is_nested", False) or \
                any(t.shape != first.shape for t in batch):
            return plain(batch, collate_fn_map=collate_fn_map)
        room = arena.tensor(first.dtype, (len(batch), *first.shape))
        return torch.stack(batch, 0, out=room)

    return stack
