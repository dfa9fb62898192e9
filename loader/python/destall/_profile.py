# SPDX-License-Identifier: Apache-2.0
"""Where PyTorch makes the iterators of its DataLoader, in jobs that are profiled:
every batch is timed, and the loader that trains follows a schedule (_steer.py).

What goes wrong here is told as a confession, and the job goes on as it would have.
"""

import itertools
import os
import sys
import threading
import time

import torch

from torch.utils.data import dataloader as _loaders

from . import _job, _journal, _leave, _live, _meter, _private, _schedule, _start, _steer, \
    _training
from ._by_id import ById
from ._journal import journal

_known = ById()         # loader -> its number
_lock = threading.Lock()
_numbers = iter(range(1, 2**31))
_schedule_now = None
_steered = None         # what follows the schedule, once the loader that trains is known
_is_over = False        # the schedule is done, or cannot be begun, and the job goes on
_PIPES = ("IterDataPipe", "MapDataPipe")


def start(_first_seed):
    """Before anything else here."""
    global _schedule_now
    _schedule_now = _schedule.Schedule()
    if _schedule_now.is_live:
        _start.give_steering_back()
    journal.put(_journal.HELLO, 0, _journal.ROLE_MAIN, os.getpid(), os.getppid(),
                _job.rank() or 0, _job.ranks(), time.monotonic_ns(), text=" ".join(sys.argv[:1]))


# --- loaders -------------------------------------------------------------------

def _length(thing):
    try:
        return len(thing)
    except Exception:           # of the program's own
        return 0


def _note(loader):
    """Its number; one that was made anew for another epoch has that of the one before."""
    with _lock:
        if loader not in _known and _is_made_anew(loader):
            _known[loader] = _steered.number
        if loader not in _known:
            _known[loader] = next(_numbers)
            _tell(loader, _known[loader])
        return _known[loader]


def _tell(loader, number):
    is_iterable = getattr(loader, "_dataset_kind", None) == _loaders._DatasetKind.Iterable
    dataset = getattr(loader, "dataset", loader)
    flags = (_journal.ITERABLE if is_iterable else 0) | \
        (_journal.PINNED if getattr(loader, "pin_memory", False) else 0) | \
        (_journal.PERSISTENT if getattr(loader, "persistent_workers", False) else 0)
    batch_sampler = getattr(loader, "batch_sampler", None)
    journal.put(_journal.LOADER, number,
                getattr(loader, "batch_size", None) or getattr(batch_sampler, "batch_size", 0) or 0,
                getattr(loader, "num_workers", 0), getattr(loader, "prefetch_factor", 0) or 0,
                0 if is_iterable else _length(getattr(loader, "_index_sampler", ())),
                0 if is_iterable else _length(getattr(loader, "sampler", ())), flags,
                text=type(dataset).__name__)


class _View:
    """A loader as its iterator is to see it."""

    def __init__(self, loader, **changed):
        self._loader = loader
        self.__dict__.update(changed)

    def __getattr__(self, name):
        return getattr(self._loader, name)


class _Seen:
    """What is known of an iterator."""

    steer = None                        # what it follows
    is_done = False                     # nothing more of this epoch is steered

    def __init__(self, loader, number):
        self.loader, self.number = loader, number
        self.watch = _training.Watch(_length(getattr(loader, "_index_sampler", ())))
        self.live = _live.Batches(number, _samples(loader))
        self.batches = 0                # that were delivered of this epoch

    def begin_again(self):
        self.steer, self.is_done, self.batches = None, False, 0


def _refusal(loader):
    """Why it cannot be steered, or None."""
    if not isinstance(loader, _loaders.DataLoader):
        return "it is no DataLoader, but a %s" % type(loader).__name__
    if any(c.__name__ in _PIPES for c in type(loader.dataset).__mro__):
        return "it loads from a DataPipe"
    if not getattr(loader, "in_order", True):
        return "in_order=False: batches come in any order"
    return None


# --- in the place of methods: _start.py ----------------------------------------

def init_several(plain, self, loader):
    if _private.is_ours() or isinstance(loader, _View):
        return plain(self, loader)
    number = _note(loader)
    is_iterable = loader._dataset_kind == _loaders._DatasetKind.Iterable
    if not _schedule_now.is_live:
        _leave.own_sockets()
    start_fn = _meter.Start(loader.worker_init_fn, number, is_iterable, _schedule_now.is_live)
    plain(self, _View(loader, worker_init_fn=start_fn))
    self._destall_seen = _Seen(loader, number)


def init_single(plain, self, loader):
    plain(self, loader)
    if _private.is_ours():
        return
    number = _note(loader)
    made = [self._dataset_fetcher]      # the first that is asked for is there already

    def create():
        return made.pop() if made else _loaders._DatasetKind.create_fetcher(
            self._dataset_kind, loader.dataset, self._auto_collation, self._collate_fn,
            self._drop_last)

    self._dataset_fetcher = _meter.Meter(create, number, -1, _meter.is_iterable(self),
                                         _schedule_now.is_live)
    self._destall_seen = _Seen(loader, number)


def init_other(plain, self, loader):
    """Of every iterator: those that are not PyTorch's own cannot be steered."""
    if not isinstance(self, (_loaders._SingleProcessDataLoaderIter,
                             _loaders._MultiProcessingDataLoaderIter)):
        _note(loader)
        journal.note("a loader of %s has an iterator of its own, %s.%s, and is not measured",
                     type(getattr(loader, "dataset", loader)).__name__, type(self).__module__,
                     type(self).__qualname__)
    return plain(self, loader)


def try_put(plain, self):
    """Nothing is sent to workers that the schedule does not ask for."""
    seen = self.__dict__.get("_destall_seen")
    if seen is None or seen.steer is None or seen.steer.may_send():
        plain(self)


def reset(plain, self, loader, first_iter=False):
    """Workers that stay begin another epoch, by the loader's own sampler."""
    seen = self.__dict__.get("_destall_seen")
    if seen is not None:
        seen.begin_again()
    return plain(self, loader, first_iter)


def next_batch(plain, self):
    """What PyTorch does around every batch is part of handing it over, not of the job's step."""
    seen = self.__dict__.get("_destall_seen")
    if seen is None:
        return plain(self)
    if _schedule_now.is_live:
        return _next_watched(plain, self, seen)
    asked, used = time.monotonic_ns(), time.process_time_ns()
    batch = plain(self)
    given = _last                       # another thread may tell it meanwhile
    if given is not None and given.is_of(seen.number, asked):
        _steer.around_ns = given.widen(asked, used)
    return batch


def next_data(plain, self):
    seen = self.__dict__.get("_destall_seen")
    if seen is None or _schedule_now.is_live:   # who took the method before it was given back
        return plain(self)
    global _last
    if _is_next_epoch(seen):
        _take(seen, self)
    asked, used = time.monotonic_ns(), time.process_time_ns()
    if _last is not None and _last.is_of(seen.number, 0):
        seen.watch.note_step(asked - _last.given)
    tell_last()
    if seen.steer is not None:
        batch, samples, block, number = _next_steered(plain, self, seen)
    else:
        batch = plain(self)
        samples, block, number = 0, _journal.NO_BLOCK, seen.batches
    seen.batches += 1
    if _may_recognise() and seen.watch.is_ready():
        _recognise(seen, self)
    _last = _Given(seen.number, block, number, asked, samples or _samples(seen.loader), used)
    return batch


class _Given:
    """A batch that was given: told when the next is asked for, so that the time of telling is not
    the job's."""

    def __init__(self, *what):
        self.what = what
        self.given, self.used = time.monotonic_ns(), time.process_time_ns()

    def is_of(self, loader, asked):
        """Of that loader, and of a call that has begun since: a class of somebody else's may not
        come by way of next_data()."""
        return self.what[0] == loader and self.what[3] >= asked

    def widen(self, asked, used):
        """To when PyTorch was asked for it, and when it gave it.  How much that is."""
        loader, block, number, inner, samples, _ = self.what
        self.what = loader, block, number, asked, samples, used
        around = inner - asked - self.given
        self.given, self.used = time.monotonic_ns(), time.process_time_ns()
        return around + self.given

    def tell(self):
        loader, block, number, asked, samples, used = self.what
        journal.put(_journal.STEP, loader, block, number, asked, self.given, samples, used,
                    self.used)


_last = None            # the batch that was given last, of this process


def tell_last():
    global _last
    if _last is not None:
        given, _last = _last, None
        given.tell()


def _next_watched(plain, self, seen):
    """Nothing is steered."""
    try:
        batch = seen.live.next(plain, self)
    except StopIteration:
        seen.live.flush()
        raise
    if not seen.is_done and seen.watch.is_training():
        seen.is_done = True
        journal.put(_journal.TRAINS, seen.number, time.monotonic_ns())
    return batch


def _samples(loader):
    sampler = getattr(loader, "batch_sampler", None)
    return getattr(loader, "batch_size", None) or getattr(sampler, "batch_size", None) or 1


# --- the loader that trains ----------------------------------------------------

def _may_recognise():
    return _steered is None and not _is_over


def _is_next_epoch(seen):
    """Of the loader that is steered, or of one that a program has made anew."""
    return seen.steer is None and not seen.is_done and _is_made_anew(seen.loader)


def _is_made_anew(loader):
    return _steered is not None and _schedule_now.passes_epochs and torch.is_grad_enabled() and \
        isinstance(loader, _loaders.DataLoader) and _kind_of(_steered.loader) == _kind_of(loader)


def _kind_of(loader):
    return type(loader.dataset), loader.batch_size, loader.num_workers, \
        type(getattr(loader, "sampler", None)), _length(loader)


def _take(seen, iterator):
    seen.steer, _steered.loader = _steered, seen.loader
    _steered.take(iterator)


def _recognise(seen, iterator):
    global _steered, _is_over
    why = _refusal(seen.loader)
    if why is not None:
        journal.note("the loader that trains cannot be steered: %s", why)
        _is_over = True
        return
    _steered = _steer.Steer(_schedule_now, iterator, seen.loader, seen.number)
    _leave.before_leaving = tell_last
    _take(seen, iterator)
    _leave.leave_on_interrupt(_schedule_now)
    journal.put(_journal.TRAINS, seen.number, time.monotonic_ns())


def _left(seen, iterator):
    """Batches that the epoch still has, or None: not known."""
    whole = 0 if _meter.is_iterable(iterator) else _length(iterator._index_sampler)
    return whole - seen.batches if whole else None


def _next_steered(plain, self, seen):
    try:
        found = seen.steer.next(plain, self, _left(seen, self))
    except _schedule.Gone:
        _leave.leave(None, _journal.LEFT_ALONE)
    except StopIteration:
        seen.steer.stop()
        raise
    if found is None:
        found = _go_on(plain, self, seen)
    return found


def _go_on(plain, self, seen):
    """The rest of the epoch is the loader's own again: for --pass-epochs until it ends, for
    --continue from its beginning, as far as the epoch has room."""
    global _steered, _is_over
    steer, left = seen.steer, _left(seen, self)
    lists = steer.undelivered()
    if steer.schedule.continues:
        lists = iter(self._index_sampler)
        _steered, _is_over = None, True
        steer.ring.close()
        _leave.give_interrupt_back()
        journal.put(_journal.LEFT, seen.number, time.monotonic_ns(), _journal.LEFT_END)
    seen.steer, seen.is_done = None, True
    self._sampler_iter = lists if left is None else itertools.islice(lists, left)
    if self._num_workers:
        for _ in range(self._prefetch_factor * self._num_workers):
            self._try_put_index()
    return plain(self), 0, _journal.NO_BLOCK, 0
