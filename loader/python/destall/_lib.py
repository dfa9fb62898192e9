# SPDX-License-Identifier: Apache-2.0
"""libdestall by ctypes: the hub, streams and passes of destall.h, as objects.

A call that waits lets other threads run, but no signal handler: so waits are
short, and the caller comes again.  Objects belong to the process that made
them; a forked child makes its own.
"""

import ctypes
import os
import shutil

from ctypes import POINTER, byref, c_char, c_char_p, c_int, c_int64, c_size_t, \
    c_uint, c_uint32, c_uint64, c_void_p

NAME = "libdestall.so.0"
ANY = 2**64 - 1

TAKE_WAIT, TAKEN, TAKE_SELF, TAKE_DETACHED = range(4)
GIVE_UP_LATER, GIVE_UP_ALONE = range(2)
NO_START = 1


class Failed(OSError):
    """What the library said."""


class _Err(ctypes.Structure):
    _fields_ = [("code", c_int), ("text", c_char * 512)]


class PassInfo(ctypes.Structure):
    _fields_ = [("seed", c_uint64), ("epoch", c_uint64), ("units", c_uint64),
                ("unit", c_uint32), ("jobs", c_uint32)]


class Lease(ctypes.Structure):
    _fields_ = [("unit", c_uint64), ("bytes", c_void_p), ("room", c_size_t),
                ("generation", c_uint32), ("slot", c_uint32), ("since_ns", c_uint64)]


class _Taken(ctypes.Structure):
    _fields_ = [("bytes", c_void_p), ("len", c_size_t), ("unit", c_uint64), ("hash", c_uint64),
                ("maker", c_uint64), ("is_own", c_uint32), ("priv", c_void_p)]


class _Sample(ctypes.Structure):
    _fields_ = [("epoch", c_uint64), ("batch", c_uint64), ("position", c_uint64),
                ("name", c_char_p), ("item", c_uint64), ("crc32c", c_uint32)]


class Taken:
    """What was taken.  It outlives its release, which clears what the library has."""

    def __init__(self, given):
        self.given = given
        self.bytes, self.len, self.unit = given.bytes, given.len, given.unit
        self.hash, self.is_own = given.hash, bool(given.is_own)
        self.root = None        # as its bytes say: _payload.py


_HANDLE = POINTER(c_void_p)     # where a handle is kept
_CALLS = {
    "ds_version": (c_char_p, []),
    "ds_connect_as": (c_int, [_HANDLE, c_char_p, c_uint, POINTER(_Err)]),
    "ds_disconnect": (None, [_HANDLE]),
    "ds_stage_open": (c_int, [_HANDLE, c_void_p, POINTER(_Err)]),
    "ds_stage_set": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(_Err)]),
    "ds_stage_close": (None, [_HANDLE]),
    "ds_stage_release": (None, [c_void_p, POINTER(_Taken)]),
    "ds_pass_open": (c_int, [_HANDLE, c_void_p, c_uint64, c_uint64, POINTER(PassInfo),
                             POINTER(_Err)]),
    "ds_pass_close": (None, [_HANDLE]),
    "ds_pass_lease": (c_int, [c_void_p, c_uint, POINTER(Lease), POINTER(_Err)]),
    "ds_pass_room": (c_int, [c_void_p, POINTER(Lease), c_size_t, POINTER(_Err)]),
    "ds_pass_publish": (c_int, [c_void_p, POINTER(Lease), c_size_t, c_uint64, c_uint64,
                                POINTER(_Err)]),
    "ds_pass_give_up": (None, [c_void_p, POINTER(Lease), c_uint]),
    "ds_pass_begin": (c_int, [c_void_p, c_uint64, c_uint64, POINTER(c_uint64), POINTER(_Err)]),
    "ds_pass_take": (c_int, [c_void_p, c_uint64, c_uint, POINTER(_Taken), POINTER(_Err)]),
    "ds_pass_skip": (None, [c_void_p, c_uint64]),
    "ds_pass_delivered": (None, [c_void_p, c_uint64]),
    "ds_pass_end": (None, [c_void_p]),
    "ds_pass_is_alive": (c_int, [c_void_p]),
    "ds_pass_jobs": (c_uint, [c_void_p]),
    "ds_ledger_open": (c_int, [_HANDLE, c_char_p, c_int64, POINTER(_Err)]),
    "ds_ledger_put": (c_int, [c_void_p, POINTER(_Sample), POINTER(_Err)]),
    "ds_ledger_flush": (c_int, [c_void_p, POINTER(c_int64), POINTER(_Err)]),
    "ds_ledger_close": (None, [_HANDLE]),
    "ds_crc32c": (c_uint32, [c_uint32, c_void_p, c_size_t]),
}

_lib = None


def _candidates():
    """Beside the package (in a wheel; `make` and `make install` put a link there),
    where the system has it, and beside the program that is on PATH."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", NAME)
    if os.path.exists(beside):
        yield beside
    yield NAME
    program = shutil.which("destall")
    if program is None:
        return
    top = os.path.dirname(os.path.realpath(program))
    for folder in (".libs", "../lib", "../lib64", "../lib/%s-linux-gnu" % os.uname().machine):
        path = os.path.join(top, folder, NAME)
        if os.path.exists(path):
            yield path


def _open(path, version):
    """The library at that path.  OSError: there is none; Failed: it is another."""
    lib = ctypes.CDLL(path)
    lib.ds_version.restype = c_char_p
    found = lib.ds_version().decode()
    if found != version:
        raise Failed(0, "the library is %s, this package %s: install one version" % (
            found, version))
    for name, (result, arguments) in _CALLS.items():
        call = getattr(lib, name)
        call.restype, call.argtypes = result, arguments
    return lib


def load(version):
    """Once, before anything else here.  Failed: there is none, or one of another version."""
    global _lib
    why = None
    for path in _candidates():
        if _lib is not None:
            return
        try:
            _lib = _open(path, version)
        except Failed as e:
            why = e
        except (OSError, AttributeError) as e:
            why = why or Failed(0, "the library cannot be loaded: %s" % e)
    if _lib is None:
        raise why


def find_loaded(name):
    """The path of an object of this process that has this name, or None."""
    with open("/proc/self/maps", "rb") as maps:
        for line in maps:
            path = os.fsdecode(line.rstrip(b"\n").partition(b"/")[2])
            if os.path.basename(path).startswith(name):
                return "/" + path
    return None


def path():
    """Of the library; what belongs to it lies beside it.  It must have been loaded."""
    found = find_loaded(NAME[:NAME.index(".so")] + ".so")
    if found is None:
        raise Failed(0, "the library's file is not to be found")
    return found


def _check(rc, err):
    if rc < 0:
        raise Failed(-rc, err.text.decode(errors="replace"))
    return rc


class _Handle:
    """One of the library's, closed once, by the process that has it."""

    _close = None               # the name of the function

    def __init__(self):
        self._at = c_void_p()
        self._pid = os.getpid()

    def close(self):
        if self._at and self._pid == os.getpid():
            getattr(_lib, self._close)(byref(self._at))
        self._at = c_void_p()


class Hub(_Handle):
    _close = "ds_disconnect"

    def __init__(self, job=None, flags=0):
        super().__init__()
        err = _Err()
        _check(_lib.ds_connect_as(byref(self._at), job and job.encode(), flags, byref(err)), err)


class Stage(_Handle):
    """A stream."""

    _close = "ds_stage_close"

    def __init__(self, hub, options):
        super().__init__()
        err = _Err()
        _check(_lib.ds_stage_open(byref(self._at), hub._at, byref(err)), err)
        try:
            for name, value in options.items():
                _check(_lib.ds_stage_set(self._at, name.encode(), str(value).encode(),
                                         byref(err)), err)
        except Failed:
            self.close()
            raise

    def release(self, taken):
        """From wherever the last of a batch went: perhaps in a child, or after the end."""
        if self._at and self._pid == os.getpid():
            _lib.ds_stage_release(self._at, byref(taken.given))


class Pass(_Handle):
    """An epoch of a stream."""

    _close = "ds_pass_close"

    def __init__(self, stage, epoch, at):
        super().__init__()
        err = _Err()
        self.info = PassInfo()
        _check(_lib.ds_pass_open(byref(self._at), stage._at, epoch, at, byref(self.info),
                                 byref(err)), err)

    def lease(self, wait_ms):
        """One to make, or None."""
        lease, err = Lease(), _Err()
        rc = _check(_lib.ds_pass_lease(self._at, wait_ms, byref(lease), byref(err)), err)
        return lease if rc == 1 else None

    def room(self, lease, size):
        """Memory for a unit of that size.  Failed: there is none, and the lease is ended."""
        err = _Err()
        _check(_lib.ds_pass_room(self._at, byref(lease), size, byref(err)), err)

    def publish(self, lease, size, mark):
        err = _Err()
        _check(_lib.ds_pass_publish(self._at, byref(lease), size, mark, 0, byref(err)), err)

    def give_up(self, lease, how):
        _lib.ds_pass_give_up(self._at, byref(lease), how)

    def begin(self, at, end):
        """Where it begins, or None: that has been made and is gone."""
        start, err = c_uint64(), _Err()
        rc = _check(_lib.ds_pass_begin(self._at, at, end, byref(start), byref(err)), err)
        return start.value if rc == 1 else None

    def take(self, unit, wait_ms):
        """(one of TAKE_* or TAKEN, what was taken)"""
        given, err = _Taken(), _Err()
        rc = _check(_lib.ds_pass_take(self._at, unit, wait_ms, byref(given), byref(err)), err)
        return rc, Taken(given) if rc == TAKEN else None

    def skip(self, unit):
        _lib.ds_pass_skip(self._at, unit)

    def delivered(self, samples):
        _lib.ds_pass_delivered(self._at, samples)

    def end(self):
        _lib.ds_pass_end(self._at)

    @property
    def is_alive(self):
        return _lib.ds_pass_is_alive(self._at) == 1

    @property
    def jobs(self):
        return _lib.ds_pass_jobs(self._at)


class Ledger(_Handle):
    """A file of it; at > 0: one that is there, as far as that byte."""

    _close = "ds_ledger_close"

    def __init__(self, path, at):
        super().__init__()
        err = _Err()
        _check(_lib.ds_ledger_open(byref(self._at), os.fsencode(path), at, byref(err)), err)

    def put(self, epoch, batch, position, name, item, crc):
        err = _Err()
        sample = _Sample(epoch, batch, position, name and os.fsencode(name), item, crc)
        _check(_lib.ds_ledger_put(self._at, byref(sample), byref(err)), err)

    def flush(self):
        """Its size then."""
        size, err = c_int64(), _Err()
        _check(_lib.ds_ledger_flush(self._at, byref(size), byref(err)), err)
        return size.value


def crc32c(crc, address, size):
    return _lib.ds_crc32c(crc, address, size)
