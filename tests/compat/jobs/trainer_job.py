# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's Trainer with a model made in code: stopped in its second epoch,
and resumed from what it has saved."""

import tempfile

import operators        # noqa: F401 (before torchvision)
import torch

from transformers import Trainer, TrainerCallback, TrainingArguments

from data import Mappings
from record import BATCH, COUNT, WORKERS, Record, wait

STEPS = COUNT // BATCH
STOP = STEPS + STEPS // 4


class Model(torch.nn.Module):
    def __init__(self, record):
        super().__init__()
        self.layer, self.record = torch.nn.Linear(3, 1), record
        self.given = 0

    def forward(self, values=None, numbers=None):
        if self.given % STEPS == 0:
            self.record.begin()
        self.given += 1
        self.record.batch(numbers, values)
        return {"loss": self.layer(values.mean(dim=(2, 3))).square().mean()}


class Together(TrainerCallback):
    """What comes before takes another time in each job."""

    def on_train_begin(self, *_, **__):
        wait()


def train(record, folder, given=0, **how):
    arguments = TrainingArguments(
        folder, per_device_train_batch_size=BATCH, dataloader_num_workers=WORKERS, save_steps=STOP,
        use_cpu=True, report_to=[], disable_tqdm=True, logging_strategy="no", seed=7, **how)
    model = Model(record)
    model.given = given
    trainer = Trainer(model=model, args=arguments, train_dataset=Mappings(),
                      callbacks=[Together()])
    trainer.train(resume_from_checkpoint=given > 0)


record = Record()
with tempfile.TemporaryDirectory() as folder:
    train(record, folder, max_steps=STOP)
    train(record, folder, given=STOP, num_train_epochs=2)
record.write()
