"""smurf watch: alarms about a stream of events."""
import csv
import datetime
import io
import os
import random
import signal
import subprocess
import time
import unittest

import common
from models import ModelCase

START = datetime.datetime(2026, 1, 1)
DEVICES, HOURS = 10, 2  # an event of each every two hours


def log(days, seed, start=0, rate=lambda device, hours: 1):
    """A Poisson process of each device, in the order of time; rate: relative to the usual one, 0: it has stopped."""
    draw, rows = random.Random(seed), []
    for device in range(DEVICES):
        hours = 0
        while True:
            hours += draw.expovariate(1 / HOURS)
            if hours > 24 * days:
                break
            if draw.random() < rate(device, hours):
                rows.append((hours + 24 * start, "d%d" % device, draw.choices(["ok", "slow", "lost"], [8, 2, 0.05])[0]))
    rows.sort()
    at = [((START + datetime.timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ"), device, type) for hours, device, type in rows]
    return "time,device,type\n" + "".join(",".join(row) + "\n" for row in at)


class Watch(ModelCase):
    @classmethod
    def make(cls):
        cls.put("log/train.csv", log(30, 1))
        cls.put("log/dev.csv", log(10, 2))
        cls.train("log", "model.safetensors", "--recalibrate", "on", "--epochs", "40", "--rate", "0.01", "--batch", "2", "--context", "16",
                  "--wall-clock", "off")  # the process has none
        cls.put("healthy.csv", log(40, 3))

    def watch(self, name, *args, **more):
        return self.jsonl("watch", self.at("model.safetensors"), name, "-q", *args, **more)

    def test_as_many_as_asked_for(self):
        for per_day in 2, 5:  # the law is a learned one, and few types are improbable: bars need some alarms to adapt
            found = self.watch(self.at("healthy.csv"), "--alarms-per-day", str(per_day))
            self.assertTrue(0.4 * per_day * 39 < len(found) < 1.4 * per_day * 39, (per_day, len(found)))
            self.assertEqual({a["alarm"] for a in found}, {"overdue", "early", "type", "rate", "calibration"})
            self.assertEqual([a["at"] for a in found], sorted(a["at"] for a in found))
            self.assertGreater(found[0]["at"], "2026-01-02")
        self.assertNotEqual(found, self.watch(self.at("healthy.csv"), "--alarms-per-day", "5", "--no-adapt"))

    def test_formats_agree(self):
        found = self.watch(self.at("healthy.csv"))
        args = ["watch", self.at("model.safetensors"), self.at("healthy.csv")]
        rows = list(csv.DictReader(io.StringIO(self.smurf(*args, "--format", "csv", "-q").out)))
        self.assertEqual([(r["alarm"], r["at"], r["sequence"], r["evidence"]) for r in rows],
                         [(a["alarm"], a["at"], a.get("sequence", ""), a["evidence"]) for a in found])
        done = self.smurf(*args, quiet=False)
        self.assertRegex(done.lines[0], r"^at +alarm +sequence +evidence$")
        self.assertEqual([line.split()[2] for line in done.lines[1:]], [a["alarm"] for a in found])
        self.assertRegex(done.err, r"\d+ events of 10 sequences: %d alarms" % len(found))
        for a in found:
            if a["alarm"] == "overdue":
                self.assertRegex(a["evidence"], r"^silent for [\d.]+ (h|d) since '\w+': longer than in all but \d(\.\d+)?% of cases$")
            if a["alarm"] == "type":
                self.assertRegex(a["evidence"], r"^'\w+' had a probability of [\d.]+% at that time$")
            if a["alarm"] == "early":
                self.assertRegex(a["evidence"], r"^'\w+' came .* after the last event: sooner than in all but (less than )?[\d.]+% of cases$")

    def test_a_stream_is_a_file(self):
        whole = self.watch(self.at("healthy.csv"))
        with open(self.at("healthy.csv"), "rb") as file:
            self.assertEqual(self.watch("-", input=file.read()), whole)

    def test_states_go_on(self):
        lines = log(40, 3).splitlines(keepends=True)
        whole = self.watch(self.write("whole.csv", "".join(lines)))
        found, state = [], self.path("state")
        for k, (first, last) in enumerate(((1, 700), (700, 701), (701, 3000), (3000, None))):
            part = self.write("part%d.csv" % k, "".join(lines[:1] + lines[first:last]))
            found += self.watch(part, "--state", state, "--seed", "1")
        self.assertEqual(found, whole)
        content = self.content("state")
        flipped = [content[:at] + bytes([content[at] ^ 1]) + content[at + 1:] for at in (0, 50, 100, len(content) // 2, len(content) - 9)]
        for damaged in content[:-1], content + b"x", b"", b"x" * 100, *flipped:
            self.write("state", damaged)
            done = self.run_smurf("watch", self.at("model.safetensors"), "part0.csv", "--state", state)
            self.assertEqual(done.status, 1)
            self.assertRegex(done.err, r"^smurf: .*state: this is not a state of smurf watch, or it is damaged: remove the file")
            self.assertEqual(self.content("state"), damaged)

    def test_states_of_other_models(self):
        part = self.write("part.csv", "".join(log(40, 3).splitlines(keepends=True)[:300]))
        state = self.path("state")
        self.watch(part, "--state", state)
        self.train("log", "other.safetensors", "--epochs", "1", "--seed", "2")
        done = self.run_smurf("watch", self.at("other.safetensors"), part, "--state", state)
        self.assertEqual(done.status, 1)
        self.assertIn("the state is that of another model", done.err)

    def test_silence(self):
        quiet = self.watch(self.write("quiet.csv", log(30, 4, rate=lambda device, hours: device != 3 or hours < 24 * 20)))
        overdue = [a for a in quiet if a["alarm"] == "overdue" and a["sequence"] == "d3" and a["at"] > "2026-01-21"]
        self.assertEqual(len(overdue), 1)  # raised once, within two days
        self.assertLess(overdue[0]["at"], "2026-01-23")
        self.assertGreater(overdue[0]["silence"], 8 * 3600)
        before = self.watch(self.at("healthy.csv"))
        after = self.watch(self.at("healthy.csv"), "--now", "2026-02-20")
        self.assertEqual(after[:len(before)], before)
        self.assertEqual({a["sequence"] for a in after[len(before):]}, {"d%d" % k for k in range(DEVICES)})
        done = self.run_smurf("watch", self.at("model.safetensors"), self.at("healthy.csv"), "--now", "2026-01-20")
        self.assertEqual(done.status, 1)
        self.assertIn("there is an event after --now 2026-01-20", done.err)

    def test_rates(self):
        """Half of the events of one device are left out; then of all."""
        slow = self.watch(self.write("slow.csv", log(40, 5, rate=lambda device, hours: 0.5 if device == 4 and hours > 24 * 20 else 1)))
        found = [a for a in slow if a["alarm"] == "rate" and a["sequence"] == "d4" and a["at"] > "2026-01-21"]
        self.assertTrue(found and found[0]["at"] < "2026-01-30", found)
        self.assertEqual(found[0]["evidence"], "events come about half as fast as forecast")
        fewer = self.watch(self.write("fewer.csv", log(40, 6, rate=lambda device, hours: 0.6 if hours > 24 * 20 else 1)))
        found = [a for a in fewer if a["alarm"] == "calibration" and a["at"] > "2026-01-21"]
        self.assertTrue(found and found[0]["at"] < "2026-01-24", found)
        self.assertRegex(found[0]["evidence"], "longer than forecast|too narrow")

    def test_short_and_odd_input(self):
        short = self.smurf("watch", self.at("model.safetensors"), self.write("short.csv", "".join(log(1, 7).splitlines(keepends=True)[:50])),
                           quiet=False)
        self.assertEqual(short.lines, ["at                  alarm       sequence       evidence"])
        self.assertIn("no alarms yet", short.err)
        rows = log(40, 3).splitlines(keepends=True)
        self.watch("-", "--state", "late", input="".join(rows[:200]))
        late = self.smurf("watch", self.at("model.safetensors"), "-", "--state", "late", input="".join(rows[:1] + rows[20:21] + rows[200:300]), quiet=False)
        self.assertRegex(late.err, r"sequence 'd\d': time .* lies before the last event, at .*; such records are left out")
        unknown = self.smurf("watch", self.at("model.safetensors"), "-", input="".join(rows[:200] + [rows[200].replace("ok", "odd").replace("slow", "odd")]), quiet=False)
        self.assertIn("does not know", unknown.err)
        odd = self.watch(self.write("odd.csv", "".join(rows[:3000] + [rows[3000].replace("ok", "odd").replace("slow", "odd").replace("lost", "odd")] + rows[3001:3100])))
        self.assertIn("a type that the model does not know", [a["evidence"] for a in odd])

    def test_units(self):
        self.smurf("simulate", "poisson", "rate=1", "-n", "12", "--events", "40", "-o", "plain/", "-q")
        self.smurf("train", "plain/", "-o", "plain.safetensors", "--epochs", "1", "-q")
        done = self.run_smurf("watch", "plain.safetensors", "plain/test.jsonl")
        self.assertEqual(done.status, 2)
        self.assertIn("give the length of a day in it, --day 1440 for minutes", done.err)
        self.assertEqual(self.run_smurf("watch", "plain.safetensors", "plain/test.jsonl", "--day", "5").status, 0)
        for option, value, word in ("--alarms-per-day", "0", "--alarms-per-day takes a number from "), ("--day", "0", "--day"), ("--format", "xml", "xml"):
            done = self.run_smurf("watch", "plain.safetensors", "plain/test.jsonl", option, value)
            self.assertEqual(done.status, 2, done.err)
            self.assertIn(word, done.err)

    def test_one_type_without_a_name(self):
        """Texts for people do not call it '0'."""
        self.write("plain.csv", "time\n" + "".join("%s\n" % line.split(",")[0] for line in sorted(log(10, 3).splitlines()[1:])))
        self.smurf("train", "plain.csv", "-o", "plain.safetensors", "--epochs", "1", "-q")
        found = self.jsonl("watch", "plain.safetensors", "plain.csv", "-q", "--alarms-per-day", "20")
        for kind, start in ("overdue", r"silent for .* since the last event: longer"), ("early", "an event came .* after the last event: sooner"):
            words = [a["evidence"] for a in found if a["alarm"] == kind]
            self.assertTrue(words)
            for text in words:
                self.assertRegex(text, "^" + start)
        self.assertRegex(self.smurf("predict", "plain.safetensors", "plain.csv", "-q").lines[1], "90%$")
        counts = [line.split()[1:3] for line in self.smurf("sample", "plain.safetensors", "plain.csv", "--until", "1h", "-q").lines]
        self.assertEqual([c for c in counts if c[0] == "count"], [["count", "all"]])
        self.write("one.csv", "time\n2026-01-01T00:00:00Z\n")
        self.assertRegex(self.smurf("watch", "plain.safetensors", "one.csv", quiet=False).err, "^1 event of 1 sequence: no alarms yet")

    def test_stopping_saves_the_state(self):
        rows = log(40, 3).splitlines(keepends=True)
        process = subprocess.Popen([common.SMURF, "watch", self.at("model.safetensors"), "-", "--state", "state"], cwd=self.folder,
                                   env=common.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write("".join(rows[:400]).encode())
        process.stdin.flush()
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        process.stdin.write("".join(rows[400:800]).encode())
        _, err = process.communicate(timeout=common.TIMEOUT)
        self.assertEqual(process.returncode, 1)
        self.assertTrue(os.path.exists(self.path("state")), err)
        self.smurf("watch", self.at("model.safetensors"), self.write("rest.csv", "".join(rows[:1] + rows[1000:])), "--state", "state", "-q")


if __name__ == "__main__":
    unittest.main()
