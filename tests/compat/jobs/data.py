# SPDX-License-Identifier: Apache-2.0
"""Data sets of the jobs, made in code: sample i is recognisable by its values."""

import numpy
import torch

from PIL import Image
from torch.utils.data import Dataset

from record import COUNT


def pixels(i, size=16):
    rng = numpy.random.default_rng(i)
    return rng.integers(0, 256, (size, size, 3), dtype=numpy.uint8)


class Tensors(Dataset):
    """(picture, number)."""

    def __init__(self, count=COUNT):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return torch.from_numpy(pixels(i)).permute(2, 0, 1).float() / 255, i


class Pictures(Dataset):
    """(picture of Pillow's, through the transform; number)."""

    def __init__(self, transform=None, count=COUNT):
        self.transform, self.count = transform, count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        picture = Image.fromarray(pixels(i, 40))
        return (self.transform(picture) if self.transform else picture), i


class Mappings(Tensors):
    """As models of transformers take them."""

    def __getitem__(self, i):
        values, number = super().__getitem__(i)
        return {"values": values, "numbers": number}
