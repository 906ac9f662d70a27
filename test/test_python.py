"""The Python package: logs, models, forecasts, and numbers equal to the command's."""

import contextlib
import json
import pickle
import unittest

from python_case import TICKETS, Case, command, rows

try:
    import numpy as np
    import pandas as pd

    import smurf
except ImportError:
    pass  # Case skips


class Logs(Case):
    def test_what_a_log_holds(self):
        info, told = self.log.info(), json.loads(command("info", TICKETS, "--json"))[0]
        self.assertEqual((info["sequences"], info["events"], info["gaps"]), (told["sequences"], told["events"], told["scored"]))
        self.assertEqual(list(info["types"].items()), list(zip(told["type_names"], told["type_count"])))
        self.assertEqual(list(info["gap"].values()), told["gap"])
        self.assertEqual(info["first"], pd.Timestamp(told["earliest"]))
        self.assertEqual(self.log.reading, told["reading"]["text"])
        self.assertEqual(self.log.observed_until, pd.Timestamp(told["observed_until"]))
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

    def test_ends_of_observation(self):
        self.assertEqual(smurf.read(TICKETS, observed_until="2026-07-01").observed_until, pd.Timestamp("2026-07-01", tz="UTC"))
        self.assertIsNone(smurf.read(TICKETS, observed_until=False).observed_until)
        df = pd.read_csv(TICKETS)
        self.assertEqual(smurf.from_pandas(df).observed_until, self.log.observed_until)
        with self.assertRaisesRegex(smurf.ArgumentError, "before the last event"):
            smurf.from_pandas(df, observed_until="2020-01-01")
        ends = smurf.from_arrays([0.0, 1.0, 0.0], sequence=["x", "x", "y"], end=[5.0, 7.0])
        self.assertEqual([(s.start, s.end) for s, _, _ in ends._views()][0][1], 5)
        dates = smurf.from_arrays(pd.to_datetime(["2026-01-01", "2026-01-02"]), end="2026-01-03")
        self.assertEqual(next(dates._views())[0].end + next(dates._views())[0].origin, pd.Timestamp("2026-01-03").timestamp())

    def test_arrays_are_not_copied_where_nobody_writes(self):
        time = np.arange(1000.0)
        time.flags.writeable = False
        sequence, kinds = np.repeat([1, 2], 500), np.tile([0, 1], 500)
        lent = smurf.from_arrays(time, type=kinds, sequence=sequence, types=["a", "b"])
        self.assertTrue(np.shares_memory(next(lent._views())[1], time))
        again = lent.window(10)
        del lent
        self.assertEqual(again.gaps, 998)
        own = np.arange(1000.0)
        copied = smurf.from_arrays(own, sequence=sequence)
        own[:] = 7
        self.assertEqual(copied.info()["gap_mean"], 1)
        mixed = smurf.from_arrays(time, sequence=np.tile([1, 2], 500))
        self.assertEqual(mixed.to_pandas()["time"].tolist()[:3], [0, 2, 4])

    def test_rounded_times_are_spread(self):
        whole = smurf.from_arrays(np.cumsum(np.arange(200) % 3))
        self.assertEqual((whole.info()["tick"], whole.dither().info()["ties"]), (1, 0))
        with self.assertRaisesRegex(smurf.ArgumentError, "no clock tick"):
            smurf.simulate("exponential", sequences=2, events=50).dither()

    def test_dicts_there_and_back(self):
        given = [{"time_since_start": [0.0, 1.0, 4.0], "type_event": [0, 2, 1], "dim_process": 3},
                 {"time_since_start": [0.0, 0.5], "type_event": [1, 1], "dim_process": 3}]
        log = smurf.from_dicts(given)
        back = log.to_dicts()
        for one, other in zip(given, back):
            for key in one:
                self.assertEqual(one[key], other[key])
        self.assertEqual(back[0]["time_since_last_event"], [0.0, 1.0, 3.0])
        self.assertEqual([one["seq_idx"] for one in back], [0, 1])
        columns = {key: [one[key] for one in given] for key in given[0]}  # as datasets.Dataset[:] has them
        self.assertEqual(smurf.from_dicts(columns).to_dicts(), back)
        self.assertEqual(smurf.from_dicts(pd.DataFrame(given).to_dict("records")).to_dicts(), back)
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
        pieces = smurf._sql._rows("select * from tickets", base, most=100)
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


class Command(Case):

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

    def test_questions_are_answered_as_by_the_command(self):
        self.test.write(self.at / "few.csv")
        few = smurf.read(self.at / "few.csv")
        cases = [
            (["--interval", "0.8", "--one-sided"], {"levels": [0.8], "one_sided": True}, {"low80": "low_0.8", "high80": "high_0.8"}),
            (["--silence", "1d", "--top", "5"], {"silence": "1d", "top": 5}, {"median": "median", "p_type5": "share_5"}),
            (["--now", "2026-06-01", "--within", "2d"], {"now": "2026-06-01", "within": pd.Timedelta("2d")}, {"p_within_2 days 00:00:00": "within_172800"}),
            (["--next", "closed", "--paths", "20", "--within", "1h"], {"next": "closed", "paths": 20, "within": "1h"},
             {"next_seen": "target_seen", "next_median": "target_median", "next_low90": "target_low_0.9", "p_next_within_1h": "target_within_3600"}),
            (["--conformal"], {"conformal": True}, {"conformal_low90": "conformal_low_0.9", "conformal_high90": "conformal_high_0.9"}),
            (["--every", "3", "--history", "4"], {"every": 3, "history": 4}, {"events": "events", "mean": "mean"}),
            (["--no-recalibrate"], {"recalibrate": False}, {"mean": "mean"}),
        ]
        for options, asked, names in cases:
            with self.subTest(" ".join(options)):
                said, df = rows(command("predict", self.path, self.at / "few.csv", "--format", "csv", *options)), self.model.forecast(few, **asked).df
                self.assertEqual(df["sequence"].tolist(), [row["sequence"] for row in said])
                for ours, theirs in names.items():
                    np.testing.assert_allclose(df[ours], [float(row[theirs]) for row in said], rtol=1e-8, err_msg=ours)
                self.assertEqual(df["from"].dt.round("s").tolist(), [pd.Timestamp(row["from"]).round("s") for row in said])

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
        for ours, theirs in (("gap", "gap"), ("pit", "pit"), ("log_density", "log_density"), ("type_p", "type_p")):
            np.testing.assert_allclose(df[ours], [float(row[theirs]) for row in said], rtol=1e-7, atol=1e-12)
        self.assertEqual(df["type"].tolist(), [row["type"] for row in said])

    def test_overdue_is_that_of_the_command(self):
        for options, asked in (([], {}), (["--now", "2026-06-01", "--level", "0.5"], {"now": "2026-06-01", "level": 0.5})):
            said, df = rows(command("overdue", self.path, TICKETS, "--format", "csv", "--top", "0", *options)), self.model.overdue(self.log, **asked)
            self.assertEqual(df["sequence"].tolist(), [row["sequence"] for row in said])
            self.assertEqual(df["type"].tolist(), [row["type"] for row in said])
            for ours, theirs in (("silence", "silence"), ("expected", "expected"), ("probability", "p")):
                np.testing.assert_allclose(df[ours], [float(row[theirs]) for row in said], rtol=1e-8, atol=1e-12)
        with self.assertRaisesRegex(smurf.ArgumentError, "has an event after now"):
            self.model.overdue(self.log, "2026-01-01")

    def test_comparisons_are_those_of_the_command(self):
        command("simulate", "exponential", "mean=2", "-n", "40", "--events", "12", "-o", self.at / "simulated")
        parts = smurf.read(self.at / "simulated")
        said = json.loads(command("compare", self.at / "simulated", "--models", "default:layers=1,thp", "--epochs", "1", "--seeds", "2", "--set",
                                  "width=16", "--process", "exponential mean=2", "--format", "json", "--threads", "1", "-q"))
        c = smurf.compare(*parts, models="default:layers=1,thp", epochs=1, seeds=2, width=16, process=smurf.Process("exponential", mean=2), threads=1)
        self.assertEqual(c.df["runs"].tolist(), [row["runs"] for row in said["rows"]])
        for (name, ours), row in zip(c.df.iterrows(), said["rows"]):
            self.assertIn(row["model"], name)
            for metric in ("cs", "crps", "log_likelihood", "skill"):
                self.assertAlmostEqual(ours[metric], row["mean"][metric], 7, (name, metric))
            if row["runs"] > 1:
                self.assertAlmostEqual(c.sd.loc[name, "crps"], row["sd"]["crps"], 7)
        self.assertEqual(len(c.runs), 4 + 1 + 2)
        self.assertIn("CRPS", c.best)
        c.report(self.at / "compared.html")
        self.assertIn("naive: recent", (self.at / "compared.html").read_text())
        self.assertIn("naive: recent", repr(c))
        self.assertIn("<table", c._repr_html_())
        named = smurf.compare(*parts, models={"small": {"width": 16}}, epochs=1, threads=1)
        self.assertEqual(named.df.index[0], "small")
        with self.assertRaisesRegex(smurf.ArgumentError, "unknown model 'nothing'"):
            smurf.compare(*parts, models=["nothing"])

    def test_simulations_are_those_of_the_command(self):
        command("simulate", "hawkes", "base=0.3", "-n", "5", "--until", "20", "--seed", "4", "-o", self.at / "h.jsonl")
        ours = smurf.simulate("hawkes", base=0.3, sequences=5, until=20, seed=4)
        self.assertEqual([one["time_since_start"] for one in ours.to_dicts()], [one["time_since_start"] for one in smurf.read(self.at / "h.jsonl").to_dicts()])

    def test_samples(self):
        df = self.model.sample(self.test, events=4, paths=3, seed=5)
        self.assertEqual(df.groupby(["sequence", "path"]).size().max(), 4)
        self.assertTrue((df["gap"] >= 0).all())
        pd.testing.assert_frame_equal(df, self.model.sample(self.test, events=4, paths=3, seed=5))
        with self.assertRaisesRegex(smurf.ArgumentError, "until="):
            self.model.sample(self.test)
        said = [json.loads(line) for line in command("sample", self.path, TICKETS, "--show-paths", "--paths", "2", "--count", "3").splitlines()]
        ours = self.model.sample(self.log, events=3, paths=2)
        for (name, path), drawn in zip(ours.groupby(["sequence", "path"], sort=False), (one for one in said if one["type"])):
            self.assertEqual(name, (drawn["sequence"], drawn["path"]))
            np.testing.assert_allclose(path["gap"].cumsum(), drawn["time_since_last"], rtol=1e-8)
            self.assertEqual(path["type"].tolist(), drawn["type"])
        ends = self.model.sample(self.test, events=40, paths=8, stop_at="closed", silence="1h", sequences=[0])
        for _, path in ends.groupby("path"):
            self.assertNotIn("closed", path["type"].tolist()[:-1])
            self.assertTrue(path["type"].iloc[-1] == "closed" or len(path) == 40)
            self.assertGreater(path["gap"].iloc[0], 3600)
        last = self.model.forecast(self.log).df.set_index("sequence")["last"]
        first = ours[ours["step"] == 1]
        since = pd.DatetimeIndex(first["time"]) - pd.DatetimeIndex(last[first["sequence"]])
        self.assertLess(np.abs(since - pd.to_timedelta(first["gap"], unit="s")).max(), pd.Timedelta("1us"))


class Laws(Case):
    """Of a model whose sequences do not end, but for one test."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ending = cls.model
        cls.model = smurf.fit(cls.train, cls.dev, epochs=2, threads=1, ending=False)

    def test_sequences_that_end(self):
        few = self.ending.forecast(self.log, within=["1h"])
        law, live = self.ending.law(self.log, "T018"), self.ending.live()
        never = few.df.set_index("sequence").loc["T018", "never"]
        self.assertTrue(few["never"].between(0, 1).all())
        self.assertAlmostEqual(law.cdf(float("inf")), 1 - never, 6)
        live.append("x", "2026-05-04 09:00", "closed")
        self.assertTrue(0 <= live.forecast("x")["never"] <= 1)
        few.plot()
        self.assertNotIn("never", self.model.forecast(self.test).df)

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

    def test_further_columns(self):
        """From a table or a packed file to forecasts, whole and event by event; the command has the same."""
        path, packed = self.at / "orders.csv", self.at / "orders.smurf"
        rows = [(f"c{s}", s + i * 1.5 + (i * 7919 % 13) / 10, "xy"[i % 2], i % 5 if i % 4 else None, "north" if i % 3 else "south")
                for s in range(12) for i in range(20)]
        df = pd.DataFrame(rows, columns=["customer", "time", "type", "amount", "region"])
        df.to_csv(path, index=False)
        features = ["amount=number", "region"]
        command("convert", path, packed, "--features", ",".join(features), "-q")
        log = smurf.read(path, features=features)
        self.assertEqual((log.features, smurf.read(packed).features), (["amount", "region"], ["amount", "region"]))
        self.assertEqual((smurf.read(path).features, smurf.read(packed, features=["region"]).features), ([], ["region"]))
        model = smurf.fit(log, epochs=20, threads=1)
        found = model.forecast(smurf.read(path, like=model)).df.set_index("sequence")
        self.assertEqual(list(found["median"]), list(model.forecast(smurf.read(packed)).df["median"]))
        model.save(self.at / "orders.safetensors")
        out = command("predict", self.at / "orders.safetensors", path, "--format", "jsonl", "-q").splitlines()
        self.assertAlmostEqual(json.loads(out[0])["median"] / found["median"].iloc[0], 1, 5)
        live, other = model.live(), model.live()
        for e in df[df["customer"] == "c3"].itertuples():
            live.append("c3", e.time, e.type, {"amount": e.amount, "region": e.region})  # NaN: missing
            other.append("c3", e.time, e.type, {"region": "mars"})
        self.assertAlmostEqual(live.forecast("c3")["median"] / found.loc["c3", "median"], 1, 4)
        self.assertNotEqual(live.forecast("c3")["mean"], other.forecast("c3")["mean"])
        for wrong, says in ((None, "the model sees further columns: give features={'amount'"), ({"colour": 1}, "no further column 'colour'"),
                            ({"amount": "much"}, "'amount' holds numbers, not 'much'")):
            with self.assertRaisesRegex(smurf.ArgumentError, says):
                live.append("c3", 99, "x", wrong)
        with self.assertRaisesRegex(smurf.ArgumentError, "no further column 'amount': it sees none"):
            self.model.live().append("T1", "2026-05-04", "opened", {"amount": 1})
        with self.assertRaisesRegex(smurf.InputError, "no column 'colour'"):
            smurf.read(path, features=["colour"])
        with self.assertRaisesRegex(smurf.InputError, "it has no further column 'amount'"):
            model.forecast(smurf.from_pandas(df, time="time", type="type", sequence="customer"))

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
        self.assertEqual(pickle.loads(pickle.dumps(live)).forecast("T018"), found)
        asked = {"within": ["1h", "1d"], "silence": "2h", "top": None, "next": "closed", "paths": 20}
        at_end, ours = self.model.forecast(self.log, **asked).df.set_index("sequence").loc["T018"], live.forecast("T018", **asked)
        self.assertEqual(set(ours) - {"sequence"}, {name for name in at_end.index if not name.startswith("at_")})
        for name, value in ours.items():
            if isinstance(value, float):
                self.assertAlmostEqual(value, at_end[name], delta=1e-3 * abs(value) + 0.051, msg=name)
        again.append("T018", "2026-04-01T00:00Z", "never heard of")
        self.assertEqual(again.forecast("T018")["events"], found["events"] + 1)
        self.assertEqual((len(live), list(live), "T018" in live, "x" in live), (1, ["T018"], True, False))
        live.forget("T018")
        with self.assertRaisesRegex(KeyError, "append its first event"):
            live.forecast("T018")
        with self.assertRaisesRegex(smurf.ArgumentError, "before"):
            again.append("T018", "2020-01-01", "closed")

    def test_surprises(self):
        live = self.model.live()
        live.append("ann", "2026-05-04 09:00", "opened")
        law = live.law("ann")
        found = live.surprise("ann", "2026-05-04 10:00", "assigned")
        self.assertEqual(found["gap"], 3600)
        self.assertTrue(law.cdf(3599.0) <= found["pit"] <= law.cdf(3600.5))
        self.assertAlmostEqual(found["type_share"], law.types(after=3600.0)["assigned"], 2)
        self.assertTrue(np.isnan(live.surprise("ann", "2026-05-04 10:00", "never heard of")["type_share"]))
        self.assertEqual(live.forecast("ann")["events"], 1)
        with self.assertRaisesRegex(smurf.ArgumentError, "before"):
            live.surprise("ann", "2026-05-04 08:00")

    def test_law_of_a_history(self):
        times = ["2026-03-01T10:00Z", "2026-03-01T11:00Z"]
        law, live = smurf.law(self.model, times, ["opened", "assigned"]), self.model.live()
        for when, kind in zip(times, ("opened", "assigned")):
            live.append("x", when, kind)
        self.assertAlmostEqual(law.median / live.law("x").median, 1, 5)
        numbers = smurf.law(self.model, times, [self.model.types.index("opened"), self.model.types.index("assigned")])
        self.assertEqual(numbers.median, law.median)
        self.assertEqual(smurf.law(self.model, self.log).median, self.model.law(self.log).median)
        share = law.types()
        self.assertAlmostEqual(share.sum(), 1, 6)
        self.assertEqual(list(share.index), self.model.types)
        self.assertAlmostEqual(law.types(after=3600.0).sum(), 1, 6)
        self.assertEqual(law.conformal(0.9)[0], 0)
        self.assertIn("median", repr(law))
        self.assertIn("<table>", law._repr_html_())

    def test_true_laws(self):
        for name, given in (("hawkes", {"base": 0.2, "excitation": 0.5, "decay": 2.0}), ("gamma", {}), ("self-correcting", {})):
            if name not in smurf.processes():
                continue
            p = smurf.Process(name, **given)
            law = p.law(p.simulate(sequences=1, events=5, seed=2))
            level = np.array([0.01, 0.5, 0.9, 0.999])
            np.testing.assert_allclose(law.cdf(law.quantile(level)), level, rtol=1e-9)
            x = np.linspace(0, law.quantile(1 - 1e-9), 200001)
            np.testing.assert_allclose(law.mean, np.trapz(1 - law.cdf(x), x), rtol=1e-4)
            draws = law.sample(4000, seed=5)
            self.assertLess(abs(np.mean(draws <= law.median) - 0.5), 0.03)
            self.assertEqual(draws.tolist(), law.sample(4000, seed=5).tolist())
            self.assertEqual(law.pdf(np.ones((2, 3))).shape, (2, 3))
            self.assertIn("TrueLaw median", repr(law))
        self.assertEqual(smurf.Process("exponential", mean=4.0).rates.tolist(), [0.25])


class Models(Case):

    def test_models_travel(self):
        again = pickle.loads(pickle.dumps(self.model))
        self.assertEqual(again.to_bytes(), self.model.to_bytes())
        self.assertEqual(smurf.load(self.path).to_bytes(), self.model.to_bytes())
        self.assertEqual(again.forecast(self.test).df["median"].tolist(), self.model.forecast(self.test).df["median"].tolist())
        self.assertEqual(self.model.types, self.log.types)
        self.assertEqual(self.model.settings["epochs"], "3")
        self.assertIn("weights", repr(self.model))
        self.assertIn("<table>", self.model._repr_html_())

    def test_small_things(self):
        self.assertEqual((self.log.unit, self.model.unit, smurf.duration(7200, "s")), ("s", "s", "2 h"))
        self.assertIn("tickets.csv", self.log.source)
        self.assertIsNone(self.model.calibration)
        self.assertTrue(self.model.pool is None or set(self.model.pool) >= {"law", "weight", "gain"})
        self.assertEqual(smurf.fit(self.train, self.dev, epochs=1, threads=1, recalibrate=True).calibration["sequences"] > 5, True)
        self.assertEqual(smurf.Model.from_bytes(self.model.to_bytes()).types, self.model.types)
        fewer = smurf.from_arrays([0.0, 1.0], type=["reply", "closed"])
        self.assertEqual(self.model.match(fewer).types, self.model.types)
        e = self.model.evaluate(self.test, self.train, bootstrap=50, sampler="langevin", draws=10, steps=5)
        self.assertEqual(set(e.skill), {"naive", "value", "low", "high"})
        self.assertGreater(e.recency, 0)
        low, high = e.interval("crps")
        self.assertTrue(low < e["crps"] < high)
        self.assertIn("draws", e.df.index)
        self.assertIsNone(self.model.evaluate(self.test).skill)
        self.assertIn("langevin", smurf.samplers())
        p = smurf.Process("hawkes", types=1)
        for shown in (p, self.model.live(), e, self.model.law(self.log)):
            self.assertIn("<table", shown._repr_html_())
        again, log = pickle.loads(pickle.dumps(p)), p.simulate(sequences=1, until=20, seed=2)
        x = np.linspace(0, 5, 9)
        np.testing.assert_allclose(np.exp(-p.law(log).compensator(x)), 1 - again.law(log).cdf(x))
        np.testing.assert_allclose(p.law(log).intensity(x) * (1 - p.law(log).cdf(x)), p.law(log).pdf(x))
        for kind in (smurf.UnsupportedError, smurf.IOFailure):
            self.assertTrue(issubclass(kind, smurf.SmurfError))

    def test_training_as_the_command_does(self):
        command("train", TICKETS, "-o", self.at / "theirs.safetensors", "--epochs", "3", "--threads", "1", "--quiet")
        self.assertEqual(smurf.load(self.at / "theirs.safetensors").to_bytes(), self.model.to_bytes())
        said = json.loads(command("eval", self.path, TICKETS, "--json"))  # splits the log as training did
        self.assertAlmostEqual(self.model.evaluate(self.test)["crps"], said["crps"], 9)

    def test_without_dev(self):
        self.assertEqual(smurf.fit(self.train, epochs=1, threads=1).types, self.log.types)
        one = smurf.from_arrays(np.cumsum(np.random.default_rng(1).exponential(size=300)))
        self.assertGreater(smurf.fit(one, epochs=1, threads=1).forecast(one).df["median"][0], 0)

    def test_presets_and_settings(self):
        self.assertIn("thp", smurf.presets())
        model = smurf.fit(self.train, self.dev, preset="thp", epochs=1, threads=1, save_every="1h", checkpoint=self.at / "thp")
        self.assertEqual(model.settings["epochs"], "1")
        trials = smurf.fit(self.train, self.dev, objective="dsm", sigma="auto", epochs=1, width=8, threads=1)
        self.assertIn(float(trials.settings["sigma"]), (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0))
        self.assertTrue(self.model.trained_on(self.train))
        self.assertFalse(self.model.trained_on(self.test))
        with self.assertWarnsRegex(smurf.Remark, "trained on this log"):
            self.model.evaluate(self.train)

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


if __name__ == "__main__":
    unittest.main()
