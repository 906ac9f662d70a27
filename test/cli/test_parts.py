"""A directory in which train (dev, test) is several files, train-000.csv, train-001.csv, ..."""
import json
import os
import unittest

from common import Case, packed
from models import SMALL, table

PARTS = 5


class Parts(Case):
    def deal(self, name, text, parts=PARTS, header=1, suffix=".csv", part="train", write=str):
        """Writes a text as one file into the folder `name`-one, and its lines as several into `name`."""
        lines = text.splitlines(keepends=True)
        head, rows = lines[:header], lines[header:]
        self.write(f"{name}-one/{part}{suffix}", text)
        for p in range(parts):
            share = rows[len(rows) * p // parts:len(rows) * (p + 1) // parts]
            self.write(f"{name}/{part}-{p:03}{suffix}", "".join(head + share))

    def same(self, name, *args):
        """The data sets are the same: JSON Lines keep every bit, names and the order of types."""
        alone = not any(file.startswith("dev") for file in os.listdir(self.path(name)))
        out = {folder: f"out-{folder}" + (".jsonl" if alone else "") for folder in (name, name + "-one")}
        for folder in out:
            self.smurf("convert", folder, out[folder], "--to", "jsonl", *args, quiet=False)
        for part in [""] if alone else ["/train.jsonl", "/dev.jsonl"]:
            self.assertEqual(self.content(out[name] + part), self.content(out[name + "-one"] + part))

    def test_the_same_as_one_file(self):
        """Types are numbered by their first appearance in all parts."""
        types = [("b", "a"), ("c", "a"), ("a", "d"), ("d", "e"), ("f",)]
        text = "user,time,type\n" + "".join(table(2, events=9, types=types[p], seed=p, name=f"u{p}-%d").split("\n", 1)[1]
                                            for p in range(PARTS))
        self.deal("d", text)
        self.deal("d", table(4, events=8, types=("z", "a"), seed=9, name="v%d"), parts=2, part="dev")
        self.same("d")
        self.assertEqual([p["sequences"] for p in self.summary("d")], [10, 4])
        self.assertEqual(self.summary("d")[0]["source"], "d/train (5 files)")

    def test_types_that_are_numbers(self):
        self.deal("d", "user,time,type\n" + "".join(f"u{u},{t},{u}\n" for u in range(10) for t in range(3)))
        self.same("d")

    def test_json_lines(self):
        """Sequences are lines here: those of one name are two, in one file and in two."""
        lines = [json.dumps({"sequence": f"u{i % 7}", "dim_process": 4, "times": [i + 0.25, i + 1, i + 1], "types": [i % 3, 1, 0],
                             "observation_end": i + 5}) for i in range(23)]
        self.deal("d", "\n".join(lines) + "\n", header=0, suffix=".jsonl")
        self.same("d")
        self.assertEqual(self.summary("d")[0]["types"], 4)

    def test_dates_zones_and_units(self):
        rows = "".join(f"u{u},{d:02}.03.2024 0{u}:30,x{u % 2}\n" for u in range(8) for d in range(1, 9))
        self.deal("d", "user,when,type\n" + rows, parts=4)
        self.same("d", "--timezone", "Europe/Berlin")
        self.deal("e", "user,time,type\n" + "".join(f"u{u},{t},x\n" for u in range(5) for t in range(4)))
        self.same("e", "--unit", "h")

    def test_events_out_of_order_in_a_part(self):
        self.deal("d", "user,time,type\n" + "".join(f"u{u},{t},x\n" for u in range(5) for t in (1, 3, 2, 2, 5)))
        self.write("d/train-001.csv", self.content("d/train-001.csv").decode() + "u1,3,\n")
        said = self.smurf("convert", "d", "out.jsonl", quiet=False).err.splitlines()
        parts = [line.split(": ")[3] for line in said if line.startswith("smurf: warning: d/train (5 files): ")]
        self.assertEqual(parts, [f"train-00{p}.csv" for p in (0, 1, 1, 2, 3, 4)], said)

    def test_many_remarks(self):
        self.deal("d", "user,time,type\n" + "".join(f"u{u},{t},x\n" for u in range(30) for t in (1, 3, 2)), parts=30)
        said = self.smurf("convert", "d", "out.jsonl", quiet=False).err.splitlines()
        self.assertEqual((len(said), said[-1]), (21, "smurf: warning: d/train (30 files): 10 more remarks on its files"))

    def test_further_columns(self):
        """Words of all parts, numbered by their first appearance, and merged if they are rare in all."""
        words = [("p", "q"), ("q", "r"), ("r", "s", "rare1"), ("t", "p"), ("p", "rare2")]
        rows = "".join(f"u{u},{t},{'xyz'[t % 3]},{words[u // 2][t % len(words[u // 2])]},{u + t / 4}\n" for u in range(10) for t in range(12))
        self.deal("d", "user,time,type,place,amount\n" + rows)
        self.deal("d", "user,time,type,place,amount\n" + rows.replace("u", "v"), part="dev", parts=2)
        for features in "place,amount", "auto":
            for folder in "d", "d-one":
                self.smurf("convert", folder, f"out-{folder}/", "--to", "csv", "--features", features, "--rare", "13")
            for part in "train", "dev":
                self.assertEqual(self.content(f"out-d/{part}.csv"), self.content(f"out-d-one/{part}.csv"))
            self.assertIn(b",other,", self.content("out-d/train.csv"))

    def test_rare_types(self):
        rows = "".join(f"u{u},{t},{'word%d' % (u * 50 + t) if t else 'often'}\n" for u in range(30) for t in range(50))
        self.deal("d", "user,time,type\n" + rows)
        self.same("d", "--rare", "5")
        self.assertEqual(len(self.sequences("out-d.jsonl")[0]["type_names"]), 2)

    def test_the_first_part_decides_about_columns(self):
        """The second column of times looks better in the second part."""
        self.write("d/train-0.csv", "id,t,stamp\na,1,x\na,2,x\nb,3,x\nb,5,x\n")
        self.write("d/train-1.csv", "id,t,stamp\nc,1,2024-01-01\nc,2,2024-01-02\nd,3,2024-01-03\nd,5,2024-01-04\n")
        self.assertEqual([e[1] for e in self.events("d", "--sequence", "id")], [[1, 2], [3, 5], [1, 2], [3, 5]])

    def test_gzip_packed_and_other_formats(self):
        self.deal("d", table(10))
        for p in 1, 3:
            self.write(f"d/train-{p:03}.csv.gz", packed(self.content(f"d/train-{p:03}.csv")))
            os.remove(self.path(f"d/train-{p:03}.csv"))
        self.same("d")
        for to, suffix in ("packed", "smurf"), ("json", "json"), ("pickle", "pkl"), ("tsv", "tsv"):
            os.makedirs(self.path(to))
            for p in range(PARTS):
                name = f"d/train-{p:03}.csv" + (".gz" if p in (1, 3) else "")
                self.smurf("convert", name, f"{to}/train-{p}.{suffix}")
            strip = [] if to != "tsv" else ["--sequence", "sequence"]
            self.assertEqual(self.events(to, *strip)[0][1:], self.events("d-one")[0][1:], to)
            self.assertEqual([e[1:] for e in self.events(to, *strip)], [e[1:] for e in self.events("d-one")], to)

    def test_the_order_of_names(self):
        for name, first in ("10", 10), ("9", 9), ("009", 0):
            self.write(f"d/train-{name}.csv", f"user,time\nu{first},{first}\n")
        self.assertEqual([name for name, *_ in self.events("d")], ["u0", "u10", "u9"])

    def test_a_model_of_parts(self):
        self.deal("d", table(30, events=10))
        self.deal("d", table(10, events=10, name="v%d"), parts=2, part="valid")
        for folder in "d", "d-one":
            self.smurf("train", folder, "-o", folder + ".safetensors", "--epochs", "1", "-q", *SMALL)
        self.assertTrue(self.content("d.safetensors") == self.content("d-one.safetensors"))
        self.deal("d", table(10, events=10, name="w%d", seed=3), part="test")
        for command in "eval", "predict", "score", "sample", "overdue", "watch":
            more = ["--now", "500"] if command == "overdue" else ["--day", "100"] if command == "watch" else []
            told = [self.smurf(command, "d.safetensors", folder, *more, quiet=False).out for folder in ("d", "d-one")]
            self.assertEqual(told[0], told[1].replace("d-one", "d"))

    def test_a_model_with_columns_of_its_own(self):
        """Where its columns are missing, those of the first part are chosen, for all."""
        self.write("one.csv", table(30).replace("user,time,type", "who,at,what"))
        self.smurf("train", "one.csv", "-o", "m.safetensors", "--sequence", "who", "--time", "at", "--type", "what", "--epochs", "1",
                   quiet=False, *SMALL)
        self.deal("d", table(10, events=10))
        told = [self.smurf("predict", "m.safetensors", folder, "--part", "train", quiet=False).out for folder in ("d", "d-one")]
        self.assertEqual(*told)

    # ---- mistakes ----

    def test_a_bad_part_is_named(self):
        self.deal("d", table(10))
        self.write("d/train-003.csv", "user,time,type\nx1,1,a\nx1,oops,b\n")
        self.refuse("info", "d", says=r"^smurf: d/train-003\.csv:3: .*'oops'")
        self.write("d/train-003.csv", "when,what\n1,a\n")
        self.refuse("info", "d", "--time", "time", says=r"^smurf: d/train-003\.csv.*time")
        self.write("d/train-003.csv", "")
        self.refuse("info", "d", says=r"^smurf: d/train-003\.csv: the file is empty: there are no events in it")
        self.write("d/train-003.csv", "user,time,type\n")
        self.refuse("info", "d", says=r"^smurf: d/train-003\.csv: .*no event")

    def test_a_sequence_in_two_parts(self):
        self.write("d/train-0.csv", "user,time\nu1,1\nu2,2\n")
        self.write("d/train-1.csv", "user,time\nu3,1\nu2,3\n")
        self.refuse("info", "d", says="^smurf: d/train-1.csv: the sequence 'u2' is also in 'train-0.csv': a sequence must be in one file")
        self.write("d/train-0.csv", "time,type\n1,a\n2,b\n")
        self.write("d/train-1.csv", "time,type\n3,a\n4,b\n")
        self.refuse("info", "d", says="^smurf: d/train-1.csv: without a sequence column, 'train-0.csv' and this file are one sequence")

    def test_parts_that_differ(self):
        self.write("d/train-0.csv", "user,time,type\na,1,1\na,2,2\n")
        self.write("d/train-1.csv", "user,time,type\nb,1,x\nb,2,y\n")
        self.refuse("info", "d", says="types are numbers in 'd/train-0.csv' but words in 'd/train-1.csv' \\(use --types words\\)")
        self.assertEqual([e[2] for e in self.events("d", "--types", "words")], [["1", "2"], ["x", "y"]])
        self.write("d/train-1.csv", "user,time,type\nb,2024-01-01,1\nb,2024-01-02,2\n")
        self.refuse("info", "d", says="times are numbers in 'd/train-0.csv' but dates in 'd/train-1.csv'")
        self.write("d/train-1.csv", '{"times":[1,2],"types":[0,1]}\n')
        self.refuse("info", "d", says="'d/train-0.csv' and 'd/train-1.csv' differ in format")
        self.write("e/train-0.jsonl", '{"times":[1,2],"unit":"s"}\n')
        self.write("e/train-1.jsonl", '{"times":[1,2],"unit":"min"}\n')
        self.refuse("info", "e", says="the unit of time is 's' in 'e/train-0.jsonl' but 'min' in 'e/train-1.jsonl'")

    def test_times_without_a_year(self):
        for p in range(2):
            self.write(f"d/train-{p}.log", "")
            self.write(f"d/train-{p}.csv", f"host,time\nh{p},Dec 30 10:00:00\nh{p},Dec 31 10:00:00\n")
        self.refuse("info", "d", says="d/train-0.csv: times without a year cannot be read from several files")

    def test_names_that_are_no_series(self):
        for names in [("train-1.csv", "train.csv"), ("train-1.csv", "training-2.csv"), ("train.csv", "train.csv.gz"),
                      ("train-1.csv", "train-1.csv.gz"), ("my-train-1.csv", "my-train-2.csv"), ("time-train-1.txt", "time-train-2.txt")]:
            folder = "-".join(names)
            for name in names:
                self.write(f"{folder}/{name}", "user,time\na,1\n")
            self.refuse("info", folder, says=[f"holds two files for train, '{names[0]}' and '{names[1]}'", "train-000, train-001"])
        self.write("f/train-1.csv", "user,time\na,1\n")
        self.write("f/train-2.jsonl", '{"times":[1,2]}\n')
        self.refuse("info", "f", says="'f' holds files of two formats for train, 'train-1.csv' and 'train-2.jsonl'")

    def test_parts_are_inputs(self):
        """They are not overwritten, and not left to pass for parts of what is written."""
        self.deal("d", table(10))
        self.refuse("convert", "d", "d/train-002.csv", says="OUT would overwrite 'd/train-002.csv'", status=2)
        self.refuse("simulate", "poisson", "-o", "d", says="'d' holds train-000.csv, which would not be replaced")


if __name__ == "__main__":
    unittest.main()
