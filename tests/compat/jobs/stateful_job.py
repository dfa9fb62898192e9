# SPDX-License-Identifier: Apache-2.0
"""torchdata's StatefulDataLoader: its state, saved in mid-epoch and loaded into a
new loader, gives the rest of that epoch."""

import torch

from torchdata.stateful_dataloader import StatefulDataLoader

from data import Tensors
from record import BATCH, WORKERS, Record, wait

SAVE_AT = 11


def make():
    torch.manual_seed(7)
    return StatefulDataLoader(Tensors(), BATCH, shuffle=True, num_workers=WORKERS)


record = Record()
loader = make()
wait()
for epoch in range(2):
    record.begin()
    for at, (values, numbers) in enumerate(loader):
        record.batch(numbers, values)
        if epoch == 1 and at == SAVE_AT:
            state = loader.state_dict()

rest = Record()
rest.begin()
loader = make()
loader.load_state_dict(state)
for values, numbers in loader:
    rest.batch(numbers, values)
record.check("its state", rest.epochs[0] == record.epochs[1][(SAVE_AT + 1) * BATCH:])
record.write()
