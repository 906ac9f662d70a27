"""How tools/run-tests counts, and what test/tap.py prints for it."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.environ.get("SMURF_ROOT", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOADER = importlib.machinery.SourceFileLoader("run_tests", os.path.join(ROOT, "tools", "run-tests"))
run_tests = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", LOADER))
LOADER.exec_module(run_tests)

UNITTEST = """
import unittest
class Case(unittest.TestCase):
    def test_a_passes(self): pass
    def test_b_fails(self): self.fail("one\\ntwo")
    @unittest.skip("no such # thing")
    def test_c_is_skipped(self): pass
    def test_d_has_subtests(self):
        for i in range(3):
            with self.subTest(i=i): self.assertNotEqual(i, 1)
    def test_e_breaks(self): raise OSError
"""


class Counting(unittest.TestCase):
    def test_outcomes(self):
        for stdout, result, outcomes in (
                ("1..2\nok 1 - a\nok 2 - b\n", "OK", "passed passed"),
                ("ok 1 - a\nnot ok 2 - b\n1..2\n", "FAIL", "passed failed"),
                ("1..3\nok 1 - a # SKIP why\nnot ok 2 # SKIP b\nok 3\n", "OK", "skipped skipped passed"),
                ("1..0 # SKIP nothing here\n", "SKIP", "skipped"),
                ("1..2\nok 1 - a\nnot ok 2 - b # TODO later\n", "OK", "passed passed"),
                ("1..3\nok 1 - a\n", "ERROR", "passed failed"),    # died
                ("1..3\nok 1 - a\n", "OK", "passed failed"),       # left early with status 0
                ("ok 1 - a\n", "TIMEOUT", "passed failed"),
                ("", "OK", "failed"),                              # no test executed
                ("1..1\nok, a remark\n# ok 7\nok 1 - a\n", "OK", "passed")):
            with self.subTest(stdout):
                found = run_tests.cases({"stdout": stdout, "result": result})
                self.assertEqual(" ".join(outcome for outcome, _, _ in found), outcomes)

    def test_reasons(self):
        found = run_tests.cases({"stdout": "ok 1 - a # SKIP no data in shared\nnot ok 2 # SKIP b\n", "result": "OK"})
        self.assertEqual(found, [("skipped", "a", "no data in shared"), ("skipped", "b", "")])

    def test_tap_of_unittest(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "test_sample.py")
            with open(path, "w") as out:
                out.write(UNITTEST)
            done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "test", "tap.py"), path],
                                  capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        found = run_tests.cases({"stdout": done.stdout, "result": "FAIL"})
        self.assertEqual([outcome for outcome, _, _ in found], ["passed", "failed", "skipped", "failed", "failed"])
        self.assertEqual(found[2], ("skipped", "Case.test_c_is_skipped", "no such # thing"))
        self.assertIn("1..5", done.stdout)


if __name__ == "__main__":
    unittest.main()
