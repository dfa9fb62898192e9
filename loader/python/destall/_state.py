# SPDX-License-Identifier: Apache-2.0
"""All that a dataset's samples depend on, as a number: equal in two programs
exactly if they would make the same, as far as that can be told.

It covers attributes, closure cells, defaults, globals that the code names, the
code itself and the contents of arrays; not addresses, nor the order of sets.
What comes with an installed package is told by its file.  What cannot be looked
into is named: _Opaque.

The walk also finds sources of randomness that the objects have of their own:
their state does not count, for it is set before each sample.
"""

import copyreg
import enum
import functools
import hashlib
import io
import logging
import marshal
import os
import struct
import sys
import sysconfig
import threading
import types

from itertools import chain

import torch

from . import _seeds

_PLAIN = (str, int, float, bool, bytes, type(None), complex)
_PLAIN_SET = frozenset(_PLAIN)
_LOCKS = (type(threading.Lock()), type(threading.RLock()))
_OPAQUE = (io.IOBase, types.GeneratorType, types.CoroutineType, threading.Thread)
_LARGE = 64             # items: then it pays to look whether all are plain


class Opaque(Exception):
    """What the samples depend on cannot be told: where, and what it is."""

    def __init__(self, path, what):
        super().__init__("%s is %s" % (".".join(path) or "it", what))


@functools.lru_cache(maxsize=None)
def _library_folders():
    paths = sysconfig.get_paths()
    found = {os.path.realpath(paths[name]) + os.sep for name in
             ("stdlib", "platstdlib", "purelib", "platlib")}
    found |= {os.path.realpath(p) + os.sep for p in sys.path
              if os.path.basename(p) in ("site-packages", "dist-packages")}
    return tuple(found)


@functools.lru_cache(maxsize=None)
def _is_library(name):
    """A module that is installed, not the user's own."""
    if name in sys.builtin_module_names:
        return True
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None:
        return name != "__main__" and name in sys.modules
    return os.path.realpath(file).startswith(_library_folders())


@functools.lru_cache(maxsize=None)
def _module_mark(name):
    """Which one it is: another version of a library makes other samples."""
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None) or ""
    version = getattr(sys.modules.get(name.partition(".")[0]), "__version__", "")
    mark = ""
    if file.endswith(".py"):
        with open(file, "rb") as f:
            mark = hashlib.blake2b(f.read(), digest_size=16).hexdigest()
    return "%s %s %s" % (name, version, mark)


class State:
    """One walk over what it is given."""

    def __init__(self):
        self._hash = hashlib.blake2b(digest_size=16)
        self._seen = {}         # id -> its number
        self._alive = []        # so that no id is used twice
        self._path = []
        self.sources = []

    def add(self, name, obj):
        self._at(name, obj)

    def digest(self):
        return self._hash.hexdigest()

    # --- words ---

    def _say(self, tag, text=b""):
        if isinstance(text, str):
            text = text.encode("utf-8", "surrogatepass")
        self._hash.update(b"%s %d:" % (tag, len(text)))
        self._hash.update(text)

    def _at(self, name, obj):
        self._path.append(str(name))
        self._walk(obj)
        self._path.pop()

    def _opaque(self, what):
        raise Opaque(self._path, what)

    # --- by kind ---

    def _walk(self, obj):
        kind = type(obj)
        if kind in _PLAIN_SET:
            self._plain(obj)
            return
        number = self._seen.get(id(obj))
        if number is not None:
            self._say(b"again", str(number))
            return
        self._seen[id(obj)] = len(self._seen)
        self._alive.append(obj)
        walk = _KINDS.get(kind)
        if walk is not None:
            walk(self, obj)
        else:
            self._other(obj)

    def _plain(self, obj):
        if type(obj) is float:
            self._say(b"float", struct.pack("<d", obj))
        elif isinstance(obj, (str, bytes)):
            self._say(type(obj).__name__.encode(), obj)
        else:
            self._say(type(obj).__name__.encode(), repr(obj))

    def _all_plain(self, items):
        """Long lists of paths and labels are told at once."""
        kinds = set(map(type, items))
        if kinds <= _PLAIN_SET:
            return True
        return kinds == {tuple} and set(map(type, chain.from_iterable(items))) <= _PLAIN_SET

    def _sequence(self, items):
        self._say(type(items).__name__.encode(), str(len(items)))
        if len(items) >= _LARGE and self._all_plain(items):
            # Version 0 has no references: equal values, equal bytes.
            self._say(b"all", marshal.dumps(list(items), 0))
            return
        for i, item in enumerate(items):
            self._at(i, item)

    def _mapping(self, items):
        self._say(b"dict", str(len(items)))
        for key, value in items.items():
            self._walk(key)
            self._at(key if isinstance(key, str) else repr(key)[:40], value)

    def _set(self, items):
        marks = []
        for item in items:
            one = State()
            one._path = self._path
            one._walk(item)
            self.sources += one.sources
            marks.append(one.digest())
        self._say(b"set", " ".join(sorted(marks)))

    def _module(self, module):
        self._say(b"module", _module_mark(module.__name__))

    def _builtin(self, function):
        owner = getattr(function, "__self__", None)
        self._say(b"builtin", "%s.%s" % (getattr(function, "__module__", None),
                                          function.__qualname__))
        if owner is not None and not isinstance(owner, types.ModuleType):
            self._at("self", owner)

    def _method(self, method):
        self._say(b"method")
        self._at(method.__func__.__name__, method.__func__)
        self._at("self", method.__self__)

    def _function(self, function):
        name = function.__module__ or ""
        self._say(b"function", function.__qualname__)
        if _is_library(name) and "<locals>" not in function.__qualname__:
            self._say(b"of", _module_mark(name))
            return
        self._code(function.__code__, function.__globals__)
        self._at("defaults", function.__defaults__)
        self._at("keywords", function.__kwdefaults__)
        for free, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                value = cell.cell_contents
            except ValueError:          # not set yet
                self._say(b"empty")
                continue
            self._at(free, value)
        if function.__dict__:
            self._at("attributes", function.__dict__)

    def _code(self, code, scope):
        self._say(b"code", code.co_code)
        self._say(b"names", " ".join(code.co_names + code.co_varnames))
        for value in code.co_consts:
            if isinstance(value, types.CodeType):
                self._code(value, scope)
            elif isinstance(value, frozenset):
                self._set(value)
            else:
                self._walk(value)
        for name in code.co_names:
            if name in scope:
                self._global(name, scope[name], code.co_names)

    def _global(self, name, value, names):
        self._at(name, value)
        if isinstance(value, types.ModuleType) and not _is_library(value.__name__):
            for other in names:         # what it uses of the user's own module
                if other in vars(value):
                    self._at(other, vars(value)[other])

    def _class(self, cls):
        self._say(b"class", "%s.%s" % (cls.__module__, cls.__qualname__))
        if _is_library(cls.__module__) and "<locals>" not in cls.__qualname__:
            self._say(b"of", _module_mark(cls.__module__))
            return
        for base in cls.__bases__:
            self._walk(base)
        for name, value in vars(cls).items():
            if name not in _CLASS_WORDS:
                self._at(name, value)

    def _wrapped(self, obj):
        self._say(type(obj).__name__.encode())
        self._walk(obj.__func__)

    def _property(self, obj):
        self._say(b"property")
        for function in (obj.fget, obj.fset, obj.fdel):
            self._walk(function)

    def _named(self, obj):
        """Its kind is all there is to say."""
        self._say(b"only", type(obj).__name__)

    def _tensor(self, tensor):
        if tensor.layout != torch.strided or tensor.device.type != "cpu":
            self._opaque("a tensor that is no plain memory")
        self._say(b"tensor", "%s %s" % (tensor.dtype, tuple(tensor.shape)))
        if tensor.numel() > 0:
            flat = tensor.detach().resolve_conj().resolve_neg().contiguous()
            self._say(b"bytes", memoryview(flat.view(-1).view(torch.uint8).numpy()))

    def _array(self, array):
        self._say(b"array", "%s %s" % (array.dtype.str, array.shape))
        if array.dtype.hasobject:
            self._at("items", array.tolist())
        elif array.size > 0:
            self._say(b"bytes", memoryview(array.copy(order="C").reshape(-1).view("u1")))

    def _other(self, obj):
        numpy = sys.modules.get("numpy")
        if _seeds.is_source(obj):
            self.sources.append(obj)
            self._named(obj)
        elif isinstance(obj, torch.Tensor):
            self._tensor(obj)
        elif numpy is not None and isinstance(obj, numpy.ndarray):
            self._array(obj)
        elif isinstance(obj, type):
            self._class(obj)
        elif isinstance(obj, enum.Enum):
            self._say(b"enum", obj.name)
            self._walk(type(obj))
        elif isinstance(obj, _OPAQUE):
            self._opaque("a %s" % type(obj).__name__)
        else:
            self._instance(obj)

    def _instance(self, obj):
        self._say(b"instance")
        self._walk(type(obj))
        if isinstance(obj, (list, tuple)):
            for i, item in enumerate(obj):
                self._at(i, item)
        elif isinstance(obj, dict):
            self._mapping(dict(obj))
        elif isinstance(obj, (set, frozenset)):
            self._set(obj)
        elif isinstance(obj, (str, int, float, bytes)):
            self._say(b"value", repr(obj))
        if not self._attributes(obj) or _has_more(type(obj)):
            self._reduced(obj)

    def _attributes(self, obj):
        """False: it has none that Python can see."""
        slots = [name for cls in type(obj).__mro__ for name in _slots_of(cls)]
        values = getattr(obj, "__dict__", None)
        number = len(self._path)
        try:
            self._each(obj, slots, values)
        except Opaque:
            # One that says how it is copied is taken at its word.
            if not _is_copied(type(obj)):
                raise
            del self._path[number:]
            return False
        return bool(slots) or values is not None or isinstance(obj, _HOLDERS)

    def _each(self, obj, slots, values):
        for name in slots:
            if hasattr(obj, name):
                self._at(name, getattr(obj, name))
        for name, value in (values or {}).items():
            self._at(name, value)

    def _reduced(self, obj):
        try:
            reduce = copyreg.dispatch_table.get(type(obj))
            parts = reduce(obj) if reduce is not None else obj.__reduce_ex__(4)
        except Exception:
            self._opaque("a %s, which cannot be looked into" % type(obj).__name__)
        if isinstance(parts, str):
            self._say(b"global", parts)
            return
        function, arguments = parts[:2]
        self._walk(function)
        for part in arguments:
            self._walk(part)
        for part in parts[2:]:
            self._walk(list(part) if part is not None and hasattr(part, "__next__") else part)


_HOLDERS = (list, tuple, dict, set, frozenset, str, int, float, bytes)


def _has_more(cls):
    """Than attributes: memory that only the code of an extension knows."""
    base = next((b for b in _HOLDERS if issubclass(cls, b)), object)
    slots = sum(len(_slots_of(c)) for c in cls.__mro__)
    return cls.__basicsize__ > base.__basicsize__ + _POINTER * (slots + 2)


def _is_copied(cls):
    return any(name in vars(c) for c in cls.__mro__[:-1]
               for name in ("__getstate__", "__reduce__", "__reduce_ex__", "__getnewargs__"))


_POINTER = struct.calcsize("P")
_CLASS_WORDS = frozenset(("__module__", "__qualname__", "__doc__", "__dict__", "__weakref__",
                          "__firstlineno__", "__static_attributes__", "__annotations__",
                          "__abstractmethods__", "_abc_impl", "__parameters__",
                          "__orig_bases__", "__slots__", "__annotate__",
                          "__annotations_cache__", "__annotate_func__", "__match_args__"))


def _slots_of(cls):
    slots = vars(cls).get("__slots__", ())
    return [s for s in ((slots,) if isinstance(slots, str) else slots)
            if s not in ("__dict__", "__weakref__")]


_KINDS = {
    list: State._sequence, tuple: State._sequence,
    dict: State._mapping, types.MappingProxyType: State._mapping,
    set: State._set, frozenset: State._set,
    types.ModuleType: State._module,
    types.FunctionType: State._function,
    types.BuiltinFunctionType: State._builtin,
    types.MethodType: State._method,
    types.MethodDescriptorType: State._builtin,
    types.WrapperDescriptorType: State._builtin,
    types.GetSetDescriptorType: State._builtin,
    types.MemberDescriptorType: State._builtin,
    staticmethod: State._wrapped, classmethod: State._wrapped, property: State._property,
    type: State._class,
    type(Ellipsis): State._named, type(NotImplemented): State._named,
    logging.Logger: State._named,
    **{lock: State._named for lock in _LOCKS},
}
