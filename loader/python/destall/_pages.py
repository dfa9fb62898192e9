# SPDX-License-Identifier: Apache-2.0
"""Files in memory, and out of it: arranged for each file, and looked at, without
any right but to read them."""

import contextlib
import ctypes
import mmap
import os
import random
import stat
import threading
import time

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                       ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_FAILED = ctypes.c_void_p(-1).value
_PAGE = mmap.PAGESIZE
_CHUNK = 1 << 20
_READERS = 32
_PROT_NONE = 0          # nothing is read by it
_BESIDE = 4000          # files are enough to know how much of a data set is in memory,
_BESIDE_S = 0.25        # or as many as can be listed, and looked at, in this time each, and
_BESIDE_BYTES = 1 << 30 # none that is so large that it takes long
_LISTED = 100000        # of so many, others need not be listed
_IS_THERE = bytes(i & 1 for i in range(256))


class Counted:
    """Pages of some files, those of them in memory, and those that the kernel does not tell of."""

    def __init__(self):
        self.pages = self.resident = self.untold = 0

    @property
    def is_missing(self):
        """Some of them."""
        return self.resident < self.pages

    def include(self, other):
        self.pages += other.pages
        self.resident += other.resident
        self.untold += other.untold

    def add(self, fd, size):
        pages = -(-size // _PAGE)
        self.pages += pages
        if pages == 0:
            return
        at = _libc.mmap(None, size, _PROT_NONE, mmap.MAP_SHARED, fd, 0)
        if at in (None, _FAILED):
            self.untold += pages
            return
        seen = ctypes.create_string_buffer(pages)
        if _libc.mincore(at, size, seen) != 0 or not _may_tell(fd):
            self.untold += pages
        else:
            self.resident += seen.raw.translate(_IS_THERE).count(1)
        _libc.munmap(at, size)


def _may_tell(fd):
    """Of files that are not the caller's the kernel says that all is in memory (since 5.2)."""
    try:
        st = os.fstat(fd)
    except OSError:
        return False
    return os.geteuid() in (0, st.st_uid) or os.access("/proc/self/fd/%d" % fd, os.W_OK)


def _each(paths):
    """(descriptor, size) of those that can be opened, and are files: a pipe would be waited for."""
    for path in paths:
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError):
            continue
        try:
            size = _file_size(fd)
            if size is not None:
                yield fd, size
        finally:
            with contextlib.suppress(OSError):
                os.close(fd)


def _file_size(fd):
    """None: it is no file, or is gone (ESTALE)."""
    try:
        st = os.fstat(fd)
    except OSError:
        return None
    return st.st_size if stat.S_ISREG(st.st_mode) else None


def count(paths):
    counted = Counted()
    for fd, size in _each(paths):
        counted.add(fd, size)
    return counted


class Beside:
    """Other files of some folders: pages of those that were looked at, how many these are, and of
    how many there are."""

    def __init__(self, listed):
        self.counted, self.looked, self.listed = Counted(), 0, listed

    def add(self, fd, size):
        untold = self.counted.untold
        if size <= _BESIDE_BYTES:
            self.counted.add(fd, size)
            self.looked += self.counted.untold == untold

    def without(self, nr):
        """So many of them were read just now: what is left of the others."""
        part = 1 - min(nr / max(self.listed, 1), 1)
        pages = self.counted.pages - self.counted.untold
        resident = max(self.counted.resident - round((1 - part) * pages), 0)
        return round(part * self.looked), round(part * pages), resident


def count_beside(paths):
    """Files of the same folders and kinds, by chance."""
    rng = random.Random()               # the program's own is not touched
    others = _list_beside(paths, rng)
    beside, until = Beside(len(others)), time.monotonic() + _BESIDE_S
    for fd, size in _each(rng.sample(others, min(len(others), _BESIDE))):
        beside.add(fd, size)
        if time.monotonic() > until:
            break
    return beside


def _list_beside(paths, rng):
    """What is no file is found out when it is opened."""
    known, kinds = set(paths), {os.path.splitext(path)[1] for path in paths}
    folders = sorted({os.path.dirname(path) for path in paths})
    rng.shuffle(folders)
    others, until = [], time.monotonic() + _BESIDE_S
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                for e in entries:
                    if os.path.splitext(e.name)[1] in kinds and e.path not in known:
                        others.append(e.path)
                    if len(others) >= _LISTED or time.monotonic() > until:
                        return others
        except OSError:
            continue
    return others


def _let_go(fd, size):
    """What is left of it in memory."""
    with contextlib.suppress(OSError):
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    left = Counted()
    left.add(fd, size)
    return left


def evict(paths):
    """What was written lately must be on storage before it can leave memory.  What is left of
    them there."""
    total = Counted()
    for fd, size in _each(paths):
        left = _let_go(fd, size)
        if left.resident > 0:
            with contextlib.suppress(OSError):
                os.fdatasync(fd)
            left = _let_go(fd, size)
        total.include(left)
    return total


def read(paths):
    """All of them, as a program does that reads files; how many bytes there were."""
    return sum(_read_all(fd, size) for fd, size in _each(paths))


def bring_in(paths):
    """Into memory, by several at a time: storage may be slow to answer."""
    readers = [threading.Thread(target=read, args=(paths[i::_READERS],), daemon=True)
               for i in range(min(_READERS, len(paths)))]
    started = []
    try:
        for reader in readers:
            reader.start()
            started.append(reader)
    except RuntimeError:                # no more threads here
        read(paths)
    for reader in started:
        reader.join()


def _read_all(fd, size):
    total, want = 0, max(min(size + 1, _CHUNK), 4096)
    while True:
        try:
            got = len(os.read(fd, want))
        except OSError:
            return total
        if got == 0:
            return total
        total += got
