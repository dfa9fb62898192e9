# SPDX-License-Identifier: Apache-2.0
"""Jobs that share are given what a plain loader gives under the same seeds."""

import subprocess
import sys

import pytest
import torch

import jobs
import reference
import shapes

from jobside import digest

EPOCHS = 2
NAMES = list(shapes.SHAPES)


@pytest.fixture(scope="module")
def shared(hub, tmp_path_factory):
    """Three jobs, with 0, 1 and 3 workers, through all loaders together."""
    folder = tmp_path_factory.mktemp("jobs")
    started = [jobs.Job(folder, "job%d" % w, "sharing_job.py", w, EPOCHS, *NAMES,
                        MEET=str(folder / "meet"), PARTIES="3", **hub.env) for w in (0, 1, 3)]
    return jobs.end_all(started)


def expected(name, epoch, workers=0):
    torch.manual_seed(7)
    loader = shapes.SHAPES[name]()
    seed = {"generator": 11, "a rank of two": 5}.get(name, 7)
    return [digest(b) for b in reference.batches(loader, seed, epoch, workers)]


@pytest.mark.parametrize("name", NAMES)
def test_given_what_the_reference_gives(shared, name):
    for epoch in range(EPOCHS):
        want = expected(name, epoch)
        for job in shared:
            given = job["given"][name][epoch]
            if name in shapes.PERMUTED:
                assert jobs.is_turned(given, want)
            else:
                assert given == want


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_is_the_same_with_any_workers(name):
    want = expected(name, 1)
    assert expected(name, 1, 1) == want and expected(name, 1, 3) == want


@pytest.mark.parametrize("name", ["lists", "tensors"])
def test_what_is_not_random_is_what_an_untouched_loader_gives(shared, name):
    """In the order that all have; which is that of the loader itself, if it does not shuffle."""
    torch.manual_seed(7)
    loader = shapes.SHAPES[name]()
    if name in shapes.PERMUTED:
        lists = [[index for _, index in pairs] for pairs in reference.order(loader, 7, 0)]
        loader = torch.utils.data.DataLoader(loader.dataset, batch_sampler=lists,
                                             collate_fn=loader.collate_fn)
    plain = [digest(b) for b in loader]
    for job in shared:
        assert jobs.is_turned(job["given"][name][0], plain)


@pytest.mark.parametrize("name", NAMES)
def test_they_shared(shared, name):
    assert sum(job["of_others"][name] for job in shared) > 0


def run_code(code, **env):
    return subprocess.run([sys.executable, "-c", code], env=jobs.environment(**env), check=True,
                          capture_output=True, text=True)


def test_what_cannot_be_told_runs_plain(hub):
    code = ("import torch\n"
            "class Open(torch.utils.data.Dataset):\n"
            "    def __init__(self): self.file = open('/dev/null')\n"
            "    def __len__(self): return 8\n"
            "    def __getitem__(self, i): return i\n"
            "loader = torch.utils.data.DataLoader(Open(), 4)\n"
            "for _ in range(2): print([b.tolist() for b in loader])\n")
    done = run_code(code, **hub.env)
    assert done.stdout == "[[0, 1, 2, 3], [4, 5, 6, 7]]\n" * 2
    assert done.stderr == (
        "destall: loader 1 (Open): alone: dataset.file is a TextIOWrapper, and may not be the same "
        "in other jobs; DESTALL_TRUST=1 shares it on your word\n")


def test_off_nothing_is_imported():
    code = "import torch, sys; print(sorted(m for m in sys.modules if m.startswith('destall')))"
    for value, modules in ("0", "[]"), ("1", "['destall', 'destall._start', 'destall._version']"):
        done = run_code(code, DESTALL=value)
        assert done.stdout == modules + "\n"
        assert done.stderr == ""


def test_without_a_library_jobs_run_plain():
    code = ("import torch\n"
            "print([b.tolist() for b in torch.utils.data.DataLoader(range(4), 2)])\n")
    done = run_code(code, LD_LIBRARY_PATH="")
    assert done.stdout == "[[0, 1], [2, 3]]\n"
    assert done.stderr.startswith("destall: loaders are not shared: the library cannot be loaded")
    assert done.stderr.count("\n") == 1
