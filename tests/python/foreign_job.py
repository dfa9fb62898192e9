# SPDX-License-Identifier: Apache-2.0
"""A job that goes through loaders of foreign_loaders.py:

    foreign_job.py OUT OWN WORKERS SEED NAME...

OWN is what makes it differ; SEED may be none.  Writes for each loader and epoch
the batches, as numbers, and how many of them others have made.
"""

import sys

import torch

import foreign_loaders

from jobside import counts, each, meet, write

EPOCHS = {"resize_after_epoch_2": 4, "the_environment_of_workers": 3}


def numbers(batch):
    return [t.tolist() for t in batch] if isinstance(batch, (list, tuple)) else batch.tolist()


def epochs(name, own, options, meet=meet):
    """Of each epoch: its batches, how many of them others have made, and how many were compared."""
    loader, before, after = foreign_loaders.LOADERS[name](own, options)
    meet(name)
    for epoch in range(EPOCHS.get(name, 2)):
        if before is not None:
            before(epoch)
        known, given = counts(), []
        for batch in each(loader, "%s %d" % (name, epoch)):
            given.append(numbers(batch))
            if after is not None:
                after(batch)
        now = counts()
        yield given, *(now[name] - known[name] for name in ("of_others", "compared"))


def run(name, own, workers, seed):
    if seed != "none":
        torch.manual_seed(int(seed))
    found = list(epochs(name, own, {"num_workers": workers}))
    return dict(zip(("given", "of_others", "compared"), map(list, zip(*found))))


def main(out, own, workers, seed, *names):
    write(out, {name: run(name, int(own), int(workers), seed) for name in names})


if __name__ == "__main__":
    main(*sys.argv[1:])
