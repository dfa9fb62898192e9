# SPDX-License-Identifier: Apache-2.0
"""test_loader.py: the loader's batches against torchvision's ImageFolder."""

import os

import numpy as np
import pytest
import torch
from torchvision import transforms
from torchvision.datasets import ImageFolder

import oracle
from destall_api import SAMPLE_OK, Failed, Loader, Prep, lib, options, set_all

# Names whose order as classes is not that of their files' paths.
CLASSES = ["bee", "bee keeper", "Ant", "zebra", "\u00e4hre", "bee-eater"]
KINDS = ["420", "444", "422-progressive", "grey", "cmyk", "411-restart",
         "420", "420", "png-rgb", "png-p-alpha", "oriented"]
PICTURES = 107                  # a prime: no batch size divides it
SIZE = 48
FORM = {"size": SIZE, "type": "fp32", "layout": "nchw"}


@pytest.fixture(scope="session")
def folder(maker, tmp_path_factory):
    """As ImageFolder takes them: nested folders, and files of other kinds."""
    top = tmp_path_factory.mktemp("data")
    rng = np.random.RandomState(8)
    for i in range(PICTURES):
        kind = KINDS[i % len(KINDS)]
        where = top / CLASSES[i % len(CLASSES)]
        if i % 9 == 0:
            where = where / "more"
        where.mkdir(parents=True, exist_ok=True)
        width, height = (int(n) for n in rng.randint(20, 160, 2))
        ending = ".png" if kind.startswith("png") else (".jpg", ".JPEG")[i % 2]
        (where / ("%03d%s" % (i, ending))).write_bytes(
            maker.one(kind, width, height, rng))
    (top / "bee" / "notes.txt").write_text("no picture")
    (top / "zebra" / "picture.gz").write_text("no picture")
    return str(top)


@pytest.fixture(scope="session")
def reference(folder):
    """Two epochs of one thread, by position."""
    with Loader(folder, batch=32, threads=1, seed=5, **FORM) as loader:
        return [by_position(loader.epoch()) for _ in range(2)]


def by_position(samples):
    assert [s.position for s in samples] == sorted(s.position for s in samples)
    return {s.position: s for s in samples}


def essence(sample):
    return sample.item, sample.label, sample.state, sample.bytes


def assert_same(got, want):
    """Of dictionaries by position."""
    assert got.keys() == want.keys()
    for position in want:
        assert essence(got[position]) == essence(want[position]), (
            "position %d" % position)


# --- against torchvision ----------------------------------------------------

def test_labels(folder, reference):
    """Classes and their numbers are ImageFolder's."""
    theirs = ImageFolder(folder)
    want = {os.path.relpath(path, folder): label
            for path, label in theirs.samples}
    with Loader(folder, seed=5, **FORM) as loader:
        names = loader.data.names()
        assert loader.samples() == PICTURES == len(want)
        assert [loader.class_name(i) for i in range(len(CLASSES))] == \
            theirs.classes
        assert loader.class_name(len(CLASSES)) is None
        assert loader.class_name(-1) is None
    for epoch in reference:
        got = {names[s.item]: s.label for s in epoch.values()}
        assert got == want


@pytest.mark.parametrize("kind, layout", [("fp32", "nchw"), ("uint8", "nhwc"),
                                          ("bf16", "nchw"), ("fp16", "nhwc")])
def test_random_samples(folder, kind, layout, counts):
    """The pixels are those of the cut at (seed, epoch, position)."""
    prep = Prep(size=SIZE)
    with Loader(folder, batch=32, seed=5, size=SIZE, type=kind,
                layout=layout) as loader:
        names = loader.data.names()
        for epoch in range(2):
            for s in loader.epoch():
                check_random(prep, os.path.join(folder, names[s.item]), s,
                             epoch, kind, layout)
                counts["samples of the loader compared"] += 1


def check_random(prep, path, sample, epoch, kind, layout):
    assert sample.epoch == epoch and sample.state == SAMPLE_OK
    with open(path, "rb") as f:
        image = oracle.load(f.read())
    cut = prep.draw(*image.size, 5, epoch, sample.position)
    want = oracle.expect(oracle.cut_out(image, cut, SIZE, SIZE), kind, layout)
    wrong = oracle.differences(np.frombuffer(sample.bytes, np.uint8), want,
                               kind, layout)
    assert wrong is None, "%s at %d of epoch %d, %r: %s" % (
        path, sample.position, epoch, cut, wrong)


def test_evaluation(folder):
    """Whole batches of a DataLoader over Resize and CenterCrop."""
    theirs = ImageFolder(folder, transforms.Compose([
        transforms.Resize(56), transforms.CenterCrop(SIZE),
        transforms.ToTensor(), transforms.Normalize(oracle.MEAN, oracle.STD)]))
    batches = torch.utils.data.DataLoader(theirs, batch_size=25)
    want = {}
    paths = iter(os.path.relpath(p, folder) for p, _ in theirs.samples)
    for values, labels in batches:
        for value, label in zip(values, labels):
            want[next(paths)] = label.item(), value.numpy().tobytes()
    with Loader(folder, batch=25, order="listed", crop="center", resize=56,
                **FORM) as loader:
        names = loader.data.names()
        samples = loader.epoch()
    assert [s.item for s in samples] == sorted(s.item for s in samples)
    assert {names[s.item]: (s.label, s.bytes) for s in samples} == want


# --- options ----------------------------------------------------------------

def test_options(folder):
    """All are named, and what each is unless it is set can be set."""
    of_prep, of_loader = (options(table()) for table in (
        lib.prep_options, lib.loader_options))
    assert of_prep.items() < of_loader.items()
    prep = Prep(**of_prep)
    assert prep.bytes() == 3 * 224 * 224 * 4
    with Loader(folder, **of_loader) as loader:
        for name, value, code in (("sise", "8", "ENOENT"),
                                  ("size", "x", "EINVAL"),
                                  ("batch", "0", "ERANGE"),
                                  ("order", "sorted", "EINVAL")):
            with pytest.raises(Failed, match="^" + code):
                set_all(lib.loader_set, loader.handle, {name: value})
        loader.batch()
        with pytest.raises(Failed, match="^EBUSY"):
            set_all(lib.loader_set, loader.handle, {"batch": "8"})


# --- order ------------------------------------------------------------------

def orders(folder, seed, epochs, **how):
    with Loader(folder, seed=seed, **how, **FORM) as loader:
        return [[s.item for s in loader.epoch()] for _ in range(epochs)]


def test_orders(folder):
    """Each epoch another permutation; the same for the same seed."""
    found = orders(folder, 5, 4)
    assert found == orders(folder, 5, 4)
    found += orders(folder, 6, 4)
    for order in found:
        assert len(order) == PICTURES == len(set(order))
        assert set(order) == set(found[0]) and order != sorted(order)
    assert len({tuple(order) for order in found}) == len(found)
    # Two permutations at random agree in one place on average.
    for i, a in enumerate(found):
        for b in found[:i]:
            assert sum(x == y for x, y in zip(a, b)) < 10


@pytest.mark.parametrize("how", [
    {"batch": 32, "threads": 2}, {"batch": 50, "threads": 1},
    {"batch": 50, "threads": 2}, {"batch": 1, "threads": 2},
    {"batch": 1000, "threads": 2}, {"batch": 50, "threads": 5, "readers": 0},
    {"batch": 32, "threads": 2, "readers": 1, "prefetch": 5},
    {"batch": 50, "threads": 2, "simd": "plain"}])
def test_same_bytes(folder, reference, how):
    """Whatever the batch size, the threads and the instruction set."""
    with Loader(folder, seed=5, **how, **FORM) as loader:
        for want in reference:
            assert_same(by_position(loader.epoch()), want)


def test_batches(folder):
    """All are full but the last, which drop-last leaves out."""
    for how, want in (({}, [32, 32, 32, 11]), ({"drop_last": "yes"}, [32] * 3)):
        with Loader(folder, batch=32, epochs=2, seed=5, **how,
                    **FORM) as loader:
            for epoch in range(2):
                batches = iter(loader.batch, None)
                assert [len(b) for b in batches] == want
            with pytest.raises(Failed, match="^ENOENT"):
                loader.batch()


def test_ranks(folder, reference):
    """Three processes: all of the epoch, by its global positions; it is filled
    up by its beginning, as DistributedSampler does."""
    ranks = 3
    for epoch in range(2):
        first = reference[epoch]
        seen = set()
        for rank in range(ranks):
            with Loader(folder, batch=7, seed=5, rank=rank, ranks=ranks,
                        **FORM) as loader:
                for _ in range(epoch):
                    loader.epoch()
                samples = by_position(loader.epoch())
            assert len(samples) == -(-PICTURES // ranks)
            for position, s in samples.items():
                assert position % ranks == rank
                seen.add(position)
                if position < PICTURES:
                    assert essence(s) == essence(first[position])
                else:
                    assert s.item == first[position - PICTURES].item
        assert seen == set(range(PICTURES + -PICTURES % ranks))


# --- resuming ---------------------------------------------------------------

@pytest.mark.parametrize("batches", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("how", [{"batch": 32, "threads": 1},
                                 {"batch": 50, "threads": 2}])
def test_resume(folder, reference, batches, how):
    """The rest of the epoch, then the next one, as if nothing had been."""
    with Loader(folder, batch=25, threads=2, seed=5, **FORM) as loader:
        done = [s for _ in range(batches) for s in loader.batch()]
        text = loader.save()
    with Loader(folder, seed=5, **how, **FORM) as loader:
        loader.restore(text)
        rest = loader.epoch()
        assert_same(by_position(done + rest), reference[0])
        assert_same(by_position(loader.epoch()), reference[1])


def test_resume_between_epochs(folder, reference):
    with Loader(folder, batch=40, seed=5, **FORM) as loader:
        loader.epoch()
        text = loader.save()
    with Loader(folder, batch=32, seed=5, **FORM) as loader:
        loader.restore(text)
        assert_same(by_position(loader.epoch()), reference[1])


def test_resume_of_another(folder):
    """A position of another order is refused, and of no order at all."""
    with Loader(folder, seed=5, **FORM) as loader:
        loader.batch()
        text = loader.save()
    for values, line, code in (({"seed": 6}, text, "ESTALE"),
                               ({"order": "listed"}, text, "ESTALE"),
                               ({}, b"nonsense", "EBADMSG"),
                               ({}, text[:-3] + b"\xff\xff", "EBADMSG")):
        with Loader(folder, **{"seed": 5, **values}, **FORM) as loader:
            with pytest.raises(Failed, match="^" + code):
                loader.restore(line)
                loader.batch()
