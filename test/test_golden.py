"""The files of expected values in test/golden are those that make.py makes, and a wrong value in one is found.

SMURF_BUILD: the build directory, with test/golden. SMURF_ROOT: the sources.
"""
import copy
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ.get("SMURF_ROOT", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("SMURF_BUILD", os.path.join(ROOT, "build"))
FOLDER = os.path.join(ROOT, "test", "golden")
sys.path.insert(0, FOLDER)
import make  # noqa: E402


def flat(value):
    """The numbers of lists in lists."""
    return [x for part in value for x in flat(part)] if isinstance(value, list) else [value]


class Golden(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = {}
        for path in glob.glob(os.path.join(FOLDER, "*.json")):
            with open(path, encoding="utf-8") as text:
                cls.kept[os.path.basename(path)] = json.load(text)

    def same(self, a, b, where):
        """Equal, but for the last digits of floating-point numbers."""
        self.assertEqual(type(a), type(b), where)
        if isinstance(a, dict):
            self.assertEqual(list(a), list(b), where)
            for key in a:
                self.same(a[key], b[key], where + "." + key)
        elif isinstance(a, (list, float)):
            a, b = flat(a), flat(b)
            self.assertEqual(len(a), len(b), where)
            if all(isinstance(x, (int, float)) for x in a):
                self.assertLessEqual(max((abs(x - y) for x, y in zip(a, b)), default=0), 1e-12 * max(map(abs, a), default=0), where)
            else:
                for i, (x, y) in enumerate(zip(a, b)):
                    self.same(x, y, f"{where}[{i}]")
        else:
            self.assertEqual(a, b, where)

    def test_made_by_the_script(self):
        made = make.made()
        self.assertEqual(sorted(made), sorted(self.kept))
        for name in made:
            self.same(made[name], self.kept[name], name)

    def test_small(self):
        self.assertLess(sum(map(os.path.getsize, glob.glob(os.path.join(FOLDER, "*")))), 200_000)

    def test_no_gradient_is_zero(self):
        for name in "smurf.json", "thp.json":
            for key, value in {"": self.kept[name]["expect"], **self.kept[name]["expect"]}.items():
                for param, gradient in (value.get("grad", {}) if isinstance(value, dict) else {}).items():
                    self.assertGreater(max(map(abs, gradient)), 1e-5, (name, key, param))

    def check(self, content):
        """Status and output of the checker."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.json")
            with open(path, "w", encoding="utf-8") as out:
                json.dump(content, out)
            done = subprocess.run([os.path.join(BUILD, "test", "golden"), path], capture_output=True, text=True)
        return done.returncode, [line for line in done.stdout.splitlines() if line.startswith("not ok")]

    @unittest.skipIf(os.environ.get("CC", "").startswith("aarch64"), "the checker is built for another processor")
    def test_a_wrong_value_is_found(self):
        spoiled = [("smurf.json", [key, "grad", "encoder.layer_stack.0.slf_attn.w_ks.weight"], key + " gradient of layer.0.key") for key in (
            "denoising_full_gradient", "denoising_stop_gradient", "implicit_score_matching", "weighted_score_matching", "maximum_likelihood")]
        spoiled += [("smurf.json", ["encoder"], "encoder"), ("thp.json", ["grad", "beta"], "gradient of beta"), ("metrics.json", ["coverage"], "coverage")]
        for name, keys, says in spoiled:
            with self.subTest(says):
                content = copy.deepcopy(self.kept[name])
                self.assertEqual(self.check(content), (0, []))
                values = content["expect"]
                for key in keys:
                    values = values[key]
                at = max(range(len(values)), key=lambda i: abs(values[i]))
                values[at] *= 1 + 1e-7
                status, wrong = self.check(content)
                self.assertEqual((status, len(wrong)), (1, 1))
                self.assertIn(says, wrong[0])


if __name__ == "__main__":
    unittest.main()
