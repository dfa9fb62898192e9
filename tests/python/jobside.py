# SPDX-License-Identifier: Apache-2.0
"""What the jobs of these tests have in common.  A job does not know whether it
shares: that is the environment's business.

    MEET      a folder in which jobs meet
    PARTIES   how many they are
"""

import hashlib
import json
import os
import sys
import time

from collections.abc import Mapping

import numpy
import torch


# --- jobs that begin together -------------------------------------------------------

def meet(name):
    """Until all of them have come here."""
    folder = os.environ.get("MEET")
    if not folder:
        return
    folder = os.path.join(folder, name)
    os.makedirs(folder, exist_ok=True)
    open(os.path.join(folder, str(os.getpid())), "w").close()
    while len(os.listdir(folder)) < int(os.environ["PARTIES"]):
        time.sleep(0.002)


def each(loader, name):
    """Its batches; after the first all jobs wait until each has had it, so that they
    surely are in one epoch together."""
    for i, batch in enumerate(loader):
        yield batch
        if i == 0:
            meet(name)


# --- what they were given ------------------------------------------------------------

def feed(h, obj):
    """All of a batch: structure, types, values."""
    h.update(type(obj).__name__.encode())
    if isinstance(obj, torch.Tensor):
        h.update(("%s %s %s" % (obj.dtype, tuple(obj.shape), obj.stride())).encode())
        h.update(obj.contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    elif isinstance(obj, numpy.ndarray):
        h.update(("%s %s" % (obj.dtype, obj.shape)).encode() + obj.tobytes())
    elif isinstance(obj, Mapping):
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


def counts():
    """Of batches, over all loaders of this job: nothing, if destall has not been used."""
    destall = sys.modules.get("destall")
    loaders = destall.status()["loaders"] if hasattr(destall, "status") else []
    return {name: sum(one[name] for one in loaders)
            for name in ("batches", "of_others", "own", "compared")}


def write(out, what):
    with open(out, "w") as f:
        json.dump(what, f)
