#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""cgroup.py: runs a command with less memory or slower storage, by cgroups.

    cgroup.py run [--memory 64M] [--read-bps 40M] [--read-iops N]
                  [--write-bps 40M] [--device-of PATH] -- CMD...
    cgroup.py check [the same options]      can it be done here?

The exit status is the command's (128 + N for signal N); 77, with the reason,
where it cannot be done.  Used by tests and benchmarks; as a module: Group.

 1. It makes children of its own cgroup only, moves into them only the process
    that it starts itself, and changes no other cgroup: not even the
    subtree_control of its own (so a version 2 hierarchy works where the
    controllers were given to it already).
 2. They are removed at the end, whatever the end is; what still runs in them
    is killed first.  After a SIGKILL of this program the next one removes
    what it left, once empty.

A throttled disk is a gate that opens every 100 ms or so, not a slow disk, and
counts pages; what is in the page cache is not slowed at all.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time

PREFIX = "destall-test-"
EXIT_SKIP = 77
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class Unavailable(Exception):
    """Why it cannot be done here."""


def parse_size(text):
    m = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([KMGT]?)", text)
    if m is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size such as 64M")
    return int(float(m.group(1)) * UNITS[m.group(2)])


# --- where we are -----------------------------------------------------------

def read_mounts():
    """(version, options, root, mount point) of every cgroup mount."""
    mounts = []
    with open("/proc/self/mountinfo") as f:
        for line in f:
            left, right = line.split(" - ", 1)
            fields, fs = left.split(), right.split()
            if fs[0] in ("cgroup", "cgroup2"):
                version = 2 if fs[0] == "cgroup2" else 1
                point = fields[4].encode().decode("unicode_escape")
                mounts.append((version, fs[2].split(","), fields[3], point))
    return mounts


def read_memberships():
    """{controller: path}; "" is the version 2 hierarchy."""
    found = {}
    with open("/proc/self/cgroup") as f:
        for line in f:
            _, names, path = line.rstrip("\n").split(":", 2)
            for name in names.split(","):
                found[name] = path
    return found


def below(path, root):
    """The path seen from the root of a mount, or None if outside of it."""
    if root == "/":
        return path
    if path == root or path.startswith(root + "/"):
        return path[len(root):] or "/"
    return None


def find_own(controller):
    """(version, directory) of our own cgroup for a controller."""
    memberships = read_memberships()
    for version, options, root, point in read_mounts():
        if version == 1 and controller in options:
            path = below(memberships.get(controller, "/"), root)
        elif version == 2 and "" in memberships:
            path = below(memberships[""], root)
            if path is None or not has_controller(point + path, controller):
                continue
        else:
            continue
        if path is not None:
            return version, os.path.normpath(point + path)
    raise Unavailable(f"no cgroup of ours has the {controller} controller")


def has_controller(directory, controller):
    try:
        with open(os.path.join(directory, "cgroup.subtree_control")) as f:
            return controller in f.read().split()
    except OSError:
        return False


def find_disk(path):
    """"MAJOR:MINOR" of the whole disk that a path lies on."""
    device = os.stat(path).st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    sys_path = f"/sys/dev/block/{number}"
    if not os.path.exists(sys_path):
        raise Unavailable(f"{path} is on no block device")
    if os.path.exists(f"{sys_path}/partition"):
        with open(os.path.join(os.path.realpath(sys_path), "../dev")) as f:
            number = f.read().strip()
    return number


# --- what is asked for ------------------------------------------------------

def plan_memory(limit):
    """The settings, as {(controller, version): [(file, text, needed)]}.
    Swap would only make it slow, so it is refused where it can be."""
    return {
        ("memory", 1): [("memory.limit_in_bytes", str(limit), True),
                        ("memory.memsw.limit_in_bytes", str(limit), False)],
        ("memory", 2): [("memory.max", str(limit), True),
                        ("memory.swap.max", "0", False)],
    }


def plan_io(disk, limits):
    files = {"rbps": "read_bps", "wbps": "write_bps", "riops": "read_iops"}
    given = {k: v for k, v in limits.items() if v is not None}
    return {
        ("blkio", 1): [(f"blkio.throttle.{files[k]}_device", f"{disk} {v}",
                        True) for k, v in given.items()],
        ("io", 2): [("io.max", f"{disk} {k}={v}", True)
                    for k, v in given.items()],
    }


class Group:
    """Cgroups with these limits, as a context; processes that are started
    with start() are in them."""

    def __init__(self, memory=None, read_bps=None, write_bps=None,
                 read_iops=None, device_of="."):
        self.directories = []
        self.plans = []
        if memory is not None:
            self.plans.append((("memory",), plan_memory(memory)))
        limits = {"rbps": read_bps, "wbps": write_bps, "riops": read_iops}
        if any(v is not None for v in limits.values()):
            plan = plan_io(find_disk(device_of), limits)
            self.plans.append((("blkio", "io"), plan))

    def __enter__(self):
        try:
            for names, plan in self.plans:
                self._add(names, plan)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def _add(self, names, plan):
        for i, name in enumerate(names):
            try:
                version, own = find_own(name)
                break
            except Unavailable:
                if i == len(names) - 1:
                    raise
        directory = os.path.join(own, f"{PREFIX}{os.getpid()}")
        if directory not in self.directories:
            remove_stale(own)
            try:
                os.mkdir(directory)
            except OSError as e:
                raise Unavailable(f"cannot make {directory}: {e.strerror}")
            self.directories.append(directory)
        for file, text, needed in plan[(name, version)]:
            try:
                write(os.path.join(directory, file), text)
            except OSError as e:
                if needed:
                    raise Unavailable(
                        f"cannot write '{text}' to {file}: {e.strerror}")

    def _enter(self):
        """In the child, before exec."""
        for directory in self.directories:
            write(os.path.join(directory, "cgroup.procs"), "0")

    def start(self, argv, **options):
        return subprocess.Popen(argv, preexec_fn=self._enter, **options)

    def read(self, file):
        """The text of a file of one of our cgroups."""
        for directory in self.directories:
            path = os.path.join(directory, file)
            if os.path.exists(path):
                with open(path) as f:
                    return f.read()
        raise Unavailable(f"no {file} in our cgroups")

    def close(self):
        # A second Ctrl-C is not to stop the tidying up.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
        while self.directories:
            remove(self.directories.pop())
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def write(path, text):
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


# --- the end ----------------------------------------------------------------

def remove(directory):
    """Kills what is left in a cgroup of ours and removes it; the kernel needs
    a moment to let go of the dead."""
    for _ in range(500):
        try:
            with open(os.path.join(directory, "cgroup.procs")) as f:
                for pid in f.read().split():
                    os.kill(int(pid), signal.SIGKILL)
        except (ProcessLookupError, FileNotFoundError):
            pass
        try:
            os.rmdir(directory)
            return
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.01)
    print(f"cgroup.py: {directory} cannot be removed", file=sys.stderr)


def remove_stale(own):
    """Empty ones that a killed predecessor left; rmdir refuses others."""
    for name in os.listdir(own):
        pid = name[len(PREFIX):]
        if name.startswith(PREFIX) and pid.isdigit() and \
                not os.path.exists(f"/proc/{pid}"):
            try:
                os.rmdir(os.path.join(own, name))
            except OSError:
                pass


def raise_exit(signo, _):
    sys.exit(128 + signo)


def run(group, argv):
    for signo in ENDINGS:
        signal.signal(signo, raise_exit)
    with group:
        try:
            child = group.start(argv)
        except FileNotFoundError as e:
            print(f"cgroup.py: {argv[0]}: {e.strerror}", file=sys.stderr)
            return 127
        except (PermissionError, subprocess.SubprocessError) as e:
            # What happens in the child before exec has lost its reason.
            if isinstance(e, subprocess.SubprocessError):
                raise Unavailable("may not move a process into a cgroup")
            print(f"cgroup.py: {argv[0]}: {e.strerror}", file=sys.stderr)
            return 126
        try:
            status = child.wait()
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
    return status if status >= 0 else 128 - status


def parse_arguments(argv):
    p = argparse.ArgumentParser(
        prog="cgroup.py", description=__doc__.split("\n")[0])
    p.add_argument("what", choices=("run", "check"))
    p.add_argument("--memory", type=parse_size)
    p.add_argument("--read-bps", type=parse_size)
    p.add_argument("--write-bps", type=parse_size)
    p.add_argument("--read-iops", type=int)
    p.add_argument("--device-of", metavar="PATH", default=".")
    p.usage = "%(prog)s run [OPTION]... -- CMD..., or check [OPTION]..."
    end = argv.index("--") if "--" in argv else len(argv)
    options = p.parse_args(argv[:end])
    options.command = argv[end + 1:]
    if (options.what == "run") != bool(options.command):
        p.error("run needs '-- CMD', check has none")
    return options


def main(argv):
    options = parse_arguments(argv)
    command = options.command or ["true"]
    try:
        group = Group(options.memory, options.read_bps, options.write_bps,
                      options.read_iops, options.device_of)
        return run(group, command)
    except Unavailable as e:
        print(f"cgroup.py: {e}", file=sys.stderr)
        return EXIT_SKIP


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
