# SPDX-License-Identifier: Apache-2.0
"""A job that goes through loaders of flows.py and writes what it was given:

    flow_job.py OUT WORKERS SHAPE...
"""

import sys

import torch

import flows

from jobside import counts, digest, meet, write


def one_epoch(name, loader, epoch):
    given = []
    for batch in flows.batches(iter(loader), flows.STOPS.get(name)):
        given.append(digest(batch))
        if len(given) == 1:
            meet("%s %d" % (name, epoch))
    return given


def run(name, workers):
    loader = flows.SHAPES[name](num_workers=workers)
    meet(name)
    known = counts()["of_others"]
    given = [one_epoch(name, loader, epoch) for epoch in range(flows.EPOCHS.get(name, 2))]
    return given, counts()["of_others"] - known


def main(out, workers, *names):
    torch.manual_seed(flows.SEED)
    found = {name: run(name, int(workers)) for name in names}
    write(out, {"given": {name: given for name, (given, _) in found.items()},
                "of_others": {name: n for name, (_, n) in found.items()}})


if __name__ == "__main__":
    main(*sys.argv[1:])
