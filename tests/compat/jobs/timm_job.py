# SPDX-License-Identifier: Apache-2.0
"""timm's create_loader, without its prefetcher, which is for GPUs.

    timm_job.py [multi] [augmented]
"""

import sys

import operators        # noqa: F401
import torch

from timm.data import create_loader

from data import Pictures
from record import BATCH, WORKERS, Record

torch.manual_seed(7)
loader = create_loader(
    Pictures(), input_size=(3, 16, 16), batch_size=BATCH, is_training=True,
    no_aug="augmented" not in sys.argv, auto_augment="rand-m9-mstd0.5", re_prob=0.5,
    use_prefetcher=False, use_multi_epochs_loader="multi" in sys.argv,
    num_workers=max(WORKERS, 1), pin_memory=False, device=torch.device("cpu"))
record = Record()
record.run(loader)
record.check("length", len(loader) == len(record.epochs[0]) // BATCH)
record.write()
