"""Databases as a source: tables and queries of SQLite files and of a PostgreSQL server, read as the same rows of a CSV file would be."""
import contextlib
import csv
import glob
import gzip
import io
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

import common
from common import SHARED, Case, ROOT
from models import SMALL, table
from test_signals import SignalCase

TICKETS = os.path.join(ROOT, "examples", "tickets.csv")
PASSWORD = "gehe1m/?#@:%&=+ x"  # every character that an address gives a meaning to
ESCAPED = "gehe1m%2F%3F%23%40%3A%25%26%3D%2B%20x"


def rows_of(path):
    """Header and rows of a CSV file; the first 3,000."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", newline="", encoding="utf-8") as file:
        found = [row for row in csv.reader(file)][:3001]
    return found[0], [row for row in found[1:] if len(row) == len(found[0])]


def csv_text(header, rows):
    out = io.StringIO()
    csv.writer(out).writerows([header, *rows])
    return out.getvalue()


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


# Tables that must read alike from a file and from a database: columns with their types, and rows.
UGLY = (["#user", "when", "what, \"it\" was"],
        [["anna", "2024-01-01 10:00", "a,b"], ["bob", "2024-01-01 10:05", "\"x\""], ["anna", "2024-01-02 11:00", "line\nbreak"],
         [None, "2024-01-02 12:00", "naïve"], ["bob", "2024-01-03 10:30", None], ["anna", "2024-01-03 12:00", " a,b "],
         ["bob", "2024-01-04 10:30", "a,b"], ["anna", "2024-01-05 12:00", "größer"]])
NUMBERS = (["user_id", "t", "code"],
           [[i % 3, round(1.1 * i + 0.1 * (i % 7), 3), [404, 500][i % 5 // 4]] for i in range(60)])
EPOCHS = (["device", "ts", "kind"], [[f"d{i % 4}", 1700000000123 + 86400000 * i // 7, "ab"[i % 2]] for i in range(90)])


class DatabaseCase(Case):
    def summary(self, *args, **more):
        return super().summary(*args, **more)[0]


class SqliteCase(DatabaseCase):
    def database(self, name, tables):
        """tables: {name: (columns, types or None, rows)}"""
        with contextlib.closing(sqlite3.connect(self.path(name))) as base:
            for title, (columns, types, rows) in tables.items():
                kinds = types or [""] * len(columns)
                base.execute(f"create table {quoted(title)}({', '.join(f'{quoted(c)} {k}' for c, k in zip(columns, kinds))})")
                base.executemany(f"insert into {quoted(title)} values({','.join('?' * len(columns))})", rows)
            base.commit()
        return name

    def tickets(self, name="t.db", **more):
        header, rows = rows_of(TICKETS)
        return self.database(name, {"tickets": (header, None, rows), **more})


class Sqlite(SqliteCase):
    def check_same(self, header, rows, types=None):
        self.write("log.csv", csv_text(header, rows))
        self.database("log.db", {"log": (header, types, rows)})
        results = []
        for source in "log.csv", "log.db":
            r = self.run_smurf("convert", source, "-", "--to", "jsonl", "-q")
            results.append((r.status, r.out, r.err.replace(source, "LOG")))
        self.assertEqual(results[0][0], 0, results[0][2])
        self.assertEqual(*[r[1] for r in results])
        os.remove(self.path("log.db"))

    def test_the_same_as_from_csv(self):
        for header, rows in UGLY, NUMBERS, EPOCHS, rows_of(TICKETS):
            with self.subTest(header=header):
                self.check_same(header, rows)

    def test_the_same_with_types_of_columns(self):
        self.check_same(*NUMBERS, types=["integer", "real", "integer"])
        self.check_same(*EPOCHS, types=["text", "integer", "text"])

    def test_real_logs_are_the_same(self):
        paths = sorted(glob.glob(os.path.join(SHARED, "data", "logs", "*.csv"))) + sorted(
            glob.glob(os.path.join(SHARED, "data", "logs", "*.csv.gz")))
        if not paths:
            self.skipTest("no real logs beside the repository")
        tried = 0
        for path in paths:
            try:
                header, rows = rows_of(path)
            except UnicodeDecodeError:
                continue
            if len(rows) < 100 or len({c.lower() for c in header}) < len(header):  # SQLite refuses names that differ in case only
                continue
            with self.subTest(path=path):
                self.check_same(header, rows)
            tried += 1
        self.assertGreater(tried, 0)

    def test_every_digit_of_a_real_number(self):
        self.database("r.db", {"r": (["time"], ["real"], [[1e-7], [0.1], [1 / 3], [5.0], [123456.123456789]])})
        times = [float(t) for t in self.sequences("r.db")[0]["time_since_start"]]
        self.assertEqual(times, [1e-7, 0.1, 1 / 3, 5.0, 123456.123456789])

    def test_integers_keep_their_digits(self):
        self.database("n.db", {"n": (["time"], ["integer"], [[1700000000000000001], [1700000000000000003]])})
        self.assertIn("1700000000000000003", self.smurf("convert", "n.db", "-", "--to", "csv", "--time-format", "number").out)

    def test_null_is_an_empty_cell(self):
        self.database("n.db", {"n": (["time", "type"], None, [[1, "a"], [2, None], [3, "b"], [4, "a"]])})
        r = self.run_smurf("info", "n.db")
        self.assertIn("1 of 4 rows has no type and was left out, first line 2", r.out + r.err)
        self.assertIn("(none)", self.smurf("info", "n.db", "--missing", "keep").out)
        self.refuse("info", "n.db", "--strict", says=r"n\.db:2: the type is empty")
        self.database("one.db", {"n": (["time"], None, [[1], [None], [2]] + [[i] for i in range(3, 40)])})
        self.assertIn("1 of 40 rows", self.run_smurf("info", "one.db").out)

    def test_lines_are_rows(self):
        self.database("n.db", {"n": (["time", "type"], None, [[1, "two\nlines"], [2, "b"], ["bad", "c"]])})
        self.refuse("info", "n.db", "--strict", says=r"n\.db:3: time 'bad'")

    def test_columns_are_numbers_only_by_name(self):
        """Names of columns are names, even where they look like values."""
        found = self.events(self.tickets(), "--query", "select time as '2024-01-01', event as '7' from tickets", "--time", "2024-01-01",
                            "--type", "7")
        self.assertEqual(sum(len(times) for _, times, _ in found), len(rows_of(TICKETS)[1]))

    def test_a_query(self):
        one = self.events(self.tickets(), "--query", "SELECT * FROM tickets WHERE event = 'opened'; -- and no more")
        self.assertEqual({kind for _, _, kinds in one for kind in kinds}, {"opened"})

    def test_a_view_and_names_with_quotes(self):
        self.tickets(**{'my "own" log': (["time"], None, [[1], [2]]), "a;b": (["time"], None, [[1], [2], [3]])})
        with contextlib.closing(sqlite3.connect(self.path("t.db"))) as base:
            base.execute("create view open as select * from tickets where event = 'opened'")
        self.assertEqual(self.summary("t.db", "--table", 'my "own" log')["events"], 2)
        self.assertEqual(self.summary("t.db", "--table", "A;B")["events"], 3)
        self.assertEqual(self.summary("t.db", "--table", "open")["type_names"], ["opened"])

    def test_which_table(self):
        self.tickets(other=(["time"], None, [[1], [2]]), third=(["time"], None, [[1], [2]]))
        self.refuse("info", "t.db", says=r"t\.db: the database has 3 tables: name one with --table, or give a --query \(there are "
                    "other, third and tickets")
        self.refuse("info", "t.db", "--table", "nope", says=r"there is no table 'nope' \(there are other, third and tickets\)")
        self.refuse("info", "t.db", "--table", "other", "--query", "select 1", says="mutually exclusive", status=2)
        self.database("none.db", {})
        sqlite3.connect(self.path("empty.db")).executescript("pragma user_version = 1; vacuum").close()
        self.refuse("info", "empty.db", says="empty.db: the database has no tables")

    def test_many_tables_are_cut_off(self):
        self.database("t.db", {f"a_table_with_a_long_name_{i}": (["time"], None, [[1]]) for i in range(60)})
        self.assertLess(len(self.refuse("info", "t.db", says=r"60 tables: .*\.\.\.\)$")), 500)

    def test_nothing_is_written(self):
        self.tickets()
        before = self.content("t.db")
        for query in ("delete from tickets", "insert into tickets values(1,2,3)", "create table x(a)", "drop table tickets",
                      "vacuum into 'copy.db'", "pragma user_version = 7", "update tickets set time = 1 returning *",
                      "vacuum"):
            self.refuse("info", "t.db", "--query", query, says=r"t\.db: the query writes, which smurf never does")
        for query in "attach 'new.db' as n", "begin", "reindex", "-- nothing", "":
            self.refuse("info", "t.db", "--query", query, says="the query (returns no columns|writes)")
        for query in "select 1 as time; delete from tickets", "select 1; select 2", "select 1; nonsense":
            self.refuse("info", "t.db", "--query", query, says="the query has several statements")
        self.assertEqual(self.content("t.db"), before)

    def test_wrong_queries(self):
        self.tickets()
        self.refuse("info", "t.db", "--query", "select nope from tickets", says="t.db: the query failed: no such column: nope")
        self.refuse("info", "t.db", "--query", "selekt", says="t.db: the query failed: near \"selekt\": syntax error")
        self.refuse("info", "t.db", "--query", "select * from tickets where 0", says="t.db: the query has no rows")
        self.refuse("info", "t.db", "--query", "select event from tickets", says="t.db: ")
        self.refuse("info", "t.db", "--query", "select abs(-9223372036854775807 - 1) as time",
                    says="t.db: the query failed: integer overflow")
        self.database("e.db", {"e": (["time"], None, [])})
        self.refuse("info", "e.db", says="e.db: the table 'e' has no rows")

    def test_bytes_are_refused(self):
        self.database("b.db", {"b": (["time", "load"], None, [[1, "x"], [2, b"\0\1"]])})
        self.refuse("info", "b.db", says=r"b\.db:2: column 'load' holds bytes rather than text \(leave it out: --query")
        self.assertEqual(self.summary("b.db", "--query", "select time from b")["events"], 2)

    def test_a_nul_in_text(self):
        self.database("n.db", {"n": (["time", "type"], None, [[1, "a"], [2, "b\0c"]])})
        self.refuse("info", "n.db", "--strict", says=r"n\.db:2: a NUL byte in the type")

    def test_options_that_do_not_fit(self):
        self.tickets()
        self.write("log.csv", "time\n1\n2\n")
        self.refuse("info", "t.db", "--from", "csv", says="'t.db' is a database, which has no format: leave --from out")
        self.refuse("info", "log.csv", "--table", "x", says="log.csv is not a database: leave --table out")
        self.refuse("info", "log.csv", "--query", "x", says="log.csv is not a database: leave --query out")
        self.refuse("info", "-", "--table", "x", says="standard input is not a database", input="time\n1\n")
        self.write("parts/train.csv", "time\n1\n2\n")
        self.refuse("info", "parts", "--table", "x", says="train.csv is not a database")

    def test_not_from_a_stream_or_packed(self):
        self.tickets()
        says = r"this is an SQLite database \(give its path"
        self.refuse("info", "-", says=says, input=self.content("t.db"))
        self.write("t.db.gz", gzip.compress(self.content("t.db")))
        self.refuse("info", "t.db.gz", says=says)
        self.write("-", self.content("t.db"))
        self.assertEqual(self.summary("-", input="time\n1\n2\n")["events"], 2)

    def test_damaged_files(self):
        self.tickets()
        whole = self.content("t.db")
        self.write("cut.db", whole[:len(whole) // 2 // 4096 * 4096])
        self.refuse("info", "cut.db", says="cut.db: the SQLite database cannot be read: database disk image is malformed")
        self.write("head.db", whole[:16] + b"\xff" * 200)
        self.refuse("info", "head.db", says="head.db: the SQLite database cannot be read: file is not a database")
        self.write("page.db", whole[:8192] + b"\xff" * 4096 + whole[12288:])
        self.refuse("info", "page.db", says="page.db: .*malformed")

    def test_in_the_middle_of_a_transaction(self):
        """A writer that keeps its lock until it is done."""
        self.tickets()
        with contextlib.closing(sqlite3.connect(self.path("t.db"), isolation_level=None)) as writer:
            writer.execute("begin immediate")
            writer.execute("delete from tickets")
            self.assertEqual(self.summary("t.db")["sequences"], 200)

    def test_write_ahead_log(self):
        with contextlib.closing(sqlite3.connect(self.path("w.db"))) as base:
            base.execute("pragma journal_mode = wal")
            base.execute("create table w(time, type)")
            base.executemany("insert into w values(?, ?)", [[i, "ab"[i % 2]] for i in range(9)])
            base.commit()
            self.assertEqual(self.summary("w.db")["events"], 9)  # from the log
        self.assertEqual(self.listing(), ["w.db"])
        os.makedirs(self.path("a", "b#?%"))
        shutil.move(self.path("w.db"), self.path("a", "b#?%", "w%20.db"))
        for path in "a/b#?%/w%20.db", self.path("a/b#?%/w%20.db"), "/" + self.path("a/b#?%/w%20.db"):
            self.assertEqual(self.summary(path)["events"], 9)
        self.assertEqual(self.listing(), ["a/b#?%/w%20.db"], "files were left beside it")

    def test_more_than_the_sample(self):
        """Several windows of text."""
        rows = [[f"u{i % 100}", i // 100, "type %d, in words" % (i % 5)] for i in range(100000)]
        header = ["user", "time", "type"]
        self.write("log.csv", csv_text(header, rows))
        self.database("log.db", {"log": (header, None, rows)})
        self.assertEqual(*[self.smurf("convert", name, "-", "--to", "csv").out for name in ("log.csv", "log.db")])

    def test_the_library_is_missing(self):
        self.tickets()
        self.write("lib/libsqlite3.so.0", "")
        self.refuse("info", "t.db", env={"LD_LIBRARY_PATH": self.path("lib")},
                    says=r"SQLite files need libsqlite3: install it \(Debian: libsqlite3-0\) \(.*libsqlite3\.so\.0")
        subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-o", self.path("lib", "libsqlite3.so.0")], check=True)
        self.refuse("info", "t.db", env={"LD_LIBRARY_PATH": self.path("lib")}, says="libsqlite3-0.*sqlite3_busy_timeout")

    def test_version_names_them(self):
        said = self.smurf("--version").out
        self.assertIn(" sqlite", said)
        self.assertIn(" postgresql", said)


class Models(SqliteCase):
    def small(self, name, **more):
        header, *rows = csv.reader(io.StringIO(table(30)))
        return self.database(name, {"log": (header, None, rows), **more})

    def train(self, *source):
        self.smurf("train", *source, "-o", "m.safetensors", "--epochs", "1", "-q", *SMALL)

    def test_the_table_is_remembered(self):
        other = {"other": (["time"], None, [[1], [2]])}
        self.small("a.db", **other)
        self.train("a.db", "--table", "log")
        found = self.smurf("score", "m.safetensors", "a.db", "-q").out
        self.assertGreater(found.count("\n"), 10)
        self.small("b.db", **other)
        self.assertEqual(self.smurf("predict", "m.safetensors", "b.db").status, 0)
        self.database("c.db", {"renamed": (["time", "type"], None, [[1, "a"], [2, "a"]]), **other})
        self.refuse("predict", "m.safetensors", "c.db", says="the database has 2 tables")

    def test_a_query_is_not_run_unasked(self):
        self.small("a.db")
        query = "select * from log where time >= 0"
        self.train("a.db", "--query", query)
        self.refuse("predict", "m.safetensors", "a.db",
                    says="train data came from a query, and queries of model files are not run unasked: .*select \\* from log")
        self.smurf("predict", "m.safetensors", "a.db", "--query", query)
        self.smurf("predict", "m.safetensors", "a.db", "--table", "log")

    def test_a_model_of_a_database_reads_files_and_back(self):
        self.small("a.db")
        self.write("log.csv", table(30))
        self.train("a.db")
        self.assertEqual(*[self.smurf("predict", "m.safetensors", name).out for name in ("a.db", "log.csv")])
        self.smurf("predict", "m.safetensors", "-", input=table(30).replace(",", ";"))
        self.train("log.csv")
        self.assertEqual(*[self.smurf("predict", "m.safetensors", name).out for name in ("a.db", "log.csv")])

    def test_packed_data_remember_it_too(self):
        self.small("a.db")
        self.smurf("convert", "a.db", "a.smurf")
        self.assertEqual(self.smurf("convert", "a.smurf", "-", "--to", "csv").out, self.smurf("convert", "a.db", "-", "--to", "csv").out)


class Stopping(SqliteCase, SignalCase):
    def test_a_query_without_end(self):
        self.tickets()
        query = "with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) as time from c"
        run = self.start("info", "t.db", "--query", query)
        self.wait_for(lambda: "t.db" in opened(run.pid), run)
        status, says = self.stop(run, signal.SIGINT, within=10)
        self.assertEqual((status, says), (1, "smurf: stopped while reading t.db\n"))


def opened(pid):
    """Names of the files that a process has open."""
    found = set()
    with contextlib.suppress(OSError):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found.add(os.path.basename(os.readlink(f"/proc/{pid}/fd/{fd}")))
    return found


def until(ready, seconds=30):
    """Waits; returns whether it came about."""
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


class Server:
    """A PostgreSQL server of our own, on a socket in a folder, with a password."""

    def __init__(self):
        bins = [os.path.dirname(shutil.which("initdb") or "/"), *sorted(glob.glob("/usr/lib/postgresql/*/bin"))]
        self.bin = next((b for b in reversed(bins) if os.path.exists(os.path.join(b, "initdb"))), None)
        if not self.bin:
            raise unittest.SkipTest("PostgreSQL is not installed")
        self.folder = tempfile.mkdtemp(prefix="smurf-pg-", dir="/tmp")  # a socket's path is short
        os.chmod(self.folder, 0o755)
        self.process = None
        try:
            self.begin()
        except Exception:
            self.end()
            raise

    def run(self, *command, **more):
        """As the user of the server, who is not root."""
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        return subprocess.run(command, cwd=self.folder, capture_output=True, timeout=60, **more)

    def begin(self):
        data, secret = os.path.join(self.folder, "data"), os.path.join(self.folder, "secret")
        with open(secret, "w") as file:
            file.write(PASSWORD + "\n")
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
            shutil.chown(secret, "postgres")
        done = self.run(os.path.join(self.bin, "initdb"), "--no-sync", "-A", "scram-sha-256", "-U", "smurf", "--pwfile", secret, "-E", "UTF8",
                        "--locale", "C", "-D", data)
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        self.data = data
        self.start()

    def start(self):
        data = self.data
        self.started = self.run(os.path.join(self.bin, "pg_ctl"), "-D", data, "-w", "-t", "50", "-l", os.path.join(self.folder, "log"), "-o",
                                f"-k {self.folder} -c listen_addresses= -c fsync=off -c shared_buffers=16MB -c max_connections=10 "
                                "-c timezone=Europe/Berlin -c datestyle=German", "start")
        if self.started.returncode:
            raise RuntimeError(self.started.stdout.decode() + self.started.stderr.decode())
        self.process = data

    def stop(self):
        self.run(os.path.join(self.bin, "pg_ctl"), "-D", self.process, "-w", "-m", "immediate", "stop")
        self.process = None

    def end(self):
        if self.process:
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def sql(self, text):
        done = subprocess.run([os.path.join(self.bin, "psql"), "-v", "ON_ERROR_STOP=1", "-qAt", "-h", self.folder, "-U", "smurf", "postgres"],
                              input=text.encode(), capture_output=True, timeout=60, env={"PGPASSWORD": PASSWORD, "PATH": "/usr/bin:/bin"})
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        return done.stdout.decode()

    def fill(self, name, header, types, rows):
        kinds = types or ["text"] * len(header)
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([["\\N" if c is None else c for c in row] for row in rows])
        self.sql(f"create table {name}({', '.join(f'{quoted(c)} {k}' for c, k in zip(header, kinds))});\n"
                 f"copy {name} from stdin with (format csv, null '\\N');\n{out.getvalue()}\\.\n")

    def address(self, password=ESCAPED, database="postgres", more=""):
        host = self.folder.replace("/", "%2F")
        return f"postgresql://smurf{':' + password if password else ''}@{host}/{database}{more}"


class Postgres(DatabaseCase, SignalCase):
    server = None

    @classmethod
    def setUpClass(cls):
        try:
            cls.server = Server()
        except unittest.SkipTest as missing:
            cls.missing = str(missing)
            return
        cls.addClassCleanup(cls.server.end)
        cls.server.fill("tickets", rows_of(TICKETS)[0], None, rows_of(TICKETS)[1])
        cls.server.fill("ugly", UGLY[0], None, UGLY[1])
        cls.server.fill("numbers", NUMBERS[0], ["integer", "double precision", "smallint"], NUMBERS[1])
        cls.server.fill("numerics", NUMBERS[0], ["bigint", "numeric", "text"], NUMBERS[1])
        cls.server.fill("epochs", EPOCHS[0], ["varchar(9)", "bigint", "char(4)"], EPOCHS[1])
        cls.server.fill("stamps", *cls.stamps("timestamptz"))
        cls.server.fill("plain_stamps", *cls.stamps("timestamp"))
        cls.server.fill("nothing", ["time"], None, [])
        cls.server.fill("raw", ["time", "load"], ["integer", "bytea"], [[1, None], [2, "\\x0001"]])
        cls.server.sql('create schema other; create table other."My Log" as select * from tickets limit 50;'
                       "create view opened as select * from tickets where event = 'opened';"
                       "create table parts(time int) partition by range(time); create table part1 partition of parts for values from (0) to (9);"
                       "insert into parts values (1), (2)")

    @staticmethod
    def stamps(kind):
        header, rows = rows_of(TICKETS)
        return header, ["text", kind, "text"], rows

    def setUp(self):
        super().setUp()
        if not self.server:
            self.skipTest(self.missing)
        self.at = self.server.address()

    def check_same(self, name, header, rows, *more):
        self.write("log.csv", csv_text(header, rows))
        want = self.run_smurf("convert", "log.csv", "-", "--to", "jsonl", "-q").out
        got = self.run_smurf("convert", self.at, "-", "--to", "jsonl", "-q", "--table", name, *more)
        self.assertEqual((got.status, got.out), (0, want), got.err)

    def test_the_same_as_from_csv(self):
        self.check_same("tickets", *rows_of(TICKETS))
        self.check_same("ugly", *UGLY)
        self.check_same("numbers", *NUMBERS)
        self.check_same("numerics", *NUMBERS)
        self.check_same("epochs", *EPOCHS)

    def test_timestamps_are_times(self):
        """Whatever the server's zone and way to write dates."""
        self.check_same("stamps", *rows_of(TICKETS))
        self.check_same("plain_stamps", *rows_of(TICKETS))

    def test_many_rows(self):
        """Several fetches; the last one of them full."""
        for count in 1, 255, 256, 257, 512, 5000:
            query = f"select i as time, 'k' || i % 3 as type from generate_series(1, {count}) i"
            self.assertEqual(self.summary(self.at, "--query", query)["events"], count)

    def test_which_table(self):
        self.refuse("info", self.at, says=r"the database has 12 tables: name one with --table, or give a --query \(there are epochs, nothing, ")
        self.refuse("info", self.at, "--table", "nope", says="there is no table 'nope'")
        self.assertEqual(self.summary(self.at, "--table", "other.My Log")["events"], 50)
        self.assertEqual(self.summary(self.at, "--table", "public.parts")["events"], 2)
        self.assertEqual(self.summary(self.at, "--table", "OPENED")["type_names"], ["opened"])
        self.server.sql("create database one; create database none")
        self.addCleanup(self.server.sql, "drop database one; drop database none")
        self.refuse("info", self.server.address(database="none"), says="the database has no tables that can be read")
        self.smurf("info", self.server.address(database="one"), "--query", "select 1 as time union all select 2;", quiet=True)

    def test_nothing_is_written(self):
        for query in ("delete from tickets", "drop table tickets", "insert into tickets values('1','2','3')", "create table x(a int)",
                      "copy tickets to '/tmp/x'", "commit", "vacuum", "do $$ begin delete from tickets; end $$"):
            self.refuse("info", self.at, "--query", query, says="the query failed: syntax error .*one SELECT")
        for query in "select 1 as time; commit; drop table tickets", "select 1; select 2":
            self.refuse("info", self.at, "--query", query, says="cannot insert multiple commands")
        self.refuse("info", self.at, "--query", "with d as (delete from tickets returning *) select * from d", says="data-modifying")
        self.server.sql("create function wipe() returns int language sql volatile as 'delete from tickets; select 1'; create sequence s")
        self.addCleanup(self.server.sql, "drop function wipe; drop sequence s")
        self.refuse("info", self.at, "--query", "select wipe() as time", says="cannot execute DELETE in a read-only transaction")
        self.refuse("info", self.at, "--query", "select nextval('s') as time", says="cannot execute nextval.* in a read-only transaction")
        self.assertEqual(int(self.server.sql("select count(*) from tickets")), len(rows_of(TICKETS)[1]))

    def test_wrong_queries(self):
        self.refuse("info", self.at, "--query", "select nope from tickets", says='the query failed: column "nope" does not exist$')
        self.refuse("info", self.at, "--query", "select timee from tickets", says=r"does not exist \(Perhaps you meant to reference")
        self.refuse("info", self.at, "--query", "select 1 / (5 - i) as time from generate_series(1, 9) i", says="division by zero")
        self.refuse("info", self.at, "--query", "select 1 / (500 - i) as time from generate_series(1, 900) i", says="division by zero")
        self.refuse("info", self.at, "--table", "nothing", says="the table 'nothing' has no rows")
        self.refuse("info", self.at, "--query", "select from tickets", says="the query returns no columns")
        self.refuse("info", self.at, "--query", "select pg_terminate_backend(pg_backend_pid()) as time", says="terminating connection")

    def test_bytes_are_refused(self):
        self.refuse("info", self.at, "--table", "raw", says=r":2: column 'load' holds bytes rather than text")
        self.assertEqual(self.summary(self.at, "--query", "select time from raw")["events"], 2)

    def test_no_password_is_shown(self):
        """Not in messages, answers, models or pages, nor in the list of processes."""
        address = self.at + "?password=" + ESCAPED + "&connect_timeout=20"
        shown = self.server.address(password=None) + "?connect_timeout=20"
        said = self.smurf("info", address, "--table", "tickets", "--json").out
        self.assertIn(shown, said)
        r = self.run_smurf("train", address, "--table", "tickets", "-o", "m.safetensors", "--epochs", "1", *SMALL)
        self.assertEqual(r.status, 0, r.err)
        e = self.run_smurf("eval", "m.safetensors", address, "--report", "r.html")
        self.assertEqual(e.status, 0, e.err)
        self.assertIn(shown, e.out)
        wrong = self.refuse("info", self.server.address(password="wr0ng"), "--table", "x", says="password authentication failed")
        missing = self.refuse("info", self.server.address(password=None), says="PGPASSWORD")
        everything = "".join([said, r.out, r.err, e.out, e.err, wrong, missing, self.content("m.safetensors").decode("latin1"),
                              self.content("r.html").decode()])
        for secret in "gehe1m", "wr0ng":
            self.assertNotIn(secret, everything)
        self.smurf("info", self.server.address(password=None), "--table", "tickets", env={"PGPASSWORD": PASSWORD})

    def test_nor_in_the_list_of_processes(self):
        run = self.start("info", self.at, "--query", "select pg_sleep(1000)::text as time")
        fetching = "select count(*) from pg_stat_activity where query like 'FETCH%' and state = 'active'"
        until(lambda: int(self.server.sql(fetching)) == 1)
        with open(f"/proc/{run.pid}/cmdline", "rb") as file:
            self.assertNotIn(b"gehe1m", file.read())
        status, says = self.stop(run, signal.SIGINT, within=10)
        self.assertEqual(status, 1)
        self.assertEqual(says, f"smurf: stopped while reading {self.server.address(password=None)}\n")
        self.assertTrue(until(lambda: int(self.server.sql(fetching)) == 0), "the server goes on")

    def test_the_table_is_remembered(self):
        self.smurf("train", self.at, "--table", "other.My Log", "-o", "m.safetensors", "--epochs", "1", "-q", *SMALL)
        self.smurf("predict", "m.safetensors", self.at)

    def test_options_that_do_not_fit(self):
        self.refuse("info", self.at, "--from", "csv", says="is a database, which has no format")


class Addresses(Case):
    """Without a server."""

    def test_not_reachable(self):
        shown = "postgresql://u@%2Fno%2Fsuch%2Ffolder/db"
        said = self.refuse("info", "postgresql://u:gehe1m@%2Fno%2Fsuch%2Ffolder/db", says="cannot open '" + shown)
        self.assertIn("Is the server running", said)
        self.assertNotIn("gehe1m", said)
        self.refuse("info", "postgresql://u@localhost/db?nonsense=1", says='invalid URI query parameter: "nonsense"')

    def test_ambiguous_addresses(self):
        for address in ("postgresql://u:geh@e1m@h/db", "postgresql://u:geh/e1m@h/db", "postgres://u:geh?e1m@h/db", "postgres://u:geh#e1m@h",
                        "postgres://h/db?password=geh@e1m"):
            said = self.refuse("info", address, says="the address of the database is ambiguous: .* write @ as %40")
            self.assertNotRegex(said, "geh|e1m")
            self.assertNotRegex(self.refuse("predict", "m", address, says="m"), "geh|e1m")

    def test_the_library_is_missing(self):
        self.write("lib/libpq.so.5", "")
        self.refuse("info", "postgresql://u@h/db", env={"LD_LIBRARY_PATH": self.path("lib")},
                    says=r"PostgreSQL databases need libpq: install it \(Debian: libpq5\) \(.*libpq\.so\.5")

    def test_is_no_output(self):
        self.write("log.csv", "time\n1\n2\n")
        said = self.refuse("convert", "log.csv", "postgresql://u:gehe1m@h/db", says="cannot tell the format")
        self.assertNotIn("gehe1m", said)


if __name__ == "__main__":
    unittest.main()
