# SPDX-License-Identifier: Apache-2.0
"""A job of two that share their first epoch; or one that comes for the second, before
them, and makes other samples, by what nobody who looks at its dataset can find:

    newcomer_job.py OUT OWN
"""

import os
import sys

import torch

from torch.utils.data import DataLoader, DistributedSampler

from foreign_loaders import BATCH, Environment
from jobside import counts, each, meet, write


def run(loader, epoch):
    loader.sampler.set_epoch(epoch)
    for i, batch in enumerate(each(loader, "epoch %d" % epoch)):
        if i == 0 and os.environ["OWN"] == "1":
            meet("it has begun")
        yield batch.tolist()


def main(out, own):
    os.environ["OWN"] = own
    torch.manual_seed(3)
    data = Environment()
    sampler = DistributedSampler(data, 1, 0, shuffle=True, seed=3)
    loader = DataLoader(data, BATCH, sampler=sampler, num_workers=2)
    given = []
    if own == "0":
        parties, os.environ["PARTIES"] = os.environ["PARTIES"], "2"
        given += run(loader, 0)
        os.environ["PARTIES"] = parties
        meet("it has begun")
    given += run(loader, 1)
    write(out, {"given": given, "of_others": counts()["of_others"]})


if __name__ == "__main__":
    main(*sys.argv[1:])
