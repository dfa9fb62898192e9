# SPDX-License-Identifier: Apache-2.0
"""A job that is only watched: sums of about a second, so that neither the job nor
the disk notices.  Runs in main processes and in workers."""

from time import monotonic_ns as _now

from . import _journal, _ready
from ._journal import journal

_EVERY_NS = 10**9


class Batches:
    """Of one iteration, in the main process; each of so many samples."""

    def __init__(self, loader, samples):
        self._loader, self._samples = loader, samples
        self._ready = None
        self._clear(None)

    def _clear(self, begin):
        self._begin, self._until = begin, 0 if begin is None else begin + _EVERY_NS
        self._batches = self._waited = self._found = self._times = 0

    def next(self, plain, iterator):
        """Little, and in one place, for it is in the job's time, when caches have other things."""
        asked = _now()
        if asked > self._until:
            self._turn(asked, iterator)
        is_there = self._ready.is_there(iterator)
        batch = plain(iterator)
        # It ends where the next call begins, so that what the job does in between is in it.
        self._end = _now()
        self._batches += 1
        if is_there:
            self._found += self._end - asked
            self._times += 1
        else:
            self._waited += self._end - asked
        return batch

    def _turn(self, asked, iterator):
        if self._ready is None:
            self._ready = _ready.Ready(iterator)
        self.flush(asked)
        self._clear(asked)

    def flush(self, end=None):
        if self._batches > 0:
            journal.put(_journal.LIVE, self._loader, self._begin, end or self._end, self._batches,
                        self._batches * self._samples, self._waited, self._found, self._times)
        self._clear(None)


class Made:
    """Of one worker."""

    def __init__(self, loader, worker):
        self._loader, self._worker = loader, worker
        self._clear(_now())

    def _clear(self, now):
        self._since = now
        self._batches = self._samples = self._time = self._cpu = self._kept = 0

    def add(self, begin, end, samples, cpu, kept):
        self._batches += 1
        self._samples += samples
        self._time += end - begin
        self._cpu += cpu
        self._kept += kept
        if end - self._since > _EVERY_NS:
            self.flush(end)

    def flush(self, end):
        if self._batches:
            journal.put(_journal.LIVE_MADE, self._loader, self._worker, end, self._batches,
                        self._samples, self._time, self._cpu, self._kept)
        self._clear(end)
