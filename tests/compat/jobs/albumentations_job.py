# SPDX-License-Identifier: Apache-2.0
"""Albumentations, which keeps sources of randomness of its own."""

import os

os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"

import albumentations                                       # noqa: E402
import numpy                                                # noqa: E402
import torch                                                # noqa: E402

from albumentations.pytorch import ToTensorV2               # noqa: E402
from torch.utils.data import DataLoader                     # noqa: E402

from data import Pictures                                   # noqa: E402
from record import BATCH, WORKERS, Record                   # noqa: E402


class Augmented:
    def __init__(self):
        self.chain = albumentations.Compose([
            albumentations.RandomCrop(16, 16), albumentations.HorizontalFlip(p=0.5),
            albumentations.RandomBrightnessContrast(p=0.5), albumentations.GaussNoise(p=0.5),
            ToTensorV2()], seed=5)

    def __call__(self, picture):
        return self.chain(image=numpy.asarray(picture))["image"]


torch.manual_seed(7)
loader = DataLoader(Pictures(Augmented()), BATCH, shuffle=True, num_workers=WORKERS)
record = Record()
record.run(loader)
record.check("epochs differ", dict(record.epochs[0]) != dict(record.epochs[1]))
record.write()
