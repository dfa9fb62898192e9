# SPDX-License-Identifier: Apache-2.0
"""What a profile said of a job against the truth about it: pure functions.

A profile and the runs that are the truth do not run at the same time, so the speed of
the processor differs.  Errors are told raw, against the truth as it was measured, and at
equal processor time per sample: each truth is taken to the profile's by the closed form
(truth_runs.Law), which leaves alone what sleeps, storage and steps decide.  Where
nothing but sleeps decides, the raw error is judged, else the other.
"""

import math
import statistics

import bench

RATES = ("ingest", "storage", "prep", "loader_cached", "actual")
SHARES = ("compute", "prep", "fetch", "handover")
PHASE = {"ingest": None, "storage": None, "prep": "alone", "loader_cached": "cached",
         "actual": "actual"}
GOALS = {"ingest": 0.01, "storage": 0.03, "prep": 0.03}         # of the rate
GOAL_SHARE = 0.01                                               # points
GOAL_HELD = 26 / 30                                             # of intervals
GOAL_WALL = 1.2                                                 # times the blocks
STALLED = 0.02          # of the time: less than that is no stall
NEAR = 0.01             # what is so near to a border may be called by either name


# --- the truth --------------------------------------------------------------

def shares_of(rates, handover_ms, batch):
    """Of the time of a sample, in the job as it is.  What noise makes less than nothing is none,
    and all are one (model_settle_shares() of analyzer/model.c)."""
    v, h = rates["actual"], handover_ms / 1e3 / batch
    compute, handover = v / rates["ingest"], v * h
    fetch = 1 - v / rates["loader_cached"]
    shares = {"compute": compute, "prep": 1 - compute - handover - fetch, "fetch": fetch,
              "handover": handover}
    shares = {name: max(share, 0) for name, share in shares.items()}
    return {name: share / sum(shares.values()) for name, share in shares.items()}


def bottlenecks(shares):
    """What the job waits for, which must become faster for it to become so; near a border
    both names are right.  A loader that is behind decides alone, however long the steps are
    (analyzer/verdict.h)."""
    stall, names = shares["prep"] + shares["fetch"], set()
    if stall < STALLED + NEAR:
        names |= largest(shares, ("compute", "handover"))
    if stall > STALLED - NEAR:
        names |= largest(shares, ("prep", "fetch"))
    return names


def largest(shares, names):
    most = max(shares[n] for n in names)
    return {n for n in names if shares[n] > most - NEAR}


def rates_at(truth, law, cpu_ratio):
    """Of one truth, had its samples taken so many times as much of a processor.  cpu_ratio is
    a pair: of the job, and of the loader alone, whose files are in memory: as they are in the job
    where nothing is slow, and only with its files in memory elsewhere."""
    cpu = truth["prep_cpu_ms_per_sample"] / 1e3
    handover = truth["handover_ms_per_batch"] / 1e3 / law.job.batch
    found = {}
    for name in RATES:
        ratio = cpu_ratio[name == "prep" or name == "loader_cached" and law.job.is_slow]
        found[name] = truth[name]
        if PHASE[name] is not None and truth[name] is not None:
            found[name] *= law.scale(PHASE[name], cpu, handover, ratio)
    return found


def middle(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def pooled(truths, law, batch, ratio_of):
    """The truth of all runs: {figure: value}, rates, then shares as ("share", name)."""
    at = [rates_at(t, law, ratio_of(t)) for t in truths]
    found = {name: middle(a[name] for a in at) for name in RATES}
    h = middle(t["handover_ms_per_batch"] * ratio_of(t)[0] for t in truths)
    found.update({("share", n): v for n, v in shares_of(found, h, batch).items()})
    return found


def noise(truths, law, batch):
    """How far the runs themselves are apart: half of it, of rates relative."""
    alone = [pooled([t], law, batch, lambda _: (1, 1)) for t in truths]
    found = {}
    for name in alone[0]:
        values = [a[name] for a in alone if a[name] is not None]
        if values:
            half = (max(values) - min(values)) / 2
            found[name] = half if isinstance(name, tuple) else half / statistics.median(values)
    return found


# --- the profile ------------------------------------------------------------

def said(doc):
    """{figure: value or None} of a profile's JSON."""
    found = {name: doc["rates_samples_per_s"].get(name) for name in RATES}
    found.update({("share", n): doc["shares"].get(n) for n in SHARES})
    return found


def intervals(doc):
    ends = doc.get("intervals", {})
    found = {name: ends.get("rates_samples_per_s", {}).get(name) for name in RATES}
    found.update({("share", n): ends.get("shares", {}).get(n) for n in SHARES})
    return found


def cpu_ratios(doc, truth, workers):
    """Of the job, and of the loader alone with the job's workers."""
    mine = doc.get("cpu_ms_per_sample")
    job = mine / truth["cpu_ms_per_sample"] if mine else 1
    for row in doc.get("alone", []):
        if row["workers"] == workers and row.get("cpu_ms_per_sample"):
            return job, row["cpu_ms_per_sample"] / truth["alone_cpu_ms_per_sample"]
    return job, job


def error(name, value, truth):
    """Relative, of a rate; in points, of a share."""
    if value is None or truth is None:
        return None
    return value - truth if isinstance(name, tuple) else value / truth - 1


def holds(ends, truth):
    if ends is None or truth is None:
        return None
    return ends[0] <= truth <= ends[1]


# --- the verdict ------------------------------------------------------------

def goal_of(name):
    return GOAL_SHARE if isinstance(name, tuple) else GOALS.get(name)


def judge_figure(job, name, docs, raw, equal, spread):
    values = [said(d)[name] for d in docs]
    judged = [raw] * len(docs) if job.is_pure else equal
    held = [holds(intervals(d)[name], t[name]) for d, t in zip(docs, judged)]
    row = {
        "truth": raw[name], "noise": spread.get(name), "profile": middle(values),
        "raw_error": middle(error(name, v, raw[name]) for v in values),
        "equal_error": middle(error(name, v, e[name]) for v, e in zip(values, equal)),
        "held": sum(h is True for h in held), "intervals": sum(h is not None for h in held),
        "goal": goal_of(name) if raw[name] is not None else None, "met": None,
    }
    if row["goal"] is not None:
        e = row["raw_error" if job.is_pure else "equal_error"]
        row["met"] = e is not None and abs(e) <= row["goal"]
    return row


def judge(job, law, truths, docs):
    """All of a job: {figure: row}, whether the bottleneck is right, and the time it took."""
    raw = pooled(truths, law, job.batch, lambda _: (1, 1))
    equal = [pooled(truths, law, job.batch, lambda t, d=d: cpu_ratios(d, t, job.workers))
             for d in docs]
    spread = noise(truths, law, job.batch)
    shares = {n: raw[("share", n)] for n in SHARES}
    right = bottlenecks(shares)
    named = [d["verdict"]["bottleneck"] for d in docs]
    return {
        "figures": {n: judge_figure(job, n, docs, raw, equal, spread) for n in raw},
        "bottleneck": sorted(right), "named": named,
        "named_right": sum(n in right for n in named), "profiles": len(docs),
        "truths": len(truths),
        "wall": middle(wall_ratio(d) for d in docs),
        "starts": middle(d.get("starts") for d in docs),
    }


def wall_ratio(doc):
    """The time that a profile took, less starting the job, as a multiple of its blocks."""
    if not doc.get("measured_seconds"):
        return None
    return (doc["seconds"] - doc.get("startup_seconds", 0)) / doc["measured_seconds"]


def is_met(verdict, held_goal):
    rows = [r for r in verdict["figures"].values() if r["goal"] is not None]
    return all(r["met"] for r in rows) and verdict["named_right"] == verdict["profiles"] and \
        (verdict["wall"] is None or verdict["wall"] <= GOAL_WALL) and \
        (held_goal is None or all(r["held"] >= held_goal for r in rows))


def held_goal(profiles):
    return math.ceil(GOAL_HELD * profiles - 1e-9)


# --- as text ----------------------------------------------------------------

LABELS = {"ingest": "G", "storage": "S", "prep": "P", "loader_cached": "P'", "actual": "v",
          **{("share", n): n for n in SHARES}}


def value_text(name, value):
    if value is None:
        return "-"
    return "%.1f %%" % (100 * value) if isinstance(name, tuple) else bench.figure_text(value)


def error_text(name, value):
    """A change in percent of a rate, or points of a share."""
    return "-" if value is None else "%+.1f" % (100 * value + 0.0)


def verdict_lines(job, verdict):
    """Of one job, for a terminal."""
    lines = ["%s%s" % (job.name, " (sleeps alone: judged raw)" if job.is_pure else ""),
             "    %-10s %10s %8s %10s %8s %8s %8s  %s" % (
                 "", "truth", "noise", "profile", "raw", "equal", "held", "goal")]
    for name, r in verdict["figures"].items():
        goal = "" if r["goal"] is None else "%g %s: %s" % (
            100 * r["goal"], "points" if isinstance(name, tuple) else "%",
            "met" if r["met"] else "MISSED")
        lines.append(("    %-10s %10s %8s %10s %8s %8s %8s  %s" % (
            LABELS[name], value_text(name, r["truth"]),
            "-" if r["noise"] is None else "%.1f" % (100 * r["noise"]),
            value_text(name, r["profile"]), error_text(name, r["raw_error"]),
            error_text(name, r["equal_error"]), "%d/%d" % (r["held"], r["intervals"]),
            goal)).rstrip())
    lines.append("    bottleneck %s: named %s; time %s the blocks, %s starts" % (
        " or ".join(verdict["bottleneck"]), ", ".join(map(str, verdict["named"])),
        "-" if verdict["wall"] is None else "%.2f times" % verdict["wall"],
        "-" if verdict["starts"] is None else "%g" % verdict["starts"]))
    return lines


def rate_cell(job, name, row):
    """What it is off by: raw, and / at equal processor time, of a job that takes any."""
    if row["truth"] is None:
        return ""
    errors = ["raw_error"] if job.is_pure or PHASE[name] is None else ["raw_error", "equal_error"]
    return bold(" / ".join(error_text(name, row[e]) for e in errors), row["met"] is False)


def share_cell(job, verdict):
    """Of all, raw, and / at equal processor time, of a job that takes any, which is judged."""
    kinds = ["raw_error"] if job.is_pure else ["raw_error", "equal_error"]
    rows = [(("share", n), verdict["figures"][("share", n)]) for n in SHARES]
    return " / ".join(", ".join(bold(error_text(n, r[k]), k == kinds[-1] and r["met"] is False)
                                for n, r in rows) for k in kinds)


def bold(text, is_off):
    return "**%s**" % text if is_off else text


def named_cell(verdict):
    if verdict["named_right"] == verdict["profiles"]:
        return "right"
    return "**%s, said %s**" % (" or ".join(verdict["bottleneck"]),
                                ", ".join(map(str, verdict["named"])))


def noise_cell(verdict):
    """Half of what the shares of two truths are apart, at the most; of one it is not known."""
    most = max(r["noise"] for n, r in verdict["figures"].items() if isinstance(n, tuple))
    return "%.1f" % (100 * most) if verdict["truths"] > 1 else ""


def time_cell(verdict):
    if verdict["wall"] is None:
        return ""
    return bold("%.2f" % verdict["wall"], verdict["wall"] > GOAL_WALL)


def markdown(rows):
    """Of all jobs: [(job, verdict)]; what misses its goal is bold."""
    rates = ("ingest", "storage", "prep", "actual")
    lines = ["| job | profiles | %s | %s | noise | named | time |" % (
        " | ".join(LABELS[n] for n in rates), ", ".join(SHARES)), "|---" * 10 + "|"]
    for job, v in rows:
        lines.append("| %s |" % " | ".join([
            job.name + " *" * job.is_pure, str(v["profiles"]),
            *(rate_cell(job, n, v["figures"][n]) for n in rates),
            share_cell(job, v), noise_cell(v), named_cell(v), time_cell(v)]))
    return lines


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def put_rows(text, rows):
    """A document with these rows of markdown() in the places of those of the same jobs; None: its
    table has not all of them."""
    new = {cells_of(row)[0]: row for row in rows[2:]}
    lines, at = text.splitlines(), {}
    if rows[0] in lines:
        first = lines.index(rows[0])
        at = {cells_of(line)[0]: i for i, line in enumerate(lines) if i > first and line.startswith("|")}
    if not new or not set(new) <= set(at):
        return None
    for name, row in new.items():
        lines[at[name]] = row
    return "\n".join(lines) + "\n"
