"""smurf overdue: which sequences have been silent for longer than they should."""
import csv
import datetime
import io
import signal
import subprocess
import time
import unittest

import common
from models import ModelCase, calendar, table


class Overdue(ModelCase):
    @classmethod
    def make(cls):
        for part, n, seed in ("train", 30, 1), ("dev", 30, 2), ("test", 12, 3):
            cls.put("words/%s.csv" % part, table(n, seed=seed))
            cls.put("dates/%s.csv" % part, calendar(n, seed=seed))
        cls.train("words", "words.safetensors", "--recalibrate", "on")
        cls.train("dates", "dates.safetensors")

    def overdue(self, *args, kind="words", data=None, **more):
        return self.jsonl("overdue", self.at(kind + ".safetensors"), data or self.at(kind + "/test.csv"), *args, **more)

    def predict(self, *args, kind="words"):
        return {o["sequence"]: o for o in self.jsonl("predict", self.at(kind + ".safetensors"), self.at(kind + "/test.csv"), *args)}

    def test_probabilities_are_those_of_the_law(self):
        for raw in [], ["--no-recalibrate"]:
            laws = self.predict("--interval", "0.9", "--one-sided", *raw)
            now = max(o["last"] for o in laws.values())
            found = self.overdue(*raw)
            self.assertTrue(2 < len(found) < 12)
            for o in found:
                law = laws[o["sequence"]]
                self.assertEqual((o["last"], o["events"], o["now"], o["level"]), (law["last"], 12, now, 0.9))
                self.assertAlmostEqual(o["silence"], now - law["last"], 6)
                self.assertEqual(o["expected"], law["intervals"][0]["high"])
                self.assertAlmostEqual(o["expected_at"], o["last"] + o["expected"], 6)
                p = self.predict("--within", repr(o["silence"]), *raw)[o["sequence"]]["within"][0]["p"]
                self.assertAlmostEqual(o["p"], 1 - p, 6)
            late = {name for name, law in laws.items() if now - law["last"] > law["intervals"][0]["high"]}
            self.assertEqual({o["sequence"] for o in found}, late)
            self.assertEqual([o["p"] for o in found], sorted(o["p"] for o in found))
            self.assertTrue(all(o["p"] < 0.1 for o in found))
        self.assertNotEqual(self.overdue(), self.overdue("--no-recalibrate"))

    def test_the_last_event(self):
        rows = list(csv.DictReader(io.StringIO(table(12, seed=3))))
        last = {r["user"]: r["type"] for r in rows}
        for o in self.overdue("--now", "1000"):
            self.assertEqual(o["type"], last[o["sequence"]])

    def test_level_and_top(self):
        every = self.overdue("--now", "40", "--level", "0.5", "--top", "0")
        self.assertEqual(len(every), 12)
        self.assertEqual(self.overdue("--now", "40", "--level", "0.5", "--top", "3"), every[:3])
        self.assertEqual(len(self.overdue("--now", "1000", data=self.many())), 20)
        self.assertGreater(len(self.overdue("--level", "0.5")), len(self.overdue("--level", "0.95")))

    def many(self):
        return self.write("many.csv", table(40, seed=5))

    def test_far_silences_have_an_order(self):
        """Where all probabilities are 0, the longest in terms of what was expected comes first."""
        found = self.overdue("--now", "1e15", "--top", "0")
        self.assertEqual({o["p"] for o in found}, {0})
        ratio = [o["silence"] / o["expected"] for o in found]
        self.assertEqual(ratio, sorted(ratio, reverse=True))

    def test_formats_agree(self):
        for kind in "words", "dates":
            args = ["overdue", self.at(kind + ".safetensors"), self.at(kind + "/test.csv")]
            found = self.overdue(kind=kind)
            rows = list(csv.DictReader(io.StringIO(self.smurf(*args, "--format", "csv").out)))
            self.assertEqual(len(rows), len(found))
            for r, o in zip(rows, found):
                self.assertEqual(list(r), list(o))
                for key, value in o.items():
                    self.assertEqual(r[key] if isinstance(value, str) else float(r[key]), value, key)
            lines = self.smurf(*args).lines
            self.assertRegex(lines[0], r"^%d of 12 sequences have been silent for longer than expected at " % len(found))
            self.assertRegex(lines[1], r"^sequence +last event +type +silent for +expected \(90%\) probability$")
            self.assertEqual([line.split()[0] for line in lines[2:]], [o["sequence"] for o in found])
            self.assertEqual([float(line.split()[-1]) for line in lines[2:]], [float("%.2g" % o["p"]) for o in found])
        self.assertRegex(lines[2], r"^\w+ +2024-01-31 \d\d:\d\d(:\d\d)? +log\w+ +[\d.]+ (h|min) +[\d.]+ (h|min) +[\d.e-]+$")
        self.assertRegex(lines[0], r" at 2024-\d\d-\d\d \d\d:\d\d(:\d\d)? UTC$")

    def test_dates(self):
        def moment(text):
            return datetime.datetime.fromisoformat(text[:26].rstrip("Z"))
        for o in self.overdue(kind="dates"):
            self.assertAlmostEqual((moment(o["now"]) - moment(o["last"])).total_seconds(), o["silence"], 2)
            self.assertAlmostEqual((moment(o["expected_at"]) - moment(o["last"])).total_seconds(), o["expected"], 2)
        self.assertEqual(len(self.overdue("--now", "now", kind="dates")), 12)
        by_date = self.overdue("--now", "2024-02-02T00:00", kind="dates")
        self.assertEqual(by_date[0]["now"], "2024-02-02T00:00:00Z")

    def test_nobody(self):
        self.write("a.csv", "user,time,type\nu,1,a\nu,1.5,b\nv,1.5,a\n")
        args = ["overdue", self.at("words.safetensors"), "a.csv"]
        self.assertEqual(self.smurf(*args).out, "0 of 2 sequences have been silent for longer than expected at 1.5\n")
        self.assertEqual(self.smurf(*args, "--format", "jsonl").out, "")
        for rows, now, start in (("", "1.5", "0 of 1 sequence has"), ("", "1000", "1 of 1 sequence has"), ("v,1000,a\n", "1000", "1 of 2 sequences has")):
            self.write("b.csv", "user,time,type\nu,1,a\nu,1.5,b\n" + rows)
            out = self.smurf("overdue", self.at("words.safetensors"), "b.csv", "--now", now).out
            self.assertTrue(out.startswith(start + " been silent for longer than expected"), out)
        self.assertEqual(self.smurf(*args, "--format", "csv").out.count("\n"), 1)
        self.write("e.jsonl", '{"times":[],"types":[]}\n{"times":[1,2.5],"types":["a","b"]}\n')
        self.assertEqual([o["sequence"] for o in self.overdue("--now", "99", data="e.jsonl")], ["1"])

    def test_threads_do_not_matter(self):
        data, args = self.many(), ["--level", "0.5", "--top", "0"]
        want = self.overdue(*args, "--threads", "1", data=data)
        for threads in "2", "5":
            self.assertEqual(self.overdue(*args, "--threads", threads, data=data), want)

    def test_standard_input(self):
        self.assertEqual(self.overdue(data="-", input=table(12, seed=3)), self.overdue())

    def test_refused(self):
        model, test = self.at("words.safetensors"), self.at("words/test.csv")
        self.refuse("overdue", model, test, "--now", "3", says=["sequence 'u0' has an event after --now 3", "cut the data there"])
        self.refuse("overdue", model, test, "--now", "now", says="needs a model of times with dates", status=2)
        self.refuse("overdue", model, test, "--now", "soon", says="--now 'soon'", status=2)
        for level in "0", "1", "90", "x":
            self.refuse("overdue", model, test, "--level", level, says="--level", status=2)
        self.refuse("overdue", model, test, "--format", "xml", says="--format takes table, csv or jsonl", status=2)
        self.refuse("overdue", model, "absent.csv", says="absent.csv")
        self.refuse("overdue", model, test, "--part", "dev", says="no dev part", status=2)

    def test_a_reader_that_leaves(self):
        run = subprocess.Popen([common.SMURF, "overdue", self.at("words.safetensors"), self.at("words/test.csv"), "--now", "99"],
                               env=common.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        run.stdout.close()
        err = run.stderr.read().decode()
        self.assertNotEqual(run.wait(common.TIMEOUT), 0)
        self.assertLessEqual(err.count("\n"), 1, err)
        run.stderr.close()

    def test_stops(self):
        """While it forecasts many sequences."""
        self.write("long.csv", "user,time,type\n" + "".join("u%d,%d,a\n" % (i // 8, i) for i in range(1600000)))
        run = subprocess.Popen([common.SMURF, "overdue", self.at("words.safetensors"), "long.csv", "--threads", "1"], cwd=self.folder,
                               env=common.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.5)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=common.TIMEOUT)
        self.assertEqual((run.returncode, out), (1, b""))
        self.assertRegex(err, rb"^smurf: stopped.*\n$")


if __name__ == "__main__":
    unittest.main()
