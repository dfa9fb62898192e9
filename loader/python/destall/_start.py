# SPDX-License-Identifier: Apache-2.0
"""What happens when Python starts with DESTALL=1, or in a job that is profiled: as
good as nothing, until the program imports torch.utils.data.dataloader.  Then the
iterator classes there are wrapped; what the wrappers need is imported when the first
loader is used.

Whatever goes wrong is one line, and the loader is PyTorch's own.
"""

import os
import sys
from _thread import _local        # threading's, without what it brings along

WATCHED = "torch.utils.data.dataloader"
_hook = None            # the module, once it is needed; False: it cannot be had

# The iterator classes, their methods, and what takes their place in the module: that is _hook.py
# for jobs that share, and _profile.py for one that is profiled, which does not share.
_SINGLE, _SEVERAL = "_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter"
_BASE = "_BaseDataLoaderIter"
_SHARED = ((_SINGLE, "__init__", "init_single"), (_SEVERAL, "__init__", "init_several"),
           (_SEVERAL, "_process_data", "process_data"), (_SINGLE, "_next_data", "next_data"),
           (_SEVERAL, "_next_data", "next_data"), (_BASE, "__init__", "init_other"))
_PROFILED = ((_SINGLE, "__init__", "init_single"), (_SEVERAL, "__init__", "init_several"),
             (_SEVERAL, "_try_put_index", "try_put"), (_SEVERAL, "_reset", "reset"),
             (_SINGLE, "_next_data", "next_data"), (_SEVERAL, "_next_data", "next_data"),
             (_BASE, "__next__", "next_batch"), (_BASE, "__init__", "init_other"))
_STEERS = ("_try_put_index", "_next_data")      # are for nothing else


def _is_profiled():
    return bool(os.environ.get("DESTALL_PROFILE"))


def _say(text):
    try:
        sys.stderr.write("destall: %s\n" % text)
    except Exception:
        pass


def _get_hook():
    global _hook
    if _hook is None:
        try:
            if _is_profiled():
                from . import _profile as module
            else:
                from . import _hook as module
            module.start(first_seed)
            _hook = module
        except Exception as e:
            _say("loaders are not %s: %s" % ("measured" if _is_profiled() else "shared",
                                             getattr(e, "strerror", None) or e))
            _hook = False
    return _hook or None


first_seed = None       # None: not known


def _wrap(cls, name, handler):
    """In the place of a method: handler(hook, plain, self, ...), if there is a hook."""
    import functools
    plain = getattr(cls, name)

    @functools.wraps(plain)
    def method(self, *args, **kwargs):
        hook = _get_hook()
        if hook is None:
            return plain(self, *args, **kwargs)
        return getattr(hook, handler)(plain, self, *args, **kwargs)

    method._destall_took = method, plain        # functools.wraps() of others copies it
    setattr(cls, name, method)


def give_steering_back():
    """What a job that is only watched does for every batch is to be little."""
    module = sys.modules[WATCHED]
    for cls, name, _ in _PROFILED:
        method = getattr(module, cls).__dict__.get(name)
        took = getattr(method, "_destall_took", None)
        if name in _STEERS and took is not None and took[0] is method:
            setattr(getattr(module, cls), name, took[1])


def _patch(module, is_new):
    """is_new: it has just been executed; torch itself may not be complete yet, and the program
    cannot have seeded it."""
    global first_seed
    if getattr(module, "_destall_was_here", False):
        return
    module._destall_was_here = True
    import torch
    if is_new:
        first_seed = torch._C.default_generator.initial_seed()
    for cls, name, handler in _PROFILED if _is_profiled() else _SHARED:
        _wrap(getattr(module, cls), name, handler)


def _try_patch(module, is_new=False):
    try:
        _patch(module, is_new)
    except Exception as e:
        _say("this PyTorch is not known (%s: %s): loaders are not %s" % (
            type(e).__name__, e, "measured" if _is_profiled() else "shared"))


class _Loader:
    """Of the watched module: its own, and then the patch."""

    def __init__(self, plain):
        self._plain = plain

    def __getattr__(self, name):
        return getattr(self._plain, name)

    def create_module(self, spec):
        create = getattr(self._plain, "create_module", None)
        return create(spec) if create is not None else None

    def exec_module(self, module):
        # From here on it looks as if we had not been there.
        module.__spec__.loader = module.__loader__ = self._plain
        module.__dict__.pop("_destall_was_here", None)      # it is loaded again
        if hasattr(self._plain, "exec_module"):
            self._plain.exec_module(module)
        else:
            self._plain.load_module(module.__name__)        # of before Python 3.4
        _try_patch(sys.modules.get(module.__name__, module), is_new=True)


class _Finder:
    """Asks the others for the watched module.  It stays: whoever asks where a
    module is need not import it, and one that was imported may be reloaded."""

    def __init__(self):
        self._here = _local()

    def find_spec(self, name, path=None, target=None):
        if name != WATCHED or getattr(self._here, "asks", False):
            return None
        import importlib.util
        self._here.asks = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._here.asks = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


def start():
    """At the start of Python, or later: torch may be there already."""
    if os.environ.get("DESTALL") != "1" and not _is_profiled() or \
            any(isinstance(f, _Finder) for f in sys.meta_path):
        return
    if _is_profiled():
        _say_hello()
    sys.meta_path.insert(0, _Finder())
    module = sys.modules.get(WATCHED)
    if module is not None:
        _try_patch(module)


def _say_hello():
    """So that the profiler knows that it can look into this Python."""
    from ._journal import HELLO, ROLE_PYTHON, journal
    from ._interrupt import install
    journal.put(HELLO, 0, ROLE_PYTHON, os.getpid(), os.getppid())
    install()


def hook_now():
    """For explicit calls, whatever the environment says; None: it cannot be had."""
    if os.environ.get("DESTALL") == "0" or _is_profiled():
        return None
    import importlib
    _try_patch(importlib.import_module(WATCHED))
    return _get_hook()
