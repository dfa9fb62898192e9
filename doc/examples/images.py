# SPDX-License-Identifier: Apache-2.0
"""images.py: image classification with torchvision, as it is written everywhere.

Pictures lie in one folder per class, as `destall gen --count 2000 data` makes them.

    python3 images.py data --lr 0.1

Nothing in it knows of destall.  Several that try different rates read and prepare
each picture once for all of them, when they run at the same time with DESTALL=1:

    export DESTALL=1
    for lr in 0.3 0.1 0.03 0.01; do
        destall run python3 images.py data --lr $lr &
    done
    wait
"""

import argparse

import torch
import torchvision.transforms as T

from torch import nn
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def make_transform(size):
    return T.Compose([T.RandomResizedCrop(size), T.RandomHorizontalFlip(), T.ToTensor(),
                      T.Normalize(MEAN, STD)])


def make_model(classes):
    """A small one, so that a processor can train it."""
    def block(channels, out):
        return [nn.Conv2d(channels, out, 3, stride=2, padding=1), nn.BatchNorm2d(out), nn.ReLU()]
    return nn.Sequential(*block(3, 16), *block(16, 32), *block(32, 64), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(64, classes))


def train(model, loader, optimizer):
    """One epoch; the mean loss."""
    loss_of = nn.CrossEntropyLoss()
    total = 0.0
    for images, labels in loader:
        optimizer.zero_grad()
        loss = loss_of(model(images), labels)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(labels)
    return total / len(loader.dataset)


def parse_arguments():
    p = argparse.ArgumentParser()
    p.add_argument("data", help="a folder with one folder of pictures per class")
    p.add_argument("--lr", type=float, default=0.1)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--size", type=int, default=64, help="of a picture, in pixels")
    return p.parse_args()


def main():
    o = parse_arguments()
    torch.manual_seed(0)
    dataset = ImageFolder(o.data, make_transform(o.size))
    loader = DataLoader(dataset, o.batch, shuffle=True, num_workers=o.workers)
    model = make_model(len(dataset.classes))
    optimizer = torch.optim.SGD(model.parameters(), o.lr, momentum=0.9)
    for epoch in range(o.epochs):
        loss = train(model, loader, optimizer)
        print(f"lr {o.lr:g}, epoch {epoch}: loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
