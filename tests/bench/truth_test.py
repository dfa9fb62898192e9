# SPDX-License-Identifier: Apache-2.0
"""Tests of truth_jobs.py, truth_runs.py and truth_judge.py; run by tests/b0091-truth.sh."""

import unittest

import truth_judge

from truth_jobs import JOBS, Job
from truth_runs import Law, phases_of, samples_for

PURE = Job("pure", prep_ms=5, step_ms=20)
CPU = Job("cpu", prep_cpu_ms=4, step_ms=10)


def truth(**more):
    """Of PURE, with h of 0.8 ms."""
    return {"ingest": 800.0, "prep": 400.0, "loader_cached": 400.0, "actual": 400.0,
            "storage": None, "handover_ms_per_batch": 0.8, "cpu_ms_per_sample": 0.4,
            "alone_cpu_ms_per_sample": 0.4, "prep_cpu_ms_per_sample": 0.4, "readers": 2, **more}


def doc(rates, cpu, bottleneck="prep", width=0.02, **more):
    """A profile that says this."""
    shares = truth_judge.shares_of(rates, 0.8, 16)
    return {"rates_samples_per_s": rates, "shares": shares, "cpu_ms_per_sample": cpu,
            "intervals": {
                "rates_samples_per_s": {k: v and [v * (1 - width), v * (1 + width)]
                                        for k, v in rates.items()},
                "shares": {k: [v - width, v + width] for k, v in shares.items()}},
            "verdict": {"bottleneck": bottleneck}, **more}


def rates_of(t):
    return {name: t[name] for name in truth_judge.RATES}


class Laws(unittest.TestCase):
    def rate(self, phase="actual", cpu_s=0.0, cores=2, readers=None, **job):
        return 1 / Law(Job("x", **job), cores, readers).seconds(phase, cpu_s)

    def test_serial_workers(self):
        self.assertAlmostEqual(self.rate(prep_ms=5), 400)
        cold = {"prep_ms": 5, "latency_ms": 5, "resident": 0, "step_ms": 1}
        self.assertAlmostEqual(self.rate(workers=1, **cold), 100)
        self.assertAlmostEqual(self.rate(workers=4, **cold), 400)
        self.assertAlmostEqual(self.rate("cached", workers=4, **cold), 800)
        self.assertAlmostEqual(self.rate(workers=2, **{**cold, "resident": 0.5}), 2 / 0.0075)

    def test_no_workers_add_up(self):
        self.assertAlmostEqual(self.rate(workers=0, prep_ms=5, latency_ms=2, resident=0,
                                         step_ms=48), 100)

    def test_limits(self):
        self.assertAlmostEqual(self.rate(prep_ms=1, step_ms=32), 500)
        self.assertAlmostEqual(self.rate("alone", prep_ms=1, step_ms=32), 2000)
        self.assertAlmostEqual(self.rate(prep_ms=1, rate=150, resident=0), 150)
        self.assertAlmostEqual(self.rate("cached", prep_ms=1, rate=150, resident=0), 800)
        self.assertAlmostEqual(self.rate(workers=4, step_ms=1, cpu_s=0.004), 500)
        self.assertAlmostEqual(self.rate(workers=4, step_ms=1, cpu_s=0.004, cores=8), 1000)

    def test_native(self):
        native = {"kind": "native", "batch": 64, "step_ms": 64, "cpu_s": 0.001}
        self.assertAlmostEqual(self.rate(**native), 1000)
        self.assertAlmostEqual(self.rate("alone", **native), 2000)
        self.assertAlmostEqual(self.rate(latency_ms=80, resident=0, readers=16, **native), 200)

    def test_processor_time_moves_what_it_decides(self):
        self.assertAlmostEqual(Law(CPU, 2).scale("alone", 0.004, 0, 1.25), 0.8)
        steps = Law(Job("x", step_ms=80, prep_cpu_ms=4), 2)     # 5 ms for a sample
        self.assertAlmostEqual(steps.scale("actual", 0.004, 0, 1.25), 1)
        self.assertAlmostEqual(steps.scale("actual", 0.004, 0.001, 1.25), 6 / 6.25)
        self.assertAlmostEqual(Law(PURE, 2).scale("alone", 0.0002, 0, 2), 5.2 / 5.4)

    def test_epochs(self):
        self.assertEqual(samples_for(PURE, 2, 10, 12000), 4000)
        self.assertEqual(samples_for(PURE, 2, 10, 3000), 3000)
        self.assertEqual(samples_for(PURE, 2, 0.1, 12000), 40 * 16)


class Jobs(unittest.TestCase):
    def test_there_are_all_kinds(self):
        self.assertGreaterEqual(len(JOBS), 12)
        self.assertEqual(len({j.name for j in JOBS}), len(JOBS))
        self.assertEqual({j.workers for j in JOBS}, {0, 1, 2, 4})
        self.assertTrue(any(j.rate for j in JOBS) and any(j.latency_ms for j in JOBS))
        self.assertEqual({j.kind for j in JOBS}, {"torch", "native"})
        self.assertEqual({j.is_pure for j in JOBS}, {True, False})

    def test_phases(self):
        self.assertNotIn("raw", phases_of(PURE))
        self.assertNotIn("ready", phases_of(Job("x", workers=0)))
        self.assertIn("raw", phases_of(Job("x", rate=100, resident=0)))


class Shares(unittest.TestCase):
    def test_noise_is_no_share(self):
        s = truth_judge.shares_of({"ingest": 100, "loader_cached": 100, "actual": 101}, 16, 16)
        self.assertEqual((s["prep"], s["fetch"]), (0, 0))
        self.assertAlmostEqual(s["compute"], 1.01 / (1.01 + 0.101))
        self.assertAlmostEqual(sum(s.values()), 1)

    def test_they_are_of_all_time(self):
        s = truth_judge.shares_of({"ingest": 800, "loader_cached": 400, "actual": 200}, 0.8, 16)
        self.assertAlmostEqual(sum(s.values()), 1)
        self.assertAlmostEqual(s["compute"], 0.25)
        self.assertAlmostEqual(s["fetch"], 0.5)
        self.assertAlmostEqual(s["handover"], 0.01)

    def bottleneck(self, **shares):
        return truth_judge.bottlenecks({**dict.fromkeys(truth_judge.SHARES, 0.0), **shares})

    def test_the_loader_that_is_behind(self):
        self.assertEqual(self.bottleneck(compute=0.9, prep=0.1), {"prep"})
        self.assertEqual(self.bottleneck(compute=0.5, prep=0.1, fetch=0.4), {"fetch"})

    def test_no_stall(self):
        self.assertEqual(self.bottleneck(compute=0.97, handover=0.025, prep=0.005), {"compute"})
        self.assertEqual(self.bottleneck(compute=0.3, handover=0.7), {"handover"})

    def test_near_a_border_both(self):
        self.assertEqual(self.bottleneck(compute=0.98, prep=0.02), {"compute", "prep"})
        self.assertEqual(self.bottleneck(compute=0.5, prep=0.252, fetch=0.248), {"prep", "fetch"})


class Judged(unittest.TestCase):
    def judge(self, job, truths, docs):
        return truth_judge.judge(job, Law(job, 2), truths, docs)

    def test_what_is_right(self):
        v = self.judge(PURE, [truth()], [doc(rates_of(truth()), 0.4)])
        self.assertTrue(truth_judge.is_met(v, 1))
        self.assertEqual(v["bottleneck"], ["prep"])

    def test_a_slower_processor_is_no_error(self):
        slow = truth(prep=400.0, cpu_ms_per_sample=4.0, prep_cpu_ms_per_sample=4.0,
                     alone_cpu_ms_per_sample=4.0, ingest=1600.0, loader_cached=400.0)
        fast = {**rates_of(slow), "prep": 500.0, "loader_cached": 500.0, "actual": 500.0}
        v = self.judge(CPU, [slow], [doc(fast, 3.2)])
        self.assertAlmostEqual(v["figures"]["prep"]["raw_error"], 0.25)
        self.assertAlmostEqual(v["figures"]["prep"]["equal_error"], 0)
        self.assertTrue(truth_judge.is_met(v, 1))

    def test_sleeps_are_judged_raw(self):
        off = {**rates_of(truth()), "prep": 420.0}
        v = self.judge(PURE, [truth()], [doc(off, 0.1)])
        self.assertIs(v["figures"]["prep"]["met"], False)
        self.assertFalse(truth_judge.is_met(v, None))

    def test_the_loader_alone_has_its_own_processor_time(self):
        d = doc(rates_of(truth()), 0.4, alone=[{"workers": 1, "cpu_ms_per_sample": 9},
                                               {"workers": 2, "cpu_ms_per_sample": 0.6}])
        self.assertAlmostEqual(truth_judge.cpu_ratios(d, truth(), 2)[1], 1.5)

    def test_what_was_not_measured_is_missed(self):
        v = self.judge(PURE, [truth()], [doc({**rates_of(truth()), "prep": None}, 0.4)])
        self.assertIs(v["figures"]["prep"]["met"], False)
        self.assertIsNone(v["figures"]["storage"]["met"])

    def test_a_wrong_name(self):
        v = self.judge(PURE, [truth()], [doc(rates_of(truth()), 0.4, "fetch")])
        self.assertFalse(truth_judge.is_met(v, None))

    def test_intervals(self):
        docs = [doc(rates_of(truth()), 0.4)] * 3 + [
            doc({**rates_of(truth()), "ingest": 804.0}, 0.4, width=0.001)]
        v = self.judge(PURE, [truth()], docs)
        self.assertEqual((v["figures"]["ingest"]["held"], v["figures"]["ingest"]["intervals"]),
                         (3, 4))
        self.assertTrue(truth_judge.is_met(v, 3))
        self.assertFalse(truth_judge.is_met(v, 4))
        self.assertEqual(truth_judge.held_goal(30), 26)

    def test_noise_is_that_of_the_truth(self):
        v = self.judge(PURE, [truth(), truth(prep=408.0), truth(prep=404.0)],
                       [doc(rates_of(truth()), 0.4)])
        self.assertAlmostEqual(v["figures"]["prep"]["noise"], 4 / 404)

    def test_time(self):
        d = doc(rates_of(truth()), 0.4, seconds=65, startup_seconds=5, measured_seconds=48)
        self.assertAlmostEqual(truth_judge.wall_ratio(d), 1.25)
        v = self.judge(PURE, [truth()], [d])
        self.assertFalse(truth_judge.is_met(v, None))

    def test_tables(self):
        v = self.judge(PURE, [truth()], [doc({**rates_of(truth()), "prep": 480.0}, 0.4)])
        text = "\n".join(truth_judge.verdict_lines(PURE, v))
        self.assertRegex(text, r"P +400 +0\.0 +480 +\+20\.0 +\+20\.0 .* 3 %: MISSED")
        rows = truth_judge.markdown([(PURE, v)])
        self.assertEqual(len({row.count("|") for row in rows}), 1)
        self.assertIn("| +0.0 |  | **+20.0** | +0.0 | +0.0, +0.0, +0.0, +0.0 |  | right |", rows[-1])
        cpu = self.judge(CPU, [truth()], [doc(rates_of(truth()), 0.4)])
        self.assertIn(" +0.0, +0.0, +0.0, +0.0 / +0.0, +0.0, +0.0, +0.0 ",
                      truth_judge.markdown([(CPU, cpu)])[-1])

    def test_rows_go_into_a_document(self):
        v = self.judge(PURE, [truth()], [doc(rates_of(truth()), 0.4)])
        rows = truth_judge.markdown([(PURE, v)])
        old = "| %s * | 9 | of before |" % PURE.name
        text = "\n".join(["| a | b |", old, *rows[:2], "| other | 1 |", old, "behind"]) + "\n"
        self.assertEqual(truth_judge.put_rows(text, rows),
                         "\n".join(["| a | b |", old, *rows[:2], "| other | 1 |", rows[2], "behind"]) + "\n")
        self.assertIsNone(truth_judge.put_rows(text.replace(old, "| no | such |"), rows))
        self.assertIsNone(truth_judge.put_rows("nothing\n", rows))


if __name__ == "__main__":
    unittest.main()
