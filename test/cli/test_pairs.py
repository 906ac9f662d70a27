"""Pairs of traits: small files in which every value of every trait meets every value of every other one, and what is read of them.

Each holds the same 600 events of 60 users, who are known by name, at known times, with known types.
"""
import datetime
import itertools
import json
import random
import unittest

from common import packed
from test_traits import TIMES, Described, log

UTC = datetime.timezone.utc
TRAITS = {
    "form": ["iso_T_Z", "iso_basic", "us", "us_12_hours", "day_first", "dots", "month_name", "apache", "db2", "epoch_s", "epoch_ms"],
    "syntax": [",", "\t", ";", "|", "jsonl", "json"],
    "quote": [False, True],
    "end": ["\n", "\r\n"],
    "header": ["first line", "none", "comment", "others"],
    "order": ["of time", "newest first", "shuffled", "by user"],
    "encoding": ["utf-8", "utf-8-sig", "cp1252", "utf-16"],
    "missing": [None, "time", "sequence", "type"],
    "packed": [False, True],
    "surplus": [None, "empty", "rows"],
    "columns": ["when user what", "what user when", "user what when", "what when user"],
}
NAMES = {"first line": {"when": "Start Time", "user": "userId", "what": "Event Type", "note": "note"},
         "others": {"when": "opened", "user": "Case No.", "what": "status", "note": "remark"}}
KINDS = {"order": "order", "pay": "größer, dann \"kleiner\"", "ship": "naïve", "return": "NA"}


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def covering(traits, seed=1):
    """A few rows that hold every pair of values."""
    draw, names = random.Random(seed), list(traits)
    todo = {((a, x), (b, y)) for a, b in itertools.combinations(names, 2) for x in traits[a] for y in traits[b]}
    rows = []
    while todo:
        best, gain = None, 0
        for _ in range(60):
            start = dict(draw.choice(sorted(todo, key=repr)))
            row = {n: start.get(n, draw.choice(traits[n])) for n in names}
            got = sum(pair in todo for pair in itertools.combinations(row.items(), 2))
            if got > gain:
                best, gain = row, got
        todo -= set(itertools.combinations(best.items(), 2))
        rows.append(best)
    return rows


def made(t):
    """The rows of a file with these traits, as cells by column, and the events that are right."""
    write, _, step = TIMES[t["form"]]
    rows, right = [], []
    for w, c, a, n in log(600):
        i = int(n[5:])
        rows.append({"when": w, "user": "Müller %d" % (i * 7 % 60), "what": KINDS[a], "note": n})
    order = t["order"]
    if order == "newest first":
        rows.reverse()
    elif order == "shuffled":
        random.Random(5).shuffle(rows)
    elif order == "by user":
        rows.sort(key=lambda r: r["user"])
    for k, row in enumerate(rows):
        lost = k % 29 == 11 and t["missing"]
        if not lost:
            right.append((row["user"], row["when"].replace(tzinfo=UTC).timestamp(), row["what"]))
        row["when"] = write(row["when"])
        if lost:
            row[{"time": "when", "sequence": "user", "type": "what"}[lost]] = ""
    return rows, right


def written(t):
    """The file, the names of its columns, and the events that are right."""
    rows, right = made(t)
    columns = t["columns"].split() + ["note"]
    names = NAMES["others" if t["header"] == "others" else "first line"]
    if t["syntax"].startswith("json"):
        objects = [{names[c]: row[c] for c in columns if row[c]} for row in rows]
        text = json.dumps(objects) if t["syntax"] == "json" else "".join(json.dumps(o) + t["end"] for o in objects)
        found = names
    else:
        def line(cells):
            quoted = ['"%s"' % c.replace('"', '""') if t["quote"] or t["syntax"] in c or '"' in c else c for c in cells]
            return t["syntax"].join(quoted) + (t["syntax"] if t["surplus"] == "empty" else "") + t["end"]
        lines = [line([row[c] for c in columns]) for row in rows]
        head = line([names[c] for c in columns])
        if t["surplus"] == "empty":
            head = head.replace(t["syntax"] + t["end"], t["end"])
        lines = {"none": [], "comment": ["# exported" + t["end"], "# " + head]}.get(t["header"], [head]) + lines
        found = {c: str(i + 1) for i, c in enumerate(columns)} if t["header"] == "none" else names
        if t["surplus"] == "rows":  # which cannot be read
            lines[300:300] = [line(["a", "b", "c", "d", "e"])] * 3
        text = "".join(lines)
    raw = text.encode(t["encoding"])
    return (packed(raw) if t["packed"] else raw), found, right


class Pairs(Described):
    def one(self, t):
        content, names, right = written(t)
        self.write("x", content)
        [s] = self.summary("x")
        r = s["reading"]
        self.assertEqual((r["time_column"], r["sequence_column"], r["type_column"]), tuple(names[c] for c in ("when", "user", "what")),
                         r["text"])
        told = " ".join(s["warnings"])
        lost = 600 - len(right)
        self.assertEqual("left out" in told, lost > 0 or (t["surplus"] == "rows" and not t["syntax"].startswith("json")), told)
        if lost and t["missing"] == "type":
            self.assertIn("%d of 60" % lost, told)
        self.assertEqual("out of order" in told, t["order"] == "shuffled", told)
        self.assertEqual("newest first" in told, t["order"] == "newest first", told)
        self.assertEqual("Windows-1252" in told, t["encoding"] == "cp1252" and not t["syntax"].startswith("json"), told)
        got = [(name, moment(time), kind) for name, times, kinds in self.events("x", "--quiet") for time, kind in zip(times, kinds)]
        step = TIMES[t["form"]][2]
        self.assertEqual(len(got), len(right))
        for a, b in zip(sorted(got), sorted(right)):
            self.assertEqual((a[0], a[2]), (b[0], b[2]))
            self.assertLess(abs(a[1] - b[1]), step)  # some forms add a fraction


ROWS = covering(TRAITS)
for number, traits in enumerate(ROWS):
    def one(self, traits=traits):
        with self.subTest(**traits):
            self.one(traits)
    setattr(Pairs, "test_%02d" % number, one)


if __name__ == "__main__":
    unittest.main()
