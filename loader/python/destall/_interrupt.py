# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while a job is steered reaches all its processes, those who only wait for
others, too: a parent of ranks would save what it has, or clean up.  There it does
nothing: the command that profiles ends the job.  Runs in every Python of such a job,
from its start on; a program that has a handler of its own keeps it.
"""

import os
import signal
import struct

_FIRST = 64             # of the first block: probe/schedule.h
_FLAGS = 12
_LEFT_ALONE = 1 | 4     # flags of a job that is only watched, or goes on


def _is_steered():
    try:
        fd = os.open(os.path.join(os.environ["DESTALL_PROFILE"], "schedule"),
                     os.O_RDONLY | os.O_CLOEXEC)
    except (OSError, KeyError):
        return False
    try:
        flags, = struct.unpack("<I", os.pread(fd, 4, _FLAGS))
        block, = struct.unpack("<I", os.pread(fd, 4, _FIRST))
    except (OSError, struct.error):
        return False
    finally:
        os.close(fd)
    return block != 0 and not flags & _LEFT_ALONE


def _interrupted(number, frame):
    if not _is_steered():
        signal.default_int_handler(number, frame)


def install():
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)
