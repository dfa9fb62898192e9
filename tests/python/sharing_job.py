# SPDX-License-Identifier: Apache-2.0
"""A job that iterates loaders of shapes.py and writes what it was given:

    sharing_job.py OUT WORKERS EPOCHS SHAPE...

Whether it shares is the environment's business.  Waits before each loader until
GATE.SHAPE is there, if GATE is set, so that several jobs begin together.
"""

import hashlib
import json
import os
import sys
import time

import numpy
import torch

import shapes


def feed(h, obj):
    """All of a batch: structure, types, values."""
    h.update(type(obj).__name__.encode())
    if isinstance(obj, torch.Tensor):
        h.update(("%s %s %s" % (obj.dtype, tuple(obj.shape), obj.stride())).encode())
        h.update(obj.contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    elif isinstance(obj, numpy.ndarray):
        h.update(("%s %s" % (obj.dtype, obj.shape)).encode() + obj.tobytes())
    elif isinstance(obj, dict):
        for key, value in obj.items():
            feed(h, key)
            feed(h, value)
    elif isinstance(obj, (list, tuple)):
        for item in obj:
            feed(h, item)
    else:
        h.update(repr(obj).encode())


def digest(batch):
    h = hashlib.blake2b(digest_size=8)
    feed(h, batch)
    return h.hexdigest()


def wait_for(name):
    gate = os.environ.get("GATE")
    if not gate:
        return
    open("%s.%s.%d" % (gate, name, os.getpid()), "w").close()
    while not os.path.exists("%s.%s" % (gate, name)):
        time.sleep(0.005)


def run(name, workers, epochs):
    torch.manual_seed(7)
    loader = shapes.SHAPES[name](num_workers=workers)
    wait_for(name)
    return [[digest(batch) for batch in loader] for _ in range(epochs)]


def main(out, workers, epochs, *names):
    given = {name: run(name, int(workers), int(epochs)) for name in names}
    counts = {}
    hook = sys.modules.get("destall._hook")
    if hook is not None:
        counts = hook.counts()
    with open(out, "w") as f:
        json.dump({"given": given, "counts": counts}, f)


if __name__ == "__main__":
    main(*sys.argv[1:])
