# SPDX-License-Identifier: Apache-2.0
"""In which order a loader delivers, and what is an epoch.  Runs in the main
process of a job.

The order of an epoch is a pure function of a seed and the epoch: the loader's
own sampler is drawn with all sources of randomness seeded by them, and the
program's are put back.  Samplers of PyTorch's that do not look at anything but
their dataset's length are drawn at once; any other as late as a plain loader
would draw it.
"""

import collections
import hashlib
import pickle

import torch

from torch.utils.data import sampler as _samplers
from torch.utils.data.dataloader import _DatasetKind
from torch.utils.data.distributed import DistributedSampler

from . import _layout, _seeds, _state

_LISTED = (_samplers.SequentialSampler,)
_PERMUTED = (_samplers.RandomSampler, _samplers.SubsetRandomSampler)
_OTHERS = (_samplers.WeightedRandomSampler,)
_UNKNOWN = 2**40        # batches of one that does not say: until it ends
_END = object()


def _kind(sampler):
    """The class, if it is exactly PyTorch's own."""
    return type(sampler) if type(sampler) in (*_LISTED, *_PERMUTED, *_OTHERS,
                                              DistributedSampler) else None


def _is_repeating(sampler):
    """What timm and ultralytics put around a sampler, to iterate it for ever."""
    return type(sampler).__name__ == "_RepeatSampler" and list(vars(sampler)) == ["sampler"]


def mark_of(indices):
    """64 bits of what a unit is made of, in its order."""
    h = hashlib.blake2b(pickle.dumps(indices, 4), digest_size=8)
    return int.from_bytes(h.digest(), "little")


class Order:
    """Of one loader."""

    def __init__(self, loader):
        self.loader = loader
        self.is_iterable = loader._dataset_kind == _DatasetKind.Iterable
        self.batched, self.sampler = loader.batch_sampler, loader.sampler
        self.repeating = None           # the endless one around it
        if _is_repeating(self._whole):
            self.repeating = self._whole
            if self.batched is not None:
                self.batched = self.batched.sampler
            else:
                self.sampler = self.sampler.sampler
        if type(self.batched) is _samplers.BatchSampler:
            self.sampler = self.batched.sampler
            self.kind = _kind(self.sampler)
        else:
            self.kind = _kind(self.sampler) if self.batched is None else None

    @property
    def _whole(self):
        """What gives the index lists of one epoch."""
        return self.sampler if self.batched is None else self.batched

    def batches(self):
        """One of the user's own may give more or less than it says."""
        return len(self._whole) if self.is_pure else _UNKNOWN

    def expected(self):
        """Batches of an epoch, as far as it is said; None: it is not."""
        try:
            return self._said() if self.is_iterable else len(self._whole)
        except Exception:               # of the program's own
            return None

    def _said(self):
        """Of an iterable dataset that has a length, as PyTorch counts."""
        samples, size = len(self.loader.dataset), self.loader.batch_size
        if size is None:
            return samples
        return samples // size if self.loader.drop_last else -(-samples // size)

    def samples(self):
        return len(self.sampler)

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
    def generator(self):
        """What the user has given to draw it with, or None."""
        for holder in (self.sampler, self.batched, self.loader):
            generator = getattr(holder, "generator", None)
            if isinstance(generator, torch.Generator):
                return generator
        return None

    @property
    def seed(self):
        """What the user has seeded it with: None, if with nothing."""
        if self.generator is not None:
            return self.generator.initial_seed()
        return self.sampler.seed if self.kind is DistributedSampler else None

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
            return [("sampler", self._whole)]
        return [("sampler", self.kind)] + sorted(
            (name, value) for name, value in vars(self.sampler).items()
            if name not in ("data_source", "dataset", "generator", "epoch", "seed"))

    def draw(self, seed, epoch):
        """Index lists of the epoch's batches (without a batch sampler, indices), one by one."""
        if self.kind is DistributedSampler:
            return iter(self._whole)
        seed = _seeds.derive(_seeds.ORDER, seed, epoch)
        return iter(self._draw_all(self._whole, seed)) if self.is_pure else \
            self._draw_lazily(seed)

    def draw_samples(self, seed, epoch):
        """All indices of the epoch, of one that is pure."""
        if self.kind is DistributedSampler:
            return _layout.flat(self.sampler)
        return _layout.flat(self._draw_all(self.sampler, _seeds.derive(_seeds.ORDER, seed, epoch)))

    def endless(self):
        """What an iterable dataset's fetcher is called with, for each batch."""
        return iter(self._whole)

    def _sources(self):
        state = _state.State()
        try:
            state.add("sampler", self._whole)
        except _state.Opaque:
            pass
        return _seeds.Sources(state.sources)

    def _draw_all(self, sampler, seed):
        sources = self._sources()
        with _seeds.alone():
            kept = sources.keep()
            sources.seed(seed)
            try:
                return list(sampler)
            finally:
                sources.restore(kept)

    def _draw_lazily(self, seed):
        """Each step of the sampler sees what it would see if it were alone."""
        sources, lists, inside = self._sources(), None, None
        while True:
            with _seeds.alone():
                outside = sources.keep()
                try:
                    if lists is None:
                        sources.seed(seed)
                        lists = iter(self._whole)
                    else:
                        sources.restore(inside)
                    indices = next(lists, _END)
                    inside = sources.keep()
                finally:
                    sources.restore(outside)
            if indices is _END:
                return
            yield indices

    def advance(self):
        """The program's own sources, as the sampler of a plain loader would have."""
        if self.generator is not None and self.kind in _PERMUTED:
            collections.deque(self.sampler, 0)  # it draws at its end, too
        elif self.kind in (*_PERMUTED, *_OTHERS):
            next(iter(self.sampler), None)
