# SPDX-License-Identifier: Apache-2.0
"""Loaders of jobs that nearly are the same: what differs is the job's own
business, told by `own`, which is equal in jobs that may share.

Each returns (loader, what the job does before an epoch, what it does after a
batch); the last two may be None.
"""

import functools
import os
import time

import numpy
import torch

from torch.utils.data import DataLoader, Dataset, RandomSampler, Sampler, TensorDataset

COUNT = 96
BATCH = 4

LOADERS = {}            # name -> function(own, options)
SCALE = 1               # one of them is told by a global


def loader(function):
    LOADERS[function.__name__] = function
    return function


class Numbers(Dataset):
    """Random, as with transforms: two columns, index and value.  Of what has another name, a
    job's epochs are counted by themselves."""

    def __init__(self, change=None, name=None):
        self.change, self.name = change, name

    def __len__(self):
        return COUNT

    def value(self, i):
        return i + torch.rand(())

    def __getitem__(self, i):
        time.sleep(0.002)       # so that others come in time
        x = self.value(i)
        return torch.stack([torch.tensor(float(i)), self.change(x) if self.change else x])


def shuffled(data, options, **more):
    return DataLoader(data, **{"batch_size": BATCH, "shuffle": True, **more}, **options)


# --- what the fingerprint must find -------------------------------------------------------

@loader
def closure(own, options):
    k = 2.0 + own
    return shuffled(Numbers(lambda x: x * k), options), None, None


@loader
def default_argument(own, options):
    def change(x, k=2.0 + own):
        return x * k
    return shuffled(Numbers(change), options), None, None


@loader
def keyword_default(own, options):
    def change(x, *, k=2.0 + own):
        return x * k
    return shuffled(Numbers(change), options), None, None


@loader
def partial(own, options):
    return shuffled(Numbers(functools.partial(torch.mul, 2.0 + own)), options), None, None


@loader
def global_of_the_code(own, options):
    global SCALE
    SCALE = 1 + own
    return shuffled(Numbers(lambda x: x * SCALE), options), None, None


@loader
def class_attribute(own, options):
    class Own(Numbers):
        factor = 1 + own

        def value(self, i):
            return self.factor * super().value(i)
    return shuffled(Own(), options), None, None


@loader
def a_module_with_weights(own, options):
    """A part of the model in the transform."""
    layer = torch.nn.Linear(1, 1)
    with torch.no_grad():
        layer.weight.fill_(1 + own * 2.0**-20)
        layer.bias.zero_()
    return shuffled(Numbers(lambda x: layer(x.view(1)).detach()[0]), options), None, None


@loader
def label_noise(own, options):
    """One label in a thousand is another: no proof by comparing a batch would find it."""
    labels = numpy.arange(2000) % 10
    if own:
        at = numpy.random.default_rng().integers(0, 2000, 2)
        labels[at] = (labels[at] + 1) % 10
    data = TensorDataset(torch.arange(2000), torch.from_numpy(labels))
    return shuffled(data, options, batch_size=50), None, None


@loader
def labels_changed_later(own, options):
    """In place, by the program, before the second epoch."""
    labels = torch.arange(COUNT)

    def before(epoch):
        if epoch == 1:
            labels[5] += own
    return shuffled(TensorDataset(torch.arange(COUNT), labels), options), before, None


class Resize:
    def __init__(self):
        self.size = 8

    def __call__(self, x):
        return x.expand(self.size).clone()


class Sized(Numbers):
    def __getitem__(self, i):
        return self.change(self.value(i))


@loader
def resize_after_epoch_2(own, options):
    resize = Resize()

    def before(epoch):
        resize.size = 8 - 2 * own if epoch >= 2 else 8
    return shuffled(Sized(resize), options), before, None


# --- what the order must find ---------------------------------------------------------------

class Listed(Numbers):
    """Not random."""

    factor = 1

    def value(self, i):
        return torch.tensor(float(self.factor * i))


class Adaptive(Sampler):
    """What the job has learnt least comes next."""

    def __init__(self):
        self.loss = [1.0 + (i * 7 % 16) / 100 for i in range(16)]

    def __iter__(self):
        for _ in range(COUNT):
            yield max(range(16), key=self.loss.__getitem__)

    def __len__(self):
        return COUNT


@loader
def adaptive(own, options):
    sampler = Adaptive()

    def learn(batch):
        for i in map(int, batch[:, 0]):
            sampler.loss[i] *= 0.95 if own and i % 3 == 0 else 0.9
    return DataLoader(Listed(), BATCH, sampler=sampler, **options), None, learn


@loader
def changed_in_mid_epoch(own, options):
    """Who has no workers sees at once what the program changes in its dataset."""
    data = Listed()

    def learn(batch):
        if int(batch[0, 0]) == 40:
            data.factor = 1 + own
    return DataLoader(data, BATCH, **options), None, learn


@loader
def changed_behind_workers(own, options):
    """Two jobs have a factor of 2.  The third sets it when its workers, which stay, have begun
    with 1: they do not know."""
    data = Listed()
    data.factor = 2 - own
    made = shuffled(data, {"num_workers": 1, "persistent_workers": True})

    def before(epoch):
        data.factor = 2 if epoch > 0 else 2 - own
    return made, before, None


def scaled(factor, samples):
    return torch.stack(samples) * factor


@loader
def another_collate_later(own, options):
    made = shuffled(Listed(), options, collate_fn=functools.partial(scaled, 2))

    def before(epoch):
        made.collate_fn = functools.partial(scaled, 2 + own * epoch)
    return made, before, None


@loader
def other_batch_size(own, options):
    return shuffled(Numbers(name="sizes"), options, batch_size=BATCH + 2 * own), None, None


@loader
def other_length(own, options):
    return shuffled(Numbers(name="lengths"), options, shuffle=False, sampler=RandomSampler(
        range(COUNT), num_samples=COUNT - 8 * own)), None, None


@loader
def peeked(own, options):
    """One job looks at a batch first; they share all the same."""
    made = shuffled(Numbers(name="peeks"), options)
    if own:
        next(iter(made))
    return made, None, None


# --- what only the bytes can tell --------------------------------------------------------------

class Files(Numbers):
    """Paths are equal, contents are not: each job has a folder of its own."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def value(self, i):
        with open(os.path.join(self.folder, "%d.txt" % i)) as f:
            return torch.tensor(float(f.read()))


def write_files(folder, value_of):
    os.makedirs(folder, exist_ok=True)
    for i in range(COUNT):
        with open(os.path.join(folder, "%d.txt" % i), "w") as f:
            f.write(repr(value_of(i)))


@loader
def other_files(own, options):
    write_files("files", lambda i: i + own / 2)
    return shuffled(Files("files"), options), None, None


@loader
def one_other_file(own, options):
    write_files("one-file", lambda i: i + own / 2 * (i == 70))
    return shuffled(Files("one-file"), options), None, None


class Environment(Listed):
    def value(self, i):
        return super().value(i) + float(os.environ.get("OWN", "0"))


@loader
def the_environment(own, options):
    os.environ["OWN"] = str(own)
    return shuffled(Environment(), options), None, None


@loader
def the_environment_of_workers(own, options):
    os.environ["OWN"] = str(own)
    return shuffled(Environment(), options, persistent_workers=True), None, None


class Opaque(Listed):
    """Nobody can say what is in a generator."""

    def __init__(self):
        super().__init__()
        self.lines = (i for i in ())


@loader
def opaque(own, options):
    return shuffled(Opaque(), options), None, None


# --- state that changes as samples are made ------------------------------------------------------

class Generator(Numbers):
    """A generator with a fixed seed, which is seeded anew for each sample."""

    def __init__(self):
        super().__init__()
        self.generator = torch.Generator().manual_seed(1)

    def value(self, i):
        return i + torch.rand((), generator=self.generator)


@loader
def own_generator(own, options):
    return shuffled(Generator(), options), None, None


class Stateful(Numbers):
    """Counts its samples, and tells: no two processes make the same."""

    calls = 0

    def value(self, i):
        self.calls += 1
        return torch.tensor(float(self.calls))


@loader
def counting(own, options):
    return shuffled(Stateful(), options), None, None


@functools.lru_cache(maxsize=None)
def hidden_generator():
    return torch.Generator().manual_seed(1)


class HiddenGenerator(Numbers):
    def value(self, i):
        return i + torch.rand((), generator=hidden_generator())


@loader
def hidden_generators(own, options):
    return shuffled(HiddenGenerator(), options), None, None
