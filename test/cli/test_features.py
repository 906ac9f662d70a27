"""--features: further columns of a table, from training to forecasts."""
import json
import os
import random
import unittest

import common
import models

SMALL = ("--epochs", "2", *models.SMALL)


def orders(sequences=40, events=20, seed=1, columns=("amount", "region")):
    """Orders whose next one comes sooner after a large amount."""
    draw = random.Random(seed)
    lines = ["customer,time,type," + ",".join(columns) if columns else "customer,time,type"]
    for s in range(sequences):
        t = 0.0
        for _ in range(events):
            amount, region = round(draw.lognormvariate(0, 1), 2), draw.choice(["north", "south", "west"])
            cells = {"amount": "" if draw.random() < 0.1 else str(amount), "region": region}
            lines.append(",".join(["c%d" % s, "%.6f" % t, draw.choice("xy")] + [cells[c] for c in columns]))
            t += draw.expovariate(1 + amount)
    return "\n".join(lines) + "\n"


class Reading(common.Case):
    def test_info_names_what_can_be_used(self):
        log = self.write("log.csv", orders())
        self.assertIn("other columns that --features can use: amount, region", self.smurf("info", log).out)
        out = self.smurf("info", log, "--features", "region").out
        self.assertIn("features   region (3 words)", out)
        self.assertIn("other columns that --features can use: amount", out)
        out = self.smurf("info", log, "--features", "auto").out
        self.assertIn("features   amount, region (3 words)", out)
        self.assertNotIn("other columns", out)
        found = self.summary(log, "--features", "auto")[0]["reading"]
        self.assertEqual((found["features"], found["others"]), ("amount=number,region=word", None))

    def test_convert_keeps_them(self):
        log = self.write("log.csv", orders())
        self.smurf("convert", log, "out.tsv", "--features", "region,amount")
        lines = self.content("out.tsv").decode().splitlines()
        self.assertEqual(lines[0], "sequence\ttime\ttype\tregion\tamount")
        first = orders().splitlines()[1].split(",")
        self.assertEqual(lines[1].split("\t"), ["c0", "0", first[2], first[4], first[3]])
        self.assertEqual(len(lines), 801)

    def test_packed_files_keep_them(self):
        log = self.write("log.csv", orders())
        self.smurf("convert", log, "log.smurf", "--features", "amount,region")
        self.smurf("convert", log, "log.tsv", "--features", "amount,region")
        self.smurf("convert", "log.smurf", "again.tsv")
        self.assertEqual(self.content("again.tsv"), self.content("log.tsv"))
        self.assertIn("features   amount, region (3 words)", self.smurf("info", "log.smurf").out)
        out = self.smurf("info", "log.smurf", "--features", "region").out  # of those that are there
        self.assertIn("features   region (3 words)", out)
        self.assertNotIn("other columns", out)
        self.assertNotIn("features  ", self.smurf("info", "log.smurf", "--features", "").out)
        self.refuse("info", "log.smurf", "--features", "type", says="the packed file has no further column 'type', which --features names")
        self.refuse("info", "log.smurf", "--features", "region,region", says="--features names 'region' twice")
        self.refuse("info", "log.smurf", "--features", "region=number", says="the packed file has 'region' as words")
        for data, *features in (log, "--features", "amount,region"), ("log.smurf",):
            self.smurf("train", data, "-o", data + ".st", *SMALL, "--split", "8:1:1", "-q", *features)
        self.assertEqual(self.content("log.csv.st"), self.content("log.smurf.st"))
        self.assertEqual(self.smurf("predict", "log.csv.st", log).out, self.smurf("predict", "log.csv.st", "log.smurf").out)

    def test_errors(self):
        log = self.write("log.csv", orders())
        self.refuse("info", log, "--features", "colour", says="there is no column 'colour', which --features names")
        self.refuse("info", log, "--features", "type", "--type", "type", says="'type' cannot be a further one")
        self.write("commas.csv", "time;type;amount\n" + "".join("%d;a;%d,5\n" % (i, i) for i in range(9)))
        self.refuse("info", "commas.csv", "--features", "amount", says="'amount' holds numbers with a comma, such as 0,5 .write a point")
        self.assertIn("amount", self.smurf("info", "commas.csv", "--features", "amount=word").out)
        self.refuse("convert", log, "out.jsonl", "--features", "auto", says="JSON Lines cannot hold the 2 further columns")
        self.smurf("convert", log, "out.jsonl")
        self.refuse("train", "out.jsonl", "--features", "amount",
                    says="further columns are read from CSV, TSV, packed files and JSON with one object per event only")
        self.refuse("train", log, "--features", "auto", "--preset", "thp", "--split", "8:1:1",
                    says="model thp cannot see further columns: leave --features out")
        self.write("clash.csv", "customer,at,kind,type\n" + "".join("a,%d,x,%d\n" % (i, i % 3) for i in range(9)))
        self.refuse("convert", "clash.csv", "out.csv", "--time", "at", "--type", "kind", "--features", "type",
                    says="further column 'type' has the name of another column")

    def test_simulate(self):
        self.smurf("simulate", "covariate", "-n", "5", "--events", "4", "-o", "log.csv", "-q")
        lines = self.content("log.csv").decode().splitlines()
        self.assertEqual((lines[0], len(lines)), ("sequence,time,type,observation_start,x,word", 21))
        self.assertEqual({line.split(",")[5] for line in lines[1:]}, {"plain", "fast"})
        self.assertRegex(lines[1].split(",")[4], r"^-?\d\.\d{1,3}$")
        self.assertEqual(self.smurf("simulate", "covariate", "-n", "5", "--events", "4").raw, self.content("log.csv"))
        self.smurf("simulate", "covariate", "-n", "9", "--events", "4", "-o", "demo/", "-q")
        self.assertIn("demo/test.csv", self.listing())
        self.refuse("simulate", "covariate", "-n", "5", "-o", "log.jsonl", "-q", says="write CSV, TSV or a packed file")


class Models(models.ModelCase):
    @classmethod
    def make(cls):
        cls.put("log.csv", orders(60))
        cls.put("plain.csv", orders(60, columns=()))
        cls.train("log.csv", "m.safetensors", "--split", "8:1:1", "--features", "amount,region")

    def predict(self, data, *more, **how):
        out = self.smurf("predict", self.at("m.safetensors"), data, "--format", "jsonl", *more, **how).out
        return {f["sequence"]: f["median"] for f in map(json.loads, out.splitlines())}

    def test_the_model_finds_its_columns(self):
        """By name, in any order, also as JSON and as a stream; other columns do not matter."""
        text = orders(3, seed=2)
        want = self.predict(self.write("new.csv", text))
        rows = [line.split(",") for line in text.splitlines()]
        turned = "\n".join(",".join([r[4], "other" if i == 0 else "7", r[0], r[3], r[1], r[2]]) for i, r in enumerate(rows)) + "\n"
        self.assertEqual(self.predict(self.write("turned.csv", turned)), want)
        names = rows[0]
        objects = "".join(json.dumps({n: float(v) if n in ("time", "amount") and v else v for n, v in zip(names, r) if v}) + "\n"
                          for r in rows[1:])
        self.assertEqual(self.predict(self.write("new.jsonl", objects)), want)
        for stream in text, turned, objects:
            found = self.predict("-", input=stream)
            self.assertEqual(found.keys(), want.keys())
            for name in want:
                self.assertAlmostEqual(found[name], want[name], delta=1e-4 * want[name])

    def test_values_matter(self):
        text = orders(1, seed=3)
        lines = text.splitlines()
        last = lines[-1].split(",")

        def median(amount, region):
            row = ",".join(last[:3] + [amount, region])
            return self.predict("-", input="\n".join(lines[:-1] + [row]) + "\n")["c0"]
        self.assertNotEqual(median("0.1", "north"), median("9", "north"))
        self.assertNotEqual(median("", "north"), median("1", "north"))
        self.assertEqual(median("1", "mars"), median("1", "venus"))  # words that the model does not know

    def test_commands(self):
        m, log = self.at("m.safetensors"), self.at("log.csv")
        r = self.smurf("eval", m, log, "--json", quiet=False)
        self.assertIn("trained on this file: splitting it 8:1:1", r.err)
        self.assertEqual(json.loads(r.out)["part"], "test")
        self.smurf("score", m, log, "--part", "train", quiet=False)
        self.smurf("overdue", m, log, "--now", "1000", quiet=False)
        r = self.smurf("sample", m, log, "--paths", "5", "--until", "3", quiet=False)
        self.assertIn("further columns (such as 'amount') of events that are drawn are those of past events of the same type",
                      r.err)
        r = self.smurf("predict", m, log, "--next", "x", "--paths", "5", quiet=False)
        self.assertIn("of events that are drawn", r.err)
        text = orders(2, seed=4)
        self.smurf("watch", m, "-", "--day", "10", input=text, quiet=False)

    def test_a_missing_column(self):
        m = self.at("m.safetensors")
        for data in "plain.csv", "half.csv":
            if data == "half.csv":
                self.write(data, orders(3, columns=("region",)))
            path = self.at(data) if data == "plain.csv" else data
            for command in ("eval",), ("predict",), ("score",), ("sample", "--until", "2"), ("overdue", "--now", "99"):
                self.refuse(command[0], m, path, *command[1:], "-q",
                            says="there is no column 'amount': the train data has it as a further one")
        r = self.run_smurf("predict", m, "-", input=orders(3, columns=()))
        self.assertEqual(r.status, 1)
        self.assertIn("there is no column 'amount'", r.err)
        self.smurf("convert", self.at("plain.csv"), "plain.jsonl")
        self.refuse("predict", m, "plain.jsonl", says="it has no further column 'amount', which the train data has")
        self.refuse("serve", m, "--listen", "127.0.0.1:0", says="sees further columns, such as 'amount'")

    def test_auto_is_decided_by_train(self):
        for part in "train", "dev":
            text = orders(20, seed=8)
            self.write("demo/%s.csv" % part, text if part == "train" else text.replace("south", "north").replace("west", "north"))
        self.smurf("train", "demo", *SMALL, "--features", "auto", "-q", quiet=False)

    def test_parts_of_a_directory(self):
        for part, seed in ("train", 5), ("dev", 6), ("test", 7):
            text = orders(30, seed=seed)
            self.write("demo/%s.csv" % part, text.replace("south", "east") if part == "dev" else text)
        self.smurf("train", "demo", *SMALL, "--features", "region,amount", "-q", quiet=False)
        self.smurf("eval", "model.safetensors", "demo", "-q", quiet=False)
        self.write("demo/test.csv", orders(30, columns=()))
        self.refuse("eval", "model.safetensors", "demo", "-q", says="there is no column 'region'")

    def test_resume(self):
        """With a resume file the model is made again; another set of columns is refused."""
        log, options = self.at("log.csv"), ["--split", "8:1:1", "--features", "auto"]
        self.smurf("train", log, *options, "-o", "a.safetensors", *models.SMALL, "-q", quiet=False)
        model = self.content("a.safetensors")
        os.unlink(self.path("a.safetensors"))
        self.smurf("train", log, *options, "-o", "a.safetensors", "--resume", "-q", quiet=False)
        self.assertEqual(self.content("a.safetensors"), model)
        self.refuse("train", log, *options[:2], "-o", "a.safetensors", "--resume", "-q", says="started with other further columns")

    def test_no_column_fits(self):
        self.assertIn("features: none", self.smurf("train", self.at("plain.csv"), *SMALL, "--features", "auto", quiet=False).err)


if __name__ == "__main__":
    unittest.main()
