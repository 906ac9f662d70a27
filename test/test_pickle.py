"""Pickles as Python and numpy really write them, through the real command.

SMURF: path of the command. SMURF_SHARED: folder with real data (default ../shared beside the repository).
"""
import collections
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError:
    numpy = None

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SMURF = os.environ.get("SMURF", os.path.join(ROOT, "build", "smurf"))
SHARED = os.environ.get("SMURF_SHARED", os.path.join(os.path.dirname(ROOT), "shared"))
PROTOCOLS = range(0, 6)
NUMPY = unittest.skipIf(numpy is None, "numpy is not installed for " + sys.executable)

SEQUENCES = [([0.0, 0.5, 2.25], [0, 2, 1]), ([1.5], [1]), ([], []), ([0.125, 0.125], [2, 2])]


def as_events(sequences, real=float, whole=int):
    """[[{'time_since_start': t, ...}, ...], ...] with the given types of numbers."""
    out = []
    for times, types in sequences:
        gaps = [b - a for a, b in zip(times[:1] + times, times)]
        out.append([{"time_since_start": real(t), "time_since_last_event": real(g), "type_event": whole(k)}
                    for t, g, k in zip(times, gaps, types)])
    return out


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def convert(self, source, target, *options):
        return subprocess.run([SMURF, "convert", source, target, *options], capture_output=True, text=True)

    def read(self, path, *options):
        """The sequences of a file as the command sees them: (times, types), and the first line's fields."""
        done = self.convert(path, self.path("out.jsonl"), *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("out.jsonl")) as lines:
            rows = [json.loads(line) for line in lines]
        return [(r["time_since_start"], r["type_event"]) for r in rows], rows[0]

    def dump(self, value, protocol):
        with open(self.path("in.pkl"), "wb") as out:
            pickle.dump(value, out, protocol)
        return self.path("in.pkl")

    def check(self, value, protocol, expected=SEQUENCES, *options):
        got, first = self.read(self.dump(value, protocol), *options)
        self.assertEqual(got, expected)
        return first

    def refused(self, value, protocol, text, *options):
        if os.path.exists(self.path("out.jsonl")):
            os.remove(self.path("out.jsonl"))
        done = self.convert(self.dump(value, protocol), self.path("out.jsonl"), *options)
        self.assertEqual(done.returncode, 1)
        self.assertIn(text, done.stderr)
        self.assertFalse(os.path.exists(self.path("out.jsonl")))


class Plain(Case):
    def test_splits(self):
        for protocol in PROTOCOLS:
            with self.subTest(protocol=protocol):
                data = {"dim_process": 5, "train": [], "dev": as_events(SEQUENCES), "args": None}
                self.assertEqual(self.check(data, protocol)["dim_process"], 5)
                self.check(collections.OrderedDict(data), protocol)

    def test_layouts(self):
        times, types = [s[0] for s in SEQUENCES], [s[1] for s in SEQUENCES]
        rows = [{"time_since_start": t, "type_event": k, "dim_process": 3} for t, k in SEQUENCES]
        columns = {"time_since_start": times, "type_event": types, "dim_process": [3] * len(times)}
        for protocol in PROTOCOLS:
            for value in (as_events(SEQUENCES), tuple(as_events(SEQUENCES)), rows, columns, {"test": rows},
                          {"valid": columns}, [{"times": t, "types": k} for t, k in SEQUENCES]):
                with self.subTest(protocol=protocol, value=str(value)[:40]):
                    self.check(value, protocol)

    def test_gaps_alone(self):
        events = [[{"time_since_last_event": g, "type_event": 0} for g in (0.5, 0.25, 1)]]
        self.check({"train": events}, 2, [([0.5, 0.75, 1.75], [0, 0, 0])])

    def test_disagreeing_gaps_are_remarked(self):
        events = as_events(SEQUENCES)
        events[0][2]["time_since_last_event"] = 7.0
        done = self.convert(self.dump({"train": events}, 4), self.path("out.jsonl"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("at 1 event of 1 sequence (first: sequence 1, event 3)", done.stderr)

    def test_nanoseconds_keep_every_digit(self):
        times = [1700000000123456789, 1700000000123456790, 1700000001000000000]
        for protocol in PROTOCOLS:
            self.check([[{"time_since_start": t, "type_event": 0} for t in times]], protocol, [(times, [0, 0, 0])])

    def test_words(self):
        events = [[{"time_since_start": 0.5 * i, "type_event": k} for i, k in enumerate(["b", "a", "\u00e9\u4e16", "b"])]]
        for protocol in PROTOCOLS:
            first = self.check(events, protocol, [([0, 0.5, 1, 1.5], [0, 1, 2, 0])])
            self.assertEqual(first["type_names"], ["b", "a", "\u00e9\u4e16"])

    def test_key(self):
        data = {"dim_process": 3, "train": as_events(SEQUENCES), "test": as_events(SEQUENCES[:1])}
        self.refused(data, 3, "'train' (4), 'test' (1): choose one with --key NAME")
        self.refused(data, 3, "there is no 'dev'", "--key", "dev")
        self.check(data, 3, SEQUENCES[:1], "--key", "test")

    def test_errors_say_where(self):
        good = as_events(SEQUENCES)
        for change, text in (({"time_since_start": float("nan")}, "sequence 1: event 2: the time is not finite"),
                             ({"time_since_start": "x"}, "sequence 1: event 2: 'time_since_start' is not a number"),
                             ({"type_event": 3}, "sequence 1: event 2: type 3 is out of range"),
                             ({"type_event": -1}, "sequence 1: event 2: type -1 is out of range"),
                             ({"type_event": 0.5}, "sequence 1: event 2: type 0.5 is not a whole number"),
                             ({"time_since_start": 9.5}, "event 3: time 2.25 is before the previous event 9.5")):
            bad = [[dict(e) for e in s] for s in good]
            bad[0][1].update(change)
            self.refused({"dim_process": 3, "train": bad}, 2, text, "--strict")
        self.refused([{"times": [1, 2], "types": [0]}], 2, "'type_event' has 1 entries")

    def test_nothing_is_executed(self):
        class Trap:
            def __reduce__(self):
                return os.mkdir, (trap,)

        trap = self.path("trap")
        for protocol in PROTOCOLS:
            self.refused({"train": [Trap()]}, protocol, "which is not data; nothing was executed")
            self.assertFalse(os.path.exists(trap))
        self.refused({"train": [{1, 2}]}, 4, "EMPTY_SET")

    def test_truncation(self):
        whole = pickle.dumps({"train": as_events(SEQUENCES)}, 4)
        for n in range(3, len(whole), 7):
            with open(self.path("cut.pkl"), "wb") as out:
                out.write(whole[:n])
            done = self.convert(self.path("cut.pkl"), self.path("out.jsonl"))
            self.assertEqual(done.returncode, 1)
            self.assertIn("is it complete?", done.stderr)


@NUMPY
class Numpy(Case):
    def test_scalars(self):
        for protocol in PROTOCOLS:
            for real in ("float32", "float64"):
                for whole in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
                    with self.subTest(protocol=protocol, real=real, whole=whole):
                        data = {"dim_process": getattr(numpy, whole)(3),
                                "train": as_events(SEQUENCES, getattr(numpy, real), getattr(numpy, whole))}
                        self.check(data, protocol)

    def test_bool_scalars(self):
        for protocol in PROTOCOLS:
            events = [[{"time_since_start": numpy.float64(i), "type_event": numpy.bool_(i == 1)} for i in range(3)]]
            self.check(events, protocol, [([0, 1, 2], [0, 1, 0])])

    def test_arrays(self):
        for protocol in PROTOCOLS:
            for order in "<>":
                for real in ("f4", "f8"):
                    for whole in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
                        with self.subTest(protocol=protocol, order=order, real=real, whole=whole):
                            rows = [{"time_since_start": numpy.array(t, order + real),
                                     "type_event": numpy.array(k, order + whole)} for t, k in SEQUENCES]
                            self.check({"dim_process": 3, "train": rows}, protocol)

    def test_bool_and_negative_arrays(self):
        for protocol in PROTOCOLS:
            rows = [{"time_since_start": numpy.array([-3, -1, 2], ">i2"), "type_event": numpy.array([True, False, True])}]
            self.check(rows, protocol, [([-3, -1, 2], [1, 0, 1])])

    def test_fortran_order_and_views(self):
        for protocol in PROTOCOLS:
            times = numpy.arange(12, dtype="f8").reshape(4, 3)[:, 1]
            rows = [{"times": times, "types": numpy.asfortranarray(numpy.array([0, 1, 0, 1]))}]
            self.check(rows, protocol, [([1, 4, 7, 10], [0, 1, 0, 1])])

    def test_two_dimensions(self):
        times, types = numpy.array([[0.5, 1], [2, 3], [4, 5]]), numpy.array([[0, 1], [1, 1], [2, 0]])
        expected = [([0.5, 1], [0, 1]), ([2, 3], [1, 1]), ([4, 5], [2, 0])]
        for protocol in PROTOCOLS:
            self.check({"time_since_start": times, "type_event": types}, protocol, expected)
            self.refused({"time_since_start": numpy.asfortranarray(times), "type_event": types}, protocol, "Fortran")

    def test_objects(self):
        events = as_events(SEQUENCES)
        ragged = numpy.empty(len(events), dtype=object)
        ragged[:] = events
        square = numpy.array(as_events([SEQUENCES[0], SEQUENCES[0]]), dtype=object)
        self.assertEqual(square.shape, (2, 3))
        for protocol in PROTOCOLS:
            self.check({"dim_process": 3, "train": ragged}, protocol)
            self.check({"dim_process": 3, "train": square}, protocol, [SEQUENCES[0]] * 2)

    def test_other_dtypes_are_named(self):
        self.refused([{"times": numpy.array([1], "f2"), "types": [0]}], 4, "numpy dtype 'f2' is not supported")
        self.refused([{"times": numpy.array([1], "M8[s]"), "types": [0]}], 4, "numpy dtype 'M8' is not supported")


class Writing(Case):
    def test_python_loads_it(self):
        with open(self.path("in.jsonl"), "w") as out:
            for times, types in SEQUENCES:
                out.write(json.dumps({"dim_process": 300, "time_since_start": times, "type_event": types}) + "\n")
        done = self.convert(self.path("in.jsonl"), self.path("out.pkl"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("out.pkl"), "rb") as file:
            data = pickle.load(file, encoding="latin-1")
        self.assertEqual(data, {"dim_process": 300, "train": as_events(SEQUENCES)})
        self.assertEqual(self.read(self.path("out.pkl"))[0], SEQUENCES)

    def test_nothing_is_lost(self):
        rows = [{"sequence": "a", "type_names": ["x", "\u4e16"], "unit": "ns", "observation_start": 1700000000000000000,
                 "observation_end": 1700000000000000009, "time_since_start": [1700000000000000001, 1700000000000000008],
                 "type_event": [1, 0]},
                {"sequence": "b", "first_scored": 2, "time_since_start": [1, 2, 70000], "type_event": [1, 1, 1]}]
        with open(self.path("in.jsonl"), "w") as out:
            out.writelines(json.dumps(dict(dim_process=2, **row)) + "\n" for row in rows)
        lines = []
        for step, name in enumerate(("a.jsonl", "b.pkl", "c.jsonl")):
            source = self.path(("in.jsonl", "in.jsonl", "b.pkl")[step])
            done = self.convert(source, self.path(name))
            self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("a.jsonl", "c.jsonl"):
            with open(self.path(name)) as file:
                lines.append(file.read())
        self.assertEqual(lines[0], lines[1])

    def test_random_round_trip(self):
        draw = random.Random(1)
        sequences = []
        for _ in range(50):
            times = sorted(draw.expovariate(1e-3) for _ in range(draw.randrange(0, 60)))
            sequences.append((times, [draw.randrange(70000) for _ in times]))
        self.check({"dim_process": 70000, "train": as_events(sequences)}, 4, sequences)
        self.assertEqual(self.convert(self.path("in.pkl"), self.path("again.pkl")).returncode, 0)
        self.assertEqual(self.read(self.path("again.pkl"))[0], sequences)


@unittest.skipUnless(os.path.isdir(os.path.join(SHARED, "data", "mimic2_pickle")), "no real data in " + SHARED)
class RealData(Case):
    def sequences(self, *parts):
        return self.read(os.path.join(SHARED, "data", *parts))[0]

    def close(self, left, right):
        self.assertEqual(len(left), len(right))
        for (times, types), (other_times, other_types) in zip(left, right):
            self.assertEqual(types, other_types)
            for t, u in zip(times, other_times):
                self.assertAlmostEqual(t, u, delta=1e-6)

    def test_mimic_test_is_the_same(self):
        self.close(self.sequences("mimic2_pickle", "test.pkl"), self.sequences("mimic2", "test.jsonl"))

    def test_mimic_train_and_dev_are_the_same_together(self):
        def order(sequence):
            return sequence[1], [round(t, 4) for t in sequence[0]]

        pickled = self.sequences("mimic2_pickle", "train.pkl") + self.sequences("mimic2_pickle", "dev.pkl")
        plain = self.sequences("mimic2", "train.jsonl") + self.sequences("mimic2", "dev.jsonl")
        self.close(sorted(pickled, key=order), sorted(plain, key=order))

    def test_taobao(self):
        path = os.path.join(SHARED, "data", "taobao_pickle", "dev.pkl")
        with open(path, "rb") as file:
            data = pickle.load(file)
        expected = [([e["time_since_start"] for e in s], [e["type_event"] for e in s]) for s in data["dev"]]
        got, first = self.read(path)
        self.assertEqual(got, expected)
        self.assertEqual(first["dim_process"], data["dim_process"])


if __name__ == "__main__":
    unittest.main()
