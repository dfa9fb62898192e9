# SPDX-License-Identifier: Apache-2.0
"""Whose randomness: what is random in a sample depends on the stream, the epoch
and the position in the epoch's order, and on nothing else, so that anybody can
make it again.

In a worker the sources are seeded and left so.  In the job's main process they
are put back as they were.
"""

import hashlib
import random
import sys

import torch

SAMPLE, COLLATE, ORDER, WORKER = b"sample", b"collate", b"order", b"worker"


def derive(kind, *numbers):
    """63 bits of what it is for and which."""
    h = hashlib.blake2b(kind, digest_size=8)
    for n in numbers:
        h.update(b"%d;" % n)
    return int.from_bytes(h.digest(), "little") >> 1


def _numpy():
    """numpy.random, if the program has it."""
    return getattr(sys.modules.get("numpy"), "random", None)


class Sources:
    """All that is random here: the three global ones, and what the dataset, its
    transforms and the collate function have of their own (found by _state.py)."""

    def __init__(self, own=()):
        self.own = list(own)

    def seed(self, seed):
        torch.default_generator.manual_seed(seed)
        random.seed(seed)
        numpy = _numpy()
        if numpy is not None:
            numpy.seed([seed & 0xffffffff, seed >> 32])
        for i, source in enumerate(self.own):
            _seed_one(source, derive(b"own", seed, i))

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
    return isinstance(obj, (torch.Generator, random.Random)) or numpy is not None and isinstance(
        obj, (numpy.RandomState, numpy.Generator))


def _seed_one(source, seed):
    if isinstance(source, torch.Generator):
        source.manual_seed(seed)
    elif isinstance(source, random.Random):
        source.seed(seed)
    elif isinstance(source, _numpy().RandomState):
        source.seed([seed & 0xffffffff, seed >> 32])
    else:       # a Generator cannot be seeded: its bits are another's from now on
        fresh = type(source.bit_generator)(seed)
        source.bit_generator.state = fresh.state


def _state_of(source):
    if isinstance(source, (torch.Generator, _numpy_state_type())):
        return source.get_state()
    if isinstance(source, random.Random):
        return source.getstate()
    return source.bit_generator.state


def _set_state(source, state):
    if isinstance(source, (torch.Generator, _numpy_state_type())):
        source.set_state(state)
    elif isinstance(source, random.Random):
        source.setstate(state)
    else:
        source.bit_generator.state = state


def _numpy_state_type():
    numpy = _numpy()
    return numpy.RandomState if numpy is not None else torch.Generator
