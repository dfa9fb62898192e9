# SPDX-License-Identifier: Apache-2.0
"""In which order a loader delivers, and what is an epoch.  Runs in the main
process of a job.

The order of an epoch is a pure function of a seed and the epoch: the loader's
own sampler is drawn with all sources of randomness seeded by them, and the
program's are put back.  Samplers of PyTorch's that do not look at anything but
their dataset's length are drawn at once; any other as late as a plain loader
would draw it.
"""

import hashlib
import pickle

import torch

from torch.utils.data import sampler as _samplers
from torch.utils.data.distributed import DistributedSampler

from . import _seeds, _state

_LISTED = (_samplers.SequentialSampler,)
_PERMUTED = (_samplers.RandomSampler, _samplers.SubsetRandomSampler)
_OTHERS = (_samplers.WeightedRandomSampler,)


def _kind(sampler):
    """The class, if it is exactly PyTorch's own."""
    return type(sampler) if type(sampler) in (*_LISTED, *_PERMUTED, *_OTHERS,
                                              DistributedSampler) else None


def mark_of(indices):
    """64 bits of what a unit is made of, in its order."""
    h = hashlib.blake2b(pickle.dumps(indices, 4), digest_size=8)
    return int.from_bytes(h.digest(), "little")


class Order:
    """Of one loader."""

    def __init__(self, loader):
        self.loader = loader
        self.batched = loader.batch_sampler if loader.batch_sampler is not None else None
        self.sampler = loader.sampler
        self.is_chunked = self.batched is None or \
            type(self.batched) is _samplers.BatchSampler and self.batched.sampler is self.sampler
        self.kind = _kind(self.sampler) if self.is_chunked else None

    @property
    def is_pure(self):
        """It can be drawn ahead of time: nobody will know."""
        return self.kind is not None

    @property
    def is_random(self):
        """A permutation: an epoch may be begun anywhere."""
        if self.kind in _PERMUTED:
            return not getattr(self.sampler, "replacement", False)
        return self.kind is DistributedSampler and self.sampler.shuffle

    @property
    def seed(self):
        """What the user has seeded it with: None, if with nothing."""
        for holder in (self.sampler, self.batched, self.loader):
            generator = getattr(holder, "generator", None)
            if isinstance(generator, torch.Generator):
                return generator.initial_seed()
        if self.kind is DistributedSampler:
            return self.sampler.seed
        return None

    @property
    def set_epoch(self):
        """What set_epoch() was called with, or None."""
        for holder in (self.batched, self.sampler, getattr(self.loader, "dataset", None)):
            if hasattr(holder, "set_epoch"):
                epoch = getattr(holder, "epoch", None)
                if isinstance(epoch, int) and epoch >= 0:
                    return epoch
        return None

    def parts(self):
        """(name, value) of what the order depends on, beside seed and epoch."""
        if self.kind is None:
            return [("sampler", self.loader._index_sampler)]
        return [("sampler", self.kind)] + sorted(
            (name, value) for name, value in vars(self.sampler).items()
            if name not in ("data_source", "dataset", "generator", "epoch", "seed"))

    def draw(self, seed, epoch):
        """Index lists of the epoch's batches (without a batch sampler, indices), one by one."""
        if self.kind is DistributedSampler:
            return iter(self.loader._index_sampler)
        seed = _seeds.derive(_seeds.ORDER, seed, epoch)
        return iter(self._draw_all(seed)) if self.is_pure else self._draw_lazily(seed)

    def _sources(self):
        state = _state.State()
        try:
            state.add("sampler", self.loader._index_sampler)
        except _state.Opaque:
            pass
        return _seeds.Sources(state.sources)

    def _draw_all(self, seed):
        sources = self._sources()
        kept = sources.keep()
        sources.seed(seed)
        try:
            return list(self.loader._index_sampler)
        finally:
            sources.restore(kept)

    def _draw_lazily(self, seed):
        """Each step of the sampler sees what it would see if it were alone."""
        sources = self._sources()
        outside = sources.keep()
        sources.seed(seed)
        lists = iter(self.loader._index_sampler)
        while True:
            try:
                indices = next(lists)
            except StopIteration:
                sources.restore(outside)
                return
            except BaseException:
                sources.restore(outside)
                raise
            inside = sources.keep()
            sources.restore(outside)
            yield indices
            outside = sources.keep()
            sources.restore(inside)

    def advance(self):
        """The program's own sources, as the sampler of a plain loader would have."""
        if self.kind in (*_PERMUTED, *_OTHERS):
            next(iter(self.sampler), None)
