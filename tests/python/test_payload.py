# SPDX-License-Identifier: Apache-2.0
"""Batches as bytes, and back: loader/python/destall/_payload.py."""

import collections
import ctypes
import gc

import numpy
import pytest
import torch

from PIL import Image

from destall import _payload
from destall._same import find_difference

Point = collections.namedtuple("Point", "x y")


ROOT = 2**64 - 3


class Custom:
    def __init__(self, tensor):
        self.tensor, self.name = tensor, "custom"


class Memory:
    """Aligned, as a slot is."""

    def __init__(self, size):
        self._bytes = ctypes.create_string_buffer(size + 64)
        self.address = -(-ctypes.addressof(self._bytes) // 64) * 64


def round_trip(batch, arena_size=0):
    memory = Memory(max(arena_size, 1 << 20))
    packed = _payload.Packed(batch)
    packed.write(memory.address, ROOT)
    released = []
    out, root = _payload.unpack(memory.address, packed.size, lambda: released.append(memory))
    assert root == ROOT
    return out, released


class Tagged(torch.Tensor):
    """With an attribute, as boxes of torchvision have."""


def tagged(tag):
    tensor = torch.ones(2).as_subclass(Tagged)
    tensor.tag = tag
    return tensor


def looped(n):
    one = [n]
    one.append(one)
    return one


BASE = torch.arange(24.0).view(2, 3, 4)
BATCHES = {
    "tensor": BASE,
    "scalar": torch.tensor(3),
    "empty": torch.empty(0, 3),
    "empty strides": torch.empty(3, 0).t(),
    "bool": torch.tensor([True, False]),
    "bfloat16": torch.ones(3, dtype=torch.bfloat16),
    "complex": torch.ones(3, dtype=torch.complex64),
    "transposed": BASE.transpose(0, 2),
    "channels last": torch.rand(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
    "expanded": torch.ones(1).expand(4, 3),
    "a little of much": torch.rand(100_000)[5:8],
    "parameter": torch.nn.Parameter(torch.ones(2)),
    "wants a gradient": torch.ones(2, requires_grad=True),
    "array": numpy.arange(5),
    "fortran": numpy.asfortranarray(numpy.ones((2, 3))),
    "strided array": numpy.arange(20)[::3],
    "structured": numpy.zeros(3, dtype=[("a", "i4"), ("b", "f8")]),
    "objects": numpy.array(["a", None, 3], dtype=object),
    "mapping": {"image": BASE, "label": [1, 2], "name": ["a", "b"]},
    "named": Point(torch.ones(2), "y"),
    "custom": Custom(torch.ones(3)),
    "packed": torch.nn.utils.rnn.pack_sequence([torch.ones(3), torch.ones(2)]),
    "numbers": (1, 2.5, None, b"bytes", "text", True, float("nan")),
    "tagged": tagged("a"),
    "picture": Image.new("L", (4, 4), 1),
    "a loop": looped(1),
    "masked": numpy.ma.array([1, 2], mask=[True, False]),
    "ordered": collections.OrderedDict(a=torch.ones(2)),
    "nested": [[{"a": (torch.ones(1), [numpy.ones(2)])}]],
}


@pytest.mark.parametrize("name", BATCHES)
def test_comes_back_as_it_was(name):
    out, _ = round_trip(BATCHES[name])
    assert find_difference(BATCHES[name], out) is None
    if isinstance(out, torch.Tensor):
        assert out.requires_grad == BATCHES[name].requires_grad


@pytest.mark.parametrize("a, b", [
    (tagged("a"), tagged("b")),
    (Image.new("L", (4, 4), 1), Image.new("L", (4, 4), 2)),
    (looped(1), looped(2)),
    (numpy.ma.array([1, 2], mask=[True, False]), numpy.ma.array([1, 2], mask=[True, True])),
    (Custom(torch.ones(3)), Custom(torch.zeros(3))),
    (collections.OrderedDict(a=1), collections.OrderedDict(a=2)),
    (0.0, -0.0),
])
def test_differences_are_seen(a, b):
    assert find_difference([a], [b]) is not None
    assert find_difference([a], [a]) is None


def test_a_class_that_is_not_here_is_named(monkeypatch):
    memory = Memory(1 << 20)
    packed = _payload.Packed(Custom(torch.ones(3)))
    packed.write(memory.address, ROOT)
    monkeypatch.delattr(__name__ + ".Custom")
    with pytest.raises(_payload.NotShareable, match="Custom"):
        _payload.unpack(memory.address, packed.size, lambda: None)


def test_what_was_one_memory_is_one_again():
    out, _ = round_trip({"all": BASE, "part": BASE[1:], "turned": BASE.transpose(0, 1)})
    out["part"][0, 0, 0] = 99
    assert out["all"][1, 0, 0] == 99
    assert out["turned"][0, 1, 0] == 99


def test_released_when_nothing_is_used_any_more():
    out, released = round_trip({"a": torch.ones(5), "b": numpy.ones(3)})
    view = out["a"][1:3]
    del out
    gc.collect()
    assert not released
    assert view.tolist() == [1, 1]
    del view
    gc.collect()
    assert len(released) == 1


@pytest.mark.parametrize("batch, why", [
    (torch.sparse_coo_tensor([[0]], [1.0], (2,)), "sparse"),
    (torch.ones(2, requires_grad=True) * 2, "graph"),
    (lambda: 0, "lambda"),
])
def test_what_means_nothing_elsewhere_is_named(batch, why):
    with pytest.raises(_payload.NotShareable, match=why):
        _payload.Packed([batch])


def test_made_where_it_will_lie():
    memory = Memory(1 << 20)
    arena = _payload.Arena(memory.address, 1 << 20)
    large = arena.tensor(torch.float32, (8, 3, 32, 32))
    torch.stack([torch.full((3, 32, 32), float(i)) for i in range(8)], 0, out=large)
    packed = _payload.Packed([large, torch.arange(8)], arena)
    packed.write(memory.address, ROOT)
    assert packed.size < large.numel() * 4 + 2000
    out, _ = _payload.unpack(memory.address, packed.size, lambda: None)
    assert find_difference([large, torch.arange(8)], out) is None
    assert out[0].data_ptr() == large.data_ptr()
    assert arena.tensor(torch.uint8, (1 << 21,)) is None


@pytest.mark.parametrize("at", [0, 8, 16, 24])
def test_other_bytes_are_no_batch(at):
    memory = Memory(1 << 20)
    packed = _payload.Packed(BASE)
    packed.write(memory.address, ROOT)
    ctypes.memset(memory.address + at, 0xff, 8)
    with pytest.raises(_payload.NotShareable):
        _payload.unpack(memory.address, packed.size, lambda: None)
