# SPDX-License-Identifier: Apache-2.0
"""Small parts of the package, each by itself: no hub, no other process."""

import array
import collections
import itertools
import random
import threading

import pytest
import torch

from torch.utils.data import Dataset, default_collate

from destall import _fetcher, _gather, _job, _layout, _make, _place, _worker

from jobside import digest

Pair = collections.namedtuple("Pair", "x y")


# --- batches of one size from those of another -------------------------------------------------

def sample(i):
    return {"x": torch.full((2,), i), "pair": Pair(i, float(i)), "text": "t%d" % i,
            "list": [i, ("u%d" % i, i)]}


def units(count, size):
    return {u: default_collate([sample(i) for i in range(u * size, min((u + 1) * size, count))])
            for u in range(-(-count // size))}


@pytest.mark.parametrize("drops_last", (False, True))
@pytest.mark.parametrize("count", (1, 7, 24, 53))
@pytest.mark.parametrize("unit_size", (1, 4, 6, 8))
@pytest.mark.parametrize("size", (1, 4, 5, 8, 16))
def test_cut_and_joined(size, unit_size, count, drops_last):
    layout = _layout.BySample(array.array("q", range(count)), size, unit_size, drops_last)
    made, cut = units(count, unit_size), _gather.Units(layout)
    for n in range(layout.batches):
        for u in layout.units_of(n):
            cut.taken.setdefault(u, made[u])
        first, indices = layout.batch(n)
        assert first == n * size and indices == list(range(first, min(first + size, count)))
        assert digest(cut.batch(n)) == digest(default_collate([sample(i) for i in indices]))
        # The next batch still needs what it shares with this one.
        if n + 1 < layout.batches and layout.units_of(n + 1)[0] == layout.units_of(n)[-1]:
            assert layout.units_of(n)[-1] in cut.taken
    assert not cut.taken
    assert layout.batches == (count // size if drops_last else -(-count // size))


def test_counted():
    batch = default_collate([sample(i) for i in range(5)])
    assert _gather.count(batch) == 5
    assert digest(_gather.cut(batch, 1, 3)) == digest(default_collate([sample(1), sample(2)]))


# --- layouts -----------------------------------------------------------------------------------

def test_by_batch_draws_late():
    drawn = []

    def lists():
        for n in range(3):
            drawn.append(n)
            yield [n] * (4 - n)

    layout = _layout.ByBatch(lists(), 2**40, True, True)
    assert not drawn
    assert layout.has(1) and drawn == [0, 1]
    assert layout.batch(1) == (4, [1, 1, 1])
    assert not layout.has(3) and layout.batches == 3
    assert layout.is_short(2) and not layout.is_short(0)
    assert dict(layout.near(1, 9, True).items()) == {1: (4, [1, 1, 1]), 2: (7, [2, 2])}


def test_near_is_the_units_of_an_order():
    layout = _layout.BySample(_layout.flat(range(100, 130)), 8, 4, False)
    near = dict(layout.near(2, 5, True).items())
    assert near == {u: layout.unit(u) for u in (2, 3, 4, 5)}
    assert layout.first_batch(1) == 1 and layout.first_batch(2) == 1
    assert [layout.is_short(n) for n in range(4)] == [False, False, False, True]


def test_flat_keeps_what_is_no_number():
    assert _layout.flat(["a", 1]) == ["a", 1]
    assert _layout.flat([2**70]) == [2**70]
    assert isinstance(_layout.flat([1, 2]), array.array)


# --- which job ---------------------------------------------------------------------------------

@pytest.fixture
def fresh(monkeypatch):
    for names in _job._RANKS:
        for name in names:
            monkeypatch.delenv(name, raising=False)
    _job._process_name.cache_clear()
    yield monkeypatch
    _job._process_name.cache_clear()


def named(fresh, **env):
    for name, value in env.items():
        fresh.setenv(name, value)
    _job._process_name.cache_clear()
    return _job.name()


@pytest.mark.parametrize("size, rank", _job._RANKS)
def test_ranks_are_one_job(fresh, size, rank):
    alone = named(fresh)
    assert named(fresh, **{rank: "0", size: "1"}) == alone     # a world of one
    first = named(fresh, **{rank: "0", size: "2"})
    assert first != alone                                       # that of its launcher
    assert named(fresh, **{rank: "1"}) == first
    assert named(fresh, DESTALL_JOB="another") != first


def test_threads_are_jobs(fresh):
    names, barrier = [], threading.Barrier(3)

    def trial():
        barrier.wait()
        names.append((_job.name(), _job.name()))
        barrier.wait()

    threads = [threading.Thread(target=trial) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len({*names, (_job.name(),) * 2}) == 4
    assert all(a == b and len(a) == 16 for a, b in names)


def test_nth_of_those_that_iterate_at_a_time():
    assert [_job.enter("j", "m") for _ in range(3)] == [0, 1, 2]
    _job.leave("j", "m", 1)
    assert _job.enter("j", "m") == 1
    assert _job.enter("j", "other") == _job.enter("k", "m") == 0
    for job, mark, nth in (("j", "m", 0), ("j", "m", 1), ("j", "m", 2), ("j", "other", 0),
                           ("k", "m", 0)):
        _job.leave(job, mark, nth)
    assert not [key for key in _job._now if key[0] in "jk"]


# --- seeding once a batch, where nothing is drawn ------------------------------------------------

class Seldom(Dataset):
    """Draws at some samples only."""

    def __init__(self, drawing):
        self.drawing = drawing

    def __getitem__(self, i):
        x = torch.rand(1) + i
        return x + random.random() if i in self.drawing else x


def made_by(recipe):
    batches = [list(range(8 * n, 8 * n + 8)) for n in range(5)]
    return [digest(recipe.make(3, 1, b[0], b)) for b in batches]


@pytest.mark.parametrize("drawing", ((), (0,), (8,), (20, 21), (39,)))
def test_quiet_or_not(drawing):
    quiet, loud = (_make.Recipe(Seldom(drawing), True, default_collate) for _ in range(2))
    loud.is_quiet = False
    assert made_by(quiet) == made_by(loud)
    assert quiet.is_quiet == (not drawing)


def test_quiet_until_it_fails():
    """What is raised is raised once more, by the sample that raised it."""
    class Failing(Seldom):
        def __getitem__(self, i):
            if i == 12:
                raise KeyError(i)
            return super().__getitem__(i)

    recipe = _make.Recipe(Failing(()), True, default_collate)
    recipe.make(3, 1, 0, list(range(8)))
    assert recipe.is_quiet
    with pytest.raises(KeyError):
        recipe.make(3, 1, 8, list(range(8, 16)))


class Own(collections.UserDict):
    """Of the program's own, that is made otherwise."""

    def __init__(self, a, b):
        super().__init__(a=a, b=b)


@pytest.mark.parametrize("part", (collections.UserDict(a=torch.arange(4), b=["x", "y", "z", "u"]),
                                  Own(torch.arange(4), ["x", "y", "z", "u"])))
def test_mappings_that_are_no_dict(part):
    assert _gather.count(part) == 4
    parts = [_gather.cut(part, 0, 1), _gather.cut(part, 1, 4)]
    whole = _gather.join(parts)
    assert whole["a"].tolist() == [0, 1, 2, 3] and whole["b"] == ["x", "y", "z", "u"]
    assert type(whole) is (dict if type(part) is Own else collections.UserDict)


# --- what an epoch keeps --------------------------------------------------------------------------

def test_what_is_drawn_for_ever_is_forgotten():
    layout = _layout.ByBatch(([i, i + 1] for i in itertools.count()), 2**40, True, True)
    for n in range(1000):
        assert layout.has(n + 8)
        assert layout.batch(n) == (2 * n, [n, n + 1])
        near = dict(layout.near(max(n - 1, 0), n + 8, False).items())
        assert near[max(n - 1, 0)] == layout.batch(max(n - 1, 0)) and near[n + 8][1][0] == n + 8
        layout.forget(n)
    assert len(layout.lists) < 100


def test_what_may_be_turned_is_kept():
    layout = _layout.ByBatch(([i] for i in range(300)), 300, True, False)
    assert layout.has(299)
    layout.forget(299)
    assert layout.batch(0) == (0, [0])


def test_what_is_made_to_compare_is_not_pinned():
    assert _fetcher.is_of_stage(_worker.Proof((torch.ones(1),)))


# --- settings -------------------------------------------------------------------------------------

@pytest.mark.parametrize("text, share", (
    (None, 0), ("", 0), ("0", 0), ("0.01", 0.01), ("1", 1), ("1%", None), ("5", None),
    ("-1", None), ("nan", None)))
def test_the_audit(text, share, capsys):
    _place._audit_share.cache_clear()
    assert _place._audit_share(text) == (share or 0) == _place._audit_share(text)
    said = capsys.readouterr().err
    assert said == ("" if share is not None else "destall: DESTALL_AUDIT=%s is no fraction such as "
                    "0.01: nothing is audited\n" % text)
