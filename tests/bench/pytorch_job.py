# SPDX-License-Identifier: Apache-2.0
"""An ordinary PyTorch training script over a folder of pictures, with an
accelerator that reads every byte of a batch and takes no other time:

    pytorch_job.py DATA OUT --type fp32|uint8 [--batch N] [--workers N] [--epochs N] [--persistent]

Nothing in it knows who else runs.  What it writes to OUT, as JSON: when it began,
when each batch was had, and at the end of each epoch the processor time so far.
"""

import argparse
import json
import multiprocessing
import os
import resource
import time

import torch
import torchvision.transforms as T

from torchvision.datasets import ImageFolder

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def transforms(kind):
    steps = [T.RandomResizedCrop(224), T.RandomHorizontalFlip()]
    if kind == "uint8":
        return T.Compose([*steps, T.PILToTensor()])
    return T.Compose([*steps, T.ToTensor(), T.Normalize(MEAN, STD)])


def train_step(images):
    """All of its memory, at memory speed."""
    return int(images.view(torch.int64).sum())


def used_of(pid):
    """By a process that still runs."""
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def used_seconds():
    """Of this process, of the workers that have ended, and of those that stay."""
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (
        resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))) + \
        sum(used_of(p.pid) for p in multiprocessing.active_children())


def parse_arguments():
    p = argparse.ArgumentParser()
    p.add_argument("data")
    p.add_argument("out")
    p.add_argument("--type", choices=("fp32", "uint8"), default="fp32")
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--persistent", action="store_true", help="workers stay from epoch to epoch")
    return p.parse_args()


def main():
    o = parse_arguments()
    loader = torch.utils.data.DataLoader(ImageFolder(o.data, transforms(o.type)), o.batch,
                                         shuffle=True, num_workers=o.workers,
                                         persistent_workers=o.persistent)
    began = {"at": time.monotonic(), "cpu": used_seconds()}
    epochs, touch = [], 0.0
    for _ in range(o.epochs):
        had = []        # (when, how many)
        for images, labels in loader:
            since = time.thread_time()
            train_step(images)
            touch += time.thread_time() - since
            had.append((time.monotonic(), len(labels)))
        epochs.append({"had": had, "at": time.monotonic(), "cpu": used_seconds(), "touch": touch})
    with open(o.out, "w") as f:
        json.dump({"began": began, "epochs": epochs}, f)


if __name__ == "__main__":
    main()
