# SPDX-License-Identifier: Apache-2.0
# mkpng.py: a PNG of each kind, KIND.png.  Run by tests:
#
#     mkpng.py FOLDER WIDTH HEIGHT
import random, struct, sys, zlib

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4),
          (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))

def chunk(name, data):
    return (struct.pack(">I", len(data)) + name + data
            + struct.pack(">I", zlib.crc32(name + data)))

def pack(samples, depth):
    """A row of samples as bytes."""
    if depth == 16:
        return b"".join(struct.pack(">H", s) for s in samples)
    out, bits, n = bytearray(), 0, 0
    for s in samples:
        bits, n = bits << depth | s, n + depth
        if n == 8:
            out.append(bits)
            bits = n = 0
    if n:
        out.append(bits << (8 - n))
    return bytes(out)

def filtered(rows, bytes_per_pixel, rng):
    """Each row with a filter chosen at random."""
    out, before = [], None
    for row in rows:
        kind = rng.randrange(3) if before is not None else rng.randrange(2)
        line = bytearray(row)
        for i in range(len(row)):
            left = row[i - bytes_per_pixel] if i >= bytes_per_pixel else 0
            other = (0, left, before[i] if before is not None else 0)[kind]
            line[i] = (row[i] - other) & 255
        out.append(bytes([kind]) + bytes(line))
        before = row
    return b"".join(out)

def make(width, height, color, depth, interlaced, transparent, rng):
    channels = CHANNELS[color]
    most = (1 << depth) - 1
    pixels = [[[rng.randint(0, most) for _ in range(channels)]
               for _ in range(width)] for _ in range(height)]
    size = max(1, channels * depth // 8)
    def rows(x0, y0, dx, dy):
        lines = [pack([s for px in line[x0::dx] for s in px], depth)
                 for line in pixels[y0::dy]]
        return filtered([l for l in lines if l], size, rng)
    raw = (b"".join(rows(*p) for p in PASSES) if interlaced
           else rows(0, 0, 1, 1))
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(
        ">IIBBBBB", width, height, depth, color, 0, 0, interlaced))
    out += chunk(b"gAMA", struct.pack(">I", 30000))
    if color == 3:
        # Fewer than its numbers need.
        out += chunk(b"PLTE", bytes(rng.randrange(256)
                                    for _ in range(3 * max(1, most - 1))))
    if transparent:
        out += chunk(b"tRNS", {0: b"\0\1", 2: b"\0\1\0\2\0\3",
                               3: b"\x80"}[color])
    data = zlib.compress(raw)
    half = len(data) // 2
    return (out + chunk(b"IDAT", data[:half]) + chunk(b"IDAT", data[half:])
            + chunk(b"tEXt", b"Comment\0none") + chunk(b"IEND", b""))

def main(folder, width, height):
    rng = random.Random(1)
    for color, depths in DEPTHS.items():
        for depth in depths:
            for interlaced in (0, 1):
                for transparent in (0, 1) if color in (0, 2, 3) else (0,):
                    name = "%s/c%d-d%d%s%s.png" % (
                        folder, color, depth, "-i" * interlaced,
                        "-t" * transparent)
                    with open(name, "wb") as f:
                        f.write(make(width, height, color, depth,
                                     interlaced, transparent, rng))

main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
