# SPDX-License-Identifier: Apache-2.0
"""Are two batches the same: structure, types, strides, every byte?"""

import struct
import sys
import types

import torch

_PLAIN = (str, bytes, int, float, bool, type(None))


def find_difference(a, b, path="batch", seen=None):
    """Where they differ, and how; None: nowhere."""
    seen = {} if seen is None else seen
    if type(a) is not type(b):
        return "%s is a %s, and a %s" % (path, type(a).__name__, type(b).__name__)
    if isinstance(a, _PLAIN):
        return _plain(a, b, path)
    if (id(a), id(b)) in seen:
        return None
    seen[id(a), id(b)] = a, b           # kept, so that no number is used twice
    numpy = sys.modules.get("numpy")
    if isinstance(a, torch.Tensor):
        return _tensors(a, b, path) or _beside(a, b, path, seen)
    if numpy is not None and isinstance(a, numpy.ndarray):
        return _arrays(a, b, path, seen) or _beside(a, b, path, seen)
    if type(a) is dict:
        if list(a) != list(b):
            return "%s has other keys" % path
        return _first((("%s[%r]" % (path, k), a[k], b[k]) for k in a), seen)
    if type(a) in (list, tuple):
        if len(a) != len(b):
            return "%s has %d items, and %d" % (path, len(a), len(b))
        return _first((("%s[%d]" % (path, i), x, y) for i, (x, y) in enumerate(zip(a, b))), seen)
    return _others(a, b, path, seen)


def _plain(a, b, path):
    if isinstance(a, float):
        same = struct.pack("<d", a) == struct.pack("<d", b)
    else:
        same = a == b
    return None if same else "%s is %r, and %r" % (path, a, b)


def _first(pairs, seen):
    for path, a, b in pairs:
        found = find_difference(a, b, path, seen)
        if found is not None:
            return found
    return None


def _tensors(a, b, path):
    if (a.dtype, a.shape, a.stride()) != (b.dtype, b.shape, b.stride()):
        return "%s is %s %s, and %s %s" % (path, a.dtype, tuple(a.shape), b.dtype, tuple(b.shape))
    if a.numel() == 0:
        return None
    x, y = (t.detach().resolve_conj().resolve_neg().contiguous().view(-1).view(torch.uint8)
            for t in (a, b))
    return None if torch.equal(x, y) else "%s has other values" % path


def _arrays(a, b, path, seen):
    # Not by strides: what went through a queue or a slot has none of its own.
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return "%s is %s %s, and %s %s" % (path, a.dtype, a.shape, b.dtype, b.shape)
    if a.dtype.hasobject:
        return find_difference(a.tolist(), b.tolist(), path, seen)
    return None if a.tobytes() == b.tobytes() else "%s has other values" % path


def _beside(a, b, path, seen):
    """The memory: a mask, the format of boxes."""
    if type(a) in (torch.Tensor, torch.nn.Parameter) or not getattr(a, "__dict__", None):
        return None
    return find_difference(dict(vars(a)), dict(vars(b)), path, seen)


def _others(a, b, path, seen):
    """By what they would be copied by, which is all that another process would get of them."""
    if a is b or isinstance(a, (type, types.FunctionType)):
        return None if a is b else "%s is another %s" % (path, type(a).__name__)
    if isinstance(a, (set, frozenset)):
        return None if a == b else "%s has other items" % path
    try:
        x, y = _parts(a), _parts(b)
    except Exception:
        same = a == b
        return None if same is True else "%s is a %s, which cannot be compared" % (
            path, type(a).__name__)
    return find_difference(x, y, path, seen)


def _parts(obj):
    parts = obj.__reduce_ex__(4)
    if isinstance(parts, str):
        return parts
    return tuple(list(part) if hasattr(part, "__next__") else part for part in parts)
