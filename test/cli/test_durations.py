"""Durations as people write and read them, in every command."""
import csv
import datetime
import io
import json
import re
import unittest

from models import ModelCase, calendar, table

DURATION = r"(?:\d+(?:\.\d)? (?:ns|us|ms|s|min|h|d|y))"


class DurationCase(ModelCase):
    @classmethod
    def make(cls):
        for part, n, seed in ("train", 30, 1), ("dev", 6, 2), ("test", 3, 3):
            cls.put("dates/%s.csv" % part, calendar(n, seed=seed))
            cls.put("hours/%s.csv" % part, table(n, seed=seed))
            cls.put("plain/%s.csv" % part, table(n, seed=seed))
        cls.train("dates", "dates.safetensors", "--no-end")
        cls.train("hours", "hours.safetensors", "--unit", "h")
        cls.train("plain", "plain.safetensors")

    def predict(self, kind, *args, **more):
        return self.jsonl("predict", self.at(kind + ".safetensors"), self.at(kind + "/test.csv"), *args, **more)

    def refuse_option(self, command, kind, *args, **more):
        return self.refuse(command, self.at(kind + ".safetensors"), self.at(kind + "/test.csv"), *args, status=2, **more)


class Reading(DurationCase):
    def test_within(self):
        for kind, given, plain in [("dates", "1h,2d,90s,1.5h,1h30m,500ms", "3600,172800,90,5400,5400,0.5"),
                                   ("hours", "1h,2d,90s,30 min,1w", "1,48,0.025,0.5,168")]:
            self.assertEqual(self.predict(kind, "--within", given), self.predict(kind, "--within", plain))
            horizons = [w["horizon"] for w in self.predict(kind, "--within", given)[0]["within"]]
            self.assertEqual(horizons, [float(x) for x in plain.split(",")])
        self.assertEqual(self.predict("plain", "--within", "2")[0]["within"][0]["horizon"], 2)

    def test_silence_is_now_after_the_last_event(self):
        one = self.predict("dates")[0]
        rows = [line for line in calendar(3, seed=3).splitlines() if line.startswith(("user", one["sequence"] + ","))]
        self.write("one.csv", "\n".join(rows) + "\n")
        last = datetime.datetime.fromisoformat(rows[-1].split(",")[1][:-1])
        now = (last + datetime.timedelta(minutes=30)).isoformat()
        model = self.at("dates.safetensors")
        by_now = self.jsonl("predict", model, "one.csv", "--now", now)[0]
        by_silence = self.jsonl("predict", model, "one.csv", "--silence", "30min")[0]
        self.assertEqual(by_silence["from"], by_now["from"])
        self.assertEqual(by_silence["last"], by_now["last"])
        self.assertAlmostEqual(by_silence["median"] / by_now["median"], 1, 6)
        self.assertNotEqual(by_silence["median"], one["median"])
        self.assertEqual(self.predict("hours", "--silence", "30m"), self.predict("hours", "--silence", "0.5"))

    def test_the_present(self):
        """The events are of 2024: the silence since then is longer than any known gap."""
        before = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None, microsecond=0)
        found = self.predict("dates", "--now", "now")
        after = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None) + datetime.timedelta(seconds=1)
        for one in found:
            moment = datetime.datetime.fromisoformat(one["from"][:19])
            self.assertTrue(before <= moment <= after, (before, moment, after))
        self.refuse_option("predict", "plain", "--now", "now", says="--now now needs a model of times with dates")

    def test_sample(self):
        def rows(*args):
            return self.jsonl("sample", self.at("hours.safetensors"), self.at("hours/test.csv"), "--paths", "20", *args)
        self.assertEqual(rows("--until", "1h30m"), rows("--until", "1.5"))
        self.assertEqual(rows("--silence", "30min"), rows("--silence", "0.5"))
        first = [r for r in rows("--silence", "3h") if r["what"] == "event" and r["which"] == "1"]
        self.assertTrue(all(q >= 3 for r in first for q in r["quantiles"]), first)
        self.assertTrue(any(q < 3 for r in rows() for q in r["quantiles"]))

    def test_refused(self):
        for command, option in [("predict", "--within"), ("predict", "--silence"), ("sample", "--until"), ("sample", "--silence")]:
            for bad in ["soon", "1x", "-1h", "-1", "1h1h", "", "nan"]:
                self.refuse_option(command, "dates", option, bad, says=[option, "is not a duration", "1h30m"])
            self.refuse_option(command, "plain", option, "1h", says=[option, "'1h' has a unit", "unit of time is unknown", "--unit"])
        self.refuse_option("predict", "dates", "--silence", "1h", "--now", "now", says="mutually exclusive")
        self.refuse_option("predict", "dates", "--silence", "1h", "--conformal", says="cannot be combined with --silence")
        self.refuse_option("predict", "dates", "--within", ",".join(["1h"] * 21), says="up to 20 durations")
        self.refuse_option("sample", "hours", "--silence", "3h", "--until", "2h", says="later than --silence")


class Showing(DurationCase):
    def table(self, command, kind, *args):
        return self.smurf(command, self.at(kind + ".safetensors"), self.at(kind), *args)

    def seconds(self, text):
        size = {"ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400, "y": 365.25 * 86400}
        number, unit = text.split()
        return float(number) * size[unit]

    def test_predict_with_dates(self):
        r = self.table("predict", "dates", "--within", "1h,2d,100")
        self.assertEqual(r.lines[0], "next event, counted from the last event; times in UTC")
        self.assertRegex(r.lines[1], r"^sequence +last event +median at +50% +90% +P\(<1h\) +P\(<2d\) P\(<100 s\)  types$")
        date = r"(\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?)"
        for line, one in zip(r.lines[2:], self.predict("dates"), strict=True):
            found = re.match(rf"^(\w+) +{date} +({DURATION}) {date} +(\S.*?)\.\.({DURATION}) +(\S.*?)\.\.({DURATION}) ", line)
            self.assertTrue(found, line)
            self.assertEqual(found[1], one["sequence"])
            self.assertEqual(found[2].replace(" ", "T"), one["last"][:len(found[2])])
            self.assertAlmostEqual(self.seconds(found[3]) / one["median"], 1, delta=0.051)
            self.assertEqual(found[4].replace(" ", "T"), one["median_time"][:len(found[4])])
            for i, (low, high) in enumerate([(found[5], found[6]), (found[7], found[8])]):
                low += "" if " " in low else " " + high.split()[1]
                self.assertAlmostEqual(self.seconds(low) / one["intervals"][i]["low"], 1, delta=0.051)
                self.assertAlmostEqual(self.seconds(high) / one["intervals"][i]["high"], 1, delta=0.051)

    def test_predict_with_a_unit(self):
        r = self.table("predict", "hours")
        self.assertEqual(r.lines[0], "next event, counted from the last event")
        self.assertRegex(r.lines[1], r"^sequence +events +median +50% +90%  types$")
        for line, one in zip(r.lines[2:], self.predict("hours"), strict=True):
            found = re.match(rf"^(\w+) +12 +({DURATION}) ", line)
            self.assertAlmostEqual(self.seconds(found[2]) / 3600 / one["median"], 1, delta=0.051)

    def test_without_a_unit_numbers_stay(self):
        r = self.table("predict", "plain", "--within", "0.5")
        self.assertEqual(r.lines[0], "next event, in the data's unit of time after the last event")
        self.assertRegex(r.lines[1], r"P\(<0\.5\)")
        self.assertNotRegex(r.out, DURATION)
        self.assertIn("CRPS and IL in the data's unit", self.table("eval", "plain").lines[0])

    def test_columns_line_up(self):
        for kind in "dates", "hours":
            lines = self.table("predict", kind, "--top", "0", "--next", "login" if kind == "dates" else "a", "--paths", "9").lines[1:]
            self.assertEqual(len(set(map(len, lines))), 1, lines)

    def test_json_has_dates_beside_gaps(self):
        def moment(text):
            return datetime.datetime.fromisoformat(text[:26].rstrip("Z"))
        for one in self.predict("dates"):
            for interval in one["intervals"]:
                for end in "low", "high":
                    gap = (moment(interval[end + "_at"]) - moment(one["from"])).total_seconds()
                    self.assertAlmostEqual(gap, interval[end], delta=1e-3)
            out = self.smurf("predict", self.at("dates.safetensors"), self.at("dates/test.csv"), "--format", "csv").out
            [row] = [r for r in csv.DictReader(io.StringIO(out)) if r["sequence"] == one["sequence"]]
            self.assertEqual((row["low_at_0.9"], row["high_at_0.9"]), (one["intervals"][1]["low_at"], one["intervals"][1]["high_at"]))
        self.assertEqual(set(self.predict("hours")[0]["intervals"][0]), {"level", "low", "high"})

    def test_programs_get_numbers_in_the_unit_of_the_data(self):
        for kind in "dates", "hours":
            text = self.table("eval", kind).out
            unit = re.search(r"CRPS and IL in (\w+)\n", text)[1]
            data = "s" if kind == "dates" else "h"
            found = json.loads(self.table("eval", kind, "--json").out)
            self.assertEqual(found["unit"], data)
            [row] = [r for r in csv.DictReader(io.StringIO(self.table("eval", kind, "--csv").out)) if r["row"] == "model"]
            self.assertEqual((row["unit"], float(row["crps"])), (data, float("%.10g" % found["crps"])))
            shown = float(re.search(r"^model +\S+ +\S+ +(\S+)", text, re.M)[1])
            self.assertEqual(unit, "min")
            self.assertAlmostEqual(shown * 60 / (found["crps"] * (1 if kind == "dates" else 3600)), 1, 4)
            self.assertIn("CRPS and IL in mean gaps", self.table("eval", kind, "--in-mean-gaps").out)

    def test_sample(self):
        r = self.table("sample", "dates", "--until", "3h", "--paths", "20")
        self.assertEqual(r.lines[0], "20 futures; times after the last event")
        self.assertRegex(r.lines[2], rf"^u0 +event 1 +{DURATION} +{DURATION} ")
        self.assertRegex(r.out, r"count all +\d\.\d+ +\d")

    def test_compare(self):
        args = ["compare", self.at("dates"), "--models", "marginal", "--epochs", "1"]
        self.assertIn("CRPS and IL in min", self.smurf(*args, "--report", "c.html", quiet=False).out)
        self.assertIn("CRPS and IL in min", self.content("c.html").decode())
        found = json.loads(self.smurf(*args, "--format", "json", "--report", "j.html", quiet=False).out)
        self.assertEqual(found["unit"], "s")
        self.assertIn("CRPS and IL in min", self.content("j.html").decode())

    def test_report(self):
        self.smurf("report", self.at("dates.safetensors"), self.at("dates"), "-q")
        page = self.content("report.html").decode()
        self.assertRegex(page, rf"observed {DURATION}; median {DURATION}")
        self.assertIn("gap (min)", page)
        self.assertIn(">CRPS (min)<", page)
        self.assertRegex(page, rf"Mean gap of train: {DURATION}\.")
        self.assertRegex(page, rf"The mean length at the 90% level is {DURATION}, compared with {DURATION} for")

    def test_info(self):
        out = self.smurf("info", self.at("dates/train.csv")).out
        self.assertRegex(out, rf"\n  gaps: mean {DURATION}, standard deviation {DURATION}\n")
        self.assertRegex(out, rf"\n(?: +{DURATION}){{9}}\n")
        self.assertRegex(out, rf"\n    [─┴]+\n +{DURATION} +{DURATION}")


if __name__ == "__main__":
    unittest.main()
