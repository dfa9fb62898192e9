# SPDX-License-Identifier: Apache-2.0
"""Cases: how loaders are iterated."""

import hashlib
import itertools
import random
import threading

import numpy
import torch

from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, RandomSampler, \
    SequentialSampler, Subset, SubsetRandomSampler, TensorDataset, WeightedRandomSampler

from cases import all_ids, case, flat, ids, steps
from data import COUNT, ByName, Endless, Logged, Noisy, Numbers, Stream, StreamWithLength, \
    Unlimited


def length_of(loader):
    try:
        return len(loader)
    except TypeError as e:
        return str(e)


def is_epoch(lists, count=COUNT):
    return sorted(flat(lists)) == list(range(count))


@case
def lengths(o):
    made = [DataLoader(Numbers(), 4, **o), DataLoader(Numbers(), 4, drop_last=True, **o),
            DataLoader(Numbers(), batch_size=None, **o),
            DataLoader(Numbers(), batch_sampler=BatchSampler(SequentialSampler(range(9)), 2,
                                                             False), **o),
            DataLoader(Numbers(), 4, sampler=Unlimited(), **o), DataLoader(Numbers(0), 4, **o)]
    return [(length_of(m), len(list(m)), length_of(m)) for m in made]


@case
def twice(o):
    loader = DataLoader(Numbers(), 4, **o)
    return [all_ids(loader) for _ in range(2)]


@case
def twice_shuffled(o):
    """Each sample once in every epoch, and never in the same order."""
    loader = DataLoader(Numbers(), 4, shuffle=True, **o)
    orders = [all_ids(loader) for _ in range(3)]
    return [is_epoch(order) for order in orders], len(set(map(str, orders))), \
        [len(order[-1]) for order in orders]


@case
def two_at_a_time(o):
    loader = DataLoader(Numbers(), 4, **o)
    a, b = iter(loader), iter(loader)
    found = [(ids(next(a)), ids(next(b))) for _ in range(5)]
    return a is b, found, all_ids(a), all_ids(b)


@case
def two_at_a_time_shuffled(o):
    """Two orders; and the same samples' other columns."""
    loader = DataLoader(Numbers(), 4, shuffle=True, **o)
    a, b = iter(loader), iter(loader)
    x, y = [], []
    for _ in range(len(loader)):
        x.append(ids(next(a)))
        y.append(ids(next(b)))
    return is_epoch(x), is_epoch(y), x == y


@case(workers=(2,))
def two_of_persistent_workers(o):
    """They are one: the second begins it anew."""
    loader = DataLoader(Numbers(), 4, persistent_workers=True, **o)
    a = iter(loader)
    first = [ids(next(a)) for _ in range(3)]
    b = iter(loader)
    return a is b, first, all_ids(b), steps(a)


@case
def nested(o):
    loader, other = DataLoader(Numbers(12), 4, **o), DataLoader(Numbers(6, scale=3), 3, **o)
    return [[(ids(x), ids(y), ids(z)) for y in other for z in itertools.islice(loader, 1)]
            for x in loader]


@case
def zipped(o):
    """Two loaders of one dataset: their orders have nothing to do with each other."""
    torch.manual_seed(7)
    data = Numbers()
    a, b = (DataLoader(data, 4, shuffle=True, **o) for _ in range(2))
    out = []
    for _ in range(2):
        x, y = zip(*((ids(p), ids(q)) for p, q in zip(a, b)))
        out.append((is_epoch(x), is_epoch(y), x == y))
    return out


@case
def zipped_unequal(o):
    a, b = DataLoader(Numbers(), 4, **o), DataLoader(Numbers(20), 4, **o)
    return [[(ids(p), ids(q)) for p, q in zip(a, b)] for _ in range(2)]


@case
def ends_and_ends_again(o):
    it = iter(DataLoader(Numbers(8), 4, **o))
    return [next(it, "end") if i > 1 else ids(next(it)) for i in range(5)]


@case
def breaks(o):
    loader = DataLoader(Numbers(), 4, **o)
    out = []
    for stop in (1, 5, 100):
        for i, batch in enumerate(loader):
            out.append(ids(batch))
            if i == stop:
                break
    return out


@case
def peeks(o):
    loader = DataLoader(Numbers(), 4, **o)
    return [ids(next(iter(loader))) for _ in range(3)], all_ids(loader)


@case
def in_a_thread(o):
    out = []
    loader = DataLoader(Numbers(), 4, **o)
    thread = threading.Thread(target=lambda: out.extend(all_ids(loader)))
    thread.start()
    thread.join()
    return out


@case
def small(o):
    """Empty, one sample, a batch larger than the dataset, and only a part of one."""
    made = [DataLoader(Numbers(0), 4, **o), DataLoader(Numbers(1), 4, **o),
            DataLoader(Numbers(1), 4, shuffle=True, **o), DataLoader(Numbers(5), 9, **o),
            DataLoader(Numbers(5), 9, drop_last=True, **o),
            DataLoader(Numbers(1), batch_size=1, drop_last=True, **o)]
    return [[all_ids(m) for _ in range(2)] for m in made]


@case
def empty_shuffled(o):
    return all_ids(DataLoader(Numbers(0), 4, shuffle=True, **o))


@case
def kinds(o):
    """Other ways to say what a batch is."""
    data = TensorDataset(torch.arange(COUNT), torch.arange(COUNT) * 3)
    return {"tensors": [[t.tolist() for t in b] for b in DataLoader(data, 5, **o)],
            "one by one": [b.tolist() for b in DataLoader(Numbers(), batch_size=None, **o)],
            "batches by index": all_ids(DataLoader(
                TensorDataset(torch.arange(8).view(4, 2)), batch_size=None,
                sampler=BatchSampler(SequentialSampler(range(4)), 2, False),
                collate_fn=lambda b: b[0], **o)),
            "batch sampler": all_ids(DataLoader(Numbers(), batch_sampler=[[3, 1], [4], [1, 5, 9]],
                                                **o)),
            "dropped": all_ids(DataLoader(Numbers(), 4, drop_last=True, **o)),
            "subset": all_ids(DataLoader(Subset(Numbers(), [5, 3, 8, 1, 2]), 2, **o)),
            "words": all_ids(DataLoader(ByName(), 4, sampler=["no %d" % i for i in range(11)],
                                        **o)),
            "lists": DataLoader(range(10), 3, collate_fn=list, **o).__iter__().__next__()}


@case
def unlimited_sampler(o):
    loader = DataLoader(Numbers(), 4, sampler=Unlimited(), **o)
    return [all_ids(loader) for _ in range(2)]


@case
def broken_sampler(o):
    loader = DataLoader(Numbers(), 4, sampler=Unlimited(breaks=30), **o)
    return steps(iter(loader)), steps(iter(loader))


@case
def drawn_as_late(o):
    """No further ahead than plain: samplers may look at what the program does."""
    sampler = Logged()
    it = iter(DataLoader(Numbers(), 4, sampler=sampler, **o))
    out = [len(sampler.drawn)]
    for _ in it:
        out.append(len(sampler.drawn))
    return out


@case(workers=(2,))
def drawn_as_late_with_more_ahead(o):
    sampler = Logged()
    it = iter(DataLoader(Numbers(), 4, sampler=sampler, prefetch_factor=3, **o))
    return [len(sampler.drawn)] + [len(sampler.drawn) for _ in it]


@case
def endless(o):
    """One iterator for all epochs, as timm and ultralytics have it."""
    loader = DataLoader(Numbers(), batch_sampler=Endless(
        BatchSampler(RandomSampler(range(COUNT)), 4, False)), **o)
    it, n = iter(loader), len(loader)
    orders = [[ids(next(it)) for _ in range(n)] for _ in range(3)]
    return n, [is_epoch(order) for order in orders], len(set(map(str, orders)))


@case
def endless_in_order(o):
    loader = DataLoader(Numbers(), batch_sampler=Endless(
        BatchSampler(SequentialSampler(range(COUNT)), 4, True)), **o)
    it = iter(loader)
    return [ids(next(it)) for _ in range(30)]


@case
def changed_between(o):
    """What the program changes in its dataset is seen from the next epoch on."""
    data = Numbers()
    loader, out = DataLoader(data, 4, **o), []
    for scale in (2, 5, 2):
        data.scale = scale
        out.append([b.tolist() for b in loader])
    return out


@case(workers=(2,))
def changed_behind_persistent_workers(o):
    """They have the dataset as it was."""
    data = Numbers()
    loader, out = DataLoader(data, 4, persistent_workers=True, **o), []
    for scale in (2, 5, 7):
        data.scale = scale
        out.append([b.tolist() for b in loader])
    return out


@case
def ranks(o):
    """PyTorch's own sampler for them has an order of its own, for each epoch it is told."""
    sampler = DistributedSampler(range(COUNT), 2, 1, seed=3)
    loader, out = DataLoader(Numbers(), 4, sampler=sampler, **o), []
    for epoch in (0, 1, 5):
        sampler.set_epoch(epoch)
        out.append(sorted(flat(all_ids(loader))))
    return out


@case
def streams(o):
    """Iterable datasets, split among workers and not."""
    return {"split": [all_ids(DataLoader(Stream(), 4, **o)) for _ in range(2)],
            "whole": all_ids(DataLoader(Stream(False), 4, **o)),
            "dropped": all_ids(DataLoader(Stream(), 4, drop_last=True, **o)),
            "one by one": [b.tolist() for b in DataLoader(Stream(), batch_size=None, **o)],
            "uneven": all_ids(DataLoader(Stream(count=5), 4, **o)),
            "empty": all_ids(DataLoader(Stream(count=0), 4, **o)),
            "length": len(DataLoader(StreamWithLength(), 4, **o))}


@case
def stream_longer_than_it_says(o):
    """PyTorch warns."""
    data = StreamWithLength(False)
    data.__class__.__len__ = lambda self: 8
    return all_ids(DataLoader(data, 4, **o))


@case
def stream_twice_at_a_time(o):
    loader = DataLoader(Stream(), 4, **o)
    a, b = iter(loader), iter(loader)
    return [(ids(next(a)), ids(next(b))) for _ in range(3)], all_ids(b), all_ids(a)


# --- the program's randomness ----------------------------------------------------------

def states():
    h = hashlib.blake2b(digest_size=8)
    h.update(torch.get_rng_state().numpy().tobytes())
    h.update(repr(random.getstate()).encode())
    h.update(repr(numpy.random.get_state()).encode())
    return h.hexdigest()


def seed_all():
    torch.manual_seed(5)
    random.seed(5)
    numpy.random.seed(5)


def advance(loader):
    """The states before, with an iterator, along, and after; twice."""
    seed_all()
    out = [states()]
    for _ in range(2):
        it = iter(loader)
        out.append(states())
        for i, _ in enumerate(it):
            if i % 5 == 0:
                out.append(states())
        out.append(states())
    return out


@case
def main_randomness(o):
    """It goes on as it would by PyTorch's own draws."""
    data = Numbers()
    made = {"in order": {}, "shuffled": {"shuffle": True},
            "replaced": {"sampler": RandomSampler(data, replacement=True, num_samples=70)},
            "weighted": {"sampler": WeightedRandomSampler([1.0] * COUNT, 30)},
            "subset": {"sampler": SubsetRandomSampler(list(range(20)))},
            "rank": {"sampler": DistributedSampler(range(COUNT), 2, 0)},
            "batch sampler": {"batch_sampler": BatchSampler(RandomSampler(data), 4, True),
                              "batch_size": 1}}
    return {name: advance(DataLoader(data, **{"batch_size": 4, **how}, **o))
            for name, how in made.items()}


@case(workers=(2,))
def main_randomness_beside_workers(o):
    """What workers draw is theirs."""
    return advance(DataLoader(Noisy(), 4, shuffle=True, **o))


@case
def generator(o):
    """A generator of the program's goes on as it would; and says the order."""
    out, orders = [], []
    for _ in range(2):
        g = torch.Generator().manual_seed(9)
        loader = DataLoader(Numbers(), 4, shuffle=True, generator=g, **o)
        order = [all_ids(loader) for _ in range(2)]
        out.append([hashlib.blake2b(g.get_state().numpy().tobytes()).hexdigest(),
                    is_epoch(order[0]), is_epoch(order[1]), order[0] == order[1], states()])
        orders.append(order)
        seed_all()
    return out[1], orders[0] == orders[1]
