# SPDX-License-Identifier: Apache-2.0
"""Jobs with batches of other sizes, ledgers, the explicit calls, saved states,
trials in threads, endless loaders."""

import glob
import os
import subprocess

import PIL.Image
import pytest

import calls_job
import jobs
import reference

from jobside import digest

LEDGERS = ("hub", "seeded", "in order", "collate", "sizes", "iterable", "pictures", "peeked")


def start(folder, hub, *each, **env):
    """A job for each tuple of arguments; they meet."""
    return [jobs.Job(folder, "job%d" % i, "calls_job.py", *arguments,
                     MEET=str(folder / "meet"), PARTIES=str(len(each)), **{**hub.env, **env})
            for i, arguments in enumerate(each)]


def run(folder, hub, *each, **env):
    return jobs.end_all(start(folder, hub, *each, **env))


# --- other sizes ---------------------------------------------------------------------------------

SIZED = ((0, 4, 0), (1, 8, 1), (2, 6, 0), (1, 6, 1))      # workers, batch size, drop_last


@pytest.fixture(scope="module")
def sized(hub, tmp_path_factory):
    return run(tmp_path_factory.mktemp("sizes"), hub, *[("sizes", *one) for one in SIZED])


@pytest.mark.parametrize("kind", calls_job.KINDS)
def test_each_has_batches_of_its_own_size(sized, kind):
    for (_, size, drop_last), job in zip(SIZED, sized):
        loader = calls_job.sized(kind, size, bool(drop_last))
        want = [[digest(b) for b in reference.batches(loader, calls_job.SEED, epoch, 0)]
                for epoch in range(2)]
        assert not jobs.differences(job["given"][kind], want), size


def test_other_sizes_share(sized):
    assert sum(job["of_others"] for job in sized) > 0


# --- ledgers -------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def ledgers(hub, tmp_path_factory):
    """The folder that four jobs have written to."""
    folder = tmp_path_factory.mktemp("ledgers")
    for i in range(21):
        place = folder / "pictures" / ("ab"[i % 2])
        place.mkdir(parents=True, exist_ok=True)
        PIL.Image.new("RGB", (4, 4), (i, 2 * i, 3 * i)).save(str(place / ("%d.png" % i)))
    (folder / "out").mkdir()
    run(folder, hub, *[("ledgers", w, size, folder / "pictures")
                       for w, size in enumerate(calls_job.SIZES)],
        DESTALL_LEDGER=str(folder / "out"))
    return folder / "out"


def check(files, *options):
    done = subprocess.run([jobs.PROGRAM, "ledger", "check", *options, *files],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def files_of(folder, name):
    """By stream: jobs with other numbers of workers do not have the same iterable one."""
    found = {}
    for path in sorted(glob.glob("%s/torch-*-%d-*.ledger" % (folder, LEDGERS.index(name) + 1))):
        found.setdefault(os.path.basename(path).split("-")[3], []).append(path)
    return found


@pytest.mark.parametrize("name", [n for n in LEDGERS if n not in ("iterable", "peeked")])
def test_nothing_is_missing_and_nothing_came_twice(ledgers, name):
    (files,) = files_of(ledgers, name).values()
    assert len(files) == 4
    check(files, "--complete")


def test_ledgers_of_iterable_datasets(ledgers):
    streams = files_of(ledgers, "iterable")
    assert len(streams) == 4
    for files in streams.values():
        check(files, "--complete")


def test_a_peek_has_a_file_of_its_own(ledgers):
    """For a job that peeks while no other is there, the hub draws another order."""
    found = files_of(ledgers, "peeked").values()
    for files in found:
        check(files)
    files = [f for some in found for f in some]
    assert len(files) == 8
    check([f for f in files if f.endswith("-2.ledger")], "--complete")


def test_pictures_have_names(ledgers):
    (files,) = files_of(ledgers, "pictures").values()
    with open(files[0]) as f:
        names = {line.split()[3] for line in f if line.startswith("0 ")}
    assert names == {"%s/%d.png" % ("ab"[i % 2], i) for i in range(21)}


@pytest.mark.parametrize("how", ("missing", "full", "not to be written"))
def test_a_ledger_that_cannot_be_written(hub, tmp_path, how):
    """One line, and the job goes on."""
    folder = tmp_path / "out"
    if how != "missing":
        folder.mkdir(0o700 if how == "full" else 0o500)
    if how == "not to be written" and os.getuid() == 0:
        pytest.skip("root may write everywhere")
    job, = start(tmp_path, hub, ("no_ledger", 300 if how == "full" else 0),
                 DESTALL_LEDGER=str(folder))
    assert job.end()["given"] == list(range(calls_job.COUNT))
    assert len([line for line in job.lines if "is not written down any more" in line]) == 1


# --- explicit calls --------------------------------------------------------------------------------

def test_share_without_the_variable(hub, tmp_path):
    two = run(tmp_path, hub, ("share", 0), ("share", 1), DESTALL=None)
    loader = calls_job.DataLoader(calls_job.Samples("share"), 8, shuffle=True,
                                  generator=calls_job.torch.Generator().manual_seed(0))
    for job in two:
        for epoch, given in enumerate(job["given"]):
            assert given == [digest(b) for b in reference.batches(
                loader, calls_job.SEED, epoch, 0)]
        assert job["is_same"] and job["plain"] == calls_job.COUNT
        status = job["status"]
        assert sorted(status) == ["cache", "job", "loaders"]
        one, = status["loaders"]
        assert one["name"] == "loader 1 (Samples)" and one["state"] and len(status["job"]) == 16
        assert one["batches"] == 14 and one["samples"] == 2 * calls_job.COUNT
        assert one["own"] + one["taken"] >= 14 and one["of_others"] <= one["taken"]
    assert sum(job["of_others"] for job in two) > 0


def test_off_is_off(hub, tmp_path):
    job, = run(tmp_path, hub, ("share", 0), DESTALL="0")
    assert job["is_same"] and job["plain"] == calls_job.COUNT
    assert job["status"] == {"job": None, "loaders": [], "cache": {}}
    assert job["said"] == ""


@pytest.fixture(scope="module")
def saved(hub, tmp_path_factory):
    """(what came after the state was saved, what came to the one that has loaded it, the folder)"""
    folder = tmp_path_factory.mktemp("saved")
    (folder / "out").mkdir()
    env = {"DESTALL_LEDGER": str(folder / "out")}
    before, = run(folder, hub, ("save", 2, folder / "state"), **env)
    after, = run(folder, hub, ("load", 2, folder / "state"), **env)
    return before["given"], after["given"], folder


@pytest.mark.parametrize("which", range(3), ids=("drawn", "seeded", "iterable"))
def test_the_rest_comes_after_loading(saved, which):
    before, after, _ = saved
    assert len(before[which][0]) < len(before[which][1])
    assert after[which] == before[which]


def test_ledgers_go_on_in_their_files(saved):
    files = glob.glob("%s/out/*.ledger" % saved[2])
    assert len(files) == 3
    for path in files:
        check([path], "--complete")
        with open(path) as f:
            assert {line.split()[0] for line in f} == {"0", "1", "2"}


def test_a_state_of_a_plain_job_is_none(hub, tmp_path):
    """It says nothing of where the loaders were; the next job begins, and does not fail."""
    run(tmp_path, hub, ("save", 0, tmp_path / "state"), DESTALL="0")
    job, = run(tmp_path, hub, ("load", 0, tmp_path / "state"))
    batches = -(-calls_job.COUNT // 8)
    assert [[len(epoch) for epoch in loader] for loader in job["given"]] == [[batches] * 2] * 3


def test_wrong_states_are_refused(hub, saved, tmp_path):
    job, = run(tmp_path, hub, ("refused", saved[2] / "state"))
    no_version, nothing, other = job["given"]
    assert "no state of this version" in no_version and "no state of this version" in nothing
    assert other is not None and "was saved as a loader of Others" in other


# --- threads, endless loaders --------------------------------------------------------------------

def is_whole(samples):
    return sorted(samples) == list(range(calls_job.COUNT))


def test_trials_in_threads_share(hub, tmp_path):
    job, = run(tmp_path, hub, ("threads", 1))
    for given in job["given"]:
        assert all(map(is_whole, given)) and given[0] != given[1]
    assert job["of_others"] > 0


def test_endless_loaders_share(hub, tmp_path):
    two = run(tmp_path, hub, ("endless", 1), ("endless", 2))
    for job in two:
        first, second, third = job["given"]
        assert is_whole(first) and is_whole(second) and is_whole(third)
        assert first != second != third != first
    assert sum(job["of_others"] for job in two) > 0
