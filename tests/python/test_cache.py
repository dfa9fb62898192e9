# SPDX-License-Identifier: Apache-2.0
"""Files that Python opens, from the cache, with the variable alone."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zlib

import pytest

import jobs

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ["top_builddir"])
PYTHON = os.path.join(HERE, "../../loader/python")
PROGRAM = os.path.join(BUILD, "destall")
OBJECT = os.path.join(BUILD, ".libs/libdestall-preload.so")
FILES = 40


# --- the hub, data, jobs -------------------------------------------------------------

def serve(*arguments):
    subprocess.run([PROGRAM, "serve", *arguments], check=True)


@pytest.fixture
def hub(tmp_path, monkeypatch):
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("DESTALL_HUB", str(tmp_path / "run/s"))
    serve("--cache", "64M")
    yield
    serve("--stop")


def stat():
    done = subprocess.run([PROGRAM, "cache", "stat", "--json"], check=True, capture_output=True)
    return json.loads(done.stdout)


def of(root):
    """The hub's figures of a data set."""
    return next((d for d in stat()["datasets"] if d["root"] == str(root)), None)


def write(path, number, size=3000):
    path.write_bytes((b"%08d" % number) * (size // 8))


def make(folder, first=0):
    folder.mkdir()
    for i in range(FILES):
        write(folder / ("%03d.bin" % i), first + i, 3000 + 8 * i)
    return folder


def sums_of(folder):
    return [zlib.crc32(p.read_bytes()) for p in sorted(folder.glob("*.bin"))]


@pytest.fixture
def data(tmp_path):
    """Not so new that another change could bear the same time."""
    folder = make(tmp_path / "data")
    newest = max(p.stat().st_ctime_ns for p in folder.iterdir())
    while time.time_ns() - newest < 50_000_000:
        time.sleep(0.01)
    return folder


def environment(**changed):
    return {**os.environ, "DESTALL": "1", "PYTHONPATH": PYTHON, "OMP_NUM_THREADS": "1",
            "LD_LIBRARY_PATH": os.path.join(BUILD, ".libs"), "PYTHONDONTWRITEBYTECODE": "1",
            **changed}


def start(what, *arguments, before=(), **changed):
    return subprocess.Popen([*before, sys.executable, os.path.join(HERE, "cache_job.py"), what,
                             *map(str, arguments)], env=environment(**changed), text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def end(process):
    out, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    return {**json.loads(out.splitlines()[-1]), "said": said}


def run(*arguments, **changed):
    return end(start(*arguments, **changed))


# --- loaders ---------------------------------------------------------------------------

@pytest.mark.parametrize("workers, how", [(0, "-"), (2, "fork"), (1, "spawn")])
def test_a_loader_reads_storage_once(hub, data, workers, how):
    want = sums_of(data)
    job = run("load", data, workers, how, 2)
    assert job["epochs"] == [want, want]
    assert job["planned"] and job["plain"] and job["said"] == ""
    figures = job["status"]["roots"][str(data)]
    assert figures["storage_reads"] == figures["cached_items"] == figures["hits"] == FILES
    assert figures["in_use"] and "destall run" in job["status"]["how"]


def test_jobs_read_storage_once_together(hub, data):
    want = sums_of(data)
    jobs = [start("load", data, workers, "fork", 2) for workers in (0, 1, 2)]
    for job in jobs:
        assert end(job)["epochs"] == [want, want]
    figures = of(data)
    assert figures["storage_reads"] == FILES
    assert figures["hits"] == 5 * FILES


def test_what_is_in_use_is_given_up_at_the_end(hub, data):
    assert run("childless", data) == {"children": False, "planned": True, "said": ""}
    while of(data)["in_use"]:
        time.sleep(0.01)


def test_loaders_of_two_folders(hub, data, tmp_path):
    other = make(tmp_path / "other", 1000)
    job = run("two", data, other)
    want = [sums_of(data), sums_of(other)]
    assert job["given"] == want + want
    assert job["more"] == want
    assert of(data)["hits"] == 2 * FILES
    assert of(other)["hits"] + of(other)["misses"] == 3 * FILES


def test_a_share_of_the_data(hub, data):
    want = sums_of(data)
    job = run("load", data, 2, "fork", 3, DESTALL_CACHE="35%")
    assert job["epochs"] == [want] * 3
    figures = of(data)
    assert 0.2 < figures["cached_bytes"] / figures["bytes"] <= 0.35
    assert figures["storage_reads"] == FILES + 2 * (FILES - figures["cached_items"])


def test_files_that_nobody_has_listed_yet(hub, data, tmp_path):
    """They are read as ever, and not listed here; once they are, they are cached."""
    want, listed = sums_of(data), tmp_path / "listed"
    job = start("unlisted", data, listed, OBJECT)
    assert job.stdout.readline() == "read\n"
    assert of(data) is None
    subprocess.run([PROGRAM, "env", "--data", str(data)], check=True, capture_output=True)
    job.stdin.write("\n")
    job.stdin.flush()
    while of(data)["hits"] == 0:
        assert job.poll() is None
        time.sleep(0.02)
    listed.write_text("")
    assert end(job) == {"before": want, "after": want, "said": ""}
    assert of(data)["storage_reads"] == FILES


# --- trouble ---------------------------------------------------------------------------

def go_on(job):
    assert job.stdout.readline() == "epoch\n"


def let(job):
    job.stdin.write("\n")
    job.stdin.flush()


def test_files_that_change(hub, data):
    want = sums_of(data)
    job = start("meanwhile", data)
    go_on(job)
    write(data / "000.bin", 777)
    (data / "001.bin").unlink()
    write(data / "new", 888)
    os.rename(data / "new", data / "001.bin")
    let(job)
    go_on(job)
    let(job)
    go_on(job)
    let(job)
    now = sums_of(data)
    assert now[:2] != want[:2]
    assert end(job) == {"epochs": [want, now, now], "said": ""}


def test_the_hub_is_killed(hub, data):
    want = sums_of(data)
    job = start("meanwhile", data)
    go_on(job)
    pid = stat()["hub"]["pid"]
    os.kill(pid, signal.SIGKILL)
    while os.path.exists("/proc/%d/task" % pid) and open("/proc/%d/stat" % pid).read().split(
            ") ")[-1][0] != "Z":
        time.sleep(0.01)
    let(job)
    go_on(job)
    serve("--cache", "64M")
    let(job)
    go_on(job)
    let(job)
    ended = end(job)
    assert ended["epochs"] == [want] * 3
    assert ended["said"].count("\n") <= 1


def keepers():
    """The shells that keep data sets in use, and what runs them."""
    return [pid for pid in jobs.marked("DESTALL_HUB", os.environ["DESTALL_HUB"])
            if "read -r _" in (jobs.command_of(pid) or "")]


def test_the_keeper_is_killed(hub, data):
    """The job's files come from the cache all the same."""
    want = sums_of(data)
    job = start("meanwhile", data)
    go_on(job)
    for pid in keepers():
        os.kill(pid, signal.SIGKILL)
    jobs.wait_until(lambda: not keepers(), "the end of its keeper")
    for _ in range(2):
        let(job)
        go_on(job)
    assert of(data)["storage_reads"] == FILES
    let(job)
    assert end(job) == {"epochs": [want] * 3, "said": ""}


def test_no_hub_can_be_had(data, tmp_path):
    want = sums_of(data)
    job = run("load", data, 2, "fork", 1, DESTALL_HUB="/proc/no/such/s")
    assert job["epochs"] == [want] and not job["planned"]
    assert job["said"].startswith("destall: files are read without the cache: cannot ")
    assert job["said"].count("\n") == 1


def test_without_the_object(hub, data, tmp_path):
    (tmp_path / "lib").mkdir()
    shutil.copy(os.path.join(BUILD, ".libs/libdestall.so.0"), tmp_path / "lib")
    job = run("load", data, 0, "-", 1, LD_LIBRARY_PATH=str(tmp_path / "lib"))
    assert job["epochs"] == [sums_of(data)] and not job["planned"]
    assert job["said"] == ("destall: files are read without the cache: there is no "
                           "libdestall-preload.so beside the library\n")


@pytest.mark.parametrize("value, why", [
    ("/no/such", "DESTALL_DATA: /no/such is no folder"),
    ("/", "DESTALL_DATA: / is no data set"),
    ("", None)])
def test_bad_roots(hub, data, value, why):
    job = run("load", data, 1, "fork", 1, DESTALL_DATA=value)
    assert job["epochs"] == [sums_of(data)] and not job["planned"]
    assert job["why_not"] == (why or "DESTALL_DATA is empty")
    assert job["said"] == ("destall: files are read without the cache: %s\n" % why if why else "")


def test_a_bad_budget_costs_the_cache(hub, data):
    job = run("load", data, 1, "fork", 1, DESTALL_CACHE="many")
    assert job["epochs"] == [sums_of(data)] and not job["planned"]
    assert "DESTALL_CACHE" in job["said"] and job["said"].count("\n") == 1


def test_under_destall_run_nothing_is_done(hub, data):
    job = run("load", data, 1, "fork", 2, DESTALL_LOG="quiet",
              before=[PROGRAM, "run", "--data", str(data), "--"])
    assert job["epochs"] == [sums_of(data)] * 2 and not job["planned"]
    assert "destall run" in job["why_not"] and "destall run" in job["status"]["how"]
    assert of(data)["storage_reads"] == of(data)["hits"] == FILES
    assert job["said"] == ""


@pytest.mark.parametrize("before, preload", [([PROGRAM, "run", "--"], {}),
                                             ([], {"LD_PRELOAD": OBJECT})])
@pytest.mark.parametrize("workers, how", [(0, "-"), (2, "fork"), (1, "spawn")])
def test_preloaded_and_nobody_named_the_data(hub, data, before, preload, workers, how):
    """As `destall run` and `destall env` have it: the loader tells."""
    job = run("hidden", workers, how, 2, before=before, DATA=str(data), DESTALL_LOG="quiet",
              **preload)
    want = sums_of(data)
    assert job["epochs"] == [want, want] and job["planned"] and job["plain"]
    figures = job["status"]["roots"][str(data)]
    assert figures["storage_reads"] == figures["cached_items"] == figures["hits"] == FILES
    assert job["status"]["how"].startswith("all that the job reads")


def test_preloaded_and_there_is_to_be_no_data(hub, data):
    job = run("hidden", 1, "fork", 1, before=[PROGRAM, "run", "--"], DATA=str(data),
              DESTALL_DATA="", DESTALL_LOG="quiet")
    assert job["epochs"] == [sums_of(data)] and not job["planned"]
    assert job["why_not"] == "DESTALL_DATA is empty"
