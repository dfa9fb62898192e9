# SPDX-License-Identifier: Apache-2.0
"""Batches that are delivered again, and again, as if they were new: each time a
fresh structure over memory that is copied when it is written to, for jobs pop keys
and normalise in place.  Together they are larger than the last-level cache, so that
they come from memory, as new ones do.  Runs in the main process of a job.
"""

import collections
import copy
import ctypes
import glob
import mmap
import os

import torch

from . import _journal, _payload

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                       ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_POPULATE_READ = 22     # its pages are there, and not copied
_FAILED = ctypes.c_void_p(-1).value
_LEAST, _MOST = 2, 64                   # batches
_MOST_BYTES = 512 << 20
_GUESS_CACHE = 32 << 20


def _cache_bytes():
    """Of the last level."""
    sizes = [_GUESS_CACHE]
    for path in glob.glob("/sys/devices/system/cpu/cpu0/cache/index*/size"):
        try:
            with open(path) as f:
                text = f.read().strip()
            sizes.append(int(text[:-1]) << {"K": 10, "M": 20}[text[-1]])
        except (OSError, ValueError, KeyError, IndexError):
            continue
    return max(sizes)


def _free_bytes():
    with open("/proc/meminfo") as f:
        for line in f:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return 0


class _Kept:
    """A batch in a file of memory, which is mapped, too: a program may close whatever it finds
    open."""

    def __init__(self, batch):
        packed = _payload.Packed(batch)
        self.size, self.at = packed.size, None
        self._make_file()
        try:
            self.at = _map(self.fd, self.size, mmap.MAP_SHARED)
            packed.write(self.at, 0)
            self._unpack(self.at, lambda: None)         # there are objects that go in, and not out
        except BaseException:
            os.close(self.fd)
            if self.at is not None:
                _libc.munmap(self.at, self.size)
            raise

    def _make_file(self):
        self.fd = os.memfd_create("destall-replay", os.MFD_CLOEXEC)
        os.ftruncate(self.fd, self.size)
        self.which = _journal.which(self.fd)

    def _open_again(self):
        self._make_file()
        at = _map(self.fd, self.size, mmap.MAP_SHARED)
        ctypes.memmove(at, self.at, self.size)
        _libc.munmap(self.at, self.size)
        self.at = at

    def close(self):
        _libc.munmap(self.at, self.size)
        if _journal.is_still(self.fd, self.which):
            os.close(self.fd)

    def _unpack(self, at, release):
        return _payload.unpack(at, self.size, release)[0]

    def fresh(self, is_touched):
        """is_touched: its pages are there already, as in a batch that this process has made."""
        try:
            if not _journal.is_still(self.fd, self.which):
                self._open_again()
            at, size = _map(self.fd, self.size, mmap.MAP_PRIVATE), self.size
        except OSError:                 # no memory for it, or no descriptor
            return copy.deepcopy(self._unpack(self.at, lambda: None))
        _libc.madvise(at, size, _POPULATE_READ)         # an old kernel does not know it
        batch = self._unpack(at, lambda: _gone.append((at, size)))
        return copy.deepcopy(batch) if is_touched else batch


_gone = []              # that the job does not use any more: unmapped in our time, not in its own


def _unmap_gone():
    while _gone:
        _libc.munmap(*_gone.pop())


def _map(fd, size, how):
    """Not by the module mmap, which keeps a descriptor for each: jobs keep labels by the
    thousand."""
    at = _libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, how, fd, 0)
    if at in (None, _FAILED):
        raise OSError(ctypes.get_errno(), "mmap")
    return at


class _Same:
    """A batch that cannot be taken apart."""

    size = 0

    def __init__(self, batch):
        self.batch = batch

    def close(self):
        pass

    def fresh(self, _is_touched):
        try:
            return copy.deepcopy(self.batch)
        except Exception:
            return self.batch


def _tensors(batch):
    """Of a batch: what takes time to be freed.  The rest of it is the job's, which may add to it."""
    if isinstance(batch, torch.Tensor):
        return [batch]
    parts = batch.values() if isinstance(batch, dict) else \
        batch if isinstance(batch, (list, tuple)) else ()
    return [tensor for part in parts for tensor in _tensors(part)]


class Ring:
    def __init__(self, pinned=None):
        self._kept, self._samples, self._at = [], [], 0
        self._bytes = 0
        self._pin = pinned
        self._given = collections.deque(maxlen=2)       # tensors of the last two are held: freeing
                                                        # them is no part of the job's step
        self._want = min(2 * _cache_bytes(), _MOST_BYTES, max(_free_bytes() // 8, 1))
        self.why_same = None    # why a batch is not a fresh one each time

    @property
    def is_full(self):
        nr = len(self._kept)
        return nr >= _MOST or nr >= _LEAST and self._bytes >= self._want

    def __len__(self):
        return len(self._kept)

    def add(self, batch, samples):
        if self.is_full:
            return
        try:
            kept = _Kept(batch)
        except (_payload.NotShareable, OSError, ValueError) as e:
            self.why_same = str(e)
            kept = _Same(batch)
        self._kept.append(kept)
        self._samples.append(samples)
        self._bytes += kept.size

    def next(self, is_touched):
        """(a batch, its samples)"""
        _unmap_gone()
        i = self._at % len(self._kept)
        self._at += 1
        batch = self._kept[i].fresh(is_touched)
        if self._pin is not None:
            batch = self._pin(batch)
        self._given.append(_tensors(batch))
        return batch, self._samples[i]

    def close(self):
        """What the job still has of it stays as it is."""
        for kept in self._kept:
            kept.close()
        self._kept.clear()
        self._given.clear()
        _unmap_gone()
