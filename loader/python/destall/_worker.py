# SPDX-License-Identifier: Apache-2.0
"""A loader's worker, which makes units for its job and for others.

It gets a ticket for each batch of its job.  A job that is alone is given the
batch as a plain worker gives it.  Where others share the stream, a ticket is the
chance to make one unit, whichever the hub leases: the batch of the ticket is
then taken from the stage by the main process, which is told so by a token.
"""

import os
import time

from . import _lib, _make, _order, _payload

_FORGET = 256           # index lists of units that long behind


class Pass:
    """An epoch of a stream, as every process of the job opens it."""

    def __init__(self, job, options, epoch, seed, at):
        self.job, self.options, self.epoch, self.seed, self.at = job, options, epoch, seed, at

    @property
    def key(self):
        return (self.options["stream"], self.options["seed"], self.epoch)


class Ticket:
    """For the batch that is unit `unit`; what the order has near it; whether the worker is to
    make that one, for this job alone; else whether it may make units for all."""

    def __init__(self, of, unit, first, indices, near, own=False, proves=False, feeds=False):
        self.of, self.unit, self.first, self.indices = of, unit, first, indices
        self.near, self.own, self.proves, self.feeds = near, own, proves, feeds


class Token:
    """It is to be had from the stage; and how long the worker takes for one."""

    def __init__(self, unit, make_s):
        self.unit, self.make_s = unit, make_s


class Maker:
    """What a process needs to make units."""

    def __init__(self, recipe, version):
        self.recipe = recipe
        self.version = version
        self.of = self.hub = self.stage = self.at = None
        self.known = {}         # unit -> (first position, indices)
        self.made, self.make_s = 0, 0.0
        self.bytes = 0          # of the last unit, and
        self.is_steady = False  # of the one before
        self.pid = os.getpid()

    # --- the pass ---

    def _attach(self, of):
        """False: the stage cannot be had."""
        if self.of is not None and self.of.key == of.key:
            return self.at is not None and self.at.is_alive
        self.detach()
        self.of = of
        try:
            _lib.load(self.version)
            self.hub = _lib.Hub(of.job, _lib.NO_START)
            self.stage = _lib.Stage(self.hub, of.options)
            self.at = _lib.Pass(self.stage, of.epoch, of.at)
        except _lib.Failed:
            self._close()
        return self.at is not None

    def detach(self):
        self._close()
        self.of = None
        self.known.clear()

    def _close(self):
        for handle in (self.at, self.stage, self.hub):
            if handle is not None:
                handle.close()
        self.at = self.stage = self.hub = None

    # --- tickets ---

    def fetch(self, ticket):
        """The batch, or a token for it."""
        if ticket.own or not self._attach(ticket.of) or self.at.jobs <= 1:
            return self._make_own(ticket)
        if ticket.feeds:
            self._note(ticket)
            self.make_one()
        return Token(ticket.unit, self.make_s)

    def _note(self, ticket):
        self.known[ticket.unit] = (ticket.first, ticket.indices)
        self.known.update(ticket.near)
        for unit in [u for u in self.known if u + _FORGET < ticket.unit]:
            del self.known[unit]

    def _make_own(self, ticket):
        if ticket.proves and self.made == 0 and ticket.near:
            # What has a state of its own shows it from the second batch on.
            first, indices = ticket.near[min(ticket.near)]
            self._make(ticket.of, first, indices)
        return self._make(ticket.of, ticket.first, ticket.indices)

    def _make(self, of, first, indices, arena=None):
        self.made += 1
        since = time.monotonic()
        batch = self.recipe.make(of.seed, of.epoch, first, indices, arena)
        self.make_s = time.monotonic() - since
        return batch

    # --- units ---

    def make_one(self):
        """One unit for all, if there is one to make: its number."""
        try:
            lease = self.at.lease(0)
        except _lib.Failed:
            return None
        if lease is None:
            return None
        unit = lease.unit
        if unit not in self.known:
            self.at.give_up(lease, _lib.GIVE_UP_LATER)
            return None
        try:
            self._fill(lease, *self.known[unit])
        except _lib.Failed:
            pass                # no room now: whoever needs it makes it
        except Exception:
            # Each job makes it itself, and raises what it gets.
            self.at.give_up(lease, _lib.GIVE_UP_ALONE)
        return unit

    def _fill(self, lease, first, indices):
        arena = None
        if self.is_steady:      # made where it will lie
            self.at.room(lease, self.bytes)
            arena = _payload.Arena(lease.bytes, lease.room)
        packed = _payload.Packed(self._make(self.of, first, indices, arena), arena)
        if arena is None:
            self.at.room(lease, packed.size)
        self.is_steady = packed.size == self.bytes
        self.bytes = packed.size
        if packed.size > lease.room:
            self.at.give_up(lease, _lib.GIVE_UP_LATER)
            return
        packed.write(lease.bytes)
        self.at.publish(lease, packed.size, _order.mark_of(indices))


class Fetcher:
    """In the place of PyTorch's own, in a worker."""

    def __init__(self, maker, plain):
        self.maker, self.plain = maker, plain

    def fetch(self, index):
        if type(index) is Ticket:
            return self.maker.fetch(index)
        return self.plain.fetch(index)


class Start:
    """What a worker does first, in the place of the loader's worker_init_fn."""

    def __init__(self, init, version):
        self.init, self.version = init, version

    def __call__(self, worker):
        from torch.utils.data.dataloader import _DatasetKind
        plain = _DatasetKind.create_fetcher
        version, makers = self.version, []

        def create(kind, dataset, auto_collation, collate_fn, drop_last):
            if not makers:
                makers.append(Maker(_make.Recipe(dataset, auto_collation, collate_fn), version))
            return Fetcher(makers[0], plain(kind, dataset, auto_collation, collate_fn, drop_last))

        _DatasetKind.create_fetcher = staticmethod(create)
        if self.init is not None:
            self.init(worker)
