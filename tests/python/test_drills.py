# SPDX-License-Identifier: Apache-2.0
"""Four jobs that share, and what may happen to them, their workers and the hub.
Survivors have every batch of every epoch once, with the right bytes; of the
others nothing is left."""

import contextlib
import functools
import os
import random
import signal
import time

import pytest

import drill_job
import flows
import jobs
import reference

from jobside import digest

EPOCHS = 3
IS_LONG = os.environ.get("DS_LONG", "") not in ("", "0")
WORKERS = (2, 0, 1, 2)
FLOWING = 2             # workers of each, where as many is what they must have to share


@functools.lru_cache(maxsize=None)
def want(order, epoch):
    if order == "flowing":
        return [digest(b) for b in drill_job.make(
            order, num_workers=FLOWING, worker_init_fn=flows.Seed(epoch, FLOWING))]
    loader = drill_job.make(order)
    return [digest(b) for b in reference.batches(loader, drill_job.SEED, epoch, 0)]


class Drill:
    """Jobs with a hub of their own."""

    def __init__(self, folder, hub, order, chance):
        self.folder, self.hub, self.order, self.chance = folder, hub, order, chance
        self.jobs = []

    def start(self, workers, leaves=0, **env):
        job = jobs.Job(self.folder, "job%d" % len(self.jobs), "drill_job.py", workers, EPOCHS,
                       self.order, leaves, **self.hub.env, **env)
        self.jobs.append(job)
        return job

    def start_four(self):
        gate = str(self.folder / "gate")
        four = [self.start(w, GATE=gate) for w in WORKERS]
        for job in four:
            self.wait_for(job, 0)
        open(gate, "w").close()
        return four

    def log(self, job):
        with contextlib.suppress(FileNotFoundError), open(job.out + ".log") as f:
            return f.read().splitlines()
        return []

    def wait_for(self, job, batches):
        """Until it has had so many."""
        def is_so():
            assert job.is_running or len(self.log(job)) > batches, job.said
            return len(self.log(job)) > batches
        jobs.wait_until(is_so, "%d batches at %s:\n%s" % (batches, job.name, job.said))

    def somewhere(self, job, of=2):
        """A point in its first epochs, by chance."""
        self.wait_for(job, self.chance.randrange(1, of * len(want(self.order, 0))))

    def check(self, survivors):
        """That they end, and what they were given."""
        for job in survivors:
            assert job.wait() == 0, job.said
            given = [line.split() for line in self.log(job)[1:] if line != "left"]
            for epoch in range(EPOCHS):
                had = [d for e, d in given if int(e) == epoch]
                expected = want(self.order, epoch)
                assert sorted(had) == sorted(expected), (job.name, epoch, job.said)
                assert jobs.is_turned(had, expected) if self.order == "shuffled" else \
                    had == expected, (job.name, epoch, job.said)

    def check_shared(self, survivors):
        """Else nothing was tried."""
        assert sum(job.end()["of_others"] for job in survivors) > 0

    def check_nothing_left(self):
        """Workers of a killed job find out by themselves."""
        hubs = self.hub.pids
        assert len(hubs) <= 1
        left = lambda: set(jobs.marked("DESTALL_HUB", self.hub.socket)) - set(hubs)    # noqa: E731
        jobs.wait_until(lambda: not left(), lambda: "the end of all processes of the jobs:\n%s" % (
            "\n".join(map(jobs.describe, left()))))


def rounds(*orders, others=("shuffled", "listed"), **env):
    """Of a drill: each order once; if there is time, the others, too, many times."""
    chosen = [(order, n) for n in range(12) for order in sorted({*orders, *others})] if IS_LONG else \
        [(order, 0) for order in orders]
    return pytest.mark.parametrize("drill", [(*one, env) for one in chosen], indirect=True,
                                   ids=["%s-%d" % one for one in chosen])


@pytest.fixture
def drill(request, tmp_path_factory):
    order, number, env = request.param
    chance = random.Random("%s %s %s %d" % (
        os.environ.get("DS_SEED", "1"), request.function.__name__, order, number))
    with jobs.hub_in(tmp_path_factory.mktemp("hub"), **env) as hub:
        one = Drill(tmp_path_factory.mktemp("jobs"), hub, order, chance)
        with jobs.running(one.jobs):
            yield one
            one.check_nothing_left()


def stop(pid):
    os.kill(pid, signal.SIGSTOP)
    jobs.wait_until(lambda: jobs.state_of(pid) in ("T", None), "that it is stopped")


@rounds("shuffled")
def test_jobs_and_workers_are_killed(drill):
    """One job after the other: first it, then a worker of another, which fails as it would
    alone."""
    first, second, third, fourth = drill.start_four()
    drill.somewhere(first)
    first.kill()
    drill.somewhere(fourth)
    victim = drill.chance.choice(jobs.workers_of(fourth.pid) or [None])
    if victim is not None:              # else it is between two epochs
        os.kill(victim, signal.SIGKILL)
        assert fourth.wait() in (0, 1)
        assert fourth.wait() == 0 or "DataLoader worker" in fourth.said or \
            "Connection reset" in fourth.said
    drill.check([second, third])
    drill.check_shared([second, third])
    assert first.wait() == -signal.SIGKILL


@rounds("shuffled")
def test_the_first_is_killed_at_once(drill):
    """Before those who came a little later have compared anything with it: one of them makes what
    others compare with, in the same epoch."""
    gates = [str(drill.folder / gate) for gate in ("first", "others", "others")]
    first, *others = [drill.start(1, GATE=gate) for gate in gates]
    for job in (first, *others):
        drill.wait_for(job, 0)
    open(gates[0], "w").close()
    drill.wait_for(first, 1)
    stop(first.pid)
    open(gates[1], "w").close()
    for job in others:
        drill.wait_for(job, 1)
    first.kill()
    drill.check(others)
    own = sum(job.end()["own"] for job in others)
    assert own < len(want(drill.order, 0)), own


def start_flowing(drill):
    """Of an iterable dataset one job makes all parts: the first, which takes long for its steps, so
    that it is there still when it is to be hurt.  (it, the others): these have come somewhere."""
    gates = [str(drill.folder / gate) for gate in ("first", "others", "others")]
    maker, *others = [drill.start(FLOWING, GATE=gate, STEP_S=step)
                      for gate, step in zip(gates, ("0.05", "0.002", "0.002"))]
    for job in (maker, *others):
        drill.wait_for(job, 0)
    for job, gate in ((maker, gates[0]), (others[0], gates[1])):
        open(gate, "w").close()
        drill.wait_for(job, 1)
    drill.somewhere(others[1], of=1)
    return maker, others


@rounds("flowing", others=())
def test_the_maker_of_parts_is_killed(drill):
    """Another takes over, from its own beginning."""
    maker, others = start_flowing(drill)
    maker.kill()
    drill.check(others)
    drill.check_shared(others)
    assert maker.wait() == -signal.SIGKILL


@rounds("flowing", others=(), DESTALL_LAG="detach:1s")
def test_the_maker_of_parts_is_stopped(drill):
    """With its workers, for as long as the others need: they do not wait for it."""
    maker, others = start_flowing(drill)
    stopped = [maker.pid, *jobs.workers_of(maker.pid)]
    for pid in stopped:
        stop(pid)
    drill.check(others)
    for pid in stopped:
        os.kill(pid, signal.SIGCONT)
    if IS_LONG:                         # its steps are
        drill.check([maker])
    else:
        maker.kill()


@rounds("listed")
def test_the_hub_is_killed(drill):
    """Each goes on alone from where it was; another may be started for a later epoch."""
    four = drill.start_four()
    drill.somewhere(drill.chance.choice(four))
    for pid in drill.hub.pids:
        os.kill(pid, signal.SIGKILL)
    drill.check(four)


@rounds("shuffled", DESTALL_LAG="detach:1s", DESTALL_WINDOW="8")
def test_stopped(drill):
    """A job, then a worker, as long as the others need for all they do; and the hub, for a
    while."""
    first, second, third, fourth = drill.start_four()
    drill.somewhere(first, of=1)
    for pid in drill.hub.pids:
        stop(pid)
        time.sleep(0.5)
        os.kill(pid, signal.SIGCONT)
    drill.somewhere(second, of=1)
    stop(second.pid)
    stopped = jobs.workers_of(first.pid)[:1]
    for pid in stopped:
        stop(pid)
    drill.check([third, fourth])
    for pid in (second.pid, *stopped):
        os.kill(pid, signal.SIGCONT)
    drill.check([first, second])
    drill.check_shared([first, second, third, fourth])


@rounds("shuffled", DESTALL_STAGE="16K")
def test_hardly_any_room(drill):
    """At the stage, for four batches: what finds none each makes for itself."""
    drill.check(drill.start_four())


@rounds("shuffled", "listed")
def test_late(drill):
    """One joins in the middle of an epoch, another leaves and joins many times, a third is
    killed as it joins."""
    gates = [str(drill.folder / ("gate%d" % i)) for i in range(4)]
    waiting = [drill.start(w, leaves, GATE=gate)
               for w, leaves, gate in zip((2, 0, 2, 1), (0, 0, 6, 0), gates)]
    for job in waiting:
        drill.wait_for(job, 0)
    early, late, restless, killed = waiting
    for job, gate in zip((early, restless, late, killed), (gates[0], gates[2], gates[1],
                                                           gates[3])):
        if job is not early:
            drill.somewhere(early, of=1)
        open(gate, "w").close()
    drill.wait_for(killed, drill.chance.randrange(1, 4))
    killed.kill()
    drill.check([early, late, restless])
    drill.check_shared([early, late, restless])
    assert killed.wait() == -signal.SIGKILL
