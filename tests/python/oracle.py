# SPDX-License-Identifier: Apache-2.0
"""oracle.py: what a sample has to be, by Pillow and torchvision."""

import io
import math

import numpy as np
import torch
import torchvision.transforms.functional as F
from PIL import Image
from torchvision.transforms import InterpolationMode

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]

# Pillow gives libjpeg a file piece by piece, which the arithmetic decoder does
# not bear: then all of it at once.
PIECE = 1 << 26

torch.set_num_threads(1)


def load(encoded):
    """As torchvision's pil_loader."""
    image = Image.open(io.BytesIO(encoded))
    image.decodermaxblock = PIECE
    return image.convert("RGB")


def cut_out(image, cut, width, height):
    """As RandomResizedCrop and RandomHorizontalFlip with these parameters, but
    that only a part of what is resized may be kept."""
    image = F.resized_crop(image, cut.y, cut.x, cut.height, cut.width,
                           [cut.to_height, cut.to_width],
                           InterpolationMode.BILINEAR)
    if (cut.to_width, cut.to_height) != (width, height):
        image = F.crop(image, cut.at_y, cut.at_x, height, width)
    return F.hflip(image) if cut.flip else image


def cut_out_fast(encoded, cut, by, width, height):
    """The same of a JPEG that is decoded smaller by 2, 4 or 8: whole pixels of
    it that hold the cut, of which the cut is resized."""
    image = Image.open(io.BytesIO(encoded))
    small = -(-image.width // by), -(-image.height // by)
    image.draft("RGB", (max(1, image.width // by), max(1, image.height // by)))
    image = image.convert("RGB")
    assert image.size == small
    left, top = cut.x / by, cut.y / by
    right = min((cut.x + cut.width) / by, image.width)
    bottom = min((cut.y + cut.height) / by, image.height)
    x, y = int(left), int(top)
    image = image.crop((x, y, math.ceil(right), math.ceil(bottom)))
    image = image.resize((width, height), Image.Resampling.BILINEAR,
                         (left - x, top - y, right - x, bottom - y))
    return F.hflip(image) if cut.flip else image


def take_center(image, resize, width, height):
    """As Resize and CenterCrop."""
    return F.center_crop(F.resize(image, resize), [height, width])


# --- numbers ----------------------------------------------------------------

# As integers, so that all comparing is of bits.
DTYPES = {"uint8": np.uint8, "fp32": np.uint32, "fp16": np.uint16,
          "bf16": np.uint16}


def to_numbers(image, kind, mean, std):
    """An image as ToTensor and Normalize make it, then of that type."""
    if kind == "uint8":
        return F.pil_to_tensor(image)
    values = F.normalize(F.to_tensor(image), mean, std)
    if kind == "fp16":
        return values.half().view(torch.int16)
    if kind == "bf16":
        return values.bfloat16().view(torch.int16)
    return values.view(torch.int32)


def expect(image, kind, layout, mean=MEAN, std=STD):
    """The bits of a sample, as they stand in memory."""
    values = to_numbers(image, kind, mean, std)
    if layout == "nhwc":
        values = values.permute(1, 2, 0)
    return np.ascontiguousarray(values.numpy()).view(DTYPES[kind])


def show(bits, kind):
    """The number that some bits are."""
    if kind == "bf16":
        return "%.9g" % np.uint32(int(bits) << 16).view(np.float32)
    if kind == "uint8":
        return str(int(bits))
    return "%.9g" % bits.view(np.float16 if kind == "fp16" else np.float32)


def differences(got, want, kind, layout):
    """None, or what is different, in words."""
    got = got.view(DTYPES[kind]).reshape(want.shape)
    if np.array_equal(got, want):
        return None
    wrong = np.argwhere(got != want)
    first = tuple(wrong[0])
    c, y, x = first if layout == "nchw" else (first[2], first[0], first[1])
    return "%d of %d values differ, the first at x=%d y=%d of %s: %s, not %s" % (
        len(wrong), want.size, x, y, "RGB"[c], show(got[first], kind),
        show(want[first], kind))
