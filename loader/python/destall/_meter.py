# SPDX-License-Identifier: Apache-2.0
"""In the place of what PyTorch fetches batches with, in jobs that are profiled: it
tells how long each batch took, and knows tickets, which say for which block of the
schedule a batch is made.  Runs in workers, and in the main process of a loader that
has none.
"""

import os
import threading
import time

from . import _journal, _live, _pages, _trace
from ._journal import journal

MAKE, READ = "make", "read"


class Ticket:
    """For a batch of a block.  indices: as the sampler gave them.  READ: only the files are read.
    is_fresh: it is the next of the loader's own; else it is one of the set, and is_again begins
    that anew, where the dataset is an iterable one.  is_traced: the files that it opens are noted;
    wants_files: the main process wants to know them."""

    is_fresh = is_again = is_traced = wants_files = False
    files = ()

    def __init__(self, kind, block, indices):
        self.kind, self.block, self.indices = kind, block, indices


class Made:
    """What was made of a ticket, where the main process wants to know more than the batch."""

    def __init__(self, batch, files, is_cut):
        self.batch, self.files, self.is_cut = batch, files, is_cut


class Read:
    def __init__(self, nr_bytes):
        self.bytes = nr_bytes


class _Delay(threading.local):
    """Time that this thread was kept from a processor, as the kernel counts it.  One for all
    loaders: jobs make iterators by the thousand."""

    _fd = _pid = None

    def ns(self):
        try:
            if self._pid != os.getpid():        # that of the parent is of its thread
                self._pid = os.getpid()
                self._fd = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
            return int(os.pread(self._fd, 96, 0).split()[1])
        except (OSError, TypeError, ValueError, IndexError):
            return 0


_delay = _Delay()


def storage_bytes():
    """That this process has had read for it."""
    try:
        with open("/proc/self/io", "rb") as f:
            for line in f:
                if line.startswith(b"read_bytes:"):
                    return int(line.split()[1])
    except (OSError, ValueError):
        pass
    return 0


class Meter:
    """create(): a fetcher of PyTorch's; an iterable dataset's begins anew then."""

    def __init__(self, create, loader, worker, is_iterable, is_live):
        self._create, self._fresh, self._set = create, create(), None
        self._loader, self._worker = loader, worker
        self._is_iterable = is_iterable
        self._live = _live.Made(loader, worker + 1) if is_live else None
        self._to_evict = []             # what we have brought into memory, and its block
        self._block = None
        self._used = None               # of a processor, when the last batch of this block was
                                        # made: sending it is part of what a batch costs

    def fetch(self, index):
        ticket = index if type(index) is Ticket else None
        block = _journal.NO_BLOCK if ticket is None else ticket.block
        if block != self._block:
            self._change(block)
        if ticket is not None and ticket.kind == READ:
            return Read(_pages.read(ticket.files))
        indices = index if ticket is None else ticket.indices
        begin, kept = time.monotonic_ns(), _delay.ns()
        used = _cpu_ns(self._worker)
        if self._worker < 0 or self._used is None:
            self._used = used
        batch = self._fetch(ticket, indices)
        used, self._used = self._used, _cpu_ns(self._worker)
        self._tell(block, begin, count(indices), self._used - used, _delay.ns() - kept)
        return batch

    def _tell(self, block, begin, samples, cpu, kept):
        end = time.monotonic_ns()
        if self._live is not None:
            self._live.add(begin, end, samples, cpu, kept)
        else:
            journal.put(_journal.MADE, self._loader, block, self._worker + 1, begin, end, samples,
                        cpu, kept)

    def _fetch(self, ticket, indices):
        if ticket is None or not ticket.is_traced:
            return self._make(ticket, indices)
        tracer = _trace.tracer()
        tracer.begin()
        try:
            batch = self._make(ticket, indices)
        finally:
            files, is_cut = tracer.end()
        self._note(ticket, files)
        return Made(batch, files, is_cut) if ticket.wants_files else batch

    def _make(self, ticket, indices):
        if not self._is_iterable or ticket is None or ticket.is_fresh:
            return self._fresh.fetch(indices)
        if self._set is None or ticket.is_again:
            self._set = self._create()
        try:
            return self._set.fetch(indices)
        except StopIteration:           # it is shorter than the set
            self._set = self._create()
            return self._set.fetch(indices)

    # --- memory, as it was found ---

    def _note(self, ticket, files):
        told = [f for f in files if f.resident != _trace.NOT_TOLD]
        journal.put(_journal.PAGES, self._loader, ticket.block, 0, sum(f.pages for f in files),
                    sum(f.resident for f in told),
                    sum(f.pages for f in files) - sum(f.pages for f in told))
        if ticket.is_fresh:
            self._to_evict += [f.path for f in told if f.resident < f.pages]

    def _change(self, block):
        """What a block of fresh batches has brought into memory leaves it again, so that the next
        finds things as they were."""
        self._block, self._used = block, None
        if self._to_evict:
            _pages.evict(self._to_evict)
            self._to_evict = []
        if self._live is None and self._worker >= 0:    # the main process: _steer.py
            journal.put(_journal.STORAGE, self._loader, block, storage_bytes(),
                        time.monotonic_ns())


def _cpu_ns(worker):
    """Of a worker all threads; in the main process others may be at work."""
    return time.process_time_ns() if worker >= 0 else time.thread_time_ns()


def is_iterable(iterator):
    from torch.utils.data.dataloader import _DatasetKind
    return iterator._dataset_kind == _DatasetKind.Iterable


def count(indices):
    """Of samples.  A name is one, however long."""
    if isinstance(indices, (str, bytes)):
        return 1
    try:
        return len(indices)
    except TypeError:
        return 1


class Start:
    """What a worker does first, in the place of the loader's worker_init_fn."""

    def __init__(self, init, loader, is_iterable, is_live):
        self.init, self.loader, self.is_iterable = init, loader, is_iterable
        self.is_live = is_live

    def __call__(self, worker):
        from torch.utils.data.dataloader import _DatasetKind
        plain, loader = _DatasetKind.create_fetcher, self.loader
        is_iterable, is_live = self.is_iterable, self.is_live
        journal.put(_journal.HELLO, loader, _journal.ROLE_WORKER, os.getpid(), os.getppid(),
                    worker, 0, time.monotonic_ns())

        def create(*how):
            return Meter(lambda: plain(*how), loader, worker, is_iterable, is_live)

        _DatasetKind.create_fetcher = staticmethod(create)
        if self.init is not None:
            self.init(worker)
