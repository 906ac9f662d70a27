"""smurf predict: answers that agree with each other, streams, and what it refuses."""
import csv
import datetime
import gzip
import io
import json
import os
import random
import re
import select
import signal
import subprocess
import time
import unittest

import common
from models import ModelCase, calendar, table


class PredictCase(ModelCase):
    @classmethod
    def make(cls):
        super().make()
        cls.train("demo", "map.safetensors", "--recalibrate", "on")
        cls.put("words/train.csv", table(30))
        cls.put("words/dev.csv", table(6, seed=2))
        cls.put("words/test.csv", table(5, seed=3))
        cls.train("words", "words.safetensors")
        cls.put("dates/train.csv", calendar(30))
        cls.put("dates/dev.csv", calendar(6, seed=2))
        cls.put("dates/test.csv", calendar(3, seed=3))
        cls.train("dates", "dates.safetensors")

    def predict(self, *args, model="words.safetensors", data=None, **more):
        return self.jsonl("predict", self.at(model), self.at("words/test.csv") if data is None else data, *args, **more)

    def rows(self, *args, **more):
        return list(csv.DictReader(io.StringIO(self.smurf("predict", *args, "--format", "csv", **more).out)))


class Numbers(PredictCase):
    def test_formats_agree(self):
        args = [self.at("map.safetensors"), self.at("demo"), "--within", "0.25,3", "--next", "1", "--paths", "40", "--conformal",
                "--interval", "0.5,0.8", "--threads", "2"]
        objects, rows = self.jsonl("predict", *args), self.rows(*args)
        lines = self.smurf("predict", *args).lines
        self.assertEqual([len(objects), len(rows), len(lines)], [3, 3, 5])

        def same(x, text):
            self.assertEqual(float(text), float("inf") if x is None else x)

        for o, r, line in zip(objects, rows, lines[2:]):
            self.assertEqual((o["sequence"], str(o["events"]), str(o["last"])), (r["sequence"], r["events"], r["last"]))
            for key in ["median", "mean"]:
                same(o[key], r[key])
            self.assertAlmostEqual(float(r["median_time"]), o["last"] + o["median"], 6)
            for i, level in enumerate(["0.5", "0.8"]):
                self.assertEqual(str(o["intervals"][i]["level"]), level)
                for end in ["low", "high"]:
                    same(o["intervals"][i][end], r[end + "_" + level])
                    same(o["conformal"][i][end], r["conformal_" + end + "_" + level])
                    same(o["target"]["intervals"][i][end], r["target_" + end + "_" + level])
            for i, horizon in enumerate(["0.25", "3"]):
                same(o["within"][i]["p"], r["within_" + horizon])
                same(o["target"]["within"][i]["p"], r["target_within_" + horizon])
            same(o["target"]["seen"], r["target_seen"])
            self.assertEqual([(t["type"], t["p"]) for t in o["types"]], [(r["type_%d" % k], float(r["share_%d" % k])) for k in [1, 2, 3]])
            self.assertEqual(line.split()[:2], [o["sequence"], str(o["events"])])
            self.assertEqual("%.3g" % float(line.split()[2]), "%.3g" % o["median"])
            self.assertIn(" %.1f%%" % (100 * o["within"][0]["p"]), line)
            self.assertIn("  %s %.0f%%, " % (o["types"][0]["type"], 100 * o["types"][0]["p"]), line)

    def test_computed_numbers_are_short(self):
        out = self.smurf("predict", self.at("words.safetensors"), self.at("words/test.csv"), "--format", "jsonl", "--within", "0.1").out
        for number in re.findall(r'"(?:median|mean|low|high|p)":([\d.e+-]+)', out):
            self.assertLessEqual(len(re.sub(r"e.*|\D", "", number).lstrip("0")), 9, number)

    def test_intervals_are_quantiles(self):
        one = self.predict("--one-sided", "--interval", "0.5,0.9,0.999", "--top", "2")[0]
        ends = [i["high"] for i in one["intervals"]]
        self.assertEqual([i["low"] for i in one["intervals"]], [0, 0, 0])
        self.assertEqual(one["median"], ends[0])
        asked = self.predict("--within", ",".join(map(repr, ends)))[0]
        for interval, within in zip(one["intervals"], asked["within"]):
            self.assertAlmostEqual(within["p"], interval["level"], delta=1e-4)  # ends are on ticks of 1e-6
        two = self.predict("--interval", "0.9")[0]["intervals"][0]
        p = [w["p"] for w in self.predict("--within", "%r,%r" % (two["low"], two["high"]))[0]["within"]]
        self.assertAlmostEqual(p[0], 0.05, delta=1e-4)
        self.assertAlmostEqual(p[1], 0.95, delta=1e-4)
        self.assertAlmostEqual(sum(t["p"] for t in one["types"]), 1, 6)

    def test_ends_lie_on_ticks(self):
        """Times of whole minutes: what is shown is whole minutes, and a tie is in the interval where ties are likely."""
        rng = random.Random(5)
        t, lines = 0, ["time,type"]
        for _ in range(400):
            t += rng.choice([0, 0, 1, 2, 3, 40])
            lines.append("2024-01-%02dT%02d:%02d:00Z,a" % (1 + t // 1440, t // 60 % 24, t % 60))
        self.write("minutes.csv", "\n".join(lines) + "\n")
        self.smurf("train", "minutes.csv", "-o", "minutes.safetensors", "--epochs", "2", "--width", "8", "--inner", "8", "--heads",
                   "2", "--head-width", "4", "--threads", "1", "-q")
        args = ["predict", "minutes.safetensors", "minutes.csv", "--interval", "0.5,0.9", "-q"]
        for more in [], ["--silence", "2min"]:
            o = self.jsonl(*args, *more)[0]
            for x in [o["median"]] + [i[end] for i in o["intervals"] for end in ("low", "high")]:
                self.assertEqual(x % 60, 0)
            self.assertEqual(o["intervals"][1]["low"], 0)
        row = next(csv.DictReader(io.StringIO(self.smurf(*args, "--format", "csv").out)))
        self.assertEqual((float(row["low_0.9"]), float(row["high_0.9"]) % 60), (0, 0))
        e = json.loads(self.smurf("eval", "minutes.safetensors", "minutes.csv", "--json", "-q").out)
        self.assertEqual((e["tick"], len(e["central_on_ticks"])), (60, 9))
        for shown, pit in zip(e["central_on_ticks"], e["central_pit"]):
            self.assertGreaterEqual(shown, pit - 1e-12)
        for shown, strict in zip(e["coverage_on_ticks"], e["coverage"]):
            self.assertGreaterEqual(shown, strict)
        self.assertRegex(self.smurf("eval", "minutes.safetensors", "minutes.csv", "-q").out,
                         r"(?m)^central intervals, on ticks of 1 min with both ends: 50% -> \S+% \(\S+%\), 70% -> .*, 90% -> ")

    def test_levels_are_not_rounded(self):
        rows = self.rows(self.at("words.safetensors"), self.at("words/test.csv"), "--interval", "0.99999,0.999999999")
        self.assertIn("high_0.999999999", rows[0])
        self.assertEqual(self.predict("--interval", "0.9999999")[0]["intervals"][0]["level"], 0.9999999)
        for levels in ["0", "1", "90", "-0.5", "", "0.5,", "0.5;0.9", "nan", ",".join(["0.5"] * 21)]:
            self.refuse("predict", self.at("words.safetensors"), self.at("words/test.csv"), "--interval", levels, says="--interval",
                        status=2)

    def test_recalibration_is_used_and_can_be_left_out(self):
        args = {"model": "map.safetensors", "data": self.at("demo")}
        self.assertNotEqual(self.predict(**args)[0]["median"], self.predict("--no-recalibrate", **args)[0]["median"])

    def test_history_bounds(self):
        rows = table(1, 40, seed=5).splitlines()
        self.write("long.csv", "\n".join(rows) + "\n")
        self.write("tail.csv", "\n".join([rows[0], *rows[-5:]]) + "\n")
        short = self.predict("--history", "5", data="long.csv")[0]
        self.assertEqual(short["events"], 40)
        self.assertNotEqual(short["median"], self.predict(data="long.csv")[0]["median"])
        self.assertEqual(self.predict("--history", "1000", data="long.csv")[0]["median"], self.predict(data="long.csv")[0]["median"])

    def test_every(self):
        self.write("a.csv", table(2, 10))
        answers = self.predict("--every", "3", data="a.csv")
        self.assertEqual([(a["sequence"], a["events"]) for a in answers], [(u, n) for u in ["u0", "u1"] for n in [3, 6, 9]])
        last = self.predict("--every", "10", data="a.csv")
        whole = self.predict(data="a.csv")
        for a, b in zip(last, whole):
            self.assertAlmostEqual(a["median"], b["median"], 4)
        self.assertEqual(self.rows(self.at("words.safetensors"), "a.csv", "--every", "11"), [])

    def test_conformal(self):
        few = self.predict("--conformal", "--interval", "0.99", model="map.safetensors", data=self.at("demo"))[0]
        self.assertIsNone(few["conformal"][0]["high"])
        self.assertEqual(few["conformal"][0]["low"], 0)
        one = self.predict("--conformal", "--one-sided", "--interval", "0.5", model="map.safetensors", data=self.at("demo"))[0]
        self.assertGreater(one["conformal"][0]["high"], 0)
        r = self.smurf("predict", self.at("words.safetensors"), self.at("words/test.csv"), "--conformal", quiet=False)
        self.assertIn("not calibrated", r.err)
        self.assertIn("..inf", r.out)

    def test_next(self):
        a = self.predict("--next", "b", "--paths", "200", "--within", "1,1e9", "--threads", "2")
        self.assertEqual(a, self.predict("--next", "b", "--paths", "200", "--within", "1,1e9", "--threads", "1"))
        for one in a:
            target = one["target"]
            self.assertEqual((target["type"], target["seen"]), ("b", 1))
            self.assertLessEqual(one["intervals"][0]["low"] * 0.5, target["intervals"][0]["high"])
            self.assertLessEqual(target["within"][0]["p"], one["within"][0]["p"] + 0.1)
            self.assertEqual(target["within"][1]["p"], 1)
            self.assertTrue(target["intervals"][1]["low"] <= target["intervals"][0]["low"] <= target["median"]
                            <= target["intervals"][0]["high"] <= target["intervals"][1]["high"])
        short = self.predict("--next", "b", "--steps", "1", "--paths", "200")[0]["target"]
        self.assertLess(short["seen"], 1)
        self.assertIsNone(short["intervals"][1]["high"])
        self.refuse("predict", self.at("words.safetensors"), self.at("words/test.csv"), "--next", "c", says=["'c'", "type"], status=2)
        self.refuse("predict", self.at("m.safetensors"), self.at("demo"), "--next", "3", says="'3'", status=2)
        for option in ["--paths", "--steps"]:
            self.refuse("predict", self.at("m.safetensors"), self.at("demo"), "--next", "0", option, "0", says=option, status=2)
        self.assertEqual(self.predict("--next", "2", "--paths", "5", model="m.safetensors", data=self.at("demo"))[0]["target"]["type"], "2")


class Now(PredictCase):
    def test_silence(self):
        before = self.predict("--within", "1")
        for b in before[:2]:
            rows = [line for line in table(5, seed=3).splitlines() if line.startswith(b["sequence"] + ",")]
            self.write("one.csv", "user,time,type\n" + "\n".join(rows) + "\n")
            self.assertEqual(self.predict("--within", "1", data="one.csv", )[0]["median"], b["median"])
            for since in [0, 0.5, 1, 100, 1e9]:
                now = b["last"] + since
                a = self.predict("--now", repr(now), "--within", "1,%r" % (b["median"] + 1), data="one.csv")[0]
                self.assertAlmostEqual(a["from"], now, 6)
                self.assertEqual(a["last"], b["last"])
                for interval in a["intervals"]:
                    self.assertTrue(0 <= interval["low"] <= a["median"] <= interval["high"], a)
                self.assertAlmostEqual(a["median_time"] / (now + a["median"]), 1, 7)
                self.assertGreaterEqual(a["mean"], 0)
                if since == 0:
                    self.assertEqual((a["median"], a["intervals"]), (b["median"], b["intervals"]))
                if since == 1:  # P(within 1 | silence of 1) = (F(2) - F(1)) / (1 - F(1))
                    f = [w["p"] for w in self.predict("--within", "1,2", data="one.csv")[0]["within"]]
                    self.assertAlmostEqual(a["within"][0]["p"], (f[1] - f[0]) / (1 - f[0]), 5)

    def test_refused(self):
        words, test = self.at("words.safetensors"), self.at("words/test.csv")
        self.refuse("predict", words, test, "--now", "3", says=["event after --now 3", "cut the data there, or omit"])
        self.refuse("predict", words, test, "--now", "soon", says="--now 'soon'", status=2)
        self.refuse("predict", words, test, "--now", "2024-01-31", says="numbers", status=2)
        self.refuse("predict", self.at("dates.safetensors"), self.at("dates/test.csv"), "--now", "99999999999", says="dates", status=2)
        self.refuse("predict", words, test, "--now", "1e9", "--conformal", says="cannot be combined with --now", status=2)

    def test_dates(self):
        a = self.predict(model="dates.safetensors", data=self.at("dates/test.csv"))[0]

        def moment(text):
            self.assertRegex(text, r"^2024-0\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
            return datetime.datetime.fromisoformat(re.sub(r"(\.\d{1,6})\d*", r"\1", text[:-1]).ljust(26, "0") if "." in text else text[:-1])

        last = moment(a["last"])
        self.assertEqual(a["from"], a["last"])
        self.assertAlmostEqual((moment(a["median_time"]) - last).total_seconds(), a["median"], 3)
        now = (last + datetime.timedelta(minutes=30)).isoformat()
        b = self.predict("--now", now, "--within", "3600", model="dates.safetensors", data=self.only("u0"))[0]
        self.assertEqual(moment(b["from"]), last + datetime.timedelta(minutes=30))
        self.assertTrue(0 < b["within"][0]["p"] < 1)
        self.assertIn("next event, counted from now; times in UTC", self.smurf("predict", self.at("dates.safetensors"), self.only("u0"), "--now", now).out)

    def only(self, user):
        lines = calendar(3, seed=3).splitlines()
        self.write("only.csv", "\n".join([lines[0]] + [line for line in lines if line.startswith(user + ",")]) + "\n")
        return "only.csv"

    def test_far_clocks(self):
        last = 2 ** 63 - 5
        self.write("far.csv", "user,time,type\nu,%d,a\nu,%d,b\n" % (last - 1, last))
        a = self.predict("--interval", "0.999999999", data="far.csv")[0]
        self.assertEqual(a["last"], last)
        far = self.smurf("predict", self.at("words.safetensors"), "far.csv", "--now", str(2 ** 63 - 1), "--format", "jsonl").out
        self.assertIn('"median_time":null', far)
        self.write("old.csv", "user,time,type\nu,-7.25,a\nu,-3.5,b\n")
        a = self.predict(data="old.csv")[0]
        self.assertEqual(a["last"], -3.5)
        self.assertAlmostEqual(a["median_time"], -3.5 + a["median"], 6)


class Inputs(PredictCase):
    def test_empty_sequence_gets_the_law_of_all_gaps(self):
        self.write("e.jsonl", '{"times":[],"types":[]}\n{"times":[1,2.5],"types":["a","b"]}\n')
        a = self.predict("--within", "1", "--next", "a", "--paths", "5", data="e.jsonl")
        self.assertEqual([x["events"] for x in a], [0, 2])
        gaps = []
        for s in {line.split(",")[0] for line in table(30).splitlines()[1:]}:
            t = [float(line.split(",")[1]) for line in table(30).splitlines() if line.startswith(s + ",")]
            gaps += [y - x for x, y in zip(t, t[1:])]
        gaps.sort()
        self.assertAlmostEqual(a[0]["median"], gaps[len(gaps) // 2], 1)
        self.assertAlmostEqual(a[0]["within"][0]["p"], sum(g <= 1 for g in gaps) / len(gaps), 1)
        self.assertNotIn("last", a[0])
        self.assertEqual((a[0]["target"]["median"], a[0]["target"]["seen"]), (None, None))
        out = self.smurf("predict", self.at("words.safetensors"), "e.jsonl", "--next", "a", "--within", "1", "--paths", "5")
        self.assertRegex(out.lines[2], r" -  ")
        row = self.rows(self.at("words.safetensors"), "e.jsonl", "--next", "a", "--paths", "5")[0]
        self.assertEqual((row["last"], row["median_time"], row["target_median"], row["target_seen"]), ("", "", "", ""))
        self.jsonl("predict", self.at("words.safetensors"), "e.jsonl", "--conformal", quiet=False)

    def test_bad_data(self):
        model = self.at("words.safetensors")
        for name, text, says in [("nan", "user,time,type\nu,1,a\nu,nan,b\n", ":3:.*nan"),
                                 ("back", "user,time,type\nu,2,a\nu,1,b\n", ":3:.*before"),
                                 ("inf", "user,time,type\nu,1,a\nu,inf,b\n", ":3:"), ("none", "", "empty"),
                                 ("header", "user,time,type\n", "no event")]:
            self.write("x.csv", text)
            self.refuse("predict", model, "x.csv", "--strict", says=says)
            self.refuse("predict", model, "-", "--strict", input=text, says=says)
        self.refuse("predict", model, "nope.csv", says="nope.csv")
        self.refuse("predict", "nope.safetensors", self.at("demo"), says="nope.safetensors")
        self.refuse("predict", model, self.at("words"), "--format", "xml", says=["'xml'", "table, csv or jsonl"], status=2)

    def test_either_order(self):
        a = self.smurf("predict", self.at("words.safetensors"), self.at("words")).out
        self.assertEqual(a, self.smurf("predict", self.at("words"), self.at("words.safetensors")).out)

    def test_columns_stay_aligned(self):
        names = ["short", "a sequence whose name is rather long, and goes on", "ümlaut-ö-ß"]
        self.write("n.jsonl", "".join(json.dumps({"user": n, "times": [1, 2 + 1e5 * i], "types": ["a", "b"]}) + "\n"
                                      for i, n in enumerate(names)))
        lines = self.smurf("predict", self.at("words.safetensors"), "n.jsonl", "--within", "0.123456789,1", "--top", "1", "--next", "b",
                           "--paths", "5").lines
        column = lines[1].index("events") + 6
        for line in lines[2:]:
            self.assertRegex(line[:column], r"\d$")
            self.assertEqual(line[column - 4:column].strip(), "2")
            self.assertEqual(re.search(r"  [ab] \d+%$", line).start(), lines[1].index("  types"), line)
        self.assertIn("~", lines[3])


class Clocks(common.Case):
    def test_gaps_that_do_not_compare(self):
        """A model of dates is not used on numbers in an unknown unit, nor one of hours on minutes."""
        self.write("dates.csv", "time\n" + "".join("2026-01-%02dT%02d:00:00Z\n" % (1 + i // 12, i % 12 * 2) for i in range(120)))
        self.write("numbers.csv", "time\n" + "".join("%d.5\n" % (i * i) for i in range(120)))
        for name, *unit in ("dates",), ("numbers",), ("numbers", "--unit", "h"):
            self.smurf("train", name + ".csv", *unit, "-o", "".join([name, *unit[1:]]) + ".safetensors", "-q", "--epochs", "1")
        for command in "predict", "eval", "score", "sample":
            self.refuse(command, "dates.safetensors", "numbers.csv", "-q", says="its times are numbers, but those of the model are dates .*--unit s")
            self.refuse(command, "numbers.safetensors", "dates.csv", "-q", says="its times are dates, but those of the model are numbers")
        self.smurf("predict", "dates.safetensors", "numbers.csv", "-q", "--unit", "s")
        self.refuse("predict", "numbersh.safetensors", "numbers.csv", "--unit", "min", says="its times are in min, but those of the model are in h")
        for unit in "hours", "h":
            self.smurf("predict", "numbersh.safetensors", "numbers.csv", "--unit", unit)
        self.smurf("predict", "numbersh.safetensors", "numbers.csv")


class Fields(common.Case):
    def test_an_array_called_data(self):
        """In a stream, too, it is a list of events only if it holds objects."""
        events = [{"at": 1700000000 + 60 * i + i % 7, "what": "ab"[i % 2], "data": [1, 2]} for i in range(90)]
        lines = "".join(json.dumps(e) + "\n" for e in events)
        self.write("x.jsonl", lines)
        self.smurf("train", "x.jsonl", "-o", "x.safetensors", "-q", "--epochs", "1")
        answer = self.smurf("predict", "x.safetensors", "x.jsonl", "-q").out
        self.assertEqual(self.smurf("predict", "x.safetensors", "-", "-q", input=lines).out, answer)
        listed = json.dumps({"data": [{**e, "data": None} for e in events]})
        self.assertEqual(self.smurf("predict", "x.safetensors", "-", "-q", input=listed).out, answer)


class NoModel(common.Case):
    def test_data_for_a_model(self):
        self.write("a.csv", "time,type\n1,a\n2,b\n")
        self.refuse("predict", "a.csv", "a.csv", says="a.csv: not a safetensors file.*give the model that smurf train wrote")


class Streams(PredictCase):
    def stream(self, *args, model="words.safetensors"):
        run = subprocess.Popen([common.SMURF, "predict", self.at(model), "-", *args], cwd=self.folder, env=common.environment(),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        for pipe in [run.stdin, run.stdout, run.stderr]:
            self.addCleanup(pipe.close)
        return run

    def answer(self, run):
        """The next line, which must come though the input goes on."""
        self.assertTrue(select.select([run.stdout], [], [], 30)[0], "no answer")
        return json.loads(run.stdout.readline())

    def say(self, run, text):
        run.stdin.write(text.encode())
        run.stdin.flush()

    def test_answers_come_before_the_end(self):
        run = self.stream("--every", "1", "--format", "jsonl")
        self.say(run, "user,time,type\nx,1,a\n")
        self.assertEqual(self.answer(run)["events"], 1)
        self.say(run, "y,1,a\n")
        self.assertEqual(self.answer(run)["sequence"], "y")
        self.say(run, "x,2.")
        time.sleep(0.05)
        self.say(run, "5,b\n")
        a = self.answer(run)
        self.assertEqual((a["sequence"], a["events"], a["last"]), ("x", 2, 2.5))
        self.say(run, '"x",3,"b"\nx,3.5,a')
        self.assertEqual(self.answer(run)["last"], 3)
        run.stdin.close()
        self.assertEqual(self.answer(run)["last"], 3.5)
        self.assertEqual(run.wait(30), 0)

    def test_lines_of_json_are_answered_one_by_one(self):
        run = self.stream("--format", "jsonl")
        for i in range(3):
            self.say(run, '{"user":"s%d","times":[1,2],"types":["a","b"]}\n' % i)
            self.assertEqual(self.answer(run)["sequence"], "s%d" % i)
        self.say(run, '{"user":"wide",\n "times":[1,2,\n3], "types":["a",\n')
        self.say(run, '"b","a"], "note":"}]\\"\\n{"}\n')
        self.assertEqual(self.answer(run)["events"], 3)
        run.stdin.close()
        self.assertEqual(run.wait(30), 0)

    def test_events_of_json_go_on(self):
        run = self.stream("--format", "jsonl", "--every", "1")
        for i in range(3):
            self.say(run, '{"user":"x","time":%d,"type":"a","tags":["time",[]]}\n' % i)
            self.assertEqual(self.answer(run)["events"], i + 1)
        run.stdin.close()
        self.assertEqual(run.wait(30), 0)

    def test_the_same_as_from_a_file(self):
        content = table(5, seed=3)
        rows = content.splitlines()
        mixed = [rows[0]] + sorted(rows[1:], key=lambda r: float(r.split(",")[1]))
        texts = {"table": content, "mixed": "\n".join(mixed) + "\n", "no last line end": content.rstrip("\n"), "blank": "\n \n" + content,
                 "crlf": content.replace("\n", "\r\n"), "bom": "\ufeff" + content, "tabs": content.replace(",", "\t"),
                 "quoted": "note,user,time,type\n" + "".join('"a ""b"",\n c",%s\n' % r for r in rows[1:]),
                 "inches": "note,user,time,type\n" + "".join('5" pipe; "x,%s\n' % r for r in rows[1:])}
        texts["jsonl"] = self.smurf("convert", self.at("words/test.csv"), "-", "--to", "jsonl").out
        texts["json"] = self.smurf("convert", self.at("words/test.csv"), "-", "--to", "json").out
        events = [dict(zip(["user", "time", "type"], r.split(","))) for r in mixed[1:]]
        texts["events"] = "".join(json.dumps({**e, "time": float(e["time"])}) + "\n" for e in events)
        for name, text in texts.items():
            raw = text.encode()
            for content in [raw, gzip.compress(raw)] if name in ("table", "jsonl") else [raw]:
                self.write("file", content)
                want = self.predict("--within", "1", data="file")
                self.assertEqual(len(want), 5, name)
                for size in [len(content), 101]:
                    run = self.stream("--within", "1", "--format", "jsonl")
                    try:
                        for i in range(0, len(content), size):
                            run.stdin.write(content[i:i + size])
                            run.stdin.flush()
                            if size < 200 and i < 10 * size:
                                time.sleep(0.002)
                    except BrokenPipeError:
                        self.fail((name, run.stderr.read()))
                    out, err = run.communicate(timeout=60)
                    self.assertEqual(err, b"", name)
                    got = [json.loads(line) for line in out.splitlines()]
                    self.assertEqual([(a["sequence"], a["events"], a["last"]) for a in got],
                                     [(a["sequence"], a["events"], a["last"]) for a in want], name)
                    for a, b in zip(got, want):
                        self.assertAlmostEqual(a["median"] / b["median"], 1, 3)
                        self.assertAlmostEqual(a["within"][0]["p"], b["within"][0]["p"], 4)

    def test_clocks_of_many_digits(self):
        self.write("ns.csv", table(1, 8, first=0).replace("u0,", "u0,17000000000000000"))
        want = self.predict(data="ns.csv")[0]
        run = self.stream("--format", "jsonl")
        for line in self.content("ns.csv").splitlines(True):
            self.say(run, line.decode())
            time.sleep(0.005)
        out, _ = run.communicate(timeout=30)
        got = json.loads(out)
        self.assertEqual(got["last"], want["last"])
        self.assertAlmostEqual(got["median"] / want["median"], 1, 3)

    def test_errors_name_the_line(self):
        rows = ["u,%d,a\n" % i for i in range(20000)]
        rows[15000] = "u,oops,a\n"
        text = "user,time,type\n" + "".join(rows)
        r = self.run_smurf("predict", self.at("words.safetensors"), "-", "--history", "5", "--strict", input=text)
        self.assertEqual(r.status, 1)
        self.assertRegex(r.err, r"^smurf: standard input:15002: .*oops")
        run = self.stream("--format", "jsonl", "--every", "1", "--strict")
        self.say(run, "time,type\n5,a\n")
        self.answer(run)
        self.say(run, "4,a\n")
        self.assertRegex(run.communicate(timeout=30)[1].decode(), r"^smurf: standard input, sequence '0': time 4 .*before.*5")
        self.assertEqual(run.returncode, 1)
        run = self.stream("--format", "jsonl", "--missing", "fail")
        self.say(run, '{"times":[1,2],"types":["a","b"]}\n')
        self.answer(run)
        self.say(run, '{"times":[1,2],"types":["a"]}\n')
        self.assertRegex(run.communicate(timeout=30)[1].decode(), r"^smurf: standard input:2: ")

    def test_bad_records_do_not_end_a_stream(self):
        """They are left out, with one remark, which is that of the first."""
        for good, bad in [("user,time,type\n", ["u,oops,a\n", "u,,a\n", "u,3,\n", ",3,a\n", "u,3,a,4,5\n", "u,0.5,a\n", "u,3,a\0\n", "u\n"]),
                          ("", ['{"user":"u","time":"x","type":"a"}\n', "nonsense\n", '{"user":"u","time":0.5,"type":"a"}\n', "[1]\n"])]:
            for first in bad:
                run = self.stream("--every", "1", "--format", "jsonl")
                self.say(run, good)
                events = 0
                for lines in [], [first], bad, ["later"]:
                    for line in lines * (lines != ["later"]):
                        self.say(run, line)
                    events += 1
                    self.say(run, 'u,%d,b\n' % events if good else '{"user":"u","time":%d,"type":"b"}\n' % events)
                    a = self.answer(run)
                    self.assertEqual((a["events"], a["last"]), (events, events), first)
                err = run.communicate(timeout=30)[1].decode()
                self.assertEqual(run.returncode, 0, err)
                self.assertRegex(err, r"^smurf: warning: standard input[^\n]*; such records are left out \(--strict stops at them\)\n$", first)
        r = self.run_smurf("predict", self.at("words.safetensors"), "-", input="time,type\noops,a\n1,b\n")
        self.assertEqual(r.status, 0)
        self.assertRegex(r.err, "standard input:2: .*oops.*such records are left out")

    def test_a_stream_of_which_nothing_can_be_read(self):
        model = self.at("words.safetensors")
        self.refuse("predict", model, "-", input="time,type\noops,a\nalas,a\n", says="standard input:2: .*oops")
        run = self.stream()
        self.say(run, "time,type\n" + "oops,a\n" * 100)  # it goes on, but not for ever
        self.assertTrue(select.select([run.stderr], [], [], 30)[0])
        self.assertRegex(run.stderr.readline().decode(), "standard input:2: .*oops")
        self.assertEqual(run.wait(30), 1)

    def test_unknown_types(self):
        """They keep their times, are remarked upon once, and never end a stream."""
        run = self.stream("--every", "1", "--format", "jsonl")
        self.say(run, "time,type\n5,a\n")
        self.answer(run)
        for time in 6, 7:
            self.say(run, "%d,zebra\n" % time)
            self.assertEqual(self.answer(run)["last"], time)
        err = run.communicate(timeout=30)[1].decode()
        self.assertEqual(run.returncode, 0)
        self.assertEqual(err.count("of a type that the model does not know, 'zebra'"), 1)
        self.write("x.csv", "time,type\n1,a\n2,zebra\n3,okapi\n")
        out = self.run_smurf("predict", self.at("words.safetensors"), "x.csv")
        self.assertEqual(out.status, 0)
        self.assertRegex(out.err, "x.csv: 2 events are of a type that the model does not know, such as 'zebra': ")
        self.write("n.csv", "time,type\n1,0\n2,5\n")
        self.assertRegex(self.run_smurf("predict", self.at("m.safetensors"), "n.csv").err, "does not know, 5: ")
        self.write("w.csv", "time,type\n1,0\n2,okapi\n")
        self.assertRegex(self.run_smurf("predict", self.at("m.safetensors"), "w.csv").err, "1 event is .* 'okapi': ")

    def memory(self, text, *args):
        """The most memory a run takes, in KB, and how many lines it prints."""
        self.write("in", text)
        with open(self.path("in"), "rb") as source, open(self.path("out"), "wb") as out:
            read, write = os.pipe()
            feeder = subprocess.Popen(["cat"], stdin=source, stdout=write)  # a pipe, as a stream is
            os.close(write)
            run = subprocess.Popen([common.SMURF, "predict", self.at("words.safetensors"), "-", "--format", "csv", "--threads", "1",
                                    *args], cwd=self.folder, env=common.environment(), stdin=read, stdout=out)
            os.close(read)
            _, run.returncode, usage = os.wait4(run.pid, 0)
            feeder.wait(30)
        self.assertEqual(run.returncode, 0)
        return usage.ru_maxrss, self.content("out").count(b"\n")

    @unittest.skipIf(any(name in os.environ for name in ["ASAN_OPTIONS", "UBSAN_OPTIONS"]), "a sanitizer keeps what was freed")
    def test_memory_is_flat(self):
        def one(n):
            return "user,time,type\n" + "".join("u,%d,a\n" % i for i in range(n))

        def many(n):
            return "user,time,type\n" + "".join("u%d,1,a\n" % i for i in range(n))

        def lines(n):
            return '{"times":[1,2,3],"types":["a","b","a"]}\n' * n

        small, large = self.memory(one(2000), "--history", "20"), self.memory(one(20000), "--history", "20")
        self.assertEqual((small[1], large[1]), (2, 2))
        self.assertLess(large[0] - small[0], 2000)
        small, large = self.memory(lines(2000)), self.memory(lines(10000))
        self.assertEqual((small[1], large[1]), (2001, 10001))
        self.assertLess(large[0] - small[0], 2000)
        small, large = self.memory(many(200)), self.memory(many(2000))
        self.assertEqual((small[1], large[1]), (201, 2001))
        self.assertLess((large[0] - small[0]) / 1800, 20)  # of each sequence
        small, large = (self.memory(many(n), "--sequences", "100", "--quiet") for n in (500, 5000))
        self.assertEqual((small[1], large[1]), (501, 5001))
        self.assertLess(large[0] - small[0], 2000)

    def test_sequences_that_are_dropped(self):
        """The least recently active one is forecast and dropped; the warning comes once."""
        text = "user,time,type\n" + "a,1,a\nb,2,a\na,3,b\nc,4,a\nb,5,b\nd,6,a\n"
        args = ["predict", self.at("words.safetensors"), "-", "--format", "jsonl"]
        r = self.run_smurf(*args, "--sequences", "2", input=text)
        remark = "smurf: warning: more than 2 sequences: the least recently active one is forecast and dropped " \
                 "(--sequences N keeps more)\n"
        self.assertEqual((r.status, r.err), (0, remark))
        got = [(o["sequence"], o["events"]) for o in map(json.loads, r.lines)]
        # The rows come as one piece here, so that a sequence is touched once; its events are taken together.
        self.assertEqual(got, [("a", 2), ("b", 2), ("c", 1), ("d", 1)])
        alone = self.smurf(*args, input=text)
        self.assertEqual(sorted(r.lines), sorted(alone.lines))
        r = self.run_smurf(*args, "--sequences", "2", "--every", "1", "--quiet", input=text)
        self.assertEqual((r.status, r.err, len(r.lines)), (0, "", 6))
        self.assertEqual(self.smurf(*args, "--sequences", "0", input=text).out, alone.out)

    def test_a_dropped_sequence_starts_anew(self):
        run = self.stream("--every", "1", "--format", "jsonl", "--sequences", "2")
        self.say(run, "user,time,type\n")
        for name, events in [("a", 1), ("b", 1), ("a", 2), ("c", 1), ("a", 3), ("b", 1)]:
            self.say(run, "%s,9,a\n" % name)
            got = self.answer(run)
            self.assertEqual((got["sequence"], got["events"]), (name, events))

    def test_ctrl_c(self):
        for stop in [signal.SIGINT, signal.SIGTERM]:
            run = self.stream("--every", "1", "--format", "jsonl")
            self.say(run, "time,type\n5,a\n")
            self.answer(run)
            time.sleep(0.1)  # it reads by now
            run.send_signal(stop)
            begun = time.monotonic()
            _, err = run.communicate(timeout=30)
            self.assertLess(time.monotonic() - begun, 5)
            self.assertEqual((run.returncode, err.decode()), (1, "smurf: stopped while reading standard input\n"))

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            run = subprocess.Popen([common.SMURF, "predict", self.at("words.safetensors"), "-", "--every", "1"], cwd=self.folder,
                                   env=common.environment(), stdin=subprocess.PIPE, stdout=full, stderr=subprocess.PIPE)
            self.addCleanup(run.kill)
            self.addCleanup(run.stderr.close)
            self.addCleanup(run.stdin.close)
            self.say(run, "time,type\n5,a\n")
            self.assertEqual(run.wait(30), 1)  # though the input goes on
            self.assertIn("cannot write to standard output", run.stderr.read().decode())

    def test_numeric_types(self):
        text = "user,time,type\n" + "".join("u,%d,%d\n" % (i, i % 3) for i in range(9))
        self.assertEqual({t["type"] for t in self.predict(model="m.safetensors", data="-", input=text)[0]["types"]}, {"0", "1", "2"})


if __name__ == "__main__":
    unittest.main()
