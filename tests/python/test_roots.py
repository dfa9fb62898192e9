# SPDX-License-Identifier: Apache-2.0
"""Which folders a dataset reads from, as its attributes say."""

import os
import pathlib

import numpy
import pytest
import torch

from destall import _roots

Dataset = torch.utils.data.Dataset


class Has(Dataset):
    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def __len__(self):
        return 1


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Two folders with files, and another to be in."""
    for name in ("a/x/1", "a/x/2", "a/y/3", "b/4", "cwd/5"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    monkeypatch.chdir(tmp_path / "cwd")
    monkeypatch.delenv("DESTALL_DATA", raising=False)
    return tmp_path


def found(dataset):
    return sorted(_roots.found(dataset))


def test_attributes_that_are_folders(data):
    a, b = str(data / "a"), str(data / "b")
    assert found(Has(root=a)) == [a]
    assert found(Has(img_dir=pathlib.Path(a), mask_dir=b)) == [a, b]
    assert found(Has(root="../a")) == [a]
    assert found(Has(root=a, output_dir=b, cache_dir=b)) == [a]
    assert found(Has(split="train", root="/no/such", size=3, name="a\0b/c")) == []


def test_lists_of_files(data):
    paths = [str(data / n) for n in ("a/x/1", "a/x/2", "a/y/3")]
    a, x = str(data / "a"), str(data / "a/x")
    assert found(Has(paths=paths)) == [a]
    assert found(Has(paths=tuple(paths[:2]))) == [x]
    assert found(Has(samples=[(p, 0) for p in paths])) == [a]
    assert found(Has(items=[{"image": p, "label": 1} for p in paths])) == [a]
    assert found(Has(files=numpy.array(paths))) == [a]
    assert found(Has(files=numpy.array(paths, dtype=object))) == [a]
    assert found(Has(files=[pathlib.Path(p) for p in paths])) == [a]
    assert found(Has(files=["../a/x/1", "../a/y/3"])) == [a]
    assert found(paths) == [a]
    assert found(Has(labels=["x/y", "a b"] * 100, numbers=list(range(1000)))) == []


def test_what_has_only_the_root_in_common_is_taken_apart(data, tmp_path_factory, monkeypatch):
    monkeypatch.setattr(_roots, "_WIDE", (str(data),))
    assert found(Has(paths=[str(data / "a/x/1"), str(data / "b/4")])) == [
        str(data / "a/x"), str(data / "b")]


def test_datasets_in_datasets(data):
    a, b = Has(root=str(data / "a")), Has(paths=[str(data / "b/4")])
    both = torch.utils.data.ConcatDataset([a, b])
    assert found(torch.utils.data.Subset(both, [0, 1])) == [str(data / "a"), str(data / "b")]
    a.itself = a
    assert found(Has(wrapped={"inner": a})) == [str(data / "a")]


def test_pandas(data):
    pandas = pytest.importorskip("pandas")
    paths = [str(data / n) for n in ("a/x/1", "a/y/3")]
    assert found(Has(frame=pandas.DataFrame({"n": [1, 2], "p": paths}))) == [str(data / "a")]


def test_torchvision(data):
    import torchvision
    (data / "a/x/1.png").write_bytes(b"")
    (data / "a/y/1.png").write_bytes(b"")
    assert found(torchvision.datasets.ImageFolder(str(data / "a"))) == [str(data / "a")]


def test_a_long_list_is_not_walked(data):
    class Long(list):
        looked = 0

        def __len__(self):
            return 1000000

        def __getitem__(self, i):
            Long.looked += 1
            return str(data / ("a/x/1" if i < 500000 else "a/y/3"))

        def __iter__(self):
            raise AssertionError

    assert found(Has(paths=Long())) == [str(data / "a")]
    assert Long.looked <= 200


def test_what_is_never_found(data, monkeypatch):
    cwd = data / "cwd"
    monkeypatch.setenv("HOME", str(data / "a"))
    for path in ("/", "/usr", "/usr/share", "/tmp", "/home", ".", str(cwd), str(data),
                 str(data / "a"), os.path.expanduser("~")):
        assert found(Has(root=path)) == [], path
    assert found(Has(root=str(data / "a/x"))) == [str(data / "a/x")]
    (data / "with:colon").mkdir()
    assert found(Has(root=str(data / "with:colon"))) == []


def test_of_nested_ones_the_outer(data):
    a, x, b = str(data / "a"), str(data / "a/x"), str(data / "b")
    assert found(Has(dir1=x, dir2=a, dir3=b)) == [a, b]
    assert found(Has(dir1=a, dir2=x)) == [a]


def test_links_have_two_spellings(data):
    (data / "link").symlink_to("a")
    assert _roots.found(Has(root=str(data / "link"))) == {str(data / "a"): str(data / "link")}


def test_at_most_sixteen(data):
    for i in range(20):
        (data / ("many%d" % i)).mkdir()
    many = Has(**{"dir%d" % i: str(data / ("many%d" % i)) for i in range(20)})
    assert len(found(many)) == _roots.MOST


def test_what_is_named(data, monkeypatch):
    a, b = str(data / "a"), str(data / "b")
    assert _roots.named() is None
    monkeypatch.setenv("DESTALL_DATA", ":")     # of destall run: nobody has named any
    assert _roots.named() is None
    for text, want in (("", []), ("::", []), (a, [a]), ("%s:%s/x:%s" % (a, a, b), [a, b]),
                       (str(data / "cwd"), [str(data / "cwd")])):
        monkeypatch.setenv("DESTALL_DATA", text)
        assert sorted(_roots.named()) == want
    for text in ("/no/such", "/", "%s:/no/such" % a, str(data / "b/4")):
        monkeypatch.setenv("DESTALL_DATA", text)
        with pytest.raises(_roots.Unusable):
            _roots.named()
