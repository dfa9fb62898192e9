# SPDX-License-Identifier: Apache-2.0
"""A training job as people write them, for tests of `destall profile`: what a sample and a step
cost is slept, or burnt, so that its stalls are known.  It knows nothing of destall.
"""

import argparse
import atexit
import os
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler, IterableDataset


def spend(o, ms):
    """Sleeps, or keeps a processor busy for as long."""
    if not o.burn:
        return time.sleep(ms / 1e3)
    end = time.thread_time() + ms / 1e3
    while time.thread_time() < end:
        pass


class Sleepy(Dataset):
    def __init__(self, o, samples):
        self.o, self.samples, self.made = o, samples, 0

    def __len__(self):
        return self.samples

    def __getitem__(self, i):
        spend(self.o, self.o.prep)
        self.made += 1                  # in this process
        if self.made == self.o.raise_at:
            raise ValueError("sample %d is bad" % i)
        x = torch.full((3,), 7.0)
        return {"x": x, "id": i} if self.o.rough else x


class Stream(IterableDataset):
    def __init__(self, o):
        self.o = o

    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        samples = self.o.batches * self.o.batch
        for i in range(info.id if info else 0, samples, info.num_workers if info else 1):
            spend(self.o, self.o.prep)
            yield torch.full((3,), 7.0)


def make_dataset(o):
    if o.images:
        from torchvision import datasets, transforms
        return datasets.ImageFolder(o.images, transforms.Compose(
            [transforms.Resize((32, 32)), transforms.ToTensor()]))
    if o.pipe:
        from torch.utils.data.datapipes.iter import IterableWrapper
        return IterableWrapper(Stream(o), deepcopy=False)
    return Stream(o) if o.iterable else Sleepy(o, o.batches * o.batch)


def make_loader(o, rank, ranks):
    dataset = make_dataset(o)
    more = {"multiprocessing_context": o.start, "persistent_workers": o.persistent} if o.workers \
        else {}
    if ranks > 1:
        more["sampler"] = DistributedSampler(dataset, ranks, rank)
    elif not (o.iterable or o.pipe):
        more["shuffle"] = True
    return DataLoader(dataset, o.batch, num_workers=o.workers, **more)


def touch(name):
    with open(name, "a") as f:
        f.write("x")


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(3))

    def forward(self, x):
        return self.weight.sum() + x.mean()


class Training:
    def __init__(self, o, rank=0, ranks=1):
        self.o = o
        self.loader = make_loader(o, rank, ranks)
        self.other = DataLoader(Sleepy(o, 3 * o.batch), o.batch)
        self.model = Model()
        if ranks > 1:
            self.model = torch.nn.parallel.DistributedDataParallel(self.model)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        steps = o.batches // o.accumulate * o.epochs
        self.rates = torch.optim.lr_scheduler.OneCycleLR(
            self.optimizer, max_lr=0.1, total_steps=steps) if o.rough else None
        self.steps = 0

    def input(self, batch):
        if self.o.rough:                # changed in place, and taken apart
            assert sorted(batch) == ["id", "x"]
            batch.pop("id")
            x = batch.pop("x")
            assert (x == 7.0).all()
            return x.sub_(7.0).div_(2.0)
        return (batch[0] if isinstance(batch, (list, tuple)) else batch).float()

    def step(self, batch):
        if self.steps == 0:
            time.sleep(self.o.first)
        x = self.input(batch)
        spend(self.o, self.o.step)
        self.model(x).backward()
        self.steps += 1
        if self.steps % self.o.accumulate == 0:
            self.optimizer.step()
            self.optimizer.zero_grad()
            if self.rates is not None:
                self.rates.step()
        if self.steps == self.o.tell:
            touch("reached")

    def validate(self):
        with torch.no_grad():
            for _ in self.other:
                time.sleep(0.02)

    def epoch(self):
        for batch in self.loader:
            self.step(batch)
            if self.o.validate and self.steps % self.o.validate == 0:
                self.validate()

    def run(self):
        if self.o.saves:
            atexit.register(touch, "saved.atexit")
        try:
            for _ in range(self.o.epochs):
                self.epoch()
                if self.o.saves:
                    touch("saved.epoch")
        except KeyboardInterrupt:
            touch("saved.interrupt")
            raise
        finally:
            if self.o.saves:
                touch("saved.finally")
        print("trained", self.steps, "steps")
        return self.o.status


def run_rank(rank, o, ranks):
    torch.set_num_threads(1)
    if ranks > 1:
        torch.distributed.init_process_group("gloo", o.meet, rank=rank, world_size=ranks)
    return Training(o, rank, ranks).run()


def spawn_ranks(o):
    o.meet = "file://" + os.path.abspath("meet.%d" % os.getpid())
    try:
        torch.multiprocessing.spawn(run_rank, (o, o.ranks), o.ranks)
    finally:
        touch("saved.parent")


def options():
    p = argparse.ArgumentParser()
    for name, value in (("batch", 4), ("batches", 4000), ("epochs", 1), ("workers", 0),
                        ("accumulate", 1), ("validate", 0), ("tell", 0), ("raise-at", -1),
                        ("ranks", 1), ("status", 0)):
        p.add_argument("--" + name, type=int, default=value)
    for name, value in (("prep", 1.0), ("step", 5.0), ("first", 0.0)):
        p.add_argument("--" + name, type=float, default=value)      # ms, ms, s
    for name in ("rough", "saves", "iterable", "pipe", "persistent", "burn"):
        p.add_argument("--" + name, action="store_true")
    p.add_argument("--start", choices=("fork", "spawn", "forkserver"), default="fork")
    p.add_argument("--images")
    p.set_defaults(meet=None)           # by the environment
    return p.parse_args()


def main():
    o = options()
    if o.ranks > 1:
        return spawn_ranks(o)
    return run_rank(int(os.environ.get("RANK", 0)), o, int(os.environ.get("WORLD_SIZE", 1)))


if __name__ == "__main__":
    sys.exit(main())
