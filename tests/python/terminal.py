# SPDX-License-Identifier: Apache-2.0
"""Programs on a terminal of their own, for tests of signals and job control."""

import os
import pty
import select
import signal
import time

_unread = {}


def session(argv):
    """A child on a terminal of its own, its foreground group."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp(argv[0], argv)
    _unread.pop(fd, None)
    return pid, fd


def shell():
    """A shell with job control, that says nothing by itself."""
    pid, fd = session(["sh", "-m"])
    os.write(fd, b"PS1=; stty -echo; echo RE''ADY\n")
    until(fd, b"READY")
    return pid, fd


def until(fd, word, limit=20):
    """What comes until that word; what follows it is for the next call."""
    text, end = _unread.pop(fd, b""), time.time() + limit
    while word not in text and time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                text += os.read(fd, 4096)
            except OSError:
                break
    assert word in text, (word, text)
    at = text.index(word) + len(word)
    _unread[fd] = text[at:]
    return text[:at]


def rest(fd, limit=20):
    """What comes until nobody has the terminal any more."""
    text, end = _unread.pop(fd, b""), time.time() + limit
    while time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                text += os.read(fd, 4096)
            except OSError:
                os.close(fd)
                return text
    raise AssertionError(("it does not end", text))


def state(pid):
    with open("/proc/%d/stat" % pid) as f:
        return f.read().rsplit(")", 1)[1].split()[0]


def ended(pid):
    """The exit status; None if it stops instead."""
    pid, status = os.waitpid(pid, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return None
    return os.waitstatus_to_exitcode(status)
