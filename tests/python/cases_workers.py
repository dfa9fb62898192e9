# SPDX-License-Identifier: Apache-2.0
"""Cases: workers, errors, and the classes that programs look at."""

import os

import torch

from torch.utils.data import DataLoader, dataloader

from cases import about, all_ids, case, children, ids, steps
from data import Asking, Deadly, Failing, Noisy, Numbers, Odd, Stream


# --- workers ---------------------------------------------------------------------------

@case
def worker_info(o):
    return [b.tolist() for _ in range(2) for b in DataLoader(Asking(), 4, **o)]


def note(worker):
    """Where each job has a file of its own."""
    info = torch.utils.data.get_worker_info()
    with open(os.environ["NOTES"], "a") as f:
        f.write("%d %d %d %s\n" % (worker, info.id, info.num_workers, type(info.dataset).__name__))


def notes():
    if not os.path.exists(os.environ["NOTES"]):
        return []
    with open(os.environ["NOTES"]) as f:
        found = sorted(f.read().splitlines())
    os.unlink(os.environ["NOTES"])
    return found


@case
def worker_init(o):
    loader, out = DataLoader(Numbers(), 4, worker_init_fn=note, **o), []
    for _ in range(2):
        out.append((all_ids(loader), notes()))
    return out


@case(workers=(2,))
def persistent(o):
    loader = DataLoader(Numbers(), 4, persistent_workers=True, worker_init_fn=note, **o)
    pids, out = set(), []
    for _ in range(3):
        out.append((all_ids(loader), notes()))
        pids.update(w.pid for w in loader._iterator._workers)
    return out, len(pids), children()


@case(workers=(2,))
def far_ahead(o):
    return [all_ids(DataLoader(Numbers(), 4, prefetch_factor=n, **o)) for n in (1, 7)]


@case(workers=(2,))
def gone_with_the_iterator(o):
    loader = DataLoader(Numbers(), 4, **o)
    it = iter(loader)
    next(it)
    before = children()
    del it
    return before, children(), all_ids(loader)


@case(workers=(1,))
def spawned(o):
    loader = DataLoader(Noisy(), 4, multiprocessing_context="spawn", persistent_workers=True,
                        worker_init_fn=note, **o)
    return [(all_ids(loader), notes()) for _ in range(2)]


@case(workers=(1,))
def from_a_fork_server(o):
    loader = DataLoader(Numbers(), 4, multiprocessing_context="forkserver", **o)
    return [all_ids(loader) for _ in range(2)]


@case(workers=(2,))
def too_slow(o):
    """Who really takes too long is told so.  The time is one in which workers begin even if
    the machine has much else to do."""
    it = iter(DataLoader(Sleepy(), 4, timeout=10, **o))
    return ids(next(it)), steps(it, 1)[0]


class Sleepy(Numbers):
    def __getitem__(self, i):
        if i == 6:
            torch.multiprocessing.Event().wait(30)
        return super().__getitem__(i)


# --- errors ----------------------------------------------------------------------------

@case
def bad_samples(o):
    """Raised where they are; the loader goes on."""
    loader = DataLoader(Failing({5: ValueError, 22: KeyError, 23: ValueError, 45: IndexError}), 4,
                        **o)
    return steps(iter(loader)), steps(iter(loader))


@case
def odd_errors(o):
    return steps(iter(DataLoader(Failing({1: Odd, 30: OSError, 40: UnicodeError}), 4, **o)))


def cannot(samples):
    if any(int(s[0]) == 14 for s in samples):
        raise ArithmeticError("cannot put these together")
    return torch.stack(samples)


@case
def bad_collate(o):
    return steps(iter(DataLoader(Numbers(), 4, collate_fn=cannot, **o)))


@case
def nothing_to_collate(o):
    """PyTorch's own words."""
    return steps(iter(DataLoader([None] * 8, 4, **o)))


def fail_at_start(worker):
    raise RuntimeError("worker %d does not start" % worker)


@case
def bad_worker_init(o):
    return steps(iter(DataLoader(Numbers(8), 4, worker_init_fn=fail_at_start, **o)))


@case
def bad_worker_init_of_a_stream(o):
    return steps(iter(DataLoader(Stream(), 4, worker_init_fn=fail_at_start, **o)), 2)


def fails(how, o):
    """It does, and not too late.  PyTorch may find a broken connection before it finds the
    death: an OSError, or EOFError where the worker's end was closed already."""
    given = []
    try:
        given += all_ids(DataLoader(Deadly(how), 4, **o))
    except (RuntimeError, OSError, EOFError):
        return [21 in batch for batch in given].count(True)
    return "it has not failed"


@case(workers=(2,))
def killed_worker(o):
    """The job is told, and can begin anew."""
    return [fails(how, o) for how in ("kill", "exit")], all_ids(DataLoader(Numbers(), 4, **o))


# --- what programs look at ---------------------------------------------------------------

@case
def classes(o):
    loader = DataLoader(Numbers(), 4, **o)
    it = iter(loader)
    names = ("_BaseDataLoaderIter", "_SingleProcessDataLoaderIter",
             "_MultiProcessingDataLoaderIter")
    return (type(it).__name__, type(it).__module__,
            [isinstance(it, getattr(dataloader, name)) for name in names],
            loader._iterator is None, iter(it) is it, len(it),
            it._dataset is loader.dataset, type(loader._index_sampler).__name__,
            type(loader.batch_sampler).__name__, it._num_workers, type(loader).__name__,
            [hasattr(loader, a) for a in ("_get_iterator", "_iterator", "_auto_collation")])


@case(workers=(2,))
def kept_iterator(o):
    loader = DataLoader(Numbers(), 4, persistent_workers=True, **o)
    before = loader._iterator
    list(loader)
    first = loader._iterator
    list(loader)
    return before, type(first).__name__, loader._iterator is first


@case
def fixed_attributes(o):
    loader, out = DataLoader(Numbers(), 4, **o), []
    for name in ("batch_size", "sampler", "drop_last", "dataset", "persistent_workers"):
        try:
            setattr(loader, name, None)
            out.append("set")
        except ValueError as e:
            out.append(about(e))
    return out


class OwnIter(DataLoader):
    """As timm's prefetcher and many a user's own."""

    def __iter__(self):
        for batch in super().__iter__():
            yield batch + 1


class OwnIterator(DataLoader):
    """As ultralytics': made once, and again when asked."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.made = []
        self.iterator = super().__iter__()

    def _get_iterator(self):
        self.made.append(1)
        return super()._get_iterator()

    def reset(self):
        self.iterator = self._get_iterator()


@case
def subclasses(o):
    own = OwnIterator(Numbers(8), 4, **o)
    first = all_ids(own.iterator)
    own.reset()
    return ([all_ids(OwnIter(Numbers(8), 4, **o)) for _ in range(2)], first, all_ids(own.iterator),
            all_ids(own), len(own.made))


class Unhashable(DataLoader):
    """Equal to what it likes."""

    __hash__ = None

    def __eq__(self, other):
        return True


@case
def unhashable(o):
    return [all_ids(Unhashable(Numbers(8), 4, **o)), all_ids(Unhashable(Numbers(4), 2, **o))]


@case
def stream_errors(o):
    return steps(iter(DataLoader(BrokenStream(), 4, **o)))


class BrokenStream(Stream):
    def __iter__(self):
        for i, sample in enumerate(super().__iter__()):
            if i == 11:
                raise ValueError("the stream is broken")
            yield sample
