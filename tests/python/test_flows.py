# SPDX-License-Identifier: Apache-2.0
"""Jobs that share an iterable dataset are given what a plain loader gives under
the same seeds, in its order; jobs share with those of as many workers only."""

import pytest

import flows
import jobs

from jobside import digest

JOBS = {0: 3, 1: 2, 2: 1, 3: 2}         # workers: how many jobs
CASES = [(workers, name) for workers in JOBS for name in flows.shapes_for(workers)]


@pytest.fixture(scope="module")
def shared(hub, tmp_path_factory):
    """All of them at the same time; those of as many workers begin together."""
    folder = tmp_path_factory.mktemp("jobs")
    started = [(workers, jobs.Job(
        folder, "job%d.%d" % (workers, i), "flow_job.py", workers, *flows.shapes_for(workers),
        MEET=str(folder / ("meet%d" % workers)), PARTIES=str(count), **hub.env))
        for workers, count in JOBS.items() for i in range(count)]
    ended = jobs.end_all([job for _, job in started])
    found = {workers: [] for workers in JOBS}
    for (workers, _), result in zip(started, ended):
        found[workers].append(result)
    return found


def want_changing(name, workers):
    """Of an untouched plain loader: nothing of it is random."""
    loader = flows.SHAPES[name](num_workers=workers)
    return [[digest(b) for b in loader] for _ in range(flows.EPOCHS[name])]


@pytest.mark.parametrize("workers, name", CASES)
def test_given_what_the_reference_gives(shared, workers, name):
    if name in flows.CHANGING:
        want = want_changing(name, workers)
    else:
        want = [[digest(b) for b in flows.expected(name, workers, epoch)]
                for epoch in range(flows.EPOCHS.get(name, 2))]
    for job in shared[workers]:
        found = jobs.differences(job["given"][name], want)
        assert not found, found


@pytest.mark.parametrize("name", [
    n for n in flows.SHAPES if n not in ("empty", "counting", "counted")])
def test_they_shared(shared, name):
    """Those of one number of workers at least: on a busy machine all may be made before they are
    compared."""
    assert sum(job["of_others"].get(name, 0) for found in shared.values() for job in found) > 0


@pytest.mark.parametrize("workers", (0, 1, 3))
def test_all_that_may_share_do(shared, workers):
    assert sum(sum(job["of_others"].values()) for job in shared[workers]) > 0


def test_not_with_another_number_of_workers(shared):
    alone, = shared[2]
    assert set(alone["of_others"].values()) == {0}


@pytest.mark.parametrize("workers", (0, 1, 3))
def test_errors_are_told_as_plain_tells_them(shared, workers):
    """Else that shape shows nothing."""
    wrong = [b for b in flows.expected("failing", workers, 0) if isinstance(b, str)]
    assert wrong == ["ValueError: %ssample 20 is bad" % ("ValueError: " if workers else "")]
    for job in shared[workers]:
        assert digest(wrong[0]) in job["given"]["failing"][0]
