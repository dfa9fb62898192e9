# SPDX-License-Identifier: Apache-2.0
"""Where PyTorch makes the iterators of its DataLoader: theirs are given tickets
in the place of index lists, and their workers a fetcher that knows tickets.

The classes stay what they are: their methods are wrapped, so that subclasses,
frameworks and isinstance() see nothing new.
"""

import functools
import os
import threading
import weakref

from torch.utils.data import dataloader as _loaders
from torch.utils.data import _utils

from . import _lib, _make, _session, _worker
from ._version import VERSION

_shared = weakref.WeakKeyDictionary()   # loader -> Shared, or why it is plain
_lock = threading.Lock()
_counter = 0


@functools.lru_cache(maxsize=None)
def _job():
    """Who this is to the hub; all workers, however they are started, are the same."""
    return os.environ.get("DESTALL_JOB") or os.urandom(8).hex()


# --- which loaders -------------------------------------------------------------

def _refusal(loader):
    """Why it cannot be shared, or None."""
    if loader._dataset_kind != _loaders._DatasetKind.Map:
        return "an iterable dataset"
    if not getattr(loader, "in_order", True):
        return "in_order=False"
    return None


def _find(loader):
    """What is known of a loader; None: it is plain."""
    global _counter
    with _lock:
        found = _shared.get(loader)
        if found is None:
            _counter += 1
            found = _session.Shared(loader, _counter, _job())
            found.alone = _refusal(loader)
            if found.alone is not None:
                found.tell("alone: %s" % found.alone)
            _shared[loader] = found
    return found if found.alone is None else None


class _Sampler:
    """In the place of the loader's own: an epoch's tickets."""

    def __init__(self, shared, plain):
        self.shared, self.plain = shared, plain
        self.epoch = None

    def __len__(self):
        return len(self.plain)

    def __iter__(self):
        return self._tickets()

    def _tickets(self):
        if self.epoch is not None:
            self.epoch.close()
        self.epoch = _session.Epoch(self.shared)
        yield from self.epoch.tickets()


class _View:
    """A loader as its iterator is to see it."""

    def __init__(self, loader, **changed):
        self._loader = loader
        self.__dict__.update(changed)

    def __getattr__(self, name):
        return getattr(self._loader, name)


# --- iterators -----------------------------------------------------------------

def _epoch_of(iterator):
    sampler = iterator.__dict__.get("_destall")
    return sampler.epoch if sampler is not None else None


def _begin(plain, iterator, loader, **changed):
    shared = _find(loader) if type(loader) is not _View else None
    why = shared.look() if shared is not None else None
    if why is not None:
        shared.tell("alone: %s" % why)
    if shared is None or why is not None:
        plain(iterator, loader)
        return None
    sampler = _Sampler(shared, loader._index_sampler)
    iterator._destall = sampler
    weakref.finalize(iterator, _drop, sampler).atexit = False
    plain(iterator, _View(loader, _index_sampler=sampler, **changed))
    return sampler


def _drop(sampler):
    if sampler.epoch is not None:
        sampler.epoch.close()


def _resend(iterator, ticket):
    """Once more, for the same batch, and then what comes for it."""
    idx = iterator._rcvd_idx
    epoch = _epoch_of(iterator)
    worker = (idx + epoch.tries) % iterator._num_workers
    iterator._task_info[idx] = (worker,)
    iterator._tasks_outstanding += 1
    iterator._index_queues[worker].put((idx, ticket))
    return iterator._next_data()


class _LocalFetcher:
    """Of a loader without workers: the main process makes units itself."""

    def __init__(self, sampler, plain):
        self.sampler, self.plain = sampler, plain
        self.maker = _worker.Maker(
            _make.Recipe(plain.dataset, plain.auto_collation, plain.collate_fn), VERSION)

    def fetch(self, ticket):
        epoch = self.sampler.epoch
        sources = self.maker.recipe.sources
        while True:
            kept = sources.keep()
            try:
                data = self.maker.fetch(ticket)
            finally:
                sources.restore(kept)
            data, ticket = epoch.resolve(data)
            if ticket is None:
                return data


# --- in the place of methods: _start.py ----------------------------------------

def init_single(plain, self, loader):
    sampler = _begin(plain, self, loader)
    if sampler is not None:
        self._dataset_fetcher = _LocalFetcher(sampler, self._dataset_fetcher)


def init_several(plain, self, loader):
    _begin(plain, self, loader, worker_init_fn=_worker.Start(loader.worker_init_fn, VERSION))


def process_data(plain, self, data, *rest):
    epoch = _epoch_of(self)
    if epoch is None:
        return plain(self, data, *rest)
    is_token = type(data) is _worker.Token
    data, again = epoch.resolve(data)
    if again is not None:
        return _resend(self, again)
    if is_token and self._pin_memory:
        data = _utils.pin_memory.pin_memory(data, self._pin_memory_device)
    return plain(self, data, *rest)


def next_data(plain, self):
    try:
        return plain(self)
    except StopIteration:
        epoch = _epoch_of(self)
        if epoch is not None:
            epoch.finish()
        raise


def start(first_seed):
    """Before anything else here."""
    _lib.load(VERSION)
    _session.first_seed = first_seed


def counts():
    """Of each loader, by its name."""
    return {shared.name: dict(shared.counts) for shared in _shared.values()}
