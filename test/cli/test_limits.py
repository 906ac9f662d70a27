"""Models with absurd numbers, and little memory: an answer in finite numbers or one line, soon."""
import json
import re
import resource
import struct
import subprocess

import common
import models

SECONDS = 20
VALUES = [0, -1, 1e9, 1e300, -1e300, 1e-300, 2 ** 62, "nan", "", None, [], {}, [1e300], True]


def read_model(path):
    """(header, bytes of the tensors)"""
    with open(path, "rb") as f:
        content = f.read()
    size, = struct.unpack("<Q", content[:8])
    return json.loads(content[8:8 + size]), content[8 + size:]


def write_model(path, header, data):
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % 64)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def places(value, path=()):
    """Paths to all numbers, texts and lists of a JSON value; of long lists the first two elements."""
    yield path
    for key in list(value) if isinstance(value, dict) else range(min(2, len(value))) if isinstance(value, list) else ():
        yield from places(value[key], (*path, key))


def replaced(value, path, new):
    """A copy of a value with that at a path replaced; new is KeyError: removed."""
    copy = json.loads(json.dumps(value))
    at = copy
    for key in path[:-1]:
        at = at[key]
    if new is KeyError:
        del at[path[-1]]
    else:
        at[path[-1]] = new
    return copy


class Limits(models.ModelCase):
    @classmethod
    def make(cls):
        for part in "train", "dev", "test":
            cls.put(f"data/{part}.csv", models.table(4, events=5, seed=len(part)))
        cls.train("data", "smurf", "--recalibrate", "on")
        cls.train("data", "thp", "--preset", "thp")
        cls.train("data", "nhp", "--preset", "nhp")

    def run_limited(self, *args, input=b"", **more):
        done = subprocess.run([common.SMURF, *args], cwd=self.folder, env=common.environment(), input=input, timeout=SECONDS,
                              capture_output=True, **more)
        return common.Result(done)

    def check_run(self, about, *args, **more):
        """Status 0 and finite numbers, or 1 and one line. Returns the status."""
        r = self.run_limited(*args, **more)
        self.assertIn(r.status, (0, 1), (about, r.err))
        if r.status == 1:
            self.assertRegex(r.err, r"\Asmurf: [^\n]+\n\Z", about)
        else:
            self.assertNotRegex(r.out, r"(?i)\b(nan|inf(inity)?)\b", about)
        return r

    def check_metadata(self, every, *args):
        """Every place of the metadata with some of the values."""
        header, data = read_model(self.at("smurf"))
        about = json.loads(header["__metadata__"]["smurf"])
        names = "unit", "type_names"  # shown as they are: "nan" is no number there
        changes = [(path, new) for path in places(about) if path for new in VALUES + [KeyError]
                   if not (new == "nan" and path[0] in names)]
        refused = 0
        for path, new in changes[every - 1::every]:
            header["__metadata__"]["smurf"] = json.dumps(replaced(about, path, new))
            write_model(self.path("changed"), header, data)
            refused += self.check_run((path, new), *args).status
        self.assertGreater(refused, len(changes) // every // 3)

    def test_predict_with_changed_metadata(self):
        self.check_metadata(4, "predict", "changed", self.at("data/test.csv"), "--within", "1", "--threads", "1")

    def test_eval_with_changed_metadata(self):
        self.check_metadata(13, "eval", "changed", self.at("data"), "--threads", "1")

    def test_wide_scale_is_refused(self):
        header, data = read_model(self.at("smurf"))
        about = json.loads(header["__metadata__"]["smurf"])
        for path, new in (("scale", "sd"), 1e9), (("scale", "mean"), 1e305), (("high",), 1e9), (("calibration", "conformal"), [2]):
            header["__metadata__"]["smurf"] = json.dumps(replaced(about, path, new))
            write_model(self.path("changed"), header, data)
            line = self.refuse("predict", "changed", self.at("data/test.csv"))
            self.assertRegex(line, "no valid '(scale|low' and 'high|calibration)'")

    def test_huge_weights(self):
        """Finite weights whose sums are not: no number that is none is printed."""
        for name in "smurf", "thp", "nhp":
            header, data = read_model(self.at(name))
            for value in 3e38, -3e38, 1e30:
                write_model(self.path("huge"), header, struct.pack("<f", value) * (len(data) // 4))
                for command in ["predict", "--format", "jsonl"], ["predict"], ["sample", "--paths", "3"], ["eval"]:
                    data_path = self.at("data" if command[0] == "eval" else "data/test.csv")
                    r = self.check_run((name, value, command), command[0], "huge", data_path, *command[1:], "--threads", "1")
                    if r.status == 0 and "jsonl" in command:
                        self.assertNotIn(":null", re.sub(r'"(sequence|unit)":null', "", r.out), (name, value))
                        self.assertNotRegex(r.out, r'"p":-', (name, value))

    def test_little_address_space(self):
        """Too little memory is one line, not a crash."""
        def limited(kilobytes):
            return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (kilobytes << 10, kilobytes << 10))}

        least = 4000  # for the program itself
        while least < 40000 and self.run_limited("--version", **limited(least)).status != 0:
            least += 100
        if least >= 40000:
            self.skipTest("a sanitizer needs more address space than can be limited")
        statuses = set()
        for kilobytes in *range(least, least + 4000, 200), 40000, 200000:
            for args in (["info", self.at("data")], ["predict", self.at("smurf"), self.at("data/test.csv"), "--threads", "1"],
                         ["train", self.at("data"), "-o", "m", "--epochs", "1", "--quiet", "--threads", "1", *models.SMALL]):
                r = self.check_run((kilobytes, args), *args, **limited(kilobytes))
                statuses.add((args[0], r.status))
                if r.status:
                    self.assertIn("out of memory", r.err)
        self.assertLessEqual({("info", 0), ("predict", 0), ("predict", 1), ("train", 1), ("train", 0)}, statuses)
