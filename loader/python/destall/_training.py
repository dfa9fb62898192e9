# SPDX-License-Identifier: Apache-2.0
"""Is a loader the one that the program trains with?  Others validate, compute
means, or are looked at once.  Runs in the main process of a job."""

import gc

import torch

_EVERY = 5              # batches, after which it is looked at,
_EVERY_SHORT = 2        # of an epoch that has less than
_SHORT = 60


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
