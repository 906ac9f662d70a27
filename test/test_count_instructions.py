"""tools/count-instructions with a fake command and a fake valgrind: what it compares, says, keeps and leaves alone."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("SMURF_ROOT", pathlib.Path(__file__).resolve().parent.parent))
SCRIPT = ROOT / "tools" / "count-instructions"
RUNS = ["training", "exact laws", "Langevin sampling"]


class CountInstructions(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.kept = self.folder / "kept.json"
        info = self.folder / "build" / "meson-info"
        info.mkdir(parents=True)
        (info / "intro-buildoptions.json").write_text(json.dumps(
            [{"name": "optimization", "value": "3"}, {"name": "b_sanitize", "value": "none"}]))
        self.program("build/smurf", "exit 0")
        self.program("readelf", "echo '  [ 0]  GCC: (Debian) 12.2.0'")
        self.program("pkg-config", "echo 0.3.21")

    def program(self, name, body):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def count(self, training, *options, status=0):
        """Runs the script where training takes so many instructions, and the other runs 1000 each."""
        self.program("valgrind", f"""[ "$1" = --version ] && {{ echo valgrind-3.19.0; exit; }}
[ "$OMP_NUM_THREADS" = 1 ] || exit 9
case "$*" in *"/smurf train "*) n={training} ;; *) n=1000 ;; esac
echo "==7== Collected : $n" >&2
exit {status}""")
        path = f"{self.folder}:{os.environ['PATH']}"
        return subprocess.run([sys.executable, SCRIPT, self.folder / "build", "--kept", self.kept, *options],
                              env={**os.environ, "PATH": path}, capture_output=True, text=True)

    def keep(self, training):
        self.assertEqual(self.count(training, "--write").returncode, 0)

    def test_write_keeps_counts_and_what_they_depend_on(self):
        self.keep(100000)
        kept = json.loads(self.kept.read_text())
        self.assertEqual(kept["instructions"], dict(zip(RUNS, [100000, 1000, 1000])))
        self.assertIn("12.2.0", kept["made with"]["compiler"])

    def test_within_the_band(self):
        self.keep(100000)
        for now in 95100, 100000, 104900:
            done = self.count(now)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"training +100,000 +104,900 +\+4\.9%\n")

    def test_more_is_a_failure(self):
        self.keep(100000)
        done = self.count(105100)
        self.assertEqual(done.returncode, 1)
        self.assertIn("training: 5.1% more instructions", done.stderr)
        self.assertNotIn("exact laws", done.stderr)

    def test_fewer_asks_to_be_kept(self):
        self.keep(100000)
        done = self.count(90000)
        self.assertEqual(done.returncode, 1)
        self.assertIn("10.0% fewer instructions; store the new counts with --write", done.stderr)
        self.keep(90000)
        self.assertEqual(self.count(90000).returncode, 0)

    def test_no_count_is_kept(self):
        done = self.count(100000)
        self.assertEqual(done.returncode, 1)
        self.assertIn("training: no stored count", done.stderr)

    def test_other_compiler_is_a_skip(self):
        self.keep(100000)
        self.program("readelf", "echo '  [ 0]  GCC: (Debian) 14.1.0'")
        done = self.count(200000)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "skipped: counts are stored for compiler GCC: (Debian) 12.2.0, this is GCC: (Debian) 14.1.0\n")

    def test_run_that_fails_is_a_failure(self):
        self.keep(100000)
        done = self.count(100000, status=1)
        self.assertEqual(done.returncode, 1)
        self.assertIn("status 1", done.stderr)


if __name__ == "__main__":
    unittest.main()
