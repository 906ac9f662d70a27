"""Bad input: one line that says file, place, what is wrong and what to do; status 1; nothing half written."""
import gzip
import json
import os
import re
import resource
import shutil
import subprocess
import unittest

import common
from common import Case, packed

TIMES = '{"time_since_start":[%s],"type_event":[0,1,0]}\n'
GOOD = TIMES % "1,2,3"
DEEP = 100000

# name: (file, content, what the message must say, options). The message must name the file, and the line where one is
# given. Each case is run as it is, packed, and through standard input.
CASES = {
    # CSV and TSV
    "csv_empty": ("a.csv", "", ["a.csv: ", "empty"]),
    "csv_blank": ("a.csv", "\n \n\r\n", ["a.csv: ", "empty"]),
    "csv_byte_order_mark_only": ("a.csv", b"\xef\xbb\xbf", ["a.csv: ", "empty"]),
    "csv_header_only": ("a.csv", "time,type\n", ["a.csv: ", "no event"]),
    "csv_no_header_no_time": ("a.csv", "a,1.5,0\na,0.5,1\nb,0.25,0\n", ["a.csv:1: ", "no header", "--time 1"]),
    "csv_no_time_column": ("a.csv", "user,what\na,b\n", ["a.csv:1: ", "column of times", "--time"]),
    "csv_no_such_column": ("a.csv", "user,t,what\na,1,b\n", ["a.csv:1: ", "'when'", "user, t, what"], ["--time", "when"]),
    "csv_no_such_type": ("a.csv", "user,t,what\na,1,b\n", ["a.csv:1: ", "'kind'"], ["--type", "kind"]),
    "csv_no_such_sequence": ("a.csv", "user,t,what\na,1,b\n", ["a.csv:1: ", "'case'"], ["--sequence", "case"]),
    "csv_two_columns_of_one_name": ("a.csv", "time,type,Time\n1,0,2\n", ["a.csv:1: ", "two columns are called 'Time'"]),
    "csv_carriage_returns": ("a.csv", "time,type\r1,0\r2,0\r", ["a.csv:1: ", "carriage return"]),
    "csv_text_for_number": ("a.csv", "time,type\n1,0\nsoon,0\n", ["a.csv:3: ", "time 'soon'", "number", "ISO-8601"]),
    "csv_missing_time": ("a.csv", "time,type\n1,0\n,0\n", ["a.csv:3: ", "time is empty"]),
    "csv_missing_type": ("a.csv", "time,type\n1,0\n2,\n", ["a.csv:3: ", "type is empty"], ["--strict"]),
    "csv_nan": ("a.csv", "time,type\n1,0\nNaN,0\n", ["a.csv:3: ", "time 'NaN'", "not finite", "remove"]),
    "csv_infinity": ("a.csv", "time,type\n1,0\n-inf,0\n", ["a.csv:3: ", "time '-inf'", "not finite"]),
    "csv_number_too_large": ("a.csv", "time,type\n1,0\n1e999,0\n", ["a.csv:3: ", "time 1e999"]),
    "csv_negative_gap": ("a.csv", "time,type\n5,0\n\n4.5,0\n", ["a.csv:4: ", "time 4\\.5", "before", " 5 ", "--strict"], ["--strict"]),
    "csv_negative_gap_in_one_sequence": ("a.csv", "user,time\na,5\nb,1\na,4\n", ["a.csv:4: ", "time 4", " 5 ", "--strict"], ["--strict"]),
    "csv_beyond_exactness": ("a.csv", "time,type\n0,0\n9007199254740993,0\n",
                             ["a.csv:3: ", "9007199254740993", "2\\^53", "coarser"]),
    "csv_beyond_64_bits": ("a.csv", "time,type\n92233720368547758080,0\n", ["a.csv:2: ", "2\\^63", "coarser"]),
    "csv_ragged_short": ("a.csv", "user,time,type\na,1,0\na,2\n", ["a.csv:3: ", "2 fields", "3"]),
    "csv_ragged_long": ("a.csv", "user,time,type\na,1,0\na,2,0,9\n", ["a.csv:3: ", "4 fields", "3", "quotes"]),
    "csv_quote_not_closed": ("a.csv", 'user,time,type\na,1,0\n"b,2,0\nc,3,0\n', ["a.csv:3: ", "quote", "not closed"]),
    "csv_text_behind_quote": ("a.csv", 'user,time,type\n"a"b,1,0\n', ["a.csv:2: ", "closing quote", "field 1"]),
    "csv_place_behind_line_breaks": ("a.csv", 'user,time,type\n"a\n\nb",1,0\na,x,0\n', ["a.csv:5: ", "time 'x'"]),
    "csv_mixed_clocks": ("a.csv", "time,type\n1,0\n2024-01-01,0\n", ["a.csv:2: ", "time '1'", "dates"]),
    "csv_no_such_day": ("a.csv", "time,type\n2023-02-29,0\n", ["a.csv:2: ", "2023-02-29", "ISO-8601"]),
    "csv_nul_byte": ("a.csv", b"time,type\n1,a\n2,b\x00c\n", ["a.csv"]),
    "csv_utf16": ("a.csv", "time,type\n1,0\n".encode("utf-16-le"), ["a.csv: ", "NUL byte on line 1", "UTF-16", "UTF-8"]),
    "csv_first_scored_text": ("a.csv", "time,type,first_scored\n1,0,x\n", ["a.csv:2: ", "first_scored 'x'"]),
    "csv_first_scored_negative": ("a.csv", "time,type,first_scored\n1,0,-3\n", ["a.csv:2: ", "first_scored '-3'"]),
    "csv_event_after_its_window": ("a.csv", "time,type,observation_end\n1,0,5\n6,0,5\n", ["a.csv:3: ", "observation_end"]),
    "csv_event_before_its_window": ("a.csv", "time,type,observation_start\n1,0,5\n", ["a.csv:2: ", "observation_start"]),
    "csv_random_bytes": ("a.csv", bytes(range(256)) * 64, ["a.csv: ", "not a format"]),
    "tsv_text_for_number": ("a.tsv", "time\ttype\n1\t0\nsoon\t0\n", ["a.tsv:3: ", "time 'soon'"]),
    "tsv_ragged": ("a.tsv", "time\ttype\n1\t0\n2\n", ["a.tsv:3: ", "1 field, ", "'tab'"]),
    # JSON Lines
    "jsonl_text_for_number": ("a.jsonl", GOOD + TIMES % '1,"soon",3', ["a.jsonl:2: ", "time_since_start, entry 2", "soon"]),
    "jsonl_nan": ("a.jsonl", GOOD + TIMES % "1,NaN,3", ["a.jsonl:2: ", "time_since_start, entry 2", "NaN", "finite"]),
    "jsonl_infinity": ("a.jsonl", GOOD + TIMES % "1,2,-Infinity", ["a.jsonl:2: ", "time_since_start, entry 3", "-Inf"]),
    "jsonl_null": ("a.jsonl", GOOD + TIMES % "1,null,3", ["a.jsonl:2: ", "time_since_start, entry 2", "null"]),
    "jsonl_number_too_large": ("a.jsonl", TIMES % "1,2,1e999", ["a.jsonl:1: ", "time_since_start, entry 3", "1e999"]),
    "jsonl_negative_gap": ("a.jsonl", GOOD + TIMES % "1,3,2.5", ["a.jsonl:2: ", "event 3", "2\\.5", " 3 ", "--strict"], ["--strict"]),
    "jsonl_beyond_exactness": ("a.jsonl", TIMES % "0,1,9007199254740993", ["a.jsonl:1: ", "entry 3", "2\\^53", "coarser"]),
    "jsonl_beyond_64_bits": ("a.jsonl", TIMES % "1e30,2,3", ["a.jsonl:1: ", "entry 1", "2\\^63"]),
    "jsonl_ragged": ("a.jsonl", GOOD + '{"time_since_start":[1,2],"type_event":[0]}', ["a.jsonl:2: ", "2 times", "1 types?"]),
    "jsonl_ragged_gaps": ("a.jsonl", '{"time_since_start":[1,2],"type_event":[0,1],"time_since_last_event":[1]}',
                          ["a.jsonl:1: ", "2 times", "time_since_last_event"]),
    "jsonl_wrong_seq_len": ("a.jsonl", '{"time_since_start":[1,2],"type_event":[0,1],"seq_len":3}',
                            ["a.jsonl:1: ", "seq_len", "3", "2"]),
    "jsonl_type_out_of_range": ("a.jsonl", '{"dim_process":2,"time_since_start":[1,2],"type_event":[0,2]}',
                                ["a.jsonl:1: ", "event 2", "type 2", "dim_process"]),
    "jsonl_type_negative": ("a.jsonl", '{"times":[1,2],"types":[0,-2]}', ["a.jsonl:1: ", "types, entry 2", "type -2"]),
    "jsonl_type_fraction": ("a.jsonl", '{"times":[1,2],"types":[0,0.5]}', ["a.jsonl:1: ", "types, entry 2", "0\\.5"]),
    "jsonl_dim_process_changes": ("a.jsonl", '{"dim_process":2,"times":[1],"types":[0]}\n{"dim_process":3,"times":[1],"types":[0]}',
                                  ["a.jsonl:2: ", "dim_process", "3", "2"]),
    "jsonl_no_times": ("a.jsonl", '{"a":[1,2],"type_event":[0,1]}', ["a.jsonl:1: ", "no times", "--time", "--key"]),
    "jsonl_nested_times": ("a.jsonl", '{"event":{"ts":1}}\n', ["a.jsonl:1: ", "no times", "objects within objects are not read"]),
    "jsonl_nested_name": ("a.jsonl", '{"event":{"ts":1}}\n', ["'event.ts'", "objects within objects are not read"], ["--time", "event.ts"]),
    "jsonl_no_such_time": ("a.jsonl", GOOD, ["a.jsonl:1: ", "'when'"], ["--time", "when"]),
    "jsonl_no_such_type": ("a.jsonl", GOOD, ["a.jsonl:1: ", "'what'"], ["--type", "what"]),
    "jsonl_no_such_sequence": ("a.jsonl", GOOD, ["a.jsonl:1: ", "'who'"], ["--sequence", "who"]),
    "jsonl_cut_off": ("a.jsonl", GOOD + GOOD[:30], ["a.jsonl:2: ", "cut off"]),
    "jsonl_cut_off_in_string": ("a.jsonl", '{"sequence":"abc', ["a.jsonl:1: ", "cut off"]),
    "jsonl_not_json": ("a.jsonl", GOOD + "hello\n", ["a.jsonl:2: ", "expected '{'"]),
    "jsonl_missing_comma": ("a.jsonl", TIMES % "1 2,3", ["a.jsonl:1: ", "time_since_start", "expected ','"]),
    "jsonl_comma_too_many": ("a.jsonl", TIMES % "1,2,3,", ["a.jsonl:1: ", "time_since_start"]),
    "jsonl_leading_zero": ("a.jsonl", TIMES % "1,02,3", ["a.jsonl:1: ", "time_since_start, entry 2"]),
    "jsonl_mixed_shapes": ("a.jsonl", GOOD + '{"time":1,"type":0}\n', ["a.jsonl:2: ", "single event"]),
    "jsonl_event_without_time": ("a.jsonl", '{"time":1,"type":0}\n{"typ":0}\n', ["a.jsonl:2: "]),
    "jsonl_event_nan": ("a.jsonl", '{"time":1,"type":0}\n{"time":NaN,"type":0}\n', ["a.jsonl:2: ", "NaN"]),
    "jsonl_event_negative_gap": ("a.jsonl", '{"time":5}\n{"time":4}\n', ["a.jsonl:2: ", "time 4", " 5 ", "--strict"], ["--strict"]),
    "jsonl_window_ends_early": ("a.jsonl", '{"times":[1,2],"types":[0,0],"observation_end":1.5}', ["a.jsonl:1: ", "end of obs"]),
    "jsonl_deep": ("a.jsonl", '{"x":' + "[" * DEEP, ["a.jsonl:1: ", "nested", "64"]),
    "jsonl_nul_byte": ("a.jsonl", GOOD.encode() + b"\x00\n", ["a.jsonl:2: ", "NUL"]),
    "jsonl_bad_escape": ("a.jsonl", '{"sequence":"\\q","times":[1]}', ["a.jsonl:1: ", "escape"]),
    # JSON
    "json_empty_array": ("a.json", "[]", ["a.json: ", "no sequences"]),
    "json_number": ("a.json", "[1,2,3]", ["a.json:1: ", "objects such as {\"time\": 1.5, \"type\": \"login\"}"]),
    "json_nan": ("a.json", "[\n%s,\n%s]" % (GOOD, TIMES % "1,NaN,3"), ["a.json:4: ", "time_since_start, entry 2", "NaN"]),
    "json_ragged": ("a.json", '[{"times":[1,2],"types":[0]}]', ["a.json:1: ", "2 times", "1 types?"]),
    "json_negative_gap": ("a.json", '[{"times":[2,1],"types":[0,0]}]', ["a.json:1: ", "event 2", "--strict"], ["--strict"]),
    "json_cut_off": ("a.json", '[{"times":[1,2],"types":[0,0]},\n{"times":[1', ["a.json:2: ", "cut off"]),
    "json_deep": ("a.json", "[" * DEEP, ["a.json:1: ", "nested"]),
    "json_two_lists": ("a.json", '{"train":[{"times":[1]}],"test":[{"times":[1]}]}', ["a.json:1: ", "train", "test", "--key"]),
    "json_no_such_list": ("a.json", '{"train":[{"times":[1]}]}', ["a.json:1: there is no list 'dev' in it", "--key"], ["--key", "dev"]),
    "json_event_outside_its_window": ("a.jsonl", '{"time":1}\n{"time":5,"observation_end":4}\n', ["a.jsonl:2: ", "outside its window"]),
    # Pickles; test_pickle.py has more
    "pickle_cut_off": ("a.pkl", b"\x80\x02}q\x00U\x05trainq\x01]q\x02", ["a.pkl", "byte"]),
    "pickle_huge_length": ("a.pkl", b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f", ["a.pkl", "byte"]),
    "pickle_deep": ("a.pkl", b"\x80\x02" + b"(" * DEEP + b"]" * DEEP, ["a.pkl", "byte"]),
    "pickle_memo_loop": ("a.pkl", b"\x80\x02]q\x00(h\x00h\x00h\x00e.", ["a.pkl"]),
    "pickle_call": ("a.pkl", b"cos\nsystem\n(S'touch hacked'\ntR.", ["a.pkl"]),
}

# name: (times, types, what the message must say)
RMTPP = {
    "empty": ("", "", ["time-a.txt: ", "empty"]),
    "text_for_number": ("1 2\n1 soon 3\n", "0 0\n0 0 0\n", ["time-a.txt:2: ", "time 'soon'"]),
    "nan": ("1 nan 3\n", "0 0 0\n", ["time-a.txt:1: ", "time 'nan'", "not finite"]),
    "infinity": ("1 2\n1 2 inf\n", "0 0\n0 0 0\n", ["time-a.txt:2: ", "time 'inf'", "not finite"]),
    "negative_gap": ("1 2\n1 3 2.5\n", "0 0\n0 0 0\n", ["time-a.txt:2: ", "event 3", "2\\.5", "\\(--strict and streams do not sort\\)$"], ["--strict"]),
    "beyond_exactness": ("0 9007199254740993\n", "0 0\n", ["time-a.txt:1: ", "2\\^53"]),
    "beyond_64_bits": ("92233720368547758080\n", "0\n", ["time-a.txt:1: ", "2\\^63"]),
    "type_negative": ("1 2\n", "0 -1\n", ["event-a.txt:1: ", "type -1", "out of range"]),
    "type_fraction": ("1 2\n1\n", "0 0\n0.5\n", ["event-a.txt:2: ", "type 0\\.5"]),
    "ragged": ("1 2\n1 2 3\n", "0 0\n0 0\n", ["time-a.txt:2: ", "3 times", "2 types", "event-a.txt:2"]),
    "fewer_lines_of_types": ("1 2\n1 2 3\n", "0 0\n", ["time-a.txt:2: ", "3 times", "0 types"]),
    "more_lines_of_types": ("1 2\n", "0 0\n0 0 0\n", ["event-a.txt:2: ", "more sequences"]),
    "long_word": ("1 " + "9" * 2000 + "\n", "0 0\n", ["time-a.txt:1: ", "512"]),
}


class BadInput(Case):
    """Filled from the tables above."""

    def check(self, name, content, says, options=()):
        path = self.write(name, content)
        self.refuse("convert", name, "out.jsonl", *options, says=says)
        self.refuse("convert", name, "out.csv.gz", *options, says=says)
        self.refuse("info", name, *options, says=says)
        absolute = self.refuse("info", path, *options)
        self.assertTrue(absolute.startswith("smurf: " + path), absolute)
        raw = content if isinstance(content, bytes) else content.encode()
        self.write(name, packed(raw))
        self.refuse("info", name, *options, says=says)
        piped = [re.sub("^" + re.escape(name), "standard input", s) for s in says]
        self.refuse("info", "-", *options, says=piped, input=raw)
        self.refuse("convert", "-", "-", *options, says=piped, input=raw)
        self.assertNotIn("hacked", self.listing())

    def check_pair(self, times, types, says, options=()):
        self.write("time-a.txt", times)
        self.write("event-a.txt", types)
        self.refuse("info", "time-a.txt", *options, says=says)
        self.refuse("convert", "time-a.txt", "out.csv", *options, says=says)
        self.write("packed/time-a.txt.gz", packed(times))
        self.write("packed/event-a.txt.gz", packed(types))
        self.refuse("info", "packed/time-a.txt.gz", *options, says=[s.replace(".txt", ".txt.gz") for s in says])
        self.refuse("info", "-", "--events", "event-a.txt", *options, says=[s.replace("time-a.txt", "standard input") for s in says],
                    input=times)


for case, row in CASES.items():
    setattr(BadInput, "test_" + case, lambda self, row=row: self.check(*row))
for case, row in RMTPP.items():
    setattr(BadInput, "test_rmtpp_" + case, lambda self, row=row: self.check_pair(*row))


class Files(Case):
    def test_no_such_file(self):
        self.refuse("info", "nowhere.csv", says=["'nowhere.csv'", "no such file or directory"])
        self.refuse("convert", "nowhere.csv", "out.csv", says=["'nowhere.csv'", "no such file or directory"])

    def test_directory_for_a_file(self):
        os.mkdir(self.path("folder"))
        self.refuse("info", "folder", says=["'folder'", "train"])
        self.write("time-a.txt", "1 2\n")
        self.refuse("info", "time-a.txt", "--events", "folder", says=["'folder' is a directory"])

    def test_directory_as_standard_input(self):
        fd = os.open(self.folder, os.O_RDONLY)
        self.addCleanup(os.close, fd)
        self.refuse("info", "-", stdin=fd, says=["standard input", "directory"])

    def test_directory_for_the_output(self):
        self.write("a.jsonl", GOOD)
        os.mkdir(self.path("out.csv"))
        self.refuse("convert", "a.jsonl", "out.csv", says=["out.csv", "directory"])

    def test_standard_input_closed(self):
        self.refuse("info", "-", stdin=subprocess.DEVNULL, says=["standard input: ", "empty"])
        self.refuse("info", "-", stdin=subprocess.DEVNULL, preexec_fn=lambda: os.close(0), says=["standard input"])

    def test_standard_output_closed(self):
        self.write("a.jsonl", GOOD)
        for args in [("convert", "a.jsonl", "-"), ("info", "a.jsonl"), ("simulate", "poisson")]:
            self.refuse(*args, preexec_fn=lambda: os.close(1), says=["standard output"])

    def test_unreadable_file(self):
        if os.geteuid() != 0:
            who = {}
        else:
            who = {"user": 65534, "group": 65534, "extra_groups": []}
        os.chmod(self.folder, 0o755)
        command = shutil.copy(common.SMURF, self.path("command"))
        os.chmod(command, 0o755)
        path = self.write("a.jsonl", GOOD)
        os.chmod(path, 0)
        os.mkdir(self.path("counts"))
        os.chmod(self.path("counts"), 0o777)
        env = common.environment(GCOV_PREFIX=self.path("counts"))  # for a build that counts coverage
        try:
            probe = subprocess.run([command, "--version"], capture_output=True, env=env, **who)
        except OSError as e:
            self.skipTest(f"cannot run as another user: {e}")
        if probe.returncode:
            self.skipTest("the command does not run as another user here")
        done = subprocess.run([command, "info", path], capture_output=True, text=True, env=env, **who)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, f"smurf: cannot open '{path}': permission denied\n")
        if who:  # a folder where nothing may be written
            os.chmod(path, 0o644)
            done = subprocess.run([command, "convert", path, self.path("out.csv")], capture_output=True, text=True,
                                  env=env, **who)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
            self.assertIn("permission denied", done.stderr)
            self.assertNotIn("out.csv", "".join(self.listing()))

    def test_gzip_cut_off(self):
        whole = packed("".join(f"{i},{i % 7}\n" for i in range(20000)).join(["time,type\n", ""]))
        for name in ["a.csv.gz", "a.csv"]:
            for size in [5, 12, 40, len(whole) // 2, len(whole) - 9, len(whole) - 1]:
                self.write(name, whole[:size])
                self.refuse("convert", name, "out.jsonl", says=[name + ": ", "gzip", "byte", "fetch"])
        self.refuse("info", "-", input=whole[:1000], says=["standard input: ", "gzip", "byte"])

    def test_gzip_cut_off_beside_its_times(self):
        self.write("time-a.txt.gz", packed("1 2\n" * 5000))
        self.write("event-a.txt.gz", packed("0 1\n" * 5000)[:60])
        self.refuse("convert", "time-a.txt.gz", "out.csv", says=["event-a.txt.gz: ", "gzip"])

    def test_gzip_of_nothing(self):
        self.write("a.csv", packed(""))
        self.refuse("info", "a.csv", says=["a.csv: ", "empty"])

    def test_gzip_damaged(self):
        whole = bytearray(packed("time,type\n" + "".join(f"{i * i},0\n" for i in range(5000))))
        whole[len(whole) // 2] ^= 0x55
        self.write("a.csv.gz", bytes(whole))
        self.refuse("convert", "a.csv.gz", "out.jsonl", says=["a.csv.gz", "gzip|a.csv.gz:[0-9]+: "])
        whole = bytearray(packed("time,type\n1,0\n"))
        whole[-5] ^= 1  # the length and checksum at the end
        self.write("b.csv.gz", bytes(whole))
        self.refuse("convert", "b.csv.gz", "out.jsonl", says=["b.csv.gz: ", "gzip", "damaged"])

    def test_rmtpp_without_its_types(self):
        self.write("time-a.txt", "1 2\n")
        self.refuse("info", "time-a.txt", says=["event-a.txt", "no such file", "--events"])
        self.write("a.txt", "1 2\n")
        self.refuse("info", "a.txt", says=["a.txt: ", "two files", "--events", "header"])
        self.refuse("info", "-", input="1 2\n", says=["standard input: ", "--events"])

    def test_rmtpp_output_needs_a_name_for_both(self):
        self.write("a.jsonl", GOOD)
        self.refuse("convert", "a.jsonl", "out.txt", says=["two files", "'out.txt'"])
        self.refuse("convert", "a.jsonl", "-", "--to", "rmtpp", says=["two files"])

    def test_message_is_one_line_whatever_the_names(self):
        for name in ["a\nb.csv", "a\r\x1b[2Jb.csv", "ü 'x' \"y\".csv"]:
            self.write(name, "time,type\n1,0\nx,0\n")
            self.refuse("info", name, says=[":3: ", "time 'x'"])
        self.write("a.csv", "time,type\n1,0\nx\x1b[31m\ty,0\n")
        self.assertNotIn("\x1b", self.refuse("info", "a.csv", says=":3: "))
        self.refuse("info", "no\nsuch", says="no such file")
        self.write("b.csv", "time,type\n1,0\n2,0\n3,0\n")
        self.refuse("convert", "b.csv", "no\nsuch/x", "--split-at", "2", says="no such file|No such file")
        self.refuse("info", "b.csv", "--no\nsuch", says="unknown option", status=2)

    def test_long_paths_do_not_crowd_out_the_reason(self):
        self.refuse("info", "x" * 5000, says="file name too long")
        folder = os.path.join(*["y" * 200] * 8)
        self.write(os.path.join(folder, "a.csv"), "time\nx\n")
        self.refuse("info", os.path.join(folder, "a.csv"), says=[":2: ", "time 'x'"])

    def test_old_file_stays_when_new_data_is_bad(self):
        self.write("out.csv", "old")
        self.write("a.csv", "time,type\n1,0\nx,0\n")
        self.refuse("convert", "a.csv", "out.csv")
        self.assertEqual(self.content("out.csv"), b"old")


class LongLines(Case):
    """1 GiB is the limit; a line beyond it is refused in time and memory that do not grow with the file."""
    BLANKS = gzip.compress(b" " * (1 << 26), 1)

    def long(self, name, before):
        return self.write(name, packed(before) + self.BLANKS * 17)

    def test_csv(self):
        self.long("a.csv.gz", "time,type\n1,0\n2,")
        self.refuse("convert", "a.csv.gz", "out.jsonl", says=["a.csv.gz:3: ", "1 GiB"])

    def test_csv_quoted(self):
        self.long("a.csv.gz", 'time,type\n1,0\n2,"')
        self.refuse("convert", "a.csv.gz", "out.jsonl", says=["a.csv.gz:3: ", "1 GiB", "quote"])

    def test_jsonl(self):
        self.long("a.jsonl.gz", GOOD + '{"times":[1,')
        self.refuse("convert", "a.jsonl.gz", "out.csv", says=["a.jsonl.gz:2: ", "1 GiB"])

    def test_rmtpp(self):
        self.long("time-a.txt.gz", "1 2\n1 2 ")
        self.write("event-a.txt", "0 0\n0 0\n")
        self.refuse("convert", "time-a.txt.gz", "out.csv", "--events", "event-a.txt", says=["time-a.txt.gz:2: ", "1 GiB"])

    def test_csv_from_a_pipe(self):
        """Small reads must not make the search for the line's end start over."""
        feed = subprocess.Popen(["sh", "-c", "printf 'time,type\\n1,0\\n2,'; head -c 1200000000 /dev/zero | tr '\\0' x"],
                                stdout=subprocess.PIPE)
        self.addCleanup(feed.wait)
        self.addCleanup(feed.stdout.close)
        self.refuse("convert", "-", "out.jsonl", stdin=feed.stdout, says=["standard input:3: ", "1 GiB"])


class DiskFull(Case):
    def setUp(self):
        super().setUp()
        self.write("a.csv", "time,type\n" + "".join(f"{i}.5,{i % 3}\n" for i in range(30000)))

    FORMATS = {"csv": "o.csv", "tsv": "o.tsv", "jsonl": "o.jsonl", "json": "o.json", "rmtpp": "time.txt", "pickle": "o.pkl",
               "gzip": "o.csv.gz"}

    def test_dev_full(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        for to in ["csv", "tsv", "jsonl", "json", "pickle"]:
            self.refuse("convert", "a.csv", "/dev/full", "--to", to, says=["'/dev/full'", "no space left"])
        with open("/dev/full", "wb") as full:
            for args in [("convert", "a.csv", "-"), ("info", "a.csv"), ("info", "--json", "a.csv"), ("info", "--help"),
                         ("--help",), ("--version",), ("info", "--version"), ("simulate", "poisson")]:
                r = self.run_smurf(*args, stdout=full)
                self.assertEqual((r.status, r.err.count("\n")), (1, 1), (args, r.err))
                self.assertRegex(r.err, "standard output", args)

    def test_file_size_limit(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        for to, out in self.FORMATS.items():
            with self.subTest(to):
                self.refuse("convert", "a.csv", out, preexec_fn=limit, says=[out + "|event.txt", "file too large"])
        self.refuse("simulate", "poisson", "-n", "1000", "-o", "o.csv", preexec_fn=limit, says=["o.csv", "file too large"])

    def test_small_disk(self):
        disk = self.path("disk")
        os.mkdir(disk)
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", disk], capture_output=True, text=True)
        if mount.returncode:
            self.skipTest("cannot mount a small tmpfs: " + mount.stderr.strip())
        self.addCleanup(subprocess.run, ["umount", disk])
        for to, out in self.FORMATS.items():
            if to == "gzip":
                continue  # fits
            with self.subTest(to):
                self.refuse("convert", "a.csv", "disk/" + out, says=["no space left"])
        with open(self.path("disk/o.csv"), "w") as f:
            f.write("old")
        self.refuse("convert", "a.csv", "disk/o.csv", says=["o.csv'", "no space left"])
        self.assertEqual(self.content("disk/o.csv"), b"old")

    def test_second_file_of_rmtpp_text_fails(self):
        """Types fit, times do not: neither is left."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (65000, 65000))
        self.refuse("convert", "a.csv", "time.txt", preexec_fn=limit, says=["time.txt", "file too large"])


if __name__ == "__main__":
    unittest.main()
