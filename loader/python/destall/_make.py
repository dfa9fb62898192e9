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
    def __init__(self, dataset, auto_collation, collate):
        self.dataset, self.auto_collation, self.collate = dataset, auto_collation, collate
        self.sources = find_sources(dataset, collate)

    def make(self, seed, epoch, first, indices, arena=None):
        """The batch at positions from `first` on, of these indices; its tensors in the arena,
        where the default collate function stacks them."""
        if not self.auto_collation:
            self.sources.seed(_seeds.derive(_seeds.SAMPLE, seed, epoch, first))
            samples = self.dataset[indices]
        elif getattr(self.dataset, "__getitems__", None):
            self.sources.seed(_seeds.derive(_seeds.SAMPLE, seed, epoch, first, len(indices)))
            samples = self.dataset.__getitems__(indices)
        else:
            samples = [self._sample(seed, epoch, first + i, index)
                       for i, index in enumerate(indices)]
        count = len(indices) if self.auto_collation else 1
        self.sources.seed(_seeds.derive(_seeds.COLLATE, seed, epoch, first, count))
        return self._collate(samples, arena)

    def _sample(self, seed, epoch, position, index):
        self.sources.seed(_seeds.derive(_seeds.SAMPLE, seed, epoch, position))
        return self.dataset[index]

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
