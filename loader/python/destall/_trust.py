# SPDX-License-Identifier: Apache-2.0
"""Whose units of a stream a loader may use, and when it may make some for others.
Runs in the main process of a job.

Every unit carries a root, a number: equal in those whose makers have proved to
make the same, one by one.  A job draws one of its own, and takes over that of the
first unit that it has compared.  What it has proved to one job says nothing of
another that has come by itself, and has another root.
"""

import os


class Trust:
    """Of one stream, by one loader."""

    def __init__(self):
        self.root = int.from_bytes(os.urandom(8), "little")
        self.is_proven = False          # it makes the same as another
        self.is_first = False           # it was there alone, or has made the first unit
        self._same = set()              # other roots whose units are the same

    @property
    def may_feed(self):
        return self.is_proven or self.is_first

    def has(self, taken):
        """May it be used, though nobody compares it?"""
        if taken.is_own or taken.root in self._same:
            return True
        if taken.root != self.root:
            return False
        self.is_proven = True           # by the other, who has compared
        return True

    def note_same(self, taken):
        self._same.add(taken.root)
        if not self.is_proven:
            self._same.add(self.root)   # that of those who have compared with this job
            self.root, self.is_proven = taken.root, True
