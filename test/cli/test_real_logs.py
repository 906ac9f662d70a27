"""Real logs as people have them (../shared/data/logs): the columns that are right, and every command without options."""
import json
import os
import re
import unittest

from common import SHARED, Case

LOGS = os.path.join(SHARED, "data", "logs")
# file: (time, possible sequences, possible types, events, sequences)
RIGHT = {
    "sepsis.csv.gz": ("time:timestamp", ["case:concept:name"], ["concept:name"], 15214),
    "ufo.csv.gz": ("Time", [None], ["Shape Reported", "State"], 72141),
    "seattle911.csv.gz": ("Datetime", [None], ["Type"], 13771),
    "pdm.csv": ("datetime", ["machineID"], ["errorID"], 3919),
    "bike.csv": ("start_date", ["bike_id", "start_station_name", None], ["subscription_type"], 674),
    "ssh.csv": ("Date,Day,Time", [None], ["EventId"], 2000),
}


@unittest.skipUnless(os.path.isdir(LOGS), "the logs are not here")
class RealLogs(Case):
    def check(self, name):
        time, sequences, types, events = RIGHT[name]
        [s] = json.loads(self.smurf("info", "--json", os.path.join(LOGS, name)).out)
        r = s["reading"]
        self.assertEqual(r["time_column"], time)
        self.assertIn(r["sequence_column"], sequences)
        self.assertIn(r["type_column"], types)
        self.assertGreaterEqual(s["events"], 0.99 * events)
        self.assertLessEqual(s["events"], events)
        self.assertTrue(s["calendar"])
        self.assertIn("\n  columns    time '%s'" % time.split(",")[0], self.smurf("info", os.path.join(LOGS, name)).out)
        return s

    def test_pdm_is_day_first(self):
        s = self.check("pdm.csv")
        self.assertIn("day first", s["reading"]["text"])
        self.assertEqual((s["sequences"], s["types"], s["earliest"][:10]), (100, 5, "2015-01-01"))

    def test_seattle_keeps_rows_in_another_format(self):
        s = self.check("seattle911.csv.gz")
        self.assertTrue(any("out of order" in w or "newest first" in w for w in s["warnings"]))


    def use(self, name):
        """Every command, with no option about reading; a short training."""
        log = os.path.join(LOGS, name)
        told = self.smurf("train", log, "-o", "m", "--epochs", "1", "--layers", "1", "--width", "8", "--heads", "2",
                          "--head-width", "4", "--inner", "8", "--nodes", "6", quiet=False)
        self.assertRegex(told.err, "(?m)^columns: time ")
        result = self.smurf("eval", "m", log, "-q")
        self.assertRegex(result.out, r"(?m)^model +\d")
        [events] = re.findall(r"test: ([\d,]+) gaps", result.out)
        scores = self.smurf("score", "m", log, "-q").lines
        self.assertEqual(len(scores) - 1, int(events.replace(",", "")))  # what training did not see
        [s] = json.loads(self.smurf("info", "--json", log).out)
        forecasts = self.smurf("predict", "m", log, "--format", "csv", "-q").lines
        self.assertEqual(len(forecasts) - 1, s["sequences"])
        self.assertRegex(self.smurf("overdue", "m", log, "-q").out, r"^\d+ of %d sequences? ha(s|ve) been silent" % s["sequences"])


for log in RIGHT:
    setattr(RealLogs, "test_" + log.split(".")[0], lambda self, log=log: self.check(log))
    setattr(RealLogs, "test_commands_on_" + log.split(".")[0], lambda self, log=log: self.use(log))

if __name__ == "__main__":
    unittest.main()
