"""Splits, windows and dithering through the real command."""
import decimal
import json
import os
import unittest

from common import Case

D = decimal.Decimal
PARTS = ["train", "dev", "test"]


class Share(Case):
    def setUp(self):
        super().setUp()
        self.write("a.csv", "user,time,type\n" + "".join(f"u{u},{u + i / 4},{i % 3}\n" for u in range(50) for i in range(5)))

    def split(self, *options, out="parts"):
        self.smurf("convert", "a.csv", out, *options)
        found = []
        for part in PARTS:
            path = os.path.join(out, part + ".jsonl")
            found.append({n: (t, k) for n, t, k in self.events(path)} if os.path.exists(self.path(path)) else None)
        return found

    def test_every_sequence_once(self):
        whole = {n: (t, k) for n, t, k in self.events("a.csv")}
        train, dev, test = self.split("--split", "8:1:1")
        self.assertEqual([len(p) for p in (train, dev, test)], [40, 5, 5])
        self.assertEqual({**train, **dev, **test}, whole)

    def test_seed(self):
        first, again = self.split("--split", "8:1:1"), self.split("--split", "8:1:1", out="again")
        self.assertEqual(first, again)
        other = self.split("--split", "8:1:1", "--seed", "2", out="other")
        self.assertNotEqual(first[1], other[1])
        self.assertEqual(first, self.split("--split", "80:10:10", "--seed", "1", out="same"))

    def test_shares(self):
        self.assertEqual([p and len(p) for p in self.split("--split", "1:1:0")], [25, 25, None])
        self.assertEqual([p and len(p) for p in self.split("--split", "0.5:0:0.5", out="b")], [25, None, 25])
        self.assertEqual([p and len(p) for p in self.split("--split", "1000:1:1", out="c")], [48, 1, 1])

    def test_train_alone(self):
        self.assertEqual([p and len(p) for p in self.split("--split", "1:0:0")], [50, None, None])
        self.smurf("convert", "a.csv", "train.csv", "--split", "1:0:0")
        self.assertEqual(len(self.events("train.csv")), 50)

    def test_wrong_shares(self):
        for text in ["8", "8:1", "8:1:1:1", "a:b:c", "8:1:-1", "8:1:1x", "nan:1:1", "", ":::", "8::1", "inf:1:1"]:
            self.refuse("convert", "a.csv", "parts", "--split", text, says="--split.*8:1:1", status=2)
            self.refuse("simulate", "poisson", "-o", "parts", "--split", text, says="--split.*8:1:1", status=2)
        self.refuse("info", "a.csv", "--split", "0:1:1", says="train must be positive")
        self.refuse("info", "a.csv", "--split", "0:0:0", says="train must be positive")

    def test_too_few(self):
        self.write("b.csv", "user,time\na,1\nb,1\n")
        self.refuse("convert", "b.csv", "parts", "--split", "8:1:1", says="2 sequences are too few")

    def test_formats(self):
        for to, names in [("csv", ["%s.csv"]), ("tsv", ["%s.tsv"]), ("json", ["%s.json"]), ("pickle", ["%s.pkl"]),
                          ("rmtpp", ["time-%s.txt", "event-%s.txt"])]:
            self.smurf("convert", "a.csv", to, "--split", "8:1:1", "--to", to)
            self.assertEqual(sorted(os.listdir(self.path(to))), sorted(n % p for n in names for p in PARTS))
            sizes = [p["sequences"] for p in self.summary(to)]
            self.assertEqual(sizes, [40, 5, 5], to)

    def test_several_parts_need_a_directory(self):
        for out in ["-", "out.csv", "out.jsonl.gz", "/dev/null"]:
            self.refuse("convert", "a.csv", out, "--split", "8:1:1", says=["directory"], status=2)
        self.refuse("convert", "a.csv", "nowhere/parts", "--split", "8:1:1", says=["nowhere/parts", "[Nn]o such file"])
        self.write("parts", "a file")
        self.refuse("convert", "a.csv", "parts", "--split", "8:1:1", says="directory", status=2)

    def test_info_splits_too(self):
        self.assertEqual([(p["title"], p["sequences"]) for p in self.summary("a.csv", "--split", "8:1:1")],
                         [("train", 40), ("dev", 5), ("test", 5)])

    def test_options_that_exclude_each_other(self):
        self.refuse("info", "a.csv", "--split", "8:1:1", "--split-at", "3", says="mutually exclusive", status=2)
        self.smurf("convert", "a.csv", "parts", "--split", "8:1:1")
        self.refuse("info", "parts", "--split", "8:1:1", says=["'parts'", "already"], status=2)


class StaleParts(Case):
    """A part of an earlier split must not be left to pass for one of this."""

    def setUp(self):
        super().setUp()
        self.write("a.csv", "user,time\n" + "".join(f"u{u},{i}\n" for u in range(20) for i in range(20)))

    def test_refused(self):
        self.smurf("convert", "a.csv", "st", "--split", "8:1:1")
        before = {p: self.content(f"st/{p}.jsonl") for p in PARTS}
        self.refuse("convert", "a.csv", "st", "--split-at", "10",
                    says="'st' holds dev.jsonl, which would not be replaced: remove it or name another directory")
        self.refuse("convert", "a.csv", "st", "--split", "8:1:1", "--to", "csv", says="holds dev.jsonl, which")
        self.refuse("simulate", "poisson", "-n", "9", "-o", "st", "--split", "8:0:2", says="holds dev.jsonl, which")
        self.assertEqual({p: self.content(f"st/{p}.jsonl") for p in PARTS}, before)
        os.remove(self.path("st/dev.jsonl"))
        self.smurf("convert", "a.csv", "st", "--split-at", "10")
        self.smurf("convert", "a.csv", "st", "--split", "8:1:1")  # over all parts of the last

    def test_names(self):
        for name in ["valid.csv", "my-test.tsv.gz", "train.pkl", "TRAIN.JSONL", "train.jsonl.gz"]:
            self.write(f"d{name}/{name}", "")
            self.refuse("convert", "a.csv", "d" + name, "--split", "8:1:1", says=f"holds {name}, which")
        for name in ["README.md", "events.csv", "train.log", "train.jsonl"]:
            self.write(f"e{name}/{name}", "")
            self.smurf("convert", "a.csv", "e" + name, "--split", "8:1:1")

    def test_rmtpp(self):
        self.smurf("convert", "a.csv", "r", "--split", "8:1:1", "--to", "rmtpp")
        self.smurf("convert", "a.csv", "r", "--split", "8:1:1", "--to", "rmtpp")
        self.refuse("convert", "a.csv", "r", "--split", "8:0:2", "--to", "rmtpp", says="holds time-dev.txt, which")


class OneSequence(Case):
    """A single sequence is cut in time; what came before is history and not scored."""

    def test_shares(self):
        self.write("a.csv", "time,type\n" + "".join(f"{i * i},{i % 2}\n" for i in range(20)))
        r = self.smurf("convert", "a.csv", "parts", "--split", "8:1:1", quiet=False)
        self.assertRegex(r.err, "^one sequence: it is cut in time, 8:1:1, with what came before as history\n$")
        times = [i * i for i in range(20)]
        for part, n, first, end in [("train", 16, None, 256), ("dev", 18, 16, 324), ("test", 20, 18, None)]:
            [s] = self.sequences(f"parts/{part}.jsonl")
            self.assertEqual((s["time_since_start"], s.get("first_scored"), s.get("observation_end")),
                             (times[:n], first, end), part)

    def test_no_share_for_test(self):
        self.write("a.csv", "time\n" + "".join(f"{i}\n" for i in range(20)))
        self.refuse("convert", "a.csv", "parts", "--split", "8:2:0", "--quiet", says="test.*positive")

    def test_too_short(self):
        self.write("a.csv", "time\n1\n2\n")
        self.refuse("convert", "a.csv", "parts", "--split", "8:1:1", "--quiet", says="2 events is too short to be split like this .collect")
        self.write("a.csv", "time,type\n1,0\n")
        self.refuse("train", "a.csv", "--quiet", says="one sequence of 1 event is too short")

    def test_all_at_one_time(self):
        self.write("a.csv", "time,type\n" + "5,a\n5,b\n" * 20)
        self.refuse("train", "a.csv", "--quiet", says="its first 33 events have the same time .is the right column")


class SplitAt(Case):
    def setUp(self):
        super().setUp()
        self.write("a.csv", "user,time\na,1\na,2\na,3\na,4\nb,1\nb,1.5\nc,3.5\nc,5\n")

    def parts(self, *options, source="a.csv"):
        self.smurf("convert", source, "parts", *options)
        return {p: {s["sequence"]: (s["time_since_start"], s.get("first_scored"), s.get("observation_end"))
                    for s in self.sequences(f"parts/{p}.jsonl")}
                for p in PARTS if os.path.exists(self.path(f"parts/{p}.jsonl"))}

    def test_one_time(self):
        self.assertEqual(self.parts("--split-at", "3"), {
            "train": {"a": ([1, 2], None, 3), "b": ([1, D("1.5")], None, None)},
            "test": {"a": ([1, 2, 3, 4], 2, None), "c": ([D("3.5"), 5], None, None)}})

    def test_two_times(self):
        self.assertEqual(self.parts("--split-at", "2,3.75"), {
            "train": {"a": ([1], None, 2), "b": ([1, D("1.5")], None, None)},
            "dev": {"a": ([1, 2, 3], None, D("3.75"))},
            "test": {"a": ([1, 2, 3, 4], 3, None), "c": ([D("3.5"), 5], None, None)}})

    def test_scored_gaps_are_those_of_the_whole(self):
        whole = self.summary("a.csv")[0]["scored"]
        for at in ["2", "3", "2,3.75", "1.2,4"]:
            self.assertEqual(sum(p["scored"] for p in self.summary("a.csv", "--split-at", at)), whole, at)

    def test_iso(self):
        self.write("b.csv", "user,time\na,2024-01-01\na,2024-02-01T00:00:00Z\na,2024-03-01\n")
        found = self.parts("--split-at", "2024-02-01T01:00:00+01:00", source="b.csv")
        self.assertEqual(found["train"]["a"], (["2024-01-01T00:00:00Z"], None, "2024-02-01T00:00:00Z"))
        self.assertEqual(found["test"]["a"][1], None)  # the first event is never scored: 1 is the least
        self.assertEqual(len(found["test"]["a"][0]), 3)

    def test_nanoseconds(self):
        base = 1700000000000000000
        self.write("b.csv", "user,time\n" + "".join(f"a,{base + i}\n" for i in range(10)))
        found = self.parts("--split-at", str(base + 4), "--time-format", "number", source="b.csv")
        self.assertEqual(found["train"]["a"], ([base + i for i in range(4)], None, base + 4))
        self.assertEqual(found["test"]["a"][1], 4)

    def test_known_end_stays(self):
        self.write("b.csv", "user,time,observation_end\na,1,9\na,2,9\nb,1,2.5\nb,2,2.5\n")
        found = self.parts("--split-at", "2", source="b.csv")
        self.assertEqual([found["train"]["a"][2], found["test"]["a"][2], found["test"]["b"][2]], [2, 9, D("2.5")])

    def test_observed_without_events(self):
        self.write("b.jsonl", '{"sequence":"a","times":[1,2],"observation_end":100}\n'
                              '{"sequence":"b","times":[1,2,50],"observation_end":100}\n'
                              '{"sequence":"c","times":[1,2]}\n'
                              '{"sequence":"d","times":[1,2],"observation_end":10}\n'
                              '{"sequence":"e","times":[1,2,50],"observation_end":100,"first_scored":3}\n')
        found = self.parts("--split-at", "10", source="b.jsonl")
        self.assertEqual(found["test"], {"a": ([1, 2], 2, 100), "b": ([1, 2, 50], 2, 100), "e": ([1, 2, 50], 3, 100)})
        os.remove(self.path("parts/test.jsonl"))
        self.assertNotIn("dev", found)
        found = self.parts("--split-at", "10,20", source="b.jsonl")
        self.assertEqual(found["dev"], {"a": ([1, 2], 2, 20), "b": ([1, 2], 2, 20)})  # of e, this is history
        self.assertEqual(list(found["test"]), ["a", "b", "e"])

    def test_empty_parts(self):
        for at in ["0", "100", "-9223372036854775807", "9223372036854775807"]:
            self.refuse("convert", "a.csv", "parts", "--split-at=" + at, says=["would be empty", "smurf info"])
        self.refuse("convert", "a.csv", "parts", "--split-at", "2.1,2.2", says="dev part .*would be empty")

    def test_far_from_the_clock(self):
        self.write("b.csv", "time\n1700000000000000000\n1700000000000000001\n")
        for at in ["-9000000000000000000", "9000000000000000000"]:
            self.refuse("info", "b.csv", "--split-at=" + at, says="would be empty")

    def test_wrong_times(self):
        for at in ["soon", "", "2,", ",2", "2,3,4", "nan", "1e400", "2024-13-01"]:
            self.refuse("convert", "a.csv", "parts", "--split-at", at, says="--split-at", status=2)
        self.refuse("convert", "a.csv", "parts", "--split-at", "3,2", says="must not start before")


class Directory(Case):
    DATA = "user,time,type\na,1,x\na,2,y\n"

    def test_names(self):
        for names in [("train.csv", "dev.csv", "test.csv"), ("training.csv", "validation.csv", "test.csv.gz"),
                      ("my-train.csv", "my_val.csv", "my.test.csv"), ("TRAIN.CSV", "Valid.csv", "Test.csv")]:
            folder = "d" + names[0]
            for name in names:
                self.write(os.path.join(folder, name), self.DATA)
            self.write(os.path.join(folder, "README.md"), "train dev test")
            self.assertEqual([p["title"] for p in self.summary(folder)], PARTS, names)
            self.assertEqual([p["title"] for p in self.summary(folder + "/")], PARTS, names)

    def test_mixed_formats(self):
        self.write("d/train.csv", self.DATA)
        self.write("d/dev.jsonl", '{"times":[1,2],"types":["y","z"]}')
        self.write("d/test.json", '[{"times":[1,2],"types":["x","y"]}]')
        self.assertEqual([p["type_count"] for p in self.summary("d")], [[1, 1, 0], [0, 1, 1], [1, 1, 0]])

    def test_rmtpp(self):
        for part in PARTS:
            self.write(f"d/time-{part}.txt", "1 2 3\n")
            self.write(f"d/event-{part}.txt", "0 1 2\n")
        self.assertEqual([p["events"] for p in self.summary("d")], [3, 3, 3])

    def test_train_only(self):
        self.write("d/train.csv", self.DATA)
        self.assertEqual(len(self.summary("d")), 1)
        self.smurf("convert", "d", "out.jsonl")

    def test_convert_a_directory(self):
        for part in PARTS:
            self.write(f"d/{part}.csv", self.DATA)
        self.smurf("convert", "d", "e", "--to", "tsv")
        self.assertEqual(sorted(os.listdir(self.path("e"))), ["dev.tsv", "test.tsv", "train.tsv"])
        self.refuse("convert", "d", "d", "--to", "csv", says="OUT would overwrite 'd/", status=2)
        self.assertEqual(sorted(os.listdir(self.path("d"))), ["dev.csv", "test.csv", "train.csv"])

    def test_no_train(self):
        self.write("d/dev.csv", self.DATA)
        self.refuse("info", "d", says=["'d' holds no file called train", "train.csv"])

    def test_two_for_one_part(self):
        self.write("d/train.csv", self.DATA)
        self.write("d/train.jsonl", '{"times":[1]}')
        self.refuse("info", "d", says=["two files for train", "'train.csv' and 'train.jsonl'"])

    def test_bad_part_is_named(self):
        self.write("d/train.csv", self.DATA)
        self.write("d/dev.csv", "user,time,type\na,1,x\na,oops,y\n")
        self.refuse("info", "d", says=["d/dev.csv:3: ", "'oops'"])

    def test_one_clock(self):
        self.write("d/train.csv", "time\n1\n2\n")
        self.write("d/dev.csv", "time\n2024-01-01\n2024-01-02\n")
        self.refuse("info", "d", says="times are numbers in 'd/train.csv' but dates in 'd/dev.csv'")
        self.write("d/dev.csv", "time\n1\n2\n")
        self.write("d/test.jsonl", '{"times":[1,2],"unit":"min"}')
        self.smurf("info", "d")  # where only one names its unit, the others may well have it
        self.write("d/train.csv", '{"times":[1,2],"unit":"s"}')
        self.refuse("info", "d", says="unit of time is 's' in 'd/train.csv' but 'min' in 'd/test.jsonl'")
        self.smurf("info", "d", "--unit", "h")

    def test_numbers_and_words(self):
        self.write("d/train.csv", "time,type\n1,0\n2,1\n")
        self.write("d/dev.csv", "time,type\n1,0\n2,login\n")
        self.refuse("info", "d", says=["d/dev.csv:3: ", "'login'", "numbers", "--types words"])
        self.smurf("info", "d", "--types", "words")


class Window(Case):
    def test_windows(self):
        self.write("a.csv", "user,time,observation_start,observation_end\n" + "".join(f"a,{i},-1,99\n" for i in range(10)))
        found = self.sequences("a.csv", "--window", "4", "--history", "2")
        self.assertEqual([(s["time_since_start"], s.get("first_scored", 1), s.get("observation_start"),
                           s.get("observation_end")) for s in found],
                         [([0, 1, 2, 3, 4], 1, -1, None), ([3, 4, 5, 6, 7, 8], 2, None, None), ([7, 8, 9], 2, None, 99)])

    def test_scored_events_are_those_of_the_input_each_once(self):
        self.write("a.csv", "user,time\n" + "".join(f"u{u},{i + u / 8}\n" for u in range(7) for i in range(3 * u + 1)))
        whole = [(n, t) for n, times, _ in self.events("a.csv") for t in times[1:]]
        for window, history in [(1, 0), (1, 1), (3, 2), (4, 64), (5, 0), (1000, 10)]:
            found = self.sequences("a.csv", "--window", str(window), "--history", str(history))
            scored = [(s["sequence"], t) for s in found for t in s["time_since_start"][s.get("first_scored", 1):]]
            self.assertEqual(scored, whole, (window, history))
            self.assertTrue(all(len(s["time_since_start"]) <= window + max(history, 1) for s in found))

    def test_windows_survive_a_table(self):
        self.write("a.csv", "user,time\n" + "".join(f"a,{i}\n" for i in range(20)))
        want = [(s["time_since_start"], s.get("first_scored")) for s in self.sequences("a.csv", "--window", "6", "--history", "3")]
        for name in ["w.csv", "w.tsv", "w.jsonl", "w.json", "w.pkl"]:
            self.smurf("convert", "a.csv", name, "--window", "6", "--history", "3")
            self.assertEqual([(s["time_since_start"], s.get("first_scored")) for s in self.sequences(name)], want, name)

    def test_one_long_log(self):
        self.write("a.csv", "time,type\n" + "".join(f"{i},{i % 2}\n" for i in range(1000)))
        [s] = self.summary("a.csv", "--window", "100")
        self.assertEqual((s["sequences"], s["scored"], s["length"][-1]), (10, 999, 164))  # history 64 by default
        parts = self.summary("a.csv", "--window", "100", "--split-at", "800,900")
        self.assertEqual(sum(p["scored"] for p in parts), 999)
        self.assertEqual([p["sequences"] for p in parts], [8, 2, 2])  # windows begin at the events 1, 101, ...

    def test_history_alone(self):
        self.write("a.csv", "time\n1\n2\n")
        self.refuse("info", "a.csv", "--history", "3", says="--history.*--window", status=2)

    def test_odd_values(self):
        self.write("a.csv", "time\n1\n2\n4\n")
        for value in ["-1", "x", "1.5", "99999999999999999999", ""]:
            self.refuse("info", "a.csv", "--window", value, says="--window takes a whole number", status=2)
        self.assertEqual(self.summary("a.csv", "--window", "18446744073709551615", "--history", "18446744073709551615")[0]["scored"], 2)


class Dither(Case):
    def setUp(self):
        super().setUp()
        self.write("a.csv", "user,time,type\n" + "".join(f"u{u},{i // 3},{i % 2}\n" for u in range(5) for i in range(60)))

    def gaps(self, *options):
        return [b - a for _, times, _ in self.events("a.csv", *options) for a, b in zip(times, times[1:])]

    def test_within_the_tick(self):
        before, after = self.gaps(), self.gaps("--dither", "1")
        self.assertTrue(all(g > 0 for g in after))
        self.assertTrue(all(abs(a - b) <= D("0.5") for a, b in zip(before, after)))
        self.assertEqual(after, self.gaps("--dither", "auto"))

    def test_seed(self):
        self.assertEqual(self.gaps("--dither", "1"), self.gaps("--dither", "1", "--seed", "1"))
        self.assertNotEqual(self.gaps("--dither", "1"), self.gaps("--dither", "1", "--seed", "2"))

    def test_history_has_the_times_that_train_had(self):
        self.smurf("convert", "a.csv", "parts", "--dither", "1", "--split-at", "10")
        train = {n: t for n, t, _ in self.events("parts/train.jsonl")}
        for name, times, _ in self.events("parts/test.jsonl"):
            self.assertEqual(times[:len(train[name])], train[name])

    def test_no_tick(self):
        self.smurf("simulate", "poisson", "-n", "20", "-o", "p.csv", "--quiet")
        r = self.smurf("convert", "p.csv", "-", "--dither", "auto", quiet=False)
        self.assertRegex(r.err, "^smurf: warning: .*no clock tick.*\n$")

    def test_wrong_ticks(self):
        for text in ["0", "-1", "nan", "inf", "x", "", "1e999"]:
            self.refuse("convert", "a.csv", "-", "--dither", text, says="--dither takes a tick above 0", status=2)


if __name__ == "__main__":
    unittest.main()
