# SPDX-License-Identifier: Apache-2.0
"""The job of `destall demo`: an ordinary PyTorch loader over a folder of pictures, with an
accelerator that reads every byte of a batch and takes no other time.

    python3 _demo.py DATA EPOCHS

It prints an empty line once it could begin, begins at the end of its standard input, and prints
what it measured in the words of `destall emulate --json`.  Whether it shares is not its affair.
"""

import sys

if __name__ == "__main__":
    del sys.path[0]             # the parts of destall beside this file are no names of a job

import glob
import json
import os
import random
import resource
import time

import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

SIZE, BATCH, WORKERS = 128, 32, 1


class Pictures(Dataset):
    """Each cut and turned at random, as for training."""

    def __init__(self, folder):
        self.paths = sorted(glob.glob(os.path.join(glob.escape(folder), "*", "*.jpg")))

    def __len__(self):
        return len(self.paths)

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


def used_seconds():
    """Of this process, and of the workers that have ended."""
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (
        resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def samples_of_others():
    """By destall's count, where it has come into this process."""
    destall = sys.modules.get("destall._status")
    return sum(one.counts["samples_of_others"] for one in destall.records) if destall else 0


def main():
    data, epochs = sys.argv[1], int(sys.argv[2])
    torch.manual_seed(0)
    loader = DataLoader(Pictures(data), BATCH, shuffle=True, num_workers=WORKERS)
    print(flush=True)
    sys.stdin.read()
    began, used, samples = time.monotonic(), used_seconds(), 0
    for _ in range(epochs):
        for batch in loader:
            batch.view(torch.int32).sum()
            samples += len(batch)
    print(json.dumps({
        "schema_version": 1, "samples": samples, "seconds": time.monotonic() - began,
        "cpu_seconds": used_seconds() - used,
        "stage": {"samples_of_others": samples_of_others()}}))


if __name__ == "__main__":
    main()
