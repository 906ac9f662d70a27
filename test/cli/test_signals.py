"""Signals and closed descriptors: every command ends soon when asked to, and writes only where it should."""
import json
import os
import select
import signal
import subprocess
import time
import unittest

import common
from common import Case
from models import SMALL, table

STOPS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
# A busy machine is given more than the second that a free one needs.
SOON = 2
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # a test run under nohup ignores it, and so would the command


class SignalCase(Case):
    def start(self, *args, **more):
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        run = subprocess.Popen([common.SMURF, *args], cwd=self.folder, **{"env": common.environment(), **pipes, **more})
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        for pipe in [run.stdin, run.stdout, run.stderr]:
            if pipe:
                self.addCleanup(pipe.close)
        return run

    def stop(self, run, number, within=SOON):
        """Sends the signal; returns the status and standard error, which must come soon."""
        self.assertIsNone(run.poll(), "it ended before it was asked to")
        begun = time.monotonic()
        run.send_signal(number)
        status = run.wait(common.TIMEOUT)
        self.assertLess(time.monotonic() - begun, within)
        return status, run.stderr.read().decode()

    def wait_for(self, ready, run):
        for _ in range(20000):
            if ready() or run.poll() is not None:
                return
            time.sleep(0.005)

    def model(self):
        self.write("data/train.csv", table(30))
        self.write("data/dev.csv", table(6, seed=2))
        self.smurf("train", "data", "-o", "m.safetensors", "--epochs", "1", "--quiet", *SMALL)
        return "m.safetensors"


class Descriptors(SignalCase):
    def closed(self, *fds):
        return lambda: [os.close(fd) for fd in fds]

    def test_progress_does_not_go_into_the_log(self):
        self.write("data/train.csv", table(30))
        self.write("data/dev.csv", table(6, seed=2))
        for fds in [(2,), (0, 2), (0, 1, 2)]:
            run = self.start("train", "data", "-o", "m.safetensors", "--log", "log.jsonl", "--epochs", "2", *SMALL,
                             preexec_fn=self.closed(*fds))
            self.assertEqual(run.wait(common.TIMEOUT), 1 if 1 in fds else 0)  # the result could not be printed
            lines = self.content("log.jsonl").decode().splitlines()
            self.assertEqual([json.loads(line)["epoch"] for line in lines], [1, 2], fds)

    def test_results_do_not_go_into_a_file(self):
        model = self.model()
        run = self.start("eval", model, "data", "--part", "dev", "--report", "r.html", preexec_fn=self.closed(1))
        self.assertEqual(run.wait(common.TIMEOUT), 1)
        self.assertRegex(run.stderr.read().decode(), "smurf: cannot write to standard output: ")
        self.assertTrue(self.content("r.html").startswith(b"<!"))


class LongSequences(SignalCase):
    """One sequence of 50,000 events without a bound on the context: a step takes half a minute."""
    LONG = ["--context", "0", "--threads", "2", "--quiet"]

    def data(self):
        self.smurf("simulate", "hawkes", "-n", "1", "--events", "50000", "-o", "parts/train.csv", "--quiet",
                   preexec_fn=lambda: os.makedirs(self.path("parts")))

    def test_training(self):
        self.data()
        for number in [signal.SIGINT, signal.SIGTERM]:
            run = self.start("train", "parts", "-o", "m.safetensors", *self.LONG)
            self.wait_for(lambda: os.path.exists(self.path("m.resume")), run)
            time.sleep(1)  # the first step has begun
            self.assertEqual(self.stop(run, number), (1, "smurf: stopped; to continue, run the same command with --resume\n"))
            self.assertEqual(self.listing(), ["m.resume", "parts/train.csv"])
            os.unlink(self.path("m.resume"))

    def test_measuring(self):
        self.data()
        self.write("few/train.csv", table(30, types=("0", "1", "2")))
        self.smurf("train", "few", "-o", "m.safetensors", "--epochs", "1", *SMALL, *self.LONG)
        for args in [("eval", "m.safetensors", "parts/train.csv"), ("report", "m.safetensors", "parts/train.csv")]:
            run = self.start(*args, "--threads", "2", "--quiet")
            time.sleep(2)
            self.assertEqual(self.stop(run, signal.SIGTERM), (1, "smurf: stopped while evaluating\n"))


class Stops(SignalCase):
    def writes(self, run):
        self.assertTrue(select.select([run.stdout], [], [], common.TIMEOUT)[0])

    def test_a_reader_that_has_stalled(self):
        """Nothing in the command can look at a flag while it waits for the reader of its output."""
        for number in STOPS:
            run = self.start("simulate", "poisson", "-n", "1000")
            self.writes(run)
            self.assertEqual(self.stop(run, number, within=4), (1, "smurf: stopped\n"))

    def test_a_second_signal_ends_it_at_once(self):
        for first, second in [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGINT), (signal.SIGINT, signal.SIGHUP)]:
            run = self.start("simulate", "poisson", "-n", "1000")
            self.writes(run)
            run.send_signal(first)
            time.sleep(0.2)
            self.assertEqual(self.stop(run, second, within=1)[0], -second)

    def test_nohup(self):
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        run = self.start("simulate", "poisson", "-n", "1000", preexec_fn=ignore)
        time.sleep(0.3)
        run.send_signal(signal.SIGHUP)
        out, err = run.communicate(timeout=common.TIMEOUT)
        self.assertEqual((run.returncode, err, out.count(b"\n")), (0, b"", 1000))


class Waiting(SignalCase):
    def test_threads_spin_briefly(self):
        """The command sets how long waiting threads spin, unless the user does."""
        model = self.model()
        env = {name: value for name, value in common.environment().items() if name != "OMP_WAIT_POLICY"}
        for given, expected in [({}, "1000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "active"}, None)]:
            run = self.start("predict", model, "-", stdin=subprocess.PIPE, env={**env, **given})
            self.wait_for(lambda: self.environment_of(run).get("GOMP_SPINCOUNT") == expected, run)
            self.assertEqual(self.environment_of(run).get("GOMP_SPINCOUNT"), expected)
            with open(f"/proc/{run.pid}/comm") as name:
                self.assertEqual(name.read(), "smurf\n")

    def environment_of(self, run):
        with open(f"/proc/{run.pid}/environ", "rb") as f:
            pairs = [pair.split(b"=", 1) for pair in f.read().split(b"\0") if b"=" in pair]
        return {name.decode(): value.decode() for name, value in pairs}


if __name__ == "__main__":
    unittest.main()
