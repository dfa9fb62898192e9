# SPDX-License-Identifier: Apache-2.0
"""A loader that shares, in the main process of its job: what its stream is, its
epochs, and the batches that it takes from the stage.

Nothing here fails a job.  What the stage does not give is made by the job's own
workers, with the same bytes, from exactly there.
"""

import collections
import os
import threading
import time
import weakref

import torch

from . import _lib, _order, _payload, _same, _seeds, _state, _worker
from ._say import say
from ._version import VERSION

_SLICE_MS = 50          # of a wait: then signals are looked at
_PATIENCE_S = 0.2       # before a worker is asked once more,
_PATIENCE_TIMES = 4     # and as many times as making a batch takes;
_PATIENCE_NEW_S = 0.05  # of one that is not proven, before it makes it for itself
_NEAR = 2               # batches that each ticket tells of, beside its own, for each worker
_TRIES = 2              # to have it made for all, before it is made for this job alone

first_seed = None       # torch.initial_seed() before the program could set one


def _audit_share():
    try:
        return float(os.environ.get("DESTALL_AUDIT") or 0)
    except ValueError:
        return 0.0


def _explicit_seed(order):
    if os.environ.get("DESTALL_SEED") == "share":
        return None
    if order.seed is not None:
        return order.seed
    seed = torch.initial_seed()
    return seed if seed != first_seed else None


class Stream:
    """The stage of one stream, until nothing of it is used any more: batches outlive epochs."""

    def __init__(self, job, options):
        self.options = options
        self._uses = 1
        self._lock = threading.RLock()  # a finalizer may run while it is held
        self._hub = _lib.Hub(job)
        try:
            self.stage = _lib.Stage(self._hub, options)
        except _lib.Failed:
            self._hub.close()
            raise

    def open(self, epoch, at):
        return _lib.Pass(self.stage, epoch, at)

    def take_over(self, taken):
        """The batch; its slot is released when nothing of it is used any more."""
        with self._lock:
            self._uses += 1
        return _payload.unpack(taken.bytes, taken.len, lambda: self._release(taken))

    def _release(self, taken):
        self.stage.release(taken)
        self.drop()

    def drop(self):
        with self._lock:
            self._uses -= 1
            is_last = self._uses == 0
        if is_last:
            self.stage.close()
            self._hub.close()


class Shared:
    """One DataLoader, for as long as it lives."""

    def __init__(self, loader, number, job):
        self.loader = weakref.proxy(loader)
        self.number, self.job = number, job
        self.order = _order.Order(loader)
        self.ended = 0                  # epochs that were run to their end
        self.last_epoch = self.last_set = None
        self.alone = None               # why, for good
        self.said = None
        self.counts = {"batches": 0, "taken": 0, "own": 0, "of_others": 0, "compared": 0}
        self.mark = None                # of what it would deliver now
        self.proven_mark = None         # of the stream of which it has proved a unit
        self.make_s = 0.0

    def is_audited(self, epoch, unit):
        share = _audit_share()
        return share > 0 and _seeds.derive(b"audit", epoch, unit) % 2**32 < share * 2**32

    @property
    def name(self):
        return "loader %d (%s)" % (self.number, type(self.loader.dataset).__name__)

    def tell(self, text):
        if text != self.said:
            self.said = text
            say("%s: %s", self.name, text)

    # --- the stream ---

    def look(self):
        """At what its samples depend on now.  Why it cannot be told, or None."""
        self.mark = None
        try:
            self.mark = self._find_mark()
        except _state.Opaque as e:
            return "%s, and may not be the same in other jobs; DESTALL_TRUST=1 shares it on your " \
                "word" % e
        except Exception as e:          # of the program's own objects
            return "what it depends on cannot be told: %s: %s" % (type(e).__name__, e)
        return None

    def _find_mark(self):
        state = _state.State()
        loader = self.loader
        try:
            for name in ("dataset", "collate_fn", "worker_init_fn"):
                state.add(name, getattr(loader, name))
            for name, value in self.order.parts():
                state.add(name, value)
        except _state.Opaque:
            if os.environ.get("DESTALL_TRUST") != "1":
                raise
        state.add("torch", torch.__version__)
        state.add("batch_size", loader.batch_size)
        state.add("drop_last", loader.drop_last)
        return state.digest()

    def epoch(self):
        """The number of the epoch that begins now: what set_epoch() says, as long as it is
        called; else how many were run to their end."""
        now = self.order.set_epoch
        if now is None or (self.last_epoch is not None and self.ended > 0 and
                           now == self.last_set):
            number = self.ended if now is None else self.last_epoch + 1
        else:
            number = now
        self.last_set = now
        return number

    def options(self, total):
        seed = _explicit_seed(self.order)
        return {"stream": self.mark or "", "seed": "hub" if seed is None else seed % 2**64,
                "samples": total, "unit": 1,
                "order": "random" if self.order.is_random else "listed",
                "makers": max(self.loader.num_workers, 1), "ahead": self.ahead}

    @property
    def ahead(self):
        """Batches that a plain loader would have in work."""
        return max(self.loader.num_workers, 1) * (self.loader.prefetch_factor or 2)


class Epoch:
    """One iteration of a loader, from its first ticket on."""

    def __init__(self, shared):
        self.shared = shared
        self.stream = self.at = None
        self.is_member = False
        self.drawn = iter(())
        self.lists, self.firsts = [], [0]       # of batches, and where they begin
        self.sent = collections.deque()         # (ticket, whether it may come from the stage)
        self.has_taken = False
        self.tries, self.since = 0, None        # to have the next one
        self.staged = None                      # what is compared with the one that comes
        self.mark = None

    # --- beginning ---

    def tickets(self):
        """For each batch, in the order of delivery."""
        shared = self.shared
        why = shared.look() if shared.mark is None else None
        number = shared.last_epoch = shared.epoch()
        total = _length(shared.loader._index_sampler)
        self._open(number, total, why)
        self.mark, shared.mark = shared.mark, None      # the next epoch looks again
        self.drawn = shared.order.draw(self.of.seed, number)
        shared.order.advance()
        for unit, is_shared in self._sequence(self._begin(total), total):
            if not self._has(unit):
                return
            ticket = self._ticket(unit, own=not is_shared)
            self.sent.append((ticket, is_shared))
            yield ticket

    def _open(self, number, total, why):
        """The pass, if it can be had; else the job goes on with a seed of its own."""
        shared = self.shared
        options = shared.options(total)
        at = _lib.ANY if shared.order.is_random else 0
        try:
            if why is not None:
                raise _lib.Failed(0, why)
            self.stream = Stream(shared.job, options)
            self.at = self.stream.open(number, at)
            seed = self.at.info.seed
        except _lib.Failed as e:
            shared.tell("alone: %s" % e.strerror)
            self.close()
            seed = first_seed if options["seed"] == "hub" else options["seed"]
        self.of = _worker.Pass(shared.job, options, number, seed, at)

    def _begin(self, total):
        """The unit where it begins; None: alone."""
        if self.at is None:
            return None
        try:
            start = self.at.begin(self.of.at, total)
        except _lib.Failed as e:
            self.shared.tell("alone: %s" % e.strerror)
            return None
        self.is_member = start is not None
        if self.is_member:
            self._tell_shared()
            self._look_around()
        return start

    @property
    def is_proven(self):
        """It makes what the others make.  Before that it makes nothing for them, so that all who
        do have proved it, each to one that had."""
        return self.shared.proven_mark == self.mark

    def _look_around(self):
        """Who is alone is the one that others compare with."""
        if self.at.jobs <= 1:
            self.shared.proven_mark = self.mark

    def _tell_shared(self):
        others = self.at.jobs - 1
        self.shared.tell("ready to share: no other job of its stream yet" if others <= 0 else
                         "shared with %d other job%s" % (others, "s" * (others > 1)))

    def _sequence(self, start, total):
        """(unit, whether it may be had from the stage), in the order of delivery: who joins
        late takes the rest first, then makes what it missed; a short last one stays last."""
        if not start:
            for unit in range(total):
                if start is None and self._catches_up(unit, total):
                    start = 0
                yield unit, start == 0
            return
        last = total - (1 if self._is_short(total - 1) else 0)
        for unit in range(start, last):
            yield unit, True
        for unit in (*range(start), *range(last, total)):
            yield unit, False

    def _catches_up(self, unit, total):
        """One that is behind the others makes units by itself, until it is where they are."""
        if self.at is None or self.of.at == _lib.ANY:
            return False
        try:
            self.is_member = self.at.begin(unit, total) is not None
        except _lib.Failed:
            self.close()
        return self.is_member

    def _is_short(self, unit):
        return self._has(unit) and len(self.lists[unit]) < len(self.lists[0])

    # --- the order ---

    def _has(self, unit):
        """Draws so far; False: the epoch has ended before."""
        while len(self.lists) <= unit:
            try:
                indices = next(self.drawn)
            except StopIteration:
                return False
            self.lists.append(indices)
            count = len(indices) if self.shared.loader._auto_collation else 1
            self.firsts.append(self.firsts[-1] + count)
        return True

    def _ticket(self, unit, own=False, proves=False):
        near = {}
        if self.is_member and (not own or proves):
            ahead = self.shared.ahead
            if self.shared.order.is_pure:
                self._has(unit + ahead)
            near = {u: (self.firsts[u], self.lists[u])
                    for u in range(max(unit - ahead, 0), min(unit + ahead + 1, len(self.lists)))
                    if u != unit}
        return _worker.Ticket(self.of, unit, self.firsts[unit], self.lists[unit], near, own,
                              proves, self.is_member and self.is_proven)

    # --- taking ---

    def resolve(self, data):
        """(what came for the next batch, or a ticket to send once more)"""
        ticket, is_shared = self.sent[0]
        if not is_shared and self.is_member and self.has_taken:
            self.is_member = False      # the rest is what it missed
            self.at.end()
        if type(data) is _worker.Token:
            self.shared.make_s = max(data.make_s, self.shared.make_s * 0.9)
            data, again = self._take(ticket)
            if again is not None:
                return None, again
        elif self.staged is not None:
            data = self._compare(data)
        else:
            self._count_own(ticket, is_shared)
        self.has_taken = self.has_taken or is_shared
        self.sent.popleft()
        if self.at is not None:
            self.at.delivered(1)
        self.tries, self.since = 0, None
        self.shared.counts["batches"] += 1
        return data, None

    def _count_own(self, ticket, is_shared):
        self.shared.counts["own"] += 1
        if is_shared and self.is_member:
            self.at.skip(ticket.unit)

    def _take(self, ticket):
        if self.since is None:
            self.since = time.monotonic()
        while self.is_member:
            try:
                rc, taken = self.at.take(ticket.unit, _SLICE_MS)
            except _lib.Failed as e:
                self.leave("alone: %s" % e.strerror)
                break
            if rc == _lib.TAKEN:
                return self._accept(ticket, taken)
            if rc == _lib.TAKE_DETACHED:
                self.leave("alone until its next epoch: it was too slow for the others")
            elif rc == _lib.TAKE_SELF:
                break
            elif time.monotonic() - self.since > self._patience():
                return None, self._ask_again(ticket)
        return None, self._ticket(ticket.unit, own=True)

    def _ask_again(self, ticket):
        """A worker of ours may make it for all; one of a job that is not proven only for us."""
        self._look_around()
        self.tries += 1
        self.since = time.monotonic()
        return self._ticket(ticket.unit, own=self.tries > _TRIES or not self.is_proven)

    def _patience(self):
        if not self.is_proven:
            self._look_around()
        return _PATIENCE_S + _PATIENCE_TIMES * self.shared.make_s if self.is_proven else \
            _PATIENCE_NEW_S

    def _accept(self, ticket, taken):
        """Of this job's own order, and proven; else it is made here."""
        shared = self.shared
        if taken.hash != _order.mark_of(ticket.indices):
            self.stream.stage.release(taken)
            self.leave("alone: unit %d of epoch %d is not of the samples that this job has there"
                       % (ticket.unit, self.of.epoch), for_good=True)
            return None, self._ticket(ticket.unit, own=True)
        batch = self.stream.take_over(taken)
        shared.counts["taken"] += 1
        shared.counts["of_others"] += not taken.is_own
        if taken.is_own or (self.is_proven and
                            not shared.is_audited(self.of.epoch, ticket.unit)):
            return batch, None
        self.staged = batch
        return None, self._ticket(ticket.unit, own=True, proves=True)

    def _compare(self, data):
        staged, self.staged = self.staged, None
        difference = _same.find_difference(staged, data)
        self.shared.counts["compared"] += 1
        if difference is None:
            self.shared.proven_mark = self.mark
        else:
            self.leave("alone: what another job made is not what this job makes: %s" % difference,
                       for_good=True)
        return data

    # --- ending ---

    def leave(self, why, for_good=False):
        self.shared.tell(why)
        if for_good:
            self.shared.alone = why
        if self.is_member:
            self.is_member = False
            self.at.end()

    def finish(self):
        """The job has had all of it."""
        self.shared.ended += 1
        self.close()

    def close(self):
        self.is_member = False
        at, stream, self.at, self.stream = self.at, self.stream, None, None
        if at is not None:
            at.close()
        if stream is not None:
            stream.drop()


def _length(sampler):
    try:
        return len(sampler)
    except TypeError:
        return 2**40            # it does not say: until it ends
