"""smurf score: how surprising each event was; and its sums are what eval says."""
import csv
import datetime
import io
import json
import math
import signal
import subprocess
import time
import unittest

import common
from models import ModelCase, calendar, table


class Score(ModelCase):
    @classmethod
    def make(cls):
        for part, n, seed in ("train", 30, 1), ("dev", 30, 2), ("test", 12, 3):
            cls.put("words/%s.csv" % part, table(n, seed=seed))
            cls.put("dates/%s.csv" % part, calendar(n, seed=seed))
            rounded = ["%s,%d,%s" % (u, float(t), k) for u, t, k in (r.split(",") for r in table(n, seed=seed).splitlines()[1:])]
            cls.put("ticks/%s.csv" % part, "\n".join(["user,time,type", *rounded]) + "\n")
        cls.train("words", "words.safetensors", "--recalibrate", "on")
        cls.train("dates", "dates.safetensors")
        cls.train("ticks", "ticks.safetensors")

    def score(self, *args, kind="words", data=None, **more):
        return self.jsonl("score", self.at(kind + ".safetensors"), data or self.at(kind), *args, **more)

    def evaluate(self, *args, kind="words"):
        return json.loads(self.smurf("eval", self.at(kind + ".safetensors"), self.at(kind), "--json", *args).out)

    def test_sums_are_those_of_eval(self):
        for kind, args in [("words", []), ("words", ["--no-recalibrate"]), ("words", ["--part", "dev"]), ("words", ["--seed", "7"]),
                           ("dates", []), ("ticks", []), ("words", ["--window", "5", "--history", "3", "--quiet"])]:
            found, whole = self.score(*args, kind=kind), self.evaluate(*args, kind=kind)
            n = len(found)
            self.assertEqual(n, whole["n"])

            def mean(f):
                return math.fsum(map(f, found)) / n
            self.assertAlmostEqual(mean(lambda o: o["log_density"]), whole["log_likelihood"], 6)
            self.assertAlmostEqual(mean(lambda o: -math.log(o["type_p"])), whole["type_loss"], 6)
            self.assertAlmostEqual(100 * mean(lambda o: o["predicted"] == o["type"]), whole["acc"], 6)
            levels = [0.05 * k for k in range(10, 20)]
            cs = math.sqrt(sum((mean(lambda o: o["pit"] < q) - q) ** 2 for q in levels) / 10)
            self.assertAlmostEqual(100 * cs, whole["cs_pit"], 6)

    def test_events_are_those_of_the_data(self):
        rows, at = list(csv.DictReader(io.StringIO(table(12, seed=3)))), {}
        want = []
        for r in rows:
            index, last = at.get(r["user"], (-1, None))
            at[r["user"]] = index + 1, float(r["time"])
            if last is not None:
                want.append((r["user"], index + 1, float(r["time"]), r["type"], float(r["time"]) - last))
        found = self.score()
        self.assertEqual(len(found), len(want))
        for o, (user, index, time_, kind, gap) in zip(found, want):
            self.assertEqual((o["sequence"], o["event"], o["at"], o["type"]), (user, index, time_, kind))
            self.assertAlmostEqual(o["gap"], gap, 6)

    def test_numbers_agree_with_predict(self):
        """No tick: the PIT is the probability that predict gives, and so is that of the type."""
        [o] = [o for o in self.score() if o["sequence"] == "u0" and o["event"] == 11]
        rows = [r for r in table(12, seed=3).splitlines() if r.startswith("u0,")][:11]
        self.write("before.csv", "\n".join(["user,time,type", *rows]) + "\n")
        law = self.jsonl("predict", self.at("words.safetensors"), "before.csv", "--within", repr(o["gap"]))[0]
        self.assertAlmostEqual(law["within"][0]["p"], o["pit"], 5)
        share = {t["type"]: t["p"] for t in law["types"]}
        self.assertAlmostEqual(share[o["type"]], o["type_p"], 3)
        self.assertEqual(law["types"][0]["type"], o["predicted"])

    def test_p_is_two_sided(self):
        for o in self.score():
            self.assertTrue(0 <= o["pit"] <= 1)
            self.assertAlmostEqual(o["p"], 2 * min(o["pit"], 1 - o["pit"]), 7)

    def test_surprises_are_found(self):
        """A gap of 500 among gaps of about 1."""
        lines, shift = ["user,time,type"], 0.0
        for i, row in enumerate(table(1, events=40, seed=3).splitlines()[1:]):
            user, t, kind = row.split(",")
            shift += 500 if i == 20 else 0
            lines.append("%s,%.9f,%s" % (user, float(t) + shift, kind))
        self.write("odd.csv", "\n".join(lines) + "\n")
        [first] = self.score("--top", "1", data="odd.csv")
        self.assertEqual(first["event"], 20)
        self.assertGreater(first["pit"], 0.99)

    def test_top_and_below(self):
        every = self.score()
        ranked = sorted(every, key=lambda o: o["p"])
        self.assertEqual([o["p"] for o in self.score("--top", "5")], [o["p"] for o in ranked[:5]])
        self.assertEqual(self.score("--below", "0.2"), [o for o in every if o["p"] <= 0.2])
        some = self.score("--below", "0.2", "--top", "3")
        self.assertEqual([o["p"] for o in some], [o["p"] for o in ranked if o["p"] <= 0.2][:3])
        self.assertEqual(self.score("--below", "1e-12"), [])
        self.assertEqual(len(self.score("--top", "100000")), len(every))

    def test_unknown_types_are_not_scored(self):
        """Their gaps are."""
        self.write("new.csv", table(4, types=("a", "b", "new"), seed=5))
        found = [json.loads(line) for line in self.smurf("score", self.at("words.safetensors"), "new.csv", "--format", "jsonl",
                                                         quiet=False).out.splitlines()]
        whole = json.loads(self.smurf("eval", self.at("words.safetensors"), "new.csv", "--json", quiet=False).out)
        known = [o for o in found if o["type_p"] is not None]
        self.assertEqual({o["type"] for o in found if o["type_p"] is None}, {"other"})
        self.assertTrue(0 < len(known) < len(found) == whole["n"])
        self.assertAlmostEqual(math.fsum(o["log_density"] for o in found) / len(found), whole["log_likelihood"], 6)
        self.assertAlmostEqual(-math.fsum(math.log(o["type_p"]) for o in known) / len(known), whole["type_loss"], 6)
        self.assertAlmostEqual(100 * sum(o["predicted"] == o["type"] for o in known) / len(known), whole["acc"], 6)
        last = self.smurf("overdue", self.at("words.safetensors"), "new.csv", "--now", "99", "--format", "jsonl", quiet=False).out
        self.assertLessEqual({json.loads(line)["type"] for line in last.splitlines()}, {"a", "b", "other"})

    def test_formats_agree(self):
        for kind in "words", "dates":
            out = self.smurf("score", self.at(kind + ".safetensors"), self.at(kind)).out
            rows, found = list(csv.DictReader(io.StringIO(out))), self.score(kind=kind)
            self.assertEqual(len(rows), len(found))
            for r, o in zip(rows, found):
                self.assertEqual(list(r), list(o))
                for key, value in o.items():
                    self.assertEqual(r[key] if isinstance(value, str) else float(r[key]), value, key)
        empty = self.smurf("score", self.at("words.safetensors"), self.at("words"), "--below", "1e-12").out
        self.assertEqual(empty, "sequence,event,at,type,gap,pit,p,log_density,type_p,predicted,predicted_p\n")

    def test_dates(self):
        found = self.score(kind="dates")
        moments = [datetime.datetime.fromisoformat(o["at"][:26].rstrip("Z")) for o in found]
        for a, b, o in zip(moments, moments[1:], found[1:]):
            if o["event"] > 1:
                self.assertAlmostEqual((b - a).total_seconds(), o["gap"], 2)

    def test_ticks_are_spread_at_random(self):
        one, same, other = self.score(kind="ticks"), self.score("--seed", "1", kind="ticks"), self.score("--seed", "2", kind="ticks")
        self.assertEqual(one, same)
        self.assertNotEqual([o["pit"] for o in one], [o["pit"] for o in other])
        self.assertEqual([o["log_density"] for o in one], [o["log_density"] for o in other])

    def test_threads_do_not_matter(self):
        want = self.smurf("score", self.at("words.safetensors"), self.at("words"), "--threads", "1").out
        self.assertEqual(self.smurf("score", self.at("words.safetensors"), self.at("words"), "--threads", "3").out, want)

    def test_refused(self):
        model, data = self.at("words.safetensors"), self.at("words")
        self.refuse("score", model, data, "--format", "table", says="--format takes csv or jsonl", status=2)
        for below in "0", "-1", "1.5":
            self.refuse("score", model, data, "--below", below, says="--below takes a probability", status=2)
        self.refuse("score", model, data, "--part", "all", says="--part", status=2)
        self.write("one.csv", "user,time,type\nu,1,a\n")
        self.refuse("score", model, "one.csv", says="has no gaps")
        self.refuse("score", model, "absent.csv", says="absent.csv")

    def test_a_reader_that_leaves(self):
        run = subprocess.Popen([common.SMURF, "score", self.at("words.safetensors"), self.at("words")],
                               env=common.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        run.stdout.close()
        err = run.stderr.read().decode()
        self.assertNotEqual(run.wait(common.TIMEOUT), 0)
        self.assertLessEqual(err.count("\n"), 1, err)
        run.stderr.close()

    def test_stops(self):
        self.write("long.csv", "user,time,type\n" + "".join("u,%d,%s\n" % (i * i % 97 + 97 * i, "ab"[i % 2]) for i in range(100000)))
        run = subprocess.Popen([common.SMURF, "score", self.at("words.safetensors"), "long.csv", "--threads", "1"], cwd=self.folder,
                               env=common.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=common.TIMEOUT)
        self.assertEqual((run.returncode, out), (1, b""))
        self.assertRegex(err, rb"^smurf: stopped.*\n$")


if __name__ == "__main__":
    unittest.main()
