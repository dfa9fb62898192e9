# SPDX-License-Identifier: Apache-2.0
"""What a process of a job that is profiled tells: records in a file of its own
(probe/journal.h).  One write for each, when it has happened: whatever becomes of
the process, what it has told is there.

Nothing here fails a job: what cannot be written is lost, and counted by who reads.
"""

import errno
import os
import struct
import threading

_RECORD = struct.Struct("<HHI7Q")
_LIMIT = 2**64 - 1
NO_BLOCK = _LIMIT

(HELLO, LOADER, TRAINS, STEP, MADE, READY, BLOCK, BLOCK_END, SET, PAGES, READ, ALONE, OTHER,
 STORAGE, LIVE, LIVE_MADE, OPEN, NOTE, EPOCH, LEFT, MARK, BESIDE) = range(1, 23)

ROLE_MAIN, ROLE_WORKER, ROLE_NATIVE, ROLE_PYTHON = range(4)
LEFT_END, LEFT_EPOCH, LEFT_ASKED, LEFT_ALONE, LEFT_FAILED = range(5)
ITERABLE, PINNED, PERSISTENT = 1, 2, 4

_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC


def which(fd):
    """The file that is open there."""
    st = os.fstat(fd)
    return st.st_dev, st.st_ino


def is_still(fd, known):
    """A program may close whatever it finds open, and open a file of its own there."""
    try:
        return which(fd) == known
    except OSError:
        return False


def folder():
    """Of the session, or None: this process is not profiled."""
    return os.environ.get("DESTALL_PROFILE") or None


class Journal:
    """Of one process; a child that was forked has one of its own."""

    why_broken = None           # why something could not be told: the rest makes no sense then

    def __init__(self):
        self._forget()

    def _forget(self):
        """In a child: the lock of the parent may have been held at the fork."""
        self._fd, self._pid = None, None
        self._path, self._which = None, None    # its file, and what fstat() says of it
        self._lock = threading.RLock()  # a handler of signals may tell while we do

    def _open(self):
        """A program that executes another has the same pid: the next name, then."""
        self._pid, self._fd, self.why_broken = os.getpid(), None, None
        for n in range(64):
            name = "%d%s.journal" % (self._pid, "-%d" % n if n else "")
            try:
                self._path = os.path.join(folder(), name)
                self._fd = os.open(self._path, _APPEND | os.O_CREAT | os.O_EXCL, 0o600)
                self._which = which(self._fd)
                return
            except FileExistsError:
                pass
            except (OSError, TypeError) as e:
                self.why_broken = getattr(e, "strerror", None) or str(e)
                return

    def put(self, kind, loader, *words, text=""):
        more = text.encode("utf-8", "replace")[:4096]
        words = [min(max(int(w), 0), _LIMIT) for w in words] + [0] * (7 - len(words))
        record = _RECORD.pack(kind, len(more), loader, *words) + more + b"\0" * (-len(more) % 64)
        try:
            with self._lock:
                if self._pid != os.getpid():
                    self._open()
                self._write(record)
        except OSError as e:
            self.why_broken = e.strerror

    def _write(self, record):
        """Behind a part of one, a full disk's, no other could be read."""
        if self._fd is None or self.why_broken is not None:
            return
        if not is_still(self._fd, self._which):
            self._reopen()
        if os.write(self._fd, record) < len(record):
            self.why_broken = "it was cut off"

    def _reopen(self):
        self._fd = os.open(self._path, _APPEND)
        if not is_still(self._fd, self._which):
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    def note(self, text, *values):
        """A confession."""
        self.put(NOTE, 0, text=text % values if values else text)


journal = Journal()
os.register_at_fork(after_in_child=journal._forget)
