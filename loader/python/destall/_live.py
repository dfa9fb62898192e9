# SPDX-License-Identifier: Apache-2.0
"""A job that is only watched: sums of about a second, so that neither the job nor
the disk notices.  Runs in main processes and in workers."""

import time

from . import _journal
from ._journal import journal

_EVERY_NS = 10**9


class Batches:
    """Of one iteration, in the main process."""

    def __init__(self, loader):
        self._loader = loader
        self._clear()

    def _clear(self):
        self._begin = None
        self._batches = self._samples = self._waited = self._found = self._times = 0

    def add(self, asked, given, samples, is_ready):
        if self._begin is None:
            self._begin = asked
        self._batches += 1
        self._samples += samples
        if is_ready:
            self._found += given - asked
            self._times += 1
        else:
            self._waited += given - asked
        # It ends where the next call begins, so that what the job does in between is in it.
        self._end = given

    def look(self, asked):
        """Before a batch is asked for."""
        if self._begin is not None and asked - self._begin > _EVERY_NS:
            self.flush(asked)

    def flush(self, end=None):
        if self._begin is not None:
            journal.put(_journal.LIVE, self._loader, self._begin, end or self._end,
                        self._batches, self._samples, self._waited, self._found, self._times)
        self._clear()


class Made:
    """Of one worker."""

    def __init__(self, loader, worker):
        self._loader, self._worker = loader, worker
        self._clear(time.monotonic_ns())

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
