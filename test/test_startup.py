"""The command stays small and quick to start; bench/startup.py measures it more closely.

By processor time, as the clock counts what else the machine does, and by the best of some runs. A shared library more, or one
that works when it is loaded, shows here.
"""
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("SMURF_ROOT", pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(ROOT / "bench"))
import startup  # noqa: E402

SMURF = os.environ.get("SMURF", str(ROOT / "build" / "smurf"))


class Startup(unittest.TestCase):
    def test_forecast_from_the_shell(self):
        with tempfile.TemporaryDirectory() as folder:
            model, history = startup.make_model(SMURF, folder)
            self.assertGreater(model.stat().st_size, 900000)
            best = min(processor for _, processor in startup.predict_times(SMURF, model, history, 10))
        self.assertLess(best, startup.PREDICT_MS)

    def test_stripped_size(self):
        self.assertLess(startup.stripped_size(SMURF), startup.STRIPPED_MB * 1e6)


if __name__ == "__main__":
    unittest.main()
