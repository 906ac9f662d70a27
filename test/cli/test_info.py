"""smurf info: what it tells of a data set, for people and for machines, and what it warns of."""
import json
import math
import os
import re
import unittest

from common import SHARED, SMURF, Case, packed

SIZES = {  # of shared/data/README.md: types, sequences, events; train, dev, test
    "stackoverflow": (22, (2828, 314, 1326), (206750, 23504, 97233)),
    "financial": (2, (90, 10, 100), (298710, 33190, 82900)),
    "mimic2": (75, (520, 65, 65), (1937, 245, 237)),
    "retweet": (3, (8000, 1000, 1000), (872052, 108962, 109078)),
}


def quantile(sorted_values, level):
    at = level * (len(sorted_values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(sorted_values) - 1)
    return sorted_values[low] + (at - low) * (sorted_values[high] - sorted_values[low])


class Observed(Case):
    DATES = ("case,time\na,2020-01-01T00:00:00Z\na,2020-01-02T00:00:00Z\nb,2020-01-05T00:00:00Z\n")

    def test_a_log_of_dates_until_its_last_event(self):
        self.write("cases.csv", self.DATES)
        self.assertIn("observed   until 2020-01-05T00:00:00Z, the last event", self.smurf("info", "cases.csv").out)
        self.assertEqual(self.summary("cases.csv")[0]["observed_until"], "2020-01-05T00:00:00Z")
        self.write("one.csv", "time\n2020-01-01T00:00:00Z\n2020-01-02T00:00:00Z\n")
        self.assertIsNone(self.summary("one.csv")[0]["observed_until"])

    def test_until_a_given_time(self):
        self.write("cases.csv", self.DATES)
        self.write("counted.csv", "case,time\na,0\na,5\nb,0\n")
        self.assertIn("observed   until 2020-02-01T00:00:00Z\n",
                      self.smurf("info", "cases.csv", "--observed-until", "2020-02-01").out)
        [s] = self.summary("counted.csv", "--observed-until", "9")
        self.assertEqual((s["observed_until"], s["windows_known"]), (9, 2))
        self.smurf("convert", "counted.csv", "ends.csv", "--observed-until", "9")
        self.assertIn(b"a,5,0,9", self.content("ends.csv"))
        self.refuse("info", "counted.csv", "--observed-until", "4", says=["before the last event"])
        self.refuse("info", "counted.csv", "--observed-until", "soon", says=["--observed-until"], status=2)


class Numbers(Case):
    DATA = ("user,time,type\na,0,x\na,1,y\na,1,x\na,8,x\nb,2,y\nb,5,x\nb,20,x\nc,6,z\n")

    def setUp(self):
        super().setUp()
        self.write("a.csv", self.DATA)

    def test_json(self):
        [s] = self.summary("a.csv")
        gaps = [0, 1, 3, 7, 15]
        self.assertEqual({k: s[k] for k in ["title", "source", "sequences", "empty_sequences", "events", "history", "scored", "types",
                                            "types_seen", "type_names", "type_count", "earliest", "latest", "ties",
                                            "windows_known", "unit", "calendar"]},
                         {"title": "a.csv", "source": "a.csv", "sequences": 3, "empty_sequences": 0, "events": 8, "history": 0,
                          "scored": 5, "types": 3, "types_seen": 3, "type_names": ["x", "y", "z"], "type_count": [5, 2, 1],
                          "earliest": 0, "latest": 20, "ties": 1, "windows_known": 0, "unit": "", "calendar": False})
        self.assertEqual(s["quantile_levels"], [0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1])
        for key, values in [("gap", gaps), ("length", [1, 3, 4])]:
            for level, got in zip(s["quantile_levels"], s[key]):
                self.assertAlmostEqual(got, quantile(values, level), msg=(key, level))
        self.assertAlmostEqual(s["gap_mean"], 26 / 5)
        self.assertAlmostEqual(s["length_mean"], 8 / 3)
        self.assertEqual(s["tick"], 1)
        self.assertEqual(sum(s["bin"]), 4)

    def test_text(self):
        out = self.smurf("info", "a.csv").out
        for line in [r"^a\.csv$", r"^  sequences  3 of 1 to 4 events", r"^  events +8$", r"^  gaps +5$", r"^  time +0 to 20$",
                     r"^  clock +ticks of 1, 1 tie \(20\.0% of the gaps\)$", r"^  types +3$", r"^    x +5 +62\.5%  ",
                     r"^    y +2 +25\.0%  ", r"^    z +1 +12\.5%  ", r"^  gaps: mean 5\.2", r"median", r"distribution of gaps",
                     r"end of observation unknown"]:
            self.assertRegex(out, re.compile(line, re.M))

    def test_plain_letters_where_there_is_no_utf8(self):
        out = self.smurf("info", "a.csv", env={"LC_ALL": "C"})
        self.assertTrue(out.raw.isascii())
        self.assertIn("#", out.out)
        self.assertFalse(self.smurf("info", "a.csv").raw.isascii())

    def test_lines_fit_the_terminal(self):
        self.write("long.csv", "time,type\n" + "".join(f"{i * i},{'name ' * 30}{i % 7}\n" for i in range(100)))
        for name in ["a.csv", "long.csv"]:
            self.assertLessEqual(max(map(len, self.smurf("info", name).out.splitlines())), 80)

    def test_a_part_of_the_sequences_and_types(self):
        self.write("a.jsonl", '{"time_since_start": [1, 2], "type_event": [0, 1], "observation_end": 5}\n'
                              '{"time_since_start": %s, "type_event": %s}\n' % (list(range(40)), list(range(40))))
        out = self.smurf("info", "a.jsonl").out
        self.assertRegex(out, "known for 1 of 2 sequences")
        shown = len(re.findall(r"(?m)^ +\d+ +[12] +[0-9.]+%", out))
        [(types, events)] = re.findall(r"and (\d+) more with (\d+) events", out)
        self.assertEqual((shown + int(types), 2 + shown + int(events)), (40, 42))

    def test_one_named_type_is_named(self):
        self.write("b.csv", "time,type\n1,login\n2,login\n5,login\n")
        self.assertRegex(self.smurf("info", "b.csv").out, r"login +3 +100\.0%")

    def test_window_and_history(self):
        self.write("b.jsonl", '{"times":[1,2,3,4],"first_scored":2,"observation_end":9}\n{"times":[1,2],"observation_end":9}\n')
        [s] = self.summary("b.jsonl")
        self.assertEqual((s["events"], s["history"], s["scored"], s["windows_known"]), (6, 2, 3, 2))

    def test_parts_are_described_without_their_history(self):
        self.write("b.csv", "time,type\n" + "".join(f"{i},x\n" for i in range(80)) + "180,y\n200,y\n")
        train, test = self.summary("b.csv", "--split-at", "100")
        self.assertEqual((train["history"], train["scored"], train["gap"][-1], train["type_count"]), (0, 79, 1, [80, 0]))
        self.assertEqual((test["events"], test["history"], test["scored"]), (82, 80, 2))
        self.assertEqual((test["gap"][0], test["gap"][-1], test["type_count"], sum(test["bin"])), (20, 101, [0, 2], 2))
        [windows] = self.summary("b.csv", "--window", "10")
        self.assertEqual((windows["scored"], windows["ties"], windows["gap_mean"]), (81, 0, 200 / 81))
        self.assertIn("  history    80 events before the scored ones, not included here\n",
                      self.smurf("info", "b.csv", "--split-at", "100").out)

    def test_iso_times(self):
        self.write("b.csv", "time\n2024-01-01T00:00:00Z\n2024-01-01T00:00:30Z\n2024-01-03\n")
        [s] = self.summary("b.csv")
        self.assertEqual((s["earliest"], s["latest"], s["unit"], s["calendar"]),
                         ("2024-01-01T00:00:00Z", "2024-01-03T00:00:00Z", "s", True))
        self.assertIn("2024-01-01T00:00:00Z to 2024-01-03T00:00:00Z", self.smurf("info", "b.csv").out)

    def test_dates_count_seconds(self):
        self.write("b.csv", "time\n2024-01-01\n2024-01-02\n")
        self.write("c.jsonl", '{"unit":"days","time_since_start":["2024-01-01","2024-01-02"]}\n')
        says = "times are dates and count seconds: the unit cannot be 'days'"
        self.refuse("info", "b.csv", "--unit", "days", says="b.csv: " + says)
        self.refuse("info", "c.jsonl", says="c.jsonl: " + says)
        self.assertEqual(self.summary("b.csv", "--unit", "s")[0]["unit"], "s")

    def test_nanosecond_clock(self):
        self.write("b.csv", "time\n" + "".join(f"{1700000000000000000 + 250 * i * i}\n" for i in range(100)))
        out = self.smurf("info", "--json", "--time-format", "number", "b.csv").out
        self.assertIn('"earliest":1700000000000000000,', out)
        self.assertIn('"latest":1700000000002450250,', out)
        self.assertEqual(json.loads(out)[0]["tick"], 250)

    def test_json_is_json_whatever_the_names(self):
        name = 'a"\\\n\té.csv'
        self.write(name, b"time,type\n1,\"q\"\"\\\n\xff\"\n2,b\n")
        [s] = self.summary(name)
        self.assertEqual((s["title"], s["type_names"]), (name, ['q"\\\nÿ', "b"]))

    def test_every_way_in(self):
        want = self.summary("a.csv")[0]
        for args, more in [(("a.csv.gz",), {}), (("-",), {"input": self.DATA}), (("-",), {"input": packed(self.DATA)}),
                           (("/dev/stdin",), {"input": self.DATA})]:
            self.write("a.csv.gz", packed(self.DATA))
            got = self.summary(*args, **more)[0]
            for s in (got, want):
                s.pop("title", None), s.pop("source", None)
            self.assertEqual(got, want)

    def test_empty_sequences(self):
        self.write("b.jsonl", '{"times":[]}\n{"times":[1,2]}\n{"times":[]}\n')
        [s] = self.summary("b.jsonl")
        self.assertEqual((s["sequences"], s["empty_sequences"], s["length"][0]), (3, 2, 0))
        self.write("c.jsonl", '{"times":[]}\n')
        [s] = self.summary("c.jsonl")
        self.assertEqual((s["events"], s["earliest"], s["gap"][0]), (0, None, None))
        self.smurf("info", "c.jsonl")


class Warnings(Case):
    def warnings(self, text, *options, name="a.csv", part=0):
        self.write(name, text)
        found = self.summary(name if part == 0 and "/" not in name else os.path.dirname(name), *options)[part]["warnings"]
        shown = " ".join(self.smurf("info", name, *options).out.split())
        for warning in found:
            self.assertIn("warning: " + " ".join(warning.split()), shown)
        return " | ".join(found)

    def test_nothing_to_warn_of(self):
        self.assertEqual(self.warnings("time,type\n" + "".join(f"{i * i},{i % 3}\n" for i in range(50))), "")

    def test_one_type_only(self):
        self.assertRegex(self.warnings("time\n1\n2\n4\n"), "one type")

    def test_constant_gaps(self):
        self.assertRegex(self.warnings("time,type\n1,0\n2,1\n3,0\n4,1\n"), "every gap is 1")

    def test_all_ties(self):
        self.assertRegex(self.warnings("time,type\n1,0\n1,1\n1,0\n"), "all gaps are 0")

    def test_sorted(self):
        self.assertRegex(self.warnings("time,type\n5,0\n1,1\n3,0\n", "--sort"), "2 events were out of order")
        self.assertRegex(self.warnings("time,type\n1,0\n5,0\n3,1\n", "--sort"), "1 event was out of order and has been sorted")

    def test_gaps_that_disagree(self):
        self.assertRegex(self.warnings('{"time_since_start":[1,2,4],"type_event":[0,1,1],"time_since_last_event":[0,1,3]}',
                                       name="a.jsonl"), "time_since_last_event disagrees")

    def test_remarks_survive_what_is_done_after_reading(self):
        line = '{"time_since_start":[1,2,4],"type_event":[0,1,1],"time_since_last_event":[0,1,3]}\n'
        self.write("a.jsonl", 10 * line)
        for options in [("--split", "8:1:1"), ("--window", "2"), ("--dither", "1"), ("--split-at", "1.5,3")]:
            for part in self.summary("a.jsonl", *options):
                self.assertRegex(" | ".join(part["warnings"]), "time_since_last_event disagrees", options)

    def test_remarks_stay_with_their_file(self):
        sequence = {"type_names": ["a", "b"], "time_since_start": [1, 2, 4], "type_event": [0, 1, 1]}
        self.write("d/train.jsonl", json.dumps({**sequence, "time_since_last_event": [0, 1, 3]}))
        self.write("d/dev.jsonl", json.dumps(sequence))
        train, dev = self.summary("d")
        self.assertRegex(" | ".join(train["warnings"]), "disagrees")
        self.assertNotRegex(" | ".join(dev["warnings"]), "disagrees")

    def test_types_from_one(self):
        self.assertRegex(self.warnings("time,type\n1,1\n2,2\n4,1\n8,2\n"), "count from 1.*--types words")

    def test_types_never_seen_in_train(self):
        self.write("d/train.csv", "time,type\n1,x\n2,y\n4,x\n")
        self.write("d/dev.csv", "time,type\n1,x\n2,z\n4,y\n")
        self.write("d/test.csv", "time,type\n1,w\n2,z\n4,y\n")
        train, dev, test = self.summary("d")
        self.assertEqual([p["type_names"] for p in (train, dev, test)], [["x", "y", "z", "w"]] * 3)
        self.assertRegex(" ".join(dev["warnings"]), r"1 type never seen in train \(z\)")
        self.assertRegex(" ".join(test["warnings"]), r"2 types never seen in train \(z, w\)")


class RealData(Case):
    def test_sizes(self):
        for name, (types, sequences, events) in SIZES.items():
            folder = os.path.join(SHARED, "data", name)
            if not os.path.isdir(folder):
                self.skipTest(f"{folder} is missing")
            parts = self.summary(folder)
            self.assertEqual([p["title"] for p in parts], ["train", "dev", "test"])
            self.assertEqual([p["types"] for p in parts], [types] * 3, name)
            self.assertEqual(tuple(p["sequences"] for p in parts), sequences, name)
            self.assertEqual(tuple(p["events"] for p in parts), events, name)

    def test_clock_and_ties_of_retweets(self):
        folder = os.path.join(SHARED, "data", "retweet")
        if not os.path.isdir(folder):
            self.skipTest(f"{folder} is missing")
        train = self.summary(folder)[0]
        self.assertEqual((train["tick"], train["earliest"]), (1, 0))
        self.assertAlmostEqual(train["ties"] / train["scored"], 0.009, places=3)
        self.assertAlmostEqual(train["gap_mean"], 3922, delta=0.5)

    def test_pickles(self):
        folder = os.path.join(SHARED, "data", "mimic2_pickle")
        if not os.path.isdir(folder):
            self.skipTest(f"{folder} is missing")
        parts = self.summary(folder)
        self.assertEqual((parts[2]["sequences"], parts[2]["events"], parts[0]["types"]), (65, 237, 75))
        [taobao] = self.summary(os.path.join(SHARED, "data", "taobao_pickle", "dev.pkl"))
        self.assertEqual(taobao["types"], 17)
        self.assertRegex(" ".join(taobao["warnings"]), "time_since_last_event")


if __name__ == "__main__":
    unittest.main()
