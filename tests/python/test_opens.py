# SPDX-License-Identifier: Apache-2.0
"""open() below a data root is what it always was, and its bytes come from the cache."""

import builtins
import ctypes
import io
import json
import os
import pathlib
import subprocess
import threading
import time
import types

import numpy
import PIL.Image
import pytest
import torch
import torchvision

from destall import _cache, _lib, _opens, _version

BUILD = os.path.abspath(os.environ["top_builddir"])
PROGRAM = os.path.join(BUILD, "destall")
OBJECT = os.path.join(BUILD, ".libs/libdestall-preload.so")


def make_files(folder):
    folder.mkdir()
    (folder / "bytes").write_bytes(os.urandom(70000))
    (folder / "text").write_bytes("Zeile 1\r\nzweite, mit \u00fc\n".encode())
    (folder / "latin").write_bytes(b"gr\xfcn\n")
    array = numpy.arange(5000.0).reshape(50, 100)
    numpy.save(folder / "array.npy", array)
    numpy.savez(folder / "arrays.npz", a=array, b=array + 1)
    array.tofile(folder / "raw")
    torch.save({"a": torch.arange(1000)}, folder / "tensor.pt")
    image = PIL.Image.fromarray(numpy.arange(48 * 64 * 3, dtype="uint8").reshape(48, 64, 3))
    for name in ("image.png", "image.jpg", "image.bmp"):
        image.save(folder / name)
    (folder / "sub").mkdir()
    (folder / "empty").write_bytes(b"")
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder that a hub has listed, and this process knows as a root.  A process has one
    object: so there is one for all."""
    top = tmp_path_factory.mktemp("opens")
    (top / "run").mkdir(mode=0o700)
    folder = make_files(top / "data")
    time.sleep(0.05)                    # else they are too new to be cached
    before = dict(os.environ)
    os.environ.update(DESTALL_HUB=str(top / "run/s"))
    subprocess.run([PROGRAM, "env", "--data", str(folder)], check=True, capture_output=True)
    yield folder
    subprocess.run([PROGRAM, "serve", "--stop"], check=True)
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def plan(data):
    return _cache.Plan(OBJECT, [str(data)], [str(data)])


def looked(folder):
    """How often the cache was asked for a file."""
    done = subprocess.run([PROGRAM, "cache", "stat", "--json"], check=True, capture_output=True)
    found = next(d for d in json.loads(done.stdout)["datasets"] if d["root"] == str(folder))
    return found["hits"] + found["misses"] + found["passed_containers"]


def pil(path):
    with PIL.Image.open(path) as image:
        return numpy.asarray(image.convert("RGB")).tobytes()


def read(path, *args, **kwargs):
    with open(path, *args, **kwargs) as f:
        return f.read()


def read_text(path):
    return read(path), read(path, "r"), read(path, newline=""), read(path, "rt", encoding="utf-8")


def seek(path):
    with open(path, "rb") as f:
        f.seek(-10, io.SEEK_END)
        return f.read(), f.tell(), f.readable(), f.writable(), f.seekable()


READERS = {
    "rb": ("bytes", lambda p: read(p, "rb")),
    "io.open": ("bytes", lambda p: io.open(p, "rb").read()),
    "unbuffered": ("bytes", lambda p: read(p, "rb", 0)),
    "seek": ("bytes", seek),
    "text": ("text", read_text),
    "latin-1": ("latin", lambda p: read(p, encoding="latin-1")),
    "errors": ("latin", lambda p: read(p, encoding="utf-8", errors="replace")),
    "lines": ("text", lambda p: list(open(p, encoding="utf-8"))),
    "bytes path": ("bytes", lambda p: read(os.fsencode(p), "rb")),
    "path": ("bytes", lambda p: read(pathlib.Path(p), "rb")),
    "Path.open": ("bytes", lambda p: pathlib.Path(p).open("rb").read()),
    "read_bytes": ("bytes", lambda p: pathlib.Path(p).read_bytes()),
    "read_text": ("text", lambda p: pathlib.Path(p).read_text(encoding="utf-8")),
    "relative": ("bytes", lambda p: read(os.path.relpath(p), "rb")),
    "slashes": ("bytes", lambda p: read(p.replace("/", "//"), "rb")),
    "up and down": ("bytes", lambda p: read(os.path.join(os.path.dirname(p), "sub/../bytes"),
                                            "rb")),
    "png": ("image.png", pil),
    "jpeg": ("image.jpg", pil),
    "bmp": ("image.bmp", pil),
    "pil_loader": ("image.jpg",
                   lambda p: torchvision.datasets.folder.pil_loader(p).tobytes()),
    "numpy": ("array.npy", lambda p: numpy.load(p).tobytes()),
    "numpy, mapped": ("array.npy", lambda p: numpy.load(p, mmap_mode="r").tobytes()),
    "numpy, mapped copy": ("array.npy", lambda p: numpy.load(p, mmap_mode="c").tobytes()),
    "numpy, several": ("arrays.npz", lambda p: numpy.load(p)["b"].tobytes()),
    "fromfile": ("raw", lambda p: numpy.fromfile(p).tobytes()),
    "torch": ("tensor.pt", lambda p: torch.load(p)["a"].tolist()),
}


@pytest.mark.parametrize("name", READERS)
def test_readers(data, plan, name, monkeypatch):
    file, reader = READERS[name]
    path = str(data / file)
    monkeypatch.chdir(data.parent / "run")
    want, before = reader(path), looked(data)
    with plan.around():
        for _ in range(2):
            assert reader(path) == want
    assert looked(data) >= before + 2


def test_what_torchvision_reads_is_untouched(data, plan):
    path, before = str(data / "image.png"), looked(data)
    if not hasattr(torch.ops.image, "read_file"):
        pytest.skip("this torchvision has no part for pictures")
    with plan.around():
        assert len(torchvision.io.read_file(path)) == os.path.getsize(path)
    assert looked(data) == before


def test_what_opencv_reads_is_untouched(data, plan):
    path, before = str(data / "image.png"), looked(data)
    cv2 = pytest.importorskip("cv2")
    with plan.around():
        assert cv2.imread(path).shape == (48, 64, 3)
    assert looked(data) == before


# --- as ever -------------------------------------------------------------------------

def failure(*args, **kwargs):
    try:
        open(*args, **kwargs).close()
    except Exception as e:
        return type(e), str(e), getattr(e, "errno", None), getattr(e, "filename", None)
    return None


CALLS = [
    (("missing",), {}), (("missing", "rb"), {}), (("sub", "rb"), {}), (("bytes/x", "rb"), {}),
    (("x" * 300, "rb"), {}), (("nul\0", "rb"), {}), (("bytes", "rb"), {"closefd": False}),
    (("bytes", "rb"), {"encoding": "utf-8"}), (("bytes", "r", 0), {}), (("bytes", "rw"), {}),
    (("bytes", []), {}), (("bytes", 3), {}), (("missing", "r+"), {}),
    (("text",), {"encoding": "no such"}), (("text",), {"newline": "x"}),
    (("bytes", "rb"), {"opener": lambda path, flags: -1}), (("empty", "rb"), {}),
]


@pytest.mark.parametrize("args, kwargs", CALLS, ids=range(len(CALLS)))
def test_errors_are_the_same(data, plan, args, kwargs, monkeypatch):
    monkeypatch.chdir(data)
    for name in (args[0], str(data / args[0])):
        want = failure(name, *args[1:], **kwargs)
        with plan.around():
            assert failure(name, *args[1:], **kwargs) == want


def test_what_is_no_path(data, plan):
    for file in (None, 3.5, [], -1, 10 ** 30):
        want = failure(file, "rb")
        with plan.around():
            assert failure(file, "rb") == want


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read all")
def test_files_that_may_not_be_read(data, plan):
    path = data / "closed"
    path.write_bytes(b"closed")
    path.chmod(0)
    want = failure(str(path))
    assert want[0] is PermissionError
    with plan.around():
        assert failure(str(path)) == want


def described(f):
    with f:
        kinds = [type(f)]
        inner = f
        while hasattr(inner, "buffer") or hasattr(inner, "raw"):
            inner = getattr(inner, "buffer", None) or inner.raw
            kinds.append(type(inner))
        return (kinds, f.name, f.mode, getattr(f, "encoding", None), f.isatty(), f.closed,
                os.get_inheritable(f.fileno()), os.fstat(f.fileno()).st_size)


@pytest.mark.parametrize("args", [("r",), ("rb",), ("rb", 0), ("rt", 1), ("rb", 99)])
@pytest.mark.parametrize("kind", [str, os.fsencode, pathlib.Path])
def test_objects_are_the_same(data, plan, args, kind):
    path = kind(str(data / "text"))
    want = described(open(path, *args))
    with plan.around():
        assert described(open(path, *args)) == want


def test_another_opener_and_descriptors(data, plan):
    path, asked, before = str(data / "bytes"), [], looked(data)

    def opener(path, flags):
        asked.append(path)
        return os.open(path, flags)

    with plan.around():
        assert read(path, "rb", opener=opener) == read(os.open(path, os.O_RDONLY), "rb")
        fd = os.open(path, os.O_RDONLY)
        read(fd, "rb", closefd=False)
        os.close(fd)
    assert asked == [path] and looked(data) == before


def test_writing(data, plan):
    path, before = str(data / "written"), looked(data)
    with plan.around():
        with open(path, "x") as f:
            f.write("one")
        with open(path, "a") as f:
            f.write("two")
        with open(path, "r+b") as f:
            assert f.read() == b"onetwo"
            f.seek(0)
            f.write(b"ONE")
        with open(path, "w+") as f:
            f.write("three")
        assert read(path) == "three"
        with open(path, "a+") as f:
            f.write("!")
        assert read(path) == "three!"
    os.unlink(path)
    assert looked(data) == before       # it was not listed


# --- in its place ----------------------------------------------------------------------

def test_it_is_there_only_meanwhile(plan):
    plain = builtins.open
    with plan.around():
        assert builtins.open is io.open is _opens._open
        with plan.around():
            pass
        assert builtins.open is _opens._open
    assert builtins.open is io.open is plain
    with pytest.raises(ZeroDivisionError):
        with plan.around():
            1 / 0
    assert builtins.open is io.open is plain


def test_threads(plan):
    inside, go = threading.Barrier(3), threading.Event()

    def make():
        with plan.around():
            inside.wait()
            go.wait()

    threads = [threading.Thread(target=make) for _ in range(2)]
    for thread in threads:
        thread.start()
    inside.wait()
    with plan.around():
        pass
    assert builtins.open is _opens._open
    go.set()
    for thread in threads:
        thread.join()
    assert builtins.open is _opens._plain


def test_anothers_open_stays(plan, monkeypatch):
    def other(*args, **kwargs):
        return _opens._plain(*args, **kwargs)

    monkeypatch.setattr(builtins, "open", other)
    with plan.around():
        assert builtins.open is other and io.open is _opens._open
    assert builtins.open is other and io.open is _opens._plain


def test_pathlib_of_older_pythons(data, plan, monkeypatch):
    """3.10 keeps io.open in a class; before, paths bring an opener of their own."""
    accessor = type("_NormalAccessor", (), {"open": io.open})
    monkeypatch.setattr(pathlib, "_NormalAccessor", accessor, raising=False)
    monkeypatch.setattr(pathlib.Path, "_opener", lambda self, name, flags, mode=0o666:
                        os.open(name, flags, mode), raising=False)
    path, before = data / "bytes", looked(data)
    with plan.around():
        assert accessor().open(path, "rb").read() == path.read_bytes()
        assert io.open(path, "rb", opener=path._opener).read() == path.read_bytes()
    assert looked(data) == before + 4
    assert accessor.open is _opens._plain


def test_status_names_destall_run(data, monkeypatch):
    ctypes.CDLL(os.path.join(BUILD, ".libs", _lib.NAME))    # so that it is found by its name
    _lib.load(_version.VERSION)
    monkeypatch.setattr(_cache, "_keepers", {str(data): types.SimpleNamespace(
        look=lambda: True, why_not=None), "/other": types.SimpleNamespace(
        look=lambda: False, why_not=None)})
    status = _cache.status()
    assert "destall run" in status["how"] and "cv2" in status["how"]
    assert status["roots"][str(data)]["items"] > 5
    assert status["roots"]["/other"] == {"why_not": "its files are being listed"}
