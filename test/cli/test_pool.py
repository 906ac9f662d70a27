"""Laws pooled with naive ones: in the words of train, eval and the report; in streams, windows and threads."""
import json
import unittest

import common
from test_naive import SMALL, daily_log


class Pool(common.Case):
    def setUp(self):
        super().setUp()
        self.write("log.csv", daily_log(60, 1200, 10800))

    def train(self, *args):
        """What train says, after two epochs of a model that sees no hour of the day."""
        return self.smurf("train", "log.csv", "--epochs", "2", *SMALL, *args, quiet=False).out

    def evaluate(self, *args):
        return json.loads(self.smurf("eval", "model.safetensors", "log.csv", "--json", *args, quiet=False).out)

    def test_words(self):
        self.assertRegex(self.train(), r"(?m)^pool +times \d+% of naive: same hour \(held-out CRPS [0-9.]+% lower, cross-fitted\)"
                                       r"; types \d+% of naive: (recency|Markov) \(log score [0-9.]+ higher\)$")
        text = self.smurf("eval", "model.safetensors", "log.csv", "--report", "page.html", quiet=False).out
        self.assertRegex(text, r"(?m)^pooled: times \d+% of naive: same hour, types \d+% of naive: (recency|Markov), chosen "
                               r"on held-out gaps$")
        self.assertRegex(text, r"(?m)^model, raw ")
        self.assertRegex(self.content("page.html").decode(), r"Pooled: the times are \d+% those of the naive law “same hour”, "
                                                             r"the types \d+% those of “(recency|Markov)”")
        self.assertIn("“raw” is the model before it is pooled and recalibrated.", self.content("page.html").decode())
        self.assertNotIn("“fixed” is the model", self.content("page.html").decode())

    def test_never_worse(self):
        self.train()
        e = self.evaluate()
        self.assertEqual(e["pool"]["law"], "same hour")
        self.assertGreater(e["pool"]["weight"], 0.3)
        self.assertLess(e["crps"], 0.97 * e["crps_raw"])
        self.assertLess(e["crps"], 1.02 * e["crps_same_hour"])
        self.assertGreater(e["acc"], e["acc_recency"] - 2)
        self.assertEqual(e, self.evaluate("--threads", "3"))
        raw = self.evaluate("--no-recalibrate")
        self.assertNotIn("pool", raw)
        self.assertEqual(raw["crps"], e["crps_raw"])

    def test_off(self):
        for args in ("--pool", "off"), ("--recalibrate", "off"):
            self.assertNotIn("pool", self.train(*args))
            self.assertNotIn("pool", self.evaluate())

    def test_streams_know_the_past(self):
        self.train()
        log = self.content("log.csv").decode()
        answers = {}
        for name, args, text in ("file", ["log.csv", "--every", "1"], ""), ("stream", ["-", "--every", "1"], log):
            out = self.smurf("predict", "model.safetensors", *args, "--format", "jsonl", input=text, quiet=False).lines
            answers[name] = [json.loads(line) for line in out]
        self.assertEqual(len(answers["file"]), len(answers["stream"]))
        self.assertGreater(len(answers["file"]), 1000)
        for a, b in zip(answers["file"][::50], answers["stream"][::50]):
            self.assertAlmostEqual(a["median"] / b["median"], 1, places=5)
        alone = json.loads(self.smurf("predict", "model.safetensors", "log.csv", "--format", "jsonl", quiet=False).out)
        self.assertAlmostEqual(alone["median"] / answers["stream"][-1]["median"], 1, places=5)

    def test_windows_that_carry_too_little(self):
        self.train()
        told = "in windows, the naive laws that the model is pooled with see fewer events"
        self.assertNotIn(told, self.smurf("eval", "model.safetensors", "log.csv", quiet=False).err)
        args = ("eval", "model.safetensors", "log.csv", "--window", "50", "--history", "20")
        self.assertEqual(self.smurf(*args, quiet=False).err.count(told), 1)
        self.assertNotIn(told, self.smurf(*args, "--no-recalibrate", quiet=False).err)

    def test_a_setting(self):
        self.refuse("train", "log.csv", "--pool", "perhaps", says="pool 'perhaps' is not one of: off on", status=2)


if __name__ == "__main__":
    unittest.main()
