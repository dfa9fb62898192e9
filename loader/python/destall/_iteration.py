# SPDX-License-Identifier: Apache-2.0
"""What stands in the place of a loader's sampler in one of its iterators: it gives
tickets instead of index lists, and knows what comes of each.  Runs in the main
process of a job.

Mostly an iteration is one epoch.  That of an endless loader is one epoch after
the other: tickets of the next are out while the last batches come.
"""

import collections
import copy
import weakref

from . import _job


class Iteration:
    def __init__(self, shared, plain, make_epoch):
        self.shared, self.plain = shared, plain
        self.make_epoch = make_epoch
        self.epochs = collections.deque()       # those that are not finished
        self.entered = None                     # (job, mark, nth)
        self.made_of = None                     # of what its workers make samples, for good

    def __len__(self):
        return len(self.plain)

    def __iter__(self):
        self.close()
        self.shared.iteration = weakref.ref(self)
        repeating = self.shared.order.repeating
        if repeating is None:
            return self._tickets()
        endless = copy.copy(repeating)
        endless.sampler = _Inner(self)
        return iter(endless)

    def _tickets(self):
        """Of one epoch more."""
        shared = self.shared
        if shared.mark is None:                 # the first was looked at where it was decided
            why = shared.look(self.made_of)
            if why is not None:
                shared.record.tell("alone: %s" % why)
        if shared.loader.num_workers > 0:
            self.made_of = shared.made_of
        epoch = self.make_epoch(shared, self._enter())
        shared.mark = None                      # the next epoch looks again
        self.epochs.append(epoch)
        yield from epoch.tickets()

    def _enter(self):
        """Says that it iterates this stream now, and not the one before."""
        self._leave()
        shared = self.shared
        nth = _job.enter(shared.job, shared.mark)
        self.entered = (shared.job, shared.mark, nth)
        return nth

    def _leave(self):
        entered, self.entered = self.entered, None
        if entered is not None:
            _job.leave(*entered)

    # --- what comes ---

    @property
    def epoch(self):
        """That of the next batch."""
        while len(self.epochs) > 1 and not self.epochs[0].sent:
            self.epochs.popleft().finish()
        return self.epochs[0] if self.epochs else None

    def resolve(self, data):
        epoch = self.epoch
        found = epoch.resolve(data)
        if epoch.is_counted and self.shared.order.repeating is None:
            self._leave()               # who begins another now wants the next epoch
        return found

    @property
    def is_over(self):
        return not self.epochs

    def saved(self):
        """Where it is; None: at an epoch's beginning."""
        epoch = self.epoch
        is_within = epoch is not None and epoch.delivered > 0 and not epoch.is_counted
        return epoch.saved() if is_within else None

    def finish(self):
        """The job has had all of it."""
        while self.epochs:
            self.epochs.popleft().finish()
        self._leave()

    def close(self):
        """As far as it came."""
        while self.epochs:
            self.epochs.popleft().close()
        self._leave()


class _Inner:
    """The sampler within an endless one."""

    def __init__(self, iteration):
        self.iteration = iteration

    def __iter__(self):
        for epoch in self.iteration.epochs:
            epoch.note()                # the next begins while the last batches of it come
        return self.iteration._tickets()
