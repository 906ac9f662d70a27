"""Sequences that end: the probability that no further event comes, in every command that knows of it."""
import csv
import io
import json
import re
import unittest

from models import SMALL, ModelCase, calendar, table


class Ending(ModelCase):
    @classmethod
    def make(cls):
        cls.do("simulate", "ending", "never=0.02,0.6", "--types", "2", "--sequences", "400", "--until", "40", "-o", "cases/", "--quiet")
        for name, *more in ["ends.safetensors"], ["on.safetensors", "--no-end"]:
            cls.do("train", "cases", "-o", name, "--epochs", "30", "--rate", "0.01", "--quiet", *SMALL, *more)

    def predict(self, *args, model="ends.safetensors"):
        return self.jsonl("predict", self.at(model), self.at("cases"), *args)

    def types(self):
        """The type of each test sequence's last event."""
        with open(self.at("cases/test.jsonl")) as f:
            return [json.loads(line)["type_event"][-1:] for line in f]

    def test_share_is_known_by_the_last_event(self):
        found = {0: [], 1: []}
        for one, last in zip(self.predict(), self.types(), strict=True):
            if last:
                found[last[0]].append(one["never"])
        for last, share in (0, 0.02), (1, 0.6):
            self.assertAlmostEqual(sum(found[last]) / len(found[last]), share, delta=0.1)
        self.assertLess(max(found[0]), min(found[1]))

    def test_numbers_agree(self):
        for one in self.predict("--within", "1,1000", "--interval", "0.5,0.9"):
            if not one["events"]:
                self.assertIsNone(one["never"])
                continue
            comes = 1 - one["never"]
            self.assertLess(one["within"][0]["p"], comes)
            self.assertAlmostEqual(one["within"][1]["p"], comes, 6)
            self.assertEqual(one["median"] is None, one["never"] > 0.5)
            self.assertEqual(one["median_time"] is None, one["never"] > 0.5)
            self.assertEqual(one["intervals"][1]["high"] is None, one["never"] > 0.05)
            self.assertIsNotNone(one["mean"])
            self.assertAlmostEqual(sum(t["p"] for t in one["types"]), 1, 5)

    def test_silence_raises_it(self):
        before, after = self.predict(), self.predict("--silence", "5")
        for a, b in zip(before, after, strict=True):
            if a["events"]:
                self.assertGreater(b["never"], a["never"])

    def test_formats_agree(self):
        args = ["predict", self.at("ends.safetensors"), self.at("cases")]
        objects, out = self.predict(), self.smurf(*args).lines
        rows = list(csv.DictReader(io.StringIO(self.smurf(*args, "--format", "csv").out)))
        self.assertRegex(out[1], r" no more  types$")
        for one, row, line in zip(objects, rows, out[2:], strict=True):
            self.assertEqual(row["never"], "" if one["never"] is None else "%.9g" % one["never"])
            self.assertEqual(row["median"], "inf" if one["median"] is None else "%.9g" % one["median"])
            if one["never"] is None:
                self.assertNotIn("never", line)
                continue
            self.assertIn(" never %.0f%%  " % (100 * one["never"]), line)
            self.assertEqual(bool(re.search(r"^\S+ +\d+ +never ", line)), one["median"] is None, line)
            self.assertEqual(line.count("..never"), sum(i["high"] is None and i["low"] is not None for i in one["intervals"]), line)
        self.assertEqual(len({line.index("types") if i == 0 else len(re.match(r".*?never +\d+%|.* - ", line)[0]) + 2
                              for i, line in enumerate(out[1:]) if "never " in line or i == 0}), 1)

    def test_tables_say_never(self):
        ends, cases = self.at("ends.safetensors"), self.at("cases")
        for out in self.smurf("predict", ends, cases, "--next", "1", "--paths", "20").lines, self.smurf("sample", ends, cases, "--paths", "20").lines:
            self.assertTrue(any(" never " in line for line in out[2:]))
            self.assertFalse(any("inf" in line for line in out))

    def test_no_end(self):
        for one in self.predict(model="on.safetensors"):
            self.assertNotIn("never", one)
            self.assertIsNotNone(one["intervals"][1]["high"])
        out = self.smurf("predict", self.at("on.safetensors"), self.at("cases")).out
        self.assertNotIn("never", out)
        header = self.smurf("predict", self.at("on.safetensors"), self.at("cases"), "--format", "csv").lines[0]
        self.assertNotIn("never", header)

    def test_what_has_ended_is_not_overdue(self):
        found = {model: {o["sequence"] for o in self.jsonl("overdue", self.at(model), self.at("cases"), "--now", "40", "--top", "0")}
                 for model in ("ends.safetensors", "on.safetensors")}
        ended = {str(i) for i, last in enumerate(self.types()) if last == [1]}
        self.assertTrue(ended & found["on.safetensors"])
        self.assertFalse(ended & found["ends.safetensors"])

    def test_futures_end(self):
        rows = self.jsonl("sample", self.at("ends.safetensors"), self.at("cases"), "--paths", "50", "--count", "3")
        firsts = {r["sequence"]: r for r in rows if r["what"] == "event" and r["which"] == "1"}
        for i, last in enumerate(self.types()):
            if last == [1]:
                self.assertIsNone(firsts[str(i)]["quantiles"][-1])

    def test_eval(self):
        def ends(model, *more):
            return json.loads(self.smurf("eval", self.at(model), self.at("cases"), "--json", *more).out)["ends"]
        e, without = ends("ends.safetensors"), ends("on.safetensors")
        self.assertEqual((e["n"], e["last"]), (without["n"], without["last"]))
        self.assertAlmostEqual(e["share"], e["last"] / e["n"], 12)
        self.assertAlmostEqual(e["forecast"], e["share"], delta=0.1)
        self.assertLess(e["brier"], e["brier_constant"])
        self.assertLess(e["brier"], without["brier"])
        self.assertEqual(sum(g["n"] for g in e["groups"]), e["n"])
        self.assertEqual(e, ends("ends.safetensors", "--threads", "3"))
        out = self.smurf("eval", self.at("ends.safetensors"), self.at("cases")).out
        self.assertRegex(out, r"(?m)^no further event until the end of observation: after %d of %d events \(\d+\.\d%%; forecast \d+\.\d%%\); "
                              r"Brier score 0\.\d{4} \(0\.\d{4} for always \d+\.\d%%\)$" % (e["last"], e["n"]))
        r = self.run_smurf("eval", self.at("ends.safetensors"), self.at("cases"), "--report", "r.html")
        self.assertEqual(r.status, 0)
        page = self.content("r.html").decode()
        self.assertIn("Does it know that nothing follows?", page)
        self.assertIn("Nothing followed %d of %s events" % (e["last"], format(e["n"], ",")), page)

    def test_a_log_of_dates(self):
        """Is observed until its last event, in training and in evaluation; a log of one sequence is not."""
        self.write("dates.csv", calendar(40))
        self.smurf("train", "dates.csv", "-o", "d", "--epochs", "1", "-q", *SMALL)
        e = json.loads(self.smurf("eval", "d", "dates.csv", "--json", quiet=False).out)
        self.assertEqual(e["ends"]["last"] + e["n"], e["ends"]["n"])
        self.write("one.csv", calendar(1, events=300))
        self.smurf("train", "one.csv", "-o", "o", "--epochs", "1", "-q", *SMALL)
        self.assertNotIn("ends", json.loads(self.smurf("eval", "o", "one.csv", "--json", quiet=False).out))
        self.assertNotIn("never", self.smurf("predict", "o", "one.csv").out)
        self.write("plain.csv", table(40))
        self.smurf("train", "plain.csv", "-o", "p", "--epochs", "1", "-q", *SMALL)
        self.assertNotIn("never", self.smurf("predict", "p", "plain.csv").out)
        # unless asked for
        self.smurf("train", "plain.csv", "-o", "q", "--observed-until", "30", "--epochs", "1", "-q", *SMALL)
        self.assertIn("never", self.smurf("predict", "q", "plain.csv").out)

    def test_refused(self):
        self.refuse("train", self.at("cases"), "--no-end", "--ending", "on", says="--no-end and --ending", status=2)
        self.refuse("train", self.at("cases"), "--ending", "maybe", says="ending 'maybe' is not one of: off on", status=2)
        self.refuse("train", self.at("cases"), "--preset", "thp", "--ending", "on", says=["model thp", "set ending to off"], status=2)


if __name__ == "__main__":
    unittest.main()
