# SPDX-License-Identifier: Apache-2.0
"""Jobs that share are given what a plain loader gives under the same seeds."""

import glob
import json
import os
import subprocess
import sys
import time

import pytest
import torch

import reference
import shapes
from sharing_job import digest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ["top_builddir"])
PYTHON = os.path.join(HERE, "../../loader/python")
EPOCHS = 2
NAMES = list(shapes.SHAPES)


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    folder.chmod(0o700)
    os.environ["DESTALL_HUB"] = str(folder / "s")
    subprocess.run([os.path.join(BUILD, "destall"), "serve", "--cache", "64M"], check=True)
    yield folder
    subprocess.run([os.path.join(BUILD, "destall"), "serve", "--stop"], check=True)


def environment(**changed):
    return {**os.environ, "DESTALL": "1", "PYTHONPATH": "%s/site:%s" % (PYTHON, PYTHON),
            "LD_LIBRARY_PATH": os.path.join(BUILD, ".libs"),
            "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", **changed}


def start(folder, name, workers, names, **changed):
    out = str(folder / (name + ".json"))
    return subprocess.Popen([sys.executable, os.path.join(HERE, "sharing_job.py"), out,
                             str(workers), str(EPOCHS), *names], env=environment(**changed),
                            stderr=subprocess.PIPE, text=True), out


def end(job):
    process, out = job
    said = process.communicate(timeout=300)[1]
    assert process.returncode == 0, said
    with open(out) as f:
        return {**json.load(f), "said": said}


def let_begin(gate, name, jobs):
    while len(glob.glob("%s.%s.*" % (glob.escape(gate), glob.escape(name)))) < len(jobs):
        assert all(p.poll() is None for p, _ in jobs)
        time.sleep(0.005)
    open("%s.%s" % (gate, name), "w").close()


@pytest.fixture(scope="module")
def shared(hub, tmp_path_factory):
    """Three jobs, with 0, 1 and 3 workers, through all loaders together."""
    folder = tmp_path_factory.mktemp("jobs")
    gate = str(folder / "gate")
    jobs = [start(folder, "job%d" % w, w, NAMES, GATE=gate) for w in (0, 1, 3)]
    for name in NAMES:
        let_begin(gate, name, jobs)
    return [end(job) for job in jobs]


@pytest.fixture(scope="module")
def seed():
    return 7


def expected(name, epoch, seed, workers=0):
    torch.manual_seed(7)
    loader = shapes.SHAPES[name]()
    if name == "generator":
        seed = 11
    elif name == "a rank of two":
        seed = 5
    return [digest(b) for b in reference.batches(loader, seed, epoch, workers)]


@pytest.mark.parametrize("name", NAMES)
def test_given_what_the_reference_gives(shared, name, seed):
    for epoch in range(EPOCHS):
        want = expected(name, epoch, seed)
        for job in shared:
            assert sorted(job["given"][name][epoch]) == sorted(want)


def test_they_shared(shared):
    for job in shared:
        print(job["counts"], job["said"])
    assert sum(c["of_others"] for job in shared for c in job["counts"].values()) > 100


def test_what_cannot_be_told_runs_plain(hub, tmp_path):
    code = ("import torch\n"
            "class Open(torch.utils.data.Dataset):\n"
            "    def __init__(self): self.file = open('/dev/null')\n"
            "    def __len__(self): return 8\n"
            "    def __getitem__(self, i): return i\n"
            "loader = torch.utils.data.DataLoader(Open(), 4)\n"
            "for _ in range(2): print([b.tolist() for b in loader])\n")
    done = subprocess.run([sys.executable, "-c", code], env=environment(), check=True,
                          capture_output=True, text=True)
    assert done.stdout == "[[0, 1, 2, 3], [4, 5, 6, 7]]\n" * 2
    assert done.stderr == (
        "destall: loader 1 (Open): alone: dataset.file is a TextIOWrapper, and may not be the same "
        "in other jobs; DESTALL_TRUST=1 shares it on your word\n")


def test_off_nothing_is_imported(tmp_path):
    code = "import torch, sys; print(sorted(m for m in sys.modules if m.startswith('destall')))"
    for value in ("0", "1"):
        done = subprocess.run([sys.executable, "-c", code], env=environment(DESTALL=value),
                              check=True, capture_output=True, text=True)
        assert done.stdout == "['destall', 'destall._start', 'destall._version']\n"
        assert done.stderr == ""


def test_without_a_library_jobs_run_plain(tmp_path):
    code = ("import torch\n"
            "print([b.tolist() for b in torch.utils.data.DataLoader(range(4), 2)])\n")
    done = subprocess.run([sys.executable, "-c", code], env=environment(LD_LIBRARY_PATH=""),
                          check=True, capture_output=True, text=True)
    assert done.stdout == "[[0, 1], [2, 3]]\n"
    assert done.stderr.startswith("destall: loaders are not shared: the library cannot be loaded")
    assert done.stderr.count("\n") == 1
