# SPDX-License-Identifier: Apache-2.0
"""No job is ever given a batch that it would not have made itself.  Three jobs
run together, two of which may share; the third differs in one thing."""

import os
import signal

import pytest
import torch

import foreign_job
import foreign_loaders
import jobs
import reference
import resume_job

SEED = 7
OWN = (0, 0, 1)         # by job
WORKERS = (0, 2, 1)
# What cannot be computed here: it depends on what each process has made before.
STATEFUL = ("counting", "hidden_generators")
# What depends on how far the job is: it has no workers, and its samples are not random.
STEERED = ("adaptive", "changed_in_mid_epoch")
# What else it is given cannot be told: found by comparing only, and the job that finds it goes on
# in whatever order; or what its workers have is not what it has itself.
COMPARED = ("other_files", "one_other_file", "the_environment", "changed_behind_workers")
# All three are given the same, and share.
SAME = ("peeked", "own_generator")
NAMES = [n for n in foreign_loaders.LOADERS if n not in (
    "opaque", "the_environment_of_workers")]


def start_together(folder, hub, script, arguments, **env):
    """A job for each tuple of arguments, in a folder of its own."""
    def start(i):
        home = folder / ("home%d" % i)
        home.mkdir()
        changed = {name: value[i] if isinstance(value, tuple) else value
                   for name, value in env.items()}
        return jobs.Job(folder, "job%d" % i, script, *arguments[i], cwd=str(home),
                        MEET=str(folder / "meet"), PARTIES=str(len(arguments)), **hub.env,
                        **changed)
    return [start(i) for i in range(len(arguments))]


@pytest.fixture(scope="module")
def three(hub, tmp_path_factory):
    folder = tmp_path_factory.mktemp("jobs")
    names = [n for n in NAMES if n not in STEERED]
    return jobs.end_all(start_together(
        folder, hub, "foreign_job.py", [(o, w, SEED, *names) for o, w in zip(OWN, WORKERS)]))


def expected(name, own, folder, seed=SEED):
    """What a plain job with these settings gives under the same seeds, epoch by epoch."""
    cwd = os.getcwd()
    os.chdir(folder)
    try:
        torch.manual_seed(seed)
        loader, before, _ = foreign_loaders.LOADERS[name](own, {})
        for epoch in range(foreign_job.EPOCHS.get(name, 2)):
            if before is not None:
                before(epoch)
            yield [foreign_job.numbers(b) for b in reference.batches(loader, seed, epoch, 0)]
    finally:
        os.chdir(cwd)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in (
    *STATEFUL, *STEERED, *COMPARED, "label_noise")])
def test_given_its_own(three, name, tmp_path):
    for own, job in zip(OWN, three):
        for epoch, want in enumerate(expected(name, own, tmp_path)):
            assert jobs.is_turned(job[name]["given"][epoch], want), (own, epoch)


def samples(batches):
    return sorted(sample for batch in batches for sample in batch)


@pytest.mark.parametrize("name", COMPARED)
def test_made_as_it_would(three, name, tmp_path):
    for own, job in zip(OWN, three):
        for epoch, want in enumerate(expected(name, own, tmp_path)):
            if name == "changed_behind_workers":
                want = [[[i, i * (2 - own)] for i, _ in batch] for batch in want]
            found = jobs.differences(samples(job[name]["given"][epoch]), samples(want))
            assert not found, (own, epoch, found)


def test_noise_stays_where_it_is(three):
    """Drawn by nobody knows what: its labels are the same in all epochs, and only its."""
    labels = [[{i: y for xs, ys in epoch for i, y in zip(xs, ys)}
               for epoch in job["label_noise"]["given"]] for job in three]
    for first, second in labels:
        assert first == second and len(first) == 2000
    clean = {i: i % 10 for i in range(2000)}
    assert labels[0][0] == labels[1][0] == clean
    assert labels[2][0] != clean


@pytest.mark.parametrize("name", STATEFUL)
def test_state_is_each_process_own(three, name):
    """Every sample once; and what one process has counted, it has counted once."""
    for job in three:
        for given in job[name]["given"]:
            assert sorted(int(i) for batch in given for i, _ in batch) == \
                list(range(foreign_loaders.COUNT))
    values = [v for given in three[0][name]["given"] for batch in given for _, v in batch]
    if name == "counting":
        assert len(set(values)) == len(values)


def met_the_third(three, kind):
    """One of the two has compared with a batch that the third made before it left, or was the
    first to make, and has left: the other is alone then, too."""
    left = "(%s): alone: what another job made is not what this job makes" % kind
    return any(left in job["said"] for job in three[:2])


@pytest.mark.parametrize("name", [n for n in NAMES if n not in (*STATEFUL, *STEERED)])
def test_the_right_ones_share(three, name):
    first, second, third = (job[name]["of_others"] for job in three)
    alike = {"resize_after_epoch_2": (0, 1), "labels_changed_later": (0,),
             "another_collate_later": (0,)}.get(name, ())
    for epoch, (a, b, c) in enumerate(zip(first, second, third)):
        if name in ("other_files", "one_other_file"):
            # Each in a folder of its own: a relative path says nothing of what another has there.
            assert a == b == c == 0, epoch
            continue
        assert a + b > 0 or name == "the_environment" and met_the_third(three, "Environment"), epoch
        if name in SAME or epoch in alike:
            assert c > 0, epoch
        elif name != "other_batch_size":        # which may share samples
            assert c <= 1, epoch                # the one that was compared, and refused


@pytest.fixture(scope="module")
def steered(hub, tmp_path_factory):
    return jobs.end_all(start_together(
        tmp_path_factory.mktemp("steered"), hub, "foreign_job.py",
        [(own, 0, SEED, *STEERED) for own in OWN]))


@pytest.mark.parametrize("name", STEERED)
def test_steered_by_the_job(steered, name):
    """By what it has learnt: each is given what a plain job is."""
    for own, job in zip(OWN, steered):
        plain = [given for given, *_ in foreign_job.epochs(name, own, {}, meet=lambda name: None)]
        found = jobs.differences(job[name]["given"], plain)
        assert not found, (own, found)
    assert steered[0][name]["given"] != steered[2][name]["given"]


# --- settings of the whole job: pairs, all at a time ------------------------------------------

PAIRS = {
    "other seeds": ([(0, 1, 1, "own_generator"), (0, 1, 2, "own_generator")], {}),
    "seeds shared": ([(0, 1, 1, "own_generator"), (0, 1, 2, "own_generator")],
                     {"DESTALL_SEED": "share"}),
    "no seeds": ([(0, 1, "none", "own_generator")] * 2, {}),
    "other groups": ([(0, 1, SEED, "own_generator")] * 2, {"DESTALL_GROUP": ("red", "blue")}),
    "one group": ([(0, 1, SEED, "own_generator")] * 2, {"DESTALL_GROUP": "green"}),
    "on the user's word": ([(0, 1, SEED, "opaque")] * 2, {"DESTALL_TRUST": "1"}),
    "without it": ([(0, 1, SEED, "opaque")] * 2, {}),
}


@pytest.fixture(scope="module")
def pairs(hub, tmp_path_factory):
    started = {name: start_together(tmp_path_factory.mktemp("pair"), hub, "foreign_job.py",
                                    arguments, **env)
               for name, (arguments, env) in PAIRS.items()}
    ended = jobs.end_all([job for pair in started.values() for job in pair])
    return {name: ended[2 * i:2 * i + 2] for i, name in enumerate(started)}


def shared(pair):
    return sum(sum(job["own_generator"]["of_others"]) for job in pair)


def epochs_of(pair):
    return [job["own_generator"]["given"] for job in pair]


def is_whole(given):
    return sorted(int(i) for batch in given for i, _ in batch) == list(range(foreign_loaders.COUNT))


def test_other_seeds_are_other_streams(pairs, tmp_path):
    for seed, job in zip((1, 2), pairs["other seeds"]):
        for epoch, want in enumerate(expected("own_generator", 0, tmp_path, seed)):
            assert jobs.is_turned(job["own_generator"]["given"][epoch], want)
        assert job["own_generator"]["of_others"] == [0, 0]


@pytest.mark.parametrize("name", ("seeds shared", "no seeds"))
def test_one_order_for_both(pairs, name):
    first, second = epochs_of(pairs[name])
    for a, b in zip(first, second):
        assert is_whole(a) and jobs.is_turned(a, b)
    assert first[0] != first[1]
    assert shared(pairs[name]) > 0


def test_groups_are_kept_apart(pairs, tmp_path):
    for name in ("other groups", "one group"):
        for job in pairs[name]:
            for epoch, want in enumerate(expected("own_generator", 0, tmp_path)):
                assert jobs.is_turned(job["own_generator"]["given"][epoch], want)
    assert shared(pairs["other groups"]) == 0
    assert shared(pairs["one group"]) > 0


def test_what_cannot_be_looked_into(pairs, tmp_path):
    """On the user's word it shares."""
    for name, is_shared in (("on the user's word", True), ("without it", False)):
        for job in pairs[name]:
            for given in job["opaque"]["given"]:
                assert is_whole(given) and all(i == value for batch in given for i, value in batch)
        assert (sum(sum(job["opaque"]["of_others"]) for job in pairs[name]) > 0) == is_shared


def test_who_has_left_for_good_stays_away(hub, tmp_path):
    """Also where its workers stay: nothing is compared in later epochs."""
    started = start_together(tmp_path, hub, "foreign_job.py",
                             [(own, 1, SEED, "the_environment_of_workers") for own in (0, 1)])
    ended = [job["the_environment_of_workers"] for job in jobs.end_all(started)]
    assert sum(job["compared"][0] for job in ended) > 0
    assert sum(sum(job["compared"][1:]) for job in ended) == 0
    for own, job in enumerate(ended):
        assert all(value == i + own for given in job["given"] for batch in given
                   for i, value in batch)


def test_the_audit_finds_a_liar(hub, tmp_path):
    """It makes what the other makes until it has made two batches."""
    started = start_together(tmp_path, hub, "liar_job.py", [(0,), (1,)], DESTALL_AUDIT="1")
    for own, job in enumerate(jobs.end_all(started)):
        for i, batch in enumerate(job["given"]):
            assert all(value in (x, x + 1000 * (own + 1)) for x, value in batch), i
    assert any("is not what this job makes" in line for job in started for line in job.lines)


def test_what_was_proven_to_some_is_not_of_all(hub, tmp_path):
    """Two have proved that they make the same.  In their second epoch they find a third, which
    was there alone before them."""
    own = (0, 0, 1)
    started = start_together(tmp_path, hub, "newcomer_job.py", [(o,) for o in own])
    for o, job in zip(own, jobs.end_all(started)):
        wrong = [(i, value) for batch in job["given"] for i, value in batch if value != i + o]
        assert not wrong, (o, job["said"])
    assert any("is not what this job makes" in line for job in started for line in job.lines)


# --- killed, and begun again ------------------------------------------------------------------

def last_epoch(kind):
    loader, sampler = resume_job.make(kind)
    sampler.set_epoch(resume_job.LAST)
    return [str(b.tolist()) for b in
            reference.batches(loader, resume_job.SEED, resume_job.LAST, 0)]


@pytest.mark.parametrize("kind", list(resume_job.SAMPLERS))
def test_resumed(hub, tmp_path, kind):
    """While another job is in the middle of that epoch: the same batches are skipped."""
    def start(name, how):
        return jobs.Job(tmp_path, name, "resume_job.py", kind, how, FOLDER=str(tmp_path),
                        **hub.env)

    keeper, first = start("keeper", "wait"), start("first", "hang")
    with jobs.running([keeper, first]):
        jobs.wait_until((tmp_path / "seen").exists, "the batches of the last epoch")
        first.kill()
        assert first.wait() == -signal.SIGKILL
        after = start("again", "resume").end()["given"]
        (tmp_path / "end").touch()
        all_of_it = keeper.end()["given"]
    before = (tmp_path / "seen").read_text().splitlines()
    assert sorted(all_of_it) == sorted(last_epoch(kind))
    assert before + after == last_epoch(kind)
