# SPDX-License-Identifier: Apache-2.0
"""pictures.py: the pictures that decoding is tried on, made anew each time and
always the same: every kind of KINDS in every size of SIZES and one of LARGE.

    python3 pictures.py FOLDER [KIND]...    writes them, to look at
"""

import io
import os
import struct
import subprocess
import sys
import zlib

import numpy as np
from PIL import Image, ImageCms

import png

SIZES = [(1, 1), (1, 37), (41, 1), (2, 2), (7, 9), (8, 8), (15, 17), (16, 16),
         (17, 33), (33, 31)]
LARGE = [(640, 480), (500, 375)]
# Decoding a PNG is the same work at any size.
PNG_SIZES = [(1, 1), (3, 50), (7, 9), (33, 31), (200, 150)]
ODD_SIZES = (40, 320)           # of the last of each kind: from, to


# --- what they show ---------------------------------------------------------

def add_disc(out, cx, cy, radius, colour):
    left, top = max(0, cx - radius), max(0, cy - radius)
    part = out[top:cy + radius, left:cx + radius]
    y, x = np.ogrid[top:top + part.shape[0], left:left + part.shape[1]]
    inside = (x - cx) ** 2 + (y - cy) ** 2 < radius ** 2
    part[inside] = part[inside] * 0.4 + colour


def make_scene(rng, side):
    """Gradients, waves, discs with sharp edges and noise: as a photograph has
    smooth parts, textures and outlines."""
    y, x = np.mgrid[0:side, 0:side] / side
    out = np.empty((side, side, 3))
    for c in range(3):
        a, b = rng.uniform(-90, 90, 2)
        f, g = rng.uniform(4, 60, 2)
        out[..., c] = (128 + a * x + b * y +
                       25 * np.sin(2 * np.pi * (f * x + g * y * y)))
    for _ in range(60):
        add_disc(out, *rng.randint(0, side, 2), rng.randint(9, side // 6),
                 rng.uniform(0, 160, 3))
    out += rng.normal(0, 6, out.shape) * (rng.uniform(0, 1) + (x > y)[..., None])
    return np.clip(out, 0, 255).astype(np.uint8)


class Scenes:
    """Parts of a few large scenes; small pictures see them from afar, so that
    they show something, too."""

    def __init__(self):
        rng = np.random.RandomState(4711)
        self.all = [make_scene(rng, 700) for _ in range(3)]

    def part(self, rng, width, height):
        scene = self.all[rng.randint(len(self.all))]
        step = max(1, min(9, 300 // max(width, height)))
        x = rng.randint(scene.shape[1] - width * step + 1)
        y = rng.randint(scene.shape[0] - height * step + 1)
        part = scene[y:y + height * step:step, x:x + width * step:step]
        return np.ascontiguousarray(part[..., rng.permutation(3)])


# --- JPEG -------------------------------------------------------------------

def choose_quality(rng):
    return int(rng.choice([1, 10, 30, 50, 75, 85, 90, 95, 100]))


def save(image, rng, **how):
    out = io.BytesIO()
    how.setdefault("quality", choose_quality(rng))
    image.save(out, how.pop("format", "JPEG"), **how)
    return out.getvalue()


def by_pillow(mode="RGB", **how):
    def make(values, rng):
        return save(Image.fromarray(values).convert(mode), rng, **how)
    return make


SCANS = {
    # One scan for each component.
    "apart": "0;\n1;\n2;\n",
    # Progressive, and some coefficients never come: libjpeg smooths blocks.
    "unfinished": "0,1,2: 0-0, 0, 1;\n0: 1-5, 0, 2;\n",
    "coarse": "0,1,2: 0-0, 0, 2;\n",
    # Chroma first, then luma in three steps.
    "mixed": "1: 0-0, 0, 0;\n2: 0-0, 0, 0;\n0: 0-0, 0, 0;\n2: 1-63, 0, 1;\n"
             "1: 1-63, 0, 0;\n0: 1-9, 0, 2;\n2: 1-63, 1, 0;\n0: 10-63, 0, 2;\n"
             "0: 1-63, 2, 1;\n0: 1-63, 1, 0;\n",
}


def run_cjpeg(values, quality, arguments, folder):
    height, width, _ = values.shape
    words = ["cjpeg", "-quality", str(quality)] + arguments.split()
    for i, word in enumerate(words):
        if words[i - 1] == "-scans":
            path = os.path.join(folder, word)
            with open(path, "w") as f:
                f.write(SCANS[word])
            words[i] = path
    # On standard error it warns of qualities as low as ours.
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL,
                          input=b"P6\n%d %d\n255\n" % (width, height) +
                          values.tobytes())
    return done.stdout


def by_cjpeg(arguments):
    def make(values, rng):
        return run_cjpeg(values, choose_quality(rng), arguments, make.folder)
    make.folder = "."
    return make


def segments(jpeg):
    """Where each marker segment before the first scan begins and ends."""
    at = 2
    while jpeg[at + 1] != 0xDA:
        end = at + 2 + struct.unpack(">H", jpeg[at + 2:at + 4])[0]
        yield at, end
        at = end


def without(jpeg, *markers):
    for at, end in reversed(list(segments(jpeg))):
        if jpeg[at + 1] in markers:
            jpeg = jpeg[:at] + jpeg[end:]
    return jpeg


APP0, APP1, APP14, COM = 0xE0, 0xE1, 0xEE, 0xFE


def with_segment(jpeg, marker, body):
    return (jpeg[:2] + struct.pack(">BBH", 0xFF, marker, len(body) + 2) +
            body + jpeg[2:])


def make_cmyk(values, rng, subsampling=0):
    """With a black that is no function of the rest."""
    four = np.dstack([values, np.roll(values[..., 1], values.shape[0] // 2, 0)])
    return save(Image.fromarray(four, "CMYK"), rng, subsampling=subsampling)


def make_ycck(values, rng):
    """The same numbers, said to be YCCK in Adobe's marker."""
    jpeg = bytearray(make_cmyk(values, rng))
    at = [at for at, _ in segments(jpeg) if jpeg[at + 1] == APP14][0]
    jpeg[at + 15] = 2
    return bytes(jpeg)


def make_bare_cmyk(values, rng):
    return without(make_cmyk(values, rng), APP14)


def make_oriented(values, rng):
    exif = Image.Exif()
    exif[0x0112] = 1 + values.shape[0] * values.shape[1] % 8
    exif[0x010E] = "A picture that is not upright"
    return save(Image.fromarray(values), rng, exif=exif)


def make_bad_exif(values, rng):
    return with_segment(save(Image.fromarray(values), rng), APP1,
                        b"Exif\0\0II*\0\xff\xff\xff\xff nonsense")


def make_thumbnail(values, rng):
    """A whole JPEG within the head of another."""
    inner = save(Image.fromarray(values[::2, ::2]), rng, quality=30)
    return with_segment(save(Image.fromarray(values), rng), APP1,
                        b"Exif\0\0MM\0*\0\0\0\x08" + inner[:60000])


def make_icc(values, rng):
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))
    return save(Image.fromarray(values), rng, icc_profile=profile.tobytes())


def make_comment(values, rng):
    jpeg = save(Image.fromarray(values), rng)
    for _ in range(3):
        jpeg = with_segment(jpeg, COM, bytes(rng.randint(0, 256, 60000)
                                             .astype(np.uint8)))
    return jpeg


def make_bare(values, rng):
    """No marker tells the colours."""
    return without(save(Image.fromarray(values), rng), APP0)


def make_trailing(values, rng):
    jpeg = save(Image.fromarray(values), rng)
    return jpeg + bytes(rng.randint(0, 256, 999).astype(np.uint8)) + jpeg


def make_mpo(values, rng):
    other = Image.fromarray(255 - values)
    return save(Image.fromarray(values), rng, format="MPO", save_all=True,
                append_images=[other])


def make_filled(values, rng):
    """Fill bytes before markers are allowed."""
    jpeg = save(Image.fromarray(values), rng)
    for at, _ in reversed(list(segments(jpeg))):
        jpeg = jpeg[:at] + b"\xff\xff\xff" + jpeg[at:]
    return jpeg


# --- PNG --------------------------------------------------------------------

def by_png(colour, depth=8, channels=None, interlaced=False, palette=None,
           transparent=None):
    def make(values, rng):
        four = np.dstack([values, np.roll(values[..., 0], 5, 1)])
        some = four[..., channels or range(png.CHANNELS[colour])]
        if depth == 16:
            some = some.astype(int) * 257 + rng.randint(-99, 99, some.shape)
            some = np.clip(some, 0, 65535)
        else:
            some = some >> (8 - depth)
        table = None
        if palette:
            table = rng.randint(0, 256, (palette, 3))
            some = some % palette
        return png.write(some, colour, depth, interlaced, table, transparent)
    return make


# --- all kinds --------------------------------------------------------------

JPEG_KINDS = {
    "444": by_pillow(subsampling=0),
    "422": by_pillow(subsampling=1),
    "420": by_pillow(subsampling=2),
    "444-progressive": by_pillow(subsampling=0, progressive=True),
    "422-progressive": by_pillow(subsampling=1, progressive=True, optimize=True),
    "420-progressive": by_pillow(subsampling=2, progressive=True),
    "420-optimized": by_pillow(subsampling=2, optimize=True),
    "grey": by_pillow("L"),
    "grey-progressive": by_pillow("L", progressive=True),
    "quality-1": by_pillow(quality=1),
    "quality-100": by_pillow(quality=100, subsampling=0),
    "oriented": make_oriented,
    "bad-exif": make_bad_exif,
    "thumbnail": make_thumbnail,
    "icc": make_icc,
    "comment": make_comment,
    "bare": make_bare,
    "filled": make_filled,
    "trailing": make_trailing,
    "mpo": make_mpo,
    "cmyk": make_cmyk,
    "cmyk-420": lambda v, rng: make_cmyk(v, rng, 2),
    "cmyk-bare": make_bare_cmyk,
    "ycck": make_ycck,
    "440": by_cjpeg("-sample 1x2"),
    "440-progressive": by_cjpeg("-sample 1x2 -progressive"),
    "411": by_cjpeg("-sample 4x1"),
    "411-restart": by_cjpeg("-sample 4x1 -restart 1"),
    "411-progressive": by_cjpeg("-sample 4x1 -progressive"),
    "410": by_cjpeg("-sample 4x2"),
    "441": by_cjpeg("-sample 1x4"),
    "311": by_cjpeg("-sample 3x1"),
    "422-as-2x2": by_cjpeg("-sample 2x2,1x2,1x2"),
    "uneven": by_cjpeg("-sample 2x2,2x1,1x2"),
    "uneven-411": by_cjpeg("-sample 4x1,2x1,1x1"),
    "luma-small": by_cjpeg("-sample 1x1,2x2,2x2"),
    "grey-2x2": by_cjpeg("-grayscale -sample 2x2"),
    "rgb": by_cjpeg("-rgb"),
    "rgb-420": by_cjpeg("-rgb -sample 2x2"),
    "420-restart": by_cjpeg("-restart 1"),
    "420-restart-block": by_cjpeg("-restart 1B"),
    "422-restart": by_cjpeg("-sample 2x1 -restart 3B"),
    "444-restart": by_cjpeg("-sample 1x1 -restart 2"),
    "progressive-restart": by_cjpeg("-progressive -restart 2"),
    "arithmetic": by_cjpeg("-arithmetic"),
    "arithmetic-progressive": by_cjpeg("-arithmetic -progressive -sample 2x1"),
    "arithmetic-restart": by_cjpeg("-arithmetic -restart 1"),
    "scans-apart": by_cjpeg("-scans apart"),
    "scans-mixed": by_cjpeg("-scans mixed -sample 2x1"),
    "scans-unfinished": by_cjpeg("-scans unfinished"),
    "scans-coarse": by_cjpeg("-scans coarse -sample 1x1"),
}

PNG_KINDS = {
    "png-l": by_pillow("L", format="PNG"),
    "png-la": by_pillow("LA", format="PNG"),
    "png-p": by_pillow("P", format="PNG"),
    "png-rgb": by_pillow("RGB", format="PNG"),
    "png-rgba": by_png(png.RGBA),
    "png-1": by_pillow("1", format="PNG"),
    "png-grey-1": by_png(png.GREY, 1),
    "png-grey-2": by_png(png.GREY, 2),
    "png-grey-4": by_png(png.GREY, 4),
    "png-grey-alpha-16": by_png(png.GREY_ALPHA, 16, [0, 3]),
    "png-rgb-16": by_png(png.RGB, 16),
    "png-rgba-16": by_png(png.RGBA, 16),
    "png-p-1": by_png(png.PALETTE, 1, palette=2),
    "png-p-2": by_png(png.PALETTE, 2, palette=4),
    "png-p-4": by_png(png.PALETTE, 4, palette=11),
    "png-p-8": by_png(png.PALETTE, 8, palette=200),
    "png-p-alpha": by_png(png.PALETTE, 8, palette=200,
                          transparent=bytes(range(200))),
    "png-grey-key": by_png(png.GREY, 8, transparent=b"\0\x80"),
    "png-rgb-key": by_png(png.RGB, 8, transparent=b"\0\x80\0\x81\0\x82"),
    "png-rgb-interlaced": by_png(png.RGB, interlaced=True),
    "png-grey-1-interlaced": by_png(png.GREY, 1, interlaced=True),
    "png-p-4-interlaced": by_png(png.PALETTE, 4, palette=16, interlaced=True),
    "png-rgba-16-interlaced": by_png(png.RGBA, 16, interlaced=True),
}

# Of these Pillow makes all that is above 255 of 65,535 white: not to be read is
# better.
REFUSED_KINDS = {
    "png-grey-16": by_png(png.GREY, 16),
    "png-grey-16-interlaced": by_png(png.GREY, 16, interlaced=True),
}

KINDS = {**JPEG_KINDS, **PNG_KINDS, **REFUSED_KINDS}


class Maker:
    def __init__(self, folder):
        self.folder = folder        # for what cjpeg must read from files
        self.scenes = Scenes()

    def one(self, kind, width, height, rng):
        make = KINDS[kind]
        if hasattr(make, "folder"):
            make.folder = self.folder
        return make(self.scenes.part(rng, width, height), rng)

    def all_of(self, kind, more=0):
        """(name, bytes) of every size, and `more` of odd sizes."""
        is_png = kind not in JPEG_KINDS
        rng = np.random.RandomState(zlib.crc32(kind.encode()))
        sizes = PNG_SIZES if is_png else SIZES + [LARGE[rng.randint(2)]]
        low, high = ODD_SIZES
        sizes = sizes + [tuple(rng.randint(low, high, 2) | 1)
                         for _ in range(1 + more)]
        for width, height in sizes:
            name = "%s-%dx%d.%s" % (kind, width, height,
                                    "png" if is_png else "jpg")
            yield name, self.one(kind, width, height, rng)


def main(folder, *kinds):
    os.makedirs(folder, exist_ok=True)
    maker = Maker(folder)
    for kind in kinds or KINDS:
        for name, encoded in maker.all_of(kind):
            with open(os.path.join(folder, name), "wb") as f:
                f.write(encoded)


if __name__ == "__main__":
    main(*sys.argv[1:])
