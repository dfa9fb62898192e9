# SPDX-License-Identifier: Apache-2.0
"""open() for reading, of files below the data roots, answered from the cache.

The preload object is loaded late: it interposes nothing, and its open64() is
called here by name (where it was preloaded it is told the roots, and no more).  It opens the file itself first, and then puts the cached
copy in its place (doc/architecture.md): what comes back is a real descriptor of
the right bytes, or an error that is the file's own.  io.open() makes its usual
objects of it.

All else is the plain open(): other modes, other openers, descriptors, files
elsewhere, and whatever reads files by itself in C.
"""

import _io
import builtins
import ctypes
import io
import os
import sys
import threading

_READS = ("rb", "r", "rt", "br", "tr")

_lock = threading.Lock()
_prefixes = ()          # of paths below a root, in every spelling
_object = None          # once it is loaded
_uses = 0               # that want our open() in the place of the plain one
_plain = _io.open


def _forked():
    global _lock
    _lock = threading.Lock()    # a thread that is not here may have held it


os.register_at_fork(after_in_child=_forked)


# --- which files -----------------------------------------------------------------

def _is_below(text):
    """By its letters: whether the file is one of the data set's, the object knows."""
    if text.startswith(_prefixes):
        return True
    if text[:1] == "/" and "//" not in text and "/." not in text:
        return False
    try:
        text = os.path.normpath(os.path.join(os.getcwd(), text))
    except OSError:
        return False            # there is no current folder any more
    return ("/" + text.lstrip("/")).startswith(_prefixes)       # two at the front are kept


def _path_below(file):
    """As io.open() takes it, or None."""
    if isinstance(file, int):
        return None
    try:
        path = os.fspath(file)
        text = path if isinstance(path, str) else os.fsdecode(path)
    except Exception:
        return None             # not ours to report
    return path if _is_below(text) else None


def _is_own_opener(opener):
    """Of pathlib, before Python 3.10."""
    of = getattr(sys.modules.get("pathlib"), "Path", None)
    plain = getattr(of, "_opener", None)
    return plain is not None and getattr(opener, "__func__", None) is plain


def _opener(path, flags):
    fd = _object.open64(os.fsencode(path), flags)
    # What it refuses, Python reports; what a signal broke off, it repeats.
    return fd if fd >= 0 else os.open(path, flags)


def _open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None,
          closefd=True, opener=None):
    if mode in _READS and (opener is None or _is_own_opener(opener)) and closefd:
        path = _path_below(file)
        if path is not None:
            return _plain(path, mode, buffering, encoding, errors, newline, closefd, _opener)
    return _plain(file, mode, buffering, encoding, errors, newline, closefd, opener)


_open.__doc__, _open.__module__ = _plain.__doc__, "io"
_open.__name__ = _open.__qualname__ = "open"


# --- in its place ----------------------------------------------------------------

def _places():
    yield builtins
    yield io
    accessor = getattr(sys.modules.get("pathlib"), "_NormalAccessor", None)     # Python 3.10
    if accessor is not None:
        yield accessor


def _put(old, new):
    for owner in _places():
        if owner.open is old:                   # else somebody has his own there
            owner.open = staticmethod(new) if isinstance(owner, type) else new


def enter():
    """open() is ours from here on, until as many have left as have entered."""
    global _uses
    with _lock:
        _uses += 1
        if _uses == 1:
            _put(_plain, _open)


def leave():
    global _uses
    with _lock:
        _uses -= 1
        if _uses == 0:
            _put(_open, _plain)


def load(path, roots, below):
    """The object, and these roots to those that it knows; files are below these folders, which
    may be spelled in other ways.  OSError: it cannot be had."""
    global _object, _prefixes
    with _lock:
        if _object is None:
            _object = ctypes.CDLL(path)
            _object.open64.argtypes = [ctypes.c_char_p, ctypes.c_int]
            _object.ds_late_roots.argtypes = [ctypes.c_char_p]
        new = tuple(folder + "/" for folder in below if folder + "/" not in _prefixes)
        if new:
            rc = _object.ds_late_roots(os.fsencode(":".join(roots)))
            if rc < 0:
                raise OSError(-rc, os.strerror(-rc), path)
            _prefixes += new


def has_roots(path):
    """Does the object, which is loaded already, know data sets?"""
    ask = ctypes.CDLL(path).ds_late_roots
    ask.argtypes = [ctypes.c_char_p]
    return ask(None) > 0
