# SPDX-License-Identifier: Apache-2.0
"""How an epoch's batches lie in the units of its pass.  Runs in the main process
of a job.

Where anybody may cut them, a unit is some samples of the order, and the batches
of each job are cut from units as its own size demands.  Else a unit is a batch.
"""

import array
import itertools

_NEAR_BYTES = 1 << 16       # of a ticket, at most, unless the nearest need more
_FORGET = 64                # lists that are given up at a time


class ByBatch:
    """Batch n is unit n.  Index lists are drawn when they are needed."""

    size = unit_size = 1        # batches

    def __init__(self, drawn, batches, is_batched, is_lazy):
        self.drawn, self.batches = drawn, batches
        self.is_batched, self.is_lazy = is_batched, is_lazy
        self.start = 0                          # the first that is kept
        self.lists, self.firsts = [], [0]       # and the position where each begins

    def has(self, n):
        """Draws so far; False: the epoch has ended before."""
        while self._end <= n:
            try:
                indices = next(self.drawn)
            except StopIteration:
                self.batches = self._end
                return False
            self.lists.append(indices)
            self.firsts.append(self.firsts[-1] + (len(indices) if self.is_batched else 1))
        return True

    @property
    def _end(self):
        return self.start + len(self.lists)

    def batch(self, n):
        """(its first position, its indices)"""
        return self.firsts[n - self.start], self.lists[n - self.start]

    unit = batch

    def forget(self, n):
        """It was delivered.  What is drawn lazily may go on for ever: of that only what lies
        before is needed no more, but for the last."""
        over = n - 1 - self.start
        if self.is_lazy and over >= _FORGET:
            del self.lists[:over], self.firsts[:over]
            self.start += over

    def end_of(self, n):
        return n + 1

    def units_of(self, n):
        return range(n, n + 1)

    def first_batch(self, unit):
        """That begins at this unit, or behind."""
        return unit

    def is_short(self, n):
        return self.is_batched and self.has(n) and len(self.batch(n)[1]) < len(self.lists[0])

    def near(self, first, last, is_pure):
        """What a worker must know to make any unit of these."""
        if is_pure:
            self.has(last)
        first = max(first, self.start)
        return Near(first, [self.batch(u) for u in range(first, min(last + 1, self._end))])


class BySample:
    """Units of some samples each, batches of some; the whole order is known."""

    is_batched = True

    def __init__(self, indices, size, unit_size, drops_last):
        self.indices, self.size, self.unit_size = indices, size, unit_size
        count = len(indices)
        self.batches = count // size if drops_last else -(-count // size)

    def has(self, n):
        return n < self.batches

    def forget(self, n):
        """All of it is one array."""

    def batch(self, n):
        return n * self.size, self._list(n * self.size, self.size)

    def unit(self, u):
        return u * self.unit_size, self._list(u * self.unit_size, self.unit_size)

    def _list(self, first, size):
        found = self.indices[first:first + size]
        return found.tolist() if isinstance(found, array.array) else found

    def end_of(self, n):
        return min((n + 1) * self.size, len(self.indices))

    def units_of(self, n):
        return range(n * self.size // self.unit_size,
                     (self.end_of(n) - 1) // self.unit_size + 1)

    def first_batch(self, unit):
        return -(-unit * self.unit_size // self.size)

    def is_short(self, n):
        return self.end_of(n) - n * self.size < self.size

    def near(self, first, last, _is_pure):
        least = last - first + 1
        units = max(min(least, _NEAR_BYTES // (8 * self.unit_size)), 1)
        at = first * self.unit_size
        return FlatNear(at, self.unit_size, self.indices[at:at + units * self.unit_size])


class Near:
    """Units from `first` on, each as (position, indices)."""

    def __init__(self, first, units):
        self.first, self.units = first, units

    def items(self):
        return zip(itertools.count(self.first), self.units)


class FlatNear:
    """The same, of units that are cut from one list."""

    def __init__(self, at, unit_size, indices):
        self.at, self.unit_size, self.indices = at, unit_size, indices

    def items(self):
        for i in range(0, len(self.indices), self.unit_size):
            part = self.indices[i:i + self.unit_size]
            yield (self.at + i) // self.unit_size, (
                self.at + i, part.tolist() if isinstance(part, array.array) else part)


def flat(indices):
    """All indices of an epoch, in as little memory as they need."""
    indices = list(indices)
    if all(type(i) is int and -2**63 <= i < 2**63 for i in indices):
        return array.array("q", indices)
    return indices
