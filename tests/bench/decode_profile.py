# SPDX-License-Identifier: Apache-2.0
"""Where the work of tests/bench/decode goes: instructions, counted by callgrind,
and where perf can be used, time, by asking what runs.

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
        "taps": ours(r"^(taps|steps)_")}


def split(profile, methods, images):
    """{group: instructions for each image}; they add up to the total."""
    groups = {k: profile.into(g) for k, g in inside_libjpeg(methods).items()}
    groups["rest of libjpeg"] = profile.into(is_libjpeg) - sum(groups.values())
    groups.update({k: profile.into(g) for k, g in OURS.items()})
    groups["rest"] = profile.total() - sum(groups.values())
    return {k: v / images for k, v in groups.items()}


def split_samples(samples, us):
    """{group: us for each image} of the functions that were seen running."""
    groups = collections.Counter({"libjpeg": sum(map(is_libjpeg, samples))})
    for name, is_inside in OURS.items():
        groups[name] = sum(map(is_inside, samples))
    groups["rest"] = len(samples) - sum(groups.values())
    return {k: us * v / len(samples) for k, v in groups.items()}


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


def watch(argv, out):
    """The functions that ran, asked often, and us of an image; or None."""
    r = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "5000", "-o", out,
                        *argv], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    figures = bench.parse_result(r.stdout)
    if r.returncode != 0 or figures is None:
        return None
    text = subprocess.run(["perf", "script", "-i", out, "-F", "ip,sym,dso"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    seen = re.findall(r"^ *[0-9a-f]+ (.*) \((.*)\)$", text, re.M)
    return [Function(o, name) for name, o in seen], 1e6 / figures["images_per_cpu_s"]


def take_some(shots, nr):
    some = shots + ".some"
    with open(shots) as f, open(some, "w") as g:
        g.writelines(f.readlines()[:nr])
    return some


WAYS = {"libjpeg": ("bare", "rgb"), "prep fp32": ("prep", "fp32"), "prep uint8": ("prep", "uint8")}


def count_all(loop, shots, folder, top, images):
    if shutil.which("valgrind") is None:
        return None
    some = take_some(shots, images)
    methods = json.loads(service.call([loop, "methods", some, folder]))
    return {name: split(count([loop, way, some, folder, option, "1"], top + "/callgrind"),
                        methods, images)
            for name, (way, option) in WAYS.items()}


def watch_all(loop, shots, folder, top, passes):
    if shutil.which("perf") is None:
        return None
    seen = {name: watch([loop, way, shots, folder, option, passes], top + "/perf")
            for name, (way, option) in WAYS.items()}
    if not all(s and s[0] for s in seen.values()):
        return None
    return {name: split_samples(*s) for name, s in seen.items()}


def show(loop, shots, folder, top, what, quick, as_json):
    """Prints the tables; the exit status."""
    images = 10 if quick else 200
    result = {"what": what, "images": images,
              "instructions": count_all(loop, shots, folder, top, images),
              "us": watch_all(loop, shots, folder, top, "1" if quick else "5")}
    if as_json:
        print(json.dumps(result, indent=1))
        return 0
    print("decode: where the work goes\n  %s" % what)
    print_table("thousands of instructions for each image (callgrind, %d images)" % images,
                result["instructions"], 1000)
    print_table("us for each image, by what was running (perf)", result["us"], 1)
    return 0


def print_table(title, columns, unit):
    if columns is None:
        print("\n  %s: not told, this machine cannot" % title)
        return
    print("\n  %s" % title)
    print("  %-22s" % "" + "".join("%22s" % name for name in columns))
    totals = {name: sum(groups.values()) for name, groups in columns.items()}
    for group in columns["libjpeg"]:
        print("  %-22s" % group + "".join(
            "%14.1f %5.1f %%" % (c[group] / unit, 100 * c[group] / totals[name])
            for name, c in columns.items()))
    print("  %-22s" % "all" + "".join("%14.1f        " % (t / unit) for t in totals.values()))
    print("  %-22s" % "libjpeg / all" + "".join(
        "%14.3f        " % (totals["libjpeg"] / t) for t in totals.values()))
