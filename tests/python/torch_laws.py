# SPDX-License-Identifier: Apache-2.0
"""torch_laws.py: many draws of torchvision's RandomResizedCrop at a time.

get_params() takes a tenth of a millisecond.  all_params() computes the same
from the same random numbers, all draws at once: test_laws.py gives both the
same numbers and compares.
"""

import contextlib
import math
from unittest import mock

import numpy as np
import torch
from torchvision.transforms import transforms

TRIES = 10


class Numbers:
    """For each draw: of each try two numbers from 0 to below 1, for area and
    ratio, in single precision as torch's; then two for the place."""

    def __init__(self, seed, count):
        rng = np.random.RandomState(seed)
        self.tries = rng.uniform(size=(count, TRIES, 2)).astype(np.float32)
        self.tries[self.tries == 1] = 0
        self.place = rng.uniform(size=(count, 2))


def between(unit, low, high):
    """As torch's uniform_(): in single precision."""
    low, high = np.float32(low), np.float32(high)
    return unit * (high - low) + low


def whole(unit, count):
    """One of 0 to count - 1, each as likely."""
    return np.floor(unit * count).astype(np.int64)


def fall_back(width, height, ratio):
    """x, y, width and height when no try fits."""
    w, h = width, height
    if width / height < min(ratio):
        h = int(round(w / min(ratio)))
    elif width / height > max(ratio):
        w = int(round(h * max(ratio)))
    return (width - w) // 2, (height - h) // 2, w, h


def all_params(numbers, width, height, scale, ratio):
    """x, y, width, height of each draw, and whether it fell back."""
    log_ratio = np.log(np.array(ratio, np.float32))
    area = (width * height) * between(numbers.tries[..., 0], *scale).astype(
        np.float64)
    shape = np.exp(between(numbers.tries[..., 1], *log_ratio)).astype(
        np.float64)
    w = np.rint(np.sqrt(area * shape)).astype(np.int64)
    h = np.rint(np.sqrt(area / shape)).astype(np.int64)
    fits = (0 < w) & (w <= width) & (0 < h) & (h <= height)
    first = fits.argmax(1)
    row = np.arange(len(first))
    w, h = w[row, first], h[row, first]
    found = np.stack([whole(numbers.place[:, 1], width - w + 1),
                      whole(numbers.place[:, 0], height - h + 1), w, h], 1)
    fell = ~fits.any(1)
    found[fell] = fall_back(width, height, ratio)
    return found, fell


# --- the real one, with numbers of ours -------------------------------------

class Given:
    """Stands in for torch within torchvision's transforms."""

    def __init__(self, tries, place):
        self.tries, self.place = iter(tries.ravel()), iter(place)

    def __getattr__(self, name):
        return getattr(torch, name)

    def empty(self, _):
        return self

    # torch's may differ from numpy's in the last bit, as processors do.
    def exp(self, values):
        return torch.from_numpy(np.exp(values.numpy()))

    def log(self, values):
        return torch.from_numpy(np.log(values.numpy()))

    def uniform_(self, low, high):
        return torch.from_numpy(np.array(
            [between(next(self.tries), low, high)], np.float32))

    def randint(self, low, high, size):
        assert low == 0
        return torch.tensor([int(math.floor(next(self.place) * high))])


@contextlib.contextmanager
def given(tries, place):
    with mock.patch.object(transforms, "torch", Given(tries, place)):
        yield


def real_params(numbers, i, image, scale, ratio):
    with given(numbers.tries[i], numbers.place[i]):
        y, x, h, w = transforms.RandomResizedCrop.get_params(
            image, list(scale), list(ratio))
    return x, y, w, h
