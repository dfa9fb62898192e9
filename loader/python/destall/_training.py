# SPDX-License-Identifier: Apache-2.0
"""Is a loader the one that the program trains with?  Others validate, compute
means, or are looked at once.  Runs in the main process of a job."""

import gc

import torch

EVERY = 5               # batches, after which it is looked at


def _optimizers():
    """By their types: to ask an object itself may have it do something."""
    return [o for o in gc.get_objects() if issubclass(type(o), torch.optim.Optimizer)]


def _versions(optimizers):
    """A number for each parameter that changes when it is written to."""
    return [p._version for o in optimizers for group in o.param_groups for p in group["params"]]


class Watch:
    """Of one iteration."""

    def __init__(self):
        self._batches = 0
        self._optimizers = self._before = None

    def is_training(self):
        """At each batch: True once it is known.  With gradients, and if there is an optimizer, it
        has changed something since the last look."""
        self._batches += 1
        if self._batches % EVERY != 0 or not torch.is_grad_enabled():
            return False
        if self._optimizers is None:
            self._optimizers = _optimizers()
            self._before = _versions(self._optimizers)
            # Parameters begin with a version of their own: a second look tells.
            return not self._optimizers
        now = _versions(self._optimizers)
        has_changed, self._before = now != self._before, now
        return has_changed
