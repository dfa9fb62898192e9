# SPDX-License-Identifier: Apache-2.0
"""Epochs, for programs that count batches themselves, leave and come back, or make
their loaders anew."""

import pytest

import calls_job
import jobs
import loops_job

# What each job does, and with what in its environment; all at a time.
DOING = {
    "counted 0": ("counted", 0), "counted 1": ("counted", 1),
    "repeated 0": ("repeated", 0), "repeated 1": ("repeated", 1),
    "left": ("left",), "peeks": ("peeks",), "trials": ("trials",), "told": ("told",),
    "rank 0": ("rank",), "rank 1": ("rank",),
}
RANKS = {"rank %d" % r: {"RANK": str(r), "WORLD_SIZE": "2"} for r in range(2)}


@pytest.fixture(scope="module")
def done(hub, tmp_path_factory):
    folder = tmp_path_factory.mktemp("loops")
    started = [jobs.Job(folder, name.replace(" ", "-"), "loops_job.py", *arguments, **hub.env,
                        **RANKS.get(name, {})) for name, arguments in DOING.items()]
    return dict(zip(DOING, jobs.end_all(started)))


@pytest.mark.parametrize("workers", (0, 1))
def test_who_counts_has_the_next_epoch(done, workers):
    job = done["counted %d" % workers]
    assert job["given"] == job["asked"]
    assert len({tuple(epoch) for epoch in job["given"]}) == 3


@pytest.mark.parametrize("workers", (0, 1))
def test_epochs_of_an_endless_loader_differ(done, workers):
    assert len({tuple(epoch) for epoch in done["repeated %d" % workers]["given"]}) == 3


def test_who_comes_back_begins_at_the_beginning(done):
    """The epoch that was left is begun anew, whole."""
    some, one, whole = done["left"]["given"]
    assert (len(some), len(one)) == (3, 1)
    assert whole[:3] == some and whole[:1] == one
    assert sorted(i for numbers, _ in whole for i in numbers) == list(range(calls_job.COUNT))


def test_who_comes_a_little_later_misses_nothing(hub, tmp_path):
    """Of an epoch, if it was there in the last one.  On a busy machine one may be made that did
    not come in time, or is compared only then."""
    first, second = jobs.end_all([
        jobs.Job(tmp_path, "job" + n, "loops_job.py", "later", n, MEET=str(tmp_path / "meet"),
                 PARTIES="2", **hub.env) for n in "10"])
    assert first["given"] == second["given"]
    assert first["own"] < 3 and second["own"] < 3


def test_peeks_leave_nothing_behind(done):
    few, many = done["peeks"]["given"]
    assert many <= few + 4


def test_ranks_that_nobody_seeded_differ(done):
    first, second = (done["rank %d" % r]["given"] for r in range(2))
    assert not set(first[0] + first[1]) & set(second[0] + second[1])


def test_trials_in_threads_are_seeded_each(done):
    assert done["trials"]["given"] == done["trials"]["alone"]


def test_an_epoch_is_what_it_is_set_to(done):
    job = done["told"]
    assert job["given"] == job["other"] and job["given"][0] == job["peek"]


def resumed(hub, folder, doing):
    """(what came after the state was saved, what comes to a job that has loaded it)"""
    def run(name, what):
        return jobs.Job(folder, name, "loops_job.py", what, folder / "state",
                        **hub.env).end()["given"]
    return run("first", doing), run("second", "go_on")


def test_loaders_made_anew_are_saved(hub, tmp_path):
    """The one that takes the place of those that are gone goes on."""
    (rest, after), found = resumed(hub, tmp_path, "anew")
    assert len(rest) == loops_job.BATCHES - 3
    assert found == [rest, after]


def test_validation_does_not_count_for_training(hub, tmp_path):
    after, found = resumed(hub, tmp_path, "training_and_validation")
    assert found == after and after[0] != after[1]
