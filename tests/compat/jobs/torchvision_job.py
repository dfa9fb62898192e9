# SPDX-License-Identifier: Apache-2.0
"""torchvision's ImageFolder, over the pictures in FILES, with random transforms.

    torchvision_job.py v1|v2
"""

import os
import sys

import operators        # noqa: F401
import torch

from torch.utils.data import DataLoader
from torchvision import datasets, transforms
from torchvision.transforms import v2

from record import BATCH, WORKERS, Record


def chain(kind):
    if kind == "v1":
        return transforms.Compose([
            transforms.RandomResizedCrop(16), transforms.RandomHorizontalFlip(),
            transforms.ToTensor(), transforms.Normalize((0.5,) * 3, (0.2,) * 3)])
    return v2.Compose([
        v2.ToImage(), v2.RandomResizedCrop(16), v2.RandomHorizontalFlip(),
        v2.ToDtype(torch.float32, scale=True), v2.Normalize((0.5,) * 3, (0.2,) * 3)])


class Numbered(datasets.ImageFolder):
    def __getitem__(self, i):
        return super().__getitem__(i)[0], i


torch.manual_seed(7)
data = Numbered(os.path.join(os.environ["FILES"], "pictures"), chain(sys.argv[1]))
loader = DataLoader(data, BATCH, shuffle=True, num_workers=WORKERS)
record = Record()
record.run(loader)
record.write()
