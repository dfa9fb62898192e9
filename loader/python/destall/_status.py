# SPDX-License-Identifier: Apache-2.0
"""What became of the loaders of this process: one line each, what
destall.status() tells, and one line at the end."""

import atexit
import os
import weakref

from ._say import note

records = []            # of all loaders that there were, in the order of their first iteration
_pid = None


def _weakly(obj):
    try:
        return weakref.ref(obj)
    except TypeError:                   # it cannot be
        return lambda: None


class Record:
    """Of one loader; it outlives it."""

    def __init__(self, loader):
        global _pid
        if _pid is None:
            _pid = os.getpid()
            atexit.register(_tell_saved)
        self.kind = type(getattr(loader, "dataset", loader)).__name__
        self.loader = _weakly(loader)
        self.number = len(records) + 1
        self.state = "not iterated yet"
        self.ended = 0                  # the epoch behind the last that it has had
        self.last_set = None            # what set_epoch() had said before
        self.counts = {"batches": 0, "own": 0, "taken": 0, "of_others": 0, "compared": 0,
                       "samples": 0, "samples_of_others": 0}
        self.saved_s = 0.0              # of making what others made
        self._told = set()
        records.append(self)

    @property
    def name(self):
        return "loader %d (%s)" % (self.number, self.kind)

    def tell(self, text, key=None):
        """How it is shared now, or why not.  Each is said once: with how many others, say, changes
        all the time."""
        self.state = text
        key = key or text
        if key not in self._told:
            self._told.add(key)
            note("%s: %s", self.name, text)

    def tell_jobs(self, jobs):
        others = jobs - 1
        if others <= 0:
            self.tell("ready to share: no other job of its stream yet", "ready")
        else:
            self.tell("shared with %d other job%s" % (others, "s" * (others > 1)), "shared")

    def count_taken(self, taken, samples, cpu_s):
        """A unit, with so many samples, which would have taken so long of a processor."""
        self.counts["taken"] += 1
        if not taken.is_own:
            self.counts["of_others"] += 1
            self.counts["samples_of_others"] += samples
            self.saved_s += cpu_s

    def as_dict(self):
        return {"name": self.name, "shared": self.state.startswith("shared"),
                "state": self.state, **self.counts}


def _tell_saved():
    if os.getpid() != _pid:             # a child, which has loaders of its own
        return
    samples = sum(r.counts["samples"] for r in records)
    others = sum(r.counts["samples_of_others"] for r in records)
    if others > 0:
        note("%s of %s samples were made by other jobs: about %.3g s of a core saved",
             f"{others:,}", f"{samples:,}", sum(r.saved_s for r in records))
    elif samples > 0:
        note("nothing was saved: no other job made batches for this one")
