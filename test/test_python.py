"""The Python package: every function, numbers equal to the command's, threads, leaks, interrupts, pickles, messages."""

import contextlib
import csv
import doctest
import importlib
import io
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

BUILD, ROOT = pathlib.Path(os.environ["SMURF_BUILD"]), pathlib.Path(os.environ["SMURF_ROOT"])
os.environ["SMURF_LIBRARY"] = str(BUILD / "src" / "libsmurf.so.0")
os.environ["MPLBACKEND"] = "agg"
sys.path.insert(0, str(BUILD / "python"))
try:
    import numpy as np
    import pandas as pd

    import smurf
    MISSING = None
except ImportError as error:
    MISSING = f"the Python package cannot be used here: {error}"

TICKETS = ROOT / "examples" / "tickets.csv"
MODULES = ("_log", "_model", "_forecast", "_law", "_evaluate", "_estimator")


def command(*arguments):
    done = subprocess.run([os.environ["SMURF"], *map(str, arguments)], capture_output=True, check=True, text=True)
    return done.stdout


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


@unittest.skipIf(MISSING, MISSING)
class Python(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.at = pathlib.Path(cls.folder.name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cls.log = smurf.read(TICKETS)
            cls.train, cls.dev, cls.test = cls.log.split()
            cls.model = smurf.fit(cls.train, cls.dev, epochs=3, threads=1)
        cls.path = cls.at / "model.safetensors"
        cls.model.save(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    # ---- Logs ----

    def test_examples_in_docstrings(self):
        for name in MODULES:
            module = importlib.import_module(f"smurf.{name}")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = doctest.testmod(module)
            self.assertEqual(found.failed, 0, name)

    def test_what_a_log_holds(self):
        info, told = self.log.info(), json.loads(command("info", TICKETS, "--json"))[0]
        self.assertEqual((info["sequences"], info["events"], info["gaps"]), (told["sequences"], told["events"], told["scored"]))
        self.assertEqual(list(info["types"].items()), list(zip(told["type_names"], told["type_count"])))
        self.assertEqual(list(info["gap"].values()), told["gap"])
        self.assertEqual(info["first"], pd.Timestamp(told["earliest"]))
        self.assertEqual(self.log.reading, told["reading"]["text"])
        self.assertIn("1,561 events of 5 types in 200 sequences", repr(self.log))
        self.assertIn("<table>", self.log._repr_html_())

    def test_frames_there_and_back(self):
        df = self.log.to_pandas()
        self.assertEqual(list(df.columns), ["sequence", "time", "type"])
        self.assertEqual(len(df), self.log.events)
        again = smurf.from_pandas(df).to_pandas()
        pd.testing.assert_frame_equal(df, again)

    def test_columns_of_frames_are_found(self):
        df = pd.read_csv(TICKETS)
        guessed = smurf.from_pandas(df)
        self.assertEqual(guessed.events, self.log.events)
        self.assertEqual(guessed.sequences, self.log.sequences)
        self.assertTrue(guessed.is_calendar)
        named = smurf.from_pandas(df.rename(columns={"case": "x", "time": "y", "event": "z"}), time="y", sequence="x", type="z")
        self.assertEqual(named.to_pandas()["type"].tolist(), guessed.to_pandas()["type"].tolist())
        self.assertEqual(smurf.from_pandas(df, sequence="", type="", time="time").types, ["0"])

    def test_times_of_frames(self):
        utc = pd.to_datetime(["2026-03-01 10:00", "2026-03-01 12:00"], utc=True)
        for time in (utc, utc.tz_convert("Europe/Berlin"), utc.tz_localize(None), ["2026-03-01T10:00Z", "2026-03-01T12:00Z"],
                     utc.values, utc.astype("datetime64[ns, UTC]")):
            log = smurf.from_arrays(time)
            self.assertEqual(log.to_pandas()["time"].tolist(), list(utc))
            self.assertEqual(log.info()["gap_mean"], 7200)
        self.assertEqual(smurf.from_arrays([1, 2, 4]).to_pandas()["time"].tolist(), [1.0, 2.0, 4.0])

    def test_dicts_there_and_back(self):
        given = [{"time_since_start": [0.0, 1.0, 4.0], "type_event": [0, 2, 1], "dim_process": 3},
                 {"time_since_start": [0.0, 0.5], "type_event": [1, 1], "dim_process": 3}]
        log = smurf.from_dicts(given)
        back = log.to_dicts()
        for one, other in zip(given, back):
            for key in one:
                self.assertEqual(one[key], other[key])
        self.assertEqual(back[0]["time_since_last_event"], [0.0, 1.0, 3.0])
        gaps = [{"time_since_last_event": [0.0, 1.0, 3.0], "type_event": [0, 2, 1]}]
        self.assertEqual(smurf.from_dicts(gaps).to_dicts()[0]["time_since_start"], [0.0, 1.0, 4.0])

    def test_sql(self):
        import sqlite3

        base = sqlite3.connect(":memory:")
        pd.read_csv(TICKETS).to_sql("tickets", base, index=False)
        log = smurf.from_sql("select * from tickets", base)
        self.assertEqual((log.events, len(log)), (self.log.events, len(self.log)))
        self.assertEqual(log.to_pandas().shape, self.log.to_pandas().shape)
        with self.assertRaisesRegex(smurf.InputError, "no event below it"):
            smurf.from_sql("select * from tickets where 0", base)
        pieces = smurf._log._rows("select * from tickets", base, most=100)
        pd.testing.assert_frame_equal(pieces, pd.read_sql("select * from tickets", base))

    def test_databases(self):
        import sqlite3

        path = self.at / "tickets.db"
        with contextlib.closing(sqlite3.connect(path)) as base:
            pd.read_csv(TICKETS).to_sql("tickets", base, index=False)
            pd.read_csv(TICKETS).to_sql("more", base, index=False)
        for log in (smurf.read(path, table="tickets"), smurf.read(path, query="select * from tickets"),
                    smurf.from_sql("select * from tickets", path), smurf.from_sql("select * from tickets", str(path), type="event")):
            pd.testing.assert_frame_equal(log.to_pandas(), self.log.to_pandas())
        with self.assertRaisesRegex(smurf.InputError, "2 tables: name one"):
            smurf.read(path)
        with self.assertRaises(smurf.InputError) as caught:
            smurf.from_sql("select nope from tickets", path)
        self.assertEqual(caught.exception.file, str(path))
        with self.assertRaises(smurf.IOFailure) as caught:
            smurf.from_sql("select 1", "postgresql://u:secret@%2Fnowhere/db")
        self.assertNotIn("secret", str(caught.exception))

    def test_files_there_and_back(self):
        self.log.write(self.at / "log.jsonl.gz")
        self.assertEqual(smurf.read(self.at / "log.jsonl.gz").events, self.log.events)
        self.log.write(self.at / "log.x", format="csv")
        self.assertEqual(smurf.read(self.at / "log.x").to_pandas().shape, self.log.to_pandas().shape)

    def test_parts(self):
        self.assertEqual(len(self.train) + len(self.dev) + len(self.test), len(self.log))
        train, dev, test = self.log.split_at("2026-04-01", pd.Timestamp("2026-04-15"))
        self.assertEqual(train.gaps + dev.gaps + test.gaps, self.log.gaps)
        self.assertGreater(len(self.log.window(2, history=3)), len(self.log))

    def test_simulation_has_its_true_law(self):
        p = smurf.Process("hawkes", types=2, base=[0.2, 0.1], excitation=[0.3, 0.1, 0.2, 0.1], decay=2.0)
        log = p.simulate(sequences=4, until=50, seed=3)
        law = p.law(log, 0)
        x = np.linspace(0.1, 5, 7)
        self.assertTrue(np.all(np.diff(law.cdf(x)) > 0))
        self.assertAlmostEqual(float(np.trapz(law.pdf(np.linspace(0, 80, 20001)), dx=0.004)), law.cdf(80.0), 3)
        self.assertIn("hawkes", smurf.processes())
        self.assertIn("decay", smurf.processes()["hawkes"][1])

    # ---- Numbers of the command ----

    def test_forecasts_are_those_of_the_command(self):
        said = rows(command("predict", self.path, TICKETS, "--format", "csv", "--within", "1h"))
        f = self.model.forecast(self.log, within=["1h"])
        df = f.df
        self.assertEqual(df["sequence"].tolist(), [row["sequence"] for row in said])
        for ours, theirs in (("median", "median"), ("mean", "mean"), ("low50", "low_0.5"), ("high90", "high_0.9"), ("p_within_1h", "within_3600"),
                             ("p_type1", "share_1")):
            np.testing.assert_allclose(df[ours], [float(row[theirs]) for row in said], rtol=1e-8)
        self.assertEqual(df["type1"].tolist(), [row["type_1"] for row in said])
        self.assertEqual(df["at"].dt.round("s").tolist(), [pd.Timestamp(row["median_time"]) for row in said])
        self.assertEqual(len(f), len(self.log))
        self.assertIn("[200 rows", repr(f))
        self.assertIn("<table", f._repr_html_())

    def test_questions(self):
        few = self.test
        every = self.model.forecast(few, every=1, threads=1)
        self.assertGreater(len(every), len(few))
        late = self.model.forecast(few, silence="1d", top=None).df
        self.assertTrue((late["p_type5"] >= 0).all())
        now = self.model.forecast(few, now="2026-06-01", levels=[0.8]).df
        self.assertTrue((now["from"] == pd.Timestamp("2026-06-01", tz="UTC")).all())
        coming = self.model.forecast(few, next="closed", paths=20).df
        self.assertTrue(((coming["next_seen"] >= 0) & (coming["next_seen"] <= 1)).all())
        self.assertIn("conformal_high90", self.model.forecast(few, conformal=True).df)

    def test_evaluations_are_those_of_the_command(self):
        self.test.write(self.at / "test.jsonl")
        self.train.write(self.at / "train.jsonl")
        said = json.loads(command("eval", self.path, self.at / "test.jsonl", "--train", self.at / "train.jsonl", "--json"))
        e = self.model.evaluate(smurf.read(self.at / "test.jsonl"), smurf.read(self.at / "train.jsonl"))
        for name in ("cs", "crps", "log_likelihood", "acc"):
            self.assertAlmostEqual(e[name], said[name], 9)
            self.assertEqual(e.df.loc["model", name], e[name])
        self.assertAlmostEqual(e.markov, said["acc_markov"], 9)
        self.assertIn("recent", e.df.index)
        self.assertEqual(len(e.coverage), 19)
        e.report(self.at / "page.html")
        self.assertIn("</html>", (self.at / "page.html").read_text())
        self.assertIn("crps", repr(e))
        self.assertIn("crps", smurf.metrics())

    def test_scores_are_those_of_the_command(self):
        self.test.write(self.at / "test.csv", format="csv")
        said = rows(command("score", self.path, self.at / "test.csv"))
        df = self.model.score(smurf.read(self.at / "test.csv"))
        self.assertEqual(len(df), len(said))
        for ours, theirs in (("gap", "gap"), ("pit", "pit"), ("log_density", "log_density"), ("type_share", "type_p")):
            np.testing.assert_allclose(df[ours], [float(row[theirs]) for row in said], rtol=1e-7, atol=1e-12)
        self.assertEqual(df["type"].tolist(), [row["type"] for row in said])

    def test_overdue_is_that_of_the_command(self):
        said = rows(command("overdue", self.path, TICKETS, "--format", "csv", "--top", "0"))
        df = self.model.overdue(self.log)
        found = df.set_index("sequence")
        for row in said:
            self.assertAlmostEqual(found.loc[row["sequence"], "silence"], float(row["silence"]), 3)
        self.assertTrue(df["probability"].is_monotonic_increasing)

    def test_samples(self):
        df = self.model.sample(self.test, events=4, paths=3, seed=5)
        self.assertEqual(df.groupby(["sequence", "path"]).size().max(), 4)
        self.assertTrue((df["gap"] >= 0).all())
        pd.testing.assert_frame_equal(df, self.model.sample(self.test, events=4, paths=3, seed=5))
        with self.assertRaisesRegex(smurf.ArgumentError, "until="):
            self.model.sample(self.test)

    # ---- Laws, live ----

    def test_laws(self):
        law = self.model.law(self.log, "T018")
        q = law.quantile([0.1, 0.5, 0.9])
        np.testing.assert_allclose(law.cdf(q), [0.1, 0.5, 0.9], atol=1e-6)
        self.assertAlmostEqual(law.median, q[1])
        self.assertIsInstance(law.cdf(10.0), float)
        self.assertEqual(law.sample(5, seed=3).tolist(), law.sample(5, seed=3).tolist())
        grid = np.linspace(0, q[2], 4001)
        self.assertAlmostEqual(float(np.trapz(law.pdf(grid), grid)), 0.9 - law.cdf(0.0), 2)
        self.assertLess(law.interval()[0], law.mean)
        with self.assertRaises(KeyError):
            self.model.law(self.log, "nobody")

    def test_live_forecasts_are_those_of_the_log(self):
        live, df = self.model.live(), self.log.to_pandas()
        for event in df[df["sequence"] == "T018"].itertuples():
            live.append("T018", event.time, event.type)
        found, whole = live.forecast("T018", levels=[0.5, 0.9]), self.model.forecast(self.log).df.set_index("sequence").loc["T018"]
        self.assertEqual((found["type1"], found["last"]), (whole["type1"], whole["last"]))
        for name in ("median", "low90", "high90", "p_type1"):
            self.assertAlmostEqual(found[name] / whole[name], 1, 4, name)  # rounding: events one by one, and at once
        again = smurf.Live.restore(self.model, live.save())
        self.assertEqual(again.forecast("T018"), found)
        again.append("T018", "2026-04-01T00:00Z", "never heard of")
        self.assertEqual(again.forecast("T018")["events"], found["events"] + 1)
        self.assertEqual((len(live), list(live), "T018" in live, "x" in live), (1, ["T018"], True, False))
        live.forget("T018")
        with self.assertRaisesRegex(KeyError, "append its first event"):
            live.forecast("T018")
        with self.assertRaisesRegex(smurf.ArgumentError, "before"):
            again.append("T018", "2020-01-01", "closed")

    def test_law_of_a_history(self):
        law = smurf.law(self.model, ["2026-03-01T10:00Z", "2026-03-01T11:00Z"], ["opened", "assigned"])
        self.assertGreater(law.median, 0)

    # ---- Models ----

    def test_models_travel(self):
        again = pickle.loads(pickle.dumps(self.model))
        self.assertEqual(again.to_bytes(), self.model.to_bytes())
        self.assertEqual(smurf.load(self.path).to_bytes(), self.model.to_bytes())
        self.assertEqual(again.forecast(self.test).df["median"].tolist(), self.model.forecast(self.test).df["median"].tolist())
        self.assertEqual(self.model.types, self.log.types)
        self.assertEqual(self.model.settings["epochs"], "3")
        self.assertIn("weights", repr(self.model))
        self.assertIn("<table>", self.model._repr_html_())

    def test_training_as_the_command_does(self):
        command("convert", TICKETS, self.at / "parts", "--split", "8:1:1")
        command("train", self.at / "parts", "-o", self.at / "theirs.safetensors", "--epochs", "2", "--threads", "1", "--quiet")
        train, dev, _ = smurf.read(self.at / "parts")
        ours = smurf.fit(train, dev, epochs=2, threads=1)
        theirs = smurf.load(self.at / "theirs.safetensors")
        self.assertEqual(ours.forecast(self.test).df["median"].tolist(), theirs.forecast(self.test).df["median"].tolist())

    def test_callbacks(self):
        seen = []
        smurf.fit(self.train, self.dev, epochs=2, threads=1, callback=seen.append)
        self.assertEqual([epoch["epoch"] for epoch in seen], [1, 2])
        with self.assertWarns(smurf.Remark):
            stopped = smurf.fit(self.train, self.dev, epochs=9, threads=1, callback=lambda epoch: epoch["epoch"] == 2)
        self.assertIsInstance(stopped, smurf.Model)

        def fails(epoch):
            raise RuntimeError("mine")

        with self.assertRaisesRegex(RuntimeError, "mine"):
            smurf.fit(self.train, self.dev, epochs=2, threads=1, callback=fails)

    def test_a_run_is_resumed(self):
        at = self.at / "resume"
        with self.assertWarns(smurf.Remark):
            smurf.fit(self.train, self.dev, epochs=3, threads=1, checkpoint=at, callback=lambda epoch: epoch["epoch"] == 1)
        resumed = smurf.fit(self.train, self.dev, epochs=3, threads=1, checkpoint=at, resume=True)
        self.assertEqual(resumed.forecast(self.test).df["median"].tolist(), self.model.forecast(self.test).df["median"].tolist())

    def test_ctrl_c_returns_the_best_so_far(self):
        code = ("import smurf, warnings; warnings.simplefilter('ignore'); train, dev, _ = smurf.read(%r).split()\n"
                "model = smurf.fit(train, dev, epochs=100000, patience=0, threads=1, callback=lambda e: print(e['epoch'], flush=True) if e['epoch'] < 3 else None)\n"
                "print('model', model.parameters, flush=True)" % str(TICKETS))
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "PYTHONPATH": str(BUILD / "python")}) as run:
            while run.stdout.readline().strip() != "2":
                self.assertIsNone(run.poll())
            run.send_signal(2)
            out, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0, err)
        self.assertRegex(out, r"model \d+")

    def test_estimator(self):
        est = smurf.EventForecaster(epochs=1, threads=1)
        self.assertEqual(est.get_params()["epochs"], 1)
        self.assertEqual(repr(est.set_params(width=16)), "EventForecaster(epochs=1, width=16, threads=1)")
        with self.assertRaisesRegex(ValueError, "invalid parameter"):
            est.set_params(nothing=1)
        with self.assertRaisesRegex(ValueError, "not fitted"):
            est.predict(self.test)
        X = [np.arange(6) * 1.5, np.arange(9) * 0.7, np.arange(7) * 1.1, np.arange(8) * 0.9] * 5
        est.fit(X)
        self.assertEqual(est.predict(X).shape, (20,))
        self.assertLess(est.score(X), 0)
        try:
            from sklearn.base import clone
        except ImportError:
            return
        self.assertEqual(clone(est).get_params(), est.get_params())

    # ---- Errors ----

    def test_errors_by_kind(self):
        bad = self.at / "bad.csv"
        bad.write_text('time,type\n1,a\n"2,b\n')
        with self.assertRaises(smurf.InputError) as raised:
            smurf.read(bad)
        self.assertEqual((raised.exception.file, raised.exception.line), (str(bad), 3))
        with self.assertRaises(OSError):
            smurf.read(self.at / "missing.csv")
        with self.assertRaisesRegex(TypeError, "did you mean 'epochs'"):
            smurf.fit(self.train, self.dev, epoch=3)
        with self.assertRaisesRegex(smurf.ArgumentError, "width"):
            smurf.fit(self.train, self.dev, width=-1)
        with self.assertRaisesRegex(smurf.ArgumentError, "no column 'when'"):
            smurf.from_pandas(pd.read_csv(TICKETS), time="when")
        with self.assertRaisesRegex(smurf.ArgumentError, "shape"):
            smurf.from_arrays([1.0, 2.0], type=["a"])
        with self.assertRaisesRegex(smurf.ArgumentError, "no type"):
            self.model.forecast(self.test, next="nothing")
        with self.assertRaises(KeyError):
            self.model.evaluate(self.test)["nothing"]
        self.assertTrue(issubclass(smurf.InputError, smurf.SmurfError) and issubclass(smurf.InputError, ValueError))

    def test_remarks_are_warnings(self):
        with self.assertWarnsRegex(smurf.Remark, "out of order"):
            smurf.from_arrays([2.0, 1.0])
        df = pd.DataFrame({"time": [1.0, 2.0, None], "type": ["a", "b", "a"]})
        with self.assertWarnsRegex(smurf.Remark, "1 of 3 rows"):
            smurf.from_pandas(df)

    # ---- Threads, processes, memory ----

    def test_what_borrows_a_model_is_freed_before_it(self):
        import gc

        law, live = self.model.law(self.log, 0), pickle.loads(pickle.dumps(self.model)).live()
        live.append("a", "2026-03-01T10:00Z", "opened")
        wanted = live.forecast("a")["median"]
        mine = pickle.loads(pickle.dumps(self.model)).law(self.log, 0)  # nothing else holds this model
        self.assertEqual(mine.median, law.median)
        for _ in range(3):
            model = pickle.loads(pickle.dumps(self.model))
            model.mine = model.live()  # a cycle, for the collector
            model.mine.append("a", "2026-03-01T10:00Z", "opened")
            model.law_of_mine = model.mine.law("a")
            self.assertEqual(model.mine.forecast("a")["median"], wanted)
            del model
            gc.collect()
        del live, mine

    def test_threads(self):
        wanted, found = self.model.forecast(self.test).df["median"].tolist(), []
        threads = [threading.Thread(target=lambda: found.append(self.model.forecast(self.test, threads=1).df["median"].tolist())) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [wanted] * 6)

    def test_after_fork(self):
        wanted = self.model.forecast(self.test, threads=2).df["median"].tolist()
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # threads that the parent had do not exist here, and must not be waited for
            ok = self.model.forecast(self.test, threads=2).df["median"].tolist() == wanted
            smurf.fit(self.train, self.dev, epochs=1, threads=2)
            os._exit(0 if ok else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(self.model.forecast(self.test, threads=2).df["median"].tolist(), wanted)

    def test_memory_is_flat(self):
        def held():
            with open("/proc/self/status", encoding="ascii") as status:
                return int(next(line for line in status if line.startswith("VmRSS")).split()[1])

        live = self.model.live()
        live.append("a", "2026-03-01T10:00Z", "opened")
        many = 2000 if "asan" not in str(BUILD) else 200
        for _ in range(many // 4):
            _ = live.forecast("a"), self.model.law(self.log, 0).median
        before = held()
        for _ in range(many):
            _ = live.forecast("a"), self.model.law(self.log, 0).median
        self.assertLess(held() - before, 4000)  # kB

    def test_the_version_is_the_library_s(self):
        self.assertEqual(command("--version").split()[1], smurf.__version__)

    def test_pictures(self):
        figure = self.model.forecast(self.test).plot().figure
        self.model.evaluate(self.test).plot().figure.savefig(self.at / "c.png")
        figure.savefig(self.at / "f.png")
        self.assertGreater((self.at / "f.png").stat().st_size, 5000)


if __name__ == "__main__":
    unittest.main()
