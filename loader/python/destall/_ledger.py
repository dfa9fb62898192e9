# SPDX-License-Identifier: Apache-2.0
"""What a loader has delivered, sample by sample, in the folder that DESTALL_LEDGER
names, for `destall ledger check`.  Runs in the main process of a job.

A file is of one stream, and its epochs follow each other.  Where one is begun
again, or left out, there is a new file.
"""

import ctypes
import hashlib
import os
import pickle
import struct

import torch

from . import _gather, _lib, _make
from ._say import say


class Ledger:
    """Of one loader."""

    def __init__(self, record, loader):
        self.record = record
        self.name_of = _namer(loader.dataset)
        self.is_cut = _make.is_default_collate(loader.collate_fn) and \
            loader.batch_sampler is not None
        self.file = self.path = None
        self.at = 0             # bytes of it
        self.of = None          # (stream, seed), and the epoch that may follow
        self.next_epoch = None
        self.files = 0
        self.has_failed = False

    def begin(self, stream, seed, epoch, resumed=None):
        """An epoch.  resumed: (path, at) of the file that it was begun in."""
        if self.has_failed:
            return
        try:
            if resumed is not None:
                self._open(*resumed)
            elif (stream, seed) != self.of or epoch != self.next_epoch:
                self._open(self._new_path(stream, seed), 0)
        except _lib.Failed as e:
            self._fail(e)
        self.of, self.next_epoch = (stream, seed), None

    def finish(self, epoch):
        """That epoch is whole."""
        self.next_epoch = epoch + 1

    def _new_path(self, stream, seed):
        """Its name tells which may be checked together: those of one stream and seed."""
        self.files += 1
        which = hashlib.blake2b(("%s %d" % (stream, seed)).encode(), digest_size=4).hexdigest()
        return os.path.join(os.environ["DESTALL_LEDGER"], "torch-%d-%d-%s-%d.ledger" % (
            os.getpid(), self.record.number, which, self.files))

    def _open(self, path, at):
        self.close()
        self.file, self.path, self.at = _lib.Ledger(path, at), path, at

    def _fail(self, e):
        self.has_failed = True
        self.close()
        say("%s: what it delivers is not written down any more: %s", self.record.name,
            e.strerror)

    def close(self):
        if self.file is not None:
            self.file.close()
            self.file = None

    __del__ = close

    # --- lines ---

    def write(self, epoch, batch, first, indices, data):
        """A batch, before the job has it."""
        if self.file is None:
            return
        try:
            crcs = _crcs(data, len(indices)) if self.is_cut else [_crc(data)] * len(indices)
        except Exception as e:          # of the program's own objects
            self._fail(_lib.Failed(0, "%s: %s" % (type(e).__name__, e)))
            return
        try:
            for i, (index, crc) in enumerate(zip(indices, crcs)):
                self.file.put(epoch, batch, first + i, *self._item(index), crc)
            self.at = self.file.flush()
        except _lib.Failed as e:
            self._fail(e)

    def _item(self, index):
        """(its name or None, its number)"""
        name = self.name_of(index)
        if name is None and not (isinstance(index, int) and index >= 0):
            name = str(index)
        return name, index if isinstance(index, int) and index >= 0 else 0


def _namer(dataset):
    """index -> path relative to the dataset's root, or None."""
    inner = getattr(dataset, "indices", None)
    if type(dataset) is torch.utils.data.Subset and inner is not None:
        inner_name = _namer(dataset.dataset)
        return lambda index: inner_name(inner[index])
    samples = getattr(dataset, "samples", None)
    root = getattr(dataset, "root", None)
    if not isinstance(samples, list) or not isinstance(root, (str, os.PathLike)):
        return lambda index: None

    def name_of(index):
        try:
            return os.path.relpath(samples[index][0], root)
        except (TypeError, IndexError, ValueError):
            return None

    return name_of


# --- checksums -------------------------------------------------------------------

def _crc_bytes(crc, data):
    return _lib.crc32c(crc, ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), len(data))


def _rows(tensor):
    """(where it begins, bytes of a row); what it is of must live on."""
    flat = tensor.detach().resolve_conj().resolve_neg().contiguous()
    return flat, flat.data_ptr(), flat.numel() * flat.element_size() // max(len(flat), 1)


def _crcs(batch, count):
    """Of each sample of a batch that the default collate function has made."""
    crcs = [0] * count
    for leaf in _gather.leaves(batch):
        if isinstance(leaf, torch.Tensor):
            _flat, at, size = _rows(leaf)
            crcs = [_lib.crc32c(crc, at + i * size, size) for i, crc in enumerate(crcs)]
        else:
            crcs = [_crc_bytes(crc, _text(item)) for crc, item in zip(crcs, leaf)]
    return crcs


def _text(item):
    return item.encode("utf-8", "surrogatepass") if isinstance(item, str) else item


def _crc(batch, crc=0):
    """Of the whole of it: structure, types, values."""
    crc = _crc_bytes(crc, type(batch).__name__.encode())
    if isinstance(batch, torch.Tensor):
        flat = batch.detach().resolve_conj().resolve_neg().contiguous()
        crc = _crc_bytes(crc, ("%s %s" % (flat.dtype, tuple(flat.shape))).encode())
        return _lib.crc32c(crc, flat.data_ptr(), flat.numel() * flat.element_size())
    if isinstance(batch, dict):
        for key, value in batch.items():
            crc = _crc(value, _crc(key, crc))
        return crc
    if isinstance(batch, (list, tuple)):
        for item in batch:
            crc = _crc(item, crc)
        return crc
    if hasattr(batch, "tobytes"):
        return _crc_bytes(crc, batch.tobytes())
    if isinstance(batch, float):
        return _crc_bytes(crc, struct.pack("<d", batch))
    if isinstance(batch, (str, bytes)):
        return _crc_bytes(crc, _text(batch))
    if hasattr(batch, "__dict__"):
        return _crc(vars(batch), crc)
    return _crc_bytes(crc, repr(batch).encode() if isinstance(batch, (int, bool, type(None)))
                      else pickle.dumps(batch, 4))
