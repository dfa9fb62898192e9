# SPDX-License-Identifier: Apache-2.0
"""A hub of a benchmark's own, data sets for it, and what it says of itself."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time

import bench

SIZE = 110000           # of an item: ImageNet's mean
PAGE = 4096


def pages(size):
    return (size + PAGE - 1) // PAGE * PAGE


@contextlib.contextmanager
def folder(parent=None):
    """A folder, removed at the end with all that is in it."""
    top = tempfile.mkdtemp(prefix="destall-bench-", dir=parent)
    try:
        yield top
    finally:
        shutil.rmtree(top, ignore_errors=True)


def memory():
    """A file system of memory to make data sets on."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def make_set(path, count, size=SIZE):
    call([bench.program("tests/harness/mkset"), path, str(count), str(size)])


def let_go(path):
    """Takes a data set out of the page cache, so that it comes back as files do
    that are read, not as they lie there when they were just written."""
    for folder, _, names in os.walk(path):
        for name in names:
            fd = os.open(os.path.join(folder, name), os.O_RDONLY)
            try:
                os.fdatasync(fd)
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(fd)


def read_all(path):
    """Into the page cache."""
    for folder, _, names in os.walk(path):
        for name in names:
            with open(os.path.join(folder, name), "rb") as f:
                f.read()


def make_empty_files(path, count):
    for i in range(count):
        if i % 1000 == 0:
            os.makedirs("%s/%04d" % (path, i // 1000))
        os.close(os.open("%s/%04d/%03d" % (path, i // 1000, i % 1000),
                         os.O_CREAT | os.O_WRONLY))


def call(argv, **more):
    try:
        r = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           text=True, **more)
    except OSError as e:
        raise bench.Broken("%s: %s: 'make bench-programs' builds it, and top_builddir=DIR says "
                           "where" % (argv[0], e.strerror))
    if r.returncode != 0:
        raise bench.Broken("%s: exit status %d" % (" ".join(argv[:3]), r.returncode))
    return r.stdout


def favour(pid):
    """On a machine that others use: BENCH_NICE=-15, as root, is a wish to be
    run before them.  Where sessions are groups of the scheduler, it is the
    group's that counts."""
    nice = os.environ.get("BENCH_NICE")
    with contextlib.suppress(OSError):
        if nice is not None:
            os.setpriority(os.PRIO_PROCESS, pid, int(nice))
            with open("/proc/%d/autogroup" % pid, "w") as f:
                f.write(nice)


def staged_bytes(pid):
    """Of all slots of a hub, as the kernel has them."""
    total = 0
    folder = "/proc/%d/fd" % pid
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):
            path = os.path.join(folder, name)
            if "slot" in os.readlink(path):
                total += os.stat(path).st_size
    return total


class Hub:
    """In a folder of its own, from `with` to its end."""

    def __init__(self, top, cache):
        self.top = tempfile.mkdtemp(dir=top)
        self.cache = cache
        self.destall = bench.program("destall")

    def __enter__(self):
        os.environ["DESTALL_HUB"] = self.top + "/s"
        call([self.destall, "serve", "--cache", str(self.cache)])
        favour(self.stat()["hub"]["pid"])
        return self

    def __exit__(self, *_):
        subprocess.run([self.destall, "serve", "--stop"], check=False)

    def stat(self):
        return json.loads(call([self.destall, "cache", "stat", "--json"]))

    def figures(self):
        """As soon as its tick has told of the turns until now."""
        time.sleep(0.25)
        return self.stat()

    def warm(self, path, *options):
        return call([self.destall, "cache", "warm", *options, path])

    def drop(self, path):
        return call([self.destall, "cache", "drop", path])

    def job(self, *options):
        """A job of the tests' own, started."""
        return subprocess.Popen([bench.program("tests/harness/job"), *options],
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def end(jobs):
    for p in jobs:
        if p.wait() != 0:
            raise bench.Broken("job: exit status %d" % p.returncode)
