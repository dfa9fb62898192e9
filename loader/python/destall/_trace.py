# SPDX-License-Identifier: Apache-2.0
"""Which files are opened while a batch is made, and how much of each was in memory
before: by the preload object (preload/trace.h), which sees the opens of libraries
as well; without it, by Python's own opens, of which the memory is not known.
"""

import ctypes
import mmap
import os
import struct
import sys

_ENTRY = struct.Struct("<QIII")         # bytes, pages, of them in memory, length of the path
_ROOM = 1 << 20
NOT_TOLD = 2**32 - 1
_LOST = 1               # in what the end returns: there were more
_SYSTEM = ("/proc/", "/sys/", "/dev/", "/usr/", "/lib/", "/lib64/", "/etc/")
_CODE = (".py", ".pyc", ".so")


class Opened:
    """A file, as it was when it was opened."""

    def __init__(self, path, size, pages, resident):
        self.path, self.size, self.pages, self.resident = path, size, pages, resident


def _find_calls():
    try:
        here = ctypes.CDLL(None)
        begin, end = here.ds_trace_begin, here.ds_trace_end
    except (OSError, AttributeError):
        return None
    begin.argtypes, begin.restype = [ctypes.c_void_p, ctypes.c_size_t], ctypes.c_int
    end.argtypes, end.restype = [], ctypes.c_ssize_t
    return begin, end


class _Preloaded:
    def __init__(self, calls):
        self._begin, self._end = calls
        self._room = ctypes.create_string_buffer(_ROOM)

    def begin(self):
        self._begin(self._room, _ROOM)

    def end(self):
        """(files, whether there were more)"""
        used = self._end()
        if used < 0:
            return [], True
        return list(_entries(self._room, used & ~_LOST)), bool(used & _LOST)


def _entries(room, used):
    at = 0
    while at + _ENTRY.size <= used:
        size, pages, resident, length = _ENTRY.unpack_from(room, at)
        at += _ENTRY.size
        path = os.fsdecode(room[at:at + length].split(b"\0", 1)[0])
        at = -(-(at + length) // 8) * 8
        yield Opened(path, size, pages, resident)


class _Audited:
    """An audit hook cannot be taken away again: it is silent but for batches that are traced."""

    def __init__(self):
        self._seen = None
        sys.addaudithook(self._hear)

    def _hear(self, event, args):
        if self._seen is not None and event == "open" and isinstance(args[0], (str, bytes)) and \
                not (args[2] or 0) & (os.O_WRONLY | os.O_RDWR):
            self._seen.append(os.path.abspath(os.fsdecode(args[0])))

    def begin(self):
        self._seen = []

    def end(self):
        seen, self._seen = self._seen, None
        found = []
        for path in seen or ():
            try:
                size = os.stat(path).st_size
            except (OSError, ValueError):
                continue
            if not path.startswith(_SYSTEM) and not path.endswith(_CODE):
                found.append(Opened(path, size, -(-size // mmap.PAGESIZE), NOT_TOLD))
        return found, False


_tracer = None


def tracer():
    """Of this process."""
    global _tracer
    if _tracer is None:
        calls = _find_calls()
        _tracer = _Preloaded(calls) if calls is not None else _Audited()
    return _tracer
