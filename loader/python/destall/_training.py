# SPDX-License-Identifier: Apache-2.0
"""Is a loader the one that the program trains with?  Others validate, compute
means, or are looked at once.  And have its steps settled?  The first ones may compile
something.  Runs in the main process of a job."""

import collections
import gc
import time

import torch

from . import _job

_EVERY = 5              # batches, after which it is looked at,
_EVERY_SHORT = 2        # of an epoch that has less than
_SHORT = 60
_ALIKE = 3              # steps, of which none takes more than
_ALIKE_TIMES = 2        # so many times what another does,
_ALIKE_NS = 5000000     # and this: they have settled.  Some never do: it is waited for
_SETTLE_MOST = 20       # batches at the most, and for
_SETTLE_PART = 8        # one in so many of an epoch, and for
_SETTLE_S = 10          # as long as this
_SETTLE_ALIKE = 5       # batches, where all ranks must begin with the same one


def _optimizers():
    """By their types: to ask an object itself may have it do something."""
    return [o for o in gc.get_objects() if issubclass(type(o), torch.optim.Optimizer)]


def _versions(optimizers):
    """A number for each parameter that changes when it is written to."""
    return [p._version for o in optimizers for group in getattr(o, "param_groups", ())
            for p in group["params"]]


class Watch:
    """Of one iteration, of so many batches; 0: not known."""

    def __init__(self, batches=0):
        self._every = _EVERY_SHORT if 0 < batches < _SHORT else _EVERY
        self._batches = 0
        self._optimizers = self._before = None
        self._steps = collections.deque(maxlen=_ALIKE)
        self._has_ranks = _job.ranks() > 1
        most = _SETTLE_ALIKE if self._has_ranks else _SETTLE_MOST
        self._patience = min(most, batches // _SETTLE_PART) if batches else most
        self._trains_since = None

    def note_step(self, ns):
        """What the program did between two batches took so long."""
        self._steps.append(ns)

    def is_ready(self):
        """At each batch: it trains, and its steps have settled."""
        if self._trains_since is None:
            if not self.is_training():
                return False
            self._trains_since = time.monotonic()
        else:
            self._patience -= 1
        return self._has_settled()

    def _has_settled(self):
        if self._patience <= 0:
            return True
        if self._has_ranks:
            return False
        if time.monotonic() - self._trains_since > _SETTLE_S:
            return True
        return len(self._steps) == _ALIKE and \
            max(self._steps) <= _ALIKE_TIMES * min(self._steps) + _ALIKE_NS

    def is_training(self):
        """At each batch: True once it is known.  With gradients, and if there is an optimizer, it
        has changed something since the last look."""
        self._batches += 1
        if self._batches % self._every != 0 or not torch.is_grad_enabled():
            return False
        if self._optimizers is None:
            self._optimizers = _optimizers()
            self._before = _versions(self._optimizers)
            # Parameters begin with a version of their own: a second look tells.
            return not self._optimizers
        now = _versions(self._optimizers)
        has_changed, self._before = now != self._before, now
        return has_changed
