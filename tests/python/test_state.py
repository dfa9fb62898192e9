# SPDX-License-Identifier: Apache-2.0
"""What samples depend on, as a digest: loader/python/destall/_state.py."""

import collections
import ctypes
import dataclasses
import datetime
import enum
import functools
import logging
import multiprocessing
import os
import pathlib
import random
import re
import sqlite3
import subprocess
import sys
import threading
import time
import weakref

import numpy
import pytest
import torch
import torch.utils.data

from PIL import Image
from torchvision import transforms

from destall import _seeds, _state, _watch

FACTOR = 0.5


def scaled(x):
    return x * FACTOR


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Holder:
    def __init__(self, **values):
        self.__dict__.update(values)


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


@dataclasses.dataclass
class Options:
    size: int = 3


class Lazy:
    """Opens its file late, and says how it is copied."""

    def __init__(self, name, file=None, opened=1):
        self.opened, self.name, self.file = opened, name, file

    def __getstate__(self):
        return {"name": self.name}


class Endless(list):
    def __iter__(self):
        raise AssertionError("the program's own code was called")

    def __repr__(self):
        raise AssertionError("the program's own code was called")


@functools.lru_cache(maxsize=2)
def cached(x):
    return x * FACTOR


class Script(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def forward(self, x):
        return x * self.n


def weak(n):
    target = Holder(a=n)
    return [target, weakref.ref(target), weakref.WeakMethod(target.__init__)]


def table(values, **how):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({"a": values, "b": [{"x": [i]} for i in range(len(values))]}, **how)


def frame(values):
    pandas = pytest.importorskip("pandas")
    found = pandas.DataFrame({"a": values, "b": ["x"] * len(values)}).set_index("a")
    found.loc[values[0]]        # it keeps how that was found
    return found


def rows(values):
    datasets = pytest.importorskip("datasets")
    found = datasets.Dataset.from_dict({"a": values})
    found._fingerprint = os.urandom(8).hex()
    return found


def words(name):
    tokenizers = pytest.importorskip("tokenizers")
    return tokenizers.Tokenizer(tokenizers.models.WordLevel({name: 0, "?": 1}, unk_token="?"))


def masked(mask):
    return numpy.ma.array([1, 2], mask=[mask, False])


def turned(n):
    return torch.arange(n * 2.0).view(2, n)


def shared_number(n, kind="i"):
    return multiprocessing.get_context("fork").Value(kind, n)


def digest(obj):
    state = _state.State()
    state.add("it", obj)
    return state.digest()


def adder(n):
    return lambda x: x + n


def defaulted(n):
    def function(x, m=n):
        return x + m
    return function


def cyclic(n):
    one = [n]
    one.append(one)
    return one


PAIRS = {                       # made twice alike, and once otherwise
    "numbers": (lambda: [1, 2.5], lambda: [1, 2.6]),
    "an int and a float": (lambda: 1, lambda: 1.0),
    "text and bytes": (lambda: "a", lambda: b"a"),
    "borders": (lambda: ["ab", "c"], lambda: ["a", "bc"]),
    "nesting": (lambda: [[1], 2], lambda: [1, [2]]),
    "a closure": (lambda: adder(1), lambda: adder(2)),
    "a default": (lambda: defaulted(1), lambda: defaulted(2)),
    "a partial": (lambda: functools.partial(scaled, 1), lambda: functools.partial(scaled, 2)),
    "code": (lambda: lambda x: x + 1, lambda: lambda x: x - 1),
    "a constant in it": (lambda: lambda x: x + 1, lambda: lambda x: x + 2),
    "attributes": (lambda: Holder(a=1), lambda: Holder(a=2)),
    "slots": (lambda: Slotted(1), lambda: Slotted(2)),
    "an array": (lambda: numpy.arange(5), lambda: numpy.arange(1, 6)),
    "its type": (lambda: numpy.arange(5), lambda: numpy.arange(5.0)),
    "its shape": (lambda: numpy.zeros((2, 3)), lambda: numpy.zeros((3, 2))),
    "a tensor": (lambda: torch.arange(5), lambda: torch.arange(1, 6)),
    "half a tensor": (lambda: torch.ones(3, dtype=torch.bfloat16),
                      lambda: torch.zeros(3, dtype=torch.bfloat16)),
    "an enum": (lambda: Colour.RED, lambda: Colour.BLUE),
    "a set": (lambda: {"x", "y", "z"}, lambda: {"x", "y", "w"}),
    "keys in their order": (lambda: {"a": 1, "b": 2}, lambda: {"b": 2, "a": 1}),
    "a method": (lambda: Holder(a=1).__init__, lambda: Holder(a=2).__init__),
    "a long list": (lambda: [("p%d" % i, i) for i in range(500)],
                    lambda: [("p%d" % i, i) for i in range(1, 501)]),
    "one value of it": (lambda: [0.0] * 500, lambda: [0.0] * 499 + [-0.0]),
    "a module": (lambda: Holder(a=torch), lambda: Holder(a=numpy)),
    "a partial's keywords": (lambda: functools.partial(scaled, x=1),
                             lambda: functools.partial(scaled, x=2)),
    "a picture": (lambda: Image.new("L", (4, 4), 1), lambda: Image.new("L", (4, 4), 2)),
    "a path": (lambda: pathlib.Path("/a"), lambda: pathlib.Path("/b")),
    "a pattern": (lambda: re.compile("a"), lambda: re.compile("b")),
    "a date": (lambda: datetime.date(2020, 1, 1), lambda: datetime.date(2020, 1, 2)),
    "a deque": (lambda: collections.deque([1]), lambda: collections.deque([2])),
    "an ordered mapping": (lambda: collections.OrderedDict(a=1),
                           lambda: collections.OrderedDict(a=2)),
    "a module of layers": (lambda: torch.nn.Threshold(0, 1), lambda: torch.nn.Threshold(0, 2)),
    "transforms": (lambda: transforms.Compose([transforms.Resize(5)]),
                   lambda: transforms.Compose([transforms.Resize(6)])),
    "itself": (lambda: cyclic(1), lambda: cyclic(2)),
    "a range": (lambda: range(3), lambda: range(4)),
    "a cached function": (lambda: cached, lambda: functools.lru_cache(adder(1))),
    "a ufunc": (lambda: numpy.add, lambda: numpy.multiply),
    "an array's dtype": (lambda: numpy.dtype("f4"), lambda: numpy.dtype("f8")),
    "a tensor's dtype": (lambda: torch.float32, lambda: torch.float64),
    "a device": (lambda: torch.device("cpu"), lambda: torch.device("meta")),
    "a size": (lambda: torch.Size([1, 2]), lambda: torch.Size([2, 1])),
    "strides": (lambda: turned(2), lambda: turned(2).t().contiguous().t()),
    "a scripted module": (lambda: torch.jit.script(Script(2)), lambda: torch.jit.script(Script(3))),
    "a weak reference": (lambda: weak(1), lambda: weak(2)),
    "a dataclass": (lambda: Options(3), lambda: Options(4)),
    "a mask": (lambda: masked(True), lambda: masked(False)),
    "names of fields": (lambda: numpy.zeros(2, [("a", "i4")]),
                        lambda: numpy.zeros(2, [("b", "i4")])),
    "a number of processes": (lambda: shared_number(1), lambda: shared_number(2)),
    "numbers of ctypes": (lambda: (ctypes.c_int * 2)(1, 2), lambda: (ctypes.c_int * 2)(1, 3)),
    "a large mapping": (lambda: {"p%d" % i: [i, {"x": (i,)}] for i in range(99)},
                        lambda: {"p%d" % i: [i, {"x": (i, 0)}] for i in range(99)}),
    "a large set": (lambda: set(range(999)), lambda: set(range(1, 1000))),
    "numbers of another type": (lambda: [0] * 99, lambda: [False] * 99),
    "an Arrow table": (lambda: table([1, 2, 3]), lambda: table([1, 2, 4])),
    "a part of one": (lambda: table([1, 2, 3]).slice(1), lambda: table([1, 2, 3]).slice(0, 2)),
    "a data frame": (lambda: frame([1, 2]), lambda: frame([1, 3])),
    "rows of datasets": (lambda: rows([1, 2]), lambda: rows([1, 3])),
    "a tokenizer": (lambda: words("a"), lambda: words("b")),
    "a list that is more": (lambda: Endless([1]), lambda: Endless([2])),
    "one that opens late": (lambda: Lazy("a", open(__file__)), lambda: Lazy("b", open(__file__))),
}


@pytest.mark.parametrize("name", PAIRS)
def test_tells_them_apart(name):
    make, other = PAIRS[name]
    assert digest(make()) == digest(make())
    assert digest(make()) != digest(other())


def test_globals_that_the_code_names():
    global FACTOR
    before = digest(scaled)
    FACTOR = 0.6
    try:
        assert digest(scaled) != before
    finally:
        FACTOR = 0.5
    assert digest(scaled) == before


def test_randomness_of_its_own_is_found_and_does_not_count():
    def make(seed):
        return Holder(a=random.Random(seed), b=[numpy.random.default_rng(seed)],
                      c={"x": torch.Generator().manual_seed(seed)},
                      d=numpy.random.RandomState(seed))
    assert digest(make(1)) == digest(make(2))
    state = _state.State()
    state.add("it", make(1))
    assert len(state.sources) == 4


def generate():
    yield 1


def deep(n):
    found = []
    for _ in range(n):
        found = [found]
    return found


class Hostile:
    @property
    def __dict__(self):
        raise OSError("no")


@pytest.mark.parametrize("make, where", [
    (lambda: Holder(file=open(__file__)), "it.file is a TextIOWrapper"),
    (lambda: Holder(deep=[{"x": generate()}]), "it.deep.0.x is a generator"),
    (lambda: threading.Thread(), "it is a Thread"),
    (lambda: Holder(view=memoryview(b"x")), "it.view is a memoryview"),
    (lambda: Holder(base=sqlite3.connect(":memory:")), "it.base is a Connection"),
    (lambda: Holder(r=random.SystemRandom()), "it.r is a SystemRandom"),
    (lambda: ctypes.c_void_p(5), "it is an address"),
    (lambda: deep(100_000), "not to be looked into .RecursionError"),
    (lambda: Hostile(), "not to be looked into .OSError: no"),
])
def test_what_cannot_be_told_is_named(make, where):
    with pytest.raises(_state.Opaque, match=where):
        digest(make())


class OwnLogger(logging.Logger):
    pass


@pytest.mark.parametrize("make", [
    threading.Lock, threading.RLock, multiprocessing.Lock,
    lambda: OwnLogger(str(time.monotonic_ns())), lambda: logging.StreamHandler(),
], ids=["Lock", "RLock", "processes' Lock", "Logger", "Handler"])
def test_locks_and_loggers_say_nothing(make):
    assert digest(Holder(a=make())) == digest(Holder(a=make()))


def test_numbers_of_bits_are_sources_too():
    state = _state.State()
    state.add("it", [numpy.random.PCG64(1)])
    assert len(state.sources) == 1
    sources = _seeds.Sources(state.sources)
    kept = sources.keep()
    sources.seed(5)
    first = state.sources[0].random_raw()
    sources.seed(5)
    assert state.sources[0].random_raw() == first
    sources.restore(kept)
    assert state.sources[0].random_raw() == numpy.random.PCG64(1).random_raw()


class WorkerInfo:
    """As newer PyTorch has it: of slots, and frozen."""

    __slots__ = ("seed",)

    def __setattr__(self, name, value):
        raise AttributeError(name)


@pytest.mark.parametrize("info", [
    WorkerInfo(), torch.utils.data._utils.worker.WorkerInfo(
        id=0, num_workers=1, seed=1, dataset=None),
], ids=["slots", "PyTorch's"])
def test_workers_are_told_the_seed(monkeypatch, info):
    monkeypatch.setattr(_seeds, "get_worker_info", lambda: info)
    _seeds.Sources().seed(5)
    assert info.seed == 5


def test_a_set_that_leads_to_itself():
    def make(n):
        one = Holder(a=n)
        one.others = {one, Holder(a=3)}
        return one
    assert digest(make(1)) == digest(make(1)) != digest(make(2))


def test_what_is_opaque_leaves_nothing_behind():
    """What was walked before it, of one that says how it is copied."""
    with open(__file__) as one, open(os.devnull) as other:
        assert digest(Lazy("a", one, 1)) == digest(Lazy("a", other, 2))


def test_a_large_file_in_memory_is_told_by_the_file(tmp_path):
    path = str(tmp_path / "numbers.npy")
    numpy.save(path, numpy.zeros(1 << 18))

    def mapped(at=0):
        return numpy.load(path, mmap_mode="r")[at:]

    before = digest(mapped())
    os.utime(path, ns=(1, 1))
    assert digest(mapped()) != before           # not by its contents
    assert digest(mapped()) == digest(mapped()) == digest(mapped())
    assert digest(mapped()) != digest(mapped(1))
    kept = mapped()
    shown = digest(kept)
    numpy.save(path + ".new.npy", numpy.ones(1 << 18))
    os.replace(path + ".new.npy", path)
    assert digest(kept) not in (shown, digest(mapped()))


def test_memory_that_may_be_written_is_told_by_its_contents(tmp_path):
    path = str(tmp_path / "numbers.npy")
    numpy.save(path, numpy.zeros(1 << 18))
    array = numpy.load(path, mmap_mode="c")
    before = digest(array)
    array[5] = 1
    assert digest(array) != before


def test_seeders_of_frameworks_do_not_count(monkeypatch):
    def seed_worker(worker, num_workers, rank):
        pass
    for name, value in (("__module__", "transformers.trainer_utils"),
                        ("__qualname__", "seed_worker")):
        setattr(seed_worker, name, value)
    assert digest(functools.partial(seed_worker, num_workers=1, rank=0)) == \
        digest(functools.partial(seed_worker, num_workers=2, rank=0))


def test_columns_that_a_trainer_keeps_have_no_order():
    class RemoveColumnsCollator:
        def __init__(self, *columns):
            self.data_collator, self.signature_columns = len, list(columns)
            self.message_logged = len(columns) > 2
    RemoveColumnsCollator.__module__ = "transformers.trainer_utils"
    RemoveColumnsCollator.__qualname__ = "RemoveColumnsCollator"
    some = digest(RemoveColumnsCollator("a", "b"))
    assert digest(RemoveColumnsCollator("b", "a", "a")) == some
    assert digest(RemoveColumnsCollator("a", "c")) != some


def test_methods_that_a_library_looks_up_have_no_order():
    """Albumentations makes such a mapping from a set."""
    chain = transforms.Compose([])
    methods = {"a": chain.eval, "b": chain.train} if hasattr(chain, "eval") else {
        "a": chain.__call__, "b": chain.__repr__}
    assert digest(methods) == digest(dict(reversed(list(methods.items()))))


def test_equal_in_another_process():
    """Whatever its addresses and hashes are."""
    code = ("import sys, numpy, torch; sys.path[:0] = %r; from destall import _state\n"
            "s = _state.State(); s.add('it', [{'a', 'b', 'c'}, lambda x: x + 1, torch.ones(3),"
            " torch.nn.Linear, numpy.add, torch.jit.script(torch.nn.Linear(2, 2).eval().apply("
            "lambda m: [p.data.zero_() for p in m.parameters()])), {str, int, numpy.add},"
            " [('p%%d' %% i, i) for i in range(99)]]); print(s.digest())" % sys.path)
    digests = {subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                              env={"PYTHONHASHSEED": str(seed), "PATH": "/usr/bin:/bin"}).stdout
               for seed in (1, 2)}
    assert len(digests) == 1


epoch = 0               # of a program, which has it for itself


class Counts:
    """An attribute has the name of a global."""

    def __init__(self):
        self.epoch = 5

    def __getitem__(self, i):
        return i + self.epoch


class Uses:
    def __getitem__(self, i):
        return [i + epoch for _ in range(2)]


def test_attributes_are_no_globals():
    global epoch
    before = digest(Counts()), digest(Uses())
    epoch += 1
    assert digest(Counts()) == before[0]
    assert digest(Uses()) != before[1]


# --- quick looks, and those who watch --------------------------------------------------------

class Watched:
    def __init__(self):
        self.factor, self.paths = 1, ["p%d" % i for i in range(100)]
        self.weights, self.table = torch.zeros(1 << 15), numpy.zeros(1 << 15)


def replace_paths(data):
    data.paths = list(data.paths)


def replace_table(data):
    data.table = data.table.copy()


CHANGES = {
    "a number": lambda data: setattr(data, "factor", 2),
    "another list": replace_paths,
    "a longer list": lambda data: data.paths.append("more"),
    "another array": replace_table,
    "in a tensor": lambda data: data.weights.add_(1),
}


def look(data, is_quick=True):
    state = _state.State(is_quick)
    state.add("it", data)
    return state


@pytest.mark.parametrize("name", CHANGES)
def test_seen_quickly(name):
    data = Watched()
    before, again = look(data), look(data)
    assert before.digest() == again.digest()
    CHANGES[name](data)
    assert look(data).digest() != before.digest()


def test_not_seen_quickly():
    """What is in them: else it would not be quick."""
    data = Watched()
    before = look(data)
    data.paths[5] = "other"
    data.table[5] = 1
    assert look(data).digest() == before.digest()


def watch(data, looks, look_s):
    """Looks take as long as told: [whole, quick]."""
    def find(is_quick):
        looks.append(is_quick)
        end = time.thread_time() + look_s[is_quick]
        while time.thread_time() < end:
            pass
        return look(data, is_quick)
    one = _watch.Watch(find)
    one.begin()
    looks.clear()
    return one


def test_all_is_looked_at_where_that_is_cheap():
    data, looks = Watched(), []
    one = watch(data, looks, [0, 0])
    assert one.is_unchanged() and one.is_surely_unchanged(0) and set(looks) == {False}
    data.paths[5] = "other"
    assert not one.is_unchanged() and not one.is_surely_unchanged(0)


def test_a_quick_look_is_taken_where_all_takes_long():
    data, looks = Watched(), []
    one = watch(data, looks, [0.5, 0])
    assert one.is_unchanged() and set(looks) == {True}
    assert not one.is_surely_unchanged(1)       # that would take too long: it is not for others
    data.factor = 2
    assert not one.is_unchanged() and set(looks) == {True}
