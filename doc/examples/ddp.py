# SPDX-License-Identifier: Apache-2.0
"""ddp.py: training on several ranks with DistributedDataParallel, over gloo.

    python3 ddp.py --lr 0.05
    torchrun --nproc_per_node 2 ddp.py --lr 0.05

Nothing in it knows of destall.  Several that try different rates prepare each sample
once for all of them, when they run at the same time with DESTALL=1; rank 0 of one
shares with rank 0 of the others, rank 1 with rank 1:

    export DESTALL=1
    for lr in 0.1 0.05 0.01; do
        destall run python3 ddp.py --lr $lr &
    done
    wait
"""

import argparse
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Curves(Dataset):
    """Noisy sines; how many waves there are is to be told."""
    POINTS, CLASSES = 256, 5

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        waves = i % self.CLASSES
        at = torch.linspace(0, 6.2832, self.POINTS)
        shift = 6.2832 * torch.rand(())
        return torch.sin((waves + 1) * at + shift) + 0.3 * torch.randn(self.POINTS), waves


def make_model():
    return nn.Sequential(nn.Linear(Curves.POINTS, 64), nn.ReLU(), nn.Linear(64, Curves.CLASSES))


def train(model, loader, optimizer):
    """One epoch; the mean loss of this rank."""
    loss_of = nn.CrossEntropyLoss()
    total, samples = 0.0, 0
    for curves, labels in loader:
        optimizer.zero_grad()
        loss = loss_of(model(curves), labels)
        loss.backward()
        optimizer.step()
        total, samples = total + loss.item() * len(labels), samples + len(labels)
    return total / samples


def work(rank, o, ranks, meet):
    """What each rank does."""
    dist.init_process_group("gloo", init_method=meet, rank=rank, world_size=ranks)
    torch.manual_seed(0)
    dataset = Curves(o.count)
    sampler = DistributedSampler(dataset, ranks, rank, shuffle=True)
    loader = DataLoader(dataset, o.batch, sampler=sampler, num_workers=o.workers)
    model = DistributedDataParallel(make_model())
    optimizer = torch.optim.SGD(model.parameters(), o.lr)
    for epoch in range(o.epochs):
        sampler.set_epoch(epoch)
        loss = train(model, loader, optimizer)
        if rank == 0:
            print(f"lr {o.lr:g}, epoch {epoch}: loss {loss:.4f}", flush=True)
    dist.destroy_process_group()


def parse_arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--ranks", type=int, default=2, help="without torchrun")
    p.add_argument("--count", type=int, default=2000, help="of samples")
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--workers", type=int, default=1)
    p.add_argument("--batch", type=int, default=32)
    return p.parse_args()


def main():
    o = parse_arguments()
    if "RANK" in os.environ:            # torchrun has started us
        work(int(os.environ["RANK"]), o, int(os.environ["WORLD_SIZE"]), "env://")
        return
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, (o, o.ranks, f"file://{folder}/meet"), nprocs=o.ranks)


if __name__ == "__main__":
    main()
