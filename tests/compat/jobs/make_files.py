# SPDX-License-Identifier: Apache-2.0
"""The files that jobs read: make_files.py FOLDER."""

import os
import sys

import webdataset

from PIL import Image

from data import pixels
from record import COUNT

CLASSES = SHARDS = 4


def write_pictures(folder):
    for name in range(CLASSES):
        os.makedirs(os.path.join(folder, str(name)))
    for i in range(COUNT):
        Image.fromarray(pixels(i, 40)).save(
            os.path.join(folder, str(i % CLASSES), "%06d.png" % i))


def write_shards(folder):
    os.makedirs(folder)
    for shard in range(SHARDS):
        with webdataset.TarWriter(os.path.join(folder, "%d.tar" % shard)) as out:
            for i in range(shard, COUNT, SHARDS):
                out.write({"__key__": "%06d" % i, "number.cls": i, "values.npy": pixels(i, 4)})


write_pictures(os.path.join(sys.argv[1], "pictures"))
write_shards(os.path.join(sys.argv[1], "shards"))
