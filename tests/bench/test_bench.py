# SPDX-License-Identifier: Apache-2.0
"""Tests of bench.py; run by tests/b0090-bench.sh."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import random
import sys
import tempfile
import unittest

import bench
import decode_profile


def load(name):
    """A benchmark, as a module."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def quiet_main(b, *argv):
    """(exit status, standard output, standard error)"""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = b.main(list(argv))
    return status, out.getvalue(), err.getvalue()


class Figures(unittest.TestCase):
    def test_quantiles(self):
        self.assertEqual(bench.quantile([4, 1, 3, 2], 0), 1)
        self.assertEqual(bench.quantile([4, 1, 3, 2], 1), 4)
        self.assertEqual(bench.quantile([4, 1, 3, 2], 0.5), 2.5)
        self.assertEqual(bench.quantile([10, 20, 30, 40, 50], 0.25), 20)
        self.assertEqual(bench.quantile([7], 0.3), 7)

    def test_description(self):
        d = bench.describe([3.0, 1.0, 2.0, 100.0, 4.0])
        self.assertEqual(d, {"median": 3.0, "q1": 2.0, "q3": 4.0,
                             "min": 1.0, "max": 100.0})

    def test_ratio_is_of_the_same_round(self):
        """A machine that is ten times slower at times does not move it."""
        speeds = [10.0, 1.0, 10.0, 1.0, 1.0, 10.0]
        r = bench.compare([2 * s for s in speeds], speeds, random.Random(1))
        self.assertEqual(r["ratio"], 2.0)
        self.assertEqual(r["interval"], [2.0, 2.0])

    def test_interval_holds_the_truth(self):
        """95 % of such intervals do; of 60, fewer than 45 never."""
        rng, held = random.Random(7), 0
        for _ in range(60):
            base = [rng.gauss(100, 5) for _ in range(21)]
            ours = [rng.gauss(130, 5) for _ in range(21)]
            low, high = bench.compare(ours, base, rng)["interval"]
            self.assertLess(low, high)
            held += low <= 1.3 <= high
        self.assertGreater(held, 45)

    def test_no_ratio_to_zero(self):
        self.assertIsNone(bench.compare([1.0], [0.0], random.Random(1)))

    def test_drift(self):
        self.assertAlmostEqual(bench.drift([1.0, 1.1, 1.0]), 0.1)
        self.assertNotIn("trust", bench.drift_line(0.01))
        self.assertIn("trust the ratios", bench.drift_line(0.2))

    def test_a_calm_run(self):
        """The first from which the host took little, or the least."""
        def ticks_of(shares):
            clock = iter([x for s in shares for x in ((0, 0), (round(1000 * s), 1000))])
            return lambda: next(clock)

        for shares, right in (((0.01,), 0), ((0.5, 0.02), 1), ((0.5, 0.1), 1), ((0.1, 0.5), 0)):
            runs = iter(range(9))
            found = bench.calmly(lambda: next(runs), ticks=ticks_of(shares))
            self.assertEqual(found, (right, shares[right], len(shares)))

    def test_a_run_that_fails(self):
        """What there is counts; where there is nothing, it has failed."""
        def run(clock=iter(range(9))):
            if next(clock) > 0:
                raise bench.Broken("late")
            return "first"

        ticks = iter([(0, 0), (500, 1000), (0, 0), (0, 0)])
        self.assertEqual(bench.calmly(run, ticks=lambda: next(ticks))[:2], ("first", 0.5))
        with self.assertRaises(bench.Broken):
            bench.calmly(run, ticks=lambda: next(ticks))

    def test_what_the_host_took(self):
        with tempfile.NamedTemporaryFile("w") as f:
            f.write("cpu  1 2 3 4 5 6 7 80 900 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
            f.flush()
            self.assertEqual(bench.processor_ticks(f.name), (80, 108))

    def test_spin_gives_the_cores_back(self):
        cores = os.sched_getaffinity(0)
        self.assertGreater(bench.spin(), 0)
        self.assertEqual(os.sched_getaffinity(0), cores)


class Results(unittest.TestCase):
    def test_last_line_is_json(self):
        parse = bench.parse_result
        self.assertEqual(parse("hello\n12.5\n"), {"value": 12.5})
        self.assertEqual(parse('x\n{"a": 1, "b": 2.5, "c": "text"}\n\n'),
                         {"a": 1.0, "b": 2.5})
        for text in ("", "hello", "[1]", "true", "null", '{"a": "b"}'):
            self.assertIsNone(parse(text), text)

    def test_a_command_that_says_nothing_is_timed(self):
        figures = bench.run_command([sys.executable, "-c", "pass"])
        self.assertEqual(set(figures), {bench.WALL, bench.CPU})
        self.assertGreater(figures[bench.WALL], 0)
        self.assertGreater(figures[bench.CPU], 0)

    def test_a_command_with_a_figure(self):
        figures = bench.run_command(
            [sys.executable, "-c", "print('{\"ns\": 5}')"])
        self.assertEqual(figures["ns"], 5.0)
        self.assertNotIn(bench.WALL, figures)

    def test_functions(self):
        self.assertIn(bench.WALL, bench.run_callable(lambda: None))
        self.assertEqual(bench.run_callable(lambda: 3)["value"], 3.0)
        self.assertEqual(bench.run_callable(lambda: {"x": 4})["x"], 4.0)

    def test_instructions_of_a_function(self):
        n, why = bench.count_instructions(bench.Case("f", lambda: None))
        self.assertIsNone(n)
        self.assertIn("only commands", why)


class Order(unittest.TestCase):
    def record(self, seed, rounds=6, warmup=2):
        calls = []
        b = bench.Bench("order")
        for name in "abc":
            b.case(name, lambda name=name: calls.append(name))
        samples, spins = b.measure(rounds, warmup, seed)
        return calls, samples, spins

    def test_every_case_once_a_round(self):
        calls, samples, spins = self.record(1)
        self.assertEqual(len(calls), 8 * 3)
        for i in range(0, len(calls), 3):
            self.assertEqual(sorted(calls[i:i + 3]), ["a", "b", "c"])
        self.assertEqual(len(samples["b"][bench.WALL]), 6)
        self.assertEqual(len(spins), 9)

    def test_the_order_varies_and_is_seeded(self):
        calls = self.record(1)[0]
        self.assertGreater(len({tuple(calls[i:i + 3])
                                for i in range(0, len(calls), 3)}), 1)
        self.assertEqual(calls, self.record(1)[0])
        self.assertNotEqual(calls, self.record(2)[0])


class Main(unittest.TestCase):
    def make(self):
        b = bench.Bench("double", rounds=5)
        b.case("one", lambda: {"ns": 100})
        b.case("two", lambda: {"ns": 200})
        b.case("half", lambda: {"ns": 50})
        return b

    def test_text(self):
        status, out, err = quiet_main(self.make())
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"(?m)^double$")
        self.assertRegex(out, r"cores, Linux .*; 5 rounds, seed 1")
        self.assertRegex(out, r"one +100 .* baseline")
        self.assertRegex(out, r"two +200 .* 2\.000 \[2\.000, 2\.000\] worse")
        self.assertRegex(out, r"half +50 .* 0\.500 \[0\.500, 0\.500\] better")
        self.assertRegex(out, r"speed of a core drifted by")

    def test_notes(self):
        b = self.make()
        evaluate = b.evaluate
        b.evaluate = lambda *of: {**evaluate(*of), "notes": ["so it is"]}
        self.assertRegex(quiet_main(b)[1], r"(?m)^  so it is$")

    def test_more_is_better(self):
        b = self.make()
        b.lower_is_better = False
        out = quiet_main(b)[1]
        self.assertRegex(out, r"two +200 .* better")

    def test_json(self):
        status, out, _ = quiet_main(self.make(), "--json", "--rounds", "3",
                                    "--seed=9")
        d = json.loads(out)
        self.assertEqual(status, 0)
        self.assertEqual((d["schema_version"], d["rounds"], d["seed"]),
                         (1, 3, 9))
        self.assertEqual(d["baseline"], "one")
        self.assertEqual([c["name"] for c in d["cases"]],
                         ["one", "two", "half"])
        two = d["cases"][1]["figures"]["ns"]
        self.assertEqual(two["values"], [200.0] * 3)
        self.assertEqual(two["to_baseline"]["ratio"], 2.0)
        self.assertNotIn("to_baseline", d["cases"][0]["figures"]["ns"])
        self.assertEqual(set(d["machine"]), {"cpu", "cores", "kernel"})

    def test_output_file(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "out")
            status, out, _ = quiet_main(self.make(), "--json", "-o", path)
            self.assertEqual((status, out), (0, ""))
            with open(path) as f:
                json.load(f)
        status, _, err = quiet_main(self.make(), "-o", "/none/out")
        self.assertEqual(status, 1)
        self.assertIn("/none/out", err)

    def test_quick(self):
        d = json.loads(quiet_main(self.make(), "--quick", "--json")[1])
        self.assertEqual((d["rounds"], d["quick"]), (3, True))

    def test_a_case_that_fails(self):
        for argv, text in ((["false"], "exit status 1"),
                           (["./none"], "No such file")):
            b = bench.Bench("fails")
            b.case("it", argv)
            status, out, err = quiet_main(b)
            self.assertEqual((status, out), (1, ""))
            self.assertIn(text, err)
            self.assertEqual(err.count("\n"), 1)

    def test_figures_that_change(self):
        figures = iter([{"a": 1}, {"a": 1}, {"b": 1}])
        b = bench.Bench("changes")
        b.case("it", lambda: next(figures))
        status, _, err = quiet_main(b, "--rounds=3", "--warmup=0")
        self.assertEqual(status, 1)
        self.assertIn("round 3", err)

    def test_wrong_arguments(self):
        for argv in (["--rounds=0"], ["--nonsense"], ["--warmup=-1"]):
            with self.assertRaises(SystemExit) as e:
                quiet_main(self.make(), *argv)
            self.assertEqual(e.exception.code, 2)

    def test_names_are_unique(self):
        b = self.make()
        with self.assertRaises(bench.Broken):
            b.case("one", lambda: None)


class Minio(unittest.TestCase):
    """What a control group says, of either version, and the theory."""

    minio = load("minio")
    groups = load("groups.py")

    def test_bytes_of_version_1(self):
        text = "8:0 Read 1\n254:0 Read 4096\n254:0 Write 7\n" \
               "254:0 Total 4103\nTotal 4104\n"
        self.assertEqual(self.groups.parse_read_v1(text, "254:0"), 4096)
        self.assertEqual(self.groups.parse_read_v1("Total 0\n", "254:0"), 0)

    def test_bytes_of_version_2(self):
        text = "8:0 rbytes=1 wbytes=2 rios=3\n" \
               "254:0 rbytes=4096 wbytes=0 rios=2 wios=0 dbytes=0 dios=0\n"
        self.assertEqual(self.groups.parse_read_v2(text, "254:0", "rbytes"),
                         4096)
        self.assertEqual(self.groups.parse_read_v2(text, "254:0", "rios"), 2)
        self.assertEqual(self.groups.parse_read_v2("", "254:0", "rios"), 0)

    def test_memory(self):
        v2 = "anon 1\nfile 100\nshmem 40\n"
        v1 = "cache 5\nshmem 1\ntotal_cache 100\ntotal_shmem 40\n"
        self.assertEqual(self.groups.parse_memory(v2), 60)
        self.assertEqual(self.groups.parse_memory(v1), 60)

    def test_theory(self):
        """As simulated."""
        for x, minio, rr, lru in ((.35, .65, .860, .930), (.5, .5, .717, .847),
                                  (.65, .35, .536, .717)):
            o = self.minio.oracles(x)
            self.assertAlmostEqual(o["MinIO"], minio, places=3)
            self.assertAlmostEqual(o["random replacement"], rr, places=3)
            self.assertAlmostEqual(o["LRU"], lru, places=3)
        self.assertEqual(self.minio.oracles(1), {})


class DecodeProfile(unittest.TestCase):
    """tests/bench/decode_profile.py"""

    TEXT = """\
events: Ir
ob=(1) /bin/loop
fl=(1) loop.c
fn=(1) measured
10 5
cob=(2) /lib/libjpeg.so.62
cfn=(2) jpeg_read_scanlines
calls=3 0
11 1000
cfn=(3) across
calls=2 20
+1 70

fn=(3)
20 60
fi=(2) inlined.h
* 10

ob=(2)
fl=(3) ???
fn=(2)
0 100
cfn=(4) 0x0000000000000010
calls=3 0
0 900

fn=(4)
0 850
cob=(1)
cfn=(5) memset
calls=1 0
0 50

ob=(1)
fn=(5)
0 50
"""
    METHODS = {"entropy": 16, "idct": 32, "upsample": 48}

    def test_groups_add_up(self):
        p = decode_profile.Profile(self.TEXT)
        self.assertEqual(p.total(), 1075)
        groups = decode_profile.split(p, self.METHODS, 1)
        self.assertEqual({k: v for k, v in groups.items() if v}, {
            "entropy decoding": 900, "rest of libjpeg": 100, "across": 70,
            "rest": 5})

    def test_for_each_image(self):
        groups = decode_profile.split(decode_profile.Profile(self.TEXT),
                                      self.METHODS, 10)
        self.assertEqual(groups["across"], 7)

    def test_time_goes_with_what_was_seen(self):
        seen = [decode_profile.Function(o, name) for o, name in (
            ("/lib/libjpeg.so.62", "[unknown]"), ("/bin/loop", "across"),
            ("/bin/loop", "emit_f32"), ("/lib/libc.so.6", "memset"))]
        groups = decode_profile.split_samples(seen * 2, 100)
        self.assertEqual({k: v for k, v in groups.items() if v}, {
            "libjpeg": 25, "across": 25, "emit": 25, "rest": 25})


if __name__ == "__main__":
    unittest.main()
