# SPDX-License-Identifier: Apache-2.0
"""Files in memory, and out of it: arranged for each file, and looked at, without
any right but to read them."""

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
_BESIDE_S = 0.25        # or as many as can be looked at in this time, and
_LISTED = 100000        # of so many the folders need not be listed any further


class Counted:
    """Pages of some files, those of them in memory, and those that the kernel does not tell of."""

    def __init__(self):
        self.pages = self.resident = self.untold = 0

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
            self.resident += sum(b & 1 for b in seen.raw)
        _libc.munmap(at, size)


def _may_tell(fd):
    """Of files that are not the caller's the kernel says that all is in memory (since 5.2)."""
    st = os.fstat(fd)
    return os.geteuid() in (0, st.st_uid) or os.access("/proc/self/fd/%d" % fd, os.W_OK)


def _each(paths):
    """(descriptor, size) of those that can be opened, and are files: a pipe would be waited for."""
    for path in paths:
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError):
            continue
        try:
            st = os.fstat(fd)
            if stat.S_ISREG(st.st_mode):
                yield fd, st.st_size
        finally:
            os.close(fd)


def count(paths):
    counted = Counted()
    for fd, size in _each(paths):
        counted.add(fd, size)
    return counted


def count_beside(paths):
    """Other files of their folders and kinds, by chance: how many, and their pages."""
    rng = random.Random()               # the program's own is not touched
    others = _list_beside(paths, rng)
    rng.shuffle(others)
    counted, nr, until = Counted(), 0, time.monotonic() + _BESIDE_S
    for fd, size in _each(others[:_BESIDE]):
        counted.add(fd, size)
        nr += 1
        if time.monotonic() > until:
            break
    return nr, counted


def _list_beside(paths, rng):
    known, kinds = set(paths), {os.path.splitext(path)[1] for path in paths}
    folders = sorted({os.path.dirname(path) for path in paths})
    rng.shuffle(folders)
    others, until = [], time.monotonic() + _BESIDE_S
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                others += [e.path for e in entries if e.path not in known and
                           os.path.splitext(e.name)[1] in kinds and e.is_file()]
        except OSError:
            continue
        if len(others) > _LISTED or time.monotonic() > until:
            break
    return others


def evict(paths):
    """What was written lately must be on storage before it can leave memory."""
    for fd, size in _each(paths):
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        left = Counted()
        left.add(fd, size)
        if left.resident > 0:
            try:
                os.fdatasync(fd)
            except OSError:
                continue
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


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
