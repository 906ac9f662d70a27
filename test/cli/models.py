"""Small models for tests of the commands that use one, trained once a class."""
import datetime
import json
import random
import subprocess
import tempfile
import os

import common

SMALL = ["--width", "8", "--heads", "2", "--head-width", "4", "--layers", "1", "--inner", "8", "--nodes", "6", "--threads", "1"]


def table(sequences, events=12, types=("a", "b"), seed=1, first=0.0, name="u%d"):
    """CSV of sequences of gaps 0.1 + exponential."""
    draw = random.Random(seed)
    lines = ["user,time,type"]
    for s in range(sequences):
        t = first
        for _ in range(events):
            t += draw.expovariate(1) + 0.1
            lines.append("%s,%.6f,%s" % (name % s, t, draw.choice(types)))
    return "\n".join(lines) + "\n"


def calendar(sequences, events=12, seed=1):
    """The table above, an hour a unit of time, as dates."""
    lines = table(sequences, events, ("login", "logout"), seed).splitlines()
    start = datetime.datetime(2024, 1, 31)
    out = [lines[0]]
    for line in lines[1:]:
        user, t, kind = line.split(",")
        out.append("%s,%sZ,%s" % (user, (start + datetime.timedelta(hours=float(t))).isoformat(), kind))
    return "\n".join(out) + "\n"


class ModelCase(common.Case):
    """Class attribute `made`: a folder, where `make` has put data and models. self.model(name) is a path into it."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="smurf-models-")
        cls.addClassCleanup(folder.cleanup)
        cls.made = folder.name
        cls.make()

    @classmethod
    def make(cls):
        cls.do("simulate", "hawkes", "--sequences", "30", "-o", "demo/", "--quiet")
        cls.train("demo", "m.safetensors")

    @classmethod
    def do(cls, *args):
        return subprocess.run([common.SMURF, *args], cwd=cls.made, env=common.environment(), check=True, timeout=common.TIMEOUT,
                              stdin=subprocess.DEVNULL, capture_output=True).stdout.decode()

    @classmethod
    def train(cls, data, name, *more):
        cls.do("train", data, "-o", name, "--epochs", "2", "--quiet", *SMALL, *more)

    @classmethod
    def put(cls, name, text):
        path = os.path.join(cls.made, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)

    def at(self, name):
        return os.path.join(self.made, name)

    def jsonl(self, *args, **more):
        """A run with --format jsonl: its objects."""
        out = self.smurf(*args, "--format", "jsonl", **more).out
        return [json.loads(line, parse_constant=self.fail) for line in out.splitlines()]
