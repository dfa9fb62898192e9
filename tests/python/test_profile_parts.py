# SPDX-License-Identifier: Apache-2.0
"""The parts that profile a job from within: loader/python/destall/_journal.py, _schedule.py,
_trace.py, _pages.py, _replay.py, _training.py, _meter.py, and steps as _profile.py tells them."""

import collections
import fcntl
import functools
import gc
import itertools
import os
import queue
import random
import resource
import signal
import struct
import sys
import threading
import time
import types
import weakref

import numpy
import pytest
import torch

from torch.utils.data.dataloader import _DatasetKind

from destall import _journal, _live, _meter, _pages, _profile, _ready, _replay, _schedule, _start, \
    _set, _steer, _trace, _training

RECORD = struct.Struct("<HHI7Q")
Told = collections.namedtuple("Told", "kind loader words text")
Point = collections.namedtuple("Point", "x y")
EVERY = 5               # batches, after which it is looked at whether a loader trains


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Of a session; whatever waits for what never comes is ended."""
    monkeypatch.setenv("DESTALL_PROFILE", str(tmp_path))
    _journal.journal._pid = None
    signal.alarm(60)
    yield tmp_path
    signal.alarm(0)
    if _journal.journal._fd is not None:
        os.close(_journal.journal._fd)
    _journal.journal.__init__()


def read(path):
    told, data, at = [], path.read_bytes(), 0
    while at < len(data):
        kind, length, loader, *words = RECORD.unpack_from(data, at)
        at += RECORD.size
        told.append(Told(kind, loader, words, data[at:at + length]))
        at += -(-length // 64) * 64
    assert at == len(data)
    return told


def told(folder, kind=None):
    path = folder / ("%d.journal" % os.getpid())
    return [r for r in read(path) if kind in (None, r.kind)] if path.exists() else []


def in_child(do):
    """Its exit status."""
    pid = os.fork()
    if pid == 0:
        status = 99
        try:
            do()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


# --- journals ---------------------------------------------------------------------------

def test_records_are_as_they_are_read(folder):
    _journal.journal.put(_journal.STEP, 3, 1, 2, 2**64 - 1)
    _journal.journal.put(_journal.NOTE, 0, text="x" * 65)
    _journal.journal.put(_journal.STEP, 0, -5, 2**70, 1.9)
    assert told(folder) == [
        (_journal.STEP, 3, [1, 2, 2**64 - 1, 0, 0, 0, 0], b""),
        (_journal.NOTE, 0, [0] * 7, b"x" * 65),
        (_journal.STEP, 0, [0, 2**64 - 1, 1, 0, 0, 0, 0], b"")]


def test_kinds_are_those_of_the_header():
    header = os.path.join(os.environ["top_srcdir"], "probe")
    for name, prefix, module in (("journal.h", "JOURNAL_", _journal),):
        with open(os.path.join(header, name)) as f:
            text = f.read().split("enum journal_kind {")[1].split("};")[0]
        kinds = [w.split(",")[0].strip() for w in text.split(prefix)[1:]]
        kinds = [k.split()[0] for k in kinds if k.isupper() or k.split()[0].isupper()]
        order = [k for i, k in enumerate(kinds) if k not in kinds[:i] and hasattr(module, k)]
        assert order == sorted(order, key=lambda k: getattr(module, k))
        assert getattr(module, "HELLO") == 1 and getattr(module, "LEFT") == 20


def test_texts_are_cut_and_may_be_anything(folder):
    _journal.journal.note("\udc80\u00fc%")
    _journal.journal.note("a %s of %d", "b", 7)
    _journal.journal.note("y" * 10000)
    first, second, third = told(folder)
    assert first.text == "?\u00fc%".encode()
    assert second.text == b"a b of 7"
    assert third.text == b"y" * 4096


def test_each_process_has_a_journal_of_its_own(folder):
    (folder / ("%d.journal" % os.getpid())).write_bytes(b"")    # of a program before exec
    _journal.journal.put(_journal.STEP, 1)
    assert len(read(folder / ("%d-1.journal" % os.getpid()))) == 1
    assert in_child(lambda: _journal.journal.put(_journal.STEP, 2)) == 0
    assert len(list(folder.iterdir())) == 3
    assert len(read(folder / ("%d-1.journal" % os.getpid()))) == 1


def test_without_a_folder_nothing_is_told(monkeypatch):
    monkeypatch.setenv("DESTALL_PROFILE", "/nowhere/at/all")
    _journal.journal.put(_journal.STEP, 1)
    _journal.journal._pid = None
    monkeypatch.delenv("DESTALL_PROFILE")
    _journal.journal.put(_journal.STEP, 1)
    assert _journal.folder() is None


def test_threads_do_not_mix_their_records(folder):
    def put():
        for i in range(200):
            _journal.journal.put(_journal.NOTE, 1, text="t" * i)
    threads = [threading.Thread(target=put) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert collections.Counter(len(r.text) for r in told(folder)) == {i: 4 for i in range(200)}


def test_a_handler_may_tell_while_something_is_told(folder, monkeypatch):
    """As that of Ctrl-C does."""
    write = os.write

    def interrupted(fd, data):
        monkeypatch.setattr(os, "write", write)
        signal.raise_signal(signal.SIGUSR1)
        return write(fd, data)
    before = signal.signal(signal.SIGUSR1, lambda *_: _journal.journal.put(_journal.LEFT, 0))
    monkeypatch.setattr(os, "write", interrupted)
    _journal.journal.put(_journal.STEP, 0)
    signal.signal(signal.SIGUSR1, before)
    assert sorted(r.kind for r in told(folder)) == [_journal.STEP, _journal.LEFT]


def test_a_program_that_closes_what_it_finds_open(folder, tmp_path):
    """Nothing of ours comes into a file that it opens there."""
    _journal.journal.put(_journal.STEP, 1)
    os.close(_journal.journal._fd)
    own = os.open(tmp_path / "own", os.O_WRONLY | os.O_CREAT)
    assert own == _journal.journal._fd
    _journal.journal.put(_journal.STEP, 2)
    assert [t.loader for t in told(folder)] == [1, 2]
    assert os.fstat(own).st_size == 0
    (folder / ("%d.journal" % os.getpid())).unlink()
    os.dup2(own, _journal.journal._fd)
    _journal.journal.put(_journal.STEP, 3)
    assert _journal.journal.why_broken is not None
    assert os.fstat(own).st_size == 0
    os.close(own)


def test_nothing_comes_behind_a_part_of_a_record(folder):
    """A disk that is full, and then is not."""
    def fill():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        for _ in range(3):
            _journal.journal.put(_journal.STEP, 1)
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        _journal.journal.put(_journal.STEP, 1)
    assert in_child(fill) == 0
    (path,) = folder.iterdir()
    assert path.stat().st_size == 100


# --- the schedule -----------------------------------------------------------------------

def write_schedule(folder, blocks=(), magic=b"DSPROBE1", layout=1, flags=0, leave=0, size=None):
    data = struct.pack("<8sIIII40x", magic, layout, flags, leave, 1)
    for i, (kind, batches, workers) in enumerate(blocks):
        data += struct.pack("<IIII", i + 1, kind, batches, workers)
    data += bytes(64 + 4096 * 16 - len(data))
    (folder / "schedule").write_bytes(data[:size])


def hold(folder):
    """As the command does."""
    fd = os.open(folder / "schedule", os.O_RDWR | os.O_CLOEXEC)
    fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
    return fd


@pytest.mark.parametrize("wrong", [dict(magic=b"DSPROBE2"), dict(layout=2), dict(size=0),
                                   dict(size=63), dict(size=64 + 4095 * 16)])
def test_a_schedule_of_others_is_refused(folder, wrong):
    write_schedule(folder, **wrong)
    with pytest.raises((ValueError, OSError)):
        _schedule.Schedule()


def test_no_schedule_is_refused():
    with pytest.raises(OSError):
        _schedule.Schedule()


def test_blocks_and_flags(folder):
    write_schedule(folder, [(_schedule.SET, 7, 0), (99, 2**32 - 1, 3)], flags=2)
    schedule = _schedule.Schedule()
    assert (schedule.is_live, schedule.passes_epochs, schedule.continues) == (False, True, False)
    first, second = schedule.block(0), schedule.block(1)
    assert (first.number, first.kind, first.batches, first.workers) == (0, _schedule.SET, 7, 0)
    assert (second.kind, second.batches, second.workers) == (99, 2**32 - 1, 3)
    assert schedule.block(4096).kind == _schedule.END
    assert schedule.block(2**40).kind == _schedule.END


def test_who_is_asked_to_leave_waits_for_no_block(folder):
    write_schedule(folder, leave=1)
    schedule = _schedule.Schedule()
    assert schedule.block(0) is None
    schedule.await_leave(0)
    write_schedule(folder, leave=2)
    _schedule.Schedule().await_leave(1000)


def test_a_command_that_is_gone_is_seen(folder, monkeypatch):
    monkeypatch.setattr(_schedule, "_LOOK_S", -1)
    write_schedule(folder)
    held, schedule = hold(folder), _schedule.Schedule()
    schedule.look()
    assert in_child(schedule.look) == 0
    os.close(held)
    with pytest.raises(_schedule.Gone):
        schedule.look()
    with pytest.raises(_schedule.Gone):
        schedule.block(0)
    os.unlink(folder / "schedule")
    with pytest.raises(_schedule.Gone):
        schedule.block(0)


def test_a_job_without_descriptors_is_not_alone(folder):
    write_schedule(folder)
    held, schedule = hold(folder), _schedule.Schedule()

    def look():
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
        schedule.look()
    assert in_child(look) == 0
    os.close(held)


# --- files that are opened ----------------------------------------------------------------

def test_opens_that_python_tells_of(tmp_path, monkeypatch):
    for name in ("a", "b", "code.py"):
        (tmp_path / name).write_bytes(b"x" * 5000)
    monkeypatch.chdir(tmp_path)
    tracer = _trace._Audited()
    (tmp_path / "b").read_bytes()               # before
    tracer.begin()
    with open("a", "rb"), open(b"code.py", "rb"), open("new", "w"), open("b", "r+b"):
        pass
    for path in ("missing", "/etc/hostname"):
        try:
            open(path).close()
        except OSError:
            pass
    sys.audit("open", "nul\0within", "r", 0)    # as libraries may
    with open(os.open("a", os.O_RDONLY), "rb"):
        pass
    found, is_cut = tracer.end()
    assert [f.path for f in found] == [str(tmp_path / "a")] * 2 and not is_cut
    assert [(f.size, f.pages, f.resident) for f in found] == [(5000, 2, _trace.NOT_TOLD)] * 2
    open("a").close()                           # after
    assert tracer.end() == ([], False)


def test_entries_of_the_preload_object():
    room = b""
    for path, size in ((b"/a", 10), (b"/bcdefgh", 5000), (b"/\xff", 0)):
        room += struct.pack("<QIII", size, -(-size // 4096), 1, len(path) + 1) + path + b"\0"
        room += bytes(-len(room) % 8)
    found = list(_trace._entries(room, len(room)))
    assert [(f.path, f.size) for f in found] == [("/a", 10), ("/bcdefgh", 5000), ("/\udcff", 0)]
    assert list(_trace._entries(room, 0)) == []
    assert list(_trace._entries(room, 19)) == []


# --- files in memory ----------------------------------------------------------------------

@pytest.fixture
def files(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "empty").write_bytes(b"")
    (data / "one").write_bytes(b"1")
    (data / "many").write_bytes(os.urandom(3 * mmap_page() + 1))
    return [str(data / name) for name in ("empty", "one", "many")]


def mmap_page():
    return resource.getpagesize()


@pytest.fixture
def no_files(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    return [str(tmp_path / "fifo"), str(tmp_path / "folder"), "/dev/zero", "/nowhere", "a\0b"]


def test_files_are_read_and_counted(files, no_files):
    assert _pages.read(files + no_files) == 3 * mmap_page() + 2
    counted = _pages.count(files + no_files)
    assert (counted.pages, counted.resident, counted.untold) == (5, 5, 0)
    assert _pages.read([]) == 0 and _pages.count([]).pages == 0


def test_files_are_brought_in_by_several(files, no_files, monkeypatch):
    read = []
    monkeypatch.setattr(_pages, "read", read.extend)
    _pages.bring_in(list(files) + no_files)
    assert sorted(map(str, read)) == sorted(map(str, [*files, *no_files]))
    _pages.bring_in([])
    read.clear()

    def no_thread(_self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_thread)
    _pages.bring_in(list(files))
    assert read == list(files)


def test_files_leave_memory(files, no_files):
    _pages.evict(files + no_files)
    if _pages.count(files).resident > 0:
        pytest.skip("this file system keeps files in memory")
    _pages.read(files)
    assert _pages.count(files).resident == 5


def make_folders(top):
    for name in ("a/1.jpg", "a/2.jpg", "a/3.jpg", "a/notes.txt", "b/4.jpg", "b/5.png", "c/6.jpg"):
        path = top / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * (mmap_page() + 1))
    (top / "a" / "folder.jpg").mkdir()
    (top / "a" / "loop.jpg").symlink_to("loop.jpg")
    return [str(top / name) for name in ("a/1.jpg", "b/4.jpg", "b/5.png")]


def test_other_files_of_the_folders_and_kinds_are_counted(tmp_path, monkeypatch):
    state, known = random.getstate(), make_folders(tmp_path)
    beside = _pages.count_beside(known)
    assert (beside.looked, beside.counted.pages, beside.counted.resident) == (2, 4, 4)
    assert beside.listed == 4           # what is no file was listed, too
    assert beside.without(0) == (2, 4, 4)
    assert beside.without(2) == (1, 2, 2)
    assert beside.without(9) == (0, 0, 0)
    beside = _pages.count_beside([*known, str(tmp_path / "a" / "notes.txt"), "/nowhere/7"])
    assert beside.looked == 2
    assert _pages.count_beside([]).looked == 0
    monkeypatch.setattr(_pages, "_BESIDE_BYTES", 100)
    assert _pages.count_beside(known).looked == 0
    assert random.getstate() == state


@pytest.mark.parametrize("name, value", [("_BESIDE", 1), ("_LISTED", 1), ("_BESIDE_S", -1)])
def test_looking_at_other_files_has_an_end(tmp_path, monkeypatch, name, value):
    known = make_folders(tmp_path)
    listed = []
    monkeypatch.setattr(_pages, "_each", lambda paths: (listed.append(p) or (0, 0) for p in paths))
    monkeypatch.setattr(_pages, name, value)
    _pages.count_beside(known)
    assert len(listed) <= 1


def test_what_was_read_just_now_is_not_what_was_found():
    """Half of 1,000 were there, then 100 were read: 550 are, and of the others half."""
    beside = _pages.Beside(1000)
    beside.looked, beside.counted.pages, beside.counted.resident = 200, 400, 220
    assert beside.without(100) == (180, 360, 180)


def opened(paths, size=5000, pages=2, resident=1, is_cut=False):
    """A batch, as far as the set wants to know of it."""
    return _meter.Made(None, [_trace.Opened(str(p), size, pages, resident) for p in paths], is_cut)


def test_the_set_and_its_files():
    chosen = _set.Set([[1, 2], [3], [4]])
    chosen.note(0, opened(["/a/b/2", "/a/b/1"]))
    chosen.note(1, opened(["/a/b/1", "/a/c/3"], is_cut=True))
    chosen.note(2, opened([]))
    assert len(chosen) == 3 and chosen.samples == 4 and chosen.unknown == 1 and chosen.is_cut
    assert chosen.files == [["/a/b/1", "/a/b/2"], ["/a/b/1", "/a/c/3"], []]
    assert [chosen.files_of(n) for n in (1, 3)] == [
        ["/a/b/1", "/a/b/2"], ["/a/b/1", "/a/b/2", "/a/c/3"]]
    assert chosen.bytes == 20000 and chosen.folder() == "/a" and _set.Set().folder() == ""
    assert chosen.was_there_in_part and not chosen.was_there
    chosen.note(0, opened(["/a/b/1"], resident=_trace.NOT_TOLD))
    assert chosen.found.untold == 2 and not chosen.was_there


def test_what_was_looked_at_just_now_is_not_looked_at_again(tmp_path, monkeypatch):
    data = tmp_path / "data"
    data.mkdir()
    chosen, looked, plain = _set.Set([[1], [2]]), [], _pages.count
    for i, path in enumerate(make_folders(data)[:2]):
        chosen.note(i, opened([path]))
    monkeypatch.setattr(_set._pages, "count", lambda paths: looked.extend(paths) or plain(paths))
    monkeypatch.setattr(_set, "_JUST_NOW_S", 1000)
    first, both = chosen.files_of(1), chosen.files_of(2)
    assert chosen.count(1).pages == plain(first).pages and looked == first
    assert chosen.count(2).pages == plain(both).pages and looked == both
    assert chosen.count(1).pages == plain(first).pages and looked == both
    looked.clear()
    chosen.evict(2)
    assert chosen.count(2).resident == plain(both).resident and not looked
    chosen.bring_in(2)
    assert chosen.count(2).resident == plain(both).resident and looked == both
    monkeypatch.setattr(_set, "_JUST_NOW_S", -1)
    looked.clear()
    chosen.count(2)
    assert looked == both


@pytest.mark.parametrize("resident, before, want", [
    (5, 0, [(2, 4, 4, 0)]),
    (0, 0, []), (10, 0, []),            # all are alike: there is nothing to know
    (5, 1, []),                         # most of them were read by the job just now
])
def test_other_files_are_told_where_some_are_in_memory(folder, tmp_path, resident, before, want):
    data = tmp_path / "data"
    data.mkdir()
    chosen = _set.Set([[1, 2, 3]])
    chosen.note(0, opened(make_folders(data)))
    chosen.found.pages, chosen.found.resident = 10, resident
    _steer.Steer._tell_beside(types.SimpleNamespace(set=chosen, before=before, number=1))
    assert [tuple(r.words[:4]) for r in told(folder, _journal.BESIDE)] == want


def test_files_that_fail_are_left_out(files, monkeypatch):
    plain = os.fstat

    def fails(fd):
        st = plain(fd)
        if st.st_size == 1:
            raise OSError(116, "Stale file handle")
        return st

    monkeypatch.setattr(_pages.os, "fstat", fails)
    assert _pages.count(files).pages == 4
    def refused(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(_pages.os, "posix_fadvise", refused)
    _pages.evict(files)


# --- handing over ---------------------------------------------------------------------------

class Iterator:
    """PyTorch's with two workers, whose batches are made when they are asked for."""

    _prefetch_factor = 2

    def __init__(self, steer):
        self.steer = steer
        self._task_info, self._send_idx, self._rcvd_idx = {}, 0, 0
        self.came = []                  # numbers of batches, in that order
        self._data_queue = types.SimpleNamespace(qsize=lambda: len(self.came))

    def _try_put_index(self):
        if self.steer.may_send():
            next(self.steer)
            self._task_info[self._send_idx] = (self._send_idx % 2,)
            self.came.append(self._send_idx)
            self._send_idx += 1

    def take(self):
        while len(self._task_info[self._rcvd_idx]) == 1:
            self._task_info[self.came.pop(0)] += ("batch",)
        del self._task_info[self._rcvd_idx]
        self._rcvd_idx += 1
        self._try_put_index()


@pytest.fixture(name="handed")
def fixture_handed(monkeypatch):
    """What handing over tells of how many batches a call received, after a change to what came."""
    steer, told = _steer.Steer.__new__(_steer.Steer), []
    steer.tickets, steer.workers, steer.number = collections.deque(), 2, 1
    steer.block, steer.busy = types.SimpleNamespace(number=7), itertools.repeat(0)
    steer.set = _set.Set([[1, 2]])
    monkeypatch.setattr(_steer, "journal", types.SimpleNamespace(
        put=lambda *what: told.append(what[-1]), note=lambda *_: told.append("note")))
    monkeypatch.setattr(_steer, "_STEP_S", 0)

    def run(change):
        iterator = Iterator(steer)
        steer._refill(iterator)
        change(iterator)
        steer._time_handing_over(Iterator.take, iterator)
        assert not iterator._task_info and not steer.tickets
        return told

    return run


def test_handing_over_is_timed(handed):
    assert handed(lambda it: None) == [1] * 6


def test_who_receives_for_another_has_paid(handed):
    def change(it):
        it.steer._refill(it)
        it.came[2:4] = it.came[3:1:-1]

    assert handed(change) == [1, 2, 0, 1, 1, 1]


def test_what_was_received_before_is_not_timed(handed):
    def change(it):
        it._task_info[0] += ("batch",)
        it.came.remove(0)

    assert handed(change) == [1] * 6


def test_what_is_not_made_is_not_timed(handed, monkeypatch):
    monkeypatch.setattr(_steer, "_MADE_S", 0.01)

    def change(it):
        it._data_queue.qsize = lambda: 0

    assert handed(change) == ["note"]


def test_batches_that_are_slow_are_waited_for(handed, monkeypatch):
    """Each of them for less than what is too long, all together for longer."""
    now = [0.0]
    monkeypatch.setattr(_steer, "_LOOK_S", 1)
    monkeypatch.setattr(_steer, "time", types.SimpleNamespace(
        monotonic=lambda: now[0], monotonic_ns=lambda: int(now[0] * 1e9),
        sleep=lambda s: now.__setitem__(0, now[0] + s)))

    def change(it):
        it._data_queue.qsize = lambda: min(len(it.came), int(now[0] / 20))

    assert handed(change) == [1]


# --- only watched ---------------------------------------------------------------------------

def watched(came, known, workers=2):
    return types.SimpleNamespace(_num_workers=workers, _task_info={3: known}, _rcvd_idx=3,
                                 _data_queue=came)


@pytest.mark.parametrize("make", [torch.multiprocessing.Queue, queue.Queue])
def test_whether_a_batch_is_there(make):
    came = make()                       # the second is that of batches that are pinned
    iterator = watched(came, (0,))
    ready = _ready.Ready(iterator)
    assert not ready.is_there(iterator)
    came.put("batch")
    until = time.monotonic() + 10
    while not ready.is_there(iterator):
        assert time.monotonic() < until
    # Of one that delivers whatever is made first, its own turn says nothing (PyTorch 2.6).
    iterator._task_info = {}
    assert not ready.is_there(iterator)
    iterator._in_order = False
    assert ready.is_there(iterator)
    assert came.get() == "batch" and not ready.is_there(iterator)
    assert ready.is_there(watched(came, (0, "batch")))          # it came before its turn
    assert not _ready.Ready(watched(None, (0,), workers=0)).is_there(watched(None, (0,), workers=0))


def test_steering_is_given_back(monkeypatch):
    names = sorted({name for _, name, _ in _start._PROFILED})
    classes = {cls: type(cls, (), {name: lambda self: None for name in names})
               for cls, _, _ in _start._PROFILED}
    plain = {(cls, name): getattr(classes[cls], name) for cls, name, _ in _start._PROFILED}
    monkeypatch.setitem(sys.modules, _start.WATCHED, types.SimpleNamespace(**classes))
    for cls, name, handler in _start._PROFILED:
        _start._wrap(classes[cls], name, handler)
    _start.give_steering_back()
    given = {name for (cls, name), method in plain.items() if getattr(classes[cls], name) is method}
    assert given == {"_try_put_index", "_next_data"}


def test_what_others_have_wrapped_is_theirs(monkeypatch):
    cls = type("_MultiProcessingDataLoaderIter", (), {"_next_data": lambda self: "batch"})
    names = {c: cls for c, _, _ in _start._PROFILED}
    monkeypatch.setitem(sys.modules, _start.WATCHED, types.SimpleNamespace(**names))
    _start._wrap(cls, "_next_data", "next_data")
    ours = cls._next_data

    @functools.wraps(ours)
    def theirs(self):
        return ours(self)

    cls._next_data = theirs
    _start.give_steering_back()
    assert cls._next_data is theirs


# --- replayed batches -----------------------------------------------------------------------

def make_batch():
    shared = torch.zeros(8)
    return {"x": torch.arange(12.0).reshape(3, 4), "y": [torch.ones(3, dtype=torch.int64), "text"],
            "p": Point(numpy.arange(5), None), "n": 7, "halves": (shared[:4], shared[4:]),
            "empty": torch.empty(0, 3)}


def is_as_made(batch):
    made = make_batch()
    return batch.keys() == made.keys() and torch.equal(batch["x"], made["x"]) and \
        torch.equal(batch["y"][0], made["y"][0]) and batch["y"][1] == "text" and \
        type(batch["p"]) is Point and (batch["p"].x == made["p"].x).all() and \
        batch["p"].y is None and batch["n"] == 7 and not batch["halves"][1].any() and \
        batch["empty"].shape == (0, 3)


@pytest.mark.parametrize("is_touched", [False, True])
def test_what_a_job_does_to_a_batch_does_not_come_back(is_touched):
    ring = _replay.Ring()
    ring.add(make_batch(), 3)
    for _ in range(4):
        batch, samples = ring.next(is_touched)
        assert samples == 3 and is_as_made(batch)
        batch["x"].div_(0)                      # normalised in place
        batch["halves"][0].fill_(9)
        batch["p"].x[:] = 1
        batch["y"].append("more")
        batch.pop("n")
        batch["new"] = 1
    assert ring.why_same is None


def test_batches_come_round():
    ring = _replay.Ring()
    for i in range(3):
        ring.add(torch.full((2,), float(i)), i)
    assert [ring.next(False)[1] for _ in range(7)] == [0, 1, 2, 0, 1, 2, 0]
    assert [int(ring.next(True)[0][0]) for _ in range(3)] == [1, 2, 0]
    assert len(ring) == 3


def test_a_batch_is_let_go_of_in_our_time():
    """Of a loop that takes the next before it lets go of the last."""
    ring = _replay.Ring()
    ring.add(torch.zeros(2), 1)
    gone = []
    batch = None
    for i in range(4):
        fresh = ring.next(False)[0]
        weakref.finalize(fresh, gone.append, i)
        batch = fresh
        del fresh
        assert gone == list(range(i - 1))       # and not the one of before
    del batch
    assert gone == [0, 1]


def test_what_a_job_adds_to_a_batch_is_not_held():
    """A device may be full of it."""
    ring = _replay.Ring()
    ring.add({"x": torch.zeros(2), "more": [(torch.ones(3), 1)]}, 1)
    batch = ring.next(False)[0]
    batch["x"] = added = torch.zeros(5)
    batch["more"].append(added)
    gone = weakref.ref(added)
    del batch, added
    assert gone() is None
    assert [len(tensors) for tensors in ring._given] == [2]


def test_a_ring_gives_back_what_it_has():
    fds = len(os.listdir("/proc/self/fd"))
    ring = _replay.Ring()
    ring.add(make_batch(), 3)
    ring.add([lambda: 1], 1)
    ring.add(make_batch(), 3)
    batch = ring.next(False)[0]
    os.close(ring._kept[2].fd)          # by the program
    own = os.open("/dev/null", os.O_RDONLY)
    ring.close()
    assert is_as_made(batch)
    assert len(ring) == 0 and len(os.listdir("/proc/self/fd")) == fds + 1
    os.close(own)


def test_enough_is_enough():
    ring = _replay.Ring()
    ring._want = 10000
    for i in range(5):
        ring.add(torch.zeros(2000), 1)
    assert len(ring) == 2 and ring.is_full      # 8,000 bytes each
    ring = _replay.Ring()
    ring._want = 2**60
    for i in range(100):
        ring.add(i, 1)
    assert len(ring) == 64


class NotOut(Exception):
    """It is pickled, and not unpickled."""

    def __init__(self, one, two):
        super().__init__("one")


@pytest.mark.parametrize("batch", [[lambda: 1], {"x": NotOut(1, 2), "n": [1]},
                                   [threading.Lock()], (i for i in "ab")])
def test_what_cannot_be_taken_apart_is_delivered_all_the_same(batch):
    ring = _replay.Ring()
    ring.add(batch, 1)
    for _ in range(3):
        assert type(ring.next(False)[0]) is type(batch)
        assert type(ring.next(True)[0]) is type(batch)
    assert ring.why_same


def test_batches_that_are_kept_take_no_descriptors():
    ring = _replay.Ring()
    ring.add(make_batch(), 3)
    before = len(os.listdir("/proc/self/fd"))
    kept = [ring.next(False)[0]["x"] for _ in range(2000)]
    assert len(os.listdir("/proc/self/fd")) == before
    assert all(torch.equal(k, kept[0]) for k in kept)
    maps = len(open("/proc/self/maps").readlines())
    del kept
    gc.collect()
    ring.next(False)            # what is not used any more is given back then, not in the job's time
    assert len(open("/proc/self/maps").readlines()) < maps


def test_batches_come_from_files_that_a_program_has_closed(tmp_path):
    ring = _replay.Ring()
    for i in range(3):
        ring.add({"x": torch.full((1000,), float(i))}, 4)
    for kept in ring._kept:
        os.close(kept.fd)
    own = os.open(tmp_path / "own", os.O_RDWR | os.O_CREAT)     # in the place of one of them
    os.ftruncate(own, 1 << 16)
    for n in range(6):
        batch, samples = ring.next(False)
        assert samples == 4 and (batch["x"] == n % 3).all()
        batch["x"].fill_(9)
    os.close(own)


def test_pinned_as_the_loader_does_it():
    ring = _replay.Ring(lambda batch: ("pinned", batch))
    ring.add(5, 1)
    assert ring.next(False) == (("pinned", 5), 1)


# --- which loader trains ---------------------------------------------------------------------

@pytest.fixture
def model():
    gc.collect()                                # optimizers of tests before
    return torch.nn.Linear(4, 1)


def found_at(body, batches=40):
    """After which batch it is known; 0: never."""
    watch = _training.Watch()
    for i in range(1, batches + 1):
        if watch.is_training():
            return i
        body(i)
    return 0


def train(model, optimizer, i=0, every=1, zero_first=True):
    if zero_first and i % every == 0:
        optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    if i % every == 0:
        optimizer.step()
        if not zero_first:
            optimizer.zero_grad()


def ready_at(steps_ms, batches=0, monkeypatch=None, ranks=1):
    """After which batch blocks may begin, of a loop whose steps take so long; the last is the rest.
    0: never."""
    if monkeypatch is not None:
        monkeypatch.setattr(_training._job, "ranks", lambda: ranks)
    watch = _training.Watch(batches)
    for i in range(60):
        if i > 0:
            watch.note_step(steps_ms[min(i, len(steps_ms)) - 1] * 1000000)
        if watch.is_ready():
            return i + 1
    return 0


def test_measuring_begins_when_steps_have_settled(model, monkeypatch):
    assert ready_at([10]) == EVERY
    assert ready_at([3000, 20]) == EVERY                # the first has compiled something
    assert ready_at([10, 10, 10, 3000, 10]) == EVERY + 3        # a later one
    assert ready_at([10, 300] * 40) == EVERY + 20       # they never settle
    assert ready_at([10, 300] * 40, batches=80) == EVERY + 10   # nor wait for much of an epoch
    assert ready_at([1, 4] * 40) == EVERY               # so short ones need not be alike
    # All ranks begin with the same batch.
    for steps in ([10], [10, 300] * 40):
        assert ready_at(steps, 0, monkeypatch, ranks=2) == EVERY + 5
    monkeypatch.setattr(_training, "_SETTLE_S", -1)
    assert ready_at([10, 300] * 40, 0, monkeypatch) == EVERY


def test_a_loop_without_an_optimizer_trains(model):
    assert found_at(lambda i: None) == EVERY


def test_validation_does_not_train(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train(model, optimizer)
    with torch.no_grad():
        assert found_at(lambda i: model(torch.ones(2, 4))) == 0
    with torch.inference_mode():
        assert found_at(lambda i: model(torch.ones(2, 4))) == 0


def test_means_with_an_optimizer_around_do_not_train(model):
    optimizer = torch.optim.Adam(model.parameters())
    train(model, optimizer)
    assert found_at(lambda i: torch.ones(3).mean()) == 0
    assert found_at(lambda i: train(model, optimizer)) == 2 * EVERY


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW])
@pytest.mark.parametrize("zero_first", [True, False])
def test_steps_train(model, kind, zero_first):
    optimizer = kind(model.parameters(), lr=0.1)
    assert found_at(lambda i: train(model, optimizer, zero_first=zero_first)) == \
        2 * EVERY


@pytest.mark.parametrize("every, at", [(4, 10), (16, 20), (7, 10)])
def test_accumulated_gradients_train(model, every, at):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    assert found_at(lambda i: train(model, optimizer, i, every)) == at


def test_what_else_lies_about_does_not_matter(model):
    """A proxy whose object is gone raises when it is asked what it is."""
    class Thing:
        pass

    class HalfMade(torch.optim.SGD):
        def __init__(self):
            pass

    thing, half = Thing(), HalfMade()
    proxy = weakref.proxy(thing)
    del thing
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    assert found_at(lambda i: train(model, optimizer)) == 2 * EVERY
    assert proxy is not None and half is not None


# --- batches that are made ---------------------------------------------------------------------

class Stream(torch.utils.data.IterableDataset):
    def __init__(self, size):
        self.size = size

    def __iter__(self):
        return iter(range(self.size))


class Map(torch.utils.data.Dataset):
    def __getitem__(self, i):
        if i == "wrong":
            raise KeyError(i)
        return i


def meter_of(dataset, batched=True, is_live=False, worker=0, drop_last=False):
    kind = _DatasetKind.Iterable if isinstance(dataset, Stream) else _DatasetKind.Map
    made = []

    def create():
        made.append(_DatasetKind.create_fetcher(kind, dataset, batched,
                                                list if batched else lambda x: x, drop_last))
        return made[-1]
    meter = _meter.Meter(create, 1, worker, kind == _DatasetKind.Iterable, is_live)
    meter.created = made
    return meter


def ticket(block, indices, **how):
    t = _meter.Ticket(how.pop("kind", _meter.MAKE), block, indices)
    vars(t).update(how)
    return t


def test_samples_are_counted():
    assert [_meter.count(i) for i in ([1, 2, 3], [], [None, None], None, 7, "name.jpg", b"ab")] == \
        [3, 0, 2, 1, 1, 1, 1]


def test_what_was_made_is_told(folder):
    meter = meter_of(Map())
    assert meter.fetch([3, 4]) == [3, 4]
    assert meter.fetch(ticket(5, [1, 2, 3])) == [1, 2, 3]
    first, second = told(folder, _journal.MADE)
    assert (first.loader, first.words[0], first.words[1], first.words[4]) == \
        (1, _journal.NO_BLOCK, 1, 2)
    assert (second.words[0], second.words[4]) == (5, 3)
    assert all(r.words[2] <= r.words[3] for r in (first, second))
    assert [r.words[0] for r in told(folder, _journal.STORAGE)] == [_journal.NO_BLOCK, 5]


def test_iterators_take_no_descriptors(folder):
    meter_of(Map()).fetch([1])
    before = len(os.listdir("/proc/self/fd"))
    meters = [meter_of(Map(), worker=-1) for _ in range(20)]
    assert [m.fetch([1]) for m in meters] == [[1]] * 20
    assert len(os.listdir("/proc/self/fd")) == before


def test_without_batches_an_item_is_a_sample(folder):
    meter = meter_of(Map(), batched=False)
    assert meter.fetch("a name") == "a name"
    stream = meter_of(Stream(2), batched=False)
    assert [stream.fetch(None), stream.fetch(ticket(1, None, is_fresh=True))] == [0, 1]
    with pytest.raises(StopIteration):
        stream.fetch(None)
    assert [r.words[4] for r in told(folder, _journal.MADE)] == [1, 1, 1]


def test_the_set_of_a_stream_begins_anew(folder):
    meter = meter_of(Stream(5))
    assert meter.fetch([None] * 2) == [0, 1]                        # the loader's own
    assert meter.fetch(ticket(1, [None] * 2, is_again=True)) == [0, 1]
    assert meter.fetch(ticket(1, [None] * 2)) == [2, 3]
    assert meter.fetch(ticket(1, [None] * 2)) == [4]                # it ends early
    assert meter.fetch(ticket(1, [None] * 2)) == [0, 1]
    assert meter.fetch(ticket(2, [None] * 2, is_again=True)) == [0, 1]
    assert meter.fetch(ticket(3, [None] * 2, is_fresh=True)) == [2, 3]
    assert meter.fetch([None] * 2) == [4]
    with pytest.raises(StopIteration):
        meter.fetch([None] * 2)


def test_a_stream_of_nothing_ends():
    meter = meter_of(Stream(0))
    with pytest.raises(StopIteration):
        meter.fetch(ticket(1, [None] * 2))
    short = meter_of(Stream(1), drop_last=True)
    with pytest.raises(StopIteration):
        short.fetch(ticket(1, [None] * 2))


def test_files_of_a_batch(folder, files, monkeypatch):
    class Files(Map):
        def __getitem__(self, i):
            with open(files[i], "rb") as f:
                return len(f.read())
    monkeypatch.setattr(_trace, "_tracer", _trace._Audited())
    meter = meter_of(Files())
    made = meter.fetch(ticket(1, [1, 2], is_traced=True, wants_files=True))
    assert made.batch == [1, 3 * mmap_page() + 1] and not made.is_cut
    assert [f.path for f in made.files] == files[1:]
    assert meter.fetch(ticket(1, [1], is_traced=True)) == [1]
    assert meter.fetch(ticket(2, [1, 2], kind=_meter.READ, files=files)).bytes == \
        3 * mmap_page() + 2
    first, second = told(folder, _journal.PAGES)
    assert first.words[:5] == [1, 0, 1 + -(-(3 * mmap_page() + 1) // 4096), 0, first.words[2]]
    assert len(told(folder, _journal.MADE)) == 2    # reading is told by who asked for it


def test_an_error_of_the_dataset_is_its_own(monkeypatch):
    monkeypatch.setattr(_trace, "_tracer", _trace._Audited())
    meter = meter_of(Map())
    with pytest.raises(KeyError):
        meter.fetch(ticket(1, ["wrong"], is_traced=True, wants_files=True))
    assert _trace.tracer()._seen is None        # nothing is noted any more
    assert meter.fetch([1]) == [1]


def test_what_was_brought_into_memory_leaves_it(files, monkeypatch):
    evicted = []
    monkeypatch.setattr(_pages, "evict", evicted.append)
    meter = meter_of(Map())
    opened = [_trace.Opened("/cold", 9, 3, 1), _trace.Opened("/warm", 9, 3, 3),
              _trace.Opened("/unknown", 9, 3, _trace.NOT_TOLD)]
    meter._note(ticket(0, [], is_fresh=False), opened)
    meter.fetch(ticket(1, [1]))
    assert evicted == []
    meter._note(ticket(1, [], is_fresh=True), opened)
    meter.fetch(ticket(1, [1]))
    assert evicted == []
    meter.fetch(ticket(2, [1]))
    meter.fetch(ticket(3, [1]))
    assert evicted == [["/cold"]]


def test_a_worker_starts_with_its_meter(folder, monkeypatch):
    monkeypatch.setattr(_DatasetKind, "create_fetcher",
                        staticmethod(_DatasetKind.create_fetcher))
    called = []
    _meter.Start(called.append, 4, False, False)(2)
    fetcher = _DatasetKind.create_fetcher(_DatasetKind.Map, Map(), True, list, False)
    assert called == [2] and type(fetcher) is _meter.Meter
    assert fetcher.fetch([5]) == [5]
    (hello,), (made,) = told(folder, _journal.HELLO), told(folder, _journal.MADE)
    assert hello.words[:4] == [_journal.ROLE_WORKER, os.getpid(), os.getppid(), 2]
    assert (made.loader, made.words[1]) == (4, 3)


def test_a_job_that_is_watched_tells_sums(folder, monkeypatch):
    now = [0]
    for where, name in (time, "monotonic_ns"), (_live, "_now"):
        monkeypatch.setattr(where, name, lambda: now[0])
    meter = meter_of(Map(), is_live=True)
    for _ in range(25):
        meter.fetch([1, 2])
        now[0] += 10**8
    assert not told(folder, _journal.MADE) and not told(folder, _journal.STORAGE)
    sums = told(folder, _journal.LIVE_MADE)
    assert sums and sum(r.words[3] for r in sums) <= 50
    assert all(r.words[3] == 2 * r.words[2] and r.words[0] == 1 for r in sums)


# --- steps --------------------------------------------------------------------------------

def test_what_pytorch_does_around_a_batch_is_no_part_of_a_step(folder, monkeypatch):
    """Asked for at 400, which came to us at 1000; given by us at 2000, by PyTorch at 2300."""
    clock = iter([2000, 2300])
    monkeypatch.setattr(_profile.time, "monotonic_ns", lambda: next(clock))
    monkeypatch.setattr(_profile.time, "process_time_ns", lambda: 77)
    monkeypatch.setattr(_profile, "_last", _profile._Given(1, 5, 6, 1000, 16, 70))
    assert not _profile._last.is_of(2, 400)     # of another loader, or of a call before
    assert not _profile._last.is_of(1, 1001)
    assert _profile._last.is_of(1, 400)
    assert _profile._last.widen(400, 60) == 600 + 300
    _profile.tell_last()
    _profile.tell_last()                # once
    assert [t.words for t in told(folder, _journal.STEP)] == [[5, 6, 400, 2300, 16, 60, 77]]
