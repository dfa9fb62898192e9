# SPDX-License-Identifier: Apache-2.0
"""The watch for PyTorch's loader, whoever imports it and however, on a torch that
is a few files: loader/python/destall/_start.py."""

import os
import subprocess
import sys
import textwrap

import pytest

PYTHON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../loader/python")
LOADER = """
class _BaseDataLoaderIter:
    def __init__(self): pass
    def _next_data(self): pass
class _SingleProcessDataLoaderIter(_BaseDataLoaderIter): pass
class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self): pass
    def _process_data(self): pass
"""
COUNT = """
def wrapped():
    import torch.utils.data.dataloader as d
    single, depth = d._SingleProcessDataLoaderIter.__dict__.get("_next_data"), 0
    while single is not None:
        single, depth = getattr(single, "__wrapped__", None), depth + 1
    return depth - 1 if depth else 0
"""


@pytest.fixture(scope="module")
def torch(tmp_path_factory):
    top = tmp_path_factory.mktemp("fake")
    data = top / "torch" / "utils" / "data"
    data.mkdir(parents=True)
    (top / "torch" / "__init__.py").write_text(
        "class _C:\n    class default_generator:\n        initial_seed = staticmethod(int)\n")
    (top / "torch" / "utils" / "__init__.py").write_text("")
    (data / "__init__.py").write_text("from . import dataloader\n")
    (data / "dataloader.py").write_text(LOADER)
    return top


def ask(torch, code, value="1", before="sitecustomize"):
    """What it prints."""
    site = [PYTHON + "/site"] if before else []
    env = {**os.environ, "DESTALL": value, "PYTHONDONTWRITEBYTECODE": "1",
           "PYTHONPATH": ":".join(site + [PYTHON, str(torch)])}
    done = subprocess.run([sys.executable, "-c", COUNT + textwrap.dedent(code)], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_wrapped_once(torch):
    assert ask(torch, "print(wrapped())") == ["1"]
    assert ask(torch, "print(wrapped())", value="0") == ["0"]


def test_started_twice_and_late(torch):
    assert ask(torch, """
        import destall._start as s
        s.start()
        print(wrapped())
        s.start()
        print(wrapped())""") == ["1", "1"]
    assert ask(torch, """
        print(wrapped())
        import destall._start as s
        s.start(), s.start()
        print(wrapped())""", before=None) == ["0", "1"]


def test_asked_for_and_not_imported(torch):
    assert ask(torch, """
        import importlib.util, torch.utils
        print(importlib.util.find_spec("torch.utils.data.dataloader").loader is not None)
        print(wrapped())""") == ["True", "1"]


def test_reloaded(torch):
    assert ask(torch, """
        import importlib
        print(wrapped())
        import torch.utils.data.dataloader as d
        importlib.reload(d)
        print(wrapped())""") == ["1", "1"]


def test_looks_as_if_nobody_had_been_there(torch):
    assert ask(torch, """
        import torch.utils.data.dataloader as d
        import inspect
        print(type(d.__loader__).__name__, type(d.__spec__.loader).__name__)
        print("_BaseDataLoaderIter" in inspect.getsource(d))""") == [
            "SourceFileLoader", "SourceFileLoader", "True"]


def test_import_hooks_of_others(torch):
    # One that asks all others, as we do, and one whose loader knows nothing newer.
    assert ask(torch, """
        import importlib.machinery, importlib.util, sys
        class Asks:
            busy = False
            def find_spec(self, name, path=None, target=None):
                if self.busy or not name.startswith("torch"):
                    return None
                self.busy = True
                try:
                    return importlib.util.find_spec(name)
                finally:
                    self.busy = False
        sys.meta_path.insert(0, Asks())
        sys.meta_path.append(Asks())
        print(wrapped())""") == ["1"]
    assert ask(torch, """
        import importlib.machinery, importlib.util, sys, warnings
        warnings.simplefilter("ignore")
        class Old:
            def __init__(self, path):
                self.path = path
            def load_module(self, name):
                module = sys.modules[name]
                exec(open(self.path).read(), module.__dict__)
                return module
        class Finder:
            def find_spec(self, name, path=None, target=None):
                if name == "torch.utils.data.dataloader":
                    return importlib.machinery.ModuleSpec(name, Old(path[0] + "/dataloader.py"))
        sys.meta_path.insert(1, Finder())
        print(wrapped())""") == ["1"]


def test_in_an_archive(torch, tmp_path):
    import shutil
    archive = shutil.make_archive(str(tmp_path / "all"), "zip", str(torch))
    assert ask(archive, "print(wrapped())") == ["1"]


def test_another_pytorch_is_left_alone(torch, tmp_path):
    import shutil
    other = tmp_path / "other"
    shutil.copytree(str(torch), str(other))
    (other / "torch/utils/data/dataloader.py").write_text("class DataLoader: pass\n")
    with pytest.raises(AssertionError, match="this PyTorch is not known"):
        ask(other, "import torch.utils.data.dataloader")
