# SPDX-License-Identifier: Apache-2.0
"""The loader alone with another number of workers: another loader over the same
dataset, which lives for one block.  Runs in the main process of a job that is
profiled."""

import threading

from torch.utils.data import DataLoader

from . import _meter

_here = threading.local()


def is_ours():
    """A loader that is iterated here now is no loader of the job's."""
    return getattr(_here, "depth", 0) > 0


class _Tickets:
    """In the place of a batch sampler."""

    def __init__(self, tickets):
        self._tickets = tickets

    def __iter__(self):
        return iter(self._tickets)

    def __len__(self):
        return len(self._tickets)


def _ahead(job):
    """Batches that each worker has in work."""
    return job.prefetch_factor or 2


def _loader(steer, tickets, workers):
    job = steer.loader
    settings = {}
    if workers > 0:
        settings = {"prefetch_factor": _ahead(job),
                    "multiprocessing_context": job.multiprocessing_context if job.num_workers > 0
                    else None}
    if job._auto_collation:
        settings["batch_sampler"] = _Tickets(tickets)
    else:
        settings.update(sampler=_Tickets(tickets), batch_size=None)
    return DataLoader(job.dataset, num_workers=workers, collate_fn=job.collate_fn,
                      worker_init_fn=_meter.Start(job.worker_init_fn, steer.number, False, False),
                      **settings)


def run(steer, block):
    count = -(-block.batches // block.workers) * block.workers
    tickets = steer.set_tickets(count)
    _here.depth = getattr(_here, "depth", 0) + 1
    try:
        batches = iter(_loader(steer, tickets, block.workers))
        steer.time_alone(lambda: next(batches), [_meter.count(t.indices) for t in tickets],
                         block.workers, _ahead(steer.loader) * block.workers)
        del batches
    finally:
        _here.depth -= 1
