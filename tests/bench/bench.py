# SPDX-License-Identifier: Apache-2.0
"""bench.py: the frame of every benchmark: README.md says how to write one.

Cases run interleaved, in an order that is random but seeded, for a number of
rounds after a warm-up.  A ratio is the median over the rounds of case by
baseline *of the same round*, so that a machine whose speed drifts moves both;
its interval is a bootstrap over the rounds.  Between the rounds a fixed loop
is timed on one core, so that a reader can see how far the speed drifted.
"""

import argparse
import contextlib
import json
import os
import platform
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time
import zlib

SCHEMA_VERSION = 1
RESAMPLES = 2000
DRIFT_WORTH_A_WORD = 0.05
WALL, CPU = "seconds", "cpu_seconds"


class Broken(Exception):
    """A case that does not work; the message says which and why."""


# --- figures ----------------------------------------------------------------

def quantile(values, q):
    """By linear interpolation, as numpy and R do by default."""
    v = sorted(values)
    at = q * (len(v) - 1)
    low = int(at)
    high = min(low + 1, len(v) - 1)
    return v[low] + (v[high] - v[low]) * (at - low)


def describe(values):
    return {
        "median": statistics.median(values),
        "q1": quantile(values, 0.25),
        "q3": quantile(values, 0.75),
        "min": min(values),
        "max": max(values),
    }


def compare(values, baseline, rng):
    """The ratio to the baseline, round by round, and its 95 % interval."""
    ratios = [v / b for v, b in zip(values, baseline) if b != 0]
    if not ratios:
        return None
    draws = [statistics.median(rng.choices(ratios, k=len(ratios)))
             for _ in range(RESAMPLES)]
    return {
        "ratio": statistics.median(ratios),
        "interval": [quantile(draws, 0.025), quantile(draws, 0.975)],
    }


# --- the machine ------------------------------------------------------------

def machine():
    model = platform.machine()
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return {
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
    }


SPIN_BYTES = bytes(range(256)) * 4096
SPIN_TIMES = 20


def spin():
    """CPU seconds of a fixed piece of work on one core: the best of three,
    since it is the core's speed that is asked for, not who else had it."""
    cores = os.sched_getaffinity(0)
    times = []
    os.sched_setaffinity(0, {min(cores)})
    try:
        for _ in range(3):
            start = time.thread_time()
            for _ in range(SPIN_TIMES):
                zlib.crc32(SPIN_BYTES)
            times.append(time.thread_time() - start)
    finally:
        os.sched_setaffinity(0, cores)
    return min(times)


def drift(spins):
    return (max(spins) - min(spins)) / statistics.median(spins)


# --- what the host takes -----------------------------------------------------

STOLEN_MOST = 0.02      # of the processors' time: with more a run tells of the host, not of us
TRIES = 2


def processor_ticks(path="/proc/stat"):
    """That the host of this virtual machine took, and all: of all processors, since its start."""
    with open(path) as f:
        ticks = list(map(int, f.readline().split()[1:9]))
    return ticks[7], sum(ticks)


def calmly(run, tries=TRIES, most=STOLEN_MOST, ticks=processor_ticks):
    """What a run gives from which the host took no more than that, or the least of some tries; the
    share that it took, and how many tries there were."""
    best = None
    for nr in range(tries):
        taken, total = ticks()
        try:
            found = run()
        except Broken:
            if best is None:
                raise
            break                       # what there is counts
        taken, total = (now - before for now, before in zip(ticks(), (taken, total)))
        share = taken / max(total, 1)
        if best is None or share < best[1]:
            best = found, share
        if share <= most:
            break
    return *best, nr + 1


# --- cases ------------------------------------------------------------------

def parse_result(text):
    """The figures of a command: its last line, if that is JSON: a number, or
    an object whose numbers are figures.  Else None: it is only timed."""
    lines = text.strip().splitlines()
    if not lines:
        return None
    try:
        value = json.loads(lines[-1])
    except ValueError:
        return None
    return as_figures(value)


def as_figures(value):
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return {"value": float(value)}
    if not isinstance(value, dict):
        return None
    figures = {k: float(v) for k, v in value.items()
               if isinstance(v, (int, float)) and not isinstance(v, bool)}
    return figures or None


def run_command(argv):
    """Its figures, or its time, and the CPU time of it and its children."""
    start = time.perf_counter()
    with subprocess.Popen(argv, stdout=subprocess.PIPE,
                          stdin=subprocess.DEVNULL) as child:
        text = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if child.returncode != 0:
        raise Broken(f"{argv[0]}: exit status {child.returncode}")
    figures = parse_result(text.decode(errors="replace")) or {WALL: wall}
    return {**figures, CPU: usage.ru_utime + usage.ru_stime}


def cpu_time():
    return sum(u.ru_utime + u.ru_stime for u in (
        resource.getrusage(resource.RUSAGE_SELF),
        resource.getrusage(resource.RUSAGE_CHILDREN)))


def run_callable(function):
    cpu, start = cpu_time(), time.perf_counter()
    value = function()
    wall = time.perf_counter() - start
    return {**(as_figures(value) or {WALL: wall}), CPU: cpu_time() - cpu}


def program(path):
    """A program of the build, by its path in it."""
    return os.path.join(os.environ.get("top_builddir", "build"), path)


class Case:
    def __init__(self, name, what):
        self.name = name
        self.what = what

    def run(self):
        if callable(self.what):
            return run_callable(self.what)
        try:
            return run_command(self.what)
        except OSError as e:
            raise Broken(f"{self.what[0]}: {e.strerror}: if it is ours, "
                         "'make bench-programs' builds it, and "
                         "top_builddir=DIR says where")


# --- instructions -----------------------------------------------------------

def count_by_perf(argv):
    r = subprocess.run(
        ["perf", "stat", "-x", ",", "-e", "instructions:u", "--"] + argv,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    m = re.search(r"^([0-9]+),.*instructions", r.stderr, re.M)
    return int(m.group(1)) if r.returncode == 0 and m else None


def count_by_valgrind(argv):
    r = subprocess.run(
        ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--trace-children=yes",
         "--cachegrind-out-file=/dev/null"] + argv,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    counts = re.findall(r"I +refs: +([0-9,]+)", r.stderr)
    if r.returncode != 0 or not counts:
        return None
    return sum(int(text.replace(",", "")) for text in counts)


def count_instructions(case):
    """(count, who counted), once; (None, why not)."""
    if callable(case.what):
        return None, "only commands can be counted"
    tools = {"perf": count_by_perf, "valgrind": count_by_valgrind}
    for tool, count in tools.items():
        n = count(list(case.what)) if shutil.which(tool) else None
        if n is not None:
            return n, tool
    return None, "neither perf nor valgrind can count here"


# --- the benchmark ----------------------------------------------------------

class Bench:
    """A benchmark: its cases, the baseline first, then main()."""

    def __init__(self, title, rounds=20, warmup=1, lower_is_better=True):
        self.title = title
        self.rounds = rounds
        self.warmup = warmup
        self.lower_is_better = lower_is_better
        self.cases = []
        self.quick = "--quick" in sys.argv[1:]

    def case(self, name, what):
        """What is an argument list, or a function; the first case is the
        baseline."""
        if name in (c.name for c in self.cases):
            raise Broken(f"two cases are called {name}")
        self.cases.append(Case(name, what))

    def measure(self, rounds, warmup, seed, note=lambda done, total: None, is_calm=False):
        """{case: {figure: [a value per round]}}, and the times of spin().  is_calm: runs from
        which the host took much are made again."""
        order_of = random.Random(seed)
        samples = {c.name: {} for c in self.cases}
        spins = [spin()]
        for i in range(warmup + rounds):
            note(i, warmup + rounds)
            for case in order_of.sample(self.cases, len(self.cases)):
                figures = calmly(case.run)[0] if is_calm else case.run()
                if i >= warmup:
                    keep(samples[case.name], figures, i - warmup, case.name)
            spins.append(spin())
        return samples, spins

    def evaluate(self, samples, spins, options):
        rng = random.Random(options.seed)
        base = samples[self.cases[0].name]
        results = []
        for case in self.cases:
            figures = {}
            for figure, values in samples[case.name].items():
                figures[figure] = {**describe(values), "values": values}
                if case is not self.cases[0] and figure in base:
                    figures[figure]["to_baseline"] = compare(
                        values, base[figure], rng)
            results.append({"name": case.name, "figures": figures})
        return {
            "schema_version": SCHEMA_VERSION,
            "title": self.title,
            "machine": machine(),
            "rounds": options.rounds,
            "seed": options.seed,
            "quick": options.quick,
            "spin_seconds": spins,
            "drift_share": drift(spins),
            "lower_is_better": self.lower_is_better,
            "baseline": self.cases[0].name,
            "cases": results,
        }

    def main(self, argv=None):
        """Runs it as the command line says; returns the exit status."""
        options = parse_arguments(self, argv)
        try:
            samples, spins = self.measure(
                options.rounds, options.warmup, options.seed,
                progress if sys.stderr.isatty() else lambda *_: None, options.calm)
        except Broken as e:
            print(f"{os.path.basename(sys.argv[0])}: {e}", file=sys.stderr)
            return 1
        result = self.evaluate(samples, spins, options)
        if options.instructions:
            add_instructions(self.cases, result)
        text = json.dumps(result, indent=1) if options.json else table(result)
        return write(options.output, text + "\n")


def keep(samples, figures, nr, name):
    """A case must give the same figures in every round."""
    if nr > 0 and figures.keys() != samples.keys():
        raise Broken(f"{name}: round {nr + 1} gave {sorted(figures)}, "
                     f"the first gave {sorted(samples)}")
    for figure, value in figures.items():
        samples.setdefault(figure, []).append(value)


def add_instructions(cases, result):
    for case, row in zip(cases, result["cases"]):
        count, by = count_instructions(case)
        row["instructions"] = {"count": count, "by": by}


def progress(done, total):
    end = "\r" if done + 1 < total else "\r\033[K"
    print(f"round {done + 1} of {total}", end=end, file=sys.stderr, flush=True)


def write(path, text):
    if path is None:
        sys.stdout.write(text)
        return 0
    try:
        with open(path, "w") as f:
            f.write(text)
    except OSError as e:
        print(f"{path}: {e.strerror}", file=sys.stderr)
        return 1
    return 0


# --- the table --------------------------------------------------------------

def figure_text(x):
    if x == 0 or 0.01 <= abs(x) < 1e6:
        return f"{x:.4g}" if abs(x) < 1000 else f"{x:,.0f}"
    return f"{x:.3e}"


def row_text(case, row, better_low):
    spread = f"{figure_text(row['q1'])} .. {figure_text(row['q3'])}"
    extremes = f"{figure_text(row['min'])} .. {figure_text(row['max'])}"
    text = f"  {case:<20} {figure_text(row['median']):>11}  " \
           f"{spread:<23} {extremes:<23} "
    ratio = row.get("to_baseline", False)
    if ratio is False:
        return text + "baseline"
    if ratio is None:
        return text + "baseline is 0"
    low, high = ratio["interval"]
    verdict = "no difference"
    if high < 1 or low > 1:
        verdict = "better" if (high < 1) == better_low else "worse"
    return text + f"{ratio['ratio']:.3f} [{low:.3f}, {high:.3f}] {verdict}"


def table(result):
    m = result["machine"]
    lines = [
        result["title"],
        f"  {m['cpu']}, {m['cores']} cores, Linux {m['kernel']}; "
        f"{result['rounds']} rounds, seed {result['seed']}",
    ]
    figures = []
    for case in result["cases"]:
        figures += [f for f in case["figures"] if f not in figures]
    for figure in figures:
        low = result["lower_is_better"] or figure.startswith("cpu_")
        lines.append("")
        lines.append(f"  {figure:<20} {'median':>11}  {'quartiles':<23} "
                     f"{'min .. max':<23} ratio to baseline [95 %]")
        for case in result["cases"]:
            if figure in case["figures"]:
                row = case["figures"][figure]
                lines.append(row_text(case["name"], row, low))
    lines += instruction_lines(result)
    if result.get("notes"):
        lines += ["", *("  " + note for note in result["notes"])]
    lines += ["", drift_line(result["drift_share"])]
    return "\n".join(line.rstrip() for line in lines)


def instruction_lines(result):
    lines = []
    for case in result["cases"]:
        if "instructions" in case:
            n, by = case["instructions"]["count"], case["instructions"]["by"]
            text = f"{n:,} ({by})" if n is not None else f"not counted: {by}"
            lines.append(f"  {case['name']:<20} instructions {text}")
    return [""] + lines if lines else []


def drift_line(share):
    text = f"  speed of a core drifted by {share:.1%} meanwhile"
    if share > DRIFT_WORTH_A_WORD:
        text += ": trust the ratios, not the absolute figures"
    return text


def parse_arguments(bench, argv):
    p = argparse.ArgumentParser(description=bench.title)
    p.add_argument("--rounds", type=int, metavar="N",
                   help=f"[{bench.rounds}, quick 3]")
    p.add_argument("--warmup", type=int, metavar="N", default=bench.warmup,
                   help=f"rounds that do not count [{bench.warmup}]")
    p.add_argument("--seed", type=int, default=1, help="of the order [1]")
    p.add_argument("--quick", action="store_true",
                   help="few rounds, little work: to see that it works")
    p.add_argument("--instructions", action="store_true",
                   help="count them too, by perf or valgrind")
    p.add_argument("--calm", action="store_true",
                   help=f"again what the host took more than {STOLEN_MOST:.0%}% of the time from")
    p.add_argument("--json", action="store_true")
    p.add_argument("-o", "--output", metavar="FILE")
    options = p.parse_args(argv)
    if options.rounds is None:
        options.rounds = 3 if options.quick else bench.rounds
    if options.rounds < 1 or options.warmup < 0:
        p.error("--rounds is at least 1, --warmup at least 0")
    if not bench.cases:
        p.error("this benchmark has no cases")
    return options
