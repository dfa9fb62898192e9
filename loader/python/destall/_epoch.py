# SPDX-License-Identifier: Apache-2.0
"""One epoch of a map-style loader: its tickets, and the batches that come of
them.  Runs in the main process of a job.

Nothing here fails a job.  What the stage does not give is made by the job's own
workers, with the same bytes, from exactly there.
"""

import itertools
import time

from . import _gather, _layout, _lib, _order, _place, _span, _stream, _worker

_NEAR = 32              # units that a ticket tells of, at most
_AWAITED = 12           # batches, until those who have not come are not waited for any more


class Epoch(_span.Span):
    def __init__(self, shared, nth):
        super().__init__(shared, nth)
        self.is_turned = shared.is_turned(self.explicit)
        self.has_room = True            # at the stage, when a worker last asked
        self.warm = None                # the worker that has made a batch of ours
        self.unseen = set()             # units that were taken before, and not used
        self.place = None               # None: alone
        self.held = None                # a batch that is not to leave the window yet
        self._forget_wait()
        self._open()

    def _forget_wait(self):
        self.since, self.tries = None, 0
        self.proving = None             # what was taken, and its batch

    # --- beginning ---

    def _open(self):
        """The pass, if it can be had; else the job goes on with a seed of its own."""
        shared, wish = self.shared, self.wish(self._first_unit())
        samples, size = self._extent()
        options = shared.options(self, max(samples, 1), size, self.is_turned)
        try:
            if not shared.may_share:    # said already
                raise _lib.Failed(0, "")
            opened = _stream.find(shared.job, options, wish, self.past)
            self.place = _place.Place(shared, opened)
            options, info = opened.options, opened.info
            self.seed, self.number, size = info.seed, info.epoch, info.unit
        except _lib.Failed as e:
            if shared.may_share:
                shared.record.tell("alone: %s" % e.strerror)
            self.seed = wish.seed if wish.seed is not None else self.past.a_seed()
            self.number = wish.epoch if wish.epoch is not None else self.past.next
        self.is_drawn = wish.seed is None or wish.is_drawn
        self.of = _worker.Pass(shared.job, options, self.number, self.seed, wish.at)
        self.layout = self._lay_out(size)
        self.units = _gather.Units(self.layout)
        shared.begin_ledger(options["stream"], self)

    def _first_unit(self):
        if self.resumed is not None:
            return self._next_of(self.resumed)
        return _lib.ANY if self.is_turned else 0

    def _extent(self):
        """(samples of the stream, samples in a unit of ours), as the stage counts them."""
        shared = self.shared
        if not shared.is_cut:
            return shared.order.batches(), 1
        samples = shared.order.samples()
        return samples, max(min(shared.batch_size, samples), 1)

    def _lay_out(self, unit_size):
        shared = self.shared
        order, seed = shared.order, shared.order_seed(self.seed)
        if shared.is_cut:
            drawn = order.draw_samples(seed, self.number)
            layout = _layout.BySample(drawn, shared.batch_size, unit_size, shared.drops_last)
        else:
            drawn = order.draw(seed, self.number)
            layout = _layout.ByBatch(drawn, order.batches(), order.batched is not None,
                                     not order.is_pure)
        order.advance()
        return layout

    def _next_of(self, saved):
        """The batch that comes next, if it is one of those that may be shared."""
        at = saved["first"] + saved["delivered"]
        return at if at < self.shared.order.batches() else 0

    # --- tickets ---

    def tickets(self):
        """For each batch, in the order of delivery."""
        for n, may_share in self._sequence():
            if not self.layout.has(n):
                return
            ticket = self._ticket(n, _worker.CHANCE if may_share else _worker.OWN)
            self.sent.append(ticket)
            yield ticket

    def _sequence(self):
        """(batch, whether it may come from the stage): who joins late takes the rest first, then
        makes what it missed; a short last one stays last."""
        layout, first = self.layout, self._begin()
        last = layout.batches
        if first > 0 and layout.is_short(last - 1):
            last -= 1
        self.first = first
        order = itertools.chain(range(first, last), range(first), range(last, layout.batches))
        for i, n in enumerate(order):
            if i >= self.delivered:
                yield n, i < last - first and self._may_share(n)

    def _begin(self):
        """The batch that comes first."""
        if self.resumed is not None:
            self.delivered = self.resumed["delivered"]
            return self.resumed["first"]
        if self.place is None or self.of.at != _lib.ANY or self.layout.batches == 0:
            return 0
        # Who has missed nothing has nothing to make by itself, and is not late again for the next.
        start = self.place.begin(0, self._end_unit(), or_near=True)
        if start is None:
            return 0
        first = self.layout.first_batch(start)
        if first >= self.layout.batches:
            self.place.end()            # the others are at the end of it
            return 0
        return first

    def _end_unit(self):
        return self.layout.units_of(self.layout.batches - 1).stop

    def _may_share(self, n):
        """One that is behind the others makes batches by itself, until it is where they are."""
        place = self.place
        if place is None or place.is_over:
            return False
        if not place.is_member:
            place.begin(self.layout.units_of(n)[0], self._end_unit())
        return place.is_member

    def _ticket(self, n, kind, unit=None):
        layout, place = self.layout, self.place
        first, indices = layout.batch(n) if unit is None else layout.unit(unit)
        ticket = _worker.Ticket(self.of, n, kind, first, indices)
        if kind == _worker.OWN or place is None or not place.is_member:
            return ticket
        ticket.wants = layout.units_of(self.sent[0].n if self.sent else n)[0]
        ticket.last = layout.units_of(n)[-1]
        ticket.feeds, ticket.root = place.feeds, place.trust.root
        ticket.bytes = self.shared.unit_bytes
        ticket.company = self._awaits_company()
        ticket.near = layout.near(max(ticket.wants - 1, 0), ticket.wants + _NEAR,
                                  self.shared.order.is_pure)
        return ticket

    # --- what comes of them ---

    def resolve(self, data):
        """(the next batch, None), or (None, a ticket to send once more)"""
        ticket = self.sent[0]
        if self.proving is not None:
            self._end_proof(data)
        elif type(data) is _worker.Token:
            self._note(data)
        else:
            return self._deliver_own(ticket, data), None
        again = self._collect(ticket)
        if again is not None:
            return None, again
        batch = self.units.batch(ticket.n)
        self._hold(batch)
        return self._deliver(ticket, batch), None

    def _note(self, token):
        self.shared.note_times(token)
        self.has_room = token.has_room
        if token.refusal is not None:
            self.place.leave("alone: its batches cannot be shared: %s" % token.refusal,
                             for_good=True)
        elif token.has_made:
            self.place.note_made()

    def _collect(self, ticket):
        """Takes the units of a batch; a ticket, if one does not come."""
        for unit in self.layout.units_of(ticket.n):
            if unit in self.units.taken:
                continue
            if unit in self.unseen:
                return self._ticket(ticket.n, _worker.OWN)
            taken = self._take(unit)
            if taken is _place.SELF:
                return self._ticket(ticket.n, _worker.OWN)
            if taken is _place.LATE:
                self.tries += 1         # by another worker, perhaps
                return self._ticket(ticket.n, _worker.CHANCE)
            indices = self.layout.unit(unit)[1]
            batch = self.place.accept(taken, _order.mark_of(indices))
            if batch is None:
                return self._ticket(ticket.n, _worker.OWN)
            if self.place.must_compare(taken):
                return self._prove(ticket, taken, batch)
            self._keep(taken, batch)
        return None

    def _take(self, unit):
        if self.since is None:
            self.since = time.monotonic()
        return self.place.take(unit, self.since, self.tries, self.has_room)

    def _keep(self, taken, batch):
        self.units.taken[taken.unit] = batch
        self.shared.count_taken(taken, self._count(self.layout.unit(taken.unit)[1]))

    def _prove(self, ticket, taken, batch):
        """By a worker that has made another batch before: what has a state of its own shows it
        from the second on.  So the first one is made for this job."""
        if self.warm is None:
            self.warm = 0
            self.unseen.add(taken.unit)
            again = self._ticket(ticket.n, _worker.OWN)
        else:
            self.proving = taken, batch
            again = self._ticket(ticket.n, _worker.PROOF, taken.unit)
        again.worker = self.warm
        return again

    def _end_proof(self, proof):
        (taken, staged), self.proving = self.proving, None
        made = proof.batch if type(proof) is _worker.Proof else proof   # it may have raised
        if self.place.compare(taken, staged, made):
            self._keep(taken, staged)

    # --- those who are to come ---

    def _awaits_company(self):
        """In the first batches of an epoch: the jobs that were there in the last one."""
        return self.delivered < _AWAITED and self.place.at.jobs < self.shared.company

    def _hold(self, batch):
        """The first one, so long: then nothing leaves the window, and who comes misses nothing."""
        if self.delivered == 0:
            self.held = batch

    def _let_go(self):
        if self.held is not None and not (self.is_shared and self._awaits_company()):
            self.held = None

    # --- delivering ---

    def _deliver_own(self, ticket, data):
        self.shared.record.counts["own"] += 1
        over = self.units.pass_over(ticket.n)
        place = self.place
        if place is not None and place.is_member:
            if ticket.n < self.first:
                place.end()             # the rest is what it missed
            for unit in over:
                if unit not in self.unseen:
                    place.skip(unit)
        return self._deliver(ticket, data)

    def _deliver(self, ticket, data):
        self.sent.popleft()
        self._forget_wait()
        self.shared.record.counts["batches"] += 1
        count = self._count(ticket.indices)
        self.shared.record.counts["samples"] += count
        first, indices = self.layout.batch(ticket.n)
        self.shared.write_ledger(self.number, ticket.n, first,
                                 indices if self.layout.is_batched else [indices], data)
        if self.place is not None:
            self.place.at.delivered(count)
        self.layout.forget(ticket.n)
        self.note_delivered()
        self._let_go()
        return data

    def _count(self, indices):
        return len(indices) if self.layout.is_batched else 1

    # --- ending ---

    @property
    def is_shared(self):
        return self.place is not None and self.place.is_member

    def leave(self, why):
        self.place.leave(why)

    def count(self):
        if not self.is_counted:
            self.shared.company = self.place.company if self.place is not None else 0
            self.held = None
        super().count()

    def close(self):
        self.held = None
        place, self.place = self.place, None
        if place is not None:
            place.close()
