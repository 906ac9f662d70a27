"""What the tests of the Python package share: the package of this build, a log and a model."""

import csv
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

BUILD, ROOT = pathlib.Path(os.environ["SMURF_BUILD"]), pathlib.Path(os.environ["SMURF_ROOT"])
os.environ["SMURF_LIBRARY"] = str(BUILD / "src" / "libsmurf.so.0")
os.environ["MPLBACKEND"] = "agg"
sys.path.insert(0, str(BUILD / "python"))
MISSING = None
try:
    import numpy  # noqa: F401
    import pandas  # noqa: F401

    import smurf
except ImportError as error:
    MISSING = f"the Python package cannot be used here: {error}"

TICKETS = ROOT / "examples" / "tickets.csv"


def command(*arguments):
    return subprocess.run([os.environ["SMURF"], *map(str, arguments)], capture_output=True, check=True, text=True).stdout


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def python(code, **more):
    """Runs a program in a new interpreter that finds the package."""
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "PYTHONPATH": str(BUILD / "python"), **more})


class _Shared:
    """A log and a model of it, made once."""

    folder = None

    def make(self):
        self.folder = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.folder.name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.log = smurf.read(TICKETS)
            self.train, self.dev, self.test = self.log.split()
            self.model = smurf.fit(self.train, self.dev, epochs=3, threads=1)
        self.path = self.at / "model.safetensors"
        self.model.save(self.path)


_shared = _Shared()


class Case(unittest.TestCase):
    """`log`, its parts, a model of it, the file of that model, and a folder `at`."""

    @classmethod
    def setUpClass(cls):
        if MISSING:
            raise unittest.SkipTest(MISSING)
        if not _shared.folder:
            _shared.make()
        for name in ("at", "log", "train", "dev", "test", "model", "path"):
            setattr(cls, name, getattr(_shared, name))
