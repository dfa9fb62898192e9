# SPDX-License-Identifier: Apache-2.0
"""png.py: writes PNG files of kinds that Pillow reads but does not write:
16 bits, few bits, interlaced, with tRNS, with every filter.
"""

import struct
import zlib

import numpy as np

GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}

# Of Adam7: first column, first row, and the steps to the next ones.
PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4),
          (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def chunk(kind, body):
    return (struct.pack(">I", len(body)) + kind + body +
            struct.pack(">I", zlib.crc32(kind + body)))


def pack_row(row, depth):
    """A row of shape (width, channels) as bytes."""
    if depth == 16:
        return row.astype(">u2").tobytes()
    if depth == 8:
        return row.astype(np.uint8).tobytes()
    bits = (row.reshape(-1, 1) >> np.arange(depth - 1, -1, -1)) & 1
    return np.packbits(bits.astype(np.uint8)).tobytes()


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return np.where((pa <= pb) & (pa <= pc), a, np.where(pb <= pc, b, c))


def filter_row(kind, row, above, step):
    """One of the five filters of PNG, on bytes."""
    now = np.frombuffer(row, np.uint8).astype(int)
    up = np.frombuffer(above, np.uint8).astype(int)
    left = np.concatenate([np.zeros(step, int), now])[:len(now)]
    corner = np.concatenate([np.zeros(step, int), up])[:len(now)]
    guess = [0, left, up, (left + up) // 2, paeth(left, up, corner)][kind]
    return bytes([kind]) + (now - guess).astype(np.uint8).tobytes()


def pack(values, depth, step):
    """Rows of a picture or of a pass, filtered by each filter in turn."""
    if values.shape[0] == 0 or values.shape[1] == 0:
        return b""
    rows = [pack_row(r, depth) for r in values]
    above = [bytes(len(rows[0]))] + rows
    return b"".join(filter_row(i % 5, r, above[i], step)
                    for i, r in enumerate(rows))


def write(values, colour, depth=8, interlaced=False, palette=None,
          transparent=None):
    """A PNG of an array of shape (height, width, channels), as bytes."""
    height, width, channels = values.shape
    assert channels == CHANNELS[colour]
    step = max(1, channels * depth // 8)
    if interlaced:
        body = b"".join(pack(values[y::dy, x::dx], depth, step)
                        for x, y, dx, dy in PASSES)
    else:
        body = pack(values, depth, step)
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(
        ">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced)))
    if palette is not None:
        out += chunk(b"PLTE", np.asarray(palette, np.uint8).tobytes())
    if transparent is not None:
        out += chunk(b"tRNS", transparent)
    return (out + chunk(b"IDAT", zlib.compress(body, 1)) +
            chunk(b"IEND", b""))
