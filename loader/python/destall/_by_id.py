# SPDX-License-Identifier: Apache-2.0
"""What is known of an object, for as long as it lives: whether or not it can be
hashed, and however it compares."""

import weakref


class ById:
    def __init__(self):
        self._known = {}        # id -> (a reference, weak if it can be; value)

    def __contains__(self, obj):
        return id(obj) in self._known

    def __getitem__(self, obj):
        return self._known[id(obj)][1]

    def get(self, obj):
        return self[obj] if obj in self else None

    def __setitem__(self, obj, value):
        key = id(obj)
        try:
            held = weakref.ref(obj, lambda _: self._known.pop(key, None))
        except TypeError:       # it cannot be: then it lives on
            held = obj
        self._known[key] = held, value
