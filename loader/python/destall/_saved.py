# SPDX-License-Identifier: Apache-2.0
"""Where loaders are, to be kept with a checkpoint, and given back to the loaders of
the job that goes on.  Loaders are told apart by the order in which they were
first iterated; one that was made anew takes the place of the one that is gone."""

import weakref

_FORMAT = 1
_slots = []             # in that order
_waiting = []           # of a loaded state, for loaders that are not known yet


class Wrong(ValueError):
    """A state, for these loaders."""


def _likeness(shared):
    """Of a loader that is made anew; a program's loaders for training and for validation mostly
    differ in one of these."""
    loader = shared.loader
    try:
        size = len(loader.dataset)
    except Exception:                   # it has none
        size = None
    return shared.record.kind, type(loader.sampler).__name__, loader.batch_size, size


class _Slot:
    def __init__(self, shared):
        self.likeness = _likeness(shared)
        self.waiting = None             # of a loaded state, for one that is made anew
        self._take(shared)

    def _take(self, shared):
        self.record = shared.record
        self.shared = weakref.ref(shared)

    def take(self, shared):
        """In the place of one that is gone."""
        self._take(shared)
        waiting, self.waiting = self.waiting, None
        _restore(shared, waiting)

    @property
    def is_left(self):
        """Its loader is gone, and so is what iterated it."""
        shared = self.shared()
        iteration = shared.iteration() if shared is not None else None
        return self.record.loader() is None and (iteration is None or iteration.is_over)

    def load(self, saved):
        if self.is_left:
            self.waiting = saved
        else:
            _restore(self.shared(), saved)

    def state(self):
        return self.waiting or {"dataset": self.record.kind, "ended": self.record.ended,
                "last_set": self.record.last_set, "now": self._now()}

    def _now(self):
        shared = self.shared()
        if shared is None:
            return None
        iteration = shared.iteration()
        return shared.resumed or (iteration.saved() if iteration is not None else None)


def note(shared):
    """A loader that is new."""
    likeness = _likeness(shared)
    left = next((s for s in _slots if s.likeness == likeness and s.is_left), None)
    if left is not None:
        left.take(shared)
        return
    _slots.append(_Slot(shared))
    if _waiting:
        _restore(shared, _waiting.pop(0))


def state_dict():
    return {"format": _FORMAT, "loaders": [slot.state() for slot in _slots] + _waiting}


def nothing():
    """The state of a job whose loaders are plain."""
    return {"format": _FORMAT, "loaders": []}


def load_state_dict(state):
    if state.get("format") != _FORMAT:
        raise Wrong("destall: it is no state of this version: %r" % state.get("format"))
    saved = list(state["loaders"])
    for slot, one in zip(_slots, saved):
        slot.load(one)
    _waiting[:] = saved[len(_slots):]


def _restore(shared, saved):
    if shared is None or saved is None:
        return
    record = shared.record
    if saved["dataset"] != record.kind:
        raise Wrong("destall: %s was saved as a loader of %s: loaders are told by the order in "
                    "which they are first iterated" % (record.name, saved["dataset"]))
    record.ended, record.last_set = saved["ended"], saved["last_set"]
    shared.resumed = saved["now"]
