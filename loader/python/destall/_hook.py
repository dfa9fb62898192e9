# SPDX-License-Identifier: Apache-2.0
"""Where PyTorch makes the iterators of its DataLoader: theirs are given tickets
in the place of index lists, and their workers a fetcher that knows tickets.

The classes stay what they are: their methods are wrapped, so that subclasses,
frameworks and isinstance() see nothing new.
"""

import os
import threading
import weakref

import torch.utils.data

from torch.utils.data import dataloader as _loaders
from torch.utils.data import _utils

from . import _cache, _epoch, _fetcher, _iterable, _iteration, _job, _lib, _saved, _shared, _status
from ._by_id import ById
from ._say import say
from ._version import VERSION

_known = ById()         # loader -> Shared, or None: it is plain
_lock = threading.Lock()
_PIPES = tuple(getattr(torch.utils.data, name) for name in ("IterDataPipe", "MapDataPipe")
               if hasattr(torch.utils.data, name))


# --- which loaders -------------------------------------------------------------

def _refusal(loader):
    """Why it cannot be shared, or None."""
    if not isinstance(loader, _loaders.DataLoader):
        return "it is no DataLoader, but a %s" % type(loader).__name__
    if isinstance(loader.dataset, _PIPES):
        return "a DataPipe, which is seeded by its loader"
    if not getattr(loader, "in_order", True):
        return "in_order=False: batches are to come in any order"
    return None


def _note(loader):
    """What is known of a loader that is not plain for ever."""
    with _lock:
        if loader not in _known:
            refusal = _refusal(loader)
            if refusal is not None:
                _known[loader] = _refuse(loader, refusal)
            else:
                _known[loader] = _shared.Shared(loader)
                _saved.note(_known[loader])
        return _known[loader]


def _refuse(loader, why):
    _status.Record(loader).tell("alone: %s" % why)


def _find(loader):
    """What is known of one that may share; None: it is plain."""
    if os.environ.get("DESTALL") != "1" and loader not in _known:
        return None
    found = _note(loader)
    return found if found is not None and found.alone is None else None


class _View:
    """A loader as its iterator is to see it."""

    def __init__(self, loader, **changed):
        self._loader = loader
        self.__dict__.update(changed)

    def __getattr__(self, name):
        return getattr(self._loader, name)


# --- iterators -----------------------------------------------------------------

def _iteration_of(iterator):
    return iterator.__dict__.get("_destall")


def _begin(plain, iterator, loader, **changed):
    """The iterator is made; the iteration that gives it tickets, or None: it is plain."""
    shared, plan = _look(loader)
    if loader.num_workers > 0 and (shared is not None or plan is not None):
        version = VERSION if shared is not None else None
        changed["worker_init_fn"] = _fetcher.Start(loader.worker_init_fn, version, plan)
    if shared is None:
        changed.pop("_dataset_kind", None)
        plain(iterator, _View(loader, **changed) if changed else loader)
        return None
    make_epoch = _iterable.Epoch if shared.order.is_iterable else _epoch.Epoch
    iteration = _iteration.Iteration(shared, loader._index_sampler, make_epoch)
    iterator._destall = iteration
    weakref.finalize(iterator, iteration.close).atexit = False
    plain(iterator, _View(loader, _index_sampler=iteration, **changed))
    return iteration


def _look(loader):
    """(what is known of it, if it may share now; how its files come from the cache)"""
    try:
        shared = _find(loader)
        why = None
        if shared is not None:
            shared.loader.take(loader)
            why = shared.look()
        if why is not None:
            shared.record.tell("alone: %s" % why)
            shared = None
        return shared, _plan_for(loader)
    except _saved.Wrong:
        raise
    except Exception as e:              # of ours, or of a loader that is none
        say("a loader is not shared: %s: %s", type(e).__name__, e)
        return None, None


def _plan_for(loader):
    """How its files come from the cache, or None."""
    if os.environ.get("DESTALL") != "1" or not isinstance(loader, _loaders.DataLoader):
        return None
    return _cache.plan_for(loader)


def _resend(iterator, ticket, tries, was=None):
    """Once more, for the same batch.  `was`: the worker that had it, in a PyTorch that counts what
    each has (since 2.6): that one has gone on to the next."""
    if was is not None:
        iterator._rcvd_idx -= 1
    idx = iterator._rcvd_idx
    worker = ticket.worker
    if worker is None:
        worker = (idx + tries) % iterator._num_workers
    iterator._task_info[idx] = (worker,)
    if was is not None:
        iterator._workers_num_tasks[was] -= 1
        iterator._workers_num_tasks[worker] += 1
    iterator._tasks_outstanding += 1
    iterator._index_queues[worker].put((idx, ticket))


# --- in the place of methods: _start.py ----------------------------------------

def init_single(plain, self, loader):
    # The plain fetcher of an iterable dataset begins to iterate it at once: we do it later.
    kind = loader._dataset_kind
    iteration = _begin(plain, self, loader, _dataset_kind=_loaders._DatasetKind.Map)
    if iteration is not None:
        self._dataset_kind = kind
        maker = _fetcher.maker_of(kind, loader.dataset, self._auto_collation, self._collate_fn,
                                  self._drop_last, _loaders._DatasetKind.create_fetcher, VERSION)
        self._dataset_fetcher = _fetcher.Local(iteration, maker, weakref.proxy(self))
        weakref.finalize(self, maker.desk.close).atexit = False
    plan = _plan_for(loader)
    if plan is not None:
        self._dataset_fetcher = _fetcher.Cached(self._dataset_fetcher, plan)


def init_several(plain, self, loader):
    _begin(plain, self, loader)


def init_other(plain, self, loader):
    """Of every iterator: those that are not PyTorch's own know nothing of tickets."""
    if not isinstance(self, (_loaders._SingleProcessDataLoaderIter,
                             _loaders._MultiProcessingDataLoaderIter)) and \
            os.environ.get("DESTALL") == "1":
        with _lock:
            if loader not in _known:
                _known[loader] = _refuse(loader, "it has an iterator of its own, %s.%s" % (
                    type(self).__module__, type(self).__qualname__))
    return plain(self, loader)


def process_data(plain, self, data, *rest):
    iteration = _iteration_of(self)
    if iteration is None:
        return plain(self, data, *rest)
    has_come = not _fetcher.is_of_stage(data)
    data, again = iteration.resolve(data)
    if again is not None:
        _resend(self, again, iteration.epoch.tries, *rest)
        return _iterable.SKIP           # for next_data() to ask again
    if not has_come and data is not _iterable.SKIP and self._pin_memory:
        data = _utils.pin_memory.pin_memory(data, self._pin_memory_device)
    return plain(self, data, *rest)


def next_data(plain, self):
    iteration = _iteration_of(self)
    if iteration is None:
        return plain(self)
    try:
        data = plain(self)
        while data is _iterable.SKIP:
            data = plain(self)
        return data
    except StopIteration:
        iteration.finish()
        raise


def start(first_seed):
    """Before anything else here."""
    _lib.load(VERSION)
    _shared.first_seed = first_seed


# --- explicit calls: __init__.py -----------------------------------------------

def share(loader):
    _note(loader)


def status():
    return {"job": _job.name(), "cache": _cache.status(),
            "loaders": [{**r.as_dict(), "cache": _cache.told(r.loader())}
                        for r in _status.records]}


state_dict, load_state_dict = _saved.state_dict, _saved.load_state_dict
