"""smurf convert: what each reader takes, what each writer keeps, and how files, pipes, signals and terminals behave."""
import decimal
import contextlib
import itertools
import json
import os
import pickle
import pty
import random
import select
import signal
import stat
import subprocess
import threading
import time
import unittest

import common
from common import SMURF, Case, environment, packed

D = decimal.Decimal
FORMATS = ["a.csv", "a.tsv", "a.jsonl", "a.json", "time-a.txt", "a.pkl", "a.smurf"]
PACKED = [f + ".gz" for f in FORMATS]


class Csv(Case):
    def read(self, text, *options, **more):
        self.write("x.csv", text)
        return self.events("x.csv", *options, **more)

    def test_usual_names(self):
        for name, when, what in itertools.product(["sequence", "User", "case_id", "PATIENT_ID", "host"],
                                                  ["time", "Timestamp", "t", "date"],
                                                  ["type", "event", "Activity", "event_type"]):
            text = f"{when},{name},note,{what}\n1,a,x,p\n2,b,x,q\n"
            self.assertEqual(self.read(text), [("a", [1], ["p"]), ("b", [2], ["q"])], text)

    def test_best_of_several_names_wins(self):
        text = "label,type,ts,time\n7,1,70,1\n8,2,80,2\n"
        self.assertEqual(self.read(text), [(None, [1, 2], [1, 2])])

    def test_named_columns(self):
        text = "time,a,b,c\n9,x,1,u\n9,y,2,v\n"
        self.assertEqual(self.read(text, "--sequence", "a", "--time", "b", "--type", "c"),
                         [("x", [1], ["u"]), ("y", [2], ["v"])])
        self.assertEqual(self.read(text, "--time=b", "--type=a"), [(None, [1, 2], ["x", "y"])])

    def test_one_long_sequence_of_one_type(self):
        self.assertEqual(self.read("time\n1\n2\n4\n"), [(None, [1, 2, 4], [0, 0, 0])])

    def test_interleaved(self):
        text = "user,time,type\n" + "".join(f"u{i % 3},{i},{i % 2}\n" for i in range(30))
        self.assertEqual(self.read(text), [(f"u{u}", list(range(u, 30, 3)), [i % 2 for i in range(u, 30, 3)])
                                           for u in range(3)])

    def test_grouped_then_interleaved(self):
        text = "user,time\na,1\na,2\nb,1\nb,3\na,3\nc,1\nb,4\n"
        self.assertEqual(self.read(text), [("a", [1, 2, 3], [0] * 3), ("b", [1, 3, 4], [0] * 3), ("c", [1], [0])])

    def test_quotes(self):
        text = ('"user","time","type"\n"a, b","1","say ""hi"""\n"a, b",2,"two\nlines"\n"a, b", 3 , "x" \n'
                '"a, b",4,5" pipe\n"a, b",5,6" pipe\n')
        self.assertEqual(self.read(text), [("a, b", [1, 2, 3, 4, 5],
                                            ['say "hi"', "two\nlines", "x", '5" pipe', '6" pipe'])])

    def test_line_ends_marks_and_empty_lines(self):
        want = [("a", [1, 2], ["x", "y"])]
        for text in ["user,time,type\r\na,1,x\r\na,2,y\r\n", "\n\nuser,time,type\n\na,1,x\n  \n\na,2,y",
                     "\ufeffuser,time,type\na,1,x\na,2,y\n", "\ufeff\"user\",time,type\r\na,1,x\r\na,2,y",
                     "user;time;type\na;1;x\na;2;y\n", "user|time|type\na|1|x\na|2|y\n",
                     "user\ttime\ttype\na\t1\tx\na\t2\ty\n", " user , time , type \n a , 1 , x \n a , 2 , y \n"]:
            self.assertEqual(self.read(text), want, repr(text))

    def test_content_not_suffix(self):
        for name in ["a", "a.json", "a.pkl", "a.txt", "a.gz"]:
            self.write(name, "user,time,type\na,1,x\n")
            self.assertEqual(self.events(name), [("a", [1], ["x"])], name)
        self.write("b.csv", '{"times":[1,2]}')
        self.assertEqual(self.events("b.csv"), [(None, [1, 2], [0, 0])])
        self.write("b.json", '\n {"times":[1,2]}\n{"times":[1]}')
        self.assertEqual(len(self.events("b.json")), 2)
        self.write("time.csv", " 1 2\n3\n")
        self.write("event.csv", "0 1\n1\n")
        self.assertEqual(self.events("time.csv"), [(None, [1, 2], [0, 1]), (None, [3], [1])])

    def test_numbers(self):
        text = "time,type\n-1.5,0\n+0,0\n1e-3,0\n.5,0\n1.,0\n1E2,0\n007000,3.0\n"
        self.assertEqual(self.read(text), [(None, [D("-1.5"), 0, D("0.001"), D("0.5"), 1, 100, 7000], [0] * 6 + [3])])

    def test_words_and_numbers_as_types(self):
        self.assertEqual(self.read("time,type\n1,5\n2,0\n3,5\n"), [(None, [1, 2, 3], [5, 0, 5])])
        self.assertEqual(self.read("time,type\n1,5\n2,0\n3,login\n"), [(None, [1, 2, 3], ["5", "0", "login"])])
        self.assertEqual(self.read("time,type\n1,7000000000\n2,-1\n", "--types", "words"),
                         [(None, [1, 2], ["7000000000", "-1"])])
        self.assertEqual(self.read("time,type\n1,größer\n2,日本\n"), [(None, [1, 2], ["größer", "日本"])])

    def test_names_in_latin1(self):
        """Written as JSON, which is UTF-8."""
        self.assertEqual(self.read("user,time,type\nMüller,1,größer\n日,2,größer\n".encode().replace(
            "ü".encode(), b"\xfc").replace("ö".encode(), b"\xf6").replace("ß".encode(), b"\xdf"), "--quiet"),
            [("Müller", [1], ["größer"]), ("日", [2], ["größer"])])

    def test_iso_times(self):
        text = ("time\n1969-12-31T23:59:59.5Z\n1970-01-01\n1970-01-01 01:00\n1970-01-01T02:30:00+01:00\n"
                "1970-01-02T00:00:00.123456789Z\n2024-02-29T12:00:00.250001-0030\n")
        self.assertEqual(self.read(text), [(None, [
            "1969-12-31T23:59:59.5Z", "1970-01-01T00:00:00Z", "1970-01-01T01:00:00Z", "1970-01-01T01:30:00Z",
            "1970-01-02T00:00:00.123456789Z", "2024-02-29T12:30:00.250001Z"], [0] * 6)])

    def test_sort(self):
        text = "user,time,type\na,3,c\nb,1,x\na,1,a\na,2,b\na,2,b2\n"
        self.write("x.csv", text)
        r = self.smurf("convert", "x.csv", "y.csv", "--sort", quiet=False)
        self.assertRegex(r.err, r"^smurf: warning: x.csv: 3 events were out of order and have been sorted\n$")
        self.assertEqual(self.events("y.csv"), [("a", [1, 2, 2, 3], ["a", "b", "b2", "c"]), ("b", [1], ["x"])])
        self.smurf("convert", "x.csv", "y.csv", "--sort", "--quiet")

    def test_windows_of_observation(self):
        text = ("user,time,observation_start,observation_end,first_scored\na,1,0,10,\n5,2,,,2\n5,3,,,2\n5,4,1.5,9,2\n")
        self.write("x.csv", text)
        a, five = self.sequences("x.csv")
        self.assertEqual((a["observation_start"], a["observation_end"], a.get("first_scored")), (0, 10, None))
        self.assertEqual((five["observation_start"], five["observation_end"], five["first_scored"]), (D("1.5"), 9, 2))

    def test_unit(self):
        self.write("x.csv", "time\n1\n2\n")
        self.assertEqual(self.sequences("x.csv", "--unit", "days")[0]["unit"], "days")
        self.write("x.csv", "time\n2024-01-01\n")
        self.assertEqual(self.sequences("x.csv")[0]["unit"], "s")

    def test_locale_does_not_matter(self):
        self.write("x.csv", "time,type\n1.5,0\n1234567.25,1\n")
        want = self.smurf("convert", "x.csv", "-").raw
        for name in ["de_DE.UTF-8", "tr_TR.UTF-8", "C", "nonsense"]:
            self.assertEqual(self.smurf("convert", "x.csv", "-", env={"LC_ALL": name, "LANG": name}).raw, want)
            self.smurf("simulate", "poisson", "rate=1.5", "--until", "2.5", env={"LC_ALL": name})


class Json(Case):
    def read(self, text, *options):
        self.write("x.json", text)
        return self.events("x.json", *options)

    def test_easytpp(self):
        one = ('{"dim_process": 3, "seq_len": 2, "seq_idx": 0, "time_since_start": [0.0, 1.5], '
               '"time_since_last_event": [0.0, 1.5], "type_event": [2, 0]}')
        two = one.replace('"seq_idx": 0', '"seq_idx": 1')
        for text in [f"{one}\n{two}\n", f"[{one},\n{two}]", f"{one}{two}", f"[\n[{one}],[{two}]]"]:
            self.assertEqual(self.read(text), [("0", [0, D("1.5")], [2, 0]), ("1", [0, D("1.5")], [2, 0])], text)
        self.assertEqual(self.sequences("x.json")[0]["dim_process"], 3)

    def test_plain(self):
        self.assertEqual(self.read('{"times":[1,2],"types":[0,1]}'), [(None, [1, 2], [0, 1])])
        self.assertEqual(self.read('{"types":["b","a"],"times":[1,2]}'), [(None, [1, 2], ["b", "a"])])
        self.assertEqual(self.read('{"times":[1,2]}\n{"times":[]}\n'), [(None, [1, 2], [0, 0]), (None, [], [])])

    def test_unknown_fields_are_skipped(self):
        self.assertEqual(self.read('{"x":{"times":[9],"y":[[],{}]},"times":[1],"z":null,"types":[0],"w":"\\u00e9\\n"}'),
                         [(None, [1], [0])])

    def test_named_fields(self):
        self.assertEqual(self.read('{"when":[1,2],"times":[7,8],"what":[3,4],"who":"me"}', "--time", "when", "--type", "what",
                                   "--sequence", "who"), [("me", [1, 2], [3, 4])])

    def test_one_object_an_event(self):
        text = '{"user":"a","time":1,"type":"x"}\n{"user":"b","time":1.5,"type":"y"}\n{"user":"a","time":2,"type":"y"}\n'
        self.assertEqual(self.read(text), [("a", [1, 2], ["x", "y"]), ("b", [D("1.5")], ["y"])])
        self.assertEqual(self.read('[[{"time":1},{"time":2}],[{"time":1}]]'),
                         [(None, [1, 2], [0, 0]), (None, [1], [0])])
        self.assertEqual(self.read('{"time":"2024-01-01T00:00:00Z"}\n{"time":"2024-01-02"}'),
                         [(None, ["2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"], [0, 0])])

    def test_windows_of_events(self):
        self.write("x.jsonl", '{"user":"a","time":1,"observation_start":0,"observation_end":9}\n'
                              '{"user":"b","time":2,"observation_end":null,"first_scored":2}\n'
                              '{"user":"b","time":3,"observation_end":7.5}\n{"user":"b","time":4}\n')
        self.assertEqual([(s.get("observation_start"), s.get("observation_end"), s.get("first_scored"))
                          for s in self.sequences("x.jsonl")], [(0, 9, None), (None, D("7.5"), 2)])
        self.write("y.jsonl", '{"time":"2024-01-01","observation_end":"2024-01-03"}')
        self.assertEqual(self.sequences("y.jsonl")[0]["observation_end"], "2024-01-03T00:00:00Z")

    def test_lists_by_key(self):
        text = '{"dim_process":4,"train":[{"times":[1],"types":[0]}],"dev":[],"test":[{"times":[2],"types":[3]}]}'
        self.assertEqual(self.read(text, "--key", "train"), [(None, [1], [0])])
        self.assertEqual(self.read(text, "--key", "test"), [(None, [2], [3])])
        self.assertEqual(self.sequences("x.json", "--key", "test")[0]["dim_process"], 4)

    def test_lists_of_events(self):
        """Their fields are found as those of events without a list."""
        events = [{"ts": 1700000000 + 60 * i, "level": "warn" if i % 3 else "info", "tags": ["x"]} for i in range(12)]
        for text in (json.dumps({"meta": {"rows": 12}, "data": events, "dev": []}), json.dumps({"data": events}, indent=2),
                     json.dumps({"train": events, "test": [events]})):
            self.write("x.json", text)
            key = ["--key", "train"] if "train" in text else []
            (name, times, types), = self.events("x.json", *key)
            self.assertEqual((times[0], types[:3]), ("2023-11-14T22:13:20Z", ["info", "warn", "warn"]))

    def test_arrays_in_events(self):
        """A field such as "data" is no list of events if the events stand outside."""
        self.write("x.jsonl", '{"time":1,"type":"a","data":[1,2]}\n{"time":2,"type":"b","data":[]}\n{"time":4,"type":"b"}\n')
        self.assertEqual(self.events("x.jsonl"), [(None, [1, 2, 4], ["a", "b", "b"])])

    def test_only_gaps(self):
        self.assertEqual(self.read('{"time_since_last_event":[0,1.5,0.25],"type_event":[0,1,1]}'),
                         [(None, [0, D("1.5"), D("1.75")], [0, 1, 1])])

    def test_gaps_that_disagree(self):
        good = '{"time_since_start":[1,2,4],"type_event":[0,1,1],"time_since_last_event":[0,1,2]}\n'
        self.write("x.jsonl", good + good.replace("[0,1,2]", "[0,1,2.5]"))
        r = self.smurf("convert", "x.jsonl", "-", quiet=False)
        self.assertRegex(r.err, "^smurf: warning: x.jsonl: time_since_last_event disagrees .* 1 event.*line 2.*\n$")
        self.assertIn("[1,2,4]", r.lines[1])
        self.write("x.jsonl", good)
        self.smurf("convert", "x.jsonl", "-")

    def test_byte_order_mark_and_crlf(self):
        self.assertEqual(self.read('\ufeff{"times":[1,\r\n2]}\r\n'), [(None, [1, 2], [0, 0])])

    def test_dates_in_arrays(self):
        self.assertEqual(self.read('{"times":["2024-01-01","2024-01-01T00:00:01.5+00:00"]}'),
                         [(None, ["2024-01-01T00:00:00Z", "2024-01-01T00:00:01.5Z"], [0, 0])])

    def test_escapes_in_names(self):
        self.assertEqual(self.read('{"sequence":"a\\"\\\\\\/\\u00e9\\ud83d\\ude00\\t","times":[1],"types":["\\n"]}'),
                         [('a"\\/é😀\t', [1], ["\n"])])


class RoundTrip(Case):
    """Between every pair of formats, nothing is lost that the target can hold."""

    def through(self, data, name, *options):
        """What is left of data, JSON Lines, after a stay in the format of the name."""
        self.write("in.jsonl", "".join(json.dumps(s) + "\n" for s in data))
        self.smurf("convert", "in.jsonl", "direct.jsonl")
        self.smurf("convert", "in.jsonl", name)
        return self.sequences(name, *options), self.sequences("direct.jsonl")

    FULL = [
        {"dim_process": 3, "unit": "ms", "type_names": ["a, b", "7", "ü\"\n"], "sequence": "first one", "observation_start": -1.5,
         "observation_end": 10, "time_since_start": [0, 0.1, 0.1, 2.0000000000000004], "type_event": [2, 0, 1, 2]},
        {"dim_process": 3, "sequence": "x\ty", "observation_end": 3.25, "first_scored": 2,
         "time_since_start": [1e-9, 1, 3], "type_event": [0, 1, 2]},
        {"dim_process": 3, "sequence": "", "time_since_start": [5], "type_event": [1]},
    ]

    def test_json_and_jsonl_keep_everything(self):
        data = self.FULL + [{"dim_process": 3, "sequence": "empty", "observation_start": 0, "observation_end": 5,
                             "time_since_start": [], "type_event": []}]
        for name in ["a.jsonl", "a.json", "a.jsonl.gz", "a.json.gz"]:
            got, want = self.through(data, name)
            self.assertEqual(got, want)
            self.assertEqual(got[1]["first_scored"], 2)
            self.assertEqual(got[0]["observation_start"], D("-1.5"))
            self.assertEqual(got[3]["sequence"], "empty")

    def test_pickle_keeps_everything(self):
        data = self.FULL + [{"dim_process": 3, "sequence": "empty", "time_since_start": [], "type_event": []}]
        for name in ["a.pkl", "a.pkl.gz"]:
            got, want = self.through(data, name)
            self.assertEqual(got, want)

    def test_packed_keeps_everything(self):
        data = self.FULL + [{"dim_process": 3, "sequence": "empty", "observation_start": 0, "observation_end": 5,
                             "time_since_start": [], "type_event": []}]
        for name in ["a.smurf", "a.smurf.gz"]:
            got, want = self.through(data, name)
            self.assertEqual(got, want)

    def test_packed_in_a_pipe(self):
        self.write("a.csv", "time,type\n1,x\n2,y\n")
        piped = self.smurf("convert", "a.csv", "-", "--to", "packed").raw
        self.assertEqual(self.events("-", input=piped), [(None, [1, 2], ["x", "y"])])
        self.write("a.smurf", piped[:-1])
        self.refuse("info", "a.smurf", says=["a.smurf: the packed file was cut off", "copy it again"])

    def test_packed_parts_number_their_types_alike(self):
        self.write("a.csv", "time,type\n1,x\n2,y\n")
        self.write("b.csv", "time,type\n1,y\n2,z\n")
        os.mkdir(self.path("d"))
        self.smurf("convert", "a.csv", "d/train.smurf")
        self.smurf("convert", "b.csv", "d/dev.smurf")
        self.smurf("convert", "d", "e", "--to", "csv")
        self.assertEqual(self.content("e/dev.csv").decode().split(), ["sequence,time,type", "0,1,y", "0,2,z"])

    def test_tables_keep_all_but_the_unit_and_unused_types(self):
        for name in ["a.csv", "a.tsv", "a.csv.gz", "a.tsv.gz"]:
            got, want = self.through(self.FULL, name, "--missing", "keep")
            got_names, want_names = got[0]["type_names"], want[0]["type_names"]
            for g, w in zip(got, want):
                types = [want_names[k] for k in w["type_event"]]
                self.assertEqual([got_names[k] for k in g["type_event"]], types)
                for s in g, w:
                    for key in ["unit", "type_names", "type_event", "dim_process"]:
                        s.pop(key, None)
                self.assertEqual(g, w)

    def test_rmtpp_keeps_times_and_numbers(self):
        data = [{"time_since_start": [0, 0.1, 0.1, 3e5], "type_event": [2, 0, 1, 2]}, {"time_since_start": [], "type_event": []},
                {"time_since_start": [1700000000123456789, 1700000000123456790], "type_event": [0, 0]}]
        for name in ["time-a.txt", "my-time.txt.gz"]:
            got, want = self.through(data, name)
            self.assertEqual(got, want)
        self.assertEqual(self.content("event-a.txt"), b"2 0 1 2\n\n0 0\n")

    def test_every_pair(self):
        self.write("in.csv", "sequence,time,type\n" + "".join(f"{i % 4},{i / 8},{i % 3}\n" for i in range(100)))
        want = self.events("in.csv")
        plain = [(times, types) for _, times, types in want]
        for first in FORMATS + PACKED:
            self.smurf("convert", "in.csv", "1" + first if "time" not in first else first)
        for first, second in itertools.product(FORMATS, FORMATS + PACKED):
            source = "1" + first if "time" not in first else first
            target = "2" + second if "time" not in second else "2" + second
            self.smurf("convert", source, target)
            got = [(times, types) for _, times, types in self.events(target)]
            self.assertEqual(got, plain, (first, second))

    def test_nanosecond_clocks(self):
        clock = random.Random(1)
        times = [1700000000000000001]
        for _ in range(500):
            times.append(times[-1] + clock.choice([0, 1, 3, 10 ** 9 + 7, 12345678901]))
        self.write("in.jsonl", json.dumps({"times": times, "types": [0] * len(times), "observation_end": times[-1] + 1}))
        for name in FORMATS + PACKED:
            self.smurf("convert", "in.jsonl", name)
            got = self.sequences(name, "--time-format", "number")[0]
            self.assertEqual(got["time_since_start"], times, name)
            if "time" not in name:
                self.assertEqual(got["observation_end"], times[-1] + 1)

    def test_clocks_before_their_origin_and_long_fractions(self):
        times = ["-1700000000123456789.5", "-1700000000123456788.25", "-1700000000123456788.125"]
        self.write("in.csv", "time\n" + "\n".join(times) + "\n")
        for name in ["a.csv", "a.jsonl", "a.json", "time-a.txt"]:
            self.smurf("convert", "in.csv", name)
            self.assertEqual([str(t) for t in self.sequences(name)[0]["time_since_start"]], times, name)

    def test_dithered_nanoseconds_stay_apart(self):
        self.write("in.csv", "time\n" + "1700000000000000000\n" * 50)
        self.smurf("convert", "in.csv", "d.jsonl", "--dither", "1", "--time-format", "number")
        want = self.sequences("d.jsonl")[0]["time_since_start"]
        self.assertEqual(len(set(want)), 50)
        for name in ["d.csv", "d.json", "time-d.txt"]:
            self.smurf("convert", "d.jsonl", name)
            self.assertEqual(self.sequences(name, "--time-format", "number")[0]["time_since_start"], want, name)

    def test_iso_times_stay_iso_times(self):
        times = ["1969-07-20T20:17:40Z", "1969-07-20T20:17:40.123456789Z", "2024-02-29T23:59:59.5Z"]
        self.write("in.csv", "user,time,observation_end\n" + "".join(f"a,{t},2025-01-01T00:00:00Z\n" for t in times))
        for name in ["a.csv", "a.tsv", "a.jsonl", "a.json", "a.pkl"]:
            self.smurf("convert", "in.csv", name)
            got = self.sequences(name)[0]
            self.assertEqual((got["time_since_start"], got["observation_end"], got["unit"]),
                             (times, "2025-01-01T00:00:00Z", "s"), name)

    def test_random_doubles(self):
        numbers = random.Random(2)
        times = sorted([numbers.random() * 10 ** numbers.randint(-12, 6) for _ in range(2000)])
        self.write("in.jsonl", json.dumps({"times": times}))
        for name in FORMATS:
            self.smurf("convert", "in.jsonl", name)
            self.assertEqual([float(t) for t in self.sequences(name)[0]["time_since_start"]], times, name)

    def test_types_never_seen_keep_their_place(self):
        for name in ["a.jsonl", "a.json", "a.pkl"]:
            got, _ = self.through([{"dim_process": 9, "times": [1, 2], "types": [0, 4]}], name)
            self.assertEqual(got[0]["dim_process"], 9)

    def test_names_that_come_twice(self):
        data = [{"sequence": "a", "times": [5, 6]}, {"sequence": "b", "times": [1]}, {"sequence": "a", "times": [1, 2]},
                {"times": [3]}, {"sequence": "a#2", "times": [4]}, {"sequence": "3", "times": [9]}]
        for name in ["a.csv", "a.tsv"]:
            got, _ = self.through(data, name)
            self.assertEqual([s["time_since_start"] for s in got], [s["times"] for s in data])
            self.assertEqual(len({s["sequence"] for s in got}), len(data))
            self.assertEqual([s["sequence"] for s in got][:2], ["a", "b"])

    def test_written_json_is_json(self):
        self.through(self.FULL, "a.json")
        whole = json.loads(self.content("a.json"))
        self.assertEqual([s["sequence"] for s in whole], ["first one", "x\ty", ""])

    def test_written_pickle_is_a_pickle_of_the_field(self):
        self.through([{"dim_process": 3, "times": [0.5, 2], "types": [0, 2]}], "dev.pkl")
        whole = pickle.loads(self.content("dev.pkl"))
        self.assertEqual(whole["dim_process"], 3)
        self.assertEqual(whole["dev"], [[{"time_since_start": 0.5, "time_since_last_event": 0.0, "type_event": 0},
                                         {"time_since_start": 2.0, "time_since_last_event": 1.5, "type_event": 2}]])

    def test_gzip_is_gzip(self):
        self.write("a.jsonl", '{"times":[1,2]}\n')
        for name in PACKED:
            self.smurf("convert", "a.jsonl", name)
            self.assertEqual(self.content(name)[:2], b"\x1f\x8b", name)
            subprocess.run(["gzip", "-t", self.path(name)], check=True)

    def test_several_gzip_members(self):
        self.write("a.csv.gz", packed("user,time\na,1\n") + packed("a,2\n") + packed("") + packed("a,3\n"))
        self.assertEqual(self.events("a.csv.gz"), [("a", [1, 2, 3], [0, 0, 0])])


class Files(Case):
    DATA = "user,time,type\na,1,x\nb,2,y\n"
    WANT = [("a", [1], ["x"]), ("b", [2], ["y"])]

    def setUp(self):
        super().setUp()
        self.write("a.csv", self.DATA)

    def test_odd_names(self):
        for name in ["with space.csv", "it's \"quoted\".csv", "größe 日本.csv", "new\nline.csv", "-dash.csv", "--help.csv", "*.csv",
                     "a%s%n.csv", "x" * 200 + ".csv"]:
            self.smurf("convert", "a.csv", "--", name)
            self.smurf("convert", "--", name, "b.jsonl")
            self.assertEqual(self.events("b.jsonl"), self.WANT, name)
            self.smurf("info", "--", name)
        self.assertEqual(len([f for f in self.listing() if f.endswith(".csv")]), 10)

    def test_standard_input(self):
        for name in FORMATS:
            if "time" in name:
                continue
            self.write("source.csv", self.content("a.csv"))
            self.smurf("convert", "source.csv", name)
            for content in [self.content(name), packed(self.content(name))]:
                for path in ["-", "/dev/stdin"]:
                    self.assertEqual(self.events(path, input=content), self.WANT, (name, path))
        self.smurf("convert", "a.csv", "time-a.txt")
        self.assertEqual(self.events("-", "--events", "event-a.txt", input=self.content("time-a.txt")),
                         [(None, [1], [0]), (None, [2], [1])])

    def test_named_pipe_as_input(self):
        os.mkfifo(self.path("pipe"))
        feed = threading.Thread(target=self.write, args=("pipe", self.DATA))
        feed.start()
        self.assertEqual(self.events("pipe"), self.WANT)
        feed.join()

    def test_named_pipe_as_output(self):
        for name, more in [("pipe.csv", []), ("pipe", ["--to", "csv"])]:
            os.mkfifo(self.path(name))
            got = []
            take = threading.Thread(target=lambda: got.append(self.content(name)))
            take.start()
            self.smurf("convert", "a.csv", name, *more)
            take.join()
            self.assertIn(b"b,2,y\n", got[0])
            self.assertTrue(stat.S_ISFIFO(os.stat(self.path(name)).st_mode))

    def test_dev_stdout(self):
        want = self.smurf("convert", "a.csv", "-", "--to", "csv").raw
        self.assertEqual(self.smurf("convert", "a.csv", "/dev/stdout", "--to", "csv").raw, want)
        self.assertEqual(self.smurf("convert", "a.csv", "/dev/fd/1", "--to", "csv").raw, want)
        self.smurf("convert", "a.csv", "/dev/null", "--to", "csv")

    def test_dev_stdout_does_not_replace_what_the_shell_opened(self):
        for out in ["-", "/dev/stdout"]:
            done = subprocess.run(["sh", "-c", f'{{ echo before; "$0" convert a.csv {out} --to csv; echo after; }} > all', SMURF],
                                  cwd=self.folder, env=environment(), capture_output=True)
            self.assertEqual(done.stderr, b"")
            lines = self.content("all").decode().splitlines()
            self.assertEqual((lines[0], lines[-1], len(lines)), ("before", "after", 5), out)

    def test_default_of_standard_output_is_jsonl(self):
        self.assertTrue(self.smurf("convert", "a.csv", "-").out.startswith("{"))

    def test_output_without_a_suffix(self):
        self.refuse("convert", "a.csv", "out", says=["'out'", "--to"])
        self.refuse("convert", "a.csv", "out.gz", says=["'out.gz'", "--to"])
        self.smurf("convert", "a.csv", "out", "--to", "csv")
        self.smurf("convert", "a.csv", "out.gz", "--to", "jsonl")
        self.assertEqual(self.events("out.gz"), self.WANT)

    def test_links_stay_links(self):
        os.mkdir(self.path("far"))
        for target in ["far/real.csv", "far/not-yet.csv"]:
            if "real" in target:
                self.write(target, "old")
            os.symlink(target, self.path("link.csv"))
            os.symlink("link.csv", self.path("link2.csv"))
            self.smurf("convert", "a.csv", "link2.csv")
            self.assertTrue(os.path.islink(self.path("link.csv")) and os.path.islink(self.path("link2.csv")))
            self.assertFalse(os.path.islink(self.path(target)))
            self.assertEqual(self.events(target), self.WANT)
            os.unlink(self.path("link.csv"))
            os.unlink(self.path("link2.csv"))
        self.assertEqual(self.listing(), ["a.csv", "far/not-yet.csv", "far/real.csv"])

    def test_modes(self):
        self.smurf("convert", "a.csv", "new.csv", preexec_fn=lambda: os.umask(0o027))
        self.assertEqual(os.stat(self.path("new.csv")).st_mode & 0o777, 0o640)
        os.chmod(self.path("new.csv"), 0o606)
        self.smurf("convert", "a.csv", "new.csv", preexec_fn=lambda: os.umask(0o077))
        self.assertEqual(os.stat(self.path("new.csv")).st_mode & 0o777, 0o606)

    def test_onto_itself(self):
        self.refuse("convert", "a.csv", "a.csv", says="OUT would overwrite 'a.csv', which IN reads", status=2)
        self.assertEqual(self.events("a.csv"), self.WANT)

    def test_no_folder_for_the_output(self):
        self.refuse("convert", "a.csv", "nowhere/out.csv", says=["nowhere/out.csv", "no such file or directory"])

    def test_from(self):
        self.refuse("convert", "a.csv", "-", "--from", "jsonl", says=["a.csv:1: "])
        self.refuse("convert", "a.csv", "-", "--from", "tsv", says=["a.csv:1: ", "--time"])
        self.assertEqual(self.events("a.csv", "--from", "CSV"), self.WANT)

    def test_pipe_that_closes_early(self):
        self.write("big.csv", "time\n" + "".join(f"{i}\n" for i in range(200000)))
        for command in ["convert big.csv - --to csv", "simulate poisson -n 500", "info big.csv --json"]:
            done = subprocess.run(["sh", "-c", f'"$0" {command} | head -c 10; exit 0', SMURF], cwd=self.folder,
                                  env=environment(), capture_output=True, timeout=common.TIMEOUT)
            self.assertEqual((done.stderr, len(done.stdout)), (b"", 10), command)

    def test_pipe_that_closes_early_where_its_signal_is_ignored(self):
        self.write("big.csv", "time\n" + "".join(f"{i}\n" for i in range(200000)))
        reader, writer = os.pipe()
        os.close(reader)
        r = self.run_smurf("convert", "big.csv", "-", stdout=writer, restore_signals=False,
                           preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
        os.close(writer)
        self.assertEqual((r.status, r.err), (1, "smurf: cannot write 'standard output': broken pipe\n"))


class Signals(Case):
    """Input comes through a pipe that stays open, so that the command is in the middle of its work."""

    def start(self, *args, **more):
        return subprocess.Popen([SMURF, *args], **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE,
                                                   "stderr": subprocess.PIPE, **more}, cwd=self.folder, env=environment())

    def feed_until(self, process, done, chunk):
        """Feeds the process until done() or it ends; a chunk now and then, as a slow source would."""
        limit = time.monotonic() + 20
        while not done() and process.poll() is None and time.monotonic() < limit:
            try:
                process.stdin.write(chunk())
                process.stdin.flush()
            except BrokenPipeError:
                break
            select.select([], [], [], 0.01)

    def counter(self):
        count = itertools.count()
        return lambda: "".join(f"{next(count)},0\n" for _ in range(200)).encode()

    def interrupted(self, number, *args):
        process = self.start(*args)
        self.addCleanup(process.wait)
        chunk = self.counter()
        process.stdin.write(b"time,type\n")
        sent = []
        self.feed_until(process, lambda: len(sent) > 20 or sent.append(1), chunk)
        process.send_signal(number)
        self.feed_until(process, lambda: False, chunk)  # the signal may have come between two reads
        with contextlib.suppress(BrokenPipeError):  # what was still to be flushed has no reader any more
            process.stdin.close()
        out, err = process.stdout.read(), process.stderr.read()
        process.stdout.close(), process.stderr.close()
        self.assertEqual((process.wait(), out), (1, b""))
        self.assertEqual(err.decode(), "smurf: stopped while reading standard input\n")
        self.assertEqual(self.listing(), [])

    def test_interrupt_while_reading(self):
        self.interrupted(signal.SIGINT, "convert", "-", "out.csv")
        self.interrupted(signal.SIGINT, "info", "-")

    def test_terminate_while_reading(self):
        self.interrupted(signal.SIGTERM, "convert", "-", "out.csv.gz")

    def test_interrupt_while_simulating(self):
        process = self.start("simulate", "hawkes", "-n", "100000000", "-o", "out.csv", stdin=subprocess.DEVNULL)
        while process.poll() is None and not select.select([process.stderr], [], [], 0.3)[0]:
            process.send_signal(signal.SIGINT)
            break
        err = process.stderr.read()
        process.stdout.close(), process.stderr.close()
        self.assertEqual((process.wait(), err.decode()), (1, "smurf: stopped while simulating hawkes\n"))
        self.assertEqual(self.listing(), [])

    def progress(self, *args):
        """What a terminal on standard error gets while input arrives slowly."""
        main, other = pty.openpty()
        process = self.start(*args, stderr=other)
        os.close(other)
        seen = []

        def watch():
            try:
                while True:
                    piece = os.read(main, 4096)
                    if not piece:
                        break
                    seen.append(piece)
            except OSError:  # the other side is closed
                pass
        watcher = threading.Thread(target=watch)
        watcher.start()
        process.stdin.write(b"time,type\n")
        self.feed_until(process, lambda: any(b"reading" in s for s in seen), self.counter())
        process.stdin.close()
        out = process.stdout.read()
        process.stdout.close()
        self.assertEqual(process.wait(), 0)
        watcher.join()
        os.close(main)
        return b"".join(seen), out

    def test_progress_on_a_terminal(self):
        for args in [("convert", "-", "out.csv"), ("info", "-")]:
            seen, _ = self.progress(*args)
            self.assertRegex(seen, rb"reading standard input .*[0-9.]+ k?B", args)
            self.assertTrue(seen.endswith(b"\r\x1b[K"), (args, seen[-80:]))  # wiped at the end
            self.assertNotIn(b"\n", seen)

    def test_no_progress_when_quiet(self):
        process = self.start("convert", "-", "out.csv", "--quiet")
        limit = time.monotonic() + 0.4
        process.stdin.write(b"time,type\n")
        self.feed_until(process, lambda: time.monotonic() > limit, self.counter())
        _, err = process.communicate()
        self.assertEqual((process.returncode, err), (0, b""))

    def test_no_progress_in_a_pipe(self):
        process = self.start("convert", "-", "out.csv")
        limit = time.monotonic() + 0.4
        process.stdin.write(b"time,type\n")
        self.feed_until(process, lambda: time.monotonic() > limit, self.counter())
        _, err = process.communicate()
        self.assertEqual((process.returncode, err), (0, b""))


if __name__ == "__main__":
    unittest.main()
