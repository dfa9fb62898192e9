# SPDX-License-Identifier: Apache-2.0
"""The job of `destall demo`: an ordinary PyTorch loader over a folder of pictures, or of raw
arrays, with an accelerator that reads every byte of a batch and takes a given time for it.

    python3 _demo.py [--step-ms MS] [--workers N] [--batch N] [--epochs N] [--seconds S]
                     [--times N] [--count-workers] DATA

It prints an empty line once it could begin, begins at the end of its standard input, and prints
what it measured in the words of `destall emulate --json`.  Whether it shares, or is profiled, is
not its affair.
"""

import sys

if __name__ == "__main__":
    del sys.path[0]             # the parts of destall beside this file are no names of a job

import argparse
import glob
import json
import os
import random
import resource
import time

import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

SIZE = 128
STRIDE = 64                     # of the bytes of an array that are taken


class Files(Dataset):
    fills = 0                   # epochs in which a cache is filled, and which are not counted

    def __init__(self, folder, pattern, times):
        self.paths = sorted(glob.glob(os.path.join(glob.escape(folder), pattern))) * times

    def __len__(self):
        return len(self.paths)

    def begin_epoch(self):
        """It is not part of the time that is told."""


class Pictures(Files):
    """Each cut and turned at random, as for training."""

    def __getitem__(self, i):
        with Image.open(self.paths[i]) as picture:
            picture = picture.convert("RGB")
        side = random.uniform(0.5, 1.0) * min(picture.size)
        left = random.uniform(0, picture.width - side)
        top = random.uniform(0, picture.height - side)
        picture = picture.resize((SIZE, SIZE), Image.BILINEAR, (left, top, left + side, top + side))
        pixels = torch.frombuffer(bytearray(picture.tobytes()), dtype=torch.uint8)
        pixels = pixels.view(SIZE, SIZE, 3).permute(2, 0, 1).float().div(255)
        return pixels.flip(2) if random.random() < 0.5 else pixels


class Arrays(Files):
    """Read whole, hardly prepared; out of the page cache when an epoch begins, as those of a set
    that is larger than memory are."""

    fills = 1
    room = bytearray(1 << 20)   # of one: new memory for each would take as long as reading it

    def __getitem__(self, i):
        with open(self.paths[i], "rb", buffering=0) as file:
            size = file.readinto(self.room)
        return torch.frombuffer(self.room[:size:STRIDE], dtype=torch.uint8)

    def begin_epoch(self):
        for path in self.paths:
            fd = os.open(path, os.O_RDWR)       # the file itself, not what a cache has of it
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


def open_data(folder, times):
    pictures = Pictures(folder, os.path.join("*", "*.jpg"), times)
    return pictures if len(pictures) else Arrays(folder, "*.raw", times)


def used_seconds():
    """Of this process, and of the workers that have ended."""
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (
        resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def samples_of_others():
    """By destall's count, where it has come into this process."""
    destall = sys.modules.get("destall._status")
    return sum(one.counts["samples_of_others"] for one in destall.records) if destall else 0


def train(loader, step_s):
    """An epoch: the samples, and the seconds."""
    loader.dataset.begin_epoch()
    began, samples = time.monotonic(), 0
    for batch in loader:
        batch.view(torch.int32).sum()
        time.sleep(step_s)
        samples += len(batch)
    return samples, time.monotonic() - began


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--step-ms", type=float, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=10000)
    parser.add_argument("--seconds", type=float, default=1e9, help="no epoch begins later")
    parser.add_argument("--times", type=int, default=1, help="that an epoch has each file")
    parser.add_argument("--count-workers", action="store_true",
                        help="they end with each epoch, so that their time is known")
    return parser.parse_args()


def main():
    o = options()
    torch.manual_seed(0)
    dataset = open_data(o.data, o.times)
    loader = DataLoader(dataset, o.batch, shuffle=True, num_workers=o.workers,
                        persistent_workers=not o.count_workers)
    print(flush=True)
    sys.stdin.read()
    used, samples, seconds = used_seconds(), 0, 0
    for epoch in range(o.epochs):
        if seconds > o.seconds:
            break
        more, took = train(loader, o.step_ms / 1000)
        if epoch >= dataset.fills:
            samples, seconds = samples + more, seconds + took
    print(json.dumps({
        "schema_version": 1, "samples": samples, "seconds": seconds,
        "cpu_seconds": used_seconds() - used,
        "stage": {"samples_of_others": samples_of_others()}}))


if __name__ == "__main__":
    main()
