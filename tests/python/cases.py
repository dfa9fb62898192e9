# SPDX-License-Identifier: Apache-2.0
"""Cases of PyTorch's own behaviour: functions that use loaders and return what a
program can see of them, as JSON has it.  behaviour_job.py runs them plainly and
with destall; test_behaviour.py compares.
"""

import gc
import multiprocessing
import re
import signal
import warnings

from jobside import meet

LIMIT_S = 60            # of one case that hangs: the job must come to the next

CASES = {}              # name -> (function, numbers of workers)


def case(function=None, *, workers=(0, 2)):
    """In the place of a decorator's argument: with which numbers of workers it is run."""
    def add(function):
        CASES[function.__name__] = (function, workers)
        return function
    return add(function) if function is not None else add


def names():
    return ["%s/%d" % (name, w) for name, (_, workers) in CASES.items() for w in workers]


# --- what can be seen ------------------------------------------------------------------

def ids(batch):
    """Which samples it has: the first column, of data.Numbers."""
    return batch[:, 0].tolist()


def all_ids(batches):
    return [ids(b) for b in batches]


def flat(lists):
    return [i for one in lists for i in one]


def about(error):
    """Its kind, how its message begins and how it ends; processes are not told apart."""
    lines = [re.sub(r"\d+", "N", line) for line in str(error).strip().splitlines() or [""]]
    return [type(error).__name__, lines[0], str(error).strip().splitlines()[-1:]
            if len(lines) > 1 else []]


def steps(iterator, limit=100):
    """What each next() gives, errors too, until it ends."""
    out = []
    for _ in range(limit):
        try:
            out.append(ids(next(iterator)))
        except StopIteration:
            return out
        except Exception as e:
            out.append(about(e))
    return out


def children():
    """How many processes it has begun that are still there, but for Python's own servants."""
    return len(multiprocessing.active_children())


# --- running -----------------------------------------------------------------------------

def _hang(*_):
    raise TimeoutError("the case hangs")


def _run(function, workers):
    before = children()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = function({"num_workers": workers})
        except Exception as e:
            result = ["raised", *about(e)]
    gc.collect()
    return {"result": result, "left": max(children() - before, 0),
            "warned": sorted({"%s: %s" % (w.category.__name__, w.message) for w in warned})}


def run_all(only=None):
    signal.signal(signal.SIGALRM, _hang)
    out = {}
    for name, (function, numbers) in CASES.items():
        for workers in numbers:
            full = "%s/%d" % (name, workers)
            if only and full not in only:
                continue
            meet(full.replace("/", " "))
            signal.alarm(LIMIT_S)
            out[full] = _run(function, workers)
            signal.alarm(0)
    return out
