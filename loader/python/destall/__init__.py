# SPDX-License-Identifier: Apache-2.0
"""destall: several training jobs share one cache and every prepared batch.

Unmodified jobs share with DESTALL=1 in their environment.  For those who want
to say it themselves:

    for batch in destall.share(loader):     # this loader shares, whatever the environment says
        ...                                 # (but for DESTALL=0)
    torch.save({"loaders": destall.state_dict(), ...}, path)
    destall.load_state_dict(saved["loaders"])       # before the loaders are iterated
    destall.status()                        # a dict: who shares, and if not, why
"""

from ._version import VERSION as __version__

__all__ = ["share", "status", "state_dict", "load_state_dict", "__version__"]


def _sharing():
    from . import _start
    return _start.hook_now()


def share(loader):
    """The loader itself, which shares from its next iteration on."""
    hook = _sharing()
    if hook is not None:
        hook.share(loader)
    return loader


def status():
    """Whether and why each loader of this process is or is not shared, and what is cached."""
    hook = _sharing()
    return hook.status() if hook is not None else {"job": None, "loaders": [], "cache": {}}


def state_dict():
    """Where each loader is, in the order in which they were first iterated."""
    hook = _sharing()
    from . import _saved
    return hook.state_dict() if hook is not None else _saved.nothing()


def load_state_dict(state):
    """Before they are iterated: the loaders go on where they were, each at its next iteration."""
    hook = _sharing()
    if hook is not None:
        hook.load_state_dict(state)
