# SPDX-License-Identifier: Apache-2.0
"""Optuna: three trials as threads of this process.

    optuna_job.py
"""

import threading

import optuna
import torch

from torch.utils.data import DataLoader

from data import Tensors
from record import BATCH, WORKERS, Record, wait

TRIALS = 3
together = threading.Barrier(TRIALS)
lock = threading.Lock()
records = []
torch.manual_seed(7)


def objective(trial):
    rate = trial.suggest_float("rate", 0.01, 0.1)
    loader = DataLoader(Tensors(), BATCH, shuffle=True, num_workers=WORKERS)
    record = Record()
    together.wait()
    for _ in range(2):
        record.begin()
        for values, numbers in loader:
            record.batch(numbers, values)
    with lock:
        records.append(record)
    return rate


optuna.logging.set_verbosity(optuna.logging.ERROR)
wait()
study = optuna.create_study()
study.optimize(objective, n_trials=TRIALS, n_jobs=TRIALS)
record = Record()
record.epochs = [epoch for one in records for epoch in one.epochs]
record.check("all trials ended", len(records) == TRIALS)
record.write()
