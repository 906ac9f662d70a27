"""The Python package, used wrongly: errors by kind, messages that say what to do, remarks as warnings."""

import pickle
import unittest
import warnings

from python_case import TICKETS, Case, command

try:
    import numpy as np
    import pandas as pd

    import smurf
except ImportError:
    pass  # Case skips


class Errors(Case):

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

    def test_further_columns_are_missing(self):
        """A model that was trained with --features refuses logs that do not have its columns."""
        log, model = self.at / "further.csv", self.at / "further.safetensors"
        command("simulate", "covariate", "-n", "20", "--events", "8", "-o", log, "-q")
        command("train", log, "--split", "8:1:1", "--features", "x,word", "--epochs", "1", "-o", model, "-q")
        with self.assertRaisesRegex(smurf.InputError, "it has no further column 'x', which the train data has"):
            smurf.load(model).forecast(smurf.read(log, type="type"))

    def test_wrong_types_and_shapes(self):
        """Every one says what is wrong and what to do; none ends in a traceback of the package's own making."""
        dates, log, model, df = ["2026-01-01", "2026-01-02"], self.test, self.model, pd.read_csv(TICKETS)
        law, live = model.law(log), model.live()
        live.append("ann", "2026-05-04 09:00", "opened")
        wrong = [
            (r"time has shape", lambda: smurf.from_arrays(np.ones((2, 2)))),
            ("neither numbers nor dates", lambda: smurf.from_arrays(["one", "two"])),
            ("complex", lambda: smurf.from_arrays(np.array([1j, 2j]))),
            ("there are no sequences", lambda: smurf.from_arrays([])),
            (r"type has shape \(3,\), but there are 2", lambda: smurf.from_arrays(dates, type=["a", "b", "c"])),
            (r"type has shape \(\)", lambda: smurf.from_arrays(dates, type="a")),
            (r"type has shape \(2, 1\)", lambda: smurf.from_arrays(dates, type=np.ones((2, 1)))),
            ("sequence has shape", lambda: smurf.from_arrays(dates, sequence=[1])),
            ("type is missing at position 1", lambda: smurf.from_arrays(dates, type=["a", None])),
            ("sequence is missing at position 0", lambda: smurf.from_arrays(dates, sequence=[np.nan, 1])),
            ("whole numbers from 0 to 1", lambda: smurf.from_arrays(dates, type=[0.5, 1.0], types=["a", "b"])),
            ("has the number 7, but `types` names 2", lambda: smurf.from_arrays(dates, type=[0, 7], types=["a", "b"])),
            (r"end has shape \(2,\), but there are 1", lambda: smurf.from_arrays([1.0, 2.0], end=[3.0, 4.0])),
            ("event 1 of sequence 0: the time is missing", lambda: smurf.from_arrays(pd.array([1, None], dtype="Int64"))),
            ("event 1 of sequence 0: the time is missing", lambda: smurf.from_arrays(pd.to_datetime(["2026-01-01", None]))),
            ("out of order|before", lambda: smurf.from_arrays([2.0, 1.0], sort=False)),
            ("takes a DataFrame, not list", lambda: smurf.from_pandas([1, 2])),
            ("no column 'x' for type", lambda: smurf.from_pandas(df, type="x")),
            ("it needs time_since_start", lambda: smurf.from_dicts([{"type_event": [1]}])),
            ("is a list: give dicts", lambda: smurf.from_dicts([[1, 2]])),
            ("2 times and 1 types", lambda: smurf.from_dicts([{"time_since_start": [0, 1], "type_event": [0]}])),
            ("train is a DataFrame, not a smurf.Log", lambda: smurf.fit(df)),
            ("dev is a DataFrame", lambda: smurf.fit(log, df)),
            ("unknown preset|preset", lambda: smurf.fit(self.train, self.dev, preset="nothing")),
            ("width", lambda: smurf.fit(self.train, self.dev, width="wide")),
            ("needs a smurf.Log, not DataFrame", lambda: model.forecast(df)),
            ("needs a smurf.Log, not DataFrame", lambda: model.evaluate(df)),
            ("needs a smurf.Log, not list", lambda: model.score([1])),
            ("level 2 of an interval", lambda: model.forecast(log, levels=[2])),
            ("not a duration", lambda: model.forecast(log, within=[None])),
            ("duration|unit", lambda: model.forecast(log, within="1 fortnight")),
            ("not a moment", lambda: model.forecast(log, now="someday")),
            ("not a moment", lambda: model.forecast(log, now=float("nan"))),
            ("either silence or now", lambda: model.forecast(log, now="2027-01-01", silence="1h")),
            ("the model has no type 9; it has: opened", lambda: model.forecast(log, next=9)),
            ("not a duration", lambda: model.sample(log, until=[])),
            ("neither a number nor an array", lambda: law.cdf("soon")),
            ("level", lambda: law.quantile(2.0)),
            ("events is 999, but sequence", lambda: model.law(log, 0, 999)),
            ("not a moment", lambda: live.append("ann", "someday")),
            ("before", lambda: live.append("ann", "2020-01-01")),
            ("finite", lambda: live.append("bob", float("inf"))),
            ("unknown|process", lambda: smurf.Process("nothing")),
            ("parameter mean is 'x'", lambda: smurf.Process("exponential", mean="x")),
            ("sampler", lambda: model.evaluate(log, sampler="nothing")),
        ]
        for message, function in wrong:
            with self.subTest(message), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with self.assertRaisesRegex((smurf.SmurfError), message):
                    function()
        for message, kind, function in [
            ("there is no sequence 'nobody'", KeyError, lambda: model.law(log, "nobody")),
            ("there is no sequence 'bob'", KeyError, lambda: live.forecast("bob")),
            ("there is no sequence 5", KeyError, lambda: smurf.Process("exponential").law(log, 5000)),
            ("no metric 'nothing'", KeyError, lambda: model.evaluate(log)["nothing"]),
            ("has no setting 'epochz'; did you mean 'epochs'", TypeError, lambda: smurf.fit(log, epochz=1)),
            ("cannot be pickled: write it to a file", TypeError, lambda: pickle.dumps(log)),
            ("No such file|cannot open", OSError, lambda: smurf.load("/nowhere/model")),
        ]:
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                function()

    def test_remarks_are_warnings(self):
        with self.assertWarnsRegex(smurf.Remark, "out of order") as warned:
            smurf.from_arrays([2.0, 1.0])
        self.assertEqual(warned.filename, __file__)  # the line of the program, not one of the package
        df = pd.DataFrame({"time": [1.0, 2.0, None], "type": ["a", "b", "a"]})
        with self.assertWarnsRegex(smurf.Remark, "1 of 3 rows"):
            smurf.from_pandas(df)


if __name__ == "__main__":
    unittest.main()
