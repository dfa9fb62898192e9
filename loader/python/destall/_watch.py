# SPDX-License-Identifier: Apache-2.0
"""Whether a dataset is still what it was when the epoch began, in a program that
makes its samples itself: what it changes there counts at once.

A look at all that samples are made of may take long: of a million paths, half a
second.  So before each batch only what is quickly seen is looked at: large lists
and arrays by which they are, not by what is in them.  All of it is looked at as
often as a small share of the time allows.
"""

import time

LOOK_SHARE = 0.1        # of the time that batches take,
LOOK_S = 0.002          # or so long


def is_cheap(look_s, make_s):
    return look_s <= max(make_s * LOOK_SHARE, LOOK_S)


class Watch:
    """find(is_quick) gives a State (_state.py)."""

    def __init__(self, find):
        self._find = find
        self._was, self._kept = {}, None        # digests, by is_quick
        self._look_s = {False: 0.0, True: 0.0}  # of a processor: a busy machine makes nothing slow
        self._looked = dict.fromkeys(self._look_s, 0.0)

    def begin(self):
        """It is right now; a digest of all of it.  What find() raises, it raises."""
        whole, quick = self._look(False), self._look(True)
        self._was = {False: whole.digest(), True: quick.digest()}
        self._kept = quick.alive
        return self._was[False]

    def _look(self, is_quick):
        since = time.thread_time()
        try:
            return self._find(is_quick)
        finally:
            self._looked[is_quick] = time.monotonic()
            self._look_s[is_quick] = time.thread_time() - since

    def _is_same(self, is_quick):
        try:
            return self._look(is_quick).digest() == self._was[is_quick]
        except Exception:               # of the program's own objects
            return False

    def _is_due(self, is_quick):
        look_s = self._look_s[is_quick]
        return look_s <= LOOK_S or \
            time.monotonic() - self._looked[is_quick] > look_s / LOOK_SHARE

    def is_unchanged(self):
        """As far as can be told without taking long."""
        if self._is_due(False):
            return self._is_same(False)
        return not self._is_due(True) or self._is_same(True)

    def is_surely_unchanged(self, make_s):
        """False, also if to see that takes long."""
        return is_cheap(self._look_s[False], make_s) and self._is_same(False)
