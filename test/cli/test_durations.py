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
        cls.train("dates", "dates.safetensors")
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


if __name__ == "__main__":
    unittest.main()
