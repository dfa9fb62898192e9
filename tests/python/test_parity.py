# SPDX-License-Identifier: Apache-2.0
"""test_parity.py: samples are those of Pillow and torchvision, bit for bit."""

import functools
import itertools
import zlib

import numpy as np
import pytest

import oracle
import pictures
from destall_api import Cut, Failed, Prep

SIZES = [(224, 224), (32, 32), (17, 17), (225, 31), (31, 225), (1, 1), (8, 8),
         (64, 48), (5, 7), (40, 96)]
FORMS = list(itertools.product(oracle.DTYPES, ("nchw", "nhwc")))
BYTES, *OTHERS = sorted(FORMS, key=lambda form: form != ("uint8", "nhwc"))
LARGE = 100000                  # pixels: fewer cuts, since they take longer
SHOWN = 5                       # failures of a kind of picture


@functools.lru_cache(maxsize=None)
def prep_of(simd, kind, layout, size, **others):
    return Prep(simd=simd, type=kind, layout=layout, size="%dx%d" % size,
                **others)


@functools.lru_cache(maxsize=None)
def join(*numbers):
    """As options take them."""
    return ",".join(np.format_float_positional(n, trim="-") for n in numbers)


# --- cuts -------------------------------------------------------------------

def part(rng, whole, at_most=None):
    """Where a part of an axis begins, and how long it is."""
    length = 1 + rng.randint(min(whole, at_most or whole))
    return rng.randint(whole - length + 1), length


def edge(rng, whole):
    begin, length = part(rng, whole)
    return (0 if rng.randint(2) else whole - length), length


def fixed(rng, whole, length):
    length = min(whole, length)
    return rng.randint(whole - length + 1), length


def larger(rng, wanted):
    """More than is wanted is made, of which the sample is a part."""
    made = wanted + rng.randint(1, 2 * wanted + 8)
    return made, rng.randint(made - wanted + 1)


WINDOWS = {
    "whole": lambda rng, w, h, size: ((0, w), (0, h)),
    "any": lambda rng, w, h, size: (part(rng, w), part(rng, h)),
    "edge": lambda rng, w, h, size: (edge(rng, w), edge(rng, h)),
    "pixel": lambda rng, w, h, size: (part(rng, w, 1), part(rng, h, 1)),
    "narrow": lambda rng, w, h, size: (part(rng, w, 6), part(rng, h)),
    "low": lambda rng, w, h, size: (part(rng, w), part(rng, h, 6)),
    # Nothing is resized, or only in one direction.
    "same": lambda rng, w, h, size: (fixed(rng, w, size[0]),
                                     fixed(rng, h, size[1])),
    "same-width": lambda rng, w, h, size: (fixed(rng, w, size[0]),
                                           part(rng, h)),
    "same-height": lambda rng, w, h, size: (part(rng, w),
                                            fixed(rng, h, size[1])),
    "inner": lambda rng, w, h, size: (part(rng, w), part(rng, h)),
}


def make_cut(how, rng, image, size):
    (x, width), (y, height) = WINDOWS[how](rng, *image.size, size)
    cut = Cut(x=x, y=y, width=width, height=height, to_width=size[0],
              to_height=size[1], flip=rng.randint(2))
    if how == "inner":
        cut.to_width, cut.at_x = larger(rng, size[0])
        cut.to_height, cut.at_y = larger(rng, size[1])
    return cut


def choose_cuts(rng, image, turn, is_long):
    """(cut, size of the sample): the whole picture, and a few parts, in every
    way in turn."""
    whole, *ways = WINDOWS
    nr = 2 if image.width * image.height > LARGE else 4
    if is_long:
        nr = 40
    ways = [whole] + [ways[(turn * 4 + i) % len(ways)] for i in range(nr)]
    for how in ways:
        size = SIZES[rng.randint(len(SIZES))]
        yield make_cut(how, rng, image, size), size


# --- comparing --------------------------------------------------------------

class Comparison:
    """One picture by every kernel; what differs is kept as text."""

    def __init__(self, simds, counts):
        self.simds, self.counts, self.wrong = simds, counts, []

    def compare(self, name, encoded, image, cut, size, form, mean=oracle.MEAN,
                std=oracle.STD, **others):
        """The sample against an image that has become of it at the oracle."""
        want = oracle.expect(image, *form, mean, std)
        for simd in self.simds:
            prep = prep_of(simd, *form, size, mean=join(*mean),
                           std=join(*std), **others)
            try:
                text = oracle.differences(prep.run(encoded, cut), want, *form)
            except Failed as failed:
                text = str(failed)
            self.counts["samples compared"] += 1
            self.counts["values compared"] += want.size
            self.counts["as " + " ".join((simd,) + form)] += 1
            if text is not None:
                self.wrong.append("%s, %r, size %dx%d, %s: %s" % (
                    name, cut, *size, " ".join((simd,) + form), text))

    def end(self):
        shown = self.wrong[:SHOWN]
        assert not self.wrong, "%d samples are wrong:\n%s" % (
            len(self.wrong), "\n".join(shown))


@pytest.mark.parametrize("kind", {**pictures.JPEG_KINDS, **pictures.PNG_KINDS})
def test_cuts(kind, maker, simds, counts, is_long):
    comparison = Comparison(simds, counts)
    rng = np.random.RandomState(zlib.crc32(kind.encode()))
    turn = rng.randint(1000)
    for name, encoded in maker.all_of(kind, 10 if is_long else 0):
        image = oracle.load(encoded)
        assert Prep().size(encoded) == image.size
        counts["pictures"] += 1
        for cut, size in choose_cuts(rng, image, turn, is_long):
            result = oracle.cut_out(image, cut, *size)
            counts["cuts"] += 1
            comparison.compare(name, encoded, result, cut, size, BYTES)
            # Of other forms only the last step is another.
            if is_long or counts["cuts"] % 2 == 0:
                form = OTHERS[counts["cuts"] // 2 % len(OTHERS)]
                comparison.compare(name, encoded, result, cut, size, form)
        turn += 1
    comparison.end()


@pytest.mark.parametrize("kind", pictures.REFUSED_KINDS)
def test_refused(kind, maker):
    """Kinds that are not read, because Pillow's result makes no sense."""
    for name, encoded in maker.all_of(kind):
        image = oracle.load(encoded)
        assert np.mean(np.array(image) == 255) > 0.9, name
        cut = Cut(width=image.width, height=image.height, to_width=8,
                  to_height=8)
        with pytest.raises(Failed, match="^ENOTSUP"):
            Prep(size=8).run(encoded, cut)


def make_extremes(width, height):
    """Values whose sums come nearest to what a kernel's numbers can hold."""
    rng = np.random.RandomState(width)
    y, x = np.mgrid[0:height, 0:width]
    return {
        "white": np.full((height, width, 3), 255),
        "checkers": np.dstack([(x + y) % 2 * 255, x % 2 * 255, y % 2 * 255]),
        "black and white": rng.randint(0, 2, (height, width, 3)) * 255,
        "nearly white": 255 - rng.randint(0, 2, (height, width, 3)),
        "noise": rng.randint(0, 256, (height, width, 3)),
    }


@pytest.mark.parametrize("width, height", [(61, 47), (300, 9), (5, 280)])
def test_extremes(width, height, simds, counts, is_long):
    comparison = Comparison(simds, counts)
    rng = np.random.RandomState(height)
    for name, values in make_extremes(width, height).items():
        encoded = pictures.png.write(values, pictures.png.RGB)
        image = oracle.load(encoded)
        for how in list(WINDOWS) * (20 if is_long else 2):
            size = SIZES[rng.randint(len(SIZES))]
            cut = make_cut(how, rng, image, size)
            comparison.compare(name, encoded, oracle.cut_out(image, cut, *size),
                               cut, size, BYTES)
    comparison.end()


@pytest.mark.parametrize("kind", ["420", "png-rgb"])
def test_far_sizes(kind, maker, simds, counts):
    """Thousands of pixels to a few, and a few to thousands."""
    comparison = Comparison(simds, counts)
    rng = np.random.RandomState(1)
    values = maker.scenes.part(rng, 300, 200)
    for shape in (1, 9), (13, 1):
        encoded = pictures.KINDS[kind](np.tile(values, shape + (1,)), rng)
        image = oracle.load(encoded)
        for size in (1, 1), (3, 2), (33, 31), (2011, 3), (3, 2011):
            for how in "whole", "any", "inner":
                cut = make_cut(how, rng, image, size)
                comparison.compare("%dx%d" % image.size, encoded,
                                   oracle.cut_out(image, cut, *size), cut, size,
                                   BYTES)
    comparison.end()


# --- whole transforms -------------------------------------------------------

CENTERS = [(256, (224, 224)), (40, (32, 32)), (33, (17, 32)), (64, (64, 31)),
           (51, (50, 51))]
LONGEST = 40                    # a side, by the other: larger ones take long


@pytest.mark.parametrize("kind", ["420", "422-progressive", "grey",
                                  "png-p-alpha"])
def test_center_and_none(kind, maker, simds, counts, is_long):
    """Resize and CenterCrop; and Resize of both sides."""
    comparison = Comparison(simds, counts)
    for name, encoded in maker.all_of(kind, 30 if is_long else 3):
        image = oracle.load(encoded)
        if max(image.size) > LONGEST * min(image.size):
            continue
        for turn, (resize, size) in enumerate(CENTERS):
            form = FORMS[(turn + image.size[0]) % len(FORMS)]
            drawer = Prep(crop="center", resize=resize, size="%dx%d" % size)
            comparison.compare(
                name, encoded, oracle.take_center(image, resize, *size),
                drawer.draw(*image.size, 1, 2, 3), size, form)
            drawer = Prep(crop="none", size="%dx%d" % size)
            comparison.compare(
                name, encoded, oracle.F.resize(image, [size[1], size[0]]),
                drawer.draw(*image.size, 1, 2, 3), size, form)
    comparison.end()


def choose_shrink(cut):
    """By how much fast=yes decodes it smaller: still not to be enlarged."""
    return max(d for d in (1, 2, 4, 8) if d == 1 or (
        cut.width // d >= cut.to_width and cut.height // d >= cut.to_height))


@pytest.mark.parametrize("kind", ["420", "444", "422-progressive", "grey",
                                  "411-restart"])
def test_fast(kind, maker, simds, counts):
    """Other pixels, but those that Pillow has of a smaller decoding."""
    comparison = Comparison(simds, counts)
    rng = np.random.RandomState(2)
    for name, encoded in maker.all_of(kind, 3):
        image = oracle.load(encoded)
        for how in "whole", "any", "edge":
            size = [(17, 17), (33, 20), (64, 48)][rng.randint(3)]
            cut = make_cut(how, rng, image, size)
            by = choose_shrink(cut)
            counts["decoded smaller by %d" % by] += 1
            comparison.compare(
                name, encoded, oracle.cut_out_fast(encoded, cut, by, *size),
                cut, size, BYTES, fast="yes")
    comparison.end()


# --- numbers ----------------------------------------------------------------

NORMALS = [(oracle.MEAN, oracle.STD), ([0, 0, 0], [1, 1, 1]),
           ([0.5, 0.5, 0.5], [0.5, 0.5, 0.5]),
           ([0.4914, 0.4822, 0.4465], [0.2023, 0.1994, 0.2010]),
           ([1, 0.1, 0.9], [0.003, 7, 0.99999]),
           # Many are half-way between two numbers of bf16, or of fp16.
           ([0.25, 0.0625 / 255, 63.25 / 255], [1 / 255] * 3),
           # Past the range of fp16, and below its smallest normal number.
           ([0.3, 0.2, 0.1], [0.00001, 20000, 3000000])]


@pytest.mark.parametrize("mean, std", NORMALS)
def test_numbers(mean, std, simds, counts):
    """Every value of a byte in every channel, in samples of odd widths."""
    values = np.arange(256).reshape(1, 256, 1) * np.array([1, 7, 255]) % 256
    encoded = pictures.png.write(values, pictures.png.RGB)
    image = oracle.load(encoded)
    comparison = Comparison(simds, counts)
    for form in FORMS:
        for width in 256, 255, 33, 31, 7:
            cut = Cut(x=256 - width, width=width, height=1, to_width=width,
                      to_height=1)
            comparison.compare(
                "all values", encoded,
                oracle.cut_out(image, cut, width, 1), cut, (width, 1), form,
                mean, std)
    comparison.end()


def test_all_was_compared(simds, counts):
    """Last of the file: what its comparisons have been."""
    assert counts["pictures"] >= 500
    for simd in simds:
        for form in FORMS:
            assert counts["as " + " ".join((simd,) + form)] >= 100
