# SPDX-License-Identifier: Apache-2.0
"""Whose randomness: what is random in a sample depends on the stream, the epoch
and the position in the epoch's order, and on nothing else, so that anybody can
make it again.

In a worker the sources are seeded and left so.  In the job's main process they
are put back as they were.
"""

import contextlib
import hashlib
import os
import random
import sys
import threading

import torch

from torch.utils.data import get_worker_info

SAMPLE, COLLATE, ORDER, WORKER = b"sample", b"collate", b"order", b"worker"


def derive(kind, *numbers):
    """63 bits of what it is for and which."""
    h = hashlib.blake2b(kind, digest_size=8)
    for n in numbers:
        h.update(b"%d;" % n)
    return int.from_bytes(h.digest(), "little") >> 1


_ALONE_S = 60           # then a thread that waits for another, which waits for it, goes on
_alone = threading.RLock()


def _forget_others():
    """In a child: threads that held it are not here."""
    global _alone
    _alone = threading.RLock()


os.register_at_fork(after_in_child=_forget_others)


@contextlib.contextmanager
def alone():
    """No other thread that asks the same seeds the sources meanwhile."""
    lock = _alone
    has_it = lock.acquire(timeout=_ALONE_S)
    try:
        yield
    finally:
        if has_it:
            lock.release()


def _numpy():
    """numpy.random, if the program has it."""
    return getattr(sys.modules.get("numpy"), "random", None)


def _draw_slow():
    numpy = _numpy()
    return random.getrandbits(64), numpy.bytes(8) if numpy is not None else None


class Sources:
    """All that is random here: the three global ones, and what the dataset, its
    transforms and the collate function have of their own (found by _state.py)."""

    def __init__(self, own=()):
        self.own = list(own)

    def seed(self, seed):
        self.seed_torch(seed)
        self._seed_slow(seed)
        for i, source in enumerate(self.own):
            _seed_one(source, derive(b"own", seed, i))

    def seed_torch(self, seed):
        """That alone costs next to nothing."""
        torch.default_generator.manual_seed(seed)
        worker = get_worker_info()
        if worker is not None:          # who seeds a source by it gets the same everywhere
            object.__setattr__(worker, "seed", seed)    # it is not meant to be set

    def _seed_slow(self, seed):
        random.seed(seed)
        numpy = _numpy()
        if numpy is not None:
            numpy.seed(seed & 0xffffffff)

    def is_untouched(self, seed):
        """Has nothing been drawn from the slow ones since they were seeded so?  What is drawn
        next tells, and is lost."""
        if self.own:
            return False
        after = _draw_slow()
        self._seed_slow(seed)
        return after == _draw_slow()

    def keep(self):
        """What restore() puts back."""
        numpy = _numpy()
        return (torch.default_generator.get_state(), random.getstate(),
                numpy.get_state() if numpy is not None else None,
                [_state_of(s) for s in self.own])

    def restore(self, kept):
        torch_state, random_state, numpy_state, own = kept
        torch.default_generator.set_state(torch_state)
        random.setstate(random_state)
        if numpy_state is not None:
            _numpy().set_state(numpy_state)
        for source, state in zip(self.own, own):
            _set_state(source, state)


# --- objects that a dataset has of its own -----------------------------------

def is_source(obj):
    numpy = _numpy()
    if isinstance(obj, random.SystemRandom):
        return False            # it cannot be seeded
    return isinstance(obj, (torch.Generator, random.Random)) or numpy is not None and isinstance(
        obj, (numpy.RandomState, numpy.Generator, numpy.BitGenerator))


def _seed_one(source, seed):
    if isinstance(source, torch.Generator):
        source.manual_seed(seed)
    elif isinstance(source, random.Random):
        source.seed(seed)
    elif isinstance(source, _numpy().RandomState):
        source.seed([seed & 0xffffffff, seed >> 32])
    else:       # a Generator cannot be seeded: its bits are another's from now on
        bits = _bits_of(source)
        bits.state = type(bits)(seed).state


def _state_of(source):
    if isinstance(source, (torch.Generator, _numpy_state_type())):
        return source.get_state()
    if isinstance(source, random.Random):
        return source.getstate()
    return _bits_of(source).state


def _set_state(source, state):
    if isinstance(source, (torch.Generator, _numpy_state_type())):
        source.set_state(state)
    elif isinstance(source, random.Random):
        source.setstate(state)
    else:
        _bits_of(source).state = state


def _bits_of(source):
    return getattr(source, "bit_generator", source)


def _numpy_state_type():
    numpy = _numpy()
    return numpy.RandomState if numpy is not None else torch.Generator
