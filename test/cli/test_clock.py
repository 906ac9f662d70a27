"""The clock on the wall: models of logs with dates that see the hour and the weekday, in the commands."""
import json
import unittest

from models import SMALL, ModelCase, table


class Clock(ModelCase):
    @classmethod
    def make(cls):
        cls.do("simulate", "daily", "rate=0.0005", "--sequences", "1", "--events", "4000", "-o", "log.csv", "--quiet")
        for clock in "on", "off":
            cls.do("train", "log.csv", "-o", clock + ".safetensors", "--wall-clock", clock, "--epochs", "30", "--rate", "0.01", "--context", "4",
                   "--window", "60", "--batch", "1", "--pool", "off", "--adaptive", "0", "--quiet", *SMALL)
        cls.put("numbers.csv", table(20).replace("user", "sequence", 1))

    def crps(self, model):
        return json.loads(self.smurf("eval", self.at(model), self.at("log.csv"), "--json", "--quiet").out)["crps"]

    def test_the_process_writes_dates(self):
        with open(self.at("log.csv")) as log:
            self.assertRegex(log.readlines()[1], r"1970-01-0[1-9]T[0-9:.]+Z")

    def test_a_clock_makes_forecasts_sharper(self):
        self.assertLess(self.crps("on.safetensors"), 0.97 * self.crps("off.safetensors"))

    def test_the_hour_decides(self):
        """After the same gaps, at noon and in the late evening."""
        median = {}
        for hour in 9, 19:
            rows = "".join(f"0,1971-06-01T{hour:02}:{m:02}:00Z,0\n" for m in (0, 20, 45))
            median[hour] = self.jsonl("predict", self.at("on.safetensors"), self.write("few.csv", "sequence,time,type\n" + rows))[0]["median"]
        self.assertGreater(median[19], 2 * median[9])

    def test_events_from_a_stream(self):
        lines = ["sequence,time,type"] + [f"0,1971-06-01T{h:02}:{m:02}:00Z,0" for h in (8, 17, 23) for m in (5, 40)]
        path = self.write("few.csv", "\n".join(lines) + "\n")
        args = "predict", self.at("on.safetensors")
        at_once = self.jsonl(*args, path, "--every", "1")
        streamed = self.jsonl(*args, "-", "--every", "1", input=("\n".join(lines) + "\n").encode())
        self.assertEqual(len(at_once), 6)
        for a, b in zip(at_once, streamed, strict=True):
            self.assertAlmostEqual(a["median"] / b["median"], 1, 3)

    def test_times_that_are_no_dates(self):
        self.refuse("eval", self.at("on.safetensors"), self.at("numbers.csv"), "--unit", "s", "--quiet", says=["numbers.csv: its times are not dates, but the model sees the clock on the wall"])
        self.refuse("train", self.at("numbers.csv"), "-o", self.path("no.safetensors"), "--wall-clock", "on", "--quiet", *SMALL,
                    says=["numbers.csv: its times are not dates", "leave wall-clock off"])

    def test_without_options(self):
        """Two weeks of dates and 2,000 events are enough, where model and objective can use them."""
        clock = "clock       the time of day and the day of the week are inputs"
        rows = ["time,type"] + [f"2024-03-{1 + k // 144:02}T{k // 6 % 24:02}:{k % 6}{k % 7}:00,{'ab'[k % 2]}" for k in range(3000)]
        self.write("weeks.csv", "\n".join(rows) + "\n")
        self.write("days.csv", "\n".join(rows[:1800]) + "\n")
        self.write("numbers-3000.csv", "time,type\n" + "".join(f"{k},a\n" for k in range(3000)))
        small = ["--width", "8", "--heads", "1", "--inner", "8", "--layers", "1", "--epochs", "1", "-q", "-o", self.path("any.safetensors")]
        for name, more, seen in [("weeks.csv", [], True), ("days.csv", [], False), ("numbers-3000.csv", [], False), ("weeks.csv", ["--wall-clock", "off"], False), ("weeks.csv", ["--objective", "sm"], False),
                                 ("weeks.csv", ["--objective", "wsm"], True), ("weeks.csv", ["--objective", "dsm", "--points", "2"], False), ("weeks.csv", ["--preset", "nhp"], False),
                                 ("days.csv", ["--wall-clock", "on"], True), ("weeks.csv", ["--wall-clock", "auto"], True)]:
            with self.subTest(name=name, more=more):
                self.assertEqual(clock in self.smurf("train", self.path(name), *small, *more).out.splitlines(), seen)

    def test_models_without_one(self):
        self.refuse("train", self.at("log.csv"), "-o", self.path("no.safetensors"), "--preset", "nhp", "--wall-clock", "on", "--quiet",
                    says=["model nhp cannot see the clock on the wall"], status=2)
        self.refuse("train", self.at("log.csv"), "-o", self.path("no.safetensors"), "--objective", "sm", "--wall-clock", "on", "--quiet",
                    says=["objective sm cannot learn what the clock does"], status=2)


if __name__ == "__main__":
    unittest.main()
