# SPDX-License-Identifier: Apache-2.0
"""Which job this is: to the hub, which lets no job wait for itself; and how many
epochs of what it has had.  Runs in the main process of a job, or of a rank.

A process is a job of its own, unless it is one rank of several: then all that
one launcher has started are one.  Trials in threads of a process are told
apart by the thread that first iterates a loader.  Workers are of the job whose
tickets they get.
"""

import collections
import functools
import hashlib
import os
import sys
import threading

_RANKS = (("WORLD_SIZE", "RANK"), ("SLURM_NTASKS", "SLURM_PROCID"),
          ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"), ("PMI_SIZE", "PMI_RANK"))


def rank():
    """Which one of several, as launchers say it, or the program itself; None: it is not."""
    for size, number in _RANKS:
        if os.environ.get(number, "").isdigit() and os.environ.get(size, "1") not in ("", "0", "1"):
            return int(os.environ[number])
    distributed = sys.modules.get("torch.distributed")
    is_one = distributed is not None and distributed.is_available() and \
        distributed.is_initialized() and distributed.get_world_size() > 1
    return distributed.get_rank() if is_one else None


def ranks():
    """How many there are, as launchers say it, or the program itself."""
    for size, number in _RANKS:
        if os.environ.get(number, "").isdigit() and os.environ.get(size, "").isdigit():
            return int(os.environ[size])
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_world_size()
    return 1


def _born(pid):
    """When a process was started: pids are used again."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as f:
            return f.read().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return ""


@functools.lru_cache(maxsize=None)
def _process_name(pid):
    of = os.getppid() if rank() is not None else pid
    text = "%s %d %s" % (os.environ.get("DESTALL_JOB", ""), of, _born(of))
    return _hash(text)


def _hash(text):
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def name():
    """16 hexadecimal digits, by which the hub knows it in whichever process."""
    thread = threading.current_thread()
    plain = _process_name(os.getpid())
    return plain if thread is threading.main_thread() else _hash("%s %d" % (plain, thread.ident))


# --- epochs ----------------------------------------------------------------

class Past:
    """What a job has had of one stream, by however many loaders."""

    def __init__(self):
        self.ended = 0          # epochs, to their end
        self.seed = None        # and the last of them
        self.epoch = None

    @property
    def next(self):
        return self.ended if self.epoch is None else self.epoch + 1

    def a_seed(self):
        """For a job that has no hub to draw one."""
        return self.seed if self.seed is not None else int.from_bytes(os.urandom(8), "little") >> 1

    def note(self, seed, epoch):
        self.ended += 1
        self.seed, self.epoch = seed, epoch


_lock = threading.RLock()       # a finalizer may leave() while it is held
_past = collections.defaultdict(Past)   # (job, mark, nth, by what it is seeded) -> Past
_now = collections.defaultdict(set)     # (job, mark) -> each nth that is being iterated


def enter(job, mark):
    """The nth of those that iterate the same at the same time: two loaders of one job over the
    same data are not to deliver the same."""
    with _lock:
        nth = next(n for n in range(len(_now[job, mark]) + 1) if n not in _now[job, mark])
        _now[job, mark].add(nth)
        return nth


def leave(job, mark, nth):
    with _lock:
        _now[job, mark].discard(nth)
        if not _now[job, mark]:
            del _now[job, mark]


def past(job, mark, nth, seeded):
    """seeded: by the user's own generator, or seed; None: by the hub."""
    with _lock:
        return _past[job, mark, nth, seeded]
