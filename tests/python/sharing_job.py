# SPDX-License-Identifier: Apache-2.0
"""A job that iterates loaders of shapes.py and writes what it was given:

    sharing_job.py OUT WORKERS EPOCHS SHAPE...
"""

import sys

import torch

import shapes

from jobside import counts, digest, each, meet, write


def run(name, workers, epochs):
    torch.manual_seed(7)
    loader = shapes.SHAPES[name](num_workers=workers)
    meet(name)
    given = [[digest(batch) for batch in each(loader, "%s %d" % (name, epoch))]
             for epoch in range(epochs)]
    return given, counts()["of_others"]


def main(out, workers, epochs, *names):
    found = {name: run(name, int(workers), int(epochs)) for name in names}
    write(out, {"given": {name: given for name, (given, _) in found.items()},
                "of_others": {name: n for name, (_, n) in found.items()}})


if __name__ == "__main__":
    main(*sys.argv[1:])
