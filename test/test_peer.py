"""The library and the program in PyTorch (bench/torch/peer.py) agree: the same weights give the same loss, the same
gradient and draws of the same laws.

SMURF_BUILD: build directory, with the program bench/bench_peer.
"""
import contextlib
import math
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("SMURF_ROOT", pathlib.Path(__file__).resolve().parent.parent))
BUILD = pathlib.Path(os.environ.get("SMURF_BUILD", ROOT / "build"))
sys.path.insert(0, str(ROOT / "bench" / "torch"))
import race  # noqa: E402

PYTHON = race.find_python()


@unittest.skipUnless(PYTHON, "PyTorch is not installed (python3-torch)")
class Peer(unittest.TestCase):
    def compare(self, model, lengths, steps):
        """Both sides after some steps of ours; returns them for more."""
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        ours = stack.enter_context(race.ours(BUILD, model, 1, lengths))
        peer, lean = stack.enter_context(race.peer(PYTHON, 1)), stack.enter_context(race.peer(PYTHON, 1, "lean"))
        path = os.path.join(folder, "weights.safetensors")
        for more in 0, steps:
            ours.ask("train", more)
            expected = ours.ask("write", path)
            for side in peer, lean:
                side.ask("load", path)
                found = side.ask("check", "-")
                for part, tolerance in ("time", 1e-4), ("type", 1e-4), ("norm", 1e-3):
                    with self.subTest(part=part, steps=more):
                        self.assertGreater(expected[part], 1)
                        self.assertLess(abs(found[part] / expected[part] - 1), tolerance)
        return ours, peer

    def test_stackoverflow(self):
        """Batches of sequences of different lengths, and Langevin: means within five standard errors."""
        ours, peer = self.compare("stackoverflow", [], 80)
        expected, found = ours.ask("langevin", 100), peer.ask("langevin", 100)
        error = math.hypot(expected["deviation"], found["deviation"]) / math.sqrt(expected["sample_steps"] / 100)
        self.assertLess(abs(found["mean"] - expected["mean"]), 5 * error)
        self.assertLess(abs(found["deviation"] / expected["deviation"] - 1), 0.1)

    def test_financial(self):
        self.compare("financial", [150], 2)

    def test_both_train(self):
        """Steps of both lower the loss."""
        with tempfile.TemporaryDirectory() as folder, race.ours(BUILD, "stackoverflow", 1, [64, 20, 2, 1]) as ours, \
                race.peer(PYTHON, 1) as peer:
            path = os.path.join(folder, "weights.safetensors")
            before = ours.ask("write", path)
            peer.ask("load", path)
            for side, command in (ours, ("write", path)), (peer, ("check", "-")):
                side.ask("train", 30)
                after = side.ask(*command)
                self.assertLess(5 * after["time"] + after["type"], 5 * before["time"] + before["type"])


if __name__ == "__main__":
    unittest.main()
