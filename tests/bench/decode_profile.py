# SPDX-License-Identifier: Apache-2.0
"""Where the instructions of tests/bench/decode go, counted by callgrind.

Instructions are no time, but they are the same on every run, whatever else the
machine has to do.  A group's count is that of all calls into it from outside,
with what they call in turn; libjpeg's parts are told by their addresses, since
its functions have no names when it is stripped.
"""

import collections
import json
import re
import shutil
import subprocess

import bench
import service

Function = collections.namedtuple("Function", "object name")


class Profile:
    """What callgrind wrote: {function: own instructions}, {(caller, callee):
    instructions of the calls}."""

    def __init__(self, text):
        self.own = collections.Counter()
        self.calls = collections.Counter()
        self.names = {}
        here = there = called = None
        for line in text.splitlines():
            key, _, value = line.partition("=")
            if key in ("ob", "fn", "cob", "cfn"):
                value = self.expand(key[-2:], value)
            if key == "ob":
                here = Function(value, None)
            elif key == "fn":
                here = Function(here.object if here else None, value)
                there = here.object
            elif key == "cob":
                there = value
            elif key == "cfn":
                called = Function(there, value)
            elif re.match(r"[0-9+*-]", line):
                cost = int(line.split()[1])
                if called is None:
                    self.own[here] += cost
                else:
                    self.calls[here, called] += cost
                    called, there = None, here.object

    def expand(self, kind, value):
        """(12) stands for the name that (12) was given with first."""
        m = re.match(r"(\(\d+\)) ?(.*)", value)
        if m is None:
            return value
        if m.group(2):
            self.names[kind, m.group(1)] = m.group(2)
        return self.names[kind, m.group(1)]

    def total(self):
        return sum(self.own.values())

    def into(self, is_inside):
        """Instructions of all calls from outside into a group."""
        return sum(cost for (caller, callee), cost in self.calls.items()
                   if is_inside(callee) and not is_inside(caller))


# --- the groups -------------------------------------------------------------

def is_libjpeg(function):
    return "libjpeg" in (function.object or "")


def part_of_libjpeg(address, name):
    """By where it is, or by its name where the library has names."""
    names = ("0x%016x" % address, name)
    return lambda f: is_libjpeg(f) and f.name in names


def ours(pattern):
    return lambda f: not is_libjpeg(f) and re.search(pattern, f.name or "") is not None


def inside_libjpeg(methods):
    return {"entropy decoding": part_of_libjpeg(methods["entropy"], "decode_mcu"),
            "inverse DCT": part_of_libjpeg(methods["idct"], "jsimd_idct_islow"),
            "upsampling, colours": part_of_libjpeg(methods["upsample"], "sep_upsample")}


OURS = {"across": ours(r"^across"), "down": ours(r"^down"), "emit": ours(r"^emit"),
        "taps": ours(r"^taps_")}


def split(profile, methods, images):
    """{group: instructions for each image}; they add up to the total."""
    groups = {k: profile.into(g) for k, g in inside_libjpeg(methods).items()}
    groups["rest of libjpeg"] = profile.into(is_libjpeg) - sum(groups.values())
    groups.update({k: profile.into(g) for k, g in OURS.items()})
    groups["rest"] = profile.total() - sum(groups.values())
    return {k: v / images for k, v in groups.items()}


# --- counted ----------------------------------------------------------------

def count(argv, out):
    """Only what happens below measured()."""
    r = subprocess.run(["valgrind", "--tool=callgrind", "--collect-atstart=no",
                        "--toggle-collect=measured", "--callgrind-out-file=" + out, *argv],
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if r.returncode != 0:
        raise bench.Broken("valgrind: %s" % (r.stderr.strip().splitlines() or ["failed"])[-1])
    with open(out) as f:
        return Profile(f.read())


def take_some(shots, nr):
    some = shots + ".some"
    with open(shots) as f, open(some, "w") as g:
        g.writelines(f.readlines()[:nr])
    return some


WAYS = {"libjpeg": ("bare", "rgb"), "prep fp32": ("prep", "fp32"), "prep uint8": ("prep", "uint8")}


def show(loop, shots, folder, top, what, quick, as_json):
    """Prints the table; the exit status."""
    if shutil.which("valgrind") is None:
        print("decode: --profile needs valgrind: skipped")
        return 77
    images = 10 if quick else 200
    some = take_some(shots, images)
    methods = json.loads(service.call([loop, "methods", some, folder]))
    columns = {name: split(count([loop, way, some, folder, option, "1"], top + "/callgrind"),
                           methods, images)
               for name, (way, option) in WAYS.items()}
    if as_json:
        print(json.dumps({"what": what, "images": images, "instructions": columns}, indent=1))
    else:
        print_table(columns, what, images)
    return 0


def print_table(columns, what, images):
    print("decode: thousands of instructions for each image, %d images\n  %s\n" % (images, what))
    print("  %-22s" % "" + "".join("%22s" % name for name in columns))
    totals = {name: sum(groups.values()) for name, groups in columns.items()}
    for group in next(iter(columns.values())):
        print("  %-22s" % group + "".join(
            "%14.1f %5.1f %%" % (c[group] / 1000, 100 * c[group] / totals[name])
            for name, c in columns.items()))
    print("  %-22s" % "all" + "".join("%14.1f       " % (t / 1000) for t in totals.values()))
    base = totals["libjpeg"]
    print("  %-22s" % "libjpeg / all" + "".join("%14.3f       " % (base / t)
                                              for t in totals.values()))
