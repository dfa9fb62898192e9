# SPDX-License-Identifier: Apache-2.0
"""In the place of what PyTorch fetches batches with: in a worker, and in the main
process of a loader that has none.  Each knows tickets."""

from torch._utils import ExceptionWrapper

from . import _iterable, _make, _seeds, _state, _substream, _worker

_STAGED = (_worker.Token, _worker.Proof, _substream.Token, _substream.Made)


def is_of_stage(data):
    """It is no batch itself: what becomes of it PyTorch has not seen yet."""
    return type(data) in _STAGED


def maker_of(kind, dataset, auto_collation, collate, drop_last, create, version):
    """What makes the batches of such a loader here."""
    from torch.utils.data.dataloader import _DatasetKind
    if kind == _DatasetKind.Map:
        return _worker.Maker(_make.Recipe(dataset, auto_collation, collate), version)

    def find_state():
        state = _state.State()
        state.add("dataset", dataset)
        state.add("collate_fn", collate)
        return state.digest()

    return _substream.SubStream(
        lambda: create(kind, dataset, auto_collation, collate, drop_last),
        _make.find_sources(dataset, collate), find_state, version)


class Local:
    """In the main process, whose own randomness stays as it is."""

    def __init__(self, iteration, maker, iterator):
        self.iteration, self.maker, self.iterator = iteration, maker, iterator
        self.inside = None      # what is random within an iterable dataset goes on
        maker.guard = iteration.shared.is_surely_unchanged

    def _look(self):
        """Who has changed its dataset is alone, until its next epoch."""
        epoch = self.iteration.epoch
        if epoch is not None and epoch.is_shared and not self.iteration.shared.is_unchanged():
            epoch.leave("alone until its next epoch: its dataset was changed")

    def fetch(self, ticket):
        self._look()
        while True:
            data, ticket = self.iteration.resolve(self._make(ticket))
            if data is _iterable.SKIP:
                ticket = self.iterator._next_index()
            elif ticket is None:
                break
        if isinstance(data, ExceptionWrapper):
            data.reraise()
        return data

    def _make(self, ticket):
        with _seeds.alone():    # of trials in threads, each seeds what is the process's
            return self._make_alone(ticket)

    def _make_alone(self, ticket):
        sources = self.maker.sources
        kept = sources.keep()
        if self.inside is not None:
            sources.restore(self.inside)
        try:
            return self.maker.fetch(ticket)
        except StopIteration:
            raise
        except Exception as e:
            return _substream.Raised(e)
        finally:
            if type(ticket) is _substream.Ticket:
                self.inside = sources.keep()
            sources.restore(kept)


class Cached:
    """In the main process: another fetcher, whose files come from the cache."""

    def __init__(self, fetcher, plan):
        self.fetcher, self.plan = fetcher, plan

    def fetch(self, index):
        with self.plan.around():
            return self.fetcher.fetch(index)


class Start:
    """What a worker does first, in the place of the loader's worker_init_fn.  version: of the
    library that its main process has; None: it is not to know tickets.  plan: _cache.py."""

    def __init__(self, init, version, plan):
        self.init, self.version, self.plan = init, version, plan

    def __call__(self, worker):
        if self.plan is not None:
            self.plan.start()
        if self.version is not None:
            self._replace()
        if self.init is not None:
            self.init(worker)

    def _replace(self):
        """The maker of units is what fetches."""
        from torch.utils.data.dataloader import _DatasetKind
        plain, version, makers = _DatasetKind.create_fetcher, self.version, []

        def create(*how):
            if not makers:
                makers.append(maker_of(*how, plain, version))
            else:               # persistent workers ask again for each iteration
                makers[0].begin_again()
            return makers[0]

        _DatasetKind.create_fetcher = staticmethod(create)
