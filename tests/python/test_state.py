# SPDX-License-Identifier: Apache-2.0
"""What samples depend on, as a digest: loader/python/destall/_state.py."""

import collections
import datetime
import enum
import functools
import pathlib
import random
import re
import subprocess
import sys
import threading

import numpy
import pytest
import torch

from PIL import Image
from torchvision import transforms

from destall import _state

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


@pytest.mark.parametrize("make, where", [
    (lambda: Holder(file=open(__file__)), "it.file is a TextIOWrapper"),
    (lambda: Holder(deep=[{"x": generate()}]), "it.deep.0.x is a generator"),
    (lambda: threading.Thread(), "it is a Thread"),
    (lambda: Holder(view=memoryview(b"x")), "it.view is a memoryview"),
])
def test_what_cannot_be_told_is_named(make, where):
    with pytest.raises(_state.Opaque, match=where):
        digest(make())


def test_locks_and_loggers_say_nothing():
    assert digest(Holder(a=threading.Lock())) == digest(Holder(a=threading.Lock()))


def test_equal_in_another_process():
    """Whatever its addresses and hashes are."""
    code = ("import sys, torch; sys.path[:0] = %r; from destall import _state\n"
            "s = _state.State(); s.add('it', [{'a', 'b', 'c'}, lambda x: x + 1, torch.ones(3),"
            " torch.nn.Linear, [('p%%d' %% i, i) for i in range(99)]]); print(s.digest())" % sys.path)
    digests = {subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                              env={"PYTHONHASHSEED": str(seed), "PATH": "/usr/bin:/bin"}).stdout
               for seed in (1, 2)}
    assert len(digests) == 1
