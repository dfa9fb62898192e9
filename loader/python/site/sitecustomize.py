# SPDX-License-Identifier: Apache-2.0
"""Found by Python at its start, through the PYTHONPATH that `destall run`,
`destall env` and `destall profile` set.  Starts destall, then whatever sitecustomize there would have
been without this one: nothing that goes wrong here reaches the program.

Installed, this folder lies in the package's own, so that PYTHONPATH brings no
name but this one; `import destall` finds the package by a finder that is asked
after all others.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


class _Package:
    """Finds the package around this folder, where there is no other."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        top = os.path.dirname(_HERE)
        init = os.path.join(top, "__init__.py")
        if name != "destall" or not os.path.exists(init):
            return None
        from importlib.util import spec_from_file_location
        return spec_from_file_location(name, init, submodule_search_locations=[top])


def _start():
    sys.meta_path.append(_Package)
    if os.environ.get("DESTALL") != "1" and not os.environ.get("DESTALL_PROFILE"):
        return
    try:
        import destall._start
        destall._start.start()
    except Exception as e:
        if sys.stderr is not None:
            sys.stderr.write("destall: not started in Python: %s: %s\n" % (type(e).__name__, e))


def _chain():
    """The one that this one stands before, found as Python would have.  What it
    raises is Python's to tell, as ever."""
    path = sys.path[:]
    sys.path[:] = [p for p in path if os.path.abspath(p) != _HERE]
    own = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize            # noqa: F401
    except ImportError as e:
        if e.name != "sitecustomize":
            raise
        if own is not None:
            sys.modules["sitecustomize"] = own
    finally:
        sys.path[:] = path


_start()
_chain()
