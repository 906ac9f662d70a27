"""One log: a file with a single sequence is trained, evaluated and forecast without options; windows of it give the laws of
the whole.
"""
import json
import unittest

import common


class OneLog(common.Case):
    def log(self, events, name="log.csv", seed=3):
        self.smurf("simulate", "hawkes", "-n", "1", "--events", str(events), "--seed", str(seed), "-o", name, "-q")
        return name

    def train(self, *args):
        return self.smurf("train", *args, "--threads", "2", quiet=False)

    def test_plain_commands(self):
        """No option but the number of epochs, for speed."""
        for events, epochs in (20, 5), (60, 5), (200, 5), (1000, 3), (12000, 1):
            with self.subTest(events=events):
                log = self.log(events)
                r = self.train(log, "--epochs", str(epochs))
                if events < 10000:
                    self.assertIn("calibration none: ", r.out)
                else:
                    self.assertRegex(r.out, r"calibration the last 800 dev gaps set aside: CS .*% recalibrated")
                    self.assertIn("conformal   none: it needs many sequences", r.out)
                e = json.loads(self.smurf("eval", "model.safetensors", log, "--json", quiet=False).out)
                self.assertEqual(e["n"], events // 10)
                forecast = self.smurf("predict", "model.safetensors", log, "--format", "jsonl", quiet=False).out
                self.assertGreater(json.loads(forecast)["median"], 0)

    def test_eval_scores_what_training_did_not_see(self):
        log = self.log(300)
        times = [line.split(",")[1] for line in self.content(log).decode().splitlines()[1:]]
        small = ("--epochs", "1", "--width", "8", "--inner", "8", "--heads", "2", "--head-width", "4")
        for more, says, n in [(("--split", "6:2:2"), "6:2:2", 60), (("--split-at", times[200] + "," + times[250]), "at ", 50),
                              (("--split-at", times[230]), "at ", 70)]:
            self.train(log, *small, *more)
            r = self.smurf("eval", "model.safetensors", log, "--json", quiet=False)
            self.assertIn("trained on this file: splitting it " + says, r.err)
            self.assertEqual((json.loads(r.out)["part"], json.loads(r.out)["n"]), ("test", n), more)
            self.assertEqual(r.out, self.smurf("eval", "model.safetensors", log, "--json", *more, quiet=False).out)

    def forecasts(self, *args):
        """(last time, median, upper end, probability of the first type) of each forecast."""
        lines = self.smurf("predict", "model.safetensors", *args, "--format", "jsonl", quiet=False).lines
        found = [json.loads(line) for line in lines]
        return [(f["last"], f["median"], f["intervals"][-1]["high"], f["types"][0]["p"]) for f in found]

    def test_windows_give_the_laws_of_the_whole(self):
        log = self.log(900)
        small = ("--epochs", "2", "--width", "16", "--inner", "16", "--heads", "2", "--head-width", "8")
        for more in [("--window", "200"), ("--window", "50", "--history", "20"), ()]:
            self.train(log, *small, *more)
            cut = more or ("--window", "256", "--history", "128")  # what the default preset does
            whole = {f[0]: f for f in self.forecasts(log, "--every", "1")}
            for name in ["windows.jsonl", "windows.csv", "windows.pkl"]:
                self.smurf("convert", log, name, *cut)
                windows = self.forecasts(name)
                self.assertGreater(len(windows), 3)
                for f in windows:
                    for a, b in zip(f, whole[f[0]]):
                        self.assertAlmostEqual(a, b, delta=1e-4 * abs(b), msg=(more, name, f[0]))
            # evaluation, of the file and of its windows
            e = json.loads(self.smurf("eval", "model.safetensors", log, "--json", quiet=False).out)
            w = json.loads(self.smurf("eval", "model.safetensors", log, "--window", "30", "--json", quiet=False).out)
            self.assertEqual((e["part"], e["n"], w["n"]), ("test", 90, 90))
            for key in "crps", "il", "log_likelihood", "type_loss":
                self.assertAlmostEqual(e[key], w[key], delta=1e-4 * abs(e[key]), msg=(more, key))

    def test_too_short(self):
        log = self.log(5)
        self.refuse("train", log, "-q", says="one sequence of 5 events is too short")

    def test_conformal_says_why_not(self):
        log = self.log(300)
        self.train(log, "--epochs", "1", "--recalibrate", "on")
        r = self.smurf("predict", "model.safetensors", log, "--conformal", quiet=False)
        self.assertRegex(r.err, "^smurf: warning: the model was calibrated on one sequence: conformal .* infinite\n$")
        self.assertIn("inf", r.out)


if __name__ == "__main__":
    unittest.main()
