# SPDX-License-Identifier: Apache-2.0
"""All that a dataset's samples depend on, as a number: equal in two programs
exactly if they would make the same, as far as that can be told.

It covers attributes, closure cells, defaults, globals that the code names, the
code itself and the contents of arrays; not addresses, nor the order of sets.
What comes with an installed package is told by its file.  What cannot be looked
into is named: Opaque.

The walk also finds sources of randomness that the objects have of their own:
their state does not count, for it is set before each sample.
"""

import copyreg
import dis
import enum
import functools
import hashlib
import io
import marshal
import os
import random
import struct
import sys
import sysconfig
import threading
import types

from itertools import chain

import torch

from . import _known, _memory, _seeds

_PLAIN = (str, int, float, bool, bytes, type(None), complex)
_PLAIN_SET = frozenset(_PLAIN)
_NESTED = _PLAIN_SET | {list, tuple, dict}
_LOCKS = (type(threading.Lock()), type(threading.RLock()))
_OPAQUE = (io.IOBase, types.GeneratorType, types.CoroutineType, threading.Thread)
_LARGE = 64             # items: then it pays to look whether all are plain,
_DEEP = 8               # in so many levels of lists and mappings, and
_MOST = 1 << 26         # items in all: one list may stand in many places
_MANY = 1 << 16         # bytes: so many are not read in a quick look


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


@functools.lru_cache(maxsize=4096)
def _globals_of(code):
    """Names that it looks up; those of attributes, which may be names of globals as well, are
    among its names, too."""
    looked_up = {i.argval for i in dis.get_instructions(code)
                 if i.opname.startswith("LOAD_") and ("GLOBAL" in i.opname or "NAME" in i.opname)}
    return [name for name in code.co_names if name in looked_up]


class State:
    """One walk over what it is given.  A quick one tells lists, mappings and memory that are large
    by which they are: to compare with another of the same process, while `alive` lives."""

    def __init__(self, is_quick=False):
        self._is_quick = is_quick
        self._hash = hashlib.blake2b(digest_size=16)
        self._seen = {}         # id -> its number
        self.alive = []         # so that no id is used twice
        self._path = []
        self._maps = _memory.Maps()
        self.sources = []

    def add(self, name, obj):
        """Objects of the program's own may raise anything when they are looked at."""
        try:
            self._at(name, obj)
        except Opaque:
            raise
        except Exception as e:
            raise Opaque(self._path[:8], "not to be looked into (%s: %s)" % (
                type(e).__name__, e)) from e

    def digest(self):
        return self._hash.hexdigest()

    # --- words ---

    def say(self, tag, text=b""):
        if isinstance(text, str):
            text = text.encode("utf-8", "surrogatepass")
        self._hash.update(b"%s %d:" % (tag, len(text)))
        self._hash.update(text)

    def _at(self, name, obj):
        self._path.append(str(name))
        self.walk(obj)
        self._path.pop()

    def opaque(self, what):
        raise Opaque(self._path, what)

    # --- by kind ---

    def walk(self, obj):
        kind = type(obj)
        if kind in _PLAIN_SET:
            self._plain(obj)
            return
        number = self._seen.get(id(obj))
        if number is not None:
            self.say(b"again", str(number))
            return
        self._seen[id(obj)] = len(self._seen)
        self.alive.append(obj)
        walk = _KINDS.get(kind)
        if walk is not None:
            walk(self, obj)
        else:
            self._other(obj)

    def _plain(self, obj):
        if type(obj) is float:
            self.say(b"float", struct.pack("<d", obj))
        elif isinstance(obj, (str, bytes)):
            self.say(type(obj).__name__.encode(), obj)
        else:
            self.say(type(obj).__name__.encode(), repr(obj))

    def _is_left(self, size, large, *which):
        """It is large, and told by which it is."""
        if not self._is_quick or size < large:
            return False
        self.say(b"which", " ".join(map(str, which)))
        return True

    def memory(self, address, view):
        if self._is_left(view.nbytes, _MANY, address, view.nbytes):
            return
        self.say(b"memory", _memory.tell(self._maps, address, view))

    def _at_once(self, items):
        """Long lists of paths and labels are told so.  False: there is more in them."""
        if self._is_left(len(items), _LARGE, id(items)):
            return True
        if len(items) < _LARGE or not _is_plain(items):
            return False
        self._all(items)
        return True

    def _all(self, items):
        # Version 0 has no references: equal values, equal bytes.
        self.say(b"all", hashlib.sha256(marshal.dumps(items, 0)).digest())

    def _sequence(self, items):
        self.say(type(items).__name__.encode(), str(len(items)))
        if self._at_once(items):
            return
        for i, item in enumerate(items):
            self._at(i, item)

    def _mapping(self, items):
        self.say(b"dict", str(len(items)))
        if type(items) is dict and self._at_once(items):
            return
        pairs = items.items()
        for key, value in sorted(pairs) if _is_table(items) else pairs:
            self.walk(key)
            self._at(key if isinstance(key, str) else repr(key)[:40], value)

    def _set(self, items):
        if self._is_left(len(items), _LARGE, id(items), len(items)):
            return
        kinds = set(map(type, items))
        if kinds == {str} or kinds == {int}:
            self.say(b"set", str(len(items)))
            self._all(sorted(items))
            return
        found = sorted((self._one_of(item) for item in items), key=lambda one: one.digest())
        self.say(b"set", " ".join(one.digest() for one in found))
        for one in found:
            self.sources += one.sources
            self.alive += one.alive

    def _one_of(self, item):
        """Of a set, by itself; what leads to the set again is known."""
        one = State(self._is_quick)
        one._path, one._maps, one._seen = self._path, self._maps, dict(self._seen)
        one.walk(item)
        return one

    def _module(self, module):
        self.say(b"module", _module_mark(module.__name__))

    def _builtin(self, function):
        owner = getattr(function, "__self__", None)
        self.say(b"builtin", "%s.%s" % (getattr(function, "__module__", None),
                                          function.__qualname__))
        if owner is not None and not isinstance(owner, types.ModuleType):
            self._at("self", owner)

    def _method(self, method):
        self.say(b"method")
        self._at(method.__func__.__name__, method.__func__)
        self._at("self", method.__self__)

    def _function(self, function):
        name = function.__module__ or ""
        self.say(b"function", function.__qualname__)
        if _is_library(name) and "<locals>" not in function.__qualname__:
            self.say(b"of", _module_mark(name))
            return
        self._code(function.__code__, function.__globals__)
        self._at("defaults", function.__defaults__)
        self._at("keywords", function.__kwdefaults__)
        for free, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                value = cell.cell_contents
            except ValueError:          # not set yet
                self.say(b"empty")
                continue
            self._at(free, value)
        if function.__dict__:
            self._at("attributes", function.__dict__)

    def _code(self, code, scope):
        self.say(b"code", code.co_code)
        self.say(b"names", " ".join(code.co_names + code.co_varnames))
        for value in code.co_consts:
            if isinstance(value, types.CodeType):
                self._code(value, scope)
            elif isinstance(value, frozenset):
                self._set(value)
            else:
                self.walk(value)
        for name in _globals_of(code):
            if name in scope:
                self._global(name, scope[name], code.co_names)

    def _global(self, name, value, names):
        self._at(name, value)
        if isinstance(value, types.ModuleType) and not _is_library(value.__name__):
            for other in names:         # what it uses of the user's own module
                if other in vars(value):
                    self._at(other, vars(value)[other])

    def _class(self, cls):
        self.say(b"class", "%s.%s" % (cls.__module__, cls.__qualname__))
        if _is_library(cls.__module__) and "<locals>" not in cls.__qualname__:
            self.say(b"of", _module_mark(cls.__module__))
            return
        for base in cls.__bases__:
            self.walk(base)
        for name, value in vars(cls).items():
            if name not in _CLASS_WORDS:
                self._at(name, value)

    def _wrapped(self, obj):
        self.say(type(obj).__name__.encode())
        self.walk(obj.__func__)

    def _property(self, obj):
        self.say(b"property")
        for function in (obj.fget, obj.fset, obj.fdel):
            self.walk(function)

    def _named(self, obj):
        """Its kind is all there is to say."""
        self.say(b"only", type(obj).__name__)

    def _tensor(self, tensor):
        if tensor.layout != torch.strided or tensor.device.type != "cpu":
            self.opaque("a tensor that is no plain memory")
        self.say(b"tensor", "%s %s %s" % (tensor.dtype, tuple(tensor.shape), tensor.stride()))
        size = tensor.numel() * tensor.element_size()
        if self._is_left(size, _MANY, tensor.data_ptr(), tensor._version):
            pass
        elif size > 0:
            plain = tensor.detach().as_subclass(torch.Tensor)
            flat = plain.resolve_conj().resolve_neg().contiguous()
            view = memoryview(flat.view(-1).view(torch.uint8).numpy())
            self.memory(flat.data_ptr(), view)
        self._subclass(tensor, torch.Tensor)

    def _array(self, array, base):
        self.say(b"array", "%s %s" % (array.dtype.str, array.shape))
        if array.dtype.fields is not None:
            self.say(b"fields", repr(array.dtype))
        if array.dtype.hasobject:
            self._at("items", base.tolist(array))
        elif self._is_left(array.nbytes, _MANY, array.ctypes.data):
            pass
        elif array.size > 0:
            flat = array.view(base)
            if not flat.flags.c_contiguous:
                flat = flat.copy(order="C")
            self.memory(flat.ctypes.data, memoryview(flat.reshape(-1).view("u1")))
        if type(array).__name__ != "memmap":    # which tells of its file
            self._subclass(array, base)

    def _subclass(self, obj, base):
        """What it has beside the memory: masks, boxes' formats."""
        if type(obj) is not base:
            self.walk(type(obj))
            for name, value in getattr(obj, "__dict__", {}).items():
                self._at(name, value)

    def _other(self, obj):
        numpy = sys.modules.get("numpy")
        known = _known.find(type(obj))
        if known is not None:
            known(self, obj)
        elif _seeds.is_source(obj):
            self.sources.append(obj)
            self._named(obj)
        elif isinstance(obj, torch.Tensor):
            self._tensor(obj)
        elif numpy is not None and isinstance(obj, numpy.ndarray):
            self._array(obj, numpy.ndarray)
        elif isinstance(obj, type):
            self._class(obj)
        elif isinstance(obj, enum.Enum):
            self.say(b"enum", obj.name)
            self.walk(type(obj))
        elif isinstance(obj, (_OPAQUE, random.SystemRandom)):
            self.opaque("a %s" % type(obj).__name__)
        else:
            self._instance(obj)

    def _instance(self, obj):
        self.say(b"instance")
        self.walk(type(obj))
        self._held(obj)
        if not self._attributes(obj) or _has_more(type(obj)):
            self.reduced(obj)

    def _held(self, obj):
        """By a list and the like, whatever its class has in the place of their methods."""
        base = next((b for b in _HOLDERS if isinstance(obj, b)), None)
        if base in (list, tuple, dict, set, frozenset) and \
                self._is_left(base.__len__(obj), _LARGE, id(obj), base.__len__(obj)):
            return
        if base in (list, tuple):
            for i, item in enumerate(base.__iter__(obj)):
                self._at(i, item)
        elif base is dict:
            self._mapping(dict(dict.items(obj)))
        elif base in (set, frozenset):
            self._set(list(base.__iter__(obj)))
        elif base is not None:
            self.say(b"value", base.__repr__(obj))

    def _attributes(self, obj):
        """False: it has none that Python can see."""
        slots = [name for cls in type(obj).__mro__ for name in _slots_of(cls)]
        values = getattr(obj, "__dict__", None)
        if not _is_copied(type(obj)):
            self._each(obj, slots, values)
        elif not self._try(lambda: self._each(obj, slots, values)):
            return False        # it says how it is copied, and is taken at its word
        return bool(slots) or values is not None or isinstance(obj, _HOLDERS)

    def _try(self, walk):
        """False: it met what is opaque, and nothing of it counts."""
        before = self._hash.copy(), len(self._path), len(self._seen), len(self.sources)
        try:
            walk()
        except Opaque:
            self._hash = before[0]
            del self._path[before[1]:]
            for key in list(self._seen)[before[2]:]:
                del self._seen[key]
            del self.sources[before[3]:]
            return False
        return True

    def _each(self, obj, slots, values):
        skipped = _known.ignored(type(obj))
        for name in slots:
            if hasattr(obj, name):
                self._at(name, getattr(obj, name))
        for name, value in (values or {}).items():
            if name not in skipped:
                self._at(name, value)

    def reduced(self, obj):
        try:
            reduce = copyreg.dispatch_table.get(type(obj))
            parts = reduce(obj) if reduce is not None else obj.__reduce_ex__(4)
        except Exception:
            self.opaque("a %s, which cannot be looked into" % type(obj).__name__)
        if isinstance(parts, str):
            self.say(b"global", parts)
            return
        function, arguments = parts[:2]
        self.walk(function)
        for part in arguments:
            self.walk(part)
        for part in parts[2:]:
            self.walk(list(part) if part is not None and hasattr(part, "__next__") else part)


_HOLDERS = (list, tuple, dict, set, frozenset, str, int, float, bytes)


def _is_plain(items):
    """Nothing but plain values, in lists, tuples and mappings."""
    level, kinds, total = [items], {type(items)}, 0
    for _ in range(_DEEP):
        below = set(map(type, _below(level, kinds)))    # without a list of them: it may be long
        if below <= _PLAIN_SET:
            return True
        if not below <= _NESTED:
            return False
        level, kinds = list(_below(level, kinds)), below
        total += len(level)
        if total > _MOST:
            return False
    return False


def _below(level, kinds):
    """What lies in them; plain values are done with."""
    if kinds & _PLAIN_SET:
        level = [item for item in level if type(item) not in _PLAIN_SET]
    if dict not in kinds:
        return chain.from_iterable(level)
    maps = [item for item in level if type(item) is dict]
    others = [item for item in level if type(item) is not dict]
    return chain(chain.from_iterable(maps), chain.from_iterable(m.values() for m in maps),
                 chain.from_iterable(others))


def _is_table(items):
    """Names, and methods of a library for them: only looked up, never gone through, and often
    made from a set, whose order is another in each program (Albumentations)."""
    return len(items) > 1 and all(
        type(key) is str and type(value) is types.MethodType and
        _is_library(type(value.__self__).__module__) and
        _is_library(value.__func__.__module__) for key, value in items.items())


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
    **{lock: State._named for lock in _LOCKS},
}
