# SPDX-License-Identifier: Apache-2.0
"""Found by Python at its start, through the PYTHONPATH that `destall run` and
`destall env` set.  Starts destall, then whatever sitecustomize there would have
been without this one: nothing that goes wrong here reaches the program."""

import sys


def _start():
    import os
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        import destall._start
        destall._start.start()
    except Exception as e:
        sys.stderr.write("destall: not started in Python: %s: %s\n" % (type(e).__name__, e))
    # The one that this one stands before, found as Python would have.
    path = sys.path[:]
    sys.path[:] = [p for p in path if os.path.abspath(p) != here]
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
