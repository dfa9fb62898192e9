# SPDX-License-Identifier: Apache-2.0
"""A training loader that follows a schedule: what it delivers in each block, and
how.  Runs in the main process of a job that is profiled.

A block begins with nothing in work and ends so: no batch of one is made in another,
and files can be brought into memory or out of it between them.  An epoch never has
more batches than it would have had.
"""

import collections
import itertools
import time

import torch

from torch.utils.data import _utils

from . import _job, _journal, _leave, _meter, _pages, _private, _ready, _replay, _schedule, _set
from ._journal import journal

_ARRANGED = {_schedule.CACHED, _schedule.COLD, _schedule.RAW_COLD, _schedule.RAW_CACHED,
             _schedule.ALONE, _schedule.REPLAY_BUSY}    # whose files are brought into a state
_READ_MOST = 0.5        # of a data set, just now: the rest says little
_MADE_S = 30            # is the longest wait for one more batch to be made
_READY = 6              # batches that are there are timed, or two at the least
_READY_S = 0.5          # and as many more as find a place in this time; only one,
_SLOW_S = 5             # if it was there so late
_LOOK_S = 0.002
_STEP_S = 0.01          # in the place of the job's step, after which caches have other things
around_ns = 0           # what PyTorch does around a batch, for the last one: it is handed over, too


def _is_received(iterator, number):
    """It came before its turn, and was received for another's: whoever takes it now does not pay
    for it."""
    return len(iterator._task_info.get(number, ())) > 1


def _to_come(iterator):
    """Batches that are in work, or made and not received yet."""
    return sum(len(known) == 1 for known in iterator._task_info.values())


def _is_enough(nr, seconds):
    """Of batches that were timed, since it began."""
    return nr >= _READY or nr >= 2 and seconds > _READY_S or nr >= 1 and seconds > _SLOW_S


class Steer:
    def __init__(self, schedule, iterator, loader, number):
        self.schedule, self.loader, self.number = schedule, loader, number
        self.workers = iterator._num_workers
        self.is_iterable = _meter.is_iterable(iterator)
        self.fresh = iterator._sampler_iter     # the loader's own
        self.sampler = iterator._index_sampler
        self.tickets = collections.deque()      # that may be sent now
        self.set = _set.Set()                   # of samples
        self.before = self._given(iterator)     # batches of this epoch, and in work
        self.ring = _replay.Ring(self._pin(iterator))
        self.block = None                       # that is under way
        self.at = 0                             # the number of the next
        self.done = 0                           # batches of this block that were delivered
        self.busy = None                        # what workers make meanwhile
        self.drawn = ()                         # for the block that begins
        self.ready = None                       # of the iterator that was taken last
        self.arranged = 0, 0                    # when, and bytes from storage until then
        self._deliver = {
            _schedule.ACTUAL: self._next_made, _schedule.CACHED: self._next_made,
            _schedule.COLD: self._next_made, _schedule.REPLAY: self._next_replayed,
            _schedule.REPLAY_BUSY: self._next_busy}
        self._begin_by = {
            _schedule.SET: self._choose, _schedule.ACTUAL: self._begin_actual,
            _schedule.CACHED: self._begin_set, _schedule.COLD: self._begin_set,
            _schedule.RAW_COLD: self._read_alone, _schedule.RAW_CACHED: self._read_alone,
            _schedule.ALONE: self._make_alone, _schedule.REPLAY: self._begin_nothing,
            _schedule.REPLAY_BUSY: self._begin_busy}

    @staticmethod
    def _given(iterator):
        return iterator._send_idx if iterator._num_workers else iterator._num_yielded

    @staticmethod
    def _pin(iterator):
        if not iterator._pin_memory:
            return None
        return lambda batch: _utils.pin_memory.pin_memory(batch, iterator._pin_memory_device)

    # --- in the place of a sampler's iterator ---

    def take(self, iterator):
        """The iterator gets its index lists from here; what is in work comes first."""
        self.fresh, self.sampler = iterator._sampler_iter, iterator._index_sampler
        self.ready = _ready.Ready(iterator)
        iterator._sampler_iter = self

    def __iter__(self):
        return self

    def __next__(self):
        if not self.tickets:
            raise StopIteration
        return self.tickets.popleft()

    def may_send(self):
        return bool(self.tickets)

    # --- the machinery of PyTorch ---

    def in_work(self, iterator):
        return iterator._send_idx - iterator._rcvd_idx if self.workers else len(self.tickets)

    def _send(self, iterator):
        """As many as the loader has ahead."""
        if self.workers:
            room = iterator._prefetch_factor * self.workers - self.in_work(iterator)
            for _ in range(min(room, len(self.tickets))):
                iterator._try_put_index()

    # --- blocks ---

    def next(self, plain, iterator, batches_left):
        """(a batch, its samples, its block, its number there); batches_left: of the epoch, or
        None."""
        while True:
            if journal.why_broken is not None:
                _leave.leave_untold()
            if self.schedule.leave == _schedule.ASKED:
                self.leave(_journal.LEFT_ASKED)
            if self.block is None:
                if self.in_work(iterator) > 0:
                    return plain(iterator), 0, _journal.NO_BLOCK, 0
                if not self._begin(plain, iterator, batches_left):
                    return None
                continue
            if self.done < self.block.batches:
                batch, samples = self._deliver[self.block.kind](plain, iterator)
                self.done += 1
                return batch, samples, self.block.number, self.done - 1
            self._end(plain, iterator)

    def _begin(self, plain, iterator, batches_left):
        """False: the epoch is to end."""
        block = self.schedule.block(self.at)
        if block is None:
            self.leave(_journal.LEFT_ASKED)
        if block.kind == _schedule.END:
            if self.schedule.continues:
                return False
            self.leave(_journal.LEFT_END)
        if not self._has_room(block, batches_left):
            if self.schedule.passes_epochs:
                return False
            self.leave(_journal.LEFT_EPOCH)
        self.at += 1
        self.block, self.done = block, 0
        self._synchronize()
        self._begin_by.get(block.kind, self._begin_nothing)(plain, iterator)
        if block.kind not in _schedule.DELIVERS:
            self._end(plain, iterator)
        return True

    def _has_room(self, block, batches_left):
        """In this epoch."""
        if block.kind in _schedule.DELIVERS and batches_left is not None and \
                block.batches > batches_left:
            return False
        if block.kind != _schedule.ACTUAL:
            return True
        self.drawn = self._draw(block.batches)  # there are fewer than are left: the set has some
        if len(self.drawn) == block.batches:
            return True
        self.fresh = iter(self.drawn)
        return False

    def undelivered(self):
        """Index lists that the epoch would still have had, and maybe more."""
        return itertools.chain(self.fresh, self.set.lists)

    def stop(self):
        """An iterable dataset has come to its end, which nobody knew before."""
        if not self.schedule.passes_epochs:
            self.leave(_journal.LEFT_EPOCH)
        if self.block is not None:
            self.tickets.clear()
            self._tell_end(time.monotonic_ns())

    def _start_clock(self):
        journal.put(_journal.BLOCK, self.number, self.block.number, self.block.kind,
                    time.monotonic_ns(), time.process_time_ns())

    def _end(self, plain, iterator):
        self._synchronize()
        end = time.monotonic_ns()
        if self.block.kind == _schedule.REPLAY_BUSY:
            self._time_handing_over(plain, iterator)
            self.busy = None
        if self.block.kind in _ARRANGED:
            self._tell_storage(end)
            self._tell_pages(1, self.set.count(self.block.batches))
        self._tell_end(end)

    def _tell_end(self, end):
        journal.put(_journal.BLOCK_END, self.number, self.block.number, self.block.kind, end,
                    self.done, 0, torch.cuda.is_initialized())
        self.block = None

    @staticmethod
    def _synchronize():
        """At the borders of blocks only, and of a device that the program uses."""
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()

    # --- the set of samples ---

    def _draw(self, count):
        """Fresh ones, as long as there are any: the set has taken some of the epoch's."""
        lists = list(itertools.islice(self.fresh, count))
        if len(lists) < count:
            self.fresh = iter(self.sampler)
            lists += itertools.islice(self.fresh, count - len(lists))
        return lists

    def _ticket(self, kind, i):
        """Of the set."""
        ticket = _meter.Ticket(kind, self.block.number, self.set.lists[i])
        ticket.files = self.set.files[i] if kind == _meter.READ else ()
        return ticket

    def set_tickets(self, count, kind=_meter.MAKE):
        tickets = [self._ticket(kind, i % len(self.set)) for i in range(count)]
        for ticket in tickets[:max(self.workers, 1)]:
            ticket.is_again = True
        return tickets

    def _choose(self, plain, iterator):
        """Fresh batches: the files that they open are noted, and are in memory after it."""
        self.set = _set.Set(self._draw(self.block.batches))
        if not self.set.lists:
            self.leave(_journal.LEFT_EPOCH)
        self.tickets.extend(self.set_tickets(len(self.set)))
        for ticket in self.tickets:
            ticket.is_traced = ticket.wants_files = True
        self._start_clock()
        for i, indices in enumerate(self.set.lists):
            made = self._pull(plain, iterator)
            self.set.note(i, made)
            self.ring.add(made.batch, _meter.count(indices))
        self._tell_set()
        self._tell_beside()

    def _tell_beside(self):
        """Where some of the files are in memory, a few hundred fresh samples say too little of how
        many are: others of the same folders say more."""
        if not self.set.was_there_in_part:
            return
        beside = _pages.count_beside(self.set.files_of(len(self.set)))
        # What was loaded before it, and by other ranks, is in memory for that, and does not come
        # again.
        ranks, samples = _job.ranks(), self.set.samples
        read = ranks * self.before * samples // len(self.set) + (ranks - 1) * samples
        if read <= _READ_MOST * beside.listed:
            journal.put(_journal.BESIDE, self.number, *beside.without(read), 0)

    def _tell_set(self):
        journal.put(_journal.SET, self.number, len(self.set), self.set.samples,
                    sum(map(len, self.set.files)), self.set.bytes, self.set.unknown,
                    text=self.set.folder())
        if self.set.is_cut:
            journal.note("a batch opens more files than could be noted: some are left out")
        if self.ring.why_same is not None:
            journal.note("replayed batches are copies, for they cannot be taken apart: %s",
                         self.ring.why_same)

    def _arrange(self, is_cold):
        """Before a block: its files in memory, or out of it."""
        batches = self.block.batches
        if is_cold:
            self.set.evict(batches)
        elif self.set.count(batches).is_missing:
            self.set.bring_in(batches)
        self._tell_pages(0, self.set.count(batches))
        self.arranged = time.monotonic_ns(), _meter.storage_bytes()

    def _tell_storage(self, end):
        """Of samples that are made here; workers tell it by themselves."""
        if self.workers == 0:
            begin, before = self.arranged
            journal.put(_journal.STORAGE, self.number, self.block.number,
                        _meter.storage_bytes() - before, begin, end)

    def _tell_pages(self, when, counted):
        journal.put(_journal.PAGES, self.number, self.block.number, when, counted.pages,
                    counted.resident, counted.untold)

    # --- batches from the loader ---

    def _pull(self, plain, iterator):
        self._send(iterator)
        return plain(iterator)

    def _begin_nothing(self, plain, iterator):
        self._start_clock()

    def _begin_actual(self, plain, iterator):
        lists, self.drawn = self.drawn, ()
        for indices in lists:
            ticket = _meter.Ticket(_meter.MAKE, self.block.number, indices)
            ticket.is_fresh, ticket.is_traced = True, not self.set.was_there
            self.tickets.append(ticket)
        if self.set.was_there:
            self._tell_pages(0, self.set.found)
        self.counts = collections.deque(map(_meter.count, lists))
        self._start_clock()
        self._send(iterator)

    def _begin_set(self, plain, iterator):
        self._arrange(self.block.kind == _schedule.COLD)
        tickets = self.set_tickets(self.block.batches)
        self.tickets.extend(tickets)
        self.counts = collections.deque(_meter.count(t.indices) for t in tickets)
        self._start_clock()
        self._send(iterator)

    def _next_made(self, plain, iterator):
        return plain(iterator), self.counts.popleft()

    # --- without the loader ---

    def _next_replayed(self, plain, iterator):
        return self.ring.next(self.workers == 0)

    # --- without it, while it works ---

    def _begin_busy(self, plain, iterator):
        self._arrange(False)
        self.busy = itertools.cycle(range(len(self.set)))
        self._refill(iterator)
        self._start_clock()

    def _refill(self, iterator):
        if self.workers:
            self._stock()
            self._send(iterator)

    def _stock(self):
        """So that there is one to send for each that is taken."""
        while len(self.tickets) < self.workers:
            self.tickets.append(self._ticket(_meter.MAKE, next(self.busy)))

    def _next_busy(self, plain, iterator):
        """Batches that are there are taken, as the job would, and thrown away."""
        if self.ready.is_there(iterator):
            self._refill(iterator)
            plain(iterator)
        return self.ring.next(self.workers == 0)

    # --- handing over ---

    def _time_handing_over(self, plain, iterator):
        """Behind a block with busy workers: how long taking a batch takes that is there, and
        letting go of it, when nobody has anything else to do.  As in a job one more is asked for
        each time: workers that had nothing to do since would be quick to answer.  What is waited
        for beside that is prep."""
        self._refill(iterator)
        since, nr, took_s = time.monotonic(), 0, None
        while not _is_enough(nr, time.monotonic() - since) and self._await_made(iterator):
            self._stock()
            if nr == 0 and _is_received(iterator, iterator._rcvd_idx):
                plain(iterator)
                continue
            # What is made is sent by a thread, which takes about as long as receiving it: how long
            # that is, the first one shows.
            time.sleep(max(_STEP_S, took_s or 0))
            times, received = self._time_one_ready(plain, iterator)
            if took_s is not None:
                nr += 1
                journal.put(_journal.READY, self.number, self.block.number, *times, received)
            took_s = (times[1] - times[0]) / 1e9
        if nr == 0:
            journal.note("handing over was not timed: for %d s no worker had made a batch", _MADE_S)
        self.tickets.clear()
        while self.in_work(iterator) > 0:
            plain(iterator)

    def _time_one_ready(self, plain, iterator):
        """Its begin and end, and how many batches were received."""
        sent, to_come, begin = iterator._send_idx, _to_come(iterator), time.monotonic_ns()
        plain(iterator)
        end = time.monotonic_ns()
        received = to_come + iterator._send_idx - sent - _to_come(iterator)
        return (begin - around_ns, end), received

    def _await_made(self, iterator):
        """All that were asked for; False: the next one takes too long.  Some that came before
        their turn have been received already."""
        came, since = 0, time.monotonic()
        while (there := iterator._data_queue.qsize()) < _to_come(iterator):
            if there > came:
                came, since = there, time.monotonic()
            elif time.monotonic() - since > _MADE_S:
                return False
            time.sleep(_LOOK_S)
        return True

    # --- without the job ---

    def _read_alone(self, plain, iterator):
        """By as many readers as the loader has."""
        self._arrange(self.block.kind == _schedule.RAW_COLD)
        count = min(self.block.batches, len(self.set))
        self.tickets.extend(self.set_tickets(count, _meter.READ))
        samples = sum(_meter.count(t.indices) for t in self.tickets)
        begin = time.monotonic_ns()
        total = sum(self._pull(plain, iterator).bytes for _ in range(count))
        journal.put(_journal.READ, self.number, self.block.number, begin, time.monotonic_ns(),
                    sum(map(len, self.set.files[:count])), total, samples, max(self.workers, 1))

    def _make_alone(self, plain, iterator):
        """The first batch of each worker is before the clock."""
        self._arrange(False)
        if self.block.workers not in (0, self.workers):
            if not self.is_iterable:
                _private.run(self, self.block)
            return
        self.tickets.extend(self.set_tickets(self.block.batches))
        counts = [_meter.count(t.indices) for t in self.tickets]
        ahead = iterator._prefetch_factor * self.workers if self.workers else 0
        self.time_alone(lambda: self._pull(plain, iterator), counts, self.workers, ahead)

    def time_alone(self, pull, counts, workers, ahead):
        """As in analyzer/measure.h: to the last batch before which workers had all of the work
        that they may have ahead."""
        first, end = max(workers, 1), len(counts)
        if end >= 2 * workers + ahead:
            end -= ahead
        for _ in counts[:first]:
            pull()
        begin, used = time.monotonic_ns(), time.process_time_ns()
        for _ in counts[first:end]:
            pull()
        journal.put(_journal.ALONE, self.number, self.block.number, begin, time.monotonic_ns(),
                    sum(counts[first:end]), workers, time.process_time_ns() - used, end - first)
        for _ in counts[end:]:
            pull()

    # --- the end ---

    def leave(self, why):
        _leave.leave(self.schedule, why)
