"""Naive laws that follow a log with dates: the same hour of the day, the last 100 gaps, types by recency."""
import datetime
import json
import random
import unittest

import common

SMALL = ("--width", "8", "--inner", "8", "--heads", "2", "--head-width", "4", "--threads", "1")


def daily_log(days, by_day, by_night, seed=1, dated=True):
    """Gaps are exponential, with one mean from 8 to 20 h and another else; types stay the same for long."""
    rng, rows, at, kind = random.Random(seed), ["time,type"], 0.0, 0
    while at < days * 86400:
        hour = at / 3600 % 24
        at += rng.expovariate(1 / (by_day if 8 <= hour < 20 else by_night))
        kind = kind if rng.random() < 0.8 else rng.randrange(6)
        when = datetime.datetime(2021, 3, 1) + datetime.timedelta(seconds=round(at))
        rows.append("%s,k%d" % (when.isoformat() + "Z" if dated else round(at), kind))
    return "\n".join(rows) + "\n"


class Naive(common.Case):
    def evaluate(self, log, *args):
        self.smurf("train", log, "--epochs", "1", *SMALL, quiet=False)
        return self.smurf("eval", "model.safetensors", log, "--threads", "1", *args, quiet=False).out

    def test_rows_of_a_log_with_dates(self):
        self.write("log.csv", daily_log(60, 1200, 10800))
        text = self.evaluate("log.csv")
        for row in "same hour", "last 100", "recency":
            self.assertRegex(text, r"(?m)^naive: %s " % row)
        self.assertRegex(text, r"CRPS [0-9.]+% (above|below) naive: same hour \(90% interval -?[0-9.]+ to -?[0-9.]+\)")
        e = json.loads(self.smurf("eval", "model.safetensors", "log.csv", "--json", quiet=False).out)
        self.assertLess(e["crps_same_hour"], 0.95 * e["crps_recent"])
        self.assertLess(e["crps_same_hour"], 0.95 * e["crps_last"])
        self.assertGreater(e["acc_recency"], 75)
        best = e["best_naive"]
        self.assertEqual(best["law"], "same hour")
        self.assertAlmostEqual(best["gain"], 100 * (1 - e["crps"] / e["crps_same_hour"]), places=6)
        self.assertLess(best["low"], best["gain"])
        self.assertLess(best["gain"], best["high"])
        self.smurf("report", "model.safetensors", "log.csv", "-o", "page.html", "--threads", "1", quiet=False)
        page = self.content("page.html").decode()
        for words in ">same hour<", ">last 100<", ">by recency<":
            self.assertIn(words, page)
        out = self.smurf("compare", "log.csv", "--models", "default:epochs=1", "-q").out
        for row in "same hour", "last 100", "recency":
            self.assertRegex(out, r"(?m)^naive: %s " % row)

    def test_no_dates_no_hours(self):
        self.write("log.csv", daily_log(20, 1200, 10800, dated=False))
        text = self.evaluate("log.csv")
        self.assertNotIn("same hour", text)
        self.assertNotIn("last 100", text)
        self.assertRegex(text, r"CRPS [0-9.]+% (above|below) naive: ")

    def test_no_train_no_comparison(self):
        self.write("log.csv", daily_log(20, 1200, 10800))
        self.smurf("train", "log.csv", "--epochs", "1", *SMALL, quiet=False)
        self.write("new.csv", daily_log(10, 1200, 10800, seed=2))
        text = self.smurf("eval", "model.safetensors", "new.csv", quiet=False).out
        self.assertNotIn("% below naive", text)
        self.assertNotIn("% above naive", text)


if __name__ == "__main__":
    unittest.main()
