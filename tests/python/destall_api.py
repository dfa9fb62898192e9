# SPDX-License-Identifier: Apache-2.0
"""destall_api.py: the public functions of libdestall (destall.h), by ctypes."""

import ctypes
import errno
import os
from ctypes import (POINTER, Structure, byref, c_char, c_char_p, c_int,
                    c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p)

import numpy as np

ERR_TEXT = 512
POSITION_TEXT = 256
SAMPLE_OK, SAMPLE_CUT_SHORT, SAMPLE_SUBSTITUTE = range(3)


class Err(Structure):
    _fields_ = [("code", c_int), ("text", c_char * ERR_TEXT)]


class Option(Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p), ("help", c_char_p)]


class Cut(Structure):
    _fields_ = [(name, c_uint32) for name in (
        "x", "y", "width", "height", "to_width", "to_height", "at_x", "at_y",
        "flip")]

    def __repr__(self):
        return "%dx%d at %d,%d, to %dx%d, from %d,%d%s" % (
            self.width, self.height, self.x, self.y, self.to_width,
            self.to_height, self.at_x, self.at_y,
            ", flipped" if self.flip else "")


class Place(Structure):
    _fields_ = [("seed", c_uint64), ("epoch", c_uint64),
                ("position", c_uint64)]


class Info(Structure):
    _fields_ = [("name", c_char_p), ("size", c_uint64)]


class Batch(Structure):
    _fields_ = [("samples", c_void_p), ("sample_bytes", c_size_t),
                ("type", c_uint32), ("shape", c_uint32 * 3),
                ("epoch", c_uint64), ("number", c_uint64),
                ("count", c_uint32), ("skipped", c_uint32),
                ("labels", POINTER(c_int64)), ("items", POINTER(c_uint64)),
                ("positions", POINTER(c_uint64)), ("states", POINTER(c_uint8))]


class Failed(Exception):
    """What the library says; .code is the -errno."""

    def __init__(self, code, text):
        super().__init__("%s: %s" % (errno.errorcode.get(-code, code), text))
        self.code = code


PROTOTYPES = {
    "ds_version": (c_char_p, []),
    "ds_data_open": (c_int, [POINTER(c_void_p), c_void_p, c_char_p, c_char_p,
                             POINTER(Err)]),
    "ds_data_close": (None, [POINTER(c_void_p)]),
    "ds_data_count": (c_uint64, [c_void_p]),
    "ds_data_info": (c_int, [c_void_p, c_uint64, POINTER(Info)]),
    "ds_prep_options": (POINTER(Option), []),
    "ds_prep_new": (c_int, [POINTER(c_void_p), POINTER(Err)]),
    "ds_prep_free": (None, [POINTER(c_void_p)]),
    "ds_prep_set": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(Err)]),
    "ds_prep_bytes": (c_int64, [c_void_p, POINTER(Err)]),
    "ds_prep_draw": (c_int, [c_void_p, c_uint32, c_uint32, POINTER(Place),
                             POINTER(Cut), POINTER(Err)]),
    "ds_prep_size": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(c_uint32),
                             POINTER(c_uint32), POINTER(Err)]),
    "ds_prep_run": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(Cut),
                            c_void_p, c_size_t, POINTER(Err)]),
    "ds_loader_options": (POINTER(Option), []),
    "ds_loader_open": (c_int, [POINTER(c_void_p), c_void_p, POINTER(Err)]),
    "ds_loader_close": (None, [POINTER(c_void_p)]),
    "ds_loader_set": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(Err)]),
    "ds_loader_next": (c_int, [c_void_p, POINTER(POINTER(Batch)),
                               POINTER(Err)]),
    "ds_loader_release": (None, [c_void_p, POINTER(POINTER(Batch))]),
    "ds_loader_samples": (c_int64, [c_void_p, POINTER(Err)]),
    "ds_loader_class": (c_char_p, [c_void_p, c_int64]),
    "ds_loader_save": (c_int, [c_void_p, c_char_p, POINTER(Err)]),
    "ds_loader_restore": (c_int, [c_void_p, c_char_p, POINTER(Err)]),
}


class Library:
    """ds_NAME(...) as lib.NAME(...), found when it is first called.  A function
    whose last argument is a struct ds_err gets one, and raises Failed."""

    def __init__(self):
        self.path = os.path.join(os.environ["top_builddir"], ".libs",
                                 "libdestall.so")
        self.loaded = None

    def __getattr__(self, name):
        if self.loaded is None:
            self.loaded = ctypes.CDLL(self.path)
        function = getattr(self.loaded, "ds_" + name)
        function.restype, function.argtypes = PROTOTYPES["ds_" + name]
        if function.argtypes[-1:] == [POINTER(Err)]:
            call = add_err(function)
        else:
            call = function
        setattr(self, name, call)
        return call


def add_err(function):
    err = Err()
    last = byref(err)

    def call(*arguments):
        rc = function(*arguments, last)
        if rc < 0:
            raise Failed(rc, err.text.decode(errors="replace"))
        return rc
    return call


lib = Library()


def options(table):
    """What a table of options holds unless it is set."""
    found, i = {}, 0
    while table[i].name is not None:
        found[table[i].name.decode()] = table[i].value.decode()
        i += 1
    return found


def set_all(setter, handle, values):
    for name, value in values.items():
        setter(handle, name.replace("_", "-").encode(), str(value).encode())


# --- one picture ------------------------------------------------------------

GUARD = 64                      # bytes around a sample, to see if they change
WATCH = 0xA5


class Prep:
    def __init__(self, **values):
        self.handle = c_void_p()
        lib.prep_new(byref(self.handle))
        set_all(lib.prep_set, self.handle, values)
        # A multiple of nothing but the value's own size.
        self.offset = GUARD + {"uint8": 1, "fp32": 4}.get(
            values.get("type", "fp32"), 2)
        self.place = Place()
        self.room = None

    def __del__(self):
        lib.prep_free(byref(self.handle))

    def bytes(self):
        return lib.prep_bytes(self.handle)

    def draw(self, width, height, seed, epoch, position):
        cut = Cut()
        self.place.seed, self.place.epoch = seed, epoch
        self.place.position = position
        lib.prep_draw(self.handle, width, height, byref(self.place),
                      byref(cut))
        return cut

    def size(self, encoded):
        width, height = c_uint32(), c_uint32()
        lib.prep_size(self.handle, encoded, len(encoded), byref(width),
                      byref(height))
        return width.value, height.value

    def run(self, encoded, cut):
        """The sample as bytes, until the next call."""
        if self.room is None:
            self.room = np.empty(self.bytes() + 2 * self.offset, np.uint8)
        self.room.fill(WATCH)
        lib.prep_run(self.handle, encoded, len(encoded), byref(cut),
                     self.room.ctypes.data + self.offset,
                     len(self.room) - 2 * self.offset)
        around = np.concatenate([self.room[:self.offset],
                                 self.room[-self.offset:]])
        assert (around == WATCH).all(), "bytes around the sample were written"
        return self.room[self.offset:-self.offset]


def has_simd(name):
    try:
        Prep(simd=name).bytes()
    except Failed as failed:
        assert failed.code == -errno.EINVAL, failed
        return False
    return True


# --- a data set -------------------------------------------------------------

class Data:
    def __init__(self, folder):
        self.handle = c_void_p()
        lib.data_open(byref(self.handle), None, os.fsencode(folder), None)

    def close(self):
        lib.data_close(byref(self.handle))

    def names(self):
        info, found = Info(), []
        for i in range(lib.data_count(self.handle)):
            assert lib.data_info(self.handle, i, byref(info)) == 0
            found.append(os.fsdecode(info.name))
        return found


class Sample:
    def __init__(self, batch, k):
        self.epoch, self.batch = batch.epoch, batch.number
        self.position, self.item = batch.positions[k], batch.items[k]
        self.label, self.state = batch.labels[k], batch.states[k]
        self.bytes = ctypes.string_at(batch.samples + k * batch.sample_bytes,
                                      batch.sample_bytes)


class Loader:
    """Of a folder.  Close it: threads must not outlive the test."""

    def __init__(self, folder, **values):
        self.data = Data(folder)
        self.handle = c_void_p()
        lib.loader_open(byref(self.handle), self.data.handle)
        set_all(lib.loader_set, self.handle, values)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        lib.loader_close(byref(self.handle))
        self.data.close()

    def samples(self):
        return lib.loader_samples(self.handle)

    def class_name(self, label):
        name = lib.loader_class(self.handle, label)
        return None if name is None else os.fsdecode(name)

    def save(self):
        text = ctypes.create_string_buffer(POSITION_TEXT)
        lib.loader_save(self.handle, text)
        return text.value

    def restore(self, text):
        lib.loader_restore(self.handle, text)

    def batch(self):
        """The samples of the next batch; None at the end of an epoch."""
        batch = POINTER(Batch)()
        if lib.loader_next(self.handle, byref(batch)) == 0:
            return None
        found = [Sample(batch.contents, k)
                 for k in range(batch.contents.count)]
        lib.loader_release(self.handle, byref(batch))
        return found

    def epoch(self):
        """All samples to the end of the epoch."""
        found = []
        while (batch := self.batch()) is not None:
            found += batch
        return found
