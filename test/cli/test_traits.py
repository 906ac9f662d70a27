"""Small files with one trait each, and pairs of traits: which columns are taken and what is read, or the one-line error.

Each file holds the same log of 60 events in 6 cases, written in another way.
"""
import datetime
import itertools
import json
import os
import random
import re
import unittest

from common import Case, packed

START = datetime.datetime(2015, 1, 20, 8, 30, 15)
UTC = datetime.timezone.utc


def log(events=60):
    """(when, case, activity, note)"""
    draw = random.Random(7)
    now, rows = START, []
    for i in range(events):
        rows.append((now, "c%d" % (i % 6), draw.choice(["order", "pay", "ship", "return"]), "note %d" % i))
        now += datetime.timedelta(minutes=draw.choice([7, 95, 600]), seconds=draw.choice([0, 1, 30]))
    return rows


ROWS = log()


def us(t):
    return f"{t.month}/{t.day}/{t.year}"


# name: (how it is written, a part of the format or of the sentence, precision in seconds)
TIMES = {
    "iso_T_Z": (lambda t: t.strftime("%Y-%m-%dT%H:%M:%SZ"), "iso", 1),
    "iso_blank": (lambda t: t.strftime("%Y-%m-%d %H:%M:%S"), "iso", 1),
    "iso_offset": (lambda t: t.strftime("%Y-%m-%dT%H:%M:%S+00:00"), "iso", 1),
    "iso_offset_short": (lambda t: t.strftime("%Y-%m-%d %H:%M:%S+0000"), "iso", 1),
    "iso_fraction": (lambda t: t.strftime("%Y-%m-%d %H:%M:%S.250"), "iso", 1),
    "iso_comma": (lambda t: t.strftime("%Y-%m-%d %H:%M:%S,250"), "iso", 1),
    "iso_minutes": (lambda t: t.strftime("%Y-%m-%d %H:%M"), "iso", 60),
    "iso_basic": (lambda t: t.strftime("%Y%m%dT%H%M%SZ"), "iso", 1),
    "compact": (lambda t: t.strftime("%Y%m%d%H%M%S"), "iso", 1),
    "us": (lambda t: us(t) + t.strftime(" %H:%M:%S"), "%m/%d/%Y", 1),
    "us_padded": (lambda t: t.strftime("%m/%d/%Y %H:%M"), "%m/%d/%Y", 60),
    "us_12_hours": (lambda t: t.strftime("%m/%d/%Y %I:%M:%S %p"), "%m/%d/%Y %I", 1),
    "us_12_hours_offset": (lambda t: t.strftime("%m/%d/%Y %I:%M:%S %p +0000"), "%m/%d/%Y %I", 1),
    "us_short_year": (lambda t: us(t)[:-4] + t.strftime("%y %H:%M"), "%m/%d/%y", 60),
    "day_first": (lambda t: t.strftime("%d/%m/%Y %H:%M:%S"), "%d/%m/%Y", 1),
    "day_first_short": (lambda t: f"{t.day}/{t.month}/{t.year} " + t.strftime("%H:%M"), "%d/%m/%Y", 60),
    "dots": (lambda t: t.strftime("%d.%m.%Y %H:%M:%S"), "%d.%m.%Y", 1),
    "dashes": (lambda t: t.strftime("%d-%m-%Y %H:%M"), "%d-%m-%Y", 60),
    "year_slashes": (lambda t: t.strftime("%Y/%m/%d %H:%M:%S"), "iso", 1),
    "year_dots": (lambda t: t.strftime("%Y.%m.%d %H:%M:%S"), "%Y.%m.%d", 1),
    "month_name": (lambda t: t.strftime("%d-%b-%Y %H:%M:%S"), "%b", 1),
    "month_name_long": (lambda t: t.strftime("%d %B %Y %H:%M"), "%", 60),
    "month_first": (lambda t: t.strftime("%B %d, %Y %H:%M:%S"), "%", 1),
    "rfc_2822": (lambda t: t.strftime("%a, %d %b %Y %H:%M:%S +0000"), "%", 1),
    "apache": (lambda t: t.strftime("[%d/%b/%Y:%H:%M:%S +0000]"), "%d/%b/%Y", 1),
    "db2": (lambda t: t.strftime("%Y-%m-%d-%H.%M.%S.675872"), "%Y-%m-%d-%H", 1),
    "year_slashes_short": (lambda t: f"{t.year}/{t.month}/{t.day} " + t.strftime("%H:%M"), "%Y/%m/%d", 60),
    "dots_short_year": (lambda t: t.strftime("%d.%m.%y %H:%M:%S"), "%d.%m.%y", 1),
    "iso_week": (lambda t: t.strftime("%G-W%V-%uT%H:%M:%S"), "iso", 1),
    "iso_ordinal": (lambda t: t.strftime("%Y-%jT%H:%M:%S"), "iso", 1),
    "iso_basic_fraction": (lambda t: t.strftime("%Y%m%dT%H%M%S,250Z"), "iso", 1),
    "us_12_hours_short": (lambda t: us(t) + t.strftime(" %I:%M%p"), "%m/%d/%Y", 60),
    "month_name_short_year": (lambda t: t.strftime("%d-%b-%y %I.%M.%S.000000 %p"), "%d-%b-%y", 1),
    "iso_zone_name": (lambda t: t.strftime("%Y-%m-%dT%H:%M:%S+00:00[Europe/London]"), "iso", 1),
    "javascript": (lambda t: t.strftime("%a %b %d %Y %H:%M:%S GMT+0000 (Coordinated Universal Time)"), "%b %d %Y", 1),
    "javascript_local": (lambda t: us(t) + t.strftime(" %I:%M:%S\u202f%p"), "%m/%d/%Y", 1),
    "tracker": (lambda t: t.strftime("%d/%b/%y %I:%M %p"), "%d/%b/%y %I:%M %p", 60),
    "ctime": (lambda t: t.strftime("%a %b %d %H:%M:%S %Y"), "%b", 1),
    "epoch_s": (lambda t: str(int(t.replace(tzinfo=UTC).timestamp())), "epoch-s", 1),
    "epoch_fraction": (lambda t: "%.1f" % t.replace(tzinfo=UTC).timestamp(), "epoch-s", 1),
    "epoch_ms": (lambda t: str(int(t.replace(tzinfo=UTC).timestamp()) * 1000), "epoch-ms", 1),
    "epoch_us": (lambda t: str(int(t.replace(tzinfo=UTC).timestamp()) * 10 ** 6), "epoch-us", 1),
    "epoch_ns": (lambda t: str(int(t.replace(tzinfo=UTC).timestamp()) * 10 ** 9), "epoch-ns", 1),
}
DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";", "bar": "|"}
# The names of the columns of real logs: time, sequence, type.
NAMES = [
    ("time:timestamp", "case:concept:name", "concept:name"), ("CompleteTimestamp", "CaseID", "ActivityID"),
    ("Complete Timestamp", "Case ID", "Activity"), ("start_date", "bike_id", "subscription_type"),
    ("datetime", "machineID", "errorID"), ("timestamp", "userId", "rating"), ("InvoiceDate", "CustomerID", "event"),
    ("Timestamp", "user_id", "action"), ("created_at", "session", "status"), ("EventTime", "accountId", "EventType"),
    ("event_time", "patient", "kind"), ("Date", "vehicle_id", "Category"), ("ts", "device", "alarm"),
    ("occurred_at", "customer number", "event name"), ("Start Time", "Employee ID", "Task"), ("when", "host", "severity"),
    ("Datetime", "client-id", "Type"), ("logged.time", "sessionId", "operation"), ("TIME", "PATIENT_ID", "ACTIVITY"),
    ("openDate", "order_id", "stage"),
]


def table(rows, names=("when", "case", "activity", "note"), delimiter=",", form="iso_blank", quote=False, end="\n",
          cells=None):
    """cells: what a row becomes, (when, case, activity, note) by default."""
    write = TIMES[form][0] if form in TIMES else str

    def text(cell):
        return '"%s"' % cell if quote else cell
    lines = [] if names is None else [delimiter.join(map(text, names))]
    for row in rows:
        row = (write(row[0]),) + row[1:]
        lines.append(delimiter.join(map(text, cells(*row) if cells else row)))
    return "".join(line + end for line in lines)


class Described(Case):
    def take(self, content, *options, name="x.csv", **more):
        """The description of a file, with the reading's members beside it."""
        self.write(name, content)
        [s] = self.summary(name, *options, **more)
        for key, value in s["reading"].items():
            s[key] = value
        return s

    def check(self, content, time, sequence, type, *options, events=60, sequences=6, types=4, first=START, says=None, **more):
        s = self.take(content, *options, **more)
        self.assertEqual((s["time_column"], s["sequence_column"], s["type_column"]), (time, sequence, type), s["text"])
        self.assertEqual((s["events"], s["sequences"], s["types"]), (events, sequences, types), s["text"])
        if first:
            self.assertEqual(s["earliest"][:16], first.strftime("%Y-%m-%dT%H:%M"), s["text"])
        if says:
            self.assertRegex(s["text"], says)
        self.assertNotIn("\n", s["text"])
        return s

    def refused(self, content, says, *options, name="x.csv"):
        self.write(name, content)
        self.refuse("info", name, *options, says=says)


class Traits(Described):
    """Filled below."""


def add(name, test):
    name = "test_" + re.sub(r"\W+", "_", name)
    assert not hasattr(Traits, name), name
    setattr(Traits, name, test)


# ---- One trait, and pairs of traits --------------------------------------------------------------

for form in TIMES:
    def one_form(self, form=form):
        s = self.check(table(ROWS, form=form, quote="," in TIMES[form][0](START)), "when", "case", "activity")
        self.assertIn(TIMES[form][1], s["time_format"])
        last = ROWS[-1][0].replace(second=0) if TIMES[form][2] == 60 else ROWS[-1][0]
        self.assertEqual(s["latest"][:19], last.strftime("%Y-%m-%dT%H:%M:%S"))
    add("time_" + form, one_form)

    if " " in TIMES[form][0](START) or form in ("rfc_2822", "month_first"):
        continue

    def blanks(self, form=form):
        self.check(table(ROWS, ("when", "case", "activity"), " ", form, cells=lambda w, c, a, n: (w, c, a)),
                   "when", "case", "activity", name="x.log")
    add("separated_by_blanks_" + form, blanks)

for form, (word, delimiter) in itertools.product(["iso_T_Z", "us", "month_first", "epoch_ms", "dots"], DELIMITERS.items()):
    if delimiter == "," and form == "month_first":
        continue
    add(f"{word}_{form}", lambda self, form=form, d=delimiter: self.check(
        table(ROWS, delimiter=d, form=form), "when", "case", "activity"))
    add(f"quoted_{word}_{form}", lambda self, form=form, d=delimiter: self.check(
        table(ROWS, delimiter=d, form=form, quote=True, end="\r\n"), "when", "case", "activity"))

for i, names in enumerate(NAMES):
    def named(self, names=names):
        self.check(table(ROWS, names + ("remark",)), *names)
        self.check(table(ROWS, ("remark",) + names[::-1], cells=lambda w, c, a, n: (n, a, c, w)), *names)
    add(f"names_{i}_{names[0]}", named)

for form, (word, delimiter) in itertools.product(["iso_T_Z", "us_12_hours", "day_first", "epoch_s", "apache"], DELIMITERS.items()):
    add(f"no_header_{word}_{form}", lambda self, form=form, d=delimiter: self.check(
        table(log(600), None, d, form, cells=lambda w, c, a, n: ("u%d" % (int(n[5:]) % 60), w, a)), "2", "1", "3", events=600,
        sequences=60, says="no header"))

for form, order in itertools.product(["iso_T_Z", "us", "day_first", "epoch_s", "month_name"], ["newest_first", "shuffled"]):
    def in_order(self, form=form, order=order):
        rows = ROWS[::-1] if order == "newest_first" else random.Random(3).sample(ROWS, len(ROWS))
        s = self.check(table(rows, form=form), "when", "case", "activity")
        self.assertRegex(" ".join(s["warnings"]), "newest first" if order == "newest_first" else "out of order")
        self.write("sorted.csv", table(ROWS, form=form))
        self.assertEqual(sorted(self.events("x.csv", "--quiet")), sorted(self.events("sorted.csv")))
        before = r"before the previous event [0-9.]+ " if form == "epoch_s" else r"before the previous event \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
        self.refuse("info", "x.csv", "--strict", says=["x.csv:", "before the previous", "--strict"])
        self.assertRegex(self.run_smurf("info", "x.csv", "--strict").err, before)
    add(f"{order}_{form}", in_order)

for form, encoding in itertools.product(["iso_T_Z", "us", "epoch_s"], ["latin1", "cp1252", "utf-8", "utf-8-sig"]):
    def encoded(self, form=form, encoding=encoding):
        kinds = {"pay": "größer", "ship": "naïve", "order": "€ or £" if encoding != "latin1" else "£", "return": "plain"}
        text = table([(w, "Müller " + c, kinds[a], n) for w, c, a, n in ROWS], ("when", "user name", "status", "Größe"), form=form)
        s = self.check(text.encode(encoding), "when", "user name", "status")
        self.assertEqual(set(s["type_names"]), set(kinds.values()))
        self.assertEqual(any("Windows-1252" in w for w in s["warnings"]), not encoding.startswith("utf"))
        self.assertTrue(all(name.startswith("Müller") for name, _, _ in self.events("x.csv", "--quiet")))
    add(f"encoding_{encoding}_{form}", encoded)

for missing, share in itertools.product(["time", "sequence", "type"], [1, 2, 20]):
    def lacking(self, missing=missing, share=share):
        at = ["time", "sequence", "type"].index(missing)

        def cells(*row):
            row = list(row)
            if int(row[3][5:]) % (60 // share) == 7 % (60 // share):
                row[at] = ""
            return row
        text = table(ROWS, cells=cells)
        if missing == "time" and share > 3:
            self.refused(text, ["x.csv:", "time is empty", "20 of 60 rows cannot be read"])
            return
        s = self.check(text, "when", "case", "activity", events=60 - share, sequences=4 if share == 20 else 6, first=None)
        self.assertRegex(" ".join(s["warnings"]), r"%d of 60 rows .* left out, first line \d" % share)
        self.refuse("info", "x.csv", "--missing", "fail", says=[r"x.csv:\d+: ", "empty"])
        self.refuse("info", "x.csv", "--strict", says=[r"x.csv:\d+: ", "empty"])
        if missing == "type":
            kept = self.check(text, "when", "case", "activity", "--missing", "keep", types=5)
            self.assertIn("(none)", kept["type_names"])
    add(f"empty_{missing}_{share}", lacking)


SEQUENCES = ["case:concept:name", "Case ID", "CaseID", "userId", "user_id", "machineID", "session", "account", "patient", "device",
             "Customer Id", "ORDER_NO", "vehicle", "trace", "member-id", "uid", "Sensor"]
TYPES = ["concept:name", "Activity", "event", "errorID", "EventId", "action", "status", "alarm code", "Event_Type", "Phase"]
for sequence in SEQUENCES:
    add("sequence_" + sequence, lambda self, name=sequence: self.check(
        table(ROWS, ("remark", "when", name, "what"), cells=lambda w, c, a, n: (n, w, c, a)), "when", name, "what"))
for type in TYPES:
    add("type_" + type, lambda self, name=type: self.check(
        table(ROWS, ("where", "when", "case", name), cells=lambda w, c, a, n: ("xyz"[int(n[5:]) % 3], w, c, a)), "when", "case", name))
for offset, hours in {"+01:00": 1, "-0530": -5.5, "+02": 2, " +0200": 2, " -01:00": -1}.items():
    def shifted(self, offset=offset, hours=hours):
        for form in "iso_blank", "us", "day_first", "dots":
            self.check(table(ROWS, form=form, cells=lambda w, c, a, n: (w + offset, c, a, n)), "when", "case", "activity",
                       first=START - datetime.timedelta(hours=hours))
    add("offset_" + offset.replace("-", "minus"), shifted)


class Content(Described):
    """Files that are not made from the table above."""

    def test_an_unreadable_time_is_left_out(self):
        text = table(ROWS).replace(ROWS[9][0].strftime("%Y-%m-%d %H:%M:%S"), "soon")
        s = self.check(text, "when", "case", "activity", events=59)
        self.assertRegex(" ".join(s["warnings"]), "1 of 60 rows cannot be read and was left out, first line 11")
        self.refuse("info", "x.csv", "--strict", says=["x.csv:11: ", "'soon'"])

    def test_too_many_unreadable_times_are_shown(self):
        lines = table(ROWS).splitlines()
        for i in (5, 15, 25, 35):
            lines[i] = "soon %d" % i + lines[i][lines[i].index(","):]
        self.refused("\n".join(lines), ["x.csv:6: ", "'soon 5'", "'soon 15' on line 16", "4 of 60 rows cannot be read",
                                         "--time-format"])

    def test_rows_with_a_wrong_number_of_fields(self):
        lines = table(ROWS).splitlines()
        lines[10] += ",surplus"
        lines[20] += ",,"
        s = self.check("\n".join(lines), "when", "case", "activity", events=59)
        self.assertRegex(" ".join(s["warnings"]), "1 of 60 rows cannot be read")
        self.refuse("info", "x.csv", "--strict", says=["x.csv:11: ", "5 fields"])

    def test_day_or_month_first_is_told_by_the_whole_column(self):
        early = [(datetime.datetime(2015, 1, 1 + i // 5, i % 24, 0), "c%d" % (i % 6), "ab"[i % 2], "note %d" % i) for i in range(60)]
        s = self.check(table(early + [(datetime.datetime(2015, 1, 13), "c1", "a", "note")], form="day_first"),
                       "when", "case", "activity", types=2, events=61, first=None)
        self.assertIn("day first", s["text"])

    def test_what_stays_ambiguous_is_said(self):
        s = self.take("when,activity\n" + "".join("0%d/0%d/2015 10:00,%s\n" % (i, 10 - i, "ab"[i % 2]) for i in range(1, 10)))
        self.assertRegex(s["text"], "could be .* first or .* first: .* first is")

    def test_a_delimiter_that_leaves_times(self):
        s = self.check(table(ROWS, ("when", "case", "activity"), form="rfc_2822", cells=lambda w, c, a, n: (w, c, a), delimiter="|"),
                       "when", "case", "activity")
        self.assertNotIn("day first", s["text"])  # the month has a name

    def test_a_type_in_a_few_rows(self):
        s = self.take("when,what\n" + "".join("2024-01-0%d 10:00,a%d\n" % (i, i % 2) for i in range(1, 6)))
        self.assertEqual((s["type_column"], s["types"]), ("what", 2), s["text"])

    def test_values_of_a_sample_are_a_lower_bound(self):
        s = self.take("user,time,event\n" + "".join("u%d,%d,%s\n" % (i // 5, i, "ab"[i % 2]) for i in range(25000)))
        self.assertRegex(s["text"], r"sequence 'user' \(more than 4096 values\), type 'event' \(at least 2 values\)")
        self.assertEqual(s["sequences"], 5000)

    def test_a_damaged_header(self):
        self.refused("us\0er,time,event\nu,1,a\nu,2,b\n", "NUL byte in the name of column 1", "--from", "csv")

    def test_no_times(self):
        self.refused("name,colour\nann,red\nbob,blue\n", "no column of times among name, colour ")

    def test_separate_date_and_time(self):
        for names in ("Date", "Time"), ("date", "time"), ("day", "clock"):
            self.check(table(ROWS, names + ("case", "activity"), cells=lambda w, c, a, n: (w[:10], w[11:], c, a)),
                       ",".join(names), "case", "activity")
        self.check(table(ROWS, ("d", "t", "c", "a"), cells=lambda w, c, a, n: (w[:10], w[11:], c, a)), "t,d", "c", "a",
                   "--time", "t,d", "--sequence", "c", "--type", "a", "--time-format", "%H:%M:%S %Y-%m-%d")

    def test_a_clock_without_colons(self):
        for cut in 6, 4:
            self.check(table(ROWS, ("date", "time", "case", "activity"), cells=lambda w, c, a, n: (
                w[:10].replace("-", ""), w[11:].replace(":", "")[:cut], c, a)), "date,time", "case", "activity", first=None)
        s = self.take(table(ROWS, ("date", "time", "case", "activity"), cells=lambda w, c, a, n: (w[:10], "%d" % (70 + len(n)), c, a)))
        self.assertEqual(s["time_column"], "time")  # no clock

    def test_month_day_and_time(self):
        s = self.check(table(ROWS, ("Month", "Day", "Time", "case", "activity"), form="month_name",
                             cells=lambda w, c, a, n: (w[3:6], w[:2], w[12:], c, a)), "Month,Day,Time", "case", "activity", first=None)
        self.assertIn("no year", s["text"])

    def test_an_unreadable_column_of_a_better_name(self):
        self.check(table(ROWS, ("Time", "case", "activity", "Timestamp"), cells=lambda w, c, a, n: ("later", c, a, w)),
                   "Timestamp", "case", "activity")

    def test_two_time_columns(self):
        s = self.check(table(ROWS, ("end_date", "start_date", "case", "activity"), cells=lambda w, c, a, n: (w, w, c, a)),
                       "start_date", "case", "activity")
        self.assertRegex(s["text"], "or 'end_date': --time NAME")
        self.check(table(ROWS, ("end", "start", "case", "activity"), cells=lambda w, c, a, n: (w, w, c, a)), "start", "case", "activity")

    def test_a_day_and_a_moment(self):
        for name in "started_at", "event_timestamp", "created_on", "Timestamp", "time_utc", "logged at":
            self.check(table(ROWS, ("date", name, "case", "activity"), cells=lambda w, c, a, n: (w[:10], w, c, a)), name, "case", "activity",
                       says="or 'date': --time NAME")
        for name in "updated_at", "end_time", "due", "elsewhere":
            self.check(table(ROWS, (name, "date", "case", "activity"), cells=lambda w, c, a, n: (w, w[:10], c, a)), "date", "case", "activity",
                       first=None, says="or '%s': --time NAME" % name)

    def test_an_id_that_never_repeats_is_no_sequence(self):
        self.check(table(ROWS, ("when", "Incident Number", "Type", "session"), cells=lambda w, c, a, n: (w, "F" + n[5:], a, n)),
                   "when", None, "Type", sequences=1, says="no sequence column: one log")

    def test_an_id_that_hardly_repeats_is_no_sequence(self):
        rows = log(6000)
        for name in "Incident Number", "case":  # 1.04 events each: later by chance, or the lines of one incident
            self.check(table(rows, ("when", name, "Type"), cells=lambda w, c, a, n: (w, "F%d" % (int(n[5:]) % 5700), a)),
                       "when", None, "Type", events=6000, sequences=1, says="no sequence column: one log")
        for lines in 1.5, 4:
            names = ("when", "invoice no", "Type", "desk")
            text = table(rows, names, cells=lambda w, c, a, n: (str(rows[int(int(n[5:]) // lines * lines)][0]), "F%d" % (int(n[5:]) // lines), a, c))
            self.check(text, "when", "desk", "Type", "--sequence", "desk", events=6000)
            self.check(text, "when", None, "Type", events=6000, sequences=1)

    def test_a_single_value_is_no_type(self):
        self.check(table(ROWS, ("when", "case", "status", "step"), cells=lambda w, c, a, n: (w, c, "complete", a)),
                   "when", "case", "step")
        self.check(table(ROWS, ("when", "case", "status"), cells=lambda w, c, a, n: (w, c, "complete")), "when", "case", None, types=1)

    def test_a_column_that_is_mostly_empty_is_no_type(self):
        self.check(table(ROWS, ("when", "case", "Type", "step"),
                         cells=lambda w, c, a, n: (w, c, a if n.endswith("7") else "", a)), "when", "case", "step")

    def test_free_text_is_no_type(self):
        self.check(table(ROWS, ("when", "case", "event", "step"), cells=lambda w, c, a, n: (w, c, n, a)), "when", "case", "step")
        self.check(table(ROWS, ("when", "case", "message"), cells=lambda w, c, a, n: (w, c, n)), "when", "case", None, types=1)

    def test_flags_and_numbers_are_no_types(self):
        self.check(table(ROWS, ("when", "case", "urgent", "price"),
                         cells=lambda w, c, a, n: (w, c, str(a == "pay"), n[5:] + ".5")), "when", "case", None, types=1)

    def test_codes_are_names(self):
        s = self.check(table(ROWS, ("when", "case", "status"), cells=lambda w, c, a, n: (w, c, {"pay": "404"}.get(a, "200"))),
                       "when", "case", "status", types=2)
        self.assertEqual(set(s["type_names"]), {"404", "200"})
        s = self.check(table(ROWS, ("when", "case", "rating"), cells=lambda w, c, a, n: (w, c, {"pay": "0.5"}.get(a, "3.5"))),
                       "when", "case", "rating", types=2)
        for value in "-1", "7000000000", "1.5":
            self.assertEqual(self.take("time,type\n1,0\n2,%s\n" % value)["type_names"], ["0", value])

    def test_a_type_by_content_and_its_rival(self):
        self.check(table(ROWS, ("when", "where", "what", "note"), cells=lambda w, c, a, n: (w, c, a, n)), "when", None, "what",
                   sequences=1, says="or 'where': --type NAME")

    def test_options_come_first(self):
        text = table(ROWS, ("when", "case", "activity", "step"), cells=lambda w, c, a, n: (w, c, a, c))
        self.check(text, "when", "case", "step", "--type", "step", types=6)
        self.check(text, "when", None, "activity", "--sequence", "", sequences=1)
        self.check(text, "when", "case", None, "--type", "", types=1)
        self.check(text, "when", "activity", "step", "--sequence", "activity", "--type", "step", sequences=4, types=6)
        self.refused(text, ["there is no column 'nope'"], "--type", "nope")

    def test_columns_by_number(self):
        text = table(ROWS, None, cells=lambda w, c, a, n: (w, c, a))
        self.check(text, "1", "2", "3", "--time", "1", "--sequence", "2", "--type", "3")
        self.refused(text, ["there is no column '9'"], "--type", "9")

    def test_same_names(self):
        text = table(ROWS, ("when", "case", "activity", "note", "note"), cells=lambda w, c, a, n: (w, c, a, n, n))
        self.check(text, "when", "case", "activity")
        self.refused(table(ROWS, ("when", "case", "activity", "activity"), cells=lambda w, c, a, n: (w, c, a, a)),
                     ["two columns are called 'activity'"])

    def test_numbers_and_units(self):
        text = table(ROWS, form="epoch_s")
        self.check(text, "when", "case", "activity", says="epoch-s")
        for options in ("--time-format", "number"), ("--unit", "s"):
            self.assertEqual(self.take(text, *options)["earliest"], 1421742615)
        self.assertEqual(self.take("time,type\n1,0\n2.5,1\n4,0\n")["time_format"], "number")

    def test_time_format_and_zone(self):
        text = table(ROWS, form="day_first")
        self.check(text, "when", "case", "activity", "--time-format", "%d/%m/%Y %H:%M:%S")
        self.refused(text, ["time format", "%Q"], "--time-format", "%Q")
        self.check(text, "when", "case", "activity", "--timezone", "Etc/GMT-2", first=START - datetime.timedelta(hours=2))
        self.refused(text, ["Nowhere/City"], "--timezone", "Nowhere/City")

    def test_clocks_change(self):
        """Every half hour of local time, as clocks show it: no gap is negative, and all are half an hour."""
        import zoneinfo
        zone = zoneinfo.ZoneInfo("Europe/Berlin")
        for month, day in (3, 29), (10, 25):
            start = datetime.datetime(2015, month, day, 0, tzinfo=UTC) - datetime.timedelta(hours=6)
            rows = [(start + datetime.timedelta(minutes=30 * i), "c", "ab"[i % 2], "") for i in range(40)]
            for form in "iso_blank", "us", "day_first", "month_name", "year_dots":
                self.write("x.csv", table([(w.astimezone(zone), c, a, n) for w, c, a, n in rows], form=form))
                [(_, times, _)] = self.events("x.csv", "--timezone", "Europe/Berlin")
                self.assertEqual(times, [w.strftime("%Y-%m-%dT%H:%M:%SZ") for w, *_ in rows], (form, month))

    def test_years_roll_over(self):
        """Two winters and a leap day without a year in the file."""
        start = datetime.datetime(2015, 11, 20, 10)
        rows = [(start + datetime.timedelta(days=9 * i), "c", "ab"[i % 2], "") for i in range(60)]
        for form in "%b %e %H:%M:%S", "%m/%d %H:%M", "%e %B %H:%M:%S":
            s = self.check(table([(w.strftime(form), c, a, n) for w, c, a, n in rows], form="none"), "when", "case", "activity",
                           sequences=1, types=2, first=None)
            self.assertRegex(s["text"], "no year")
            first, last = (datetime.datetime.fromisoformat(s[k][:19]) for k in ("earliest", "latest"))
            self.assertEqual(last - first, rows[-1][0] - rows[0][0])

    def test_day_numbers_of_spreadsheets_on_request(self):
        rows = [("%.6f" % (42024.354340278 + i / 7), "c%d" % (i % 6), "abcd"[i % 4], "") for i in range(60)]
        text = table(rows, form="none")
        self.check(text, "when", "case", "activity", "--time-format", "excel", first=datetime.datetime(2015, 1, 20, 8, 30))
        commas = table([(day.replace(".", ","), c, a, n) for day, c, a, n in rows], delimiter=";", form="none")
        self.check(commas, "when", "case", "activity", "--time-format", "excel", first=datetime.datetime(2015, 1, 20, 8, 30))
        self.assertFalse(self.take(table(rows, ("time", "case", "activity", "note"), form="none"))["calendar"])

    def test_missing_takes_three_words(self):
        self.write("x.csv", table(ROWS))
        self.refuse("info", "x.csv", "--missing", "maybe", says="--missing takes drop, keep or fail", status=2)
        self.refuse("info", "x.csv", "--sort", "--strict", says="mutually exclusive", status=2)

    def test_ties_of_a_reversed_file_are_reversed(self):
        rows = "".join("%d,%s\n" % (9 - i // 2, "ab"[i % 2]) for i in range(12))
        self.write("x.csv", "time,type\n" + rows)
        self.assertEqual(self.events("x.csv", "--quiet")[0][2], ["b", "a"] * 6)

    def test_syslog(self):
        lines = "".join("%s web%d %s[%s]: %s for %s port 22\n" % (w.strftime("%b %e %H:%M:%S"), int(c[1]) % 2, {"pay": "cron"}.get(a, "sshd"), n[5:], a, n)
                        for w, c, a, n in ROWS)
        self.check(lines, "time", "host", "program", name="x.log", sequences=2, types=2, first=None, says="no year")
        self.check(lines.replace("cron", "sshd"), "time", "host", "message", name="x.log", sequences=2, types=4, first=None)
        more = "".join(line + "\n    at line %d\n\t...\n" % i for i, line in enumerate(lines.splitlines()))
        self.check(more, "time", "host", "program", "--strict", name="x.log", sequences=2, types=2, first=None)
        self.refused(lines.replace("\n", "\nException\n"), "no column of times", name="x.log")
        text = lines.replace("\n", "\nException\n", 5)
        self.refused(text, ["x.log:2: unlike the others, this is not a line of a syslog", "5 of 65 rows cannot be read"], name="x.log")

    def test_syslog_of_rfc_5424(self):
        def lines(data):
            return "".join("<165>1 %s host%d %s %s ID47 %s %s for %s\n" % (
                w.isoformat() + ".003Z", int(c[1]) % 2, {"pay": "cron"}.get(a, "sshd"), n[5:], data, a, n) for w, c, a, n in ROWS)
        for data in "-", "[exampleSDID@32473 iut=\"3\" why=\"a ] \\\" b\"][x@1 y=\"2\"]":
            self.check(lines(data), "time", "host", "program", name="x.log", sequences=2, types=2)
            s = self.check(lines(data).replace("cron", "sshd"), "time", "host", "message", name="x.log", sequences=2, types=4)
            self.assertIn("pay for note #", s["type_names"])

    def test_times_in_brackets(self):
        for form, first in ("%a %b %d %H:%M:%S %Y", 0), ("%a %b %d %H:%M:%S.000 %Y", 0), ("%5.6f", None):
            def stamp(w):
                return form % (w - ROWS[0][0]).total_seconds() if "f" in form else w.strftime(form)
            lines = "".join("[%s] [core:error] [client 127.0.0.1:%s] %s for %s\n" % (stamp(w), n[5:], a, n) for w, c, a, n in ROWS)
            s = self.take(lines, name="x.log")
            self.assertEqual((s["time_column"], s["type_column"], s["types"], s["events"]), ("time", "message", 4, 60), s["text"])
            self.assertIn("[core:error] [client # pay for note #", s["type_names"])
            self.assertEqual(s["calendar"], first is not None)

    def test_the_kernel_is_no_syslog(self):
        lines = "".join("%s,000000+00:00 %s%s for %s\n" % (w.isoformat(), a, " twice" * (a == "pay"), n) for w, c, a, n in ROWS)
        self.check(lines, "time", None, "message", name="x.log", sequences=1, types=4)

    def test_lines_of_programs(self):
        kind = {"pay": "gateway answered with %s after a while"}
        forms = {"dpkg": "%Y-%m-%d %H:%M:%S {m}", "python": "%Y-%m-%d %H:%M:%S,123 - shop.web - INFO - {m}", "nginx": "%Y/%m/%d %H:%M:%S [ERROR] 2045#2045: *12 {m}",
                 "postgres": "%Y-%m-%d %H:%M:%S.123 UTC [118] LOG:  {m}", "java": "%Y-%m-%dT%H:%M:%S.123+00:00 WARN 12 --- [main] c.e.Shop : {m}",
                 "brackets": "[%Y-%m-%d %H:%M:%S] local.{m}"}
        for name, form in forms.items():
            with self.subTest(name):
                lines = "".join(w.strftime(form).format(m=kind.get(a, a + " from %s") % ("/" + n)) + "\n" for w, c, a, n in ROWS)
                s = self.check(lines, "time", None, "message", name="x.log", types=4, sequences=1)
                self.assertTrue(any("from #" in text for text in s["type_names"]), s["type_names"])
        mixed = "".join("%s %s %s\n" % (w.strftime("%Y-%m-%d %H:%M:%S"), "ERROR" if a == "pay" else "INFO", n + " x" * (len(n) % 2)) for w, c, a, n in ROWS)
        self.check(mixed, "time", None, "level", "--type", "level", name="x.log", types=2, sequences=1)
        table = "".join("%s %s %s\n" % (w.strftime("%Y-%m-%d %H:%M:%S"), c, a) for w, c, a, n in ROWS)
        self.check(table, "1,2", "3", "4", "--time", "1,2", "--sequence", "3", "--type", "4", name="x.txt", types=4)

    def test_common_log(self):
        lines = "".join('10.0.0.%s - - [%s +0000] "GET /%s HTTP/1.0" %s 2326 "-" "a \\"b\\""\n' % (
            c[1], w.strftime("%d/%b/%Y:%H:%M:%S"), a, {"pay": 404}.get(a, 200)) for w, c, a, n in ROWS)
        s = self.check(lines, "time", "host", "status", name="x.log", types=2)
        self.assertEqual(set(s["type_names"]), {"200", "404"})
        virtual = "".join("example.com:80 " + line for line in lines.splitlines(keepends=True))
        self.assertEqual(self.check(virtual, "time", "host", "status", name="x.log", types=2)["latest"], s["latest"])

    def test_numbers_separated_by_blanks(self):
        text = "".join("%d %d %d\n" % (i * 7 % 60 + 1, i * 11 % 70 + 1, 1082040961 + 50 * i) for i in range(600))
        self.check(text, "3", "1", None, name="x.txt", events=600, sequences=60, types=1, first=None, says="epoch-s")

    def test_lines_of_numbers_are_a_table_again(self):
        """A few lines of numbers could be RMTPP text; the model knows that they are rows."""
        text = "".join("%d %d %d\n" % (i * 7 % 60 + 1, i * 11 % 70 + 1, 1082040961 + 50 * i) for i in range(600))
        self.write("x.txt", text)
        self.smurf("train", "x.txt", "-o", "m.safetensors", "-q", *Models.SMALL)
        few = "".join(text.splitlines(keepends=True)[:2])
        self.write("few.txt", few)
        self.refuse("info", "few.txt", says="RMTPP")
        out = self.smurf("predict", "m.safetensors", "few.txt", "--format", "jsonl").out
        self.assertEqual([json.loads(line)["sequence"] for line in out.splitlines()], ["1", "8"])
        self.assertEqual(self.smurf("predict", "m.safetensors", "-", "--format", "jsonl", input=few).out, out)

    def test_packed_and_piped(self):
        text = table(ROWS, form="us")
        self.check(packed(text), "when", "case", "activity", name="x.csv.gz")
        [s] = json.loads(self.smurf("info", "--json", "-", input=text).out)
        self.assertEqual(s["reading"]["type_column"], "activity")

    def test_a_wide_table(self):
        names = tuple("column %d" % i for i in range(1500)) + ("when", "case", "activity")
        text = table(ROWS, names[-3:] + names[:-3], cells=lambda w, c, a, n: (w, c, a) + ("",) * 1500)
        self.check(text, "when", "case", "activity")

    def test_the_middle_of_a_large_file_counts(self):
        """Its first 2 MB, all on the first twelve days of months, could be read both ways, the rest could not."""
        start, row = datetime.datetime(2015, 1, 1), "%s,%s," + "x" * 90 + "\n"
        text = ["when,status,note\n"]
        for i in range(90000):
            now = start + datetime.timedelta(seconds=30 * i if i < 30000 else 30 * i + 86400 * 10)
            text.append(row % (now.strftime("%d/%m/%Y %H:%M:%S"), "ab"[i % 2]))
        s = self.check("".join(text), "when", None, "status", events=90000, sequences=1, types=2, first=None)
        self.assertEqual((s["time_format"][:8], s["earliest"][:10]), ("%d/%m/%Y", "2015-01-01"))
        self.assertNotIn("could be", s["text"])

    def test_info_shows_the_sentence(self):
        self.write("x.csv", table(ROWS, form="us"))
        self.assertRegex(self.smurf("info", "x.csv").out, r"\n  columns    time 'when' \(1/20/2015 08:30:15, month first\),")

    def test_utf16(self):
        rows = [(w, c, {"pay": "größer", "ship": "\U0001F600"}.get(a, a), n) for w, c, a, n in ROWS * 1 + log(3000)[60:]]
        text = table(rows)
        for mark, encoding in (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"):
            raw = mark + text.encode(encoding)
            for content in raw, packed(raw):
                s = self.check(content, "when", "case", "activity", events=3000)
                self.assertEqual(set(s["type_names"]), {"order", "return", "größer", "\U0001F600"})
                self.assertEqual(s["warnings"], [])
        [s] = json.loads(self.smurf("info", "--json", "-", input=raw).out)
        self.assertEqual(s["events"], 3000)
        s = self.take(raw + b"\0")  # half a character at the end
        self.assertEqual(s["events"], 3000)
        self.check("\ufeff".encode("utf-16-le") + "".join(json.dumps({"when": w.isoformat(), "case": c, "activity": a}) + "\n"
                                                          for w, c, a, n in ROWS).encode("utf-16-le"),
                   "when", "case", "activity", name="x.jsonl")
        self.refused(text.encode("utf-16-le"), ["NUL byte on line 1", "UTF-16", "UTF-8"])

    def test_nul_bytes(self):
        rows = log(5000)
        for at, column in enumerate(["time", "name of the sequence", "type"]):
            lines = table(rows).splitlines(keepends=True)
            cells = lines[4000].split(",")
            cells[at] = "\0" + cells[at]
            lines[4000] = ",".join(cells)
            s = self.check("".join(lines), "when", "case", "activity", events=4999)
            self.assertRegex(" ".join(s["warnings"]), "1 of 5000 rows cannot be read and was left out, first line 4001")
            self.refuse("info", "x.csv", "--strict", says=["x.csv:4001: ", "time" if at == 0 else "NUL byte in the " + column])
        self.check(table(rows) + "\0" * 3000, "when", "case", "activity", events=5000)  # room that a logger reserved

    def test_brackets_begin_no_json(self):
        for form in "[%d/%b/%Y:%H:%M:%S +0000]", "[%a %b %d %H:%M:%S %Y]", "[%Y-%m-%d %H:%M:%S]":
            text = table([(w.strftime(form), "u%d" % (int(n[5:]) % 60), a, n) for w, c, a, n in log(600)], None, form="none")
            self.check(text, "1", "2", "3", events=600, sequences=60)
        text = table(log(600), None, cells=lambda w, c, a, n: ("{3f2504e0-4f89-11d3-9a0c-%012d}" % (int(n[5:]) % 60), w, a))
        self.check(text, "2", "1", "3", events=600, sequences=60)

    def test_other_formats_are_named(self):
        for begin, says in [("PK\3\4\0", "spreadsheet"), ("PAR1\0", "Parquet"), ("SQLite format 3\0", "SQLite"),
                            ("<?xml version='1.0'?>", "XML"), ("P\0\0\0\0\0\0\0{\"smurf\"", "this is a model"), ("<html>", "web page"), ("<!DOCTYPE html>", "web page")]:
            self.refused(begin + " " * 50, says)
        self.check(table(ROWS, ("PAR1", "case", "activity", "when"), cells=lambda w, c, a, n: (n, c, a, w)), "when", "case", "activity")

    def test_words_for_nothing_are_names(self):
        """As in a case called NA."""
        text = table(ROWS, cells=lambda w, c, a, n: (w, {"c1": "NA", "c2": "null", "c3": "NULL"}.get(c, c), {"pay": "NA"}.get(a, a), n))
        s = self.check(text, "when", "case", "activity")
        self.assertIn("NA", s["type_names"])
        self.assertEqual({name for name, _, _ in self.events("x.csv", "--quiet")}, {"NA", "null", "NULL", "c0", "c4", "c5"})
        rows = [{"when": w.isoformat(), "case": "null", "activity": "NA" if a == "pay" else a} for w, c, a, n in ROWS]
        self.check("".join(json.dumps(o) + "\n" for o in rows), "when", "case", "activity", name="x.jsonl", sequences=1)

    def test_one_long_sequence_comes_first(self):
        for first in 25000, 160000:
            rows = ["1,%d,%s,%s" % (1600000000 + 7 * i, "abc"[i % 3], "x" * 20) for i in range(first)]
            rows += ["%d,%d,%s,%s" % (u, 1600000000 + 7 * i, "abc"[i % 3], "x" * 20) for u in range(2, 100) for i in range(20)]
            s = self.check("userId,timestamp,action,pad\n" + "\n".join(rows), "timestamp", "userId", "action", events=first + 1960,
                           sequences=99, types=3, first=None)
            objects = "".join('{"userId":%s,"timestamp":%s,"action":"%s","pad":"%s"}\n' % tuple(r.split(",")) for r in rows)
            self.check(objects, "timestamp", "userId", "action", events=first + 1960, sequences=99, types=3, first=None, name="x.jsonl")
            self.check(packed(objects), "timestamp", "userId", "action", events=first + 1960, sequences=99, types=3, first=None,
                       name="x.jsonl.gz")

    def test_signs_in_names(self):
        for name in ("Ticket #", "Case No.", "Order-ID", "Ticket#", "Case №", "Invoice No.", "Case/Nr", "VIN", "customer.ref", "(Serial) no"):
            self.check(table(ROWS, ("Date/Time", name, "Event-Type", "remark")), "Date/Time", name, "Event-Type")

    def test_long_numbers_name_sequences(self):
        self.check(table(ROWS, ("when", "caseId", "activity"), cells=lambda w, c, a, n: (w, "71%s000000000" % c[1:], a)),
                   "when", "caseId", "activity")

    def test_comments_before_the_header(self):
        text = table(ROWS)
        head, rows = text.split("\n", 1)
        for before in "# exported, 3 Jan 2020\n# by a \"tool\n", "#\n\n# note\n\n", "\ufeff# note\n":
            self.check(before + text, "when", "case", "activity")
        for header in "#" + head, "# " + head, "# note\n#  " + head, "# Fields: " + head:
            s = self.check(header + "\n" + rows, "when", "case", "activity")
            self.assertNotIn("no header", s["text"])
        self.check(table(ROWS, ("#", "when", "case", "activity"), cells=lambda w, c, a, n: (n[5:], w, c, a)), "when", "case", "activity")
        self.check("#Software: x\n#Fields: date time c-ip action\n" +
                   table(ROWS, None, " ", cells=lambda w, c, a, n: (w, c, a)), "date,time", None, "action", sequences=1, name="x.log")
        self.refused("# nothing\n# else\n", "the file is empty")
        self.check("sep=;\n" + table(ROWS, delimiter=";"), "when", "case", "activity")

    def test_rows_of_separators_are_empty_lines(self):
        for form, d in itertools.product(["iso_T_Z", "us"], DELIMITERS.values()):
            lines = table(ROWS, delimiter=d, form=form).splitlines()
            for n in 1, 40:
                s = self.check("\r\n".join([d * 3, d] + lines[:30] + [d * 3] + lines[30:] + [d * 3, d * 5] * n), "when", "case", "activity", "--strict")
                self.assertEqual(s["warnings"], [])

    def test_the_header_once_more(self):
        """Where files were joined. It is counted, however often it comes, and no value."""
        for form, header in itertools.product(["iso_T_Z", "us", "epoch_s"], [("when", "case", "activity", "note"), ("Start Time", "User", "Größe", "x")]):
            head, *lines = table(ROWS, header, form=form).splitlines()
            for every in 5, 30:
                text = "\n".join(head + "\n" + "\n".join(lines[i:i + every]) for i in range(0, 60, every))
                for encoding in "utf-8", "latin1":
                    s = self.check(text.encode(encoding), header[0], header[1], header[2], "--type", header[2], says=r"\(6 values.*\(4 values")
                    n = 60 // every - 1
                    self.assertIn("%d of %d rows %s the header and %s left out, first line %d" % (
                        n, 60 + n, *(("repeats", "was") if n == 1 else ("repeat", "were")), every + 2), " ".join(s["warnings"]))
            self.refuse("info", "x.csv", "--strict", "--type", header[2], says="x.csv:%d: time '%s'" % (every + 2, header[0]))
        self.refused("time,type\n" * 3, "there are headers but no event below them")

    def test_titles_above_the_table(self):
        for title, n in ("Report: events", 1), ("Report: events\nof 2024-01-01\n", 1), ("All the events\n\n\n", 1), ("Events", 1), ("+---+---+", 1):
            for d in DELIMITERS.values():
                self.refused(title + "\n" + table(ROWS, delimiter=d),
                             ["the rows have 4 fields, but the first line has %d" % n, "remove lines before it"])

    def test_the_example_is_a_time(self):
        text = table(ROWS, form="us").replace(TIMES["us"][0](ROWS[0][0]), "N/A")
        self.check(text, "when", "case", "activity", events=59, first=ROWS[1][0], says=r"time 'when' \(1/20/2015")

    def test_surplus_fields(self):
        lines = table(ROWS).splitlines()
        self.check("\n".join([lines[0]] + [line + "," for line in lines[1:]]), "when", "case", "activity")
        self.check("\n".join([lines[0] + ",,"] + lines[1:]), "when", "case", "activity")
        self.refused("\n".join([lines[0]] + [line + ",more,still" for line in lines[1:]]),
                     ["the rows have 6 fields, but the first line has 4"])
        self.refused("A report\n\n" + "\n".join(lines), ["the rows have 4 fields, but the first line has 1", "remove lines before it"])

    def test_commas_in_numbers(self):
        for text in "time;type\n0,5;a\n1,5;b\n", 'time,type\n"1,600,000",a\n"1,600,001",b\n':
            self.refused(text, ["x.csv:2: time ", "is a number with a comma"])
        self.refused("who;how much;what\nann;0,5;a\nbob;1,5;b\n", ["no column of times among who, how much, what ",
                                                                    "if it is 'how much', write its numbers with a point, not as in 0,5"])

    def test_units_since_1970_are_not_mixed(self):
        def rows(n, wrong, factor=1000, name="ts"):
            return name + ",user,type\n" + "".join("%d,u%d,a%d\n" % ((1600000000 + 60 * i) * (factor if wrong(i) else 1), i % 6, i % 3)
                                                   for i in range(n))
        for wrong in lambda i: i % 2, lambda i: i > 50, lambda i: i < 50:
            for name in "ts", "time":
                self.refused(rows(60, wrong, name=name), ["are since 1970 in several units"])
        self.refused("".join('{"ts":%d,"type":"a"}\n' % (1600000000 * 1000 ** (i % 2) + i) for i in range(60)),
                     ["are since 1970 in several units"], name="x.jsonl")
        for factor in 1000, 10 ** 6, 10 ** 9:
            s = self.take(rows(60, lambda i: i == 50, factor))
            self.assertEqual((s["events"], s["latest"][:4]), (59, "2020"))
            self.refuse("info", "x.csv", "--strict", says=["x.csv:52: ", "not in the unit of the others, seconds since 1970"])
        self.refused(rows(40000, lambda i: 22000 < i < 36000), ["in the unit of the others|in several units"])
        self.assertEqual(self.take(rows(60, lambda i: i % 2), "--time-format", "number")["events"], 60)

    def test_year_zero_stands_for_nothing(self):
        for form, zero in ("iso_blank", "0000-00-00 00:00:00"), ("iso_T_Z", "0000-01-01T00:00:00Z"), ("us", "1/1/0000 00:00:00"):
            write = TIMES[form][0]
            s = self.check(table(ROWS, form=form).replace(write(ROWS[9][0]), zero), "when", "case", "activity", events=59)
            self.assertRegex(" ".join(s["warnings"]), "1 of 60 rows cannot be read and was left out, first line 11")

    def test_nothing_but_empty_types(self):
        self.refused("time,type\n1,\n2,\n3,\n", ["every row"], "--type", "type")


class Objects(Described):
    """JSON with one object per event is a table, too."""

    def objects(self, rows, names, form="us", **more):
        return [dict(zip(names, (TIMES[form][0](w), c, a, n)), **more) for w, c, a, n in rows]

    def test_fields(self):
        for names in NAMES[:8]:
            found = self.objects(ROWS, names + ("remark",), nested={"a": [1]}, tags=["x"])
            self.check("".join(json.dumps(o) + "\n" for o in found), *names, name="x.jsonl")
            self.check(json.dumps(found), *names, name="x.json")

    def test_order_and_missing_fields(self):
        found = self.objects(ROWS[::-1], ("opened", "userId", "action", "remark"))
        del found[5]["action"]
        found[7]["action"] = None
        s = self.check("".join(json.dumps(o) + "\n" for o in found), "opened", "userId", "action", name="x.jsonl", events=58)
        self.assertRegex(" ".join(s["warnings"]), "2 of 60 rows have no type and were left out, first line 6.*newest first")
        self.refuse("info", "x.jsonl", "--strict", says=["x.jsonl:"])

    def test_epoch_numbers(self):
        found = [dict(o, ts=int(o["ts"])) for o in self.objects(ROWS, ("ts", "device", "alarm", "remark"), form="epoch_ms")]
        self.check("".join(json.dumps(o) + "\n" for o in found), "ts", "device", "alarm", name="x.jsonl", says="epoch-ms")


class Models(Case):
    SMALL = ["--width", "8", "--heads", "2", "--head-width", "4", "--layers", "1", "--inner", "8", "--nodes", "6", "--threads", "1",
             "--epochs", "1"]

    def test_further_files_are_read_the_same_way(self):
        rows = log(600)
        names = ("opened", "desk", "what", "who")
        text = table(rows, names, form="day_first", cells=lambda w, c, a, n: (w, "d%s" % (int(n[5:]) % 7), a, c))
        self.write("train.csv", text)
        self.smurf("train", "train.csv", "-o", "m.safetensors", "--time", "opened", "--sequence", "who", "--type", "desk", *self.SMALL, "-q")
        lines = text.splitlines(keepends=True)
        self.write("more.csv", "".join(lines[:30]))
        few = "".join(lines[:7])
        self.write("few.csv", few)
        out = self.smurf("predict", "m.safetensors", "few.csv", "--format", "jsonl").out
        answers = [json.loads(line) for line in out.splitlines()]
        self.assertEqual({a["sequence"] for a in answers}, {"c%d" % i for i in range(6)})
        piped = self.smurf("predict", "m.safetensors", "-", "--format", "jsonl", input=few).out
        self.assertEqual(out, piped)
        self.smurf("eval", "m.safetensors", "more.csv")
        self.write("other.csv", table(rows[:30], ("when", "user", "what"), cells=lambda w, c, a, n: (w, c, "d1")))
        r = self.smurf("predict", "m.safetensors", "other.csv", "--type", "what", quiet=False)
        self.assertRegex(r.err, "no column 'opened', which training used: columns were chosen anew")

    def test_an_ambiguous_file_is_read_as_in_training(self):
        """Its days are all below 13, its columns stand in another order, and it has one more."""
        self.write("train.csv", table(log(300), ("when", "case", "step"), form="day_first", cells=lambda w, c, a, n: (w, c, a)))
        self.smurf("train", "train.csv", "-o", "m.safetensors", *self.SMALL, "-q")
        rows = [(datetime.datetime(2016, 1 + i, 5, 10), "c1", "pay", "pay") for i in range(10)]  # 05/01/2016, 05/02/2016: months apart
        names = ("step", "remark", "case", "when")
        text = table(rows, names, form="day_first", cells=lambda w, c, a, n: (a, n, c, w))
        self.write("more.csv", text)
        objects = [dict(zip(names, line.split(","))) for line in text.splitlines()[1:]]
        self.write("more.jsonl", "".join(json.dumps(o) + "\n" for o in objects))
        self.assertIn("month first", self.take_text("more.csv"))  # on its own it reads otherwise
        for name in "more.csv", "more.jsonl":
            with open(os.path.join(self.folder, name)) as f:
                content = f.read()
            for r in self.smurf("predict", "m.safetensors", name, "--format", "jsonl"), \
                    self.smurf("predict", "m.safetensors", "-", "--format", "jsonl", input=content):
                [a] = map(json.loads, r.out.splitlines())
                self.assertEqual((a["sequence"], a["events"], a["last"]), ("c1", 10, "2016-10-05T10:00:00Z"))
            self.assertEqual(len(self.smurf("score", "m.safetensors", name, "-q").lines), 10)
            self.assertRegex(self.smurf("eval", "m.safetensors", name, "-q").out, r"(?m)9 gaps")
            self.assertRegex(self.smurf("overdue", "m.safetensors", name, "--now", "2016-10-06", "-q").out, "of 1 sequence")
        swapped = content.replace('"remark": "pay"', '"remark": "ship"')
        r = self.smurf("predict", "m.safetensors", "-", "--type", "remark", "--format", "jsonl", "--every", "1", input=swapped)
        self.assertEqual(r.out, self.smurf("predict", "m.safetensors", "-", "--format", "jsonl", "--every", "1",
                                           input=content.replace('"step": "pay"', '"step": "ship"')).out)

    def take_text(self, name):
        [s] = json.loads(self.smurf("info", "--json", name).out)
        return s["reading"]["text"]

    def test_train_says_what_it_took(self):
        self.write("x.csv", table(log(300), ("when", "case", "step"), cells=lambda w, c, a, n: (w, c, a)))
        r = self.smurf("train", "x.csv", "-o", "m.safetensors", *self.SMALL, quiet=False)
        self.assertRegex(r.err, "(?m)^columns: time 'when' .*sequence 'case' .*type 'step'")

    def test_every_command_decodes_alike(self):
        rows = [(w, "Müller %s" % c, a + "é", n) for w, c, a, n in log(300)]
        text = table(rows, ("time", "user", "größe", "note"))
        outputs = []
        for encoding in "utf-8", "latin1", "utf-16":
            self.write("x.csv", text.encode(encoding))
            [s] = self.summary("x.csv")
            self.assertEqual(s["type_names"], sorted(set(r[2] for r in rows), key=[r[2] for r in rows].index))
            train = self.smurf("train", "x.csv", "--type", "größe", "-o", "m.safetensors", *self.SMALL, quiet=False)
            self.assertEqual("Windows-1252" in train.err, encoding == "latin1")
            out = {command: self.smurf(command, "m.safetensors", "x.csv", "-q", *more).out
                   for command, more in [("eval", []), ("score", []), ("overdue", ["--level", "0.001"]), ("predict", ["--format", "jsonl"])]}
            piped = self.smurf("predict", "m.safetensors", "-", "-q", "--format", "jsonl", input=text.encode(encoding)).out
            for a, b in zip(out["predict"].splitlines(), piped.splitlines()):
                a, b = json.loads(a), json.loads(b)
                self.assertEqual((a["sequence"], a["last"], a["types"][0]["type"]), (b["sequence"], b["last"], b["types"][0]["type"]))
            for command in "score", "overdue", "predict":
                self.assertIn("Müller c", out[command])
                self.assertRegex(out[command], "(order|pay|ship|return)é")
            outputs.append(out)
        self.assertEqual(outputs[0], outputs[1])
        self.assertEqual(outputs[0], outputs[2])

    def test_missing_is_remembered(self):
        rows = [(w, c, "" if i % 10 == 3 else a, n) for i, (w, c, a, n) in enumerate(log(300))]
        self.write("x.csv", table(rows))
        self.write("x.jsonl", "".join(json.dumps({"when": str(w), "case": c, "activity": a or None}) + "\n" for w, c, a, n in rows))
        for name in "x.csv", "x.jsonl":
            for missing, events in (None, 270), ("keep", 300):
                self.smurf("train", name, "-o", "m.safetensors", *self.SMALL, "-q", *(["--missing", missing] if missing else []))
                for data, more in (name, {}), ("-", {"input": self.content(name)}):
                    out = self.smurf("predict", "m.safetensors", data, "-q", "--format", "jsonl", **more).lines
                    self.assertEqual(sum(json.loads(line)["events"] for line in out), events, (name, missing, data))
            self.refuse("train", name, "-o", "n", *self.SMALL, "--missing", "fail", says=name + ":[0-9]+: the type is empty")
            self.refuse("predict", "m.safetensors", name, "--missing", "fail", says=name + ":[0-9]+: the type is empty")


if __name__ == "__main__":
    unittest.main()
