# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's datasets, made from a dict.

    datasets_job.py torch       map-style, with_format("torch")
    datasets_job.py transform   map-style, set_transform()
    datasets_job.py iterable    to_iterable_dataset(), of four shards
"""

import sys

import torch

from datasets import Dataset
from torch.utils.data import DataLoader

from data import pixels
from record import BATCH, COUNT, WORKERS, Record, wait


def scaled(rows):
    return {"number": rows["number"],
            "values": [torch.tensor(v, dtype=torch.float32) / 255 for v in rows["values"]]}


def make(kind):
    data = Dataset.from_dict({
        "number": list(range(COUNT)),
        "values": [pixels(i, 4).reshape(-1).tolist() for i in range(COUNT)]})
    if kind == "torch":
        return data.with_format("torch")
    if kind == "transform":
        data.set_transform(scaled)
        return data
    return data.to_iterable_dataset(num_shards=4).with_format("torch")


torch.manual_seed(7)
kind = sys.argv[1]
loader = DataLoader(make(kind), BATCH, num_workers=WORKERS, shuffle=kind != "iterable")
record = Record()
wait()
for _ in range(2):
    record.begin()
    for batch in loader:
        record.batch(batch["number"], batch["values"])
record.write()
