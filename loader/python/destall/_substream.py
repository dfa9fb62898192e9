# SPDX-License-Identifier: Apache-2.0
"""The part of an iterable dataset that one worker of a loader iterates, made for its
job and for the workers of other jobs that have the same part.

Round r of it is its r-th batch.  It can only be made in order, so one worker of
all jobs makes them, the one that was first; another takes over if that one dies,
from its own beginning, and throws away what others have.  What was made and its
own job has not had yet is kept: the hub may be gone before the job has it.

Who is given rounds that others made does not iterate its dataset.  So a dataset that
is changed by that, and is there in the next epoch, too, is iterated by each job.
"""

import hashlib
import time

from torch._utils import ExceptionWrapper
from torch.utils.data import get_worker_info

from . import _lib, _payload, _seeds, _watch, _worker
from ._worker import CHANCE, FEEDS_ALL, Desk, Pass

END = "destall: the end of a sub-stream"        # as a unit, and as what comes of a round
RESCUE = "rescue"       # a ticket to make what does not come, whatever it takes
STOP = "stop"           # a ticket that ends the worker's part
_CHANGING = "the dataset is changed by being iterated"
_RACES = 50             # that a lease may be lost to one who looks only
_RACE_MS = 2


class Ticket:
    """For the next round of whichever worker gets it, or for one that is named."""

    worker = round = None
    lives_on = False        # the dataset is there in the next epoch, too

    def __init__(self, of, workers, kind, indices, had, feeds, root):
        self.of, self.workers, self.kind, self.indices = of, workers, kind, indices
        self.had = had          # rounds of each worker that its job has had
        self.feeds = feeds      # of each worker, what it may make for others,
        self.root = root        # and what those units are marked with


class Token:
    """That round is to be had from the stage; `mark` is of the state that it began with."""

    def __init__(self, worker, number, mark, maker):
        self.worker, self.round, self.mark = worker, number, mark
        self.make_s, self.cpu_s = maker.make_s, maker.cpu_s
        self.has_made, self.refusal = maker.has_made, maker.refusal


class Made:
    """A round, made for this job, or END."""

    def __init__(self, worker, number, batch):
        self.worker, self.round, self.batch = worker, number, batch


class Raised(ExceptionWrapper):
    """In the main process, where an exception need not be wrapped up."""

    def __init__(self, error):
        self.error = error

    def reraise(self):
        raise self.error


def is_end(batch):
    return isinstance(batch, str) and batch == END


def mark_of(state, number):
    """64 bits of what a unit is made of."""
    h = hashlib.blake2b(("%s %d" % (state, number)).encode(), digest_size=8)
    return int.from_bytes(h.digest(), "little")


def pass_of(of, worker, workers):
    """That of one sub-stream."""
    stream = "%s.%dof%d" % (of.options["stream"], worker, workers)
    return Pass(of.job, {**of.options, "stream": stream}, of.epoch, of.seed, of.at)


class SubStream:
    """make_fetcher() begins to iterate the dataset."""

    def __init__(self, make_fetcher, sources, find_state, version):
        self.make_fetcher, self.sources, self.find_state = make_fetcher, sources, find_state
        self.desk = Desk(version)
        self.key = None
        self.make_s, self.cpu_s, self.has_made, self.refusal = 0.0, 0.0, False, None
        self.guard = _worker.always     # may it make for others now?
        self.is_changing = False        # by being iterated
        self.look_s = 0.0               # that it takes to see that

    # --- an epoch ---

    def begin_again(self):
        """Another iteration, perhaps of an epoch that was left before its end."""
        self.key = None

    def fetch(self, ticket):
        if ticket.kind == STOP:
            raise StopIteration
        if ticket.of.key != self.key:
            self._begin(ticket)
        number = ticket.round
        if number is None:
            number, self.next_round = self.next_round, self.next_round + 1
        for r in [r for r in self.kept if r < ticket.had[self.worker]]:
            del self.kept[r]
        if ticket.kind in (CHANCE, RESCUE) and self._can_share(ticket):
            self._feed(ticket)
            return Token(self.worker, number, self.state, self)
        return self._own(ticket, number)

    def _begin(self, ticket):
        info = get_worker_info()
        self.key = ticket.of.key
        self.worker = info.id if info is not None else 0
        self.of = pass_of(ticket.of, self.worker, ticket.workers)
        self.next_round = self.made = 0         # rounds that were asked for, and made
        self.kept = {}
        self.is_over = False
        self.is_maker = None                    # None: not known yet
        self.lives_on = ticket.lives_on
        self.state, self.refusal = None, _CHANGING if self.is_changing else None
        try:
            self.state = self._look()
        except Exception as e:                  # of the program's own objects, too
            self.refusal = "%s: %s" % (type(e).__name__, e)
        self.sources.seed(_seeds.derive(_seeds.WORKER, self.of.seed, self.of.epoch,
                                        self.worker, ticket.workers))
        self.fetcher = None                     # made with the first round: it may raise

    def _can_share(self, ticket):
        return self.refusal is None and self.desk.attach(self.of)

    # --- rounds ---

    def _advance(self, indices):
        """Makes one round more: a batch, what was raised, or END."""
        since, used = time.monotonic(), time.process_time()
        try:
            if self.fetcher is None:
                self.fetcher = self.make_fetcher()
            batch = self.fetcher.fetch(indices)
        except StopIteration:
            batch, self.is_over = END, True
        except Exception as e:
            batch = Raised(e) if get_worker_info() is None else \
                ExceptionWrapper(where="in DataLoader worker process %d" % self.worker)
        self.make_s, self.cpu_s = time.monotonic() - since, time.process_time() - used
        self.made += 1
        self._see_change()
        return batch

    def _look(self):
        since = time.thread_time()
        try:
            return self.find_state()
        finally:
            self.look_s = time.thread_time() - since

    def _see_change(self):
        """At the beginning, at the end, and in between where that does not take long."""
        is_due = self.made == 1 or self.is_over or \
            _watch.is_cheap(self.look_s, self.make_s)
        if not self.lives_on or self.refusal is not None or not is_due:
            return
        try:
            self.is_changing = self._look() != self.state
        except Exception:
            self.is_changing = True
        if self.is_changing:
            self.refusal = _CHANGING

    def _own(self, ticket, number):
        self._replay(ticket, number + 1)
        return Made(self.worker, number, self.kept.get(number, END))

    # --- for others ---

    def _feed(self, ticket):
        """At most one unit, of the one who makes them."""
        self.has_made = False
        feeds = ticket.feeds[self.worker]
        if feeds is None or self.is_over or not self.guard(self.make_s) or \
                self.is_maker is False and ticket.kind != RESCUE:
            return
        for _ in range(_RACES):
            lease = self.desk.lease()
            if lease is None:
                return
            if ticket.kind == RESCUE and self.made < lease.unit:
                self._replay(ticket, lease.unit)
            if self._make_leased(ticket, feeds, lease):
                self.is_maker = True
                return
            self.desk.at.give_up(lease, _lib.GIVE_UP_LATER)
            if not self.is_maker:
                break
            time.sleep(_RACE_MS / 1000)         # somebody else looks at what is ours
        self.is_maker = False

    def _make_leased(self, ticket, feeds, lease):
        """False: it is not the next one here."""
        if lease.unit in self.kept:
            self._publish(ticket, lease, self.kept[lease.unit])
        elif self.made == lease.unit and (feeds == FEEDS_ALL or lease.unit == 0):
            self._publish(ticket, lease, self._advance(ticket.indices))
        else:
            return False
        return True

    def _replay(self, ticket, number):
        """Makes what comes before that round; what the job has not had yet it may ask for still."""
        while self.made < number and not self.is_over:
            batch = self._advance(ticket.indices)
            if self.made > ticket.had[self.worker]:
                self.kept[self.made - 1] = batch

    def _publish(self, ticket, lease, batch):
        number = lease.unit
        self.kept[number] = batch
        if isinstance(batch, ExceptionWrapper) or self.refusal is not None:
            self.desk.at.give_up(lease, _lib.GIVE_UP_ALONE)
            return
        try:
            packed = _payload.Packed(batch)
            self.desk.at.room(lease, packed.size)
            packed.write(lease.bytes, ticket.root)
            self.desk.at.publish(lease, packed.size, mark_of(self.state, number))
            self.has_made = True
        except _payload.NotShareable as e:
            self.refusal = str(e)
            self.desk.at.give_up(lease, _lib.GIVE_UP_ALONE)
        except _lib.Failed:
            pass                # no room now: whoever needs it makes it
