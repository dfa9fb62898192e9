# SPDX-License-Identifier: Apache-2.0
"""A DataLoader, for as long as it lives: what its stream is now, which epoch is
next, and what is told of it.  Runs in the main process of a job."""

import collections
import functools
import os

import torch

from torch._utils import ExceptionWrapper

from . import _job, _ledger, _make, _order, _roots, _seeds, _state, _status, _trust, \
    _watch

first_seed = None       # torch.initial_seed() before the program could set one; None: not known
_CHOSEN = 2**32         # seeds below are people's choice; PyTorch draws one of many more bits


def _need_trust():
    """While an exception is handled: unless the user has given his word, it goes on."""
    if os.environ.get("DESTALL_TRUST") != "1":
        raise


def _class_of(obj):
    return "%s.%s" % (type(obj).__module__, type(obj).__qualname__)


def _tell(name, obj):
    """A digest of it; its class, if the user has given his word for what cannot be looked into."""
    state = _state.State()
    try:
        state.add(name, obj)
    except _state.Opaque:
        _need_trust()
        return _class_of(obj)
    return state.digest()


def _look_into(loader, is_quick=False):
    """What its samples are made of, as it is in this process now."""
    state = _state.State(is_quick)
    state.add("dataset", loader.dataset)
    state.add("collate_fn", loader.collate_fn)
    return state


class Settings:
    """Of a loader, which may be gone while it is still iterated."""

    NAMES = ("dataset", "collate_fn", "worker_init_fn", "sampler", "batch_sampler", "batch_size",
             "drop_last", "num_workers", "prefetch_factor", "timeout", "generator",
             "persistent_workers", "_dataset_kind")

    def __init__(self, loader):
        self.take(loader)

    def take(self, loader):
        """Some of it may be another for its next iterator."""
        for name in self.NAMES:
            setattr(self, name, getattr(loader, name))


class Shared:
    def __init__(self, loader):
        self.record = _status.Record(loader)
        self.loader = Settings(loader)
        self.job = None                 # by the thread that iterates it first
        self.order = None
        self.noted = 0                  # epochs of which all tickets were given
        self.alone = None               # why, for good
        self.mark = self.made_of = None # of what it would deliver now
        self.trusts = collections.defaultdict(_trust.Trust)     # by mark
        self.make_s = self.cpu_s = 0.0  # that a worker takes for a batch
        self.unit_bytes = None          # of the last units, if they were of one size
        self.last_bytes = None
        self.watch = _watch.Watch(functools.partial(_look_into, self.loader))
        self.company = 0                # jobs that were there in the epoch before
        self.resumed = None             # where to begin, from a saved state
        self.iteration = lambda: None   # the last that was begun, weakly
        self.ledger = None
        if os.environ.get("DESTALL_LEDGER"):
            self.ledger = _ledger.Ledger(self.record, self.loader)

    def count_taken(self, taken, samples):
        self.record.count_taken(taken, samples, self.cpu_s)

    def note_bytes(self, size):
        self.unit_bytes = size if size == self.last_bytes else None
        self.last_bytes = size

    def note_times(self, token):
        """The longest lately is what it waits by; the last is what it saves."""
        self.make_s = max(token.make_s, self.make_s * 0.9)
        self.cpu_s = token.cpu_s or self.cpu_s

    # --- the stream ---

    def look(self, made_of=None):
        """At what its samples depend on now; made_of: what workers have that stay, and do not
        know what the program has changed since.  Why it cannot be told, or None."""
        self.mark = self.made_of = None
        try:
            if self.order is None:
                self.order = _order.Order(self.loader)
                self.job = _job.name()
            self.mark = self._find_mark(made_of)
        except _state.Opaque as e:
            return "%s, and may not be the same in other jobs; DESTALL_TRUST=1 shares it on your " \
                "word" % e
        except Exception as e:          # of the program's own objects
            return "what it depends on cannot be told: %s: %s" % (type(e).__name__, e)
        return None

    @property
    def may_share(self):
        return self.mark is not None and self.alone is None

    @property
    def trust(self):
        """Of others who make the same stream."""
        return self.trusts[self.mark]

    @property
    def is_cut(self):
        """Batches of any size are cut from the same samples."""
        loader = self.loader
        return self.order.is_pure and self.order.batched is not None and \
            _make.is_default_collate(loader.collate_fn) and \
            not getattr(loader.dataset, "__getitems__", None)

    @property
    def batch_size(self):
        return self.order.batched.batch_size

    @property
    def drops_last(self):
        return self.order.batched.drop_last

    def _find_mark(self, made_of):
        state = _state.State()
        loader = self.loader
        try:
            self.made_of = made_of or self._find_made_of()
            state.add("made_of", self.made_of)
        except _state.Opaque:
            _need_trust()
            state.add("made_of", [_class_of(loader.dataset), _class_of(loader.collate_fn)])
        for name, value in [("worker_init_fn", loader.worker_init_fn), *self.order.parts()]:
            state.add(name, _tell(name, value))
        state.add("torch", torch.__version__)
        if _roots.depends_on_cwd(loader.dataset):
            state.add("folder", os.getcwd())
        if not self.is_cut:
            sizes = loader if self.order.kind is None or self.order.batched is None else \
                self.order.batched
            state.add("batch_size", sizes.batch_size)
            state.add("drop_last", sizes.drop_last)
        if self.order.is_iterable:
            state.add("workers", loader.num_workers)
        return state.digest()

    def _find_made_of(self):
        """As a digest; where the program itself makes samples, it is watched from now on."""
        return self.watch.begin() if self.loader.num_workers == 0 else \
            _look_into(self.loader).digest()

    def is_unchanged(self):
        """What is shared on the user's word alone is not watched."""
        return self.made_of is None or self.watch.is_unchanged()

    def is_surely_unchanged(self, make_s):
        return self.made_of is None or self.watch.is_surely_unchanged(make_s)

    # --- epochs ---

    def explicit_seed(self, nth):
        """What the user has seeded it with; None: nothing, and the hub draws."""
        if self.joins_seeds:
            return None
        seed = self.order.seed
        if seed is None:
            seed = torch.initial_seed()
            if seed == first_seed or first_seed is None and seed >= _CHOSEN:
                return None
        return seed % 2**63 if nth == 0 else _seeds.derive(b"nth", seed, nth)

    @property
    def joins_seeds(self):
        return os.environ.get("DESTALL_SEED") == "share"

    def seeded_by(self, explicit):
        """A new generator begins anew, though its seed may be that of another."""
        return explicit if explicit is None or self.order.generator is None else \
            self.order.generator

    def order_seed(self, seed):
        """Who gives two loaders equal generators wants equal orders, whatever else is random."""
        if self.order.generator is None or self.joins_seeds:
            return seed
        return self.order.seed % 2**63

    def told_epoch(self, now):
        """What set_epoch() has said since the last epoch that was had; None: nothing."""
        is_new = now is not None and (self.noted == 0 and self.record.ended == 0 or
                                      now != self.record.last_set)
        return now if is_new else None

    def take_resumed(self):
        """Where a saved state wants it to begin, once."""
        resumed, self.resumed = self.resumed, None
        return resumed

    def is_turned(self, seed):
        """Who joins late takes the rest of an epoch first.  Not where the user has seeded it: then
        the order is a function of seed and epoch, and a job that goes on by leaving out what it
        had must find it there."""
        return self.order.is_random and seed is None

    def options(self, epoch, samples, unit, is_turned=False):
        """Of the stream.  Ranks that nobody has seeded are not to be given the same."""
        rank = _job.rank() if epoch.explicit is None else None
        return {"stream": "%s.%d%s" % (self.mark, epoch.nth, "" if rank is None else ".r%d" % rank),
                "samples": samples, "unit": unit,
                "order": "random" if is_turned else "listed",
                "makers": max(self.loader.num_workers, 1), "ahead": self.ahead}

    @property
    def ahead(self):
        """Batches that a plain loader would have in work."""
        return max(self.loader.num_workers, 1) * (self.loader.prefetch_factor or 2)

    # --- the ledger, if there is one ---

    def begin_ledger(self, stream, epoch):
        if self.ledger is not None:
            resumed = epoch.resumed and epoch.resumed.get("ledger")
            self.ledger.begin(stream, epoch.seed, epoch.number, resumed)

    def write_ledger(self, epoch, batch, first, indices, data):
        if self.ledger is not None and not isinstance(data, ExceptionWrapper):
            self.ledger.write(epoch, batch, first, indices, data)

    def finish_ledger(self, epoch):
        if self.ledger is not None:
            self.ledger.finish(epoch)

    def saved_ledger(self):
        if self.ledger is None or self.ledger.file is None:
            return {}
        return {"ledger": (self.ledger.path, self.ledger.at)}
