# SPDX-License-Identifier: Apache-2.0
"""One epoch of a loader with an iterable dataset.  Runs in the main process of a
job.

Each worker iterates a part of it (_substream.py), and PyTorch delivers one batch
of each part by turns.  So each part is a stream of its own at the stage, with a
unit for each round, and a last one that tells of its end.
"""

import time

from torch._utils import ExceptionWrapper

from . import _gather, _lib, _make, _place, _span, _stream, _substream, _worker

_ROUNDS = 2**40         # nobody knows how many there are
_TRIES = 4              # to have it of the one who makes all

SKIP = object()         # in the place of a batch: there is none, or it comes later


class Epoch(_span.Span):
    def __init__(self, shared, nth):
        super().__init__(shared, nth)
        self.trust = shared.trust               # one for all parts
        self.workers = max(shared.loader.num_workers, 1)
        self.places = [None] * self.workers     # None: alone
        self.had = [0] * self.workers
        self.ended = set()                      # workers whose part is over
        self.tries, self.since, self.proving = 0, None, None
        self.indices = None
        self.leave_out = self.resumed["delivered"] if self.resumed is not None else 0
        self.position = 0                       # of the next sample
        self._open()
        shared.begin_ledger(self.of.options["stream"], self)

    # --- beginning ---

    def _open(self):
        shared = self.shared
        wish = self.wish(0)
        options = {**shared.options(self, _ROUNDS, 1), "makers": 1,
                   "ahead": (shared.loader.prefetch_factor or 1) + 1}
        self.of = _worker.Pass(shared.job, options, wish.epoch, wish.seed, 0)
        try:
            if not shared.may_share:    # said already
                raise _lib.Failed(0, "")
            for w in range(self.workers):
                wish = self._open_one(w, wish)
        except _lib.Failed as e:
            if shared.may_share:
                shared.record.tell("alone: %s" % e.strerror)
            self.of.seed = wish.seed if wish.seed is not None else self.past.a_seed()
            self.of.epoch = wish.epoch if wish.epoch is not None else self.past.next
            self._close_places()
        self.seed, self.number, self.is_drawn = self.of.seed, self.of.epoch, wish.is_drawn

    def _open_one(self, w, wish):
        """Of the first, which decides for all; what to wish for the others."""
        options = _substream.pass_of(self.of, w, self.workers).options
        opened = _stream.find(self.shared.job, options, wish, self.past)
        self.places[w] = _place.Place(self.shared, opened)
        if w > 0:
            return wish
        self.of.seed, self.of.epoch = opened.info.seed, opened.info.epoch
        self.of.options["seed"] = opened.options["seed"]
        return _stream.Wish(self.of.seed, wish.seed is None or wish.is_drawn, self.of.epoch, 0)

    # --- tickets ---

    def tickets(self):
        for self.indices in self.shared.order.endless():
            ticket = self._ticket(_worker.CHANCE)
            self.sent.append(ticket)
            yield ticket

    def _ticket(self, kind, worker=None, number=None):
        feeds = [place.feeds if place is not None and place.is_member else None
                 for place in self.places]
        ticket = _substream.Ticket(self.of, self.workers, kind, self.indices, tuple(self.had),
                                   feeds, self.trust.root)
        ticket.worker, ticket.round = worker, number
        ticket.lives_on = self.shared.loader.num_workers == 0 or \
            self.shared.loader.persistent_workers
        return ticket

    # --- what comes of them ---

    def resolve(self, data):
        """(the next batch, or SKIP; None), or (None, a ticket to send once more)"""
        if isinstance(data, ExceptionWrapper):          # of a worker that did not even begin
            self.sent.popleft()
            self.proving, self.tries, self.since = None, 0, None
            return data, None
        if data.worker in self.ended:
            self.sent.popleft()
            return SKIP, None
        if type(data) is _substream.Made:
            return self._receive(data)
        return self._collect(data)

    def _receive(self, made):
        """What was made for this job; and compared, if that is why."""
        if self.proving is not None:
            (taken, staged), self.proving = self.proving, None
            self.places[made.worker].compare(taken, staged, made.batch)
        if _substream.is_end(made.batch):
            return None, self._stop(made.worker)
        return self._deliver_own(made.worker, made.round, made.batch), None

    def _stop(self, worker):
        """The ticket that ends its part.  Only here is it known that all before was delivered:
        PyTorch gives up what it awaits of a worker that has ended."""
        self.ended.add(worker)
        if self.places[worker] is not None:
            self.places[worker].end()
        return self._ticket(_substream.STOP, worker)

    def _note(self, token):
        self.shared.note_times(token)
        place = self.places[token.worker]
        if token.refusal is not None:
            place.leave("alone: its batches cannot be shared: %s" % token.refusal, for_good=True)
        elif token.has_made:
            place.note_made()

    def _collect(self, token):
        worker, number = token.worker, token.round
        place = self.places[worker]
        if place is None or not self._is_there(place, number):
            return None, self._ticket(_worker.OWN, worker, number)
        self._note(token)
        if self.since is None:
            self.since = time.monotonic()
        taken = place.take(number, self.since, self.tries)
        if taken is _place.LATE:
            return None, self._ask_again(worker, number)
        if taken is _place.SELF:
            return None, self._ticket(_worker.OWN, worker, number)
        return self._accept(place, token, taken)

    def _is_there(self, place, number):
        """A member; one that is behind the others becomes one when it is where they are."""
        if not place.is_member and not place.is_over:
            place.begin(number, _ROUNDS)
        return place.is_member

    def _accept(self, place, token, taken):
        worker, number = token.worker, token.round
        batch = place.accept(taken, _substream.mark_of(token.mark, number))
        if batch is None:
            return None, self._ticket(_worker.OWN, worker, number)
        if place.must_compare(taken):
            if number > 0:      # what has a state of its own shows it from the second on
                self.proving = taken, batch
            return None, self._ticket(_worker.OWN, worker, number)
        if _substream.is_end(batch):
            return None, self._stop(worker)
        self.shared.count_taken(taken, self._count(batch))
        return self._deliver(worker, number, batch), None

    def _ask_again(self, worker, number):
        """Who makes it may be slow: only then another begins at its own beginning."""
        self.tries += 1
        kind = _substream.RESCUE if self.tries >= _TRIES else _worker.CHANCE
        return self._ticket(kind, worker, number)

    # --- delivering ---

    def _deliver_own(self, worker, number, batch):
        self.shared.record.counts["own"] += 1
        if self.places[worker] is not None:
            self.places[worker].skip(number)
        return self._deliver(worker, number, batch)

    def _deliver(self, worker, number, batch):
        self.sent.popleft()
        self.tries, self.since = 0, None
        self.had[worker] = number + 1
        self.note_delivered()
        if self.places[worker] is not None:
            self.places[worker].at.delivered(1)
        count = self._count(batch)
        first, self.position = self.position, self.position + count
        if self.delivered <= self.leave_out:    # a job that goes on has had it
            return SKIP
        self.shared.record.counts["batches"] += 1
        self.shared.record.counts["samples"] += count
        self.shared.write_ledger(self.number, self.delivered - 1, first,
                                 range(first, self.position), batch)
        return batch

    def _count(self, batch):
        """Of samples, as far as can be told."""
        loader = self.shared.loader
        if loader.batch_size is None or isinstance(batch, ExceptionWrapper):
            return 1
        if _make.is_default_collate(loader.collate_fn):
            try:
                return _gather.count(batch)
            except Exception:           # of the program's own containers
                pass
        return loader.batch_size

    # --- ending ---

    @property
    def is_shared(self):
        return any(place is not None and place.is_member for place in self.places)

    def leave(self, why):
        for place in self.places:
            if place is not None:
                place.leave(why)

    def close(self):
        self._close_places()

    def _close_places(self):
        places, self.places = self.places, [None] * self.workers
        for place in places:
            if place is not None:
                place.close()
