"""smurf sample: futures, their quantiles and counts, and what it refuses."""
import csv
import io
import json
import unittest

from models import ModelCase, table


class SampleCase(ModelCase):
    @classmethod
    def make(cls):
        super().make()
        cls.put("words/train.csv", table(30))
        cls.put("words/dev.csv", table(6, seed=2))
        cls.put("words/test.csv", table(3, seed=3))
        cls.train("words", "words.safetensors")

    def sample(self, *args, model="words.safetensors", data="words", **more):
        return self.jsonl("sample", self.at(model), self.at(data), *args, **more)


class Futures(SampleCase):
    def test_empty_sequences_are_skipped(self):
        self.write("a.jsonl", '{"time_since_start": [], "type_event": [], "type_names": ["a", "b"]}\n'
                              '{"time_since_start": [1, 2], "type_event": [0, 1]}\n')
        r = self.smurf("sample", self.at("words.safetensors"), "a.jsonl", "--events", "1", "--paths", "5", "--format", "jsonl", quiet=False)
        self.assertIn("sequence 0 is empty and is skipped", r.err)
        self.assertEqual({json.loads(line)["sequence"] for line in r.lines}, {"1"})

    def test_quantiles_and_counts(self):
        lines = self.sample("--until", "10", "--paths", "60", "--quantiles", "0.1,0.5,0.9")
        self.assertEqual({x["sequence"] for x in lines}, {"u0", "u1", "u2"})

        def number(x):
            return float("inf") if x is None else x

        for sequence in ["u0", "u1", "u2"]:
            mine = [x for x in lines if x["sequence"] == sequence]
            events = [x for x in mine if x["what"] == "event"]
            counts = {x["which"]: x for x in mine if x["what"] == "count"}
            self.assertEqual([x["which"] for x in events], [str(i + 1) for i in range(len(events))])
            for x in mine:
                q = [number(v) for v in x["quantiles"]]
                self.assertEqual(q, sorted(q))
                self.assertEqual(len(q), 3)
            for a, b in zip(events, events[1:]):
                for x, y in zip(a["quantiles"], b["quantiles"]):
                    self.assertLessEqual(number(x), number(y))
            self.assertLessEqual(set(counts), {"a", "b", "all"})
            self.assertAlmostEqual(sum(counts[k]["mean"] for k in counts if k != "all"), counts["all"]["mean"], 6)

    def test_paths_give_the_summaries(self):
        args = ["--until", "5", "--paths", "30", "--quantiles", "0,0.5,1"]
        paths = self.sample(*args, "--show-paths")
        self.assertEqual([p["path"] for p in paths], list(range(30)) * 3)
        for p in paths:
            self.assertEqual(p["time_since_last"], sorted(p["time_since_last"]))
            self.assertTrue(all(0 <= t <= 5 for t in p["time_since_last"]))
            self.assertEqual(len(p["type"]), len(p["time_since_last"]))
            self.assertLessEqual(set(p["type"]), {"a", "b"})
        mine = [p for p in paths if p["sequence"] == "u1"]
        lines = [x for x in self.sample(*args) if x["sequence"] == "u1"]
        for which in ["a", "b", "all"]:
            counts = sorted(len(p["type"]) if which == "all" else p["type"].count(which) for p in mine)
            line = next(x for x in lines if x["what"] == "count" and x["which"] == which)
            self.assertEqual(line["quantiles"], [counts[0], counts[14], counts[-1]])
            self.assertAlmostEqual(line["mean"], sum(counts) / 30, 6)
        first = sorted(p["time_since_last"][0] if p["type"] else float("inf") for p in mine)
        line = next(x for x in lines if x["what"] == "event" and x["which"] == "1")
        self.assertEqual(line["quantiles"][:2], [first[0], first[14]])

    def test_count(self):
        for p in self.sample("--count", "4", "--paths", "10", "--show-paths"):
            self.assertEqual(len(p["type"]), 4)
        lines = self.sample("--paths", "5")
        self.assertEqual([x["which"] for x in lines if x["sequence"] == "u0"], ["1", "2", "3", "4", "5"])
        for p in self.sample("--count", "2", "--until", "3", "--paths", "10", "--show-paths"):
            self.assertTrue(len(p["type"]) <= 2 and all(t <= 3 for t in p["time_since_last"]))

    def test_seed_and_threads(self):
        args = ["sample", self.at("m.safetensors"), self.at("demo"), "--count", "3", "--paths", "40", "--show-paths"]
        one = self.smurf(*args, "--threads", "1").raw
        self.assertEqual(one, self.smurf(*args, "--threads", "3").raw)
        self.assertEqual(one, self.smurf(*args, "--threads", "100000").raw)
        self.assertNotEqual(one, self.smurf(*args, "--seed", "2").raw)

    def test_first_event_has_the_law_that_predict_tells(self):
        lines = self.sample("--count", "1", "--paths", "2000", "--quantiles", "0.25,0.5,0.75")
        for line, told in zip(lines, self.jsonl("predict", self.at("words.safetensors"), self.at("words"), "--interval", "0.5")):
            want = [told["intervals"][0]["low"], told["median"], told["intervals"][0]["high"]]
            for got, w in zip(line["quantiles"], want):
                self.assertLess(abs(got - w), 0.15 * (want[2] - want[0]))

    def test_formats_agree(self):
        args = ["sample", self.at("words.safetensors"), self.at("words"), "--until", "4", "--paths", "20"]
        rows = list(csv.DictReader(io.StringIO(self.smurf(*args, "--format", "csv").out)))
        lines = self.jsonl(*args)
        self.assertEqual(len(rows), len(lines))
        for row, line in zip(rows, lines):
            self.assertEqual([row[k] for k in ["sequence", "what", "which"]], [line[k] for k in ["sequence", "what", "which"]])
            got = [float(row["q" + level]) for level in ["0.05", "0.25", "0.5", "0.75", "0.95"]] + [float(row["mean"])]
            self.assertEqual(got, [float("inf") if x is None else x for x in [*line["quantiles"], line["mean"]]])
        out = self.smurf(*args).lines
        self.assertEqual(len(out), 2 + len(lines))
        self.assertIn("20 futures", out[0])
        self.assertEqual({len(line) for line in out[1:]}, {len(out[1])})
        self.assertTrue(any("later" in line and line.endswith(" -") for line in out[2:]))
        self.assertFalse(any(word in line for word in ("nan", "inf", "never") for line in out))

    def test_long_names(self):
        self.write("n.jsonl", json.dumps({"user": "a sequence whose name is rather long, and goes on", "times": [1, 2], "types": ["a", "b"]}))
        lines = self.smurf("sample", self.at("words.safetensors"), "n.jsonl", "--paths", "5").lines
        self.assertEqual({len(line) for line in lines[1:]}, {len(lines[1])})

    def test_standard_input_and_empty_sequences(self):
        text = '{"user":"x","times":[],"types":[]}\n{"times":[1,2],"types":["a","b"]}\n'
        r = self.smurf("sample", self.at("words.safetensors"), "-", "--paths", "3", "--format", "csv", input=text, quiet=False)
        self.assertIn("sequence 'x' is empty", r.err)
        self.assertEqual(len(r.lines), 6)


class Refusals(SampleCase):
    def test_options(self):
        words, data = self.at("words.safetensors"), self.at("words")
        self.refuse("sample", words, data, "--until", "0", says="--until", status=2)
        self.refuse("sample", words, data, "--until", "-1", says="--until", status=2)
        self.refuse("sample", words, data, "--paths", "0", says="--paths", status=2)
        self.refuse("sample", words, data, "--count", "0", says="--until", status=2)
        self.refuse("sample", words, data, "--quantiles", "1.5", says="--quantiles", status=2)
        self.refuse("sample", words, data, "--format", "x", says="jsonl", status=2)
        self.refuse("sample", words, data, "--paths", "2305843009213693953", says="1000000000", status=2)
        self.refuse("sample", words, data, "--part", "x", says="--part", status=2)

    def test_files(self):
        self.refuse("sample", "nope.safetensors", self.at("words"), says="nope")

    def test_unknown_types(self):
        """They are told, and the model uses their times."""
        self.write("t.csv", "user,time,type\nu,1,a\nu,2,zebra\n")
        for model, data, name in ("m", self.at("words"), "words"), ("words", "t.csv", "'zebra'"):
            r = self.smurf("sample", self.at(f"{model}.safetensors"), data, "--paths", "2", "--events", "1", quiet=False)
            self.assertRegex(r.err, f"{name}.*does not know|does not know.*{name}")


if __name__ == "__main__":
    unittest.main()
