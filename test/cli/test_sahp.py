"""SAHP from end to end: simulated data, training, a file, measures, forecasts."""
import json
import math
import struct
import unittest

from common import Case

SMALL = ["--width", "8", "--heads", "2", "--head-width", "4", "--layers", "1", "--inner", "8"]


class Sahp(Case):
    def train(self, model, *more, threads=1):
        if not self.listing():
            self.smurf("simulate", "hawkes", "--types", "2", "--until", "20", "-n", "60", "--seed", "1", "-o", "data/",
                       quiet=False)
        self.smurf("train", "data", "-o", model, "--preset", "sahp", "--epochs", "3", "--log", model + ".log", *SMALL,
                   "--threads", str(threads), *more, quiet=False)

    def measures(self, model):
        return json.loads(self.smurf("eval", model, "data", "--json").out)

    def test_train_eval_predict(self):
        self.train("m")
        log = [json.loads(line) for line in self.content("m.log").decode().splitlines()]
        self.assertEqual([e["epoch"] for e in log], [1, 2, 3])
        self.assertLess(log[-1]["dev_loss"], log[0]["dev_loss"])
        for e in log:
            self.assertEqual(e["dev_type_loss"], 0)
            self.assertTrue(0 < e["dev_accuracy"] < 1, e)
        content = self.content("m")
        header = json.loads(content[8:8 + struct.unpack("<Q", content[:8])[0]])
        self.assertEqual(header["state.weight"]["shape"], [24, 8])
        self.assertEqual(json.loads(header["__metadata__"]["smurf"])["settings"]["model"], "sahp")
        found = self.measures("m")
        self.assertTrue(found["crps"] > 0 and 0 < found["acc"] < 100 and math.isfinite(found["log_likelihood"]), found)
        self.assertGreater(len(self.smurf("predict", "m", "data").lines), 2)

    def test_threads_change_no_bit(self):
        self.train("a")
        self.train("b", threads=2)
        self.assertEqual(self.content("a"), self.content("b"))

    def test_windows(self):
        self.train("m", "--context", "5")
        self.assertGreater(self.measures("m")["crps"], 0)
        self.assertGreater(len(self.smurf("predict", "m", "data").lines), 2)

    def test_samplers(self):
        self.train("m")
        found = json.loads(self.smurf("eval", "m", "data", "--json", "--sampler", "langevin").out)
        self.assertGreater(found["crps"], 0)

    def test_other_scales_are_refused(self):
        self.train("m")
        self.refuse("train", "data", "-o", "n", "--preset", "sahp", "--scale", "log", status=2, says="needs scale mean")


if __name__ == "__main__":
    unittest.main()
