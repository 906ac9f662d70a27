"""One log: a file with a single sequence is trained, evaluated and forecast without options; windows of it give the laws of
the whole.
"""
import json
import os
import subprocess
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

    def test_a_log_that_has_grown(self):
        """New events belong to test: training has not seen them."""
        whole = self.content(self.log(400)).decode().splitlines(keepends=True)
        for shift in 0, 1700000000.5:
            rows = [row.split(",") for row in whole[1:]]
            rows = ["%s,%r,%s\n" % (a, float(t) + shift, k) for a, t, k, _ in rows]
            self.write("log.csv", "sequence,time,type\n" + "".join(rows[:300]))
            self.train("log.csv", "--epochs", "1", "--width", "8", "--inner", "8", "--heads", "2", "--head-width", "4")
            for n, test in (300, 30), (400, 130):
                self.write("log.csv", "sequence,time,type\n" + "".join(rows[:n]))
                r = self.smurf("eval", "model.safetensors", "log.csv", "--json", quiet=False)
                self.assertIn("splitting it 8:1:1 as in training", r.err)
                self.assertEqual(json.loads(r.out)["n"], test)

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

    def peak(self, *args):
        """Most memory of a run, in bytes."""
        run = subprocess.Popen([common.SMURF, *args], cwd=self.folder, env=common.environment(), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(run.returncode, 0)
        return 1024 * usage.ru_maxrss

    def test_memory_of_a_long_log(self):
        small = ("--epochs", "1", "--width", "16", "--inner", "16", "--heads", "2", "--head-width", "8")
        self.train(self.log(2000), *small)
        short, long = self.log(3000, "short.csv"), self.log(23000, "long.csv")
        more = self.peak("eval", "model.safetensors", long, "--threads", "1") - self.peak("eval", "model.safetensors", short,
                                                                                         "--threads", "1")
        self.assertLess(more / 20000, 1000)  # of which most are results; keeping activations takes several times as much

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
