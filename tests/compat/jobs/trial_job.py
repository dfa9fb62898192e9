# SPDX-License-Identifier: Apache-2.0
"""One trial, whose learning rate comes from Optuna's study in a file (STUDY), or
from the number that a job array gives (SLURM_ARRAY_TASK_ID)."""

import os

import torch

from torch.utils.data import DataLoader

from data import Tensors
from record import BATCH, WORKERS, Record, wait


def train(rate):
    torch.manual_seed(7)
    loader = DataLoader(Tensors(), BATCH, shuffle=True, num_workers=WORKERS)
    layer = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(layer.parameters(), rate)
    record = Record()
    wait()
    for _ in range(2):
        record.begin()
        for values, numbers in loader:
            record.batch(numbers, values)
            loss = layer(values.mean(dim=(2, 3))).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    record.write()
    return float(loss)


if "STUDY" in os.environ:
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    backend = optuna.storages.journal.JournalFileBackend(os.environ["STUDY"])
    study = optuna.create_study(study_name="rates", load_if_exists=True,
                                storage=optuna.storages.JournalStorage(backend))
    study.optimize(lambda trial: train(trial.suggest_float("rate", 0.01, 0.1)), n_trials=1)
else:
    train(0.01 * (1 + int(os.environ["SLURM_ARRAY_TASK_ID"])))
