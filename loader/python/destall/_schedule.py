# SPDX-License-Identifier: Apache-2.0
"""What a job that is profiled is to do next, as the command has written it
(probe/schedule.h).  Read in the main process of a job, or of a rank."""

import fcntl
import mmap
import os
import struct
import time

from . import _journal

(NONE, SET, ACTUAL, REPLAY, REPLAY_BUSY, CACHED, COLD, RAW_COLD, RAW_CACHED, ALONE,
 END) = range(11)
DELIVERS = {ACTUAL, REPLAY, REPLAY_BUSY, CACHED, COLD}      # batches, to the job

LIVE, PASS_EPOCHS, CONTINUE = 1, 2, 4
GO, ASKED, MAY_GO = range(3)            # schedule.leave

_HEAD = struct.Struct("<8sIIII")
_BLOCK = struct.Struct("<IIII")
_MAGIC = b"DSPROBE1"
_LAYOUT = 1
_FIRST = 64
_BLOCKS = 4096
_POLL_S = 0.002
_LOOK_S = 0.2           # for whether the command is still there


class Gone(Exception):
    """There is nobody any more who measures."""


class Block:
    def __init__(self, number, kind, batches, workers):
        self.number, self.kind, self.batches, self.workers = number, kind, batches, workers


class Schedule:
    def __init__(self):
        path = os.path.join(_journal.folder(), "schedule")
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._map = mmap.mmap(fd, _FIRST + _BLOCKS * _BLOCK.size, mmap.MAP_SHARED,
                                  mmap.PROT_READ)
        finally:
            os.close(fd)
        self._path = path
        magic, layout, self.flags, _, _ = _HEAD.unpack_from(self._map)
        if magic != _MAGIC or layout != _LAYOUT:
            raise ValueError("the schedule is of another version of destall")

    @property
    def is_live(self):
        return bool(self.flags & LIVE)

    @property
    def passes_epochs(self):
        return bool(self.flags & PASS_EPOCHS)

    @property
    def continues(self):
        return bool(self.flags & CONTINUE)

    @property
    def leave(self):
        return _HEAD.unpack_from(self._map)[3]

    def _find(self, number):
        if number >= _BLOCKS:
            return Block(number, END, 0, 0)
        found, kind, batches, workers = _BLOCK.unpack_from(self._map, _FIRST + number * _BLOCK.size)
        return Block(number, kind, batches, workers) if found == number + 1 else None

    def block(self, number):
        """Waits for it."""
        looked = time.monotonic()
        while True:
            found = self._find(number)
            if found is not None or self.leave:
                return found
            time.sleep(_POLL_S)
            if time.monotonic() - looked > _LOOK_S:
                looked = time.monotonic()
                self.look()

    def look(self):
        """The command holds a lock as long as it lives."""
        try:
            fd = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            raise Gone()
        except OSError:         # no descriptor is left: that tells nothing
            return
        try:
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            raise Gone()
        except OSError:
            pass
        finally:
            os.close(fd)

    def await_leave(self, seconds):
        """Until the command has seen to those who started this process."""
        until = time.monotonic() + seconds
        while self.leave != MAY_GO and time.monotonic() < until:
            time.sleep(_POLL_S)
