# SPDX-License-Identifier: Apache-2.0
"""Which folders a dataset reads from: those that DESTALL_DATA names, else what
the dataset itself says: attributes that are folders, or else the folder that a
list of files has in common.  A few items of a list are looked at, never all.

What is found, and not named, must be a folder of data: the same rule as for
folders on a command line (cache/roots.h).
"""

import os
import re

MOST = 16               # roots of a job
_ITEMS = 32             # of a list that are looked at
_OBJECTS = 200          # in a dataset
_DEPTH = 5              # of datasets in datasets

_SYSTEM = ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc",
           "/run", "/sbin", "/sys", "/usr")
_WIDE = ("/home", "/media", "/mnt", "/opt", "/root", "/srv", "/tmp", "/var")
_OPEN = ":"             # of DESTALL_DATA: nobody has named any (ROOTS_OPEN in cache/roots.h)
_SAYS_FOLDER = re.compile(r"root|dir|folder|path|data|image|img", re.IGNORECASE)
_SAYS_OTHER = re.compile(r"cache|out|save|log|tmp|temp|checkpoint|ckpt|work", re.IGNORECASE)


class Unusable(Exception):
    """And why."""


# --- one folder ------------------------------------------------------------------

def holds(outer, inner):
    return inner == outer or inner.startswith(outer.rstrip("/") + "/")


def _is_data(canonical):
    """Might it be a data set's, though nobody named it?"""
    own = [os.path.realpath(os.path.expanduser("~"))]
    try:
        own.append(os.path.realpath(os.getcwd()))
    except OSError:
        pass
    return not (canonical in _WIDE or any(holds(s, canonical) for s in _SYSTEM) or
                any(holds(canonical, folder) for folder in own))


def _check(path):
    """(as spelled, canonical), both absolute.  Unusable: it cannot be a root."""
    given = os.path.abspath(path)
    canonical = os.path.realpath(given)
    if not os.path.isdir(canonical):
        raise Unusable("%s is no folder" % given)
    if canonical == "/":
        raise Unusable("/ is no data set")
    if not os.access(canonical, os.R_OK | os.X_OK):
        raise Unusable("%s may not be read" % given)
    if ":" in canonical:
        raise Unusable("%s has a colon in its name" % canonical)
    return given, canonical


def _merge(pairs):
    """Of one within another the outer; the first MOST: {canonical: as spelled}."""
    kept = {}
    for given, canonical in pairs:
        if any(holds(outer, canonical) for outer in kept):
            continue
        for inner in [c for c in kept if holds(canonical, c)]:
            del kept[inner]
        if len(kept) < MOST:
            kept[canonical] = given
    return kept


# --- what a dataset says -----------------------------------------------------------

def _text(value):
    """A path, or None."""
    if isinstance(value, (str, os.PathLike)):
        try:
            return os.fsdecode(value)
        except (TypeError, ValueError):
            pass
    return None


def _is_folder(name, path):
    if _SAYS_OTHER.search(name) or "\0" in path:
        return False
    return bool(os.sep in path or _SAYS_FOLDER.search(name)) and os.path.isdir(path)


def _pick(length):
    """The first, the last, and some between."""
    if length <= _ITEMS:
        return range(length)
    return sorted({i * (length - 1) // (_ITEMS - 1) for i in range(_ITEMS)})


def _items(value):
    """Some of a list, tuple, array, dictionary, or of what pandas has; else nothing."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    if isinstance(value, (list, tuple)):
        return [value[i] for i in _pick(len(value))]
    if isinstance(value, dict):
        return list(value.values()) if len(value) <= _ITEMS else []
    if package == "numpy" and kind.__name__ == "ndarray" and value.dtype.kind in "UO":
        flat = value.reshape(-1) if value.flags.c_contiguous else value.flatten()
        return [flat[i] for i in _pick(len(flat))]
    if package == "pandas" and kind.__name__ == "Series":
        return [value.iloc[i] for i in _pick(len(value))]
    if package == "pandas" and kind.__name__ == "DataFrame":
        return [item for column in list(value.columns)[:MOST] for item in _items(value[column])]
    return []


def _folders_of(items):
    """Where those are that are files: by themselves, or as parts of a sample."""
    found = set()
    for item in items:
        for part in _parts(item):
            path = _text(part)
            if path and os.sep in path and "\0" not in path and os.path.isfile(path):
                found.add(os.path.dirname(os.path.abspath(path)))
    return sorted(found)


def _in_common(folders):
    if not folders:
        return []
    common = os.path.commonpath(folders)
    return [common] if _is_data(os.path.realpath(common)) else folders


def _attributes(obj):
    try:
        return list(vars(obj).items())
    except TypeError:
        return []


def _is_inner(value):
    """A dataset or another object of the program that may know more."""
    kind = type(value)
    return hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value) and \
        kind.__module__.partition(".")[0] not in ("builtins", "numpy", "pandas") and \
        kind.__name__ not in ("Tensor", "Generator", "module")


def _objects_in(obj, seen, depth=0):
    """It, and those within it."""
    if id(obj) in seen or len(seen) >= _OBJECTS or depth > _DEPTH:
        return
    seen[id(obj)] = obj
    yield obj
    for _, value in _attributes(obj):
        for inner in [value, *_items(value)]:
            if _is_inner(inner):
                yield from _objects_in(inner, seen, depth + 1)


def _found_in(dataset):
    for obj in _objects_in(dataset, {}):
        attributes = _attributes(obj)
        own = [path for name, value in attributes
               for path in [_text(value)] if path and _is_folder(name, path)]
        if not own:
            lists = [obj, *(value for _, value in attributes)]
            own = [f for value in lists for f in _in_common(_folders_of(_items(value)))]
        yield from own


def _parts(item):
    """Of a sample, or it."""
    return list(item)[:8] if isinstance(item, (list, tuple)) else \
        list(item.values())[:8] if isinstance(item, dict) else [item]


def _is_relative(value):
    path = _text(value)
    return bool(path) and not os.path.isabs(path) and "\0" not in path and \
        len(path) < 4096 and os.path.lexists(path)


# --- for _shared.py ------------------------------------------------------------------

def depends_on_cwd(dataset):
    """Has it a path that means another file elsewhere?"""
    return any(_is_relative(part)
               for obj in _objects_in(dataset, {})
               for value in [obj, *(value for _, value in _attributes(obj))]
               for item in [value, *_items(value)]
               for part in _parts(item))


# --- for _cache.py -------------------------------------------------------------------

def named():
    """Of DESTALL_DATA; None: it names none, and does not forbid it.  Unusable: one of them is."""
    text = os.environ.get("DESTALL_DATA")
    if text in (None, _OPEN):
        return None
    return _merge(_check(part) for part in text.split(":") if part)


def found(dataset):
    pairs = []
    for path in _found_in(dataset):
        try:
            pair = _check(path)
        except (Unusable, OSError, ValueError):
            continue
        if _is_data(pair[1]):
            pairs.append(pair)
    return _merge(pairs)
