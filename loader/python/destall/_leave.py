# SPDX-License-Identifier: Apache-2.0
"""How a job that is profiled leaves: at once, where it asks for its next batch, so that
nothing of its own comes after it.  Runs in the main process of a job, or of a rank."""

import ctypes
import multiprocessing
import multiprocessing.util
import os
import shutil
import signal
import sys
import threading
import time

from . import _journal
from ._journal import journal
from ._say import say

_PATIENCE_S = 10.0      # with the command, before it is left without its word


def before_leaving():
    """What is still to be told (_profile.py)."""


def leave(schedule, why):
    """At once: no validation, checkpoint, `finally` or atexit of the job comes after it."""
    try:
        _ignore_signals()
        before_leaving()
        journal.put(_journal.LEFT, 0, time.monotonic_ns(), why)
        if schedule is not None and why != _journal.LEFT_ALONE:
            schedule.await_leave(_PATIENCE_S)
        _flush()
        _kill_children()
        _remove_sockets()
        if why == _journal.LEFT_ALONE:
            _remove_session(_journal.folder())
    finally:
        os._exit(0)


def _ignore_signals():
    """PyTorch raises in the main thread when a worker dies, and a program may raise in handlers of
    its own; by the C library, because Python does it in one thread only."""
    plain = ctypes.CDLL(None).signal
    plain.argtypes, plain.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            plain(number, int(signal.SIG_IGN))


def _flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    ctypes.CDLL(None).fflush(None)


def _kill_children():
    for child in multiprocessing.active_children():
        try:
            os.kill(child.pid, signal.SIGKILL)
        except OSError:
            pass


def leave_untold():
    """The command would wait for what it is not told, and this process for the command."""
    say("profile: %s: cannot write there: %s: the job ends here", _journal.folder(),
        journal.why_broken)
    leave(None, _journal.LEFT_FAILED)


def _remove_session(folder):
    """Who made it is gone.  By names: nothing else is ours."""
    try:
        for name in os.listdir(folder):
            if name == "schedule" or name.endswith(".journal"):
                os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
    except (OSError, TypeError):
        pass                    # another rank may be at it


def own_sockets():
    """Before workers start: the folder of their sockets is this process's, for they are killed, and
    what they have made for themselves would stay."""
    multiprocessing.util.get_temp_dir()


def _remove_sockets():
    folder = multiprocessing.process.current_process()._config.get("tempdir")
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


_before = None          # what the program does about Ctrl-C


def leave_on_interrupt(schedule):
    """Ctrl-C ends the measuring, and not by way of what the program does then."""
    global _before
    if threading.current_thread() is threading.main_thread():
        _before = signal.signal(signal.SIGINT, lambda *_: leave(schedule, _journal.LEFT_ASKED))


def give_interrupt_back():
    if _before is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _before)
