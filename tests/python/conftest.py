# SPDX-License-Identifier: Apache-2.0
"""conftest.py: what the tests share; and what they have counted is printed."""

import collections
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../loader/python"))

import destall_api                                          # noqa: E402
import jobs                                                 # noqa: E402
import pictures                                             # noqa: E402

COUNTS = collections.Counter()


@pytest.fixture(scope="session")
def counts():
    """Of what was compared, so that a test that compares nothing is seen."""
    return COUNTS


@pytest.fixture(scope="session")
def is_long():
    return os.environ.get("DS_LONG", "") not in ("", "0")


@pytest.fixture(scope="session")
def maker(tmp_path_factory):
    return pictures.Maker(str(tmp_path_factory.mktemp("pictures")))


@pytest.fixture(scope="session")
def simds():
    """Plain C first."""
    found = [s for s in ("plain", "avx2", "neon") if destall_api.has_simd(s)]
    assert found[0] == "plain"
    with open("/proc/cpuinfo") as f:
        words = f.read().split()
    assert ("avx2" in found) == {"avx2", "fma", "f16c"}.issubset(words)
    return found


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """For jobs of one file of tests."""
    with jobs.hub_in(tmp_path_factory.mktemp("hub")) as one:
        yield one


def pytest_terminal_summary(terminalreporter):
    terminalreporter.section("destall")
    for name, count in sorted(COUNTS.items()):
        terminalreporter.write_line("%s: %s" % (name, f"{count:,}"))
