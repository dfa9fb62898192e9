# SPDX-License-Identifier: Apache-2.0
"""The set of samples that blocks are made of: index lists of batches, and the files
that these open, which are brought into memory, taken out of it, and looked at.
Runs in the main process of a job that is profiled.
"""

import os
import time

from . import _meter, _pages, _trace

_ALL = 0.995            # of the pages: all of them, but for what the kernel has dropped since
_JUST_NOW_S = 0.1       # what was looked at is not looked at again: at the end of a block, and
                        # before the next


class Set:
    def __init__(self, lists=()):
        self.lists = list(lists)
        self.files = [()] * len(self.lists)     # of each batch
        self.bytes = 0
        self.is_cut = False                     # there are more files than could be noted
        self.found = _pages.Counted()           # of the files, as they were
        self._new, self._known = [], set()      # of each batch, those that none before it opens
        self._counted, self._since = [], 0      # of these

    def __len__(self):
        return len(self.lists)

    def note(self, i, made):
        """What the i-th batch opened, the next one in turn."""
        self.files[i] = sorted({f.path for f in made.files})
        self._new.append([path for path in self.files[i] if path not in self._known])
        self._known.update(self._new[-1])
        self.bytes += sum({f.path: f.size for f in made.files}.values())
        self.is_cut = self.is_cut or made.is_cut
        for f in made.files:
            self.found.pages += f.pages
            if f.resident == _trace.NOT_TOLD:
                self.found.untold += f.pages
            else:
                self.found.resident += f.resident

    # --- how much it is ---

    @property
    def samples(self):
        return sum(map(_meter.count, self.lists))

    @property
    def unknown(self):
        """Samples of which no file is known."""
        return sum(_meter.count(l) for l, files in zip(self.lists, self.files) if not files)

    def folder(self):
        """That has all of its files, or "" if there are none."""
        folders = {os.path.dirname(path) for path in self._known}
        return os.path.commonpath(folders) if folders else ""

    def files_of(self, batches):
        """The first ones."""
        return [path for files in self._new[:batches] for path in files]

    # --- as it was found ---

    @property
    def was_there(self):
        """In memory, before we had a hand in it: then nothing has to be put back."""
        return self.found.untold == 0 and self.found.resident >= _ALL * self.found.pages

    @property
    def was_there_in_part(self):
        return _ALL * self.found.pages > self.found.resident > (1 - _ALL) * self.found.pages

    # --- as it is ---

    def count(self, batches):
        """Pages of their files."""
        if time.monotonic() - self._since > _JUST_NOW_S:
            self._counted = []
        is_anew = not self._counted
        self._counted += map(_pages.count, self._new[len(self._counted):batches])
        if is_anew:
            self._since = time.monotonic()
        total = _pages.Counted()
        for counted in self._counted[:batches]:
            total.include(counted)
        return total

    def evict(self, batches):
        self._counted = list(map(_pages.evict, self._new[:batches]))
        self._since = time.monotonic()

    def bring_in(self, batches):
        _pages.bring_in(self.files_of(batches))
        self._counted = []
