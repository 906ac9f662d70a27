"""smurf train: what it writes, that it can be stopped and goes on, and what it refuses."""
import json
import os
import pty
import random
import re
import signal
import struct
import subprocess
import time
import unittest

import common
from common import Case

# A model that trains in no time; on one thread, as threads that wait for each other are slow on a busy machine.
SMALL = ["--width", "8", "--heads", "2", "--head-width", "4", "--layers", "1", "--inner", "8", "--nodes", "6", "--threads", "1"]


def csv(sequences, events=12, types=("a", "b"), seed=1):
    draw = random.Random(seed)
    lines = ["user,time,type"]
    for s in range(sequences):
        t = 0.0
        for _ in range(events):
            t += draw.expovariate(1) + 0.1
            lines.append("u%d,%.6f,%s" % (s, t, draw.choice(types)))
    return "\n".join(lines) + "\n"


class TrainCase(Case):
    def data(self, sequences=40, dev=8, events=12):
        """A directory with train and dev."""
        self.write("data/train.csv", csv(sequences, events))
        self.write("data/dev.csv", csv(dev, events, seed=2))
        return "data"

    def metadata(self, name):
        content = self.content(name)
        header = json.loads(content[8:8 + struct.unpack("<Q", content[:8])[0]])
        return json.loads(header["__metadata__"]["smurf"])

    def log(self, name="log.jsonl"):
        return [json.loads(line) for line in self.content(name).decode().splitlines()]

    def stop_when(self, ready, stop, *args):
        """Starts a run, sends it a signal once `ready` says so, and returns its status and standard error."""
        run = subprocess.Popen([common.SMURF, "train", *args], cwd=self.folder, env=common.environment(),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            for _ in range(20000):
                if ready() or run.poll() is not None:
                    break
                time.sleep(0.002)
            run.send_signal(stop)
            out, err = run.communicate(timeout=common.TIMEOUT)
        finally:
            run.kill()
            run.wait()
        self.assertEqual(out, b"", err)
        return run.returncode, err.decode()

    def has_lines(self, n, name="log.jsonl"):
        return lambda: os.path.exists(self.path(name)) and self.content(name).count(b"\n") >= n


class Files(TrainCase):
    def test_model_resume_and_log(self):
        r = self.smurf("train", self.data(), "-o", "m.safetensors", "--log", "log.jsonl", "--epochs", "3", *SMALL, quiet=False)
        self.assertEqual(self.listing(), ["data/dev.csv", "data/train.csv", "log.jsonl", "m.resume", "m.safetensors"])
        log = self.log()
        self.assertEqual([e["epoch"] for e in log], [1, 2, 3])
        for e in log:
            for key in ["train_loss", "dev_loss", "dev_time_loss", "dev_type_loss", "rate"]:
                self.assertIsInstance(e[key], float, e)
            self.assertTrue(e["events_per_second"] > 0 and e["seconds"] > 0 and 0 <= e["dev_accuracy"] <= 1, e)
            self.assertIsInstance(e["best"], bool)
        best = min(log, key=lambda e: e["dev_loss"])
        model = self.metadata("m.safetensors")
        self.assertEqual((model["epoch"], model["type_names"], model["settings"]["width"]), (best["epoch"], ["a", "b"], "8"))
        self.assertAlmostEqual(model["dev_loss"], best["dev_loss"], 6)
        self.assertRegex(r.out, r"(?m)^model +m\.safetensors, \d+ parameters$")
        self.assertRegex(r.out, r"(?m)^best epoch +%d$" % best["epoch"])
        self.assertRegex(r.out, r"(?m)^dev loss +%.4f " % best["dev_loss"])
        columns, *lines = r.err.splitlines()
        self.assertRegex(columns, r"^columns: time 'time' \(.*\), sequence 'user' \(\d+ values\), type ")
        self.assertEqual(len(lines), 3)
        for line in lines:
            self.assertRegex(line, r"^epoch +\d  train +\S+  dev +\S+  types +\S+%  +\d+ events/s +\S+ s(  best)?$")

    def test_quiet_says_the_result_only(self):
        r = self.smurf("train", self.data(), "--epochs", "1", "--quiet", *SMALL)
        self.assertIn("best epoch  1", r.out)
        self.assertIn("model.safetensors", self.listing())

    def test_without_dev(self):
        self.write("data/train.csv", csv(10))
        r = self.smurf("train", "data", "--epochs", "2", "--log", "log.jsonl", *SMALL, quiet=False)
        self.assertRegex(r.out, "(?s)best epoch  2\n.*no dev part")
        self.assertEqual([e["dev_loss"] for e in self.log()], [None, None])

    def test_one_file_is_split(self):
        self.write("events.csv", csv(50))
        self.smurf("train", "events.csv", "--epochs", "1", "--log", "log.jsonl", *SMALL, quiet=False)
        self.assertIsInstance(self.log()[0]["dev_loss"], float)

    def test_one_long_sequence(self):
        self.write("events.csv", csv(1, events=300))
        r = self.smurf("train", "events.csv", "--epochs", "2", "--log", "log.jsonl", *SMALL, quiet=False)
        self.assertIn("one sequence: it is cut in time, 8:1:1", r.err)
        self.assertIsInstance(self.log()[0]["dev_loss"], float)

    def test_standard_input(self):
        self.smurf("train", "-", "--epochs", "1", "--quiet", *SMALL, input=csv(20))

    def test_every_preset(self):
        self.write("data/train.csv", csv(2, events=4))
        names = self.smurf("train", "--help").out.partition("\nPresets\n")[2].partition("\n\n")[0].split()
        self.assertIn("paper-stackoverflow", names)
        for name in names:
            self.smurf("train", "data", "--preset", name, "--epochs", "1", "--points", "4", "--width", "8", "--inner", "8",
                       "--threads", "1", "--quiet")

    def test_rival_from_end_to_end(self):
        self.smurf("simulate", "hawkes", "-n", "30", "--until", "20", "-o", "data/", quiet=False)
        self.smurf("train", "data", "--preset", "nhp", "--width", "8", "--epochs", "2", "--threads", "1", "--quiet")
        self.assertEqual(self.metadata("model.safetensors")["settings"]["model"], "nhp")
        self.assertRegex(self.smurf("eval", "model.safetensors", "data").out, r"(?m)^model +\d")
        self.assertRegex(self.smurf("predict", "model.safetensors", "data").out, r"(?m)^0 +\d+ +[0-9.e-]+ ")

    def test_every_objective(self):
        for objective in ["dsm", "sm", "wsm", "mle"]:
            self.smurf("train", self.data(10, 4), "-o", "m.safetensors", "--objective", objective, "--epochs", "1", "--quiet",
                       *SMALL)
            self.assertEqual(self.metadata("m.safetensors")["settings"]["objective"], objective)


class Sameness(TrainCase):
    ARGS = ["--log", "log.jsonl", "--epochs", "4", "--batch", "1", "--dropout", "0.2", "--average", "0.9", *SMALL]

    def whole(self):
        self.smurf("train", self.data(), "-o", "whole.safetensors", *self.ARGS[2:], "--log", "whole.jsonl", "--quiet")
        return self.content("whole.safetensors")

    def check_log(self):
        """One line an epoch, the same but for the times taken."""
        def losses(name):
            return [(e["epoch"], e["train_loss"], e["dev_loss"], e["rate"], e["best"]) for e in self.log(name)]
        self.assertEqual(losses("log.jsonl"), losses("whole.jsonl"))

    def test_threads(self):
        for n in ["1", "2", "3"]:
            self.smurf("train", self.data(), "-o", n + ".safetensors", "--epochs", "2", "--quiet", *SMALL, "--threads", n)
        self.assertEqual(self.content("1.safetensors"), self.content("2.safetensors"))
        self.assertEqual(self.content("1.safetensors"), self.content("3.safetensors"))

    def test_again(self):
        first = self.whole()
        self.assertEqual(first, self.whole())
        self.smurf("train", "data", "-o", "other.safetensors", *self.ARGS, "--seed", "2", "--quiet")
        self.assertNotEqual(first, self.content("other.safetensors"))

    def test_interrupted(self):
        whole = self.whole()
        for stop in [signal.SIGINT, signal.SIGTERM]:
            for name in ["m.safetensors", "m.resume", "log.jsonl"]:
                if os.path.exists(self.path(name)):
                    os.unlink(self.path(name))
            # Many epochs, so that there is one in hand whenever the signal comes.
            slow = [*self.ARGS[:2], "--epochs", "100000", "--patience", "0", *self.ARGS[4:]]
            status, err = self.stop_when(self.has_lines(2), stop, "data", "-o", "m.safetensors", *slow, "--quiet")
            self.assertEqual(status, 1, err)
            self.assertEqual(err, "smurf: stopped; to continue, run the same command with --resume\n")
            self.assertTrue({"m.safetensors", "m.resume", "log.jsonl"} <= set(self.listing()))
        for name in ["m.safetensors", "m.resume", "log.jsonl"]:
            os.unlink(self.path(name))
        status, err = self.stop_when(lambda: os.path.exists(self.path("m.resume")), signal.SIGINT,
                                     "data", "-o", "m.safetensors", *self.ARGS, "--quiet", "--threads", "1")
        if status == 0:
            self.skipTest("the run was over before it could be stopped")
        self.smurf("train", "data", "-o", "m.safetensors", *self.ARGS, "--quiet", "--threads", "2", "--resume")
        self.assertEqual(self.content("m.safetensors"), whole)
        self.check_log()

    def test_killed(self):
        whole = self.whole()
        kills = 0
        for ready in [lambda: os.path.exists(self.path("m.resume")), self.has_lines(2), self.has_lines(3)]:
            more = ["--resume"] if kills else []
            status, err = self.stop_when(ready, signal.SIGKILL, "data", "-o", "m.safetensors", *self.ARGS, "--quiet", *more)
            kills += status == -signal.SIGKILL
            self.assertEqual(err, "")
        self.assertGreater(kills, 0)
        r = self.smurf("train", "data", "-o", "m.safetensors", *self.ARGS, "--quiet", "--resume")
        self.assertEqual(self.content("m.safetensors"), whole)
        self.check_log()
        # What is done stays done, and tells its result again.
        again = self.smurf("train", "data", "-o", "m.safetensors", *self.ARGS, "--quiet", "--resume")
        self.assertEqual(re.sub("time .*", "", again.out), re.sub("time .*", "", r.out))
        self.assertEqual(self.content("m.safetensors"), whole)
        self.check_log()

    def test_saved_within_epochs(self):
        """Killed in the first epoch, a run goes on where it was saved, to the same bits."""
        args = [*self.ARGS, "--save-every", "1ms", "--quiet"]
        whole = self.whole()

        def position():
            content = self.content("m.resume")
            header = json.loads(content[8:8 + struct.unpack("<Q", content[:8])[0]])
            state = json.loads(header["__metadata__"]["smurf_resume"])["state"]
            return state["epoch"], state["next"]

        def within():
            return os.path.exists(self.path("m.resume")) and position()[1] > 0
        status, err = self.stop_when(within, signal.SIGKILL, "data", "-o", "m.safetensors", *args)
        self.assertEqual((status, err), (-signal.SIGKILL, ""))
        for wait in [0.01, 0.05, 0.1]:
            run = subprocess.Popen([common.SMURF, "train", "data", "-o", "m.safetensors", *args, "--resume"],
                                   cwd=self.folder, env=common.environment(), stdout=subprocess.DEVNULL)
            time.sleep(wait)
            run.kill()
            run.wait()
        self.smurf("train", "data", "-o", "m.safetensors", *args, "--resume")
        self.assertEqual(self.content("m.safetensors"), whole)
        self.check_log()

    def test_save_every_is_a_duration(self):
        self.refuse("train", "data", "--save-every", "often", says=["--save-every", "often"], status=2)

    def test_resume_makes_the_model_again(self):
        self.smurf("train", self.data(), "-o", "m.safetensors", *self.ARGS, "--quiet")
        model = self.content("m.safetensors")
        os.unlink(self.path("m.safetensors"))
        self.smurf("train", "data", "-o", "m.safetensors", "--threads", "1", "--quiet", "--resume")
        self.assertEqual(self.content("m.safetensors"), model)

    def test_log_that_ran_ahead(self):
        """A line of an epoch that was not kept, and one that was cut off, give way."""
        self.smurf("train", self.data(), "-o", "m.safetensors", *self.ARGS[2:], "--log", "whole.jsonl", "--quiet")
        self.smurf("train", "data", "-o", "m.safetensors", *self.ARGS, "--quiet")
        lines = self.content("log.jsonl").splitlines(True)
        status, _ = self.stop_when(lambda: os.path.exists(self.path("n.resume")), signal.SIGKILL,
                                   "data", "-o", "n.safetensors", *self.ARGS, "--quiet")
        if status == 0:
            self.skipTest("the run was over before it could be killed")
        self.write("log.jsonl", b"".join(lines) + lines[0][:20])
        self.smurf("train", "data", "-o", "n.safetensors", *self.ARGS, "--quiet", "--resume")
        self.check_log()


class Terminal(TrainCase):
    def test_no_progress_in_a_file(self):
        r = self.smurf("train", self.data(), "--epochs", "2", *SMALL, quiet=False)
        self.assertNotIn("\r", r.err)
        self.assertNotIn("\033", r.err)

    def test_progress_and_control_c(self):
        """On a terminal: a line with the loss, events per second and time left; then Ctrl-C."""
        self.smurf("simulate", "hawkes", "--sequences", "400", "-o", "data", "--quiet")
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execve(common.SMURF, ["smurf", "train", "data", "--width", "128", "--layers", "6", "--batch", "1",
                                     "--threads", "1"],
                      common.environment(TERM="xterm"))
        seen, line, asked = b"", None, False
        while True:
            try:
                more = os.read(terminal, 4096)
            except OSError: # the other end is closed
                break
            if not more:
                break
            seen += more
            line = line or re.search(rb"\r\x1b\[Kepoch 1 of \d+  loss -?\d+\.\d{3}  \d+\.\dk events/s  \d+ steps  \d+%  "
                                     rb"\d+ s left", seen)
            if line and not asked:
                os.write(terminal, b"\x03")
                asked = True
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.close(terminal)
        self.assertTrue(line, seen[-500:])
        self.assertEqual(status, 1, seen[-500:])
        self.assertTrue(seen.endswith(b"smurf: stopped; to continue, run the same command with --resume\r\n"), seen[-200:])
        self.assertTrue(os.path.exists(self.path("model.resume")))


class Refusals(TrainCase):
    def test_settings(self):
        self.data()
        for args, says in [
            (["--width", "wide"], "width 'wide' is not a whole number from 2 to 4096"),
            (["--width", "7"], "width is 7: give an even number"),
            (["--dropout", "2"], "dropout '2' is not a number from 0 to 0.95"),
            (["--objective", "nce"], "objective 'nce' is not one of: dsm sm wsm mle"),
            (["--schedule", "step"], "schedule 'step' is not one of"),
            (["--objective", "mle", "--head", "score"], "mle needs an intensity"),
            (["--objective", "dsm", "--noise", "multiplicative"], "multiplicative noise needs"),
            (["--preset", "paper-taxi"], "unknown preset 'paper-taxi'"),
            (["--preset", "thp", "--objective", "dsm"], "model thp has its own loss: omit objective dsm"),
            (["--colour", "red"], "colour"),
            (["-o", "-"], "standard output"),
            (["-o", "data"], "--output would overwrite 'data/"),
            (["-o", "/tmp"], "'/tmp' is a directory"),
            (["--threads", "-1"], "threads"),
        ]:
            self.refuse("train", "data", *args, says=says, status=2)
        # before data is read
        self.refuse("train", "nowhere", "--width", "wide", says="width", status=2)

    def test_a_wrong_setting_leaves_the_log(self):
        self.data()
        self.write("log.jsonl", "precious\n")
        self.refuse("train", "data", "--log", "log.jsonl", "--width", "7", says="even", status=2)
        self.assertEqual(self.content("log.jsonl"), b"precious\n")

    def test_data(self):
        self.write("lonely/train.csv", "user,time,type\na,1,0\nb,2,0\n")
        self.refuse("train", "lonely", says="gap")
        self.write("still/train.csv", "user,time,type\na,1,0\na,1,0\na,1,0\n")
        self.refuse("train", "still", says="gap")
        self.write("blind/train.csv", csv(5))
        self.write("blind/dev.csv", "user,time,type\na,1,a\nb,2,a\n")
        self.refuse("train", "blind", says="dev.*gap")
        self.refuse("train", "nowhere", says="nowhere")
        os.mkdir(self.path("empty"))
        self.refuse("train", "empty", says="empty")

    def test_output(self):
        self.data()
        self.refuse("train", "data", "-o", "no/m.safetensors", "-q", *SMALL, says="cannot .* 'no/m.resume': no such file or directory")
        self.refuse("train", "data", "-o", "m.safetensors", "--log", "no/log", *SMALL, says="cannot write 'no/log'")
        os.symlink("/dev/full", self.path("full.safetensors"))
        os.symlink("/dev/full", self.path("full.resume"))
        before = self.listing()
        r = self.run_smurf("train", "data", "-o", "full.safetensors", "--quiet", *SMALL)
        self.assertEqual((r.status, r.out, r.err.count("\n")), (1, "", 1), r.err)
        self.assertRegex(r.err, "^smurf: cannot write 'full.resume': no space left on device")
        os.unlink(self.path("full.resume"))
        r = self.run_smurf("train", "data", "-o", "full.safetensors", "--quiet", *SMALL)
        self.assertEqual((r.status, r.out, r.err.count("\n")), (1, "", 1), r.err)
        self.assertRegex(r.err, "^smurf: cannot write 'full.safetensors': no space left on device")
        self.assertEqual(self.listing(), before)
        r = self.run_smurf("train", "data", "--epochs", "3", "--log", "/dev/full", "--quiet", *SMALL)
        self.assertEqual((r.status, r.out, r.err.count("\n")), (1, "", 1), r.err)
        self.assertRegex(r.err, "^smurf: cannot write '/dev/full': [Nn]o space left on device")
        self.assertEqual(self.metadata("model.safetensors")["epoch"], 1) # the work is not lost

    def test_loss_out_of_control(self):
        self.write("far/train.csv", "user,time,type\na,0,0\na,1e15,0\na,3e15,1\n")
        r = self.run_smurf("train", "far", "--scale", "none", "--alpha", "1e6", "--rate", "10", "--quiet", *SMALL)
        self.assertEqual((r.status, r.out, r.err.count("\n")), (1, "", 1), r.err)
        self.assertRegex(r.err, r"not finite in epoch 1, step 1 \(sequences 0 of train")


class BadResume(TrainCase):
    ARGS = ["data", "-o", "m.safetensors", "--epochs", "2", *SMALL]

    def setUp(self):
        super().setUp()
        self.data()
        self.smurf("train", *self.ARGS, "--quiet")

    def refuse_resume(self, says, *args, status=1):
        model = self.content("m.safetensors")
        self.refuse("train", *(args or self.ARGS), "--resume", says=says, status=status)
        self.assertEqual(self.content("m.safetensors"), model)

    def test_no_file(self):
        os.unlink(self.path("m.resume"))
        self.refuse_resume("cannot open 'm.resume': no such file or directory")

    def test_other_data(self):
        self.write("other/train.csv", csv(40, seed=3))
        self.write("other/dev.csv", csv(8, seed=2))
        self.refuse_resume("m.resume: the run was started with other training data", "other", *self.ARGS[1:])
        self.write("other/train.csv", csv(40))
        self.write("other/dev.csv", csv(7, seed=2))
        self.refuse_resume("m.resume: the run was started with other dev data", "other", *self.ARGS[1:])
        os.unlink(self.path("other/dev.csv"))
        self.refuse_resume("m.resume: the run was started with other dev data", "other", *self.ARGS[1:])

    def test_other_settings(self):
        self.refuse_resume("started with --width 8: resume without --width 16", *self.ARGS, "--width", "16", status=2)
        self.refuse_resume("started with --epochs 2", "data", "-o", "m.safetensors", "--epochs", "5", status=2)
        self.refuse_resume("started with --seed 1", *self.ARGS, "--seed", "4", status=2)
        self.smurf("train", *self.ARGS, "--width", "8.0", "--resume", "--quiet") # the same in other words

    def test_damaged(self):
        whole = self.content("m.resume")
        header = 8 + struct.unpack("<Q", whole[:8])[0]
        draw = random.Random(1)
        for name, content in {
            "empty": b"",
            "short": whole[:5],
            "cut_header": whole[:header // 2],
            "cut": whole[:-9],
            "longer": whole + b"x",
            "noise": bytes(draw.randrange(256) for _ in range(4000)),
            "text": b"user,time,type\n" * 100,
            "model": self.content("m.safetensors"),
            "counters": whole.replace(b'\\"epoch\\":2,\\"next', b'\\"epoch\\":0,\\"next'),
            "format": whole.replace(b'\\"format\\":1', b'\\"format\\":7'),
            "huge": whole.replace(b'\\"heads\\":\\"2\\"', b'\\"heads\\":\\"9\\"'),
        }.items():
            with self.subTest(name):
                self.assertNotEqual(content, whole)
                self.write("m.resume", content)
                self.refuse_resume("m.resume: ")
        # Bytes changed anywhere: an error or a run, never a crash.
        for _ in range(40):
            content = bytearray(whole)
            content[draw.randrange(header)] = draw.randrange(256)
            self.write("m.resume", bytes(content))
            r = self.run_smurf("train", *self.ARGS, "--resume", "--quiet")
            self.assertIn(r.status, (0, 1, 2), r.err)
            self.assertEqual(r.err.count("\n"), r.status > 0, r.err)


class Sigma(TrainCase):
    def test_auto_is_chosen_on_dev(self):
        r = self.smurf("train", self.data(), "-o", "m.safetensors", "--objective", "dsm", "--points", "8", "--sigma", "auto", "--epochs", "5", *SMALL,
                       quiet=False)
        trials = re.findall(r"^sigma (\S+) +dev CRPS (\S+) .*?(chosen)?$", r.err, re.MULTILINE)
        self.assertEqual(len(trials), 5, r.err)
        best = min(trials, key=lambda t: float(t[1]))
        self.assertEqual([t[0] for t in trials if t[2]], [best[0]])
        self.assertEqual(self.metadata("m.safetensors")["settings"]["sigma"], best[0])

    def test_auto_goes_with_dsm_and_dev(self):
        self.data()
        r = self.run_smurf("train", "data", "--sigma", "auto", *SMALL)
        self.assertEqual(r.status, 1)
        self.assertIn("sigma auto needs dsm", r.err)
        os.remove(self.path("data/dev.csv"))
        r = self.run_smurf("train", "data", "--objective", "dsm", "--sigma", "auto", *SMALL)
        self.assertEqual(r.status, 1)
        self.assertIn("needs a dev part", r.err)


class Dither(TrainCase):
    def test_off(self):
        self.write("data/train.csv", "user,time,type\n" + "".join(f"{i // 10},{i % 10 * (i % 3 + 1)},a\n" for i in range(600)))
        for options, tick in ([], 1.0), (["--dither", "off"], 0.0):
            self.smurf("train", "data", "--sort", "-o", "m.safetensors", "--epochs", "1", *options, *SMALL, quiet=False)
            self.assertEqual(float(self.metadata("m.safetensors")["settings"]["dither"]), tick)


class Calibration(TrainCase):
    def test_dev_is_dealt(self):
        self.data(dev=60, events=30)  # 1,740 gaps: two thirds of the sequences are set aside
        self.smurf("train", "data", "-o", "a.safetensors", "--epochs", "1", *SMALL, quiet=False)
        calibration = self.metadata("a.safetensors")["calibration"]
        self.assertEqual((calibration["sequences"], calibration["gaps"], len(calibration["conformal"])), (40, 40 * 29, 40))
        self.assertEqual(len(calibration["map"]), 33)
        self.smurf("train", "data", "-o", "b.safetensors", "--epochs", "1", "--recalibrate", "off", *SMALL, quiet=False)
        self.assertNotIn("calibration", self.metadata("b.safetensors"))

    def test_calibration_that_does_not_work(self):
        """Gaps of dev a thousand times those of train: no map of levels helps, only a naive law that follows them would."""
        self.data()
        lines = csv(90, 30, seed=5).splitlines()
        rows = [line.split(",") for line in lines[1:]]
        self.write("data/dev.csv", "\n".join([lines[0], *("%s,%f,%s" % (u, 1000 * float(t), k) for u, t, k in rows)]) + "\n")
        warning = r"smurf: warning: calibration failed: the CS on held-out gaps is \d\d\.\d+%"
        r = self.smurf("train", "data", "-o", "m.safetensors", "--epochs", "1", "--pool", "off", *SMALL, quiet=False)
        self.assertRegex(r.err, warning)
        self.assertRegex(r.out, r"recalibrated \(cross-fitted; chance alone: \d\.\d\d%\)")
        r = self.smurf("predict", "m.safetensors", "data/train.csv", quiet=False)
        self.assertRegex(r.err, warning)
        self.assertEqual(self.smurf("predict", "m.safetensors", "data/train.csv", "--quiet").err, "")
        self.smurf("report", "m.safetensors", "data", "--part", "dev", "-o", "r.html", "--quiet")
        self.assertIn("calibration did not work", self.content("r.html").decode())
        # One that does says nothing.
        self.write("data/dev.csv", csv(90, 30, seed=5))
        r = self.smurf("train", "data", "-o", "m.safetensors", "--epochs", "20", *SMALL, quiet=False)
        self.assertNotIn("warning", r.err)
        self.smurf("predict", "m.safetensors", "data/train.csv")
        self.smurf("report", "m.safetensors", "data", "--part", "dev", "-o", "r.html", "--quiet")
        self.assertNotIn("calibration did not work", self.content("r.html").decode())

    def test_small_dev_only_selects(self):
        self.data()
        self.smurf("train", "data", "-o", "a.safetensors", "--epochs", "1", *SMALL, quiet=False)
        self.assertNotIn("calibration", self.metadata("a.safetensors"))
        self.smurf("train", "data", "-o", "b.safetensors", "--epochs", "1", "--recalibrate", "on", *SMALL, quiet=False)
        self.assertIn("calibration", self.metadata("b.safetensors"))
        r = self.run_smurf("train", "data", "--recalibrate", "maybe")
        self.assertEqual(r.status, 2)
        self.assertIn("auto, on or off", r.err)


if __name__ == "__main__":
    unittest.main()
