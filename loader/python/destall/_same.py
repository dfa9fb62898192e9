# SPDX-License-Identifier: Apache-2.0
"""Are two batches the same: structure, types, strides, every byte?"""

import pickle
import struct
import sys

import torch


def find_difference(a, b, path="batch"):
    """Where they differ, and how; None: nowhere."""
    if type(a) is not type(b):
        return "%s is a %s, and a %s" % (path, type(a).__name__, type(b).__name__)
    if isinstance(a, torch.Tensor):
        return _tensors(a, b, path)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(a, numpy.ndarray):
        return _arrays(a, b, path)
    if isinstance(a, dict):
        if list(a) != list(b):
            return "%s has other keys" % path
        return _first(("%s[%r]" % (path, k), a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        if len(a) != len(b):
            return "%s has %d items, and %d" % (path, len(a), len(b))
        return _first(("%s[%d]" % (path, i), x, y) for i, (x, y) in enumerate(zip(a, b)))
    if isinstance(a, float):
        return None if struct.pack("<d", a) == struct.pack("<d", b) else "%s is %r, and %r" % (
            path, a, b)
    return _others(a, b, path)


def _first(pairs):
    for path, a, b in pairs:
        found = find_difference(a, b, path)
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


def _arrays(a, b, path):
    # Not by strides: what went through a queue or a slot has none of its own.
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return "%s is %s %s, and %s %s" % (path, a.dtype, a.shape, b.dtype, b.shape)
    if a.dtype.hasobject:
        return find_difference(a.tolist(), b.tolist(), path)
    return None if a.tobytes() == b.tobytes() else "%s has other values" % path


def _others(a, b, path):
    if hasattr(a, "__dict__") and not isinstance(a, type):
        return find_difference(vars(a), vars(b), path)
    try:
        same = a == b
    except Exception:
        same = False
    if same is True:
        return None
    return None if pickle.dumps(a) == pickle.dumps(b) else "%s has another value" % path
