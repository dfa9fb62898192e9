# SPDX-License-Identifier: Apache-2.0
"""accelerate: prepare(), two epochs, then a job that resumes in the second one.

    accelerate_job.py [seedable] [dispatch=off]
"""

import sys

from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration, set_seed
from torch.utils.data import DataLoader

from data import Tensors
from record import BATCH, WORKERS, Record, wait

SKIP = 10


def prepared():
    set_seed(7)
    how = DataLoaderConfiguration(
        use_seedable_sampler="seedable" in sys.argv,
        dispatch_batches=False if "dispatch=off" in sys.argv else None)
    accelerator = Accelerator(cpu=True, dataloader_config=how)
    loader = DataLoader(Tensors(), BATCH, shuffle=True, num_workers=WORKERS)
    return accelerator, accelerator.prepare(loader)


def run(record, loader):
    record.begin()
    for values, numbers in loader:
        record.batch(numbers, values)


record = Record()
accelerator, loader = prepared()
wait()
for epoch in range(2):
    loader.set_epoch(epoch)
    run(record, loader)

# A restarted job is at the start of that epoch, and skips what it has had.
accelerator, loader = prepared()
if "seedable" in sys.argv:
    loader.set_epoch(1)
    first, name = 1, "resumed"
else:
    first, name = 0, "resumed in its first epoch"
again = Record()
run(again, accelerator.skip_first_batches(loader, SKIP))
record.check(name, again.epochs[0] == record.epochs[first][SKIP * BATCH:])
record.write()
