"""Runs the real command in a folder of its own.

SMURF: path of the command (default build/smurf). SMURF_SHARED: folder with real data (default ../shared beside the
repository).
"""
import decimal
import gzip
import json
import os
import subprocess
import tempfile
import unittest

ROOT = os.environ.get("SMURF_ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SMURF = os.path.abspath(os.environ.get("SMURF") or os.path.join(ROOT, "build", "smurf"))
SHARED = os.environ.get("SMURF_SHARED") or os.path.join(os.path.dirname(os.path.abspath(ROOT)), "shared")
TIMEOUT = 250


def environment(**more):
    """Nothing of the caller's but what sanitizers and coverage need. With a policy for waiting threads the command does not
    start itself again."""
    env = {"PATH": os.path.dirname(SMURF) + ":/usr/bin:/bin", "LC_ALL": "C.UTF-8", "OMP_WAIT_POLICY": "passive"}
    for name, value in os.environ.items():
        if name.startswith(("ASAN_", "UBSAN_", "LSAN_", "TSAN_", "GCOV_")) or name in ("LD_LIBRARY_PATH", "OMP_WAIT_POLICY"):
            env[name] = value
    return {**env, **more}


def packed(content):
    return gzip.compress(content if isinstance(content, bytes) else content.encode(), mtime=0)


class Result:
    def __init__(self, done):
        self.status = done.returncode
        self.raw = done.stdout
        self.out = done.stdout.decode("utf-8", "replace")
        self.err = done.stderr.decode("utf-8", "replace")
        self.lines = self.out.splitlines()


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="smurf-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    # ---- files ----

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, content):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())
        return path

    def content(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def listing(self):
        found = []
        for place, _, files in os.walk(self.folder):
            found += [os.path.relpath(os.path.join(place, f), self.folder) for f in files]
        return sorted(found)

    # ---- runs ----

    def run_smurf(self, *args, input=b"", env=None, **more):
        """Runs in the test's folder; standard input is `input`, empty unless given."""
        if isinstance(input, str):
            input = input.encode()
        if "stdin" not in more:
            more["input"] = input
        done = subprocess.run([SMURF, *args], **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more},
                              cwd=self.folder, env=environment(**(env or {})), timeout=TIMEOUT)
        done.stdout = done.stdout or b""
        return Result(done)

    def smurf(self, *args, quiet=True, **more):
        """A run that must succeed and, unless quiet is false, say nothing on standard error."""
        r = self.run_smurf(*args, **more)
        self.assertEqual((r.status, r.err if quiet else ""), (0, ""), args)
        return r

    def refuse(self, *args, says=(), status=1, **more):
        """A run that must fail as the manual promises: one line that says what is wrong, nothing on standard output,
        no file new or gone. Returns the line."""
        before = self.listing()
        r = self.run_smurf(*args, **more)
        self.assertEqual(r.status, status, (args, r.err))
        self.assertEqual(r.out, "", args)
        self.assertEqual(r.err.count("\n"), 1, (args, r.err))
        self.assertTrue(r.err.startswith("smurf: ") and r.err.endswith("\n"), (args, r.err))
        for word in [says] if isinstance(says, str) else says:
            self.assertRegex(r.err, word, args)
        self.assertEqual(self.listing(), before, (args, r.err))
        return r.err

    def sequences(self, *args, **more):
        """What a file holds, by way of JSON Lines: a list of objects; numbers are exact decimals."""
        out = self.smurf("convert", args[0], "-", "--to", "jsonl", *args[1:], **more).out
        return [json.loads(line, parse_float=decimal.Decimal) for line in out.splitlines()]

    def events(self, *args, **more):
        """The same, as (name, times, types), types by name where they have one."""
        found = self.sequences(*args, **more)
        names = found[0].get("type_names")
        return [(s.get("sequence"), s["time_since_start"], [names[k] if names else k for k in s["type_event"]])
                for s in found]

    def summary(self, *args, **more):
        return json.loads(self.smurf("info", "--json", *args, **more).out)
