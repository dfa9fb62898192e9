# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own behaviour is kept: what a program can see of its loaders is the
same with destall, with a second job that shares, as without."""

import os
import re
import signal

import pytest

import behaviour_job                    # noqa: F401
import cases
import jobs

NAMES = os.environ.get("DS_CASES", "").split() or cases.names()


@pytest.fixture(scope="module")
def seen(hub, tmp_path_factory):
    """By a plain job, and by two that share."""
    folder = tmp_path_factory.mktemp("jobs")

    def start(name, **env):
        return jobs.Job(folder, name, "behaviour_job.py", *NAMES,
                        NOTES=str(folder / (name + ".notes")), **hub.env, **env)

    plain = start("plain", DESTALL="0")
    shared = [start("shared%d" % i, MEET=str(folder / "meet"), PARTIES="2") for i in range(2)]
    return jobs.end_all([plain, *shared])


@pytest.mark.parametrize("name", NAMES)
def test_as_plain(seen, name):
    plain, *shared = seen
    for job in shared:
        found = jobs.differences(job["cases"][name], plain["cases"][name])
        assert not found, "\n".join(found)


_TRACE = re.compile(r"^Traceback \(most recent call last\):\n(?: .*\n)*(?:[\w.]+(?:: .*)?\n)?", re.M)


def others_lines(said):
    """Without what PyTorch says of a dead worker wherever it happens to be, and what the thread
    says that passes a worker's descriptors on, if its job went away meanwhile."""
    blocks = re.split(r"^(?=Exception ignored in)", said, flags=re.M)
    kept = "".join(b for b in blocks if "RuntimeError: DataLoader worker" not in b)
    kept = _TRACE.sub(lambda t: "" if "resource_sharer.py" in t[0] else t[0], kept)
    return sorted({re.sub(r"\d+", "N", line) for line in kept.splitlines()
                   if not line.startswith("destall: ")})


def test_nothing_else_is_said(seen):
    plain, *shared = seen
    for job in shared:
        assert others_lines(job["said"]) == others_lines(plain["said"])


# --- what needs processes of its own --------------------------------------------------------

def start(folder, name, script, *arguments, **env):
    return jobs.Job(folder, name, script, name, *arguments, FOLDER=str(folder), JOB=name, **env)


@pytest.mark.parametrize("workers", (0, 2))
def test_an_error_is_each_jobs_own(hub, tmp_path, workers):
    """One job cannot make a sample, and is told, unless it has been given it; the other has all
    of them."""
    pair = [start(tmp_path, name, "trouble_job.py", "bad", workers, MEET=str(tmp_path / "meet"),
                  PARTIES="2", **hub.env) for name in ("good", "bad")]
    good, bad = jobs.end_all(pair)
    want = [[i, i + 1, i + 2, i + 3] for i in range(0, 80, 4)]
    assert good["given"] == want
    bad["given"][10] = want[10] if bad["given"][10] == "ValueError" else bad["given"][10]
    assert bad["given"] == want


def test_a_peer_trips_no_timeout(hub, tmp_path):
    """One job waits until the other has had everything, which allows five seconds for each batch."""
    pair = [start(tmp_path, name, "trouble_job.py", "wait", 2, MEET=str(tmp_path / "meet"),
                  PARTIES="2", DESTALL_WINDOW="4", DESTALL_LAG="wait:60s", **hub.env)
            for name in ("quick", "idle")]
    quick, idle = jobs.end_all(pair)
    assert quick["given"] == idle["given"] == [[i, i + 1, i + 2, i + 3] for i in range(0, 48, 4)]


def interrupt(job):
    """As Ctrl-C does, when a sample is being made and everybody waits."""
    jobs.wait_until(lambda: os.path.exists(os.path.join(os.path.dirname(job.out),
                                                        job.name + ".waits")), "a wait")
    os.killpg(job.pid, signal.SIGINT)
    return job.wait()


@pytest.mark.parametrize("workers", (0, 2))
def test_interrupted(hub, tmp_path, workers):
    plain = start(tmp_path, "plain", "trouble_job.py", "hang", workers, DESTALL="0", **hub.env)
    pair = [start(tmp_path, name, "trouble_job.py", "hang", workers, MEET=str(tmp_path / "meet"),
                  PARTIES="2", **hub.env) for name in ("one", "two")]
    with jobs.running([plain, *pair]):
        statuses = [interrupt(job) for job in (plain, *pair)]
        assert statuses == [-signal.SIGINT] * 3
        for job in (plain, *pair):
            assert [line for line in job.said.splitlines() if not line.startswith("destall: ")][
                -1] == "KeyboardInterrupt"
            jobs.wait_until(lambda: not jobs.marked("JOB", job.name), "the end of its workers")
