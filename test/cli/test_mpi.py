"""smurf-mpi: several processes leave what one does, and end together."""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

import common
import mpi
from models import SMALL, table

sys.path.insert(0, os.path.join(common.ROOT, "test"))
sys.path.insert(0, os.path.join(common.ROOT, "bench"))
import scale  # noqa: E402
import soak_mpi  # noqa: E402

TRAIN = ["train", "data", "-o", "m.safetensors", "--batch", "24", "--width", "16", "--inner", "64", "--dropout", "0.1",
         "--average", "0.9"]
LINE = r"smurf: rank \d: no answer from rank \d \(or one that it waits for\); to continue, run the same command with --resume"


class Mpi(mpi.Case):
    def data(self, train=150, dev=100):
        self.write("data/train.csv", table(train, events=25))
        self.write("data/dev.csv", table(dev, events=25, seed=2))

    def same_as_one(self, *args):
        """The model that plain smurf makes, and what it prints; the model is removed."""
        r = self.smurf(*args, quiet=False)
        model = self.content("m.safetensors")
        os.remove(self.path("m.safetensors"))
        return model, self.printed(r)

    def printed(self, result):
        """Without durations and speeds."""
        return (re.sub(r"time +\d+ s\n", "", result.out), re.sub(r" +\d+ events/s +[\d.]+ s", "", result.err))

    # ---- the program ----

    def test_version_names_the_library(self):
        self.assertRegex(self.mpi(1, "--version").out, r"^smurf-mpi \d+\.\d+\.\d+ \(.*, .*MPI.*\)\n$")
        self.assertNotIn("MPI", self.smurf("--version").out)

    def test_without_mpirun_it_is_one_process(self):
        self.data(20, 5)
        model, _ = self.same_as_one(*TRAIN, *SMALL, "--epochs", "1", "-q")
        done = mpi.subprocess.run([mpi.SMURF_MPI, *TRAIN, *SMALL, "--epochs", "1", "-q"], cwd=self.folder, capture_output=True,
                                  env=mpi.environment(), timeout=common.TIMEOUT)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(self.content("m.safetensors"), model)

    # ---- training ----

    def test_the_same_model_from_any_number(self):
        """Also the same log, the same messages, each once, and a calibration."""
        self.data()
        args = [*TRAIN, "--epochs", "2", "--log", "log.jsonl"]
        model, said = self.same_as_one(*args, "--threads", "1")
        self.assertIn("gaps of 67 dev sequences set aside", said[0])
        timeless = re.compile(r'"(seconds|events_per_second)":[^,}]*')
        log = timeless.sub("", self.content("log.jsonl").decode())
        for count, threads in (1, 2), (2, 1), (3, 2), (4, 1):
            with self.subTest(count=count):
                r = self.mpi(count, *args, "--threads", str(threads))
                self.assertEqual(r.status, 0, r.err)
                self.assertEqual(self.printed(r), said)
                self.assertTrue(self.content("m.safetensors") == model)
                self.assertEqual(timeless.sub("", self.content("log.jsonl").decode()), log)
                os.remove(self.path("m.safetensors"))

    def test_packed_files(self):
        self.data(60, 10)
        os.mkdir(self.path("packed"))
        for part in "train", "dev":
            self.smurf("convert", f"data/{part}.csv", f"packed/{part}.smurf", "--quiet")
        args = [*TRAIN[2:], "--epochs", "1", "--threads", "1"]
        model, _ = self.same_as_one("train", "packed", *args)
        self.assertEqual(self.mpi(3, "train", "packed", *args).status, 0)
        self.assertTrue(self.content("m.safetensors") == model)

    def parts(self, count=5):
        """The data above in several files of train, two of dev; a remark on two, one of them packed by gzip."""
        self.data(100, 30)
        for part, files in ("train", count), ("dev", 2):
            rows = self.content(f"data/{part}.csv").decode().splitlines(keepends=True)
            for i in range(files):
                share = rows[1 + len(rows[1:]) * i // files:1 + len(rows[1:]) * (i + 1) // files]
                more = f"u{99 * (i + 1) // files},,a\n" if i in (1, 3) else ""
                text = "".join([rows[0], *share, more])
                self.write(f"parts/{part}-{i:03}.csv" + ".gz" * (i == 2), common.packed(text) if i == 2 else text)

    def test_a_directory_of_parts(self):
        """The model and the messages of one file, which each process reads a share of."""
        self.parts()
        args = [*TRAIN[2:], "--epochs", "1", "--threads", "1"]
        one, _ = self.same_as_one("train", "data", *args)
        model, said = self.same_as_one("train", "parts", *args)
        self.assertTrue(model == one)
        self.assertEqual(said[1].count("smurf: warning: parts/train (5 files): train-00"), 2)
        for count in 1, 2, 3, 4:
            with self.subTest(count=count):
                r = self.mpi(count, "train", "parts", *args)
                self.assertEqual((r.status, self.printed(r)), (0, said))
                self.assertTrue(self.content("m.safetensors") == model)

    def test_further_columns_of_parts(self):
        """Each process reads them all."""
        self.parts(2)
        for name in "train-000", "train-001", "dev-000", "dev-001":
            head, *rows = self.content(f"parts/{name}.csv").decode().splitlines()
            self.write(f"parts/{name}.csv", "\n".join([head + ",place"] + [f"{r},p{i % 3}" for i, r in enumerate(rows)]) + "\n")
        args = ["train", "parts", *TRAIN[2:], "--epochs", "1", "--threads", "1", "--features", "place"]
        model, said = self.same_as_one(*args)
        r = self.mpi(2, *args)
        self.assertEqual((r.status, self.printed(r)), (0, said))
        self.assertTrue(self.content("m.safetensors") == model)

    def test_a_bad_part(self):
        """Whoever reads it, one message names it: the first, if several are bad."""
        self.parts()
        self.write("parts/train-003.csv", "user,time,type\nx,1,a\nx,oops,a\n")
        self.write("parts/train-004.csv", "")
        for count in 2, 3, 4, 5:
            with self.subTest(count=count):
                self.refuse_mpi(count, "train", "parts", "-q", status=1, says=r"^smurf: parts/train-003\.csv:3: .*'oops'")
        self.write("parts/train-000.csv", "")
        self.refuse_mpi(3, "train", "parts", "-q", status=1, says=r"^smurf: parts/train-000\.csv: the file is empty")
        os.remove(self.path("parts/train-003.csv"))
        self.write("parts/train-003.jsonl", "")
        self.refuse_mpi(3, "train", "parts", "-q", status=1, says="holds files of two formats for train, 'train-00[0-9].csv.*' and 'train-003.jsonl'")

    def test_other_parts_in_one_rank(self):
        self.parts()
        self.write("other/train-0.csv", table(5))
        says = "^smurf: process 1 sees other files in 'parts' than process 0: give all of them the same directory$"
        self.refuse_mpi(1, "train", "parts", "-q", status=1, says=says, also=[(1, ["train", "other", "-q"])])

    def test_no_room_for_parts(self):
        """In one process: the others do not wait for ever."""
        self.parts()
        words = ["-n", "1", mpi.SMURF_MPI, "train", "parts", "-q", ":", "-n", "1", "env", "TMPDIR=/proc/nowhere", mpi.SMURF_MPI, "train", "parts", "-q"]
        done = subprocess.run([*mpi.MPIRUN, *words], cwd=self.folder, env=mpi.environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=common.TIMEOUT)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(len(mpi.told(done.stderr)), 1, done.stderr)
        self.assertRegex(done.stderr, "smurf: rank 1: cannot keep data in a temporary file in '/proc/nowhere': .*set TMPDIR")

    def test_windows_of_a_log(self):
        self.write("log.csv", table(1, events=600))
        args = ["train", "log.csv", "-o", "m.safetensors", "--window", "20", "--history", "10", "--epochs", "1", *SMALL]
        model, _ = self.same_as_one(*args)
        self.assertEqual(self.mpi(2, *args).status, 0)
        self.assertTrue(self.content("m.safetensors") == model)

    def test_choosing_sigma(self):
        self.data(60, 20)
        args = [*TRAIN, *SMALL, "--objective", "dsm", "--sigma", "auto", "--epochs", "1"]
        model, said = self.same_as_one(*args)
        r = self.mpi(2, *args)
        self.assertEqual((r.status, self.printed(r)), (0, said))
        self.assertTrue(self.content("m.safetensors") == model)

    def test_killed_and_resumed_with_another_number(self):
        """A rank is killed: one line, and the run goes on from its checkpoint in other numbers, to the same bits."""
        self.data(100, 10)
        args = [*TRAIN, "--epochs", "10", "--threads", "1", "-q"]
        model, _ = self.same_as_one(*args)
        os.remove(self.path("m.resume"))
        for rank, count in (1, 3), (0, 2):
            begun = time.time()
            run = self.start(count, *args, "--save-every", "10ms", *(["--resume"] if count == 2 else []))
            self.wait_until(lambda: soak_mpi.written(self.folder) > begun, run)
            status, err = self.signal(run, count, rank, signal.SIGKILL)
            self.assertNotEqual(status, 0)
            self.assertRegex("\n".join(mpi.told(err)), f"^(?:{LINE})?$")  # nothing, if mpirun was faster
            self.assertTrue(os.path.exists(self.path("m.resume")))
        r = self.mpi(4, *args, "--resume")
        self.assertEqual((r.status, r.err), (0, ""))
        self.assertTrue(self.content("m.safetensors") == model)

    def test_a_shell_around_a_killed_rank(self):
        """Its status, and so that of mpirun, is 1."""
        self.data(100, 10)
        words = " ".join([mpi.SMURF_MPI, *TRAIN, "--epochs", "1000", "--threads", "1", "-q", "--save-every", "10ms"])
        run = subprocess.Popen([*mpi.MPIRUN, "-n", "2", "sh", "-c", words + " || exit 1"], cwd=self.folder, env=mpi.environment(),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end, run)
        self.wait_until(lambda: os.path.exists(self.path("m.resume")), run)
        os.kill(max(self.processes()), signal.SIGKILL)
        run.communicate(timeout=common.TIMEOUT)
        self.assertEqual(run.returncode, 1)

    def processes(self):
        """Those of smurf-mpi that work in the folder of this test."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/comm") as name:
                if name.read().startswith("smurf-mpi") and os.readlink(f"/proc/{pid}/cwd") == os.path.realpath(self.folder):
                    found.append(int(pid))
        return found

    def test_random_kills(self):
        """The campaign of `make soak-mpi`, shortened."""
        runs, stuck = soak_mpi.campaign(self.folder, kills=2, seed=1, epochs=8, early=False)
        self.assertGreater(runs, 0)
        self.assertEqual(stuck, 0)

    def test_stopped_and_resumed_with_one(self):
        self.data(100, 10)
        args = [*TRAIN, "--epochs", "10", "--threads", "1", "-q"]
        model, _ = self.same_as_one(*args)
        run = self.start(2, *args)
        self.wait_until(lambda: os.path.exists(self.path("m.safetensors")), run)
        status, err = self.signal(run, 2, 1, signal.SIGTERM)
        self.assertEqual((status, err), (1, "smurf: stopped; to continue, run the same command with --resume\n"))
        self.smurf(*args, "--resume")
        self.assertTrue(self.content("m.safetensors") == model)

    def test_a_hanging_rank_ends_the_job(self):
        self.data(100, 10)
        run = self.start(3, *TRAIN, "--epochs", "1000000", "--threads", "1", "-q", env={"SMURF_MPI_TIMEOUT": "0.5"})
        self.wait_until(lambda: os.path.exists(self.path("m.safetensors")), run)
        status, err = self.signal(run, 3, 2, signal.SIGSTOP)
        self.assertEqual(status, 1)
        self.assertRegex("\n".join(mpi.told(err)), f"^{LINE}$")

    def test_no_process_outlives_mpirun(self):
        self.data(100, 10)
        run = self.start(3, *TRAIN, "--epochs", "1000000", "--threads", "1", "-q")
        self.wait_until(lambda: os.path.exists(self.path("m.safetensors")) and len(mpi.ranks(run.pid)) == 3, run)
        pids = mpi.ranks(run.pid).values()
        run.kill()
        end = time.monotonic() + common.TIMEOUT
        while any(map(mpi.is_alive, pids)) and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual([pid for pid in pids if mpi.is_alive(pid)], [])

    # ---- comparing ----

    def test_compare_deals_out_its_cells(self):
        self.data(30, 8)
        self.write("data/test.csv", table(8, seed=3))
        sizes = ["--set", "width=8", "--set", "heads=2", "--set", "head-width=4", "--set", "layers=1", "--set", "inner=8"]
        args = ["compare", "data", "--models", "default,default:nodes=6", "--seeds", "2", "--epochs", "1", "--threads", "1", *sizes]
        want = self.smurf(*args, "--runs", "one", quiet=False)
        r = self.mpi(2, *args, "--runs", "two")
        self.assertEqual((r.status, r.out), (0, want.out))
        self.assertEqual(len(re.findall("^cell .* done in", want.err, re.M)), 5)
        self.assertIn(len(re.findall("^cell .* done in", r.err, re.M)), (2, 3))  # those of rank 0
        self.assertEqual(sorted(os.listdir(self.path("two"))), sorted(os.listdir(self.path("one"))))
        again = self.mpi(3, *args, "--runs", "two")
        self.assertEqual((again.status, again.out, again.err), (0, want.out, "all 5 cells already done\n"))

    def test_compare_goes_on_after_a_kill(self):
        """What was done is kept, what was interrupted goes on, to the same table."""
        self.data(40, 8)
        self.write("data/test.csv", table(8, seed=3))
        args = ["compare", "data", "--models", "default", "--seeds", "3", "--epochs", "8", "--threads", "1", "--set", "width=16"]
        want = self.smurf(*args, "--runs", "one", quiet=False)
        run = self.start(2, *args, "--runs", "two", "-q")

        def is_training():
            two = self.path("two")
            return os.path.isdir(two) and any(os.path.exists(os.path.join(two, name, "model.safetensors")) for name in os.listdir(two))
        self.wait_until(is_training, run)
        status, err = self.signal(run, 2, 1, signal.SIGKILL)
        self.assertNotEqual(status, 0)
        self.assertLessEqual(len(mpi.told(err)), 1, err)
        self.assertNotIn("--resume", err)
        r = self.mpi(3, *args, "--runs", "two")
        self.assertEqual((r.status, r.out), (0, want.out), r.err)

    def test_compare_fails_together(self):
        """A cell that cannot be stored, whoever runs it."""
        self.data(30, 8)
        self.write("data/test.csv", table(8, seed=3))
        args = ["compare", "data", "--models", "default", "--epochs", "1", "--threads", "1", "--runs", "runs"]
        self.mpi(2, *args)
        for folder in os.listdir(self.path("runs")):
            for name in os.listdir(self.path("runs", folder)):
                os.remove(self.path("runs", folder, name))
            os.mkdir(self.path("runs", folder, "lock"))
        r = self.mpi(2, *args)
        self.assertEqual((r.status, r.out), (1, ""))
        self.assertRegex(r.err, "(?s)smurf: .*cannot write '.*lock'.*smurf: rank 1: .*cannot write|"
                                "smurf: rank 1: .*cannot write '.*lock'.*smurf: .*cannot write")

    # ---- mistakes ----

    def refuse_mpi(self, count, *args, status, says, **more):
        r = self.mpi(count, *args, **more)
        self.assertEqual((r.status, r.out), (status, ""), r.err)
        told = mpi.told(r.err)
        self.assertEqual(len(told), 1, r.err)
        self.assertRegex(told[0], says)

    def test_a_mistake_is_told_once(self):
        self.refuse_mpi(3, "train", "nothere", status=1, says="^smurf: cannot open 'nothere': no such file or directory$")
        self.refuse_mpi(2, "train", "data", "--bogus", status=2, says="^smurf: unknown option '--bogus'")
        self.refuse_mpi(2, "train", "-", status=2, says="^smurf: standard input reaches one process only: name a file for 2$")
        self.refuse_mpi(2, "info", "data", status=2, says="smurf-mpi info runs as one process: start it without mpirun")
        self.refuse_mpi(2, "train", "data", status=2, says="SMURF_MPI_TIMEOUT takes seconds, 0 or more, not 'soon'",
                        env={"SMURF_MPI_TIMEOUT": "soon"})

    def test_what_one_rank_alone_finds(self):
        """The others do not wait for ever."""
        self.data(30, 8)
        self.refuse_mpi(2, *TRAIN, "--log", "none/log.jsonl", "-q", status=1, says="^smurf: cannot write 'none/log.jsonl'")

    def test_what_another_rank_alone_finds(self):
        self.data(30, 8)
        self.refuse_mpi(1, *TRAIN, "-q", status=1, says="^smurf: rank 1: cannot open 'nothere'",
                        also=[(1, ["train", "nothere", "-q"])])

    def test_other_settings_in_one_rank(self):
        self.data(30, 8)
        says = "^smurf: process 1 was given other data or settings than process 0: give all of them the same$"
        self.refuse_mpi(1, *TRAIN, "-q", status=1, says=says, also=[(1, [*TRAIN, "-q", "--rate", "0.01"])])

    def test_counts(self):
        """What travels in a step is what doc/scale.md says."""
        self.data(128, 10)
        for ranks in 2, 3, 4:
            done = self.mpi(ranks, "train", "data", "--batch", "64", "--epochs", "1", "--threads", "1", "-q",
                            env={"SMURF_MPI_COUNTS": "counts"})
            self.assertEqual(done.status, 0, done.err)
            weights = int(re.search(r"(\d+) parameters", done.out)[1])
            for rank in range(ranks):
                c = json.loads(self.content(f"counts.{rank}"))
                step = {name: count / 2 for name, count in c["step"].items()}
                self.assertEqual((c["rank"], c["ranks"], c["steps"]), (rank, ranks, 2))
                self.assertEqual((step["rounds"], step["messages"]), (scale.rounds(ranks), scale.messages(ranks, rank)))
                if ranks != 3:  # which has several subtrees
                    self.assertAlmostEqual(step["bytes"] / scale.sent(weights, ranks, rank), 1, delta=0.01)


if __name__ == "__main__":
    unittest.main()
