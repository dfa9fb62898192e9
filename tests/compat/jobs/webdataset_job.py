# SPDX-License-Identifier: Apache-2.0
"""webdataset over the tar shards in FILES.

    webdataset_job.py [loader]      with wds.WebLoader in the place of DataLoader
"""

import os
import random
import sys

import torch
import webdataset

from torch.utils.data import DataLoader

from record import BATCH, WORKERS, Record

random.seed(7)          # webdataset draws a seed of its own from it
torch.manual_seed(7)
urls = os.path.join(os.environ["FILES"], "shards/{0..3}.tar")
rows = webdataset.WebDataset(urls, shardshuffle=False).decode().to_tuple("values.npy", "number.cls")
kind = webdataset.WebLoader if "loader" in sys.argv else DataLoader
loader = kind(rows, batch_size=BATCH, num_workers=WORKERS)
record = Record()
record.run(loader)
record.write()
