# SPDX-License-Identifier: Apache-2.0
"""The cache for what a loader's workers read, with DESTALL=1 alone: for files that
Python opens itself.  (Under `destall run` and `destall env` the preload object is
there from the start, for whoever opens files.  Where it was told of data sets, nothing
is done here; else it is told of the loader's.)

The main process finds the data roots of a loader and has them listed; workers,
or the main process while it makes samples itself, open files below them through
the cache.  Whatever goes wrong, files are read as they always were.
"""

import contextlib
import functools
import json
import os
import subprocess
import threading

from . import _keeper, _lib, _opens, _roots
from ._by_id import ById
from ._say import say
from ._version import VERSION

OBJECT = "libdestall-preload.so"
PATIENCE_S = 0.5        # a job waits for its files to be listed, at its first loader

ALL = "all that the job reads below these folders is cached"
LIMITS = ("only files that Python's own open() reads are cached; for those that libraries in C "
          "read (cv2.imread, torchvision.io) start the job with destall run")

_lock = threading.Lock()
_plans = ById()         # loader -> Plan, or why there is none
_keepers = {}           # canonical root -> Keeper
_has_said = False
_preloaded = _lib.find_loaded(OBJECT)   # before anything here loads it


def _forked():
    global _lock
    _lock = threading.Lock()    # a thread that is not here may have held it


os.register_at_fork(after_in_child=_forked)


class Unavailable(Exception):
    """And why, in half a sentence; quiet: that is nobody's fault."""

    def __init__(self, why, quiet=False):
        super().__init__(why)
        self.quiet = quiet


def _say_once(why):
    global _has_said
    if not _has_said:
        _has_said = True
        say("files are read without the cache: %s", why)


# --- in workers --------------------------------------------------------------------

class Plan:
    """What a worker needs to know: the object, the data sets' roots, and the folders in them
    that are read, in all their spellings."""

    def __init__(self, path, roots, below):
        self.path, self.roots, self.below = path, roots, below

    def _load(self):
        """False: the files are read as ever."""
        try:
            _opens.load(self.path, self.roots, self.below)
        except (OSError, AttributeError) as e:
            _say_once(e)
            return False
        return True

    def start(self):
        """In a worker: open() is answered from the cache, from now on."""
        if self._load() and _preloaded is None:
            _opens.enter()

    @contextlib.contextmanager
    def around(self):
        """In the main process, while it makes samples."""
        is_ours = self._load() and _preloaded is None
        if is_ours:
            _opens.enter()
        try:
            yield
        finally:
            if is_ours:
                _opens.leave()


# --- in the main process -------------------------------------------------------------

@functools.lru_cache(maxsize=None)      # later it has those that it was told of here
def _is_served():
    """By the object alone, which is there from the start, and had its data sets named."""
    try:
        return _preloaded is not None and _opens.has_roots(_preloaded)
    except (OSError, AttributeError):   # its file was replaced meanwhile: it is left alone
        return True


def _first(paths, is_right):
    return next((os.path.realpath(p) for p in paths if is_right(p)), None)


def _find_object():
    if _preloaded is not None:
        return _preloaded
    folder = os.path.dirname(_lib.path())
    path = _first([os.path.join(folder, OBJECT), os.path.join(folder, "destall", OBJECT)],
                  os.path.isfile)
    if path is None:
        raise Unavailable("there is no %s beside the library" % OBJECT)
    return path


def _find_program():
    """As the library finds it (hub/start_program.c)."""
    folder = os.path.dirname(_lib.path())
    places = [".."] if os.path.basename(folder) == ".libs" else \
        ["../bin", "../../bin", "../../../../../bin"]
    path = _first([os.path.join(folder, p, "destall") for p in places],
                  lambda p: os.access(p, os.X_OK))
    if path is None:
        raise Unavailable("there is no program destall beside the library")
    return path


def _find_roots(loader):
    try:
        roots = _roots.named()
    except _roots.Unusable as e:
        raise Unavailable("DESTALL_DATA: %s" % e)
    if roots is not None and not roots:
        raise Unavailable("DESTALL_DATA is empty", quiet=True)
    roots = roots or _roots.found(loader.dataset)
    if not roots:
        raise Unavailable("the dataset names no folder of files; DESTALL_DATA can", quiet=True)
    return roots


def _kept(folder):
    """The root that is kept already and holds this one, or None."""
    return next((root for root in _keepers if _roots.holds(root, folder)), None)


def _keep(folders, patience_s):
    """In use until this job ends; listed soon, or already.  The roots that hold them."""
    new = [folder for folder in folders if _kept(folder) is None]
    if new:
        keeper = _keeper.Keeper(_find_program(), new)
        _keepers.update((root, keeper) for root in new)
        keeper.look(patience_s)
    roots = sorted({_kept(folder) for folder in folders})
    for keeper in {_keepers[root] for root in roots}:
        if keeper.is_gone:
            raise Unavailable(keeper.why_not)
        if keeper.why_not is not None:
            _say_once(keeper.why_not)
    return roots


def _make_plan(loader, patience_s):
    if _is_served():
        raise Unavailable("the job was started with destall run, which caches what it reads",
                          quiet=True)
    _lib.load(VERSION)
    folders = _find_roots(loader)
    path = _find_object()
    roots = _keep(folders, patience_s)
    return Plan(path, roots, sorted({*folders, *folders.values()}))


def plan_for(loader, patience_s=PATIENCE_S):
    """At the first iteration of a loader: a Plan, or None."""
    with _lock:
        plan = _plans.get(loader)
        if plan is None:
            try:
                plan = _make_plan(loader, patience_s)
            except Exception as e:
                plan = getattr(e, "strerror", None) or str(e) or type(e).__name__
                if not getattr(e, "quiet", False):
                    _say_once(plan)
            _plans[loader] = plan
    return plan if isinstance(plan, Plan) else None


# --- what became of it -----------------------------------------------------------------

_FIGURES = ("items", "bytes", "cached_items", "cached_bytes", "hits", "misses", "storage_reads",
            "storage_bytes", "in_use")


def _ask_hub():
    """{root: figures}, of all jobs together."""
    done = subprocess.run([_find_program(), "cache", "stat", "--json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=10)
    if done.returncode != 0:
        why = done.stderr.decode(errors="replace").strip()
        raise Unavailable(why.replace("destall: ", "", 1) or "the hub does not answer")
    return {s["root"]: {k: s[k] for k in _FIGURES} for s in json.loads(done.stdout)["datasets"]}


def _of_root(root, figures):
    keeper = _keepers[root]
    keeper.look()
    if keeper.why_not is not None:
        return {"why_not": keeper.why_not}
    return figures.get(root) or {"why_not": "its files are being listed"}


def told(loader):
    """Of one: the roots of what it reads through the cache, or why it does not; None: nobody has
    looked."""
    found = _plans.get(loader)
    if found is None:
        return None
    return {"roots": found.roots} if isinstance(found, Plan) else {"why_not": found}


def status():
    """Of the job: {"how": a sentence, "roots": {root: figures of the hub, or why not}}."""
    if _is_served():
        return {"how": "the job was started with destall run: all that it reads is cached",
                "roots": {}}
    how = LIMITS if _preloaded is None else ALL
    try:
        figures = _ask_hub() if _keepers else {}
    except Exception as e:
        return {"how": how, "roots": {root: {"why_not": str(e)} for root in _keepers}}
    return {"how": how, "roots": {root: _of_root(root, figures) for root in _keepers}}
