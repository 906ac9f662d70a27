"""smurf eval and smurf report: what they measure, on which part, what they print and write, and what they refuse."""
import csv
import io
import json
import os
import signal
import subprocess
import unittest

from models import SMALL, ModelCase, calendar, table

KEYS = """n cs cs_raw cs_all cs_pit cs_floor cs_marginal cs_recent cer il crps crps_raw crps_marginal crps_recent skill_recent
          acc acc_true_time acc_markov levels coverage interval_length unit model data part sequences mean_gap recalibrated
          pinball spread log_likelihood ks ks_p type_loss brier ece in_mean_gaps""".split()


class EvalCase(ModelCase):
    @classmethod
    def make(cls):
        super().make()
        cls.train("demo", "map.safetensors", "--recalibrate", "on")
        cls.train("demo", "dsm.safetensors", "--objective", "dsm", "--scale", "mean")

    def json(self, *args, quiet=True):
        return json.loads(self.smurf("eval", *args, "--json", quiet=quiet).out, parse_constant=self.fail)

    def demo(self, *args, model="m.safetensors", quiet=True):
        return self.json(self.at(model), self.at("demo"), *args, quiet=quiet)


class Output(EvalCase):
    def test_table(self):
        out = self.smurf("eval", self.at("map.safetensors"), self.at("demo")).out
        for row in ["model", "model, raw", "naive: recent", "naive: marginal", "naive: Markov"]:
            self.assertRegex(out, r"(?m)^%s  +\S" % row)
        self.assertRegex(out, r"(?m)^noise floor of CS: \d+\.\d\d%; coverage of \[0, quantile\]: 50% -> \S+%, 80% ->")
        self.assertRegex(out, r"^map.safetensors on \S+demo, test: 285 gaps of 3 sequences; ")
        lines = out.splitlines()
        width = len(lines[2])
        for line in lines[3:7]:
            self.assertEqual(len(line), width, line)
        markov = next(line for line in lines if line.startswith("naive: Markov"))
        self.assertEqual(len(markov), lines[2].index("acc%") + 4)

    def test_wide_numbers_keep_their_columns(self):
        self.write("a/train.csv", "".join(["user,time\n"] + ["u%d,%d\n" % (s, 123456789 * i * i) for s in range(9) for i in range(20)]))
        self.write("a/test.csv", self.content("a/train.csv"))
        self.smurf("train", "a", "--epochs", "1", "-q", *SMALL)
        lines = self.smurf("eval", "model.safetensors", "a").lines
        for line in lines[3:6]:
            self.assertEqual(len(line), len(lines[2]), lines)

    def test_json_keys(self):
        e = self.demo("--bootstrap", "5", "--sampler", "exact", "--draws", "5", model="map.safetensors")
        for key in KEYS + ["crps_sampled", "coverage_raw", "skill_marginal", "bootstrap"]:
            self.assertIn(key, e)
            self.assertIsNotNone(e[key], key)
        self.assertEqual((e["part"], e["n"], e["sequences"], e["unit"], e["recalibrated"]), ("test", 285, 3, "data", True))
        self.assertEqual(len(e["levels"]), 19)
        self.assertEqual(len(e["coverage"]), 19)
        self.assertEqual(e["interval_length"], sorted(e["interval_length"]))
        self.assertAlmostEqual(e["skill_recent"], 1 - e["crps"] / e["crps_recent"], 9)
        self.assertAlmostEqual(e["in_mean_gaps"]["crps"], e["crps"] / e["mean_gap"], 9)
        tail = e["coverage"][9:]
        self.assertAlmostEqual(e["cs"], 100 * (sum((c - l) ** 2 for c, l in zip(tail, e["levels"][9:])) / 10) ** 0.5, 9)
        self.assertAlmostEqual(e["cer"], 100 * abs(e["coverage"][9] - 0.5), 9)

    def test_csv_has_the_same_numbers(self):
        e = self.demo(model="map.safetensors")
        rows = list(csv.DictReader(io.StringIO(self.smurf("eval", self.at("map.safetensors"), self.at("demo"), "--csv").out)))
        tails = {"model": "", "model, raw": "_raw", "naive: recent": "_recent", "naive: marginal": "_marginal"}
        self.assertEqual([r["row"] for r in rows], list(tails))
        for row in rows:
            self.assertEqual((row["n"], row["unit"]), ("285", "data"))
            for key in ["cs", "crps", "il", "cs_floor", "acc"]:
                want = e[key + tails[row["row"]]]
                if want is None:
                    self.assertEqual(row[key], "")
                else:
                    self.assertAlmostEqual(float(row[key]), want, 8)

    def test_mean_gaps(self):
        plain, scaled = self.demo(), self.demo("--in-mean-gaps")
        self.assertEqual(scaled["unit"], "mean gap")
        self.assertAlmostEqual(scaled["crps"], plain["crps"] / plain["mean_gap"], 9)
        self.assertAlmostEqual(scaled["interval_length"][3], plain["interval_length"][3] / plain["mean_gap"], 9)
        self.assertEqual(scaled["cs"], plain["cs"])
        self.refuse("eval", self.at("m.safetensors"), self.at("demo/test.jsonl"), "--in-mean-gaps", says="--train")

    def test_threads_do_not_change_a_byte(self):
        args = ["eval", self.at("dsm.safetensors"), self.at("demo"), "--json", "--bootstrap", "20", "--sampler", "langevin",
                "--draws", "10", "--steps", "10"]
        self.assertEqual(self.smurf(*args, "--threads", "1").raw, self.smurf(*args, "--threads", "3").raw)

    def test_formats_exclude_each_other(self):
        self.refuse("eval", "m", "d", "--json", "--csv", says="mutually exclusive", status=2)
        self.refuse("eval", "m", "d", "--figures", "x", says="--report", status=2)


class Parts(EvalCase):
    def test_test_unless_told_otherwise(self):
        n = {part: self.json(self.at("m.safetensors"), self.at("demo/%s.jsonl" % part))["n"] for part in ["train", "dev", "test"]}
        self.assertEqual(self.demo()["n"], n["test"])
        for part in n:
            e = self.demo("--part", part)
            self.assertEqual((e["n"], e["part"]), (n[part], part))
        self.refuse("eval", self.at("m.safetensors"), self.at("demo"), "--part", "tset", says=["tset", "dev or test"], status=2)

    def test_a_file_alone(self):
        e = self.json(self.at("m.safetensors"), self.at("demo/test.jsonl"))
        whole = self.demo()
        self.assertNotIn("crps_recent", e)
        self.assertEqual((e["cs"], e["crps"], e["skill_recent"], e["mean_gap"]), (whole["cs"], whole["crps"], None, None))
        text = self.smurf("eval", self.at("m.safetensors"), self.at("demo/test.jsonl")).out
        self.assertIn("no naive laws: they need train data (--train FILE)", text)
        e = self.json(self.at("m.safetensors"), self.at("demo/test.jsonl"), "--train", self.at("demo/train.jsonl"))
        for key in ["crps_recent", "cs_marginal", "acc_markov", "mean_gap", "crps"]:
            self.assertEqual(e[key], whole[key], key)
        self.refuse("eval", self.at("m.safetensors"), self.at("demo/test.jsonl"), "--train", "nope.csv", says="nope.csv")
        self.refuse("eval", self.at("m.safetensors"), self.at("demo/test.jsonl"), "--part", "dev", says="no dev part", status=2)

    def test_a_directory_without_test(self):
        self.write("d/train.csv", table(10))
        self.write("d/dev.csv", table(4, seed=2))
        self.smurf("train", "d", "--epochs", "1", "-q", *SMALL)
        self.refuse("eval", "model.safetensors", "d", says=["no test part", "--part"], status=2)
        self.assertEqual(self.json("model.safetensors", "d", "--part", "dev")["sequences"], 4)

    def test_a_file_that_was_trained_on_is_split_again(self):
        self.write("e.csv", table(40))
        for more in [(), ("--seed", "7"), ("--window", "5", "--history", "3")]:
            self.smurf("train", "e.csv", "--epochs", "1", "-q", *SMALL, *more)
            r = self.smurf("eval", "model.safetensors", "e.csv", "--json", quiet=False)
            e = json.loads(r.out)
            self.assertIn("trained on this file: splitting it 8:1:1 as in training", r.err, more)
            self.assertEqual((e["part"], e["n"]), ("test", 4 * 11), more)
            self.assertIsNotNone(e["crps_recent"])
        # as the model remembers, without repeating any option
        for more, says, n in [(("--split", "5:3:2", "--seed", "9"), "5:3:2", 8 * 11), (("--split", "8:0:2"), "8:0:2", 8 * 11),
                              (("--split", "8:1:1", "--dither", "0.01"), "8:1:1", 4 * 11)]:
            self.smurf("train", "e.csv", "--epochs", "1", "-q", *SMALL, *more)
            r = self.smurf("eval", "model.safetensors", "e.csv", "--json", quiet=False)
            e = json.loads(r.out)
            self.assertIn("trained on this file: splitting it %s as in training" % says, r.err, more)
            self.assertEqual((e["part"], e["n"]), ("test", n), more)
            self.assertEqual(e["crps"], self.json("model.safetensors", "e.csv", *more)["crps"], more)
        # another file is taken whole
        self.write("f.csv", table(40, seed=9))
        e = self.json("model.safetensors", "f.csv")
        self.assertEqual((e["part"], e["sequences"]), ("", 40))
        # dates, whose end of observation is assumed in training
        self.write("g.csv", calendar(40))
        for more in (), ("--observed-until", "2030-01-01"), ("--split-at", "2024-01-31T06:00:00"), \
                ("--split-at", "2024-01-31T04:00:00,2024-01-31T06:00:00"):
            self.smurf("train", "g.csv", "--epochs", "1", "-q", *SMALL, *more)
            self.assertEqual(self.json("model.safetensors", "g.csv", quiet=False)["part"], "test", more)
        # two to four sequences are cut in time, with or without dates; of more, one may be test
        for rows, n, says in (table(2, 50), 2, "two"), (calendar(2, 50), 2, "two"), (table(3, 50), 3, "three"), (table(4, 50), 4, "four"):
            self.write("h.csv", rows)
            r = self.smurf("train", "h.csv", "--epochs", "1", *SMALL, quiet=False)
            self.assertIn("%s sequences: they are cut in time, 8:1:1" % says, r.err)
            e = self.json("model.safetensors", "h.csv", quiet=False)
            self.assertEqual((e["part"], e["n"]), ("test", 5 * n))
        for n in 5, 6:
            self.write("h.csv", table(n, 50))
            self.smurf("train", "h.csv", "--epochs", "1", "-q", *SMALL)
            e = self.json("model.safetensors", "h.csv", quiet=False)
            self.assertEqual((e["part"], e["sequences"], e["n"]), ("test", 1, 49), n)

    def test_numbers_that_were_names(self):
        self.write("d/train.csv", table(20, types=("404", "500")))
        self.write("d/test.csv", table(5, types=("500", "404"), seed=3))
        self.smurf("train", "d", "--types", "words", "--epochs", "1", "-q", *SMALL)
        whole = self.json("model.safetensors", "d")
        alone = self.json("model.safetensors", "d/test.csv", "--train", "d/train.csv")
        self.assertEqual(alone["acc_markov"], whole["acc_markov"])

    def test_either_order(self):
        a = self.smurf("eval", self.at("m.safetensors"), self.at("demo"), "--json").raw
        self.assertEqual(a, self.smurf("eval", self.at("demo"), self.at("m.safetensors"), "--json").raw)


class Laws(EvalCase):
    def test_bootstrap(self):
        e = self.demo("--bootstrap", "100")
        inside = 0
        for key, (low, high) in e["bootstrap"].items():
            self.assertLessEqual(low, high, key)
            inside += low <= e[key] <= high
        self.assertGreater(len(e["bootstrap"]), 8)
        self.assertGreaterEqual(inside, 0.7 * len(e["bootstrap"]))
        self.assertNotIn("bootstrap", self.demo())
        self.assertRegex(self.smurf("eval", self.at("m.safetensors"), self.at("demo"), "--bootstrap", "9").out,
                         r"(?m)^  90% interval +[\d.]+-[\d.]+ +crps ")

    def test_raw(self):
        mapped = self.demo(model="map.safetensors")
        raw = self.demo("--no-recalibrate", model="map.safetensors")
        self.assertEqual((mapped["recalibrated"], raw["recalibrated"]), (True, False))
        for key in ["cs", "cs_all", "crps", "il", "cer", "log_likelihood", "acc"]:
            self.assertEqual(raw[key], raw[key + "_raw"])
            if mapped[key + "_raw"] is not None:
                self.assertEqual(raw[key], mapped[key + "_raw"], key)
        self.assertNotEqual(raw["crps"], mapped["crps"])

    def test_samplers(self):
        exact = self.demo(model="dsm.safetensors")
        for sampler in ["exact", "langevin", "mirror", "reject"]:
            steps = [] if sampler == "exact" else ["--steps", "15", "--step-size", "0.01"]
            e = self.demo("--sampler", sampler, "--draws", "20", *steps, model="dsm.safetensors")
            self.assertEqual(e["crps"], exact["crps"])
            self.assertGreater(e["crps_sampled"], 0)
            self.assertIsNotNone(e["acc_draws_sampled"])
        self.assertIn("crps_sampled", self.demo("--sampler", "exact", model="dsm.safetensors"))
        walk = ["--sampler", "langevin", "--draws", "20", "--steps", "15"]
        self.assertNotEqual(self.demo(*walk, model="dsm.safetensors")["crps_sampled"],
                            self.demo(*walk, "--no-denoise", model="dsm.safetensors")["crps_sampled"])

    def test_samplers_refused(self):
        dsm, m, demo = self.at("dsm.safetensors"), self.at("m.safetensors"), self.at("demo")
        self.refuse("eval", dsm, demo, "--sampler", "gibbs", says=["'gibbs'", "exact, langevin, mirror or reject"], status=2)
        self.refuse("eval", m, demo, "--sampler", "mirror", says=["use langevin"])
        for steps in ["0", "-1", "x", "1.5", "", "99999999999999999999"]:
            self.refuse("eval", dsm, demo, "--sampler", "langevin", "--steps", steps, says=["--steps", "'auto'"], status=2)
        self.refuse("eval", dsm, demo, "--sampler", "langevin", "--step-size", "0", says="above 0", status=2)
        self.refuse("eval", dsm, demo, "--sampler", "langevin", "--step-size", "1e300", says="give a number from 1e-12 to 1000")
        for more in [("--steps", "5"), ("--step-size", "0.1"), ("--no-denoise",), ("--steps", "auto", "--sampler", "exact")]:
            self.refuse("eval", dsm, demo, *more, says="needs a --sampler", status=2)

    def test_device(self):
        said = self.smurf("eval", self.at("m.safetensors"), self.at("demo")).out
        self.assertEqual(self.smurf("eval", self.at("m.safetensors"), self.at("demo"), "--device", "cpu").out, said)
        self.refuse("eval", self.at("m.safetensors"), self.at("demo"), "--device", "gpu",
                    says="device 'gpu' is not one of: cpu, cuda, auto")

    def test_device_needs_a_gpu(self):
        run = self.run_smurf("eval", self.at("m.safetensors"), self.at("demo"), "--device", "cuda")
        if run.status == 0:
            self.skipTest("there is a GPU")
        self.assertRegex(run.err, "(has no CUDA .*-Dcuda=enabled|there is no NVIDIA GPU).*measure with --device cpu")

    def test_steps_auto_is_chosen_on_dev(self):
        args = ["--sampler", "langevin", "--draws", "10"]
        r = self.smurf("eval", self.at("dsm.safetensors"), self.at("demo"), *args, "--steps", "auto", "--json", quiet=False)
        self.assertRegex(r.err, r"^--steps auto: chose \d+ steps of langevin with a CS of [\d.]+% on dev .*\n$")
        steps, cs = r.err.split()[3], float(r.err.split("CS of ")[1].split("%")[0])
        self.assertEqual(json.loads(r.out), self.demo(*args, "--steps", steps, model="dsm.safetensors"))
        self.assertEqual(int(steps) % 20, 0)
        # One long walk has a slightly coarser table of the score than a walk of just these steps.
        dev = {n: self.demo(*args, "--steps", n, "--part", "dev", model="dsm.safetensors")["cs_sampled"]
               for n in [steps, "20", "100", "200", "500", "1000", "2000"]}
        self.assertAlmostEqual(dev[steps], cs, delta=0.5)
        self.assertLess(dev[steps], min(dev.values()) + 0.5)
        self.smurf("eval", self.at("dsm.safetensors"), self.at("demo"), *args, "--steps", "auto", "--json", "--quiet")

    def test_steps_auto_needs_dev(self):
        self.refuse("eval", self.at("dsm.safetensors"), self.at("demo/test.jsonl"), "--sampler", "langevin", "--steps", "auto",
                    says=["dev part", "--split"])


class Refusals(EvalCase):
    def test_types(self):
        self.write("t.jsonl", '{"time_since_start":[1,2,3],"type_event":[0,7,1]}\n')
        out = self.run_smurf("eval", self.at("m.safetensors"), "t.jsonl", "--json")
        self.assertEqual((out.status, json.loads(out.out)["n"]), (0, 2))
        self.assertRegex(out.err, "t.jsonl: 1 event is of a type that the model does not know, 7: ")
        self.write("w.csv", "time,type\n1,x\n2,y\n")
        out = self.run_smurf("eval", self.at("m.safetensors"), "w.csv", "--json")
        self.assertEqual((out.status, json.loads(out.out)["acc"]), (0, None))
        self.assertRegex(out.err, "w.csv: 2 events are of a type that the model does not know, such as 'x': ")

    def test_nothing_to_score(self):
        self.write("e.csv", "")
        self.refuse("eval", self.at("m.safetensors"), "e.csv", says="empty")
        self.write("one.csv", "time,type\n1,0\n")
        self.refuse("eval", self.at("m.safetensors"), "one.csv", says=["no gaps", "two events"])

    def test_models(self):
        demo = self.at("demo")
        self.refuse("eval", "nope.safetensors", demo, says=["nope.safetensors", "no such file"])
        self.refuse("eval", self.at("m.safetensors"), "nope", says="cannot open 'nope'")
        self.write("text.safetensors", "this is no model at all, only text that is long enough to have a header\n")
        self.refuse("eval", "text.safetensors", demo, says="text.safetensors")
        with open(self.at("m.safetensors"), "rb") as f:
            whole = f.read()
        for n in [0, 7, 8, 300, len(whole) // 2, len(whole) - 1]:
            self.write("cut.safetensors", whole[:n])
            self.refuse("eval", "cut.safetensors", demo, says="cut.safetensors")
        self.refuse("eval", demo, demo, says="directory")

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            r = self.run_smurf("eval", self.at("m.safetensors"), self.at("demo"), stdout=full)
        self.assertEqual(r.status, 1)
        self.assertIn("cannot write to standard output", r.err)

    def test_a_pipe_that_closes(self):
        r, w = os.pipe()
        os.close(r)
        try:
            run = self.run_smurf("eval", self.at("m.safetensors"), self.at("demo"), stdout=w)
        finally:
            os.close(w)
        self.assertEqual((run.status, run.err), (-signal.SIGPIPE, ""))


class Report(EvalCase):
    def test_page_and_figures(self):
        out = self.smurf("eval", self.at("m.safetensors"), self.at("demo"), "--report", "r.html", "--figures", "f", quiet=False)
        self.assertEqual(out.err, "wrote r.html\n")
        self.assertIn("noise floor", out.out)
        page = self.content("r.html").decode()
        self.assertRegex(page, r"(?i)^<!doctype html>")
        self.assertTrue(page.rstrip().endswith("</html>"))
        figures = [name for name in self.listing() if name.startswith("f/")]
        svg, png = ([f for f in figures if f.endswith(end)] for end in (".svg", ".png"))
        self.assertGreater(len(svg), 2)
        self.assertEqual([f[:-4] for f in svg], [f[:-4] for f in png])
        for name in png:
            self.assertEqual(self.content(name)[:8], b"\x89PNG\r\n\x1a\n")

    def report_with_cairo(self, *arguments):
        """`smurf report` where the loader finds cairo/libcairo.so.2 in the test's folder before the system's."""
        return ["report", self.at("m.safetensors"), self.at("demo"), "-q", *arguments], {"LD_LIBRARY_PATH": self.path("cairo")}

    def test_png_needs_cairo(self):
        self.write("cairo/libcairo.so.2", "")
        arguments, env = self.report_with_cairo("--figures", "f")
        says = r"PNG figures need libcairo2: install it, or leave out --figures \(.*libcairo\.so\.2"
        self.refuse(*arguments, env=env, says=says)
        self.assertFalse(os.path.exists(self.path("f")))
        self.refuse("report", "absent.safetensors", self.at("demo"), "--figures", "f", env=env, says=says)  # before any work
        arguments, env = self.report_with_cairo()
        self.smurf(*arguments, env=env)

    def test_cairo_without_a_function(self):
        subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-o", self.write("cairo/libcairo.so.2", "")], check=True)
        arguments, env = self.report_with_cairo("--figures", "f")
        self.refuse(*arguments, env=env, says=r"PNG figures need libcairo2: .*cairo_arc")

    def test_report_command_is_the_same_page(self):
        self.smurf("eval", self.at("m.safetensors"), self.at("demo"), "--report", "a.html", "-q")
        r = self.smurf("report", self.at("m.safetensors"), self.at("demo"), "-o", "b.html", quiet=False)
        self.assertEqual((r.out, r.err), ("", "wrote b.html\n"))
        self.assertEqual(self.content("a.html"), self.content("b.html"))
        self.smurf("report", self.at("m.safetensors"), self.at("demo"), "-q")
        self.assertEqual(self.content("report.html"), self.content("b.html"))
        self.smurf("report", self.at("m.safetensors"), self.at("demo"), "-q", "--examples", "0", "-o", "none.html")
        self.assertLess(len(self.content("none.html")), len(self.content("b.html")))

    def test_places_that_cannot_be_written(self):
        self.refuse("report", self.at("m.safetensors"), self.at("demo"), "-o", "no/such/r.html", says="no/such/r.html")
        r = self.run_smurf("eval", self.at("m.safetensors"), self.at("demo"), "--report", "no/such/r.html")
        self.assertEqual((r.status, r.err.count("\n")), (1, 1))
        self.write("file", "x")
        r = self.run_smurf("report", self.at("m.safetensors"), self.at("demo"), "--figures", "file/f")
        self.assertEqual(r.status, 1)
        self.assertIn("file/f", r.err)


if __name__ == "__main__":
    unittest.main()
