# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own DataLoader, in its order or (in_order=False) as batches come.

    plain_loader.py [in_order=False]
"""

import sys

import torch

from torch.utils.data import DataLoader

from data import Tensors
from record import BATCH, WORKERS, Record

torch.manual_seed(7)
options = {"in_order": False} if "in_order=False" in sys.argv else {}
loader = DataLoader(Tensors(), BATCH, shuffle=True, num_workers=WORKERS, **options)
record = Record()
record.run(loader)
record.write()
