# SPDX-License-Identifier: Apache-2.0
"""Jobs whose files are cached with the variable alone, for test_cache.py:

    cache_job.py WHAT ARGUMENT...

Each prints what it found as JSON.  The hook is not in them: they call what it
calls, where it does.
"""

import io
import json
import os
import sys
import zlib

import torch

from destall import _cache, _opens


class Files(torch.utils.data.Dataset):
    """Of a folder; each sample a checksum of a file."""

    def __init__(self, root):
        self.root = root
        self.names = sorted(n for n in os.listdir(root) if n.endswith(".bin"))

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        with open(os.path.join(self.root, self.names[i]), "rb") as f:
            return zlib.crc32(f.read())


class Begin:
    """In the place of a loader's worker_init_fn, as the hook has it."""

    def __init__(self, plan, init=None):
        self.plan, self.init = plan, init

    def __call__(self, worker):
        self.plan.start()
        if self.init is not None:
            self.init(worker)


def make_loader(root, workers=0, **settings):
    """(loader, plan)"""
    loader = torch.utils.data.DataLoader(Files(root), 4, num_workers=workers, **settings)
    plan = _cache.plan_for(loader, 60)
    if plan is not None and workers > 0:
        object.__setattr__(loader, "worker_init_fn", Begin(plan))
    return loader, plan


def sums(loader, plan):
    if plan is not None and loader.num_workers == 0:
        with plan.around():
            return [x for batch in loader for x in batch.tolist()]
    return [x for batch in loader for x in batch.tolist()]


# --- jobs ----------------------------------------------------------------------------

def load(root, workers, start, epochs):
    settings = {"multiprocessing_context": start} if int(workers) else {}
    loader, plan = make_loader(root, int(workers), **settings)
    return {"planned": plan is not None, "why_not": (_cache.told(loader) or {}).get("why_not"),
            "epochs": [sums(loader, plan) for _ in range(int(epochs))],
            "status": _cache.status(), "plain": io.open is _opens._plain is open}


def hidden(*arguments):
    """A job whose command line does not name its data."""
    return load(os.environ["DATA"], *arguments)


def meanwhile(root):
    """Three epochs with the same workers; after each, whoever started this does something."""
    loader, plan = make_loader(root, 2, persistent_workers=True)
    epochs = []
    for _ in range(3):
        epochs.append(sums(loader, plan))
        print("epoch", flush=True)
        sys.stdin.readline()
    return {"epochs": epochs}


def two(first, second):
    """Loaders of different folders in one process, one after the other, then workers of both."""
    loaders = [make_loader(root) for root in (first, second)]
    with loaders[0][1].around():
        pass                    # so that the roots of the second come late
    given = [sums(*pair) for pair in loaders + loaders]
    return {"given": given, "more": [sums(*make_loader(root, 1)) for root in (first, second)]}


def unlisted(root, listed, path):
    """A worker that is there before anybody has listed; then whoever started this lists."""
    plan = _cache.Plan(path, [root], [root])
    loader = torch.utils.data.DataLoader(Files(root), 4)
    before = sums(loader, plan)
    print("read", flush=True)
    sys.stdin.readline()
    after = sums(loader, plan)
    while not os.path.exists(listed):           # until the hub was seen to be asked
        after = sums(loader, plan)
    return {"before": before, "after": after}


def childless(root):
    """Who keeps the data in use is no child of the job."""
    _, plan = make_loader(root)
    try:
        os.waitpid(-1, os.WNOHANG)
        return {"children": True}
    except ChildProcessError:
        return {"children": False, "planned": plan is not None}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
