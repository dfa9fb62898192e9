# SPDX-License-Identifier: Apache-2.0
"""test_laws.py: cuts are drawn by the laws of torchvision's transforms."""

import ctypes
import math

import numpy as np
import pytest
import torch
import torchvision.transforms.functional as F
from PIL import Image

import torch_laws
from destall_api import Cut, Place, Prep, lib

DRAWS = 100000
SCALE, RATIO = (0.08, 1.0), (3 / 4, 4 / 3)

# Pictures and settings; of the long ones some have a try among ten that fits,
# some have none.
CASES = [
    (500, 375, SCALE, RATIO), (375, 500, SCALE, RATIO), (64, 64, SCALE, RATIO),
    (500, 100, SCALE, RATIO), (90, 420, SCALE, RATIO), (7, 5, SCALE, RATIO),
    (1000, 50, SCALE, RATIO), (40, 900, SCALE, RATIO),
    (640, 480, (0.35, 0.5), (0.5, 3.0)), (300, 200, (0.9, 1.0), (1.0, 1.0)),
]

# Two samples of n each by one law differ by this or more in one of 10,000
# comparisons (Kolmogorov and Smirnov; fewer when there are equal values).
CHANCE = 1e-4


def ks_limit(n):
    return math.sqrt(-math.log(CHANCE / 2) / 2) * math.sqrt(2 / n)


def ks_distance(a, b):
    values = np.concatenate([a, b])
    values.sort()
    return np.abs(np.searchsorted(np.sort(a), values, "right") / len(a) -
                  np.searchsorted(np.sort(b), values, "right") / len(b)).max()


def pair(values):
    return "%.17g,%.17g" % tuple(values)


def draw_all(prep, width, height, count=DRAWS, seed=7, epoch=3, first=0):
    """An array of x, y, width, height, flip."""
    cuts = (Cut * count)()
    place = Place(seed, epoch)
    call, where = lib.prep_draw, ctypes.byref(place)
    step, at = ctypes.sizeof(Cut), ctypes.addressof(cuts)
    to_cut = ctypes.POINTER(Cut)
    for i in range(count):
        place.position = first + i
        call(prep.handle, width, height, where,
             ctypes.cast(at + i * step, to_cut))
    return np.frombuffer(cuts, np.uint32).reshape(count, 9)[
        :, [0, 1, 2, 3, 8]].astype(np.int64)


def features(found, width, height):
    """What their distributions are compared by."""
    x, y, w, h = found[:, :4].T
    free_x, free_y = width - w, height - h
    return {
        "x": x, "y": y, "width": w, "height": h,
        "area": w * h / (width * height), "log ratio": np.log(w / h),
        # Where in its room; and do shape and place hang together?
        "x by room": np.where(free_x > 0, x / np.maximum(free_x, 1), -1),
        "y by room": np.where(free_y > 0, y / np.maximum(free_y, 1), -1),
        "x and y": x * height + y, "x and width": x * (width + 1) + w,
        "width and height": w * (height + 1) + h,
    }


# --- the copy of torchvision's law is right ---------------------------------

@pytest.mark.parametrize("width, height, scale, ratio", CASES)
def test_many_at_once_is_the_same(width, height, scale, ratio):
    numbers = torch_laws.Numbers(5, 1000 // len(CASES))
    found, _ = torch_laws.all_params(numbers, width, height, scale, ratio)
    image = Image.new("RGB", (width, height))
    for i, ours in enumerate(found):
        real = torch_laws.real_params(numbers, i, image, scale, ratio)
        assert tuple(ours) == real, "draw %d" % i


# --- random -----------------------------------------------------------------

@pytest.mark.parametrize("width, height, scale, ratio", CASES)
def test_random_cuts(width, height, scale, ratio, counts):
    prep = Prep(scale=pair(scale), ratio=pair(ratio))
    ours = draw_all(prep, width, height)
    theirs, fell = torch_laws.all_params(
        torch_laws.Numbers(11, DRAWS), width, height, scale, ratio)
    counts["draws compared"] += DRAWS
    a, b = features(ours, width, height), features(theirs, width, height)
    far = {name: ks_distance(a[name], b[name]) for name in a}
    limit = ks_limit(DRAWS)
    assert not [name for name in far if far[name] > limit], (limit, far)
    check_fall_back(ours, theirs, fell, width, height, ratio)
    check_share(ours[:, 4], 0.5, "flipped")


def check_share(is_so, share, what):
    """A share of draws, to five standard deviations."""
    off = 5 * math.sqrt(share * (1 - share) / len(is_so))
    assert abs(np.mean(is_so) - share) <= off, what


def check_fall_back(ours, theirs, fell, width, height, ratio):
    """The same box, to the pixel, and as often.  (Boxes that were drawn may
    equal it: they are counted on both sides.)"""
    box = torch_laws.fall_back(width, height, ratio)
    a = (ours[:, :4] == box).all(1)
    b = (theirs == box).all(1)
    assert (b | ~fell).all()
    off = 5 * math.sqrt(max(b.mean(), 1e-4) * 2 / DRAWS)
    assert abs(a.mean() - b.mean()) <= off, (a.mean(), b.mean())
    if fell.mean() > 0.01:
        assert a.any()


def test_only_fall_back(counts):
    """Of parts as large as the whole that have another ratio none fits."""
    numbers = torch_laws.Numbers(12, 500)
    sizes = [(1000, 50), (1, 300), (3, 1), (77, 10), (999, 500), (16, 15)]
    for w, h in sizes + [(h, w) for w, h in sizes]:
        for ratio in RATIO, (0.9, 1.1), (1.0, 1.0), (0.6, 0.61), (1.7, 1.75):
            theirs, fell = torch_laws.all_params(numbers, w, h, (1, 1), ratio)
            if not fell.all():
                continue
            cut = Prep(scale="1,1", ratio=pair(ratio)).draw(w, h, 1, 0, 0)
            assert (cut.x, cut.y, cut.width, cut.height) == tuple(theirs[0]), (
                w, h, ratio)
            counts["boxes fallen back to"] += 1
    assert counts["boxes fallen back to"] >= 30


@pytest.mark.parametrize("flip", ["0", "0.1", "1"])
def test_flips(flip):
    found = draw_all(Prep(flip=flip), 80, 60, 20000)
    check_share(found[:, 4], float(flip), "flipped")


def test_only_place_counts():
    """The same place, the same cut, whatever was drawn before; other places,
    epochs and seeds have nothing to do with each other."""
    n, prep = 20000, Prep()
    base = draw_all(prep, 500, 375, n)
    assert (draw_all(Prep(), 500, 375, n)[::-1] == base[::-1]).all()
    assert (draw_all(Prep(), 500, 375, 50, first=777) == base[777:827]).all()
    others = {
        "the next position": draw_all(prep, 500, 375, n, first=1),
        "the next epoch": draw_all(prep, 500, 375, n, epoch=4),
        "the next seed": draw_all(prep, 500, 375, n, seed=8),
        "a distant seed": draw_all(prep, 500, 375, n, seed=7 + (1 << 40)),
        "a distant position": draw_all(prep, 500, 375, n, first=1 << 40),
    }
    limit = 5 / math.sqrt(n)
    for what, other in others.items():
        r = np.corrcoef(base.T, other.T)[:5, 5:]
        assert np.abs(r).max() < limit, (what, r)
    # A flip says nothing of the rest.
    r = np.corrcoef(base.T)[4, :4]
    assert np.abs(r).max() < limit, r


# --- not random -------------------------------------------------------------

def test_center():
    """Resize and CenterCrop: sizes and place."""
    rng = np.random.RandomState(3)
    sides = [1, 2, 3, 5, 9, 16, 17, 31, 33, 100, 255, 256, 257, 375, 499, 500]
    sizes = [(w, h) for w in sides for h in sides]
    sizes += [tuple(s) for s in rng.randint(1, 4000, (3000, 2)).tolist()]
    for resize, width, height in ((256, 224, 224), (40, 33, 32), (33, 33, 17),
                                  (232, 224, 1), (1, 1, 1)):
        prep = Prep(crop="center", resize=resize,
                    size="%dx%d" % (width, height))
        for w, h in sizes:
            cut = prep.draw(w, h, 1, 2, 3)
            to_h, to_w = F._compute_resized_output_size((h, w), [resize])
            assert (cut.to_width, cut.to_height) == (to_w, to_h), (w, h)
            assert (cut.at_x, cut.at_y) == (
                int(round((to_w - width) / 2.0)),
                int(round((to_h - height) / 2.0))), (w, h, cut)
            assert (cut.x, cut.y, cut.width, cut.height, cut.flip) == (
                0, 0, w, h, 0)


def test_center_crop_is_that():
    """What test_center computes is what torchvision does."""
    rng = np.random.RandomState(4)
    for _ in range(200):
        w, h = (int(n) for n in rng.randint(20, 90, 2))
        values = torch.arange(w * h).reshape(1, h, w)
        crop_w, crop_h = rng.randint(1, w + 1), rng.randint(1, h + 1)
        first = F.center_crop(values, [crop_h, crop_w])[0, 0, 0].item()
        assert (first % w, first // w) == (int(round((w - crop_w) / 2.0)),
                                           int(round((h - crop_h) / 2.0)))


def test_none():
    prep = Prep(crop="none", size="30x20")
    for w, h in (1, 1), (500, 375), (30, 20), (3, 4000):
        cut = prep.draw(w, h, 1, 2, 3)
        assert [getattr(cut, n) for n, _ in Cut._fields_] == [
            0, 0, w, h, 30, 20, 0, 0, 0]
