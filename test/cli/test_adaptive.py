"""Levels that follow the gaps that came: a small log that drifts, from training to the forecast of its next event."""
import json
import random
import unittest

from models import SMALL, ModelCase


def drifting_log(events, late, seed=5):
    """One log of exponential gaps; those of the last `late` events are three times as long."""
    draw = random.Random(seed)
    lines, t = ["time,type"], 0.0
    for i in range(events):
        t += draw.expovariate(1) * (1 if i < events - late else 3)
        lines.append("%.6f,%s" % (t, draw.choice("ab")))
    return "\n".join(lines) + "\n"


def log_of_runs(events, late, seed=6):
    """One log, three of four of whose events are of type a; the last `late` ones, and some before, come in runs of one type."""
    draw = random.Random(seed)
    lines, t, last = ["time,type"], 0.0, "a"
    for i in range(events):
        t += draw.expovariate(1)
        runs = i >= events - late or i % 1000 < 150
        if not runs or draw.random() < 0.05:
            last = draw.choice("aaab") if not runs else draw.choice("ab")
        lines.append("%.6f,%s" % (t, last))
    return "\n".join(lines) + "\n"


class Adaptive(ModelCase):
    @classmethod
    def make(cls):
        with open(cls.made + "/log.csv", "w") as f:
            f.write(drifting_log(6000, 900))
        for name, more in ("auto", ()), ("off", ("--adaptive", "0")), ("set", ("--adaptive", "0.02")):
            said = cls.do("train", "log.csv", "-o", name + ".safetensors", "--epochs", "2", "--quiet", *SMALL,
                          "--recalibrate", "on", "--pool", "off", *more)
            setattr(cls, name, said)
        with open(cls.made + "/runs.csv", "w") as f:
            f.write(log_of_runs(6000, 900))
        for name, more in ("types", ()), ("still", ("--adaptive", "0")):
            said = cls.do("train", "runs.csv", "-o", name + ".safetensors", "--epochs", "2", "--quiet", *SMALL,
                          "--recalibrate", "on", *more)
            setattr(cls, name, said)

    def at(self, name):
        return self.made + "/" + name

    def eval(self, model, *args):
        return self.smurf("eval", self.at(model + ".safetensors"), self.at("log.csv"), *args, quiet=False)

    def last_line(self, *args, **more):
        return self.smurf("predict", self.at("auto.safetensors"), *args, "--format", "jsonl", quiet=False, **more).lines[-1]

    def test_train_says_what_it_chose(self):
        self.assertRegex(self.auto, r"(?m)^adaptive    levels follow the gaps that came, by steps of 0\.0\d+: "
                                    r"dev pinball loss \d+\.\d\d% lower, CS \d+\.\d\d%$")
        self.assertNotRegex(self.off, "(?m)^adaptive")
        self.assertRegex(self.set, r"(?m)^adaptive    levels follow the gaps that came, by steps of 0\.02: CS \d+\.\d\d%$")

    def test_rows_with_and_without(self):
        e = json.loads(self.eval("auto", "--json").out)
        off = json.loads(self.eval("off", "--json").out)
        self.assertLess(e["cs_pit"], e["cs_pit_fixed"])
        self.assertLess(e["cs_pit"], 2.5)
        for name in "cs", "crps", "pinball":
            self.assertEqual(e[name + "_fixed"], off[name])
        self.assertNotIn("cs_fixed", off)
        self.assertRegex(self.eval("auto", "--report", "page.html").out, r"(?m)^model  +\S.*\nmodel, fixed  +\S.*\nmodel, raw  +\S")
        self.assertIn("“fixed” is the model before its levels adapt.", self.content("page.html").decode())
        self.assertEqual(self.eval("auto", "--json", "--threads", "3").out, self.eval("auto", "--json", "--threads", "1").out)

    def test_no_recalibration_no_adaptation(self):
        raw = json.loads(self.eval("auto", "--json", "--no-recalibrate").out)
        self.assertEqual(raw["cs"], json.loads(self.eval("off", "--json", "--no-recalibrate").out)["cs"])
        self.assertNotIn("cs_fixed", raw)

    def test_files_streams_and_every_event_agree(self):
        log = self.at("log.csv")
        with open(log) as f:
            text = f.read()
        whole = json.loads(self.last_line(log))
        for other in self.last_line("-", input=text), self.last_line(log, "--every", "3"):
            other = json.loads(other)
            for a, b in zip(whole["intervals"], other["intervals"]):
                self.assertAlmostEqual(a["high"] / b["high"], 1, 4)
        plain = json.loads(self.smurf("predict", self.at("off.safetensors"), log, "--format", "jsonl", quiet=False).lines[-1])
        self.assertGreater(whole["intervals"][-1]["high"], 1.1 * plain["intervals"][-1]["high"])

    def test_scores_adapt(self):
        def share(model):
            out = self.smurf("score", self.at(model + ".safetensors"), self.at("log.csv"), "--format", "jsonl", quiet=False).lines
            return sum(json.loads(line)["pit"] > 0.9 for line in out) / len(out)
        self.assertLess(abs(share("auto") - 0.1), 0.03)
        self.assertLess(abs(share("auto") - 0.1), abs(share("off") - 0.1))

    def test_windows_that_lack_the_past(self):
        self.smurf("convert", self.at("log.csv"), "windows.jsonl", "--window", "600", "--history", "1300")
        for command in "eval", "score", "predict":
            r = self.smurf(command, self.at("auto.safetensors"), "windows.jsonl", quiet=False)
            self.assertRegex(r.err, r"(?m)^smurf: warning: 7 of 10 sequences are cut from longer ones and carry fewer than the "
                                    r"20000 gaps that levels adapt to: intervals differ from those of the whole log$")
            r = self.smurf(command, self.at("auto.safetensors"), "windows.jsonl", "--no-recalibrate", quiet=False)
            self.assertNotIn("levels adapt", r.err)
            r = self.smurf(command, self.at("off.safetensors"), "windows.jsonl", quiet=False)
            self.assertNotIn("levels adapt", r.err)

    def test_weights_of_types_follow(self):
        self.assertRegex(self.types, r"(?m)^pool .*weights of types follow what comes, at a rate of 0\.0\d+$")
        self.assertNotIn("weights of types", self.still)
        log, found = self.at("runs.csv"), {}
        for name in "types", "still":
            r = self.smurf("eval", self.at(name + ".safetensors"), log, "--json", quiet=False)
            found[name] = json.loads(r.out)
        self.assertGreater(found["types"]["pool"]["type_follow"], 0)
        self.assertGreater(found["types"]["acc_true_time"], found["still"]["acc_true_time"] - 1)  # nothing is lost
        self.assertGreater(found["types"]["acc_true_time"], found["types"]["acc_recency"] - 1)
        text = self.smurf("eval", self.at("types.safetensors"), log, quiet=False).out
        self.assertRegex(text, r"(?m)^pooled: .*weights of types follow what comes$")
        # the same from a file, a stream, every event, and in a score
        with open(log) as f:
            whole = f.read()
        last = [self.smurf("predict", self.at("types.safetensors"), *args, "--format", "jsonl", quiet=False, **more).lines[-1]
                for args, more in (((log,), {}), (("-",), {"input": whole}), ((log, "--every", "3"), {}))]
        shares = [{one["type"]: one["p"] for one in json.loads(line)["types"]} for line in last]
        for other in shares[1:]:
            for name in "ab":
                self.assertAlmostEqual(shares[0][name], other[name], 4)

    def test_values_that_cannot_be(self):
        for value in "-1", "0.7", "on", "":
            self.refuse("train", self.at("log.csv"), "--adaptive", value, status=2,
                        says="adaptive '%s' is not auto or a number from 0 to 0.5" % value)


if __name__ == "__main__":
    unittest.main()
