# SPDX-License-Identifier: Apache-2.0
"""Cases: batches in the hands of the program."""

import copy
import io
import os
import pickle

import torch

from torch.utils.data import DataLoader

from cases import about, all_ids, case, ids
from data import Large, Numbers


@case
def changed_in_place(o):
    """Nobody else sees it, nor a later epoch."""
    loader, out = DataLoader(Large(), 4, **o), []
    for _ in range(2):
        for batch in loader:
            out.append(batch.sum().item())
            batch.mul_(3).add_(1)
            out.append(batch.sum().item())
            batch.zero_()
            batch.numpy()[:] = -1
    return out


@case
def kept(o):
    loader = DataLoader(Large(), 4, **o)
    first, second = list(loader), list(loader)
    for batch in first[::2]:
        batch.add_(1)
    sums = [[b.sum().item() for b in batches] for batches in (first, second)]
    del loader
    return sums, [[b.sum().item() for b in batches] for batches in (first, second)]


@case
def parts_kept(o):
    """Views, arrays, and what autograd keeps, outlive the batch."""
    weight = torch.ones(64, 64, requires_grad=True)
    views, arrays, losses = [], [], []
    for _ in range(2):
        for batch in DataLoader(Large(), 4, **o):
            views.append(batch[-1, 1:3])
            arrays.append(batch.numpy()[0])
            losses.append((batch * weight).sum())
    torch.stack(losses).sum().backward()
    return [v.sum().item() for v in views], [float(a.sum()) for a in arrays], \
        weight.grad.sum().item()


@case
def resized(o):
    """It cannot grow where a worker's batch cannot; and its values are whole after that.  (Its
    shape is not: PyTorch itself sets that first, and then fails.)"""
    out = []
    for batch in DataLoader(Large(8), 4, **o):
        before = batch.clone()
        try:
            batch.resize_(100, 64, 64)
            grown = "grown"
        except RuntimeError as e:
            grown = about(e)
        if o["num_workers"]:
            out.append(grown)
        out.append(grown == "grown" or os.environ.get("DESTALL") != "1" or
                   torch.equal(batch.as_strided(before.shape, before.stride()), before))
    return out


@case
def saved(o):
    out = []
    for batch in DataLoader(Numbers(), 4, **o):
        file = io.BytesIO()
        torch.save(batch, file)
        file.seek(0)
        out.append((ids(torch.load(file)), ids(pickle.loads(pickle.dumps(batch))),
                    ids(copy.deepcopy(batch)), ids(copy.copy(batch)), ids(batch)))
    return out


def _sum_up(requests, answers):
    while True:
        batch = requests.get()
        if batch is None:
            return
        answers.put((ids(batch), batch.is_shared()))
        del batch


@case
def sent_to_another_process(o):
    mp = torch.multiprocessing.get_context("fork")
    requests, answers = mp.Queue(), mp.Queue()
    child = mp.Process(target=_sum_up, args=(requests, answers), daemon=True)
    child.start()
    out = []
    for batch in DataLoader(Numbers(), 4, **o):
        requests.put(batch)
        out.append((answers.get(), ids(batch)))
    requests.put(None)
    child.join()
    return out, child.exitcode


@case
def forked_with_batches(o):
    """A child has them as they were, whatever becomes of them here."""
    loader = DataLoader(Large(), 4, **o)
    it = iter(loader)
    held = [next(it) for _ in range(3)]
    go_r, go_w = os.pipe()
    out_r, out_w = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(go_r, 1)
        os.write(out_w, repr([b.sum().item() for b in held]).encode())
        os._exit(0)
    mine = [b.sum().item() for b in held]
    del held
    rest = [b.sum().item() for b in it] + [b.sum().item() for b in loader]
    os.write(go_w, b"x")
    os.waitpid(child, 0)
    theirs = os.read(out_r, 4096).decode()
    for fd in (go_r, go_w, out_r, out_w):
        os.close(fd)
    return mine, theirs, rest


def _iterate(loader, answers):
    try:
        answers.put([all_ids(loader) for _ in range(2)])
    except Exception as e:
        answers.put(about(e))


@case
def used_in_a_child(o):
    """A loader that this process has used, in a child of it; and here afterwards."""
    loader = DataLoader(Numbers(), 4, **o)
    first = all_ids(loader)
    half = iter(loader)
    next(half)
    mp = torch.multiprocessing.get_context("fork")
    answers = mp.SimpleQueue()
    child = mp.Process(target=_iterate, args=(loader, answers))
    child.start()
    theirs = answers.get()
    child.join()
    return first, theirs, child.exitcode, all_ids(half), all_ids(loader)


@case
def pinned(o):
    """Without a GPU PyTorch warns, and that is all."""
    return [(ids(b), b.is_pinned()) for b in DataLoader(Numbers(), 4, pin_memory=True, **o)]


@case
def copied_loader(o):
    loader, out = DataLoader(Numbers(), 4, **o), []
    for _ in range(2):
        for other in (copy.copy(loader), copy.deepcopy(loader),
                      pickle.loads(pickle.dumps(loader))):
            out.append((type(other).__name__, all_ids(other)))
        out.append(all_ids(loader))
    return out, sorted(vars(loader))
