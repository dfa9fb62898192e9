# SPDX-License-Identifier: Apache-2.0
"""text.py: text classification with a dataset and a collate function of its own.

Each line of a file is a label, a tab and a text.  Without a file, texts are made up.

    python3 text.py --lr 0.5
    python3 text.py --file reviews.tsv --lr 0.5

Nothing in it knows of destall.  Several that try different rates prepare each batch
once for all of them, when they run at the same time with DESTALL=1:

    export DESTALL=1
    for lr in 1.0 0.5 0.1; do
        destall run python3 text.py --lr $lr &
    done
    wait
"""

import argparse
import random
import zlib

import torch

from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

PAD = 0
WORDS = {
    "sea": "wave salt harbour sail gull tide anchor storm deck shore".split(),
    "hill": "stone path summit goat cloud ridge snow pine rope valley".split(),
    "town": "street lamp tram market window roof baker bridge crowd bell".split(),
}
COMMON = "the a and of in with by over under near on as it was then".split()


def make_texts(count):
    """(label, text), always the same: words that many labels have, and a few of its own."""
    chance = random.Random(0)
    texts = []
    for _ in range(count):
        label = chance.choice(sorted(WORDS))
        words = [chance.choice(WORDS[label] if chance.random() < 0.3 else COMMON)
                 for _ in range(chance.randint(5, 60))]
        texts.append((label, " ".join(words)))
    return texts


def read_texts(path):
    with open(path, encoding="utf-8") as f:
        return [tuple(line.rstrip("\n").split("\t", 1)) for line in f]


class Texts(Dataset):
    """A text is its words as numbers, by hash; some words are dropped, at random."""

    def __init__(self, texts, vocabulary, drop):
        self.texts = texts
        self.labels = sorted({label for label, _ in texts})
        self.vocabulary = vocabulary
        self.drop = drop

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        label, text = self.texts[i]
        words = [w for w in text.lower().split() if random.random() >= self.drop]
        numbers = [1 + zlib.crc32(w.encode()) % (self.vocabulary - 1) for w in words]
        return torch.tensor(numbers, dtype=torch.int64), self.labels.index(label)


def collate(samples):
    """Texts of one batch are as long as its longest."""
    texts, labels = zip(*samples)
    return pad_sequence(texts, batch_first=True, padding_value=PAD), torch.tensor(labels)


class Classifier(nn.Module):
    def __init__(self, vocabulary, classes):
        super().__init__()
        self.words = nn.EmbeddingBag(vocabulary, 32, mode="mean", padding_idx=PAD)
        self.out = nn.Linear(32, classes)

    def forward(self, texts):
        return self.out(self.words(texts))


def train(model, loader, optimizer):
    """One epoch; the share of texts that were told right."""
    loss_of = nn.CrossEntropyLoss()
    right = 0
    for texts, labels in loader:
        optimizer.zero_grad()
        scores = model(texts)
        loss_of(scores, labels).backward()
        optimizer.step()
        right += int((scores.argmax(1) == labels).sum())
    return right / len(loader.dataset)


def parse_arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--file", help="lines of label, tab, text")
    p.add_argument("--count", type=int, default=4000, help="texts to make up without a file")
    p.add_argument("--lr", type=float, default=0.5)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--batch", type=int, default=32)
    return p.parse_args()


def main():
    o = parse_arguments()
    torch.manual_seed(0)
    texts = read_texts(o.file) if o.file else make_texts(o.count)
    dataset = Texts(texts, vocabulary=5000, drop=0.1)
    loader = DataLoader(dataset, o.batch, shuffle=True, num_workers=o.workers,
                        collate_fn=collate)
    model = Classifier(dataset.vocabulary, len(dataset.labels))
    optimizer = torch.optim.SGD(model.parameters(), o.lr)
    for epoch in range(o.epochs):
        right = train(model, loader, optimizer)
        print(f"lr {o.lr:g}, epoch {epoch}: {100 * right:.1f} % right", flush=True)


if __name__ == "__main__":
    main()
