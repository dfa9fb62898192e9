# SPDX-License-Identifier: Apache-2.0
"""The stage of one stream, in the main process of a job, and which epoch of it
the job is given."""

import threading
import time

from . import _lib, _payload

_SLOW_S = 1.0           # to find out that there is no hub: then it is
_AGAIN_S = 60.0         # not looked for at each epoch

_not_before = 0.0


class Stream:
    """Until nothing of it is used any more: batches outlive epochs."""

    def __init__(self, job, options):
        self.options = options
        self._uses = 1
        self._lock = threading.RLock()  # a finalizer may run while it is held
        self._hub = _connect(job)
        try:
            self.stage = _lib.Stage(self._hub, options)
        except _lib.Failed:
            self._hub.close()
            raise

    def take_over(self, taken):
        """The batch; its slot is released when nothing of it is used any more."""
        with self._lock:
            self._uses += 1
        batch, taken.root = _payload.unpack(taken.bytes, taken.len, lambda: self._release(taken))
        return batch

    def _release(self, taken):
        self.stage.release(taken)
        self.drop()

    def drop(self):
        with self._lock:
            self._uses -= 1
            is_last = self._uses == 0
        if is_last:
            self.stage.close()
            self._hub.close()


def _connect(job):
    global _not_before
    since = time.monotonic()
    if since < _not_before:
        raise _lib.Failed(0, "the hub did not answer: it is tried once a minute")
    try:
        return _lib.Hub(job)
    except _lib.Failed:
        now = time.monotonic()
        if now - since > _SLOW_S:
            _not_before = now + _AGAIN_S
        raise


class Wish:
    """Which epoch of a stream a job wants.  seed None: the hub draws it; is_drawn: it once did.
    epoch None: where the others are.  at: the unit, or any."""

    def __init__(self, seed, is_drawn, epoch, at):
        self.seed, self.is_drawn, self.epoch, self.at = seed, is_drawn, epoch, at

    @property
    def seed_text(self):
        if self.seed is None:
            return "hub"
        return "kept:%d" % self.seed if self.is_drawn else "%d" % self.seed


class Opened:
    """A pass, and the stream it is of, with the options by which the workers find it, too."""

    def __init__(self, job, options, wish):
        epoch = _lib.ANY if wish.epoch is None else wish.epoch
        self.stream = Stream(job, {**options, "seed": wish.seed_text})
        try:
            self.at = _lib.Pass(self.stream.stage, epoch, wish.at)
        except _lib.Failed:
            self.stream.drop()
            raise
        self.info = self.at.info
        found = Wish(self.info.seed, wish.seed is None or wish.is_drawn, self.info.epoch, wish.at)
        self.options = {**options, "seed": found.seed_text}

    def close(self):
        self.at.close()
        self.stream.drop()


def find(job, options, wish, past):
    """Of a stream whose order the hub draws, the epoch that others are in, if the job has not had
    it; if there is nobody else, the one behind its last, under the same seed."""
    found = Opened(job, options, wish)
    info = found.info
    if wish.seed is not None or wish.epoch is not None or past.epoch is None or \
            (info.jobs > 0 if info.seed != past.seed else info.epoch > past.epoch):
        return found
    # It stays open meanwhile: with the last that leaves it, the hub would forget the seed.
    try:
        return Opened(job, options, Wish(past.seed, True, past.epoch + 1, wish.at))
    finally:
        found.close()
