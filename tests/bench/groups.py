# SPDX-License-Identifier: Apache-2.0
"""Control groups of a benchmark's own: less memory, a slower disk, a hub in there with
the jobs, and what the group has read and holds.
"""

import os
import subprocess
import sys

import bench
import service

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import cgroup                                                       # noqa: E402


def make_group(memory, path, o):
    return cgroup.Group(memory=memory, read_bps=o.read_bps, read_iops=o.read_iops, device_of=path)


def check_rights(top, options):
    """Before any work."""
    with make_group(1 << 30, top, options) as group:
        try:
            group.start(["true"]).wait()
        except subprocess.SubprocessError:
            raise cgroup.Unavailable("may not move a process into a cgroup")


class GroupHub(service.Hub):
    """A hub in a control group."""

    def __init__(self, top, cache, group):
        super().__init__(top, cache)
        self.group = group

    def __enter__(self):
        os.environ["DESTALL_HUB"] = self.top + "/s"
        p = self.group.start([self.destall, "serve", "--cache", str(self.cache)])
        if p.wait() != 0:
            raise bench.Broken("serve: exit status %d" % p.returncode)
        return self


# --- what a control group has read and holds --------------------------------

def parse_read_v1(text, disk):
    """Of blkio.throttle.io_service_bytes or io_serviced."""
    return sum(int(words[2]) for words in map(str.split, text.splitlines())
               if words[:2] == [disk, "Read"])


def parse_read_v2(text, disk, key):
    """Of io.stat: key is rbytes or rios."""
    return sum(int(word.split("=")[1]) for words in map(str.split, text.splitlines())
               if words[:1] == [disk] for word in words if word.startswith(key + "="))


def storage(group, disk):
    """(bytes, requests) read by the group since it was made."""
    try:
        text = group.read("io.stat")
        return parse_read_v2(text, disk, "rbytes"), parse_read_v2(text, disk, "rios")
    except cgroup.Unavailable:
        return tuple(parse_read_v1(group.read("blkio.throttle." + file), disk)
                     for file in ("io_service_bytes", "io_serviced"))


def parse_memory(text):
    """Bytes of files in memory, without shared memory, of either version."""
    values = {k: int(v) for k, v in map(str.split, text.splitlines())}
    for file, shmem in (("file", "shmem"), ("total_cache", "total_shmem"), ("cache", "shmem")):
        if file in values:
            return values[file] - values.get(shmem, 0)
    raise cgroup.Unavailable("memory.stat does not tell what is cached")
