# SPDX-License-Identifier: Apache-2.0
"""Batches as bytes in a slot, and back without a copy.

    0       magic, number of arrays, where the head is, how long it is, root (_trust.py)
    64...   arrays, each at a multiple of 64
    head    place and length of each array, then a pickle of the batch

Any nesting of tensors, arrays, numbers, strings and picklable objects comes back
with the same structure, types and strides; what was one piece of memory is one
again.  Only programs of one user, who have proved to make the same, read each
other's.
"""

import ctypes
import io
import pickle
import struct
import weakref

import torch

_FIRST = struct.Struct("<8sQQQQ")
_PLACE = struct.Struct("<QQ")
_MAGIC = b"ds_pay_2"
_ALIGN = 64
_WASTE = 4      # a storage so many times as large as what is shown of it is cut


class NotShareable(Exception):
    """Something in a batch means nothing in another process: what."""


def _round(size):
    return -(-size // _ALIGN) * _ALIGN


def _memory(address, size):
    return (ctypes.c_char * size).from_address(address)


def _untyped(tensor):
    """Its storage in bytes; PyTorch 1.13 has another name for it."""
    if hasattr(tensor, "untyped_storage"):
        return tensor.untyped_storage()
    return tensor.storage().untyped()


# --- packing ---------------------------------------------------------------

class _Storage:
    """Memory that tensors show: one object, so that it is one again behind the pickle."""

    def __init__(self, owner, address, size):
        self.owner, self.address, self.size = owner, address, size


def _rebuild_storage(memory):
    return _untyped(torch.frombuffer(memory, dtype=torch.uint8))


def _rebuild(storage, dtype, offset, size, stride, requires_grad):
    tensor = torch.empty(0, dtype=dtype)
    if storage is not None:
        tensor.set_(storage, offset, size, stride)
    else:
        tensor = tensor.as_strided(size, stride)
    return tensor.requires_grad_() if requires_grad else tensor


def _is_memory(tensor):
    return tensor.layout == torch.strided and tensor.device.type == "cpu" and \
        not tensor.is_quantized and not getattr(tensor, "is_nested", False)


def _shown(tensor):
    """How many items of its storage it can show, from its first on."""
    return 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))


class _Pickler(pickle.Pickler):
    def __init__(self, file):
        super().__init__(file, protocol=5, buffer_callback=self._note)
        self.arrays = []        # (address, size)
        self._owners = []       # of their memory
        self._storages = {}     # by address

    def _note(self, buffer):
        """True: into the pickle."""
        try:
            raw = buffer.raw()
        except BufferError:
            return True
        if raw.nbytes == 0 or raw.readonly:
            return True
        self._owners.append(raw)
        self.arrays.append((ctypes.addressof(ctypes.c_char.from_buffer(raw)), raw.nbytes))
        return False

    def _find_storage(self, tensor):
        """(it, where the tensor begins in it): all of it, for others may show it, too; but not
        of one that is far larger."""
        storage = _untyped(tensor)
        size = _shown(tensor) * tensor.element_size()
        if storage.nbytes() > _WASTE * size:
            found, offset = _Storage(tensor, tensor.data_ptr(), size), 0
        else:
            found = self._storages.setdefault(
                storage.data_ptr(), _Storage(storage, storage.data_ptr(), storage.nbytes()))
            offset = tensor.storage_offset()
        self._owners.append(found)
        return found, offset

    def reducer_override(self, obj):
        if isinstance(obj, torch.Tensor):
            return self._reduce_tensor(obj)
        if type(obj) is _Storage:
            return _rebuild_storage, (pickle.PickleBuffer(_memory(obj.address, obj.size)),)
        return NotImplemented

    def _reduce_tensor(self, tensor):
        if not _is_memory(tensor):
            raise NotShareable("a tensor that is no plain memory (%s, %s)" % (
                tensor.layout, tensor.device))
        if type(tensor) is not torch.Tensor:
            return NotImplemented
        if tensor.requires_grad and not tensor.is_leaf:
            raise NotShareable("a tensor that is part of a graph")
        plain = tensor.detach().resolve_conj().resolve_neg()
        storage, offset = self._find_storage(plain) if plain.numel() > 0 else (None, 0)
        return _rebuild, (storage, plain.dtype, offset, tuple(plain.shape), plain.stride(),
                          tensor.requires_grad)


class Packed:
    """A batch that has been taken apart, as long as its memory is needed.

    Arrays that lie in the room of an arena stay where they are.
    """

    def __init__(self, batch, arena=None):
        file = io.BytesIO()
        self._pickler = _Pickler(file)
        try:
            self._pickler.dump(batch)
        except NotShareable:
            raise
        except Exception as e:
            raise NotShareable("%s: %s" % (type(e).__name__, e)) from e
        self._pickle = file.getbuffer()
        self._place(arena)

    def _place(self, arena):
        end = arena.used if arena is not None else _round(_FIRST.size)
        self._places, self._copies = [], []
        for address, size in self._pickler.arrays:
            at = arena.place_of(address, size) if arena is not None else None
            if at is None:
                at, end = end, _round(end + size)
                self._copies.append((at, address, size))
            self._places.append((at, size))
        self._head = end
        self.size = end + len(self._places) * _PLACE.size + len(self._pickle)

    def write(self, address, root):
        """Into that memory, which has room for `size`."""
        for at, source, size in self._copies:
            ctypes.memmove(address + at, source, size)
        head = b"".join(_PLACE.pack(*place) for place in self._places)
        room = memoryview(_memory(address, self.size)).cast("B")
        room[:_FIRST.size] = _FIRST.pack(_MAGIC, len(self._places), self._head,
                                         self.size - self._head, root)
        room[self._head:self._head + len(head)] = head
        room[self._head + len(head):self.size] = self._pickle


class Arena:
    """Memory of a slot in which tensors are made where they will lie."""

    def __init__(self, address, room):
        self.address, self.room = address, room
        self.clear()

    def clear(self):
        self.used = _round(_FIRST.size)

    def tensor(self, dtype, shape):
        """Not initialised; None: no room for it."""
        size = torch.empty(0, dtype=dtype).element_size()
        for n in shape:
            size *= n
        if size == 0 or self.used + size > self.room:
            return None
        memory = _memory(self.address + self.used, size)
        self.used = _round(self.used + size)
        return torch.frombuffer(memory, dtype=dtype).view(tuple(shape))

    def place_of(self, address, size):
        at = address - self.address
        return at if 0 <= at and at + size <= self.used else None


# --- unpacking -------------------------------------------------------------

def unpack(address, size, release):
    """(the batch, its root); release() is called when nothing of that memory is used any more."""
    memory = _memory(address, size)
    over = weakref.finalize(memory, release)
    over.atexit = False
    room = memoryview(memory).cast("B")
    magic, nr, head, length, root = _FIRST.unpack_from(room)
    if magic != _MAGIC or head + length != size or nr * _PLACE.size > length:
        raise NotShareable("it is no batch")
    places = [_PLACE.unpack_from(room, head + i * _PLACE.size) for i in range(nr)]
    if any(at + n > head for at, n in places):
        raise NotShareable("it is no batch")
    try:
        return pickle.loads(room[head + nr * _PLACE.size:],
                            buffers=[room[at:at + n] for at, n in places]), root
    except Exception as e:      # a class that this program has not
        raise NotShareable("%s: %s" % (type(e).__name__, e)) from e
