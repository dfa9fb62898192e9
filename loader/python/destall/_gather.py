# SPDX-License-Identifier: Apache-2.0
"""Batches of one size from batches of another, as PyTorch's default collate
function would have made them: of each piece of memory some rows, put together.
"""

from collections.abc import Mapping

import torch


def _is_leaf(part):
    """What has one item for each sample; a list of columns is none."""
    return isinstance(part, torch.Tensor) or \
        isinstance(part, (list, tuple)) and len(part) > 0 and isinstance(part[0], (str, bytes))


def _like(part, values):
    """A container as part is, of these values."""
    if isinstance(part, Mapping):
        plain = dict(zip(part, values))
        try:
            return type(part)(plain)
        except Exception:       # one that is made otherwise: PyTorch gives a plain one, too
            return plain
    if hasattr(part, "_fields"):
        return type(part)(*values)
    return type(part)(values)


def _children(part):
    return [part[key] for key in part] if isinstance(part, Mapping) else list(part)


def leaves(batch):
    if _is_leaf(batch):
        yield batch
    else:
        for child in _children(batch):
            yield from leaves(child)


def count(batch):
    """Of samples in it."""
    return next((len(leaf) for leaf in leaves(batch)), 1)


def cut(batch, first, end):
    """Samples first .. end - 1 of it, without a copy."""
    if _is_leaf(batch):
        return batch[first:end]
    return _like(batch, [cut(p, first, end) for p in _children(batch)])


def join(parts):
    """One batch of several."""
    one = parts[0]
    if len(parts) == 1:
        return one
    if isinstance(one, torch.Tensor):
        return torch.cat(parts)
    if _is_leaf(one):
        return type(one)(item for part in parts for item in part)
    return _like(one, [join(columns) for columns in zip(*map(_children, parts))])


class Units:
    """Those that the next batches are cut from."""

    def __init__(self, layout):
        self.layout = layout
        self.taken = {}         # unit -> its batch

    def batch(self, n):
        """All of its units are taken; those that no later batch needs are given away."""
        layout, units = self.layout, self.layout.units_of(n)
        if layout.unit_size == layout.size:
            return self.taken.pop(units[0])
        first, end = n * layout.size, layout.end_of(n)
        whole = join([cut(self.taken[u], max(first - u * layout.unit_size, 0),
                          min(end - u * layout.unit_size, layout.unit_size)) for u in units])
        self.pass_over(n)
        return whole

    def pass_over(self, n):
        """That batch comes from elsewhere: the units that no later one needs and that were not
        taken."""
        layout, end = self.layout, self.layout.end_of(n)
        over = [u for u in layout.units_of(n) if (u + 1) * layout.unit_size <= end or
                n + 1 == layout.batches]
        return [u for u in over if self.taken.pop(u, None) is None]
