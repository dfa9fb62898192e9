# SPDX-License-Identifier: Apache-2.0
"""Objects of well-known libraries that hide what they hold, or hold what does not
count: how _state.py walks them.  By name: nothing is imported for them.
"""

import functools
import io
import zipfile

# Attributes that samples do not depend on: numbers of a program's life, not of the data.
_IGNORED = {
    "datasets.arrow_dataset.Dataset": ("_fingerprint",),
    "datasets.iterable_dataset.IterableDataset": ("_IterableDataset__hffs_cache",),
}

# They only seed: each sample is seeded anyhow.  Their arguments tell of ranks and workers.
_SEEDERS = frozenset((
    "transformers.trainer_utils.seed_worker",
    "lightning.fabric.utilities.seed.pl_worker_init_function",
    "lightning_fabric.utilities.seed.pl_worker_init_function",
    "timm.data.loader._worker_init",
))


def _name(obj):
    return "%s.%s" % (getattr(obj, "__module__", None), getattr(obj, "__qualname__", None))


@functools.lru_cache(maxsize=4096)
def find(cls):
    """How objects of that class are walked: f(state, obj), or None: as any other."""
    for base in cls.__mro__:
        if _name(base) in _WALKS:
            return _WALKS[_name(base)]
    return None


@functools.lru_cache(maxsize=4096)
def ignored(cls):
    """Names of attributes that do not count."""
    return frozenset(name for base in cls.__mro__ for name in _IGNORED.get(_name(base), ()))


def is_seeder(function):
    return _name(function) in _SEEDERS


# --- Arrow ------------------------------------------------------------------------

def _table(state, table):
    state.say(b"table", str(table.schema))
    state.say(b"about", repr(sorted((table.schema.metadata or {}).items())))
    for column in table.columns:
        state.walk(column)


def _chunked(state, column):
    state.say(b"column", "%s %d" % (column.type, column.num_chunks))
    for chunk in column.chunks:
        _arrow(state, chunk)


def _arrow(state, array):
    """Its type and buffers; those of its children, which have offsets of their own."""
    state.say(b"arrow", "%s %d %d" % (array.type, len(array), array.offset))
    kind = type(array).__name__
    if kind == "StructArray":
        _buffers(state, array.buffers()[:1])
        for i in range(array.type.num_fields):
            _arrow(state, array.field(i))
    elif kind in ("ListArray", "LargeListArray"):
        _buffers(state, array.buffers()[:2])
        _arrow(state, array.values)
    elif kind == "FixedSizeListArray":
        _buffers(state, array.buffers()[:1])
        _arrow(state, array.values)
    elif kind == "DictionaryArray":
        _arrow(state, array.indices)
        _arrow(state, array.dictionary)
    elif hasattr(array, "storage"):
        _arrow(state, array.storage)
    elif array.type.num_fields > 0:
        state.reduced(array)
    else:
        _buffers(state, array.buffers())


def _buffers(state, buffers):
    for buffer in buffers:
        if buffer is None:
            state.say(b"none")
        else:
            state.memory(buffer.address, memoryview(buffer))


def _text(state, obj):
    state.say(b"text", "%s %s" % (type(obj).__name__, obj))


# --- others -----------------------------------------------------------------------

def _partial(state, partial):
    if is_seeder(partial.func):
        state.say(b"seeder")
        return
    state.say(b"partial")
    for part in (partial.func, partial.args, partial.keywords, vars(partial)):
        state.walk(part)


def _script(state, module):
    """Code that TorchScript has compiled: what it would save."""
    file = io.BytesIO()
    if hasattr(module, "save_to_buffer"):
        file.write(module.save_to_buffer())
    else:
        import torch
        torch.jit.save(module, file)
    with zipfile.ZipFile(file) as parts:
        for name in sorted(parts.namelist()):
            if not name.endswith((".debug_pkl", "/serialization_id")):
                state.say(b"part", name.partition("/")[2])
                state.say(b"lines", b"\n".join(_in_order(parts.read(name).split(b"\n"))))


def _in_order(lines):
    """Its constants stand in the order of a set, which is another in each program."""
    constants = sorted(line for line in lines if b" : Final[" in line)
    return constants + [line for line in lines if b" : Final[" not in line]


def _columns(state, collator):
    """Which columns its samples keep: a list that was made from a set, whose order is another in
    each program.  The rest is for its warning."""
    state.say(b"columns")
    state.walk(collator.data_collator)
    state.walk(frozenset(collator.signature_columns or ()))


def _reference(state, reference):
    state.say(b"weak")
    state.walk(reference())


def _named(state, obj):
    state.say(b"only", type(obj).__name__)


def _count(state, semaphore):
    state.say(b"count", str(semaphore._semlock._get_value()))


def _simple(state, obj):
    """A number of ctypes', which may be shared by processes."""
    if obj._type_ in "PzZO":
        state.opaque("an address (%s)" % type(obj).__name__)
    state.say(b"ctypes", type(obj).__name__)
    state.walk(obj.value)


def _numbers(state, obj):
    if not isinstance(getattr(obj._type_, "_type_", "P"), str) or obj._type_._type_ in "PzZO":
        state.opaque("an array of %s" % obj._type_.__name__)
    state.say(b"ctypes", "%s %d" % (obj._type_.__name__, obj._length_))
    state.say(b"bytes", bytes(obj))


def _reduced(state, obj):
    state.reduced(obj)


_WALKS = {
    "pyarrow.lib.Table": _table,
    "pyarrow.lib.RecordBatch": _table,
    "pyarrow.lib.ChunkedArray": _chunked,
    "pyarrow.lib.Array": _arrow,
    "pyarrow.lib.Schema": _text,
    "pyarrow.lib.Field": _text,
    "pyarrow.lib.DataType": _text,
    # These keep, beside what they hold, what they have found out about it.
    "pandas.core.generic.NDFrame": _reduced,
    "pandas.core.indexes.base.Index": _reduced,
    "pandas.Index": _reduced,           # of pandas 3
    "functools.partial": _partial,
    "torch.jit._script.ScriptModule": _script,
    "torch.ScriptFunction": _script,
    "torch.jit.ScriptFunction": _script,
    "transformers.trainer_utils.RemoveColumnsCollator": _columns,
    "weakref.ReferenceType": _reference,
    "builtins.weakref": _reference,
    "logging.Filterer": _named,
    "multiprocessing.synchronize.Lock": _named,
    "multiprocessing.synchronize.RLock": _named,
    "multiprocessing.synchronize.SemLock": _count,
    "_multiprocessing.SemLock": _named,
    "_ctypes._SimpleCData": _simple,
    "_ctypes.Array": _numbers,
}
