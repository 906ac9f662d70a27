"""Outputs: none that is also read is written, and what killed runs leave behind goes away."""
import fcntl
import os
import signal
import subprocess
import time
import unittest

import common
from common import Case
from models import SMALL, table

EVENTS = "user,time,type\na,1,0\na,2,1\na,3.5,0\nb,1,0\nb,4,1\n"


class Same(Case):
    """An output that is an input, or another output, is refused before any work."""

    def setUp(self):
        super().setUp()
        self.write("x.csv", table(30))
        self.write("parts/train.csv", table(30))
        self.write("parts/dev.csv", table(6, seed=2))
        self.write("parts/test.csv", table(6, seed=3))
        os.symlink("x.csv", self.path("link.csv"))
        os.link(self.path("x.csv"), self.path("hard.csv"))
        os.symlink("parts", self.path("other"))
        self.smurf("train", "parts", "-o", "m.safetensors", "--epochs", "1", "--quiet", *SMALL)

    def snapshot(self):
        return {name: self.content(name) for name in self.listing() if os.path.exists(self.path(name))}

    def check(self, *args, says=(), **more):
        before = self.snapshot()
        line = self.refuse(*args, says=["name another file", *says], status=2, **more)
        self.assertEqual(self.snapshot(), before, args)
        return line

    def test_train(self):
        self.assertEqual(self.check("train", "x.csv", "-o", "x.csv"),
                         "smurf: --output would overwrite 'x.csv', which DATA reads: name another file\n")
        self.check("train", "x.csv", "-o", "./parts/../x.csv")
        self.check("train", "x.csv", "-o", "link.csv")
        self.check("train", "link.csv", "-o", "x.csv")
        self.check("train", "x.csv", "-o", "hard.csv")
        self.check("train", "x.csv", "--log", "x.csv", says=["--log"])
        self.check("train", "parts", "--log", "parts/dev.csv")
        self.check("train", "other", "-o", "parts/train.csv")
        with open(self.path("x.csv")) as source:
            self.check("train", "-", "-o", "x.csv", stdin=source)
        self.check("train", "x.csv", "--from", "rmtpp", "--events", "hard.csv", "--log", "link.csv", says=["--log"])

    def test_resume(self):
        os.rename(self.path("x.csv"), self.path("x.resume"))
        self.check("train", "x.resume", "-o", "x.safetensors", says=["the .resume file"])
        self.check("train", "parts", "-o", "m.safetensors", "--log", "m.resume", says=["the .resume file"])
        # The same where neither is there yet, whatever the way to it.
        self.check("train", "parts", "-o", "new.safetensors", "--log", "parts/../new.resume", says=["the .resume file"])
        self.check("train", "parts", "-o", "new", "--log", self.path("new"), says=["--log"])

    def test_dangling_link(self):
        os.symlink("new", self.path("dangling"))
        self.check("train", "parts", "-o", "new", "--log", "dangling")

    def test_eval_and_report(self):
        for data in ["x.csv", "parts"]:
            place = data if data == "x.csv" else "parts/test.csv"
            self.check("eval", "m.safetensors", data, "--report", place, says=["--report", "DATA"])
            self.check("report", "m.safetensors", data, "-o", place, says=["--output", "DATA"])
        self.check("eval", "m.safetensors", "parts", "--report", "m.safetensors", says=["MODEL"])
        self.check("eval", "m.safetensors", "parts", "--train", "x.csv", "--report", "link.csv", says=["--train"])
        self.check("eval", "m.safetensors", "parts", "--report", "r.html", "--figures", "parts", says=["--figures"])
        os.mkdir(self.path("figures"))
        os.link(self.path("x.csv"), self.path("figures", "coverage.svg"))
        self.check("eval", "m.safetensors", "x.csv", "--report", "r.html", "--figures", "figures", says=["--figures"])

    def test_convert(self):
        self.check("convert", "x.csv", "x.csv", says=["OUT", "IN"])
        self.check("convert", "x.csv", "hard.csv")
        self.check("convert", "parts", "other")
        self.check("convert", "parts/train.csv", "parts", "--split", "8:1:1", "--to", "csv")
        with open(self.path("x.csv")) as source:
            self.check("convert", "-", "x.csv", stdin=source)
        with open(self.path("x.csv"), "ab") as out:
            self.check("convert", "x.csv", "-", stdout=out)

    def test_types_beside_times(self):
        self.smurf("convert", "x.csv", "time-a.txt", "--to", "rmtpp", "--types", "words")
        self.check("convert", "time-a.txt", "event-a.txt", "--to", "csv")
        self.check("train", "time-a.txt", "--log", "event-a.txt")
        self.check("convert", "event-a.txt", "time-a.txt", "--to", "rmtpp")

    def test_compare(self):
        for option in ["-o", "--report"]:
            self.check("compare", "parts", "--models", "default", option, "parts/test.csv", says=["DATA"])
        self.check("compare", "parts", "--models", "default", "-o", "r.html", "--report", "r.html", says=["--report"])

    def test_what_is_no_conflict(self):
        self.write("demo/raw.csv", table(30))
        self.smurf("convert", "demo/raw.csv", "demo", "--split", "8:1:1", "--to", "csv")
        self.smurf("train", "demo", "-o", "demo/m.safetensors", "--log", "demo/log.jsonl", "--epochs", "1", "--quiet", *SMALL)
        self.smurf("train", "demo", "-o", "demo/m.safetensors", "--log", "demo/log.jsonl", "--epochs", "1", "--quiet", *SMALL)
        self.smurf("simulate", "poisson", "-n", "5", "-o", "p.csv", "--quiet")
        self.smurf("simulate", "poisson", "-n", "5", "-o", "p.csv", "--quiet")
        self.smurf("convert", "x.csv", "/dev/null", "--to", "csv")
        self.smurf("eval", "m.safetensors", "parts", "--report", "r.html", "--figures", "figures", "--quiet")
        self.smurf("eval", "m.safetensors", "parts", "--report", "r.html", "--figures", "figures", "--quiet")


class Links(Case):
    def test_a_loop_is_refused(self):
        self.write("x.csv", EVENTS)
        os.symlink("b", self.path("a"))
        os.symlink("a", self.path("b"))
        self.write("parts/train.csv", table(30))
        for args in [("convert", "x.csv", "a", "--to", "csv"), ("simulate", "poisson", "-o", "a", "--to", "csv"),
                     ("train", "parts", "-o", "a"), ("train", "parts", "--log", "b"), ("compare", "parts", "-o", "a")]:
            self.refuse(*args, says="symlink loop", status=2)
            self.assertEqual((os.readlink(self.path("a")), os.readlink(self.path("b"))), ("b", "a"))

    def test_a_link_stays(self):
        self.write("x.csv", EVENTS)
        os.symlink("real.csv", self.path("link.csv"))
        for _ in range(2):  # dangling, then not
            self.smurf("convert", "x.csv", "link.csv")
            self.assertEqual(os.readlink(self.path("link.csv")), "real.csv")
        self.assertEqual(self.content("real.csv"), self.content("link.csv"))


class Stale(Case):
    def gone(self):
        """The number of a process that has ended."""
        run = subprocess.Popen(["/bin/true"])
        run.wait()
        return run.pid

    def test_left_by_the_dead(self):
        self.write("x.csv", EVENTS)
        self.write("out/y.csv.tmp-%d-0" % self.gone(), "half")
        self.write("out/y.csv.tmp-%d-1" % self.gone(), "half")
        kept = ["out/y.csv.tmp-%d-0" % os.getpid(), "out/z.csv.tmp-%d-0" % self.gone(), "out/y.csv.tmp-x-0",
                "out/y.csv.tmp-%d-0.csv" % self.gone()]
        for name in kept:
            self.write(name, "other")
        self.smurf("convert", "x.csv", "out/y.csv")
        self.assertEqual(self.listing(), sorted([*kept, "out/y.csv", "x.csv"]))
        # The number has been given to another process since.
        old = time.time() - 3600
        os.utime(self.path(kept[0]), (old, old))
        os.chdir(self.path("out"))
        self.addCleanup(os.chdir, common.ROOT)
        self.smurf("convert", "x.csv", "out/y.csv")
        self.assertEqual(self.listing(), sorted([*kept[1:], "out/y.csv", "x.csv"]))

    def test_a_killed_writer(self):
        big = "user,time,type\n" + "".join("u,%d,0\n" % i for i in range(400000))
        self.write("big.csv", big)
        for _ in range(50):
            run = subprocess.Popen([common.SMURF, "convert", "big.csv", "y.jsonl"], cwd=self.folder, env=common.environment())
            while run.poll() is None and not any(".tmp-" in name for name in self.listing()):
                pass
            run.send_signal(signal.SIGKILL)
            run.wait()
            if any(".tmp-" in name for name in self.listing()):
                break
        else:
            self.skipTest("no run was killed while it wrote")
        self.write("x.csv", EVENTS)
        self.smurf("convert", "x.csv", "y.jsonl")
        self.assertEqual(self.listing(), ["big.csv", "x.csv", "y.jsonl"])

    def test_a_live_writer(self):
        """Another that writes the same file keeps its own, even without a number that is known here."""
        self.write("x.csv", EVENTS)
        name = "y.csv.tmp-%d-0" % self.gone()
        self.write(name, "half")
        with open(self.path(name)) as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.smurf("convert", "x.csv", "y.csv")
            self.assertIn(name, self.listing())
        self.smurf("convert", "x.csv", "y.csv")
        self.assertNotIn(name, self.listing())


class Parts(Case):
    def test_the_part_without_gaps_is_named(self):
        self.write("parts/train.csv", table(30))
        self.write("parts/dev.csv", "user,time,type\na,1,a\nb,2,a\n")
        self.refuse("train", "parts", "-o", "m.safetensors", *SMALL, says=["the dev part of '.*dev.csv'", "leave it out"])
        self.write("parts/dev.csv", table(6, seed=2))
        self.write("parts/train.csv", "user,time,type\na,1,a\nb,2,b\n")
        self.refuse("train", "parts", "-o", "m.safetensors", *SMALL, says=["train"])


if __name__ == "__main__":
    unittest.main()
