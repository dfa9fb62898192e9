# SPDX-License-Identifier: Apache-2.0
"""torchvision with Pillow, as its reference training does, for the benchmark
tests/bench/decode: files to batches of 64.

    decode_torch.py FOLDER < COMMANDS

Says when it is ready.  Then a line "BATCHES WORKERS PART PARTS" makes so many
batches, in random order: by itself, or by so many workers of a DataLoader; of
PARTS processes each takes other pictures.  The answer, on one line: images a
second, by the clock on the wall and by that of the processor.
Exits 77 without torchvision.
"""

import json
import resource
import sys
import time

try:
    import torch
    import torchvision
    from torch.utils.data import DataLoader, Subset, default_collate
    from torchvision import transforms
except ImportError as e:
    print(f"decode_torch: {e}: install python3-torchvision", file=sys.stderr)
    sys.exit(77)

BATCH = 64
SEED = 1
PREFETCH = 2            # batches for each worker, as DataLoader does


def open_set(folder):
    return torchvision.datasets.ImageFolder(folder, transforms.Compose([
        transforms.RandomResizedCrop(224),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize(mean=(0.485, 0.456, 0.406),
                             std=(0.229, 0.224, 0.225)),
    ]))


def cpu_seconds():
    """Of this process, and of workers that have ended."""
    return sum(u.ru_utime + u.ru_stime for u in (
        resource.getrusage(resource.RUSAGE_SELF),
        resource.getrusage(resource.RUSAGE_CHILDREN)))


def batches_here(pictures, order):
    for i in range(0, len(order), BATCH):
        yield default_collate([pictures[n] for n in order[i:i + BATCH]])


def measure(pictures, order, batches, workers):
    """While all workers are busy: from when each has made a batch, to when
    there is none left to begin with."""
    cpu = cpu_seconds()
    made = iter(DataLoader(Subset(pictures, order), BATCH, num_workers=workers)
                if workers else batches_here(pictures, order))
    for _ in range(workers or 1):
        next(made)
    wall = time.perf_counter()
    for _ in range(batches):
        next(made)
    wall = time.perf_counter() - wall
    for _ in made:
        pass
    del made
    return {"images_per_s": batches * BATCH / wall,
            "images_per_cpu_s": len(order) / (cpu_seconds() - cpu)}


def main():
    torch.set_num_threads(1)
    pictures = open_set(sys.argv[1])
    print("ready", flush=True)
    for line in sys.stdin:
        batches, workers, part, parts = map(int, line.split())
        torch.manual_seed(SEED)
        order = torch.randperm(len(pictures)).tolist()[part::parts]
        nr = (batches + (workers * (1 + PREFETCH) or 1)) * BATCH
        order = (order * (nr // len(order) + 1))[:nr]
        print(json.dumps(measure(pictures, order, batches, workers)),
              flush=True)


main()
