# SPDX-License-Identifier: Apache-2.0
"""A job that writes down each batch as it gets it, so that it can be watched,
hurt, and checked:

    drill_job.py OUT WORKERS EPOCHS ORDER [LEAVES]

ORDER is shuffled, listed, or flowing: of an iterable dataset.  Each line of OUT.log is `epoch digest`.  With
LEAVES it leaves that many epochs after a few batches, and begins them again.
Waits for the file GATE, if that is set, before its first batch.
"""

import os
import sys
import time

import torch

from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

from jobside import counts, digest, write

SEED = 7
COUNT = 750             # samples; 94 batches, the last one short
STEP_S = float(os.environ.get("STEP_S", "0.002"))      # as long as training takes


class Samples(Dataset):
    def __len__(self):
        return COUNT

    def __getitem__(self, i):
        return torch.full((16,), float(i)) + torch.rand(16), i


class Flow(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        for i in range(info.id, COUNT, info.num_workers):
            yield torch.full((16,), float(i)) + torch.rand(16), i


def make(order, **options):
    torch.manual_seed(SEED)
    if order == "flowing":
        return DataLoader(Flow(), 8, **options)
    return DataLoader(Samples(), 8, shuffle=order == "shuffled", **options)


def wait():
    gate = os.environ.get("GATE")
    while gate and not os.path.exists(gate):
        time.sleep(0.002)


def main(out, workers, epochs, order, leaves=0):
    loader = make(order, num_workers=int(workers))
    log = os.open(out + ".log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(log, b"ready\n")
    wait()
    for i in range(int(leaves)):
        for k, _ in enumerate(loader):
            os.write(log, b"left\n")
            if k == i % 5:
                break
    for epoch in range(int(epochs)):
        for batch in loader:
            os.write(log, b"%d %s\n" % (epoch, digest(batch).encode()))
            time.sleep(STEP_S)
    write(out, counts())


if __name__ == "__main__":
    main(*sys.argv[1:])
