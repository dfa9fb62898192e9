# SPDX-License-Identifier: Apache-2.0
"""What happens when Python starts with DESTALL=1: as good as nothing, until the
program imports torch.utils.data.dataloader.  Then the two iterator classes there
are wrapped; what the wrappers need is imported when the first loader is used.

Whatever goes wrong is one line, and the loader is PyTorch's own.
"""

import functools
import os
import sys

WATCHED = "torch.utils.data.dataloader"
_hook = None            # the module, once it is needed; False: it cannot be had


def _say(text):
    try:
        sys.stderr.write("destall: %s\n" % text)
    except Exception:
        pass


def _get_hook():
    global _hook
    if _hook is None:
        try:
            from . import _hook as module
            module.start(first_seed)
            _hook = module
        except Exception as e:
            _say("loaders are not shared: %s" % (getattr(e, "strerror", None) or e))
            _hook = False
    return _hook or None


first_seed = None


def _wrap(cls, name, handler):
    """In the place of a method: handler(hook, plain, self, ...), if there is a hook."""
    plain = getattr(cls, name)

    @functools.wraps(plain)
    def method(self, *args, **kwargs):
        hook = _get_hook()
        if hook is None:
            return plain(self, *args, **kwargs)
        return getattr(hook, handler)(plain, self, *args, **kwargs)

    setattr(cls, name, method)


def _patch(module):
    """The module has just been executed; torch itself may not be complete yet."""
    global first_seed
    import torch
    first_seed = torch._C.default_generator.initial_seed()
    single, several = module._SingleProcessDataLoaderIter, module._MultiProcessingDataLoaderIter
    _wrap(single, "__init__", "init_single")
    _wrap(several, "__init__", "init_several")
    _wrap(several, "_process_data", "process_data")
    _wrap(single, "_next_data", "next_data")
    _wrap(several, "_next_data", "next_data")


class _Loader:
    """Of the watched module: its own, and then the patch."""

    def __init__(self, plain):
        self._plain = plain

    def __getattr__(self, name):
        return getattr(self._plain, name)

    def create_module(self, spec):
        return self._plain.create_module(spec)

    def exec_module(self, module):
        self._plain.exec_module(module)
        try:
            _patch(module)
        except Exception as e:
            _say("this PyTorch is not known (%s: %s): loaders are not shared" % (
                type(e).__name__, e))


class _Finder:
    """Asks the others for the watched module, once."""

    def find_spec(self, name, path=None, target=None):
        if name != WATCHED:
            return None
        sys.meta_path[:] = [f for f in sys.meta_path if f is not self]
        import importlib.util
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


def start():
    if os.environ.get("DESTALL") != "1" or any(isinstance(f, _Finder) for f in sys.meta_path):
        return
    module = sys.modules.get(WATCHED)
    if module is not None:
        _patch(module)
    else:
        sys.meta_path.insert(0, _Finder())
