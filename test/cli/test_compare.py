"""smurf compare: one table, whatever its form; what is done is kept; what is stopped goes on; what it refuses."""
import csv
import io
import json
import os
import re
import resource
import shutil
import stat
import signal
import subprocess
import time
import unittest

import common
from common import Case

PROCESS = "hawkes base=0.2,0.3 excitation=0.6,0.1,0.2,0.5 decay=2"
# Models that train in no time.
SMALL = [word for setting in ["width=8", "heads=2", "head-width=4", "layers=1", "inner=8", "nodes=6"] for word in ["--set", setting]]


class CompareCase(Case):
    def data(self, sequences=60, events=20, split="8:2:6"):
        self.smurf("simulate", PROCESS.split()[0], "--types", "2", *PROCESS.split()[1:], "-n", str(sequences), "--events",
                   str(events), "--split", split, "-o", "data", "-q")
        return "data"

    def compare(self, *args, **more):
        return self.smurf("compare", "data", *SMALL, *args, **more)

    def files(self, name, folder="data-compare"):
        return [f for f in self.listing() if f.startswith(folder) and f.endswith(name)]


class Table(CompareCase):
    ARGS = ["--models", "default,default:objective=dsm", "--seeds", "2", "--epochs", "2", "--process", PROCESS, "-q"]

    def table(self, form):
        return self.compare(*self.ARGS, "--format", form).out

    def test_all_forms_say_the_same(self):
        self.data()
        found = json.loads(self.table("json"))
        rows = found["rows"]
        self.assertEqual([(r["model"], r["law"], r["runs"]) for r in rows],
                         [("default", "", 2), ("default:objective=dsm", "", 2), ("truth", "truth", 1), ("recent", "recent", 1),
                          ("marginal", "marginal", 1)])
        self.assertEqual((found["seeds"], found["sampler"], found["paper_protocol"]), (2, "exact", False))
        self.check_rows(rows)
        text, markdown = self.table("text"), self.table("markdown")
        lines = list(csv.DictReader(io.StringIO(self.table("csv"))))
        self.assertEqual(len(lines), len(rows))
        for line, r in zip(lines, rows):
            self.assertEqual((line["model"], line["law"]), (r["model"], r["law"]))
            for name in ["cs", "crps", "cer", "il", "log_likelihood", "skill"]:
                self.assertEqual(float(line[name]), r["mean"][name])
                self.assertEqual(float(line[name + "_sd"]) if line[name + "_sd"] else None, r["sd"][name])
                self.assertEqual(line[name + "_mark"], r["marks"].get(name, ""))
            sd = r["sd"]["crps"]
            shown = "%.4f" % r["mean"]["crps"] + (" ± " + ("%.4f" if sd >= 5e-5 else "%.3g") % sd if r["runs"] > 1 else "")
            mark = r["marks"].get("crps")
            name = {"recent": "naive: recent", "marginal": "naive: marginal"}.get(r["model"], r["model"])
            [row] = [line for line in text.splitlines() if line.startswith(name + " ")]
            self.assertIn(shown + {"best": "*", "near": "~", None: " "}[mark], row)
            [row] = [line for line in markdown.splitlines() if line.startswith("| %s |" % name)]
            self.assertIn({"best": "| **%s** |", "near": "| %s ~ |", None: "| %s |"}[mark] % shown, row)
        self.assertIn("noise floor of CS: %.2f%%" % rows[-1]["mean"]["cs_floor"], text)
        self.assertIn("data, test: %d gaps of %d sequences; 2 seeds" % (found["n"], found["sequences"]), text)
        self.assertIn("naive: Markov", text)
        self.assertIn("naive: Markov", markdown)

    def check_rows(self, rows):
        for r in rows:
            each = [run["crps"] for run in r["each"]]
            self.assertEqual(len(each), r["runs"])
            self.assertAlmostEqual(r["mean"]["crps"], sum(each) / len(each), 12)
            if len(each) == 2:
                self.assertAlmostEqual(r["sd"]["crps"], abs(each[0] - each[1]) / 2 ** 0.5, 12)
            self.assertEqual((len(r["coverage"]), len(r["interval_length"])), (19, 19))
        recent = rows[-2]["mean"]["crps"]
        for r in rows:
            self.assertAlmostEqual(r["mean"]["skill"], 100 * (1 - r["mean"]["crps"] / recent), 9)
        for name, better in [("cs", min), ("crps", min), ("log_likelihood", max)]:
            best = better(r["mean"][name] for r in rows)
            self.assertEqual([r["marks"].get(name) == "best" for r in rows], [r["mean"][name] == best for r in rows])

    def test_truth_wins(self):
        self.data(sequences=300, events=30, split="1:1:6")
        rows = json.loads(self.compare("--models", "default", "--epochs", "2", "--process", PROCESS, "-q", "--format", "json").out)["rows"]
        mean = {r["model"]: r["mean"] for r in rows}
        truth = mean.pop("truth")
        for name, other in mean.items():
            self.assertLess(truth["crps"], 1.003 * other["crps"], name)
            self.assertGreater(truth["log_likelihood"], other["log_likelihood"] - 0.01, name)
        self.assertLess(truth["cs"], 3 * truth["cs_floor"])
        self.assertGreater(truth["ks_p"], 1e-4)

    def test_naive_laws_are_always_there(self):
        self.data()
        for models in ["default", "marginal", "recent"]:
            out = self.compare("--models", models, "--epochs", "1", "-q").out
            self.assertRegex(out, r"(?m)^naive: recent ")
            self.assertRegex(out, r"(?m)^naive: marginal ")

    def test_default_list_has_what_there_is(self):
        self.data(sequences=16, events=6)
        presets = self.smurf("train", "--help").out.partition("\nPresets\n")[2].partition("\n\n")[0].split()
        rows = json.loads(self.compare("--epochs", "1", "-q", "--format", "json").out)["rows"]
        self.assertEqual([r["model"] for r in rows],
                         [m for m in ["default", "thp", "sahp", "nhp", "nce"] if m in presets] + ["recent", "marginal"])

    def test_recalibrated_and_raw(self):
        self.data()
        out = self.compare("--models", "default", "--epochs", "1", "--recalibrate", "on", "-q").out
        self.assertRegex(out, r"(?m)^default, raw ")
        self.assertRegex(out, r"(?m)^default, recalibrated ")
        self.assertRegex(out, "noise floor of CS: .*, recalibrated ")

    def test_draws(self):
        self.data(sequences=40, events=10)
        args = ["--models", "default", "--epochs", "1", "--set", "sampler-steps=10", "--draws", "10", "-q", "--format", "json"]
        dev = json.loads(self.compare(*args, "--sampler", "langevin").out)
        trained = self.files("model.safetensors")
        test = json.loads(self.compare(*args, "--paper-protocol").out)
        fixed = json.loads(self.compare(*args, "--sampler", "langevin", "--steps", "7").out)
        self.assertEqual(self.files("model.safetensors"), trained)
        self.assertEqual([d["rows"][0]["steps_chosen_on"] for d in [dev, test, fixed]], ["dev", "test", ""])
        self.assertEqual(fixed["rows"][0]["each"][0]["steps"], 7)
        self.assertIn(dev["rows"][0]["each"][0]["steps"], [1, 2, 5, 10, 20])
        self.assertLessEqual(test["rows"][0]["mean"]["cs"], dev["rows"][0]["mean"]["cs"])
        out = self.compare(*args[:-2], "--paper-protocol").out
        self.assertRegex(out, r"(?m)^default, drawn† ")
        self.assertRegex(out, r"(?m)^† steps chosen on test")

    def test_steps_are_chosen_by_the_part_of_dev_that_selects(self):
        self.data(sequences=160, events=40, split="8:4:4")
        args = ["--models", "default", "--epochs", "1", "--draws", "5", "--set", "sampler-steps=10", "-q", "--format", "json"]
        exact = json.loads(self.compare(*args[:4], *args[6:]).out)
        self.assertEqual([r["law"] for r in exact["rows"][:2]], ["raw", "recalibrated"])  # dev is large enough for both
        drawn = json.loads(self.compare(*args, "--sampler", "langevin").out)
        self.assertEqual([r["law"] for r in drawn["rows"][:1]], ["drawn"])
        self.assertIn(drawn["rows"][0]["each"][0]["steps"], [1, 2, 5, 10, 20])

    def test_draws_without_the_last_step(self):
        self.data()
        args = ["--models", "default:objective=dsm", "--epochs", "1", "--draws", "10", "--sampler", "langevin", "--steps", "20", "-q"]
        with_it, without = (self.compare(*args, *more).out for more in [[], ["--no-denoise"]])
        self.assertNotEqual(with_it, without)
        self.assertIn("10 draws per gap by langevin without the final Tweedie step, 20 steps", without)
        self.refuse("compare", "data", "--no-denoise", says="--no-denoise and --paper-protocol need --sampler langevin", status=2)

    def test_page(self):
        self.data()
        r = self.compare("--models", "default", "--epochs", "1", "--report", "page.html", "-o", "table.md", "--format", "markdown",
                         quiet=False)
        self.assertEqual(r.out, "")
        self.assertIn("wrote table.md\n", r.err)
        self.assertIn("wrote page.html\n", r.err)
        page = self.content("page.html").decode()
        for part in ['id="coverage"', 'id="length"', "<svg", "naive: recent", "naive: marginal", "</html>"]:
            self.assertIn(part, page)
        self.assertIn("| naive: recent |", self.content("table.md").decode())

    def test_one_file_is_split_and_mean_gaps(self):
        self.smurf("simulate", "hawkes", "-n", "50", "--events", "12", "-o", "events.csv", "-q")
        plain = json.loads(self.smurf("compare", "events.csv", "--models", "marginal", "--format", "json", "-q").out)
        gaps = json.loads(self.smurf("compare", "events.csv", "--models", "marginal", "--format", "json", "-q", "--in-mean-gaps").out)
        self.assertEqual((plain["unit"], gaps["unit"]), ("the data's unit", "mean gaps"))
        self.assertAlmostEqual(plain["rows"][0]["mean"]["crps"], gaps["rows"][0]["mean"]["crps"] * plain["mean_gap"], 9)
        self.assertTrue(self.files(".json", "events.csv-compare"))


class Kept(CompareCase):
    ARGS = ["--models", "default,default:objective=dsm", "--seeds", "2", "--epochs", "12", "--set", "batch=1"]

    def test_done_once(self):
        self.data()
        first = self.compare(*self.ARGS, "--epochs", "2", quiet=False)
        self.assertEqual(first.err.count(" done in "), 5)
        before = {f: os.stat(self.path(f)).st_mtime_ns for f in self.listing()}
        again = self.compare(*self.ARGS, "--epochs", "2", quiet=False)
        self.assertEqual(again.out, first.out)
        self.assertEqual(again.err, "all 5 cells already done\n")
        self.assertEqual({f: os.stat(self.path(f)).st_mtime_ns for f in self.listing()}, before)

    def test_other_settings_seeds_and_data_are_other_cells(self):
        self.data()
        args = ["--models", "default", "--epochs", "1"]
        self.compare(*args, "-q")
        for more, new in [([], 0), (["--seeds", "2"], 1), (["--set", "dropout=0.3"], 1), (["--recalibrate", "on"], 1), (["--format", "csv"], 0)]:
            err = self.compare(*args, *more, quiet=False).err
            self.assertEqual(err.count("default seed"), new, (more, err))
        self.data(sequences=61)
        self.assertEqual(self.compare(*args, quiet=False).err.count(" done in "), 2)

    def test_draws_and_exact_laws_are_of_the_same_models(self):
        self.data()
        args = ["--models", "default", "--epochs", "1"]
        self.compare(*args, "-q")
        models = {f: os.stat(self.path(f)).st_mtime_ns for f in self.files("model.safetensors")}
        self.compare(*args, "--sampler", "langevin", "--steps", "20", "--draws", "10", "-q")
        self.assertEqual({f: os.stat(self.path(f)).st_mtime_ns for f in self.files("model.safetensors")}, models)

    def test_results_of_other_sources_are_told(self):
        self.data()
        args = ["--models", "default", "--epochs", "1", "-q"]
        self.assertNotIn("other sources", self.compare(*args).out)
        for name in self.listing():
            if "default" in name and "result-" in name:
                path = self.path(name)
                text = open(path).read()
                open(path, "w").write(re.sub(r'"code": "[0-9a-f]{16}"', '"code": "0123456789abcdef"', text, count=1))
        self.assertIn("1 of 2 cells were produced by a different version of the source code\n", self.compare(*args).out)
        self.assertIn('"cells": 2, "cells_of_other_code": 1', self.compare(*args, "--format", "json").out)

    def test_threads_do_not_show(self):
        self.data()
        outs = {self.compare(*self.ARGS, "--epochs", "2", "--threads", n, "--runs", "runs" + n, "-q").out for n in ["1", "3"]}
        self.assertEqual(len(outs), 1)

    def stop_when_training(self, how, *args):
        """Starts a run and sends it a signal once a training is under way."""
        run = subprocess.Popen([common.SMURF, "compare", "data", *SMALL, *args], cwd=self.folder, env=common.environment(),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            for _ in range(5000):
                if any(self.lines(f) >= 2 for f in self.files("log.jsonl", "cut")) or run.poll() is not None:
                    break
                time.sleep(0.002)
            run.send_signal(how)
            out, err = run.communicate(timeout=common.TIMEOUT)
        finally:
            run.kill()
            run.wait()
        self.assertEqual(out, b"")
        return run.returncode, err.decode()

    def lines(self, name):
        try:
            return self.content(name).count(b"\n")
        except FileNotFoundError:
            return 0

    def test_stopped_and_killed_runs_go_on_to_the_same_table(self):
        self.data()
        whole = self.compare(*self.ARGS, "--runs", "whole", "--format", "json", "-q").out
        status, err = self.stop_when_training(signal.SIGINT, *self.ARGS, "--runs", "cut")
        self.assertEqual(status, 1, err)
        self.assertRegex(err, r"smurf: stopped; finished work is kept: run the same command to continue\n$")
        self.assertTrue(self.files("model.resume", "cut"))
        status, err = self.stop_when_training(signal.SIGKILL, *self.ARGS, "--runs", "cut")
        self.assertEqual(status, -signal.SIGKILL)
        cut = self.compare(*self.ARGS, "--runs", "cut", "--format", "json", "-q").out
        self.assertEqual(cut, whole)
        self.assertEqual(self.files("model.resume", "cut"), [])
        for name in self.files("log.jsonl", "cut"):
            epochs = [json.loads(line)["epoch"] for line in self.content(name).splitlines()]
            self.assertEqual(epochs, list(range(1, len(epochs) + 1)), name)

    def test_same_model_as_train(self):
        self.data()
        self.compare("--models", "default", "--epochs", "2", "-q")
        [model] = self.files("model.safetensors")
        settings = [word for s in SMALL[1::2] for word in ["--" + s.split("=")[0], s.split("=")[1]]]
        self.smurf("train", "data", *settings, "--epochs", "2", "-o", "own.safetensors", "-q")
        self.assertEqual(self.content(model), self.content("own.safetensors"))

    def test_sigma_is_chosen(self):
        self.data(sequences=30, events=10)
        given, chosen = (self.compare("--models", "default:objective=dsm" + sigma, "--epochs", "1", "-q", "--format", "json").out
                         for sigma in [":sigma=0.05", ":sigma=auto"])
        self.assertNotEqual(json.loads(given)["rows"][0]["mean"]["cs"], json.loads(chosen)["rows"][0]["mean"]["cs"])

    def test_killed_worker_is_told(self):
        self.data()
        run = subprocess.Popen([common.SMURF, "compare", "data", *SMALL, "--models", "default", "--epochs", "100000", "--threads", "1"],
                               cwd=self.folder, env=common.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            worker = ""
            while not worker and run.poll() is None:
                with open(f"/proc/{run.pid}/task/{run.pid}/children") as f:
                    worker = f.read()
            os.kill(int(worker), signal.SIGKILL)
            out, err = run.communicate(timeout=common.TIMEOUT)
        finally:
            run.kill()
            run.wait()
        self.assertEqual((run.returncode, out), (1, ""))
        self.assertIn("smurf: default seed 1 was killed by signal 9\n", err)
        self.assertIn("naive laws  done in ", err)

    def test_broken_result_is_made_again(self):
        self.data()
        args = ["--models", "default", "--epochs", "1", "-q"]
        out = self.compare(*args).out
        for name in self.files(".json"):
            self.write(name, "{\"laws\": [")
        self.assertEqual(self.compare(*args).out, out)


class Refused(CompareCase):
    def test_models(self):
        self.data()
        self.refuse("compare", "data", "--models", "default,nope", says=["unknown model 'nope'", "default", "marginal"], status=2)
        self.refuse("compare", "data", "--models", "default,default", says="twice", status=2)
        self.refuse("compare", "data", "--models", "truth", says="--process", status=2)
        self.refuse("compare", "data", "--models", "default:epochs", says="NAME=VALUE", status=2)
        self.refuse("compare", "data", "--models", "", says="unknown model ''", status=2)

    def test_settings(self):
        self.refuse("compare", "data", "--set", "width=0", says="width", status=2)
        self.refuse("compare", "data", "--set", "nope=1", says="nope", status=2)
        self.refuse("compare", "data", "--epochs", "x", says="epochs", status=2)
        self.refuse("compare", "data", "--seeds", "0", says="--seeds", status=2)
        self.refuse("compare", "data", "--format", "xml", says=["--format", "markdown"], status=2)
        self.refuse("compare", "data", "--sampler", "dice", says=["'dice'", "langevin"], status=2)
        self.refuse("compare", "data", "--steps", "5", says="--sampler", status=2)
        self.refuse("compare", "data", "--sampler", "langevin", "--steps", "0", says="--steps", status=2)
        self.refuse("compare", "data", "--process", "hawkes", "--window", "5", says="--window", status=2)
        self.refuse("compare", "data", "--sampler", "langevin", "--recalibrate", "on", says="--recalibrate on needs --sampler exact",
                    status=2)
        self.refuse("compare", "data", *["--set", "width=8"] * 65, says="--set may be given at most 64 times", status=2)

    def test_data(self):
        self.data()
        self.refuse("compare", "nowhere", says="nowhere")
        self.refuse("compare", "data", "--process", "nope", says="unknown process 'nope'", status=2)
        self.refuse("compare", "data", "--runs", "nowhere/runs", says="cannot create the folder 'nowhere/runs': No such file")
        os.remove(self.path("data/dev.jsonl"))
        self.refuse("compare", "data", "--sampler", "langevin", says="there is no dev part: give a number with --steps")
        os.remove(self.path("data/test.jsonl"))
        self.refuse("compare", "data", says="no test part")

    def test_a_pipe_is_written_not_replaced(self):
        self.data(sequences=20, events=8)
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
            self.smurf("compare", "data", "--models", "marginal", "-o", "pipe", "-q")
            self.assertIn(b"marginal", reader.communicate(timeout=60)[0])
        self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))

    def test_places_that_cannot_be_written(self):
        self.data(sequences=20, events=8)
        args = ["compare", "data", "--models", "marginal"]
        self.smurf(*args, "-q")
        self.refuse(*args, "--report", "nowhere/page.html", "-o", "/dev/null", "-q", says="nowhere/page.html")
        [result] = self.files(".json")
        cell = os.path.dirname(result)
        shutil.rmtree(self.path(cell))
        self.write(cell, "")
        self.refuse(*args, says=f"naive laws: cannot write '{cell}/lock': Not a directory")

    def test_no_process_can_be_started(self):
        self.smurf("simulate", "hawkes", "-n", "20", "--events", "8", "-o", "a.csv", "-q")
        os.mkdir(self.path("runs"))
        self.refuse("compare", "a.csv", "--models", "marginal", "--runs", "runs", says="cannot start a process: Too many open files",
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4)))

    def test_a_cell_that_fails_leaves_the_others(self):
        self.data()
        r = self.run_smurf("compare", "data", *SMALL, "--models", "default:scale=log,default:scale=mean", "--epochs", "1", "-q", "--set",
                           "sampler-steps=2", "--sampler", "mirror", "--draws", "2")
        self.assertEqual((r.status, r.out), (1, ""))
        self.assertRegex(r.err, r"^smurf: default:scale=log seed 1: mirror works on ln gap.*\n$")
        self.assertEqual([f.split("/")[1].split("-")[0] for f in self.files(".json")], ["default_scale_mean", "naive"])


if __name__ == "__main__":
    unittest.main()
