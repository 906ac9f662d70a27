"""smurf simulate: the same seed gives the same file, where it goes, and what it refuses. Laws are tested in unit_simulate."""
import os
import re
import stat
import threading
import unittest

from common import Case, environment


class Simulate(Case):
    def processes(self):
        listed = self.smurf("simulate", "--help").out.split("Available processes and their parameters\n")[1].split("\nExample")[0]
        return re.findall(r"^  ([\w-]+):? ", listed, re.M)

    def test_every_process(self):
        found = self.processes()
        self.assertGreaterEqual(set(found), {"poisson", "inhomogeneous", "gamma", "weibull", "lognormal", "self-correcting",
                                             "hawkes"})
        for name in found:
            dates = name == "daily"
            until = 20 * 86400 if dates else 20
            for types in ["1", "4"]:
                self.smurf("simulate", name, "-k", types, "-n", "30", "--until", str(until), "-o", "a.csv", "--quiet")
                [s] = self.summary("a.csv", "--types", "words")
                self.assertGreater(s["events"], 0, name)
                self.assertLessEqual(s["latest"], "1970-01-21" if dates else until)
                self.assertEqual(s["windows_known"], s["sequences"])

    def test_same_seed_same_file_on_any_number_of_threads(self):
        for name in self.processes():
            files = [self.smurf("simulate", name, "-k", "2", "-n", "200", "--until", "30", "--seed", "7", "--threads", str(t)).raw
                     for t in (1, 2, 5, 0)]
            self.assertEqual(len(set(files)), 1, name)
            other = self.smurf("simulate", name, "-k", "2", "-n", "200", "--until", "30", "--seed", "8").raw
            self.assertNotEqual(files[0], other, name)

    def test_default_seed_is_1(self):
        self.assertEqual(self.smurf("simulate", "poisson", "-n", "3").raw, self.smurf("simulate", "poisson", "-n", "3", "--seed", "1").raw)

    def test_fewer_sequences_are_a_part_of_more(self):
        few, many = (self.smurf("simulate", "hawkes", "-n", n, "--until", "10").lines for n in ("5", "50"))
        self.assertEqual(few, many[:5])

    def test_lengths(self):
        self.smurf("simulate", "poisson", "-n", "7", "--events", "11", "-o", "a.jsonl", "--quiet")
        self.assertEqual([len(s["time_since_start"]) for s in self.sequences("a.jsonl")], [11] * 7)
        self.smurf("simulate", "poisson", "-n", "50", "--until", "5", "--events", "4", "-o", "a.jsonl", "--quiet")
        for s in self.sequences("a.jsonl"):
            self.assertLessEqual(len(s["time_since_start"]), 4)
            self.assertEqual("observation_end" in s, len(s["time_since_start"]) < 4)

    def test_outputs(self):
        for name in ["a.csv", "a.tsv", "a.jsonl.gz", "a.json", "time-a.txt", "a.pkl"]:
            r = self.smurf("simulate", "poisson", "-n", "4", "--until", "9", "-o", name, quiet=False)
            self.assertRegex(r.err, rf"^wrote \d+ events in 4 sequences to {re.escape(name)}\n$")
            self.assertEqual(r.out, "")
            self.assertEqual(self.summary(name)[0]["sequences"], 4)
        r = self.smurf("simulate", "poisson", "-n", "1", "--events", "1", "-o", "one.csv", quiet=False)
        self.assertEqual(r.err, "wrote 1 event in 1 sequence to one.csv\n")
        self.assertEqual(len(self.smurf("simulate", "poisson", "-n", "4").lines), 4)
        self.assertTrue(self.smurf("simulate", "poisson", "-n", "4", "--to", "csv").out.startswith("sequence,"))

    def test_directory(self):
        for out in ["demo/", "demo2"]:
            self.smurf("simulate", "poisson", "-n", "20", "-o", out, "--quiet")
            self.assertEqual([p["sequences"] for p in self.summary(out)], [16, 2, 2])
        self.smurf("simulate", "poisson", "-n", "20", "-o", "demo3", "--split", "1:1:2", "--to", "csv", "--quiet")
        self.assertEqual([p["sequences"] for p in self.summary("demo3")], [5, 5, 10])
        self.assertIn("train.csv", os.listdir(self.path("demo3")))
        self.refuse("simulate", "poisson", "-o", "x.csv", "--split", "8:1:1", says=["x.csv", "directory"], status=2)

    def test_into_a_pipe_or_a_device(self):
        os.mkfifo(self.path("pipe"))
        got = []
        take = threading.Thread(target=lambda: got.append(self.content("pipe")))
        take.start()
        self.smurf("simulate", "poisson", "-n", "4", "-o", "pipe", "--to", "csv", "--quiet")
        take.join()
        self.assertTrue(got[0].startswith(b"sequence,"))
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))
        self.assertEqual(self.smurf("simulate", "poisson", "-n", "4", "-o", "/dev/stdout", "--to", "csv", "--quiet").raw, got[0])
        self.smurf("simulate", "poisson", "-n", "4", "-o", "/dev/null", "--to", "csv", "--quiet")

    def test_wrong_parameters(self):
        for args, says in [(["nope"], ["'nope'", "poisson", "hawkes"]),
                           (["hawkes", "nope=1"], ["'nope'", "decay"]),
                           (["hawkes", "decay=1", "decay=2"], ["'decay'", "twice"]),
                           (["hawkes", "decay=-1"], ["'decay'", "-1"]),
                           (["hawkes", "base=nan"], ["'base'", "nan"]),
                           (["hawkes", "base=inf"], ["'base'", "inf"]),
                           (["hawkes", "-k", "2", "base=1,2,3"], ["'base'", "3 values", "2"]),
                           (["hawkes", "excitation=2", "-k", "1"], ["hawkes|excitation"]),
                           (["hawkes", "-k", "5000"], ["5000 types", "4096"]),
                           (["poisson", "-n", "0"], ["sequences"]),
                           (["poisson", "--until", "-1"], ["until", "-1"]),
                           (["poisson", "--until", "1e18"], ["events", "until"]),
                           (["poisson", "rate=1e300"], ["events", "rate"]),
                           (["poisson", "--events", "99999999999"], ["max_events|events"])]:
            self.refuse("simulate", *args, says=says)
        for args, says in [(["hawkes", "decay"], ["'decay'", "NAME=VALUE"]),
                           (["hawkes", "decay="], ["decay", "number"]),
                           (["hawkes", "decay=1,"], ["decay", "number"]),
                           (["hawkes", "decay=x"], ["decay", "'x'", "number"]),
                           (["poisson", "-k", "99999999999"], ["--types"]),
                           (["poisson", "-n", "-5"], ["--sequences", "whole number"]),
                           (["poisson", "--until", "soon"], ["--until", "number"]),
                           (["poisson", "--until", "nan"], ["--until", "number"]),
                           (["poisson", "--to", "xml"], ["'xml'", "csv"]),
                           ([], ["too few arguments"])]:
            self.refuse("simulate", *args, says=says, status=2)


if __name__ == "__main__":
    unittest.main()
