# SPDX-License-Identifier: Apache-2.0
"""Lightning, with a validation loader; of one process, or of two ranks (gloo).

    lightning_job.py [ddp]
"""

import sys
import warnings

import operators        # noqa: F401 (before torchvision)
import lightning
import torch

from torch.utils.data import DataLoader

from data import Tensors
from record import BATCH, WORKERS, Record, wait

EPOCHS = 2
IS_DDP = "ddp" in sys.argv
warnings.filterwarnings("ignore")


class Model(lightning.LightningModule):
    def __init__(self, record, validation):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)
        self.record, self.validation = record, validation

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.01)

    def on_train_start(self):
        wait()

    def on_train_epoch_start(self):
        self.record.begin()

    def training_step(self, batch, _):
        values, numbers = batch
        self.record.batch(numbers, values)
        return self.layer(values.mean(dim=(2, 3))).square().mean()

    def on_validation_epoch_start(self):
        self.validation.begin()

    def validation_step(self, batch, _):
        values, numbers = batch
        self.validation.batch(numbers, values)


lightning.seed_everything(7, verbose=False)
record, validation = Record(), Record()
several = {"strategy": "ddp", "devices": 2} if IS_DDP else {"devices": 1}
trainer = lightning.Trainer(
    max_epochs=EPOCHS, accelerator="cpu", logger=False, enable_checkpointing=False,
    enable_progress_bar=False, enable_model_summary=False, **several)
trainer.fit(Model(record, validation),
            DataLoader(Tensors(), BATCH, shuffle=True, num_workers=WORKERS),
            DataLoader(Tensors(64), BATCH, num_workers=WORKERS))

seen = [sorted(validation.samples(e)) for e in range(len(validation.epochs))]
mine = list(range(trainer.global_rank, 64, 2)) if IS_DDP else list(range(64))
record.check("validation", seen[-EPOCHS:] == [mine] * EPOCHS)
record.write(trainer.global_rank if IS_DDP else None)
