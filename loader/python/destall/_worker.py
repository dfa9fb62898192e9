# SPDX-License-Identifier: Apache-2.0
"""A loader's worker, which makes units for its job and for others.

It gets a ticket for each batch of its job.  A job that is alone is given the
batch as a plain worker gives it.  Where others share the stream, a ticket is the
chance to make one unit, whichever the hub leases: the batch of the ticket is
then taken from the stage by the main process, which is told so by a token.
"""

import time

from . import _lib, _order, _payload

_FORGET = 256           # index lists of units that long behind

# What a ticket is for.
CHANCE = "chance"       # to make some unit, for all
OWN = "own"             # to make its batch, for this job alone
PROOF = "proof"         # to make a unit that another has made, to compare

# What its worker may make for others.
FEEDS_ALL = "all"
FEEDS_WANTED = "wanted" # only what its own job wants next: the first to make anything


class Pass:
    """An epoch of a stream, as every process of the job opens it."""

    def __init__(self, job, options, epoch, seed, at):
        self.job, self.options, self.epoch, self.seed, self.at = job, options, epoch, seed, at

    @property
    def key(self):
        return (self.options["stream"], self.seed, self.epoch)


class Ticket:
    """For batch n, at positions from `first` on (PROOF: for a unit)."""

    worker = None           # whichever
    feeds = None            # FEEDS_ALL, FEEDS_WANTED, or nothing;
    root = 0                # those units are marked with it
    wants = last = 0        # the unit that the job wants next, and the last of this batch
    bytes = None            # of a unit, if the last ones were of one size
    company = False         # others were there in the last epoch, and will come
    near = None             # what units there are to make: _layout.py

    def __init__(self, of, n, kind, first, indices):
        self.of, self.n, self.kind, self.first, self.indices = of, n, kind, first, indices


class Token:
    """It is to be had from the stage; how long the worker takes for one, by the clock and of a
    processor, whether it has made one now and there was room for it, and why batches of this
    loader can not be shared, if that was seen."""

    def __init__(self, maker, has_made):
        self.make_s, self.cpu_s, self.has_made = maker.make_s, maker.cpu_s, has_made
        self.has_room, self.refusal = maker.has_room, maker.refusal


class Proof:
    """What was made to compare.  In a class, so that PyTorch leaves it as it is: batches that it
    pins are others."""

    def __init__(self, batch):
        self.batch = batch


class Desk:
    """A process's connection to the pass that it makes units for."""

    def __init__(self, version):
        self.version = version
        self.of = self.hub = self.stage = self.at = None

    def attach(self, of):
        """False: the stage cannot be had."""
        if self.of is not None and self.of.key == of.key:
            return self.at is not None and self.at.is_alive
        self.close()
        self.of = of
        try:
            _lib.load(self.version)
            self.hub = _lib.Hub(of.job, _lib.NO_START)
            self.stage = _lib.Stage(self.hub, of.options)
            self.at = _lib.Pass(self.stage, of.epoch, of.at)
        except _lib.Failed:
            self._close()
        return self.at is not None

    def lease(self, wait_ms=0):
        """A unit to make, or None."""
        try:
            return self.at.lease(wait_ms)
        except _lib.Failed:
            return None

    def close(self):
        self._close()
        self.of = None

    def _close(self):
        for handle in (self.at, self.stage, self.hub):
            if handle is not None:
                handle.close()
        self.at = self.stage = self.hub = None


def always(_make_s):
    return True


class Maker:
    """Makes the units of a map-style loader."""

    def __init__(self, recipe, version):
        self.recipe, self.sources = recipe, recipe.sources
        self.desk = Desk(version)
        self.of = None
        self.known = {}         # unit -> (first position, indices)
        self.made, self.make_s, self.cpu_s = 0, 0.0, 0.0
        self.has_room, self.refusal = True, None
        self.guard = always    # may it make for others now?

    # --- tickets ---

    def fetch(self, ticket):
        """The batch, or a token for it."""
        if ticket.kind == CHANCE and self.desk.attach(ticket.of) and \
                (self.desk.at.jobs > 1 or ticket.company):
            self._note(ticket)
            return Token(self, self._feed(ticket))
        batch = self._make(ticket.of, ticket.first, ticket.indices)
        return Proof(batch) if ticket.kind == PROOF else batch

    def begin_again(self):
        """Another iteration: its tickets tell all there is to know."""

    def _note(self, ticket):
        if self.of is None or self.of.key != ticket.of.key:
            self.of = ticket.of
            self.known.clear()
        self.known.update(ticket.near.items() if ticket.near is not None else ())
        for unit in [u for u in self.known if u + _FORGET < ticket.wants]:
            del self.known[unit]

    def _make(self, of, first, indices, arena=None):
        self.made += 1
        since, used = time.monotonic(), time.process_time()
        batch = self.recipe.make(of.seed, of.epoch, first, indices, arena)
        self.make_s, self.cpu_s = time.monotonic() - since, time.process_time() - used
        return batch

    # --- units ---

    def _feed(self, ticket):
        """Makes one unit for all, if there is one to make, and more if what comes is behind what
        this ticket is for: so none is left for which nobody has a ticket.  Whether it made any."""
        self.has_room = True
        has_made = False
        while ticket.feeds is not None and self.guard(self.make_s):
            unit = self._make_one(ticket)
            if unit is None:
                break
            has_made = True
            if unit >= ticket.last:
                break
        return has_made

    def _make_one(self, ticket):
        """The unit that was made, or None."""
        at, lease = self.desk.at, self.desk.lease()
        if lease is None:
            return None
        unit = lease.unit
        if unit not in self.known or ticket.feeds == FEEDS_WANTED and unit != ticket.wants:
            at.give_up(lease, _lib.GIVE_UP_LATER)
            return None
        try:
            self._fill(lease, ticket, *self.known[unit])
            return unit
        except _lib.Failed:
            self.has_room = False       # whoever needs it makes it
        except Exception as e:
            # Each job makes it itself, and raises what it gets.
            if isinstance(e, _payload.NotShareable):
                self.refusal = str(e)
            at.give_up(lease, _lib.GIVE_UP_ALONE)
        return None

    def _fill(self, lease, ticket, first, indices):
        """If its size is known, it is made where it will lie."""
        at, arena = self.desk.at, None
        if ticket.bytes is not None:
            at.room(lease, ticket.bytes)
            arena = _payload.Arena(lease.bytes, lease.room)
        packed = _payload.Packed(self._make(self.of, first, indices, arena), arena)
        if arena is None:
            at.room(lease, packed.size)
        if packed.size > lease.room:    # not of that size after all
            at.give_up(lease, _lib.GIVE_UP_LATER)
            raise _lib.Failed(0, "no room")
        packed.write(lease.bytes, ticket.root)
        at.publish(lease, packed.size, _order.mark_of(indices))
