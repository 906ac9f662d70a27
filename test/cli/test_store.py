"""The store of smurf serve, in SQLite and in PostgreSQL: late events, pruning, the state of alarms, several instances, lost connections."""
import concurrent.futures
import contextlib
import datetime
import json
import os
import random
import resource
import shutil
import sqlite3
import threading
import time
import unittest

import common
import models
import test_databases
import test_serve
import test_watch
from models import ModelCase
from test_naive import daily_log
from test_serve import HAS_SERVE

EXACT = ["--recalibrate", "off", "--pool", "off", "--adaptive", "0"]
START = datetime.datetime(2024, 2, 1)


def at(seconds):
    return (START + datetime.timedelta(seconds=seconds)).isoformat() + "Z"


class StoreCase(ModelCase):
    """Each test has a store of its own: a file."""

    @classmethod
    def make(cls):
        cls.put("log.csv", models.calendar(30, events=20))
        cls.train("log.csv", "whole.safetensors")
        cls.train("log.csv", "context.safetensors", "--window", "8", "--history", "4", *EXACT)
        said = cls.do("train", "log.csv", "-o", "pooled.safetensors", "--epochs", "2", "-q", *models.SMALL, "--window", "8", "--history", "4", "--adaptive", "0")
        assert "of naive: recent" in said, said  # which looks back at 9 events
        cls.train("log.csv", "wide.safetensors", "--window", "64", "--history", "32", *EXACT)
        cls.train("log.csv", "adaptive.safetensors", "--window", "8", "--history", "4", "--adaptive", "0.05", "--recalibrate", "on", "--pool", "off")
        cls.put("numbers.csv", models.table(20))
        cls.train("numbers.csv", "numbers.safetensors")
        cls.put("watched/train.csv", test_watch.log(20, 1))
        cls.do("train", "watched/train.csv", "-o", "watched.safetensors", "--epochs", "2", "-q", *models.SMALL)
        cls.do("train", "watched/train.csv", "-o", "watched_context.safetensors", "--epochs", "2", "-q", *models.SMALL, "--window", "8", "--history", "4", *EXACT)

    def setUp(self):
        super().setUp()
        self.store = self.new_store()

    def new_store(self):
        self.stores = getattr(self, "stores", 0) + 1
        self.file = self.path("s%d.db" % self.stores)
        return self.file

    def sql(self, text):
        """The rows of a query; names of tables as in SQLite."""
        with contextlib.closing(sqlite3.connect(self.file)) as db:
            return [tuple(map(str, row)) for row in db.execute(text).fetchall()]

    server = test_serve.Serve.server
    forecast = test_serve.Serve.forecast
    error = test_serve.Serve.error

    def serve(self, *args, model="context.safetensors", **more):
        return self.server("--store", self.store, *args, model=model, **more)

    def events(self, name, count, seed=1, gap=600):
        draw, t, out = random.Random(seed), 0, []
        for k in range(count):
            t += draw.choice([0, 1, draw.uniform(0, 2 * gap)])
            out.append({"sequence": name, "time": at(round(t, 3)), "type": draw.choice(["login", "logout"]), "id": "%s-%d" % (name, k)})
        return out

    def post(self, server, events, size=50):
        for k in range(0, len(events), size):
            self.assertEqual(server.post(events[k:k + size])[0], 200)

    # ---- late events ----

    def test_late_events_are_inserted(self):
        draw = random.Random(5)
        events = self.events("a", 40) + self.events("b\"\\{},", 30, 2)
        late = self.serve("--late", "insert", model="whole.safetensors")
        order = [(datetime.datetime.fromisoformat(e["time"][:-1]), k) for k, e in enumerate(events)]
        shuffled = list(range(len(events)))
        draw.shuffle(shuffled)
        for k in range(0, len(shuffled), 7):
            # Events at the same time stay in the order of their arrival.
            batch = [events[i] for i in shuffled[k:k + 7]]
            self.assertEqual(late.post(batch), (200, {"accepted": len(batch), "duplicates": 0}))
            self.forecast(late, batch[0]["sequence"])  # goes on from there
        self.assertEqual(late.post(events[::-1]), (200, {"accepted": 0, "duplicates": len(events)}))
        arrived = {i: n for n, i in enumerate(shuffled)}
        in_order = sorted(range(len(events)), key=lambda i: (order[i][0], arrived[i]))
        other = self.server(model="whole.safetensors")
        self.post(other, [events[i] for i in in_order])
        for name in "a", "b\"\\{},":
            said = self.forecast(other, name, "?within=1h")
            self.assertEqual(self.forecast(late, name, "?within=1h"), said)
        late.kill()
        late = self.serve(model="whole.safetensors")
        for name in "a", "b\"\\{},":
            self.assertEqual(self.forecast(late, name), self.forecast(other, name))
            self.assertEqual(self.sql("select count(*), min(n), max(n) from event e join sequence s on s.number = e.sequence where name = '%s'" % name),
                             [(str(sum(e["sequence"] == name for e in events)), "0", str(sum(e["sequence"] == name for e in events) - 1))])
        self.error(late.post(dict(events[0], id="late", time=at(-5))), 409, "time", "before the last event.*none")  # the default

    def test_late_events_of_a_refused_batch(self):
        server = self.serve("--late", "insert")
        event = {"sequence": "a", "time": at(100), "type": "login", "id": "1"}
        self.post(server, [event, dict(event, time=at(200), id="2")])
        said = self.forecast(server, "a")
        self.error(server.post([dict(event, time=at(150), id="3"), dict(event, sequence="new"), dict(event, type="logout")]), 409, "id", "event 3")
        self.assertEqual(self.forecast(server, "a"), said)
        self.assertEqual(server.get("/v1/sequences")[1]["total"], 1)
        # The same id twice, the second time after the batch that had it was refused.
        self.assertEqual(server.post([dict(event, time=at(150), id="3"), dict(event, time=at(150), id="3")]), (200, {"accepted": 1, "duplicates": 1}))
        self.assertEqual(self.sql("select n, whole - %d from event order by n" % START.replace(tzinfo=datetime.timezone.utc).timestamp()),
                         [("0", "100"), ("1", "150"), ("2", "200")])

    # ---- pruning ----

    def test_pruned_events_are_not_needed(self):
        events = self.events("a", 300, 3)
        for model in "pooled.safetensors", "context.safetensors":
            options = ["--keep-events", "5", "--late", "insert"]
            self.store = self.new_store()
            whole, pruned = self.server(model=model), self.serve(*options, model=model)
            for k in range(0, 300, 13):
                self.post(whole, events[k:k + 13])
                self.post(pruned, events[k:k + 13])
                self.assertEqual(self.forecast(pruned, "a", "?within=1h"), self.forecast(whole, "a", "?within=1h"))
                if k % 5 == 0:
                    pruned.kill()
                    pruned = self.serve(*options, model=model)
                    self.assertEqual(self.forecast(pruned, "a", "?within=1h"), self.forecast(whole, "a", "?within=1h"))
            self.assertLess(int(self.sql("select count(*) from event")[0][0]), 150)
        self.assertLess(int(self.sql("select count(*) from event")[0][0]), 60)
        self.assertEqual([s["events"] for s in pruned.get("/v1/sequences")[1]["sequences"]], [300])
        self.assertEqual(pruned.post(events[-3:]), (200, {"accepted": 0, "duplicates": 3}))
        self.error(pruned.post(dict(events[5], id="new")), 409, "time", "before the events of 'a' that are kept")
        late = dict(events[-1], id="late", time=events[-4]["time"])
        self.post(pruned, [late])
        in_order = self.server(model="context.safetensors")
        place = max(i for i, e in enumerate(events) if e["time"] <= late["time"]) + 1
        self.post(in_order, events[:place] + [late] + events[place:])
        self.assertEqual(self.forecast(pruned, "a"), self.forecast(in_order, "a"))
        self.assertEqual(pruned.stop(), 0)
        # A model that looks back further.
        wide = self.serve(model="wide.safetensors")
        self.error(wide.get("/v1/forecast/a"), 500, None, "pruned.*the model that it had before")
        self.assertEqual(self.serve().stop(), 0)

    def test_what_another_service_changes(self):
        """A service that has a forecast of an earlier state: events were pruned since, or inserted before its last one."""
        events, options = self.events("a", 300, 7), ["--keep-events", "2", "--late", "insert"]
        one, other, alone = self.serve(*options), self.serve(*options), self.server("--late", "insert", model="context.safetensors")
        for begin, end in (0, 20), (20, 220), (220, 230), (230, 299):
            self.post(one, events[begin:end])
            self.post(alone, events[begin:end])
            self.assertEqual([self.forecast(s, "a") for s in (one, other)], [self.forecast(alone, "a")] * 2)
            late = dict(events[end - 1], id="late-%d" % end, time=events[end - 3]["time"])
            self.post(one, [late])
            self.post(alone, [late])
            self.assertEqual([self.forecast(s, "a") for s in (other, one)], [self.forecast(alone, "a")] * 2)

    def test_what_cannot_be_pruned(self):
        self.write("daily.csv", daily_log(60, 1200, 10800))
        said = self.smurf("train", "daily.csv", "-o", "hour.safetensors", "--epochs", "1", *models.SMALL, "--window", "8", "--history", "4", "--adaptive", "0", quiet=False).out
        self.assertIn("same hour", said)
        for model, says in (self.at("whole.safetensors"), "it looks back at the whole history .*--window"), (self.at("adaptive.safetensors"), "its levels follow all gaps.*--adaptive 0"), \
                ("hour.safetensors", "it is pooled with a naive law that looks back at the whole history .*--pool off"):
            self.refuse("serve", model, "--store", self.store, "--keep-events", "9", "-q", says="the model needs all events, for " + says)
        self.refuse("serve", self.at("whole.safetensors"), "--late", "maybe", "-q", says="--late takes refuse or insert, not 'maybe'", status=2)

    def same(self, server, other, name, *queries):
        """Twice, for answers are kept."""
        for query in queries:
            said = self.forecast(other, name, query)
            self.assertEqual([self.forecast(server, name, query) for _ in range(2)], [said] * 2, (name, query))

    def test_answers_that_are_kept(self):
        """They follow late events and pruning, by this service and by another one."""
        events, there = self.events("a", 120, 9), []
        kept, other = [self.serve("--late", "insert", "--keep-events", "2") for _ in range(2)]
        for k in range(0, 120, 20):
            for batch in events[k:k + 20], [dict(events[k + 19], id="late-%d" % k, time=events[k + 17]["time"])]:
                self.assertEqual((kept, other)[k // 20 % 2].post(batch), (200, {"accepted": len(batch), "duplicates": 0}))
                there = sorted(there + batch, key=lambda e: datetime.datetime.fromisoformat(e["time"][:-1]))
                alone = self.server(model="context.safetensors")
                self.post(alone, there)
                self.same(kept, alone, "a", "", "?within=1h", "?next=2", "?top=1&curve=4", "")
                self.assertEqual(alone.stop(), 0)
        self.assertLess(int(self.sql("select count(*) from event")[0][0]), 40)
        self.assertEqual(json.loads(self.forecast(kept, "a", "?next=2"))["events"], 126)

    def test_another_model_and_pruning(self):
        """It is refused if it needs events that are pruned, or all; and pruning goes on, by what the one in use needs."""
        events, model = self.events("a", 500, 11), self.path("model.safetensors")
        alone = {name: self.server(model=name + ".safetensors") for name in ("context", "pooled")}
        shutil.copy(self.at("context.safetensors"), model)
        server = self.serve("--keep-events", "20", model=model)

        def post(begin, end):
            for s in (server, *alone.values()):
                self.post(s, events[begin:end])

        def reload(name):
            shutil.copy(self.at(name + ".safetensors"), model + "~")
            os.replace(model + "~", model)
            return server.post("", "/v1/model/reload")
        self.post(server, self.events("0", 5))
        post(0, 200)
        for begin, used in (200, None), (300, "context"), (400, "pooled"):
            self.error(reload("whole"), 409, None, "with --keep-events.*all events, for it looks back.*--window")
            self.error(reload("wide"), 409, None, "needs events of 'a' that are pruned")
            self.same(server, alone["context"], "a", "", "?next=2")
            if used:
                self.assertEqual(reload(used), (200, {"reloaded": True}))
            post(begin, begin + 100)
            self.same(server, alone[used or "context"], "a", "", "?next=2")
            self.assertLess(int(self.sql("select count(*) from event")[0][0]), 90)
        self.reload_under_load(server, reload)
        self.assertEqual(server.stop(), 0)
        shutil.copy(self.at("context.safetensors"), model)
        server = self.serve(model=model)
        self.error(reload("wide"), 409, None, "needs events of 'a' that are pruned")
        self.same(server, alone["context"], "a", "")

    def reload_under_load(self, server, reload):
        """No request fails for events that the model it began with needs, and the next one does not."""
        over, asked = threading.Event(), []

        def client(k):
            events = iter(self.events("u%d" % k, 100000, gap=1))
            with contextlib.closing(server.connect()) as connection:
                while not over.is_set():
                    body = json.dumps([next(events) for _ in range(7)])
                    for request in ("POST", "/v1/events", body), ("GET", "/v1/forecast/u%d" % k, None):
                        status, _, answer = server.raw(*request, connection=connection)
                        if status != 200:
                            return answer
                        asked.append(k)
            return None
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            clients = [pool.submit(client, k) for k in range(4)]
            try:
                k = 0
                while k < 20 or (len(asked) < 400 and not any(c.done() for c in clients)):
                    self.assertEqual(reload(("context", "pooled")[k % 2]), (200, {"reloaded": True}))
                    k += 1
            finally:
                over.set()
            self.assertEqual([c.result() for c in clients], [None] * 4)

    # ---- alarms ----

    def alarms(self, server):
        end = time.monotonic() + common.TIMEOUT
        while server.get("/v1/alarms")[1]["behind"]:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        return server.get("/v1/alarms")[1]["alarms"]

    def begins(self, server, alarms):
        self.assertEqual(self.alarms(server)[:len(alarms)], alarms)

    def test_alarms_that_time_raised(self):
        """They are where they were after kill -9, although events with earlier times came later; and the state of a service that ended is used."""
        options = ["--alarms-per-day", "3"]
        now = datetime.datetime.utcnow().replace(microsecond=0)
        table = test_serve.events_of(test_watch.log(12, 3), "device")
        last = max(e["time"] for e in table)
        shift = now - datetime.timedelta(hours=30) - datetime.datetime.fromisoformat(last[:-1])
        for e in table:
            e["time"] = (datetime.datetime.fromisoformat(e["time"][:-1]) + shift).isoformat() + "Z"
        server = self.serve(*options, model="watched.safetensors")
        self.post(server, table, 500)
        before = self.alarms(server)
        self.assertTrue(before)
        end = time.monotonic() + common.TIMEOUT
        while len(self.alarms(server)) == len(before):
            self.assertLess(time.monotonic(), end, "time raises no alarm")
            time.sleep(0.2)
        time.sleep(1)
        odd = [{"sequence": "odd%d" % (k % 7), "time": (now - datetime.timedelta(hours=29, seconds=-k)).isoformat() + "Z", "type": "lost"} for k in range(200)]
        self.post(server, odd)
        found = self.alarms(server)
        self.assertEqual(found[len(before)]["alarm"], "overdue")
        self.assertGreater(len(found), len(before) + 2)
        server.kill()
        server = self.serve(*options, model="watched.safetensors")
        self.begins(server, found)  # more may come as time passes
        self.assertEqual(server.stop(), 0)
        (event, count), = self.sql("select event, alarms from watch")
        self.assertEqual(int(event), len(table + odd))
        self.assertGreaterEqual(int(count), len(found))
        self.sql_write("update event set type = 'ok'")  # what is restored does not look at them again
        server = self.serve(*options, model="watched.safetensors")
        self.begins(server, found)
        self.post(server, [dict(e, time=now.isoformat() + "Z", type="lost") for e in odd[:7]])
        both = self.alarms(server)
        self.assertEqual(both[:len(found)], found)
        server.kill()
        server = self.serve(*options, model="watched.safetensors")
        self.begins(server, both)
        server.kill()
        server = self.serve("--alarms-per-day", "4", model="watched.safetensors")  # other options: anew
        self.alarms(server)
        self.assertEqual(server.stop(), 0)
        self.assertIn("the alarms are found anew", server.err)

    def sql_write(self, text):
        with contextlib.closing(sqlite3.connect(self.file)) as db:
            db.execute(text)
            db.commit()

    def test_alarms_of_pruned_histories(self):
        """After restarts, with events pruned in between, the alarms are those of a service that never ended and kept everything."""
        table = test_serve.events_of(test_serve.in_the_future(test_watch.log(40, 3)), "device")
        options, model = ["--alarms-per-day", "3"], "watched_context.safetensors"
        whole = self.server(*options, model=model)
        self.post(whole, table, 500)
        found = self.alarms(whole)
        self.assertGreater(len(found), 50)
        for k in range(0, len(table), 1500):
            server = self.serve(*options, "--keep-events", "3", model=model)
            self.post(server, table[k:k + 1500], 500)
            self.alarms(server)
            self.assertEqual(server.stop(), 0)
        server = self.serve(*options, "--keep-events", "3", model=model)
        self.assertEqual(self.alarms(server), found)
        self.assertLess(int(self.sql("select count(*) from event")[0][0]), len(table) * 3 // 4)

    def test_alarms_after_kills(self):
        """Services that end or are killed while events come and alarms are found."""
        draw = random.Random(1)
        table = test_serve.events_of(test_serve.in_the_future(test_watch.log(40, 4)), "device")
        options, model = ["--alarms-per-day", "3"], "watched.safetensors"
        whole = self.server(*options, model=model)
        self.post(whole, table, 500)
        sent, ended = 0, 0
        while sent < len(table):
            server = self.serve(*options, model=model)
            end = min(len(table), sent + draw.randrange(100, 800))
            self.post(server, table[sent:end], 100)
            sent = end
            time.sleep(draw.uniform(0, 0.05))
            if draw.random() < 0.5:
                server.kill()
            else:
                self.assertEqual(server.stop(), 0)
                ended += 1
        self.assertGreater(ended, 1)
        server = self.serve(*options, model=model)
        self.assertEqual(self.alarms(server), self.alarms(whole))
        self.assertEqual(server.stop(), 0)
        server, held = self.serve(*options, model=model), whole.get("/v1/held?hours=168")[1]
        self.assertEqual(server.get("/v1/held?hours=168")[1], held)
        self.assertGreater(held["gaps"], 100)

    def test_alarms_of_another_model(self):
        """They go on with the same model, and are found anew with another, also after the service was killed."""
        table = test_serve.events_of(test_serve.in_the_future(test_watch.log(12, 3)), "device")
        options, model = ["--alarms-per-day", "3"], self.path("model.safetensors")
        shutil.copy(self.at("watched.safetensors"), model)
        server, whole = self.serve(*options, model=model), self.server(*options, model="watched_context.safetensors")
        self.post(server, table, 500)
        self.post(whole, table, 500)
        found = self.alarms(server)
        self.assertNotEqual(found, self.alarms(whole))
        self.assertEqual(server.post("", "/v1/model/reload"), (200, {"reloaded": True}))
        answer = server.get("/v1/alarms")[1]
        self.assertEqual((answer["alarms"], answer["behind"]), (found, 0))
        os.replace(shutil.copy(self.at("watched_context.safetensors"), model + "~"), model)
        self.assertEqual(server.post("", "/v1/model/reload"), (200, {"reloaded": True}))
        self.assertEqual(self.alarms(server), self.alarms(whole))
        server.kill()
        self.assertEqual(server.err.count("the alarms are found anew"), 1)
        self.assertEqual(server.err.count("another service"), 0)
        self.assertEqual(self.alarms(self.serve(*options, model=model)), self.alarms(whole))

    def test_one_service_watches(self):
        """The one that was started last has all alarms, and the other one raises no more. Whoever takes the events."""
        table = test_serve.events_of(test_serve.in_the_future(test_watch.log(20, 3)), "device")
        options, half = ["--alarms-per-day", "3"], len(table) // 2
        whole = self.server(*options, model="watched.safetensors")
        first = self.serve(*options, model="watched.safetensors")
        self.post(first, table[:half], 500)
        before = self.alarms(first)
        second = self.serve(*options, model="watched.safetensors")
        self.assertEqual(self.alarms(second), before)
        self.post(first, table[half:half + 500], 500)
        self.post(second, table[half + 500:], 500)
        self.post(whole, table, 500)
        found = self.alarms(second)
        self.assertEqual(found, self.alarms(whole))
        self.assertGreater(len(found), len(before))
        self.assertEqual(first.get("/v1/alarms")[1]["alarms"], before)
        self.assertEqual(first.stop(), 0)
        self.assertIn("another service raises the alarms", first.err)
        self.assertEqual(second.stop(), 0)
        self.assertEqual(second.err.count("another service"), 0)


@unittest.skipUnless(HAS_SERVE, "this build has no service (libmicrohttpd is missing)")
class Sqlite(StoreCase):
    def test_plain_bodies_are_read_as_others(self):
        """The same events, written so that they are read in place, and with escapes, so that they are not."""
        def escaped(text):
            return "".join("\\u%04x" % ord(c) for c in text)
        names = ['"pump-7"', "17", "-3", "1.5", "0.25", "123456789012345", "1234567890123456", "12345678.0000001", "1e3", "2.50", '"a b"', '"[{:,}]"']
        for model, times in ("context.safetensors", ['"2024-02-01T10:00:00.5Z"', '"2024-02-01 11:00"', '"2024-02-02"']), ("numbers.safetensors", ["0.5", "5", "7.25", "1e1", "12.500"]):
            kind = '"a"' if model.startswith("numbers") else '"login"'
            stored = []
            for write in (lambda v: v), (lambda v: '"%s"' % escaped(v[1:-1]) if v[0] == '"' else v):
                server = self.server("--store", self.new_store(), model=model)
                for k, name in enumerate(names):
                    events = ['{"sequence":%s , "type": %s,\n"time":%s}' % (write(name), write(kind), write(t)) for t in times]
                    events += ['{ "time":%s,"id":%s,"type":%s,"sequence":%s}' % (write(t), write(name), write(kind), write('"%d-%d"' % (j, k))) for j, t in enumerate(times)]
                    form = "[%s]" % ",".join(events) if k % 3 == 0 else " \n".join(events) + ("\n" if k % 3 == 1 else "")
                    self.assertEqual(server.post(form), (200, {"accepted": 2 * len(times), "duplicates": 0}), form)
                self.assertEqual(server.stop(), 0)
                stored.append(self.sql("select name, n, e.whole, e.fraction, type, id from event e join sequence s on s.number = e.sequence order by e.number"))
                os.remove(self.file)
            self.assertEqual(*stored)
            self.assertEqual(len(stored[0]), 2 * len(times) * len(names))

    def test_histories_that_were_given_up(self):
        """With little memory forecasts are their laws alone. They follow late events and pruning as well."""
        options, names = ["--late", "insert"], ["s%04d" % k for k in range(2400)]
        small = self.serve(*options, "--keep-events", "2", "--memory", "16")
        alone = self.server(*options, model="context.safetensors")
        some = names[:60:2]
        first = [e for name in some for e in self.events(name, 12, int(name[1:]))]
        for server in small, alone:
            self.post(server, first, 200)
            self.post(server, [{"sequence": name, "time": at(9), "type": "login", "id": "1"} for name in names if name not in some], 1000)
        for name in names:
            self.forecast(small, name)
        figures = dict(line.split() for line in small.raw("GET", "/metrics")[2].decode().splitlines() if line.startswith("smurf_forecasts_"))
        self.assertGreater(int(figures["smurf_forecasts_kept"]), int(figures["smurf_forecasts_whole"]) + 100)
        self.assertGreater(int(figures["smurf_forecasts_kept"]), 2300)  # so these are among them
        for k, name in enumerate(some):
            if k % 3 == 0:
                self.same(small, alone, name, "")
            events = self.events(name, 60, int(name[1:]))
            for server in small, alone:
                self.post(server, [dict(events[11], id="late", time=events[8]["time"])])
                if k % 2:
                    self.post(server, events[12:])
            self.same(small, alone, name, "", "?next=1")
        self.assertGreater(int(self.sql("select count(*) from sequence where first > 0")[0][0]), 10)

    def test_stores_of_the_first_version(self):
        """They get what is missing."""
        server = self.serve()
        self.post(server, self.events("a", 30))
        said = self.forecast(server, "a")
        self.assertEqual(server.stop(), 0)
        with contextlib.closing(sqlite3.connect(self.file)) as db:
            db.executescript("drop table watch; drop table alarm; drop table pass; alter table sequence drop column first;"
                             "alter table sequence drop column revision; pragma user_version = 1")
        server = self.serve("--keep-events", "2")
        self.assertEqual(self.forecast(server, "a"), said)
        self.post(server, self.events("b", 200))
        self.assertEqual(server.stop(), 0)
        self.assertLess(int(self.sql("select count(*) from event")[0][0]), 90)

    def test_full_disk(self):
        """States, late events and pruning do without room, too."""
        options = ["--alarms-per-day", "3", "--late", "insert"]
        server = self.serve(*options, model="watched.safetensors", limit=400000)
        taken = 0
        for k in range(200):
            batch = [{"sequence": "s%d" % j, "time": at(600 * (k - k % 3 * 2)), "type": "ok", "id": "i%d" % k} for j in range(50)]
            status, answer = server.post(batch)
            if status != 200:
                break
            taken += 50
        self.error((status, answer), 507, None, "full.*make room")
        self.alarms(server)
        self.assertEqual(server.stop(), 0)  # the state finds no room, and is left out
        server = self.serve(*options, model="watched.safetensors", limit=400000)
        self.assertIn(server.post(batch)[0], (200, 507))
        self.alarms(server)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        status, answer = server.post(batch)
        self.assertEqual((status, answer["accepted"] + answer["duplicates"]), (200, 50))
        self.alarms(server)
        self.assertEqual(server.stop(), 0)
        self.assertEqual(self.sql("select event from watch"), [(str(taken + 50),)])
        self.assertEqual(self.sql("pragma integrity_check"), [("ok",)])
        self.assertEqual(self.sql("select count(*) from event"), [(str(taken + 50),)])


@unittest.skipUnless(HAS_SERVE, "this build has no service (libmicrohttpd is missing)")
class Postgres(StoreCase):
    database = None
    made_databases = 0

    @classmethod
    def setUpClass(cls):
        try:
            cls.database = test_databases.Server()
        except unittest.SkipTest as missing:
            cls.missing = str(missing)
            return
        cls.addClassCleanup(cls.database.end)
        super().setUpClass()

    def setUp(self):
        if not self.database:
            self.skipTest(self.missing)
        super().setUp()

    def new_store(self):
        Postgres.made_databases += 1
        self.name = "store%d" % self.made_databases
        self.database.sql("create database " + self.name)
        return self.database.address(database=self.name)

    def sql(self, text):
        for table in "event", "sequence", "watch":
            for before in "from ", "join ", "update ":
                text = text.replace(before + table, before + "smurf_" + table)
        return [tuple(line.split("|")) for line in self.database.sql("\\c %s\n%s;\n" % (self.name, text)).splitlines()]

    sql_write = sql

    def test_two_instances(self):
        """Behind a load balancer that takes turns; both have the bits of a store in memory."""
        instance = [self.serve(), self.serve()]
        alone = self.server(model="context.safetensors")
        events = self.events("a", 40)
        for k, event in enumerate(events):
            self.assertEqual(instance[k % 2].post(event), (200, {"accepted": 1, "duplicates": 0}))
            self.assertEqual(instance[1 - k % 2].post(event), (200, {"accepted": 0, "duplicates": 1}))
            alone.post(event)
            said = self.forecast(alone, "a", "?within=1h")
            self.assertEqual([self.forecast(i, "a", "?within=1h") for i in instance], [said] * 2)
        self.error(instance[1].post(dict(events[0], id="late")), 409, "time", "before the last")
        for i in instance:
            self.assertEqual([s["events"] for s in i.get("/v1/sequences")[1]["sequences"]], [40])
            self.error(i.get("/v1/forecast/%FF"), 404, "sequence", "no sequence")
            self.assertEqual(i.get("/v1/sequences?prefix=%FF")[1]["sequences"], [])

    def test_two_instances_at_the_same_time(self):
        """The same batches are sent to both, each in its own threads: every event is stored once, in order."""
        instance = [self.serve(), self.serve()]
        batches = [self.events("s%d" % (k % 5), 60, k % 5)[(k // 5) * 6:][:6] for k in range(50)]
        accepted = []

        def client(which):
            with contextlib.closing(instance[which].connect()) as connection:
                for batch in batches:
                    status, answer = instance[which].post(batch, connection=connection)
                    if status != 200:
                        return answer
                    accepted.append(answer["accepted"])
            return None
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.assertEqual(list(pool.map(client, (0, 1))), [None, None])
        self.assertEqual(sum(accepted), 300)
        self.assertEqual(self.sql("select count(*), max(number), count(distinct sequence) from event"), [("300", "300", "5")])
        self.assertEqual(self.sql("select count(*) from event e join event f on e.sequence = f.sequence and f.n = e.n + 1 where f.whole + f.fraction < e.whole + e.fraction"
                                  " or split_part(f.id, '-', 2)::int <> f.n"), [("0",)])
        for k in range(5):
            self.assertEqual(*[self.forecast(i, "s%d" % k) for i in instance])

    def test_a_server_that_is_gone(self):
        """503 while it is away; then all goes on, with the events that were acknowledged."""
        server = self.serve()
        events = self.events("a", 60)
        self.post(server, events[:40])
        said = self.forecast(server, "a")
        self.database.stop()
        try:
            self.error(server.post(events[40:]), 503, None, "the store cannot be written.*none of the events")
            self.error(server.get("/v1/forecast/a"), 503, None, "the store cannot be read.*ask again")
            self.error(server.get("/v1/sequences"), 503, None, "the store cannot be read")
            self.assertEqual(server.get("/healthz")[0], 200)
            self.refuse("serve", self.at("context.safetensors"), "--store", self.store, "-q", "--listen", "127.0.0.1:0", says="cannot be opened.*server running")
        finally:
            self.database.start()
        self.assertEqual(self.forecast(server, "a"), said)
        self.database.stop()
        self.database.start()
        self.post(server, events[40:])  # no request fails for a connection that was lost before
        alone = self.server(model="context.safetensors")
        self.post(alone, events)
        self.assertEqual(self.forecast(server, "a"), self.forecast(alone, "a"))

    def test_kills(self):
        """Of one of two instances, while both are sent events."""
        draw, most, sent = random.Random(1), 15, {"a": 0, "b": 0}
        instance = {name: self.serve() for name in "ab"}
        events = {name: self.events(name, 4000) for name in "ab"}
        for _ in range(most):
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                def client(name):
                    end = time.monotonic() + draw.uniform(0.02, 0.1)
                    with contextlib.closing(instance[name].connect()) as connection:
                        while time.monotonic() < end and sent[name] < len(events[name]):
                            part = events[name][sent[name]:sent[name] + 7]
                            if instance[name].post(part, connection=connection)[0] != 200:
                                return False
                            sent[name] += len(part)
                    return True
                self.assertEqual(list(pool.map(client, "ab")), [True, True])
            killed = draw.choice("ab")
            instance[killed].kill()
            instance[killed] = self.serve()
        self.assertEqual(self.sql("select name, events from sequence order by name"), [(name, str(sent[name])) for name in "ab"])
        alone = self.server(model="context.safetensors")
        for name in "ab":
            self.post(alone, events[name][:sent[name]])
            for i in instance.values():
                self.assertEqual(self.forecast(i, name), self.forecast(alone, name))

    def test_full_disk(self):
        server = self.serve()
        self.post(server, self.events("a", 10))
        self.sql("create function full_disk() returns trigger language plpgsql as $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$")
        self.sql("create trigger t before insert on smurf_event execute function full_disk()")
        self.error(server.post(self.events("b", 10)), 507, None, "full.*make room")
        self.assertEqual(server.get("/v1/sequences")[1]["total"], 1)
        self.sql("drop trigger t on smurf_event")
        self.post(server, self.events("b", 10))
        self.assertEqual(self.sql("select count(*), max(number) from event"), [("20", "20")])

    def at_commit(self, what):
        self.sql("create function f() returns trigger language plpgsql as $$ begin %s; return null; end $$" % what)
        self.sql("create constraint trigger t after insert on smurf_event deferrable initially deferred for each row execute function f()")

    def test_a_connection_that_is_lost_during_the_commit(self):
        server = self.serve()
        events = self.events("a", 30)
        self.post(server, events[:10])
        self.at_commit("perform pg_terminate_backend(pg_backend_pid())")
        self.error(server.post(events[10:20]), 503, None, "cannot be written: .*none of the events is stored")  # the server says so
        self.sql("drop function f cascade")
        self.assertEqual(server.post(events[:20]), (200, {"accepted": 10, "duplicates": 10}))
        self.at_commit("execute 'copy (select 1) to program ''kill -QUIT $(head -1 postmaster.pid)'''; perform pg_sleep(9)")
        self.error(server.post(events[20:]), 503, None, "the events are stored or not.*with the same ids")  # nobody can say
        self.database.start()
        self.sql("drop function f cascade")
        self.assertEqual(server.post(events), (200, {"accepted": 10, "duplicates": 20}))
        alone = self.server(model="context.safetensors")
        self.post(alone, events)
        self.assertEqual(self.forecast(server, "a"), self.forecast(alone, "a"))

    def test_a_connection_that_is_cut(self):
        server = self.serve()
        self.post(server, self.events("a", 10))
        self.database.sql("\\c %s\nselect pg_terminate_backend(pid) from pg_stat_activity where application_name = 'smurf' and datname = '%s';" % (self.name, self.name))
        self.post(server, self.events("a", 20)[10:])
        self.assertEqual(self.database.sql("\\c %s\nselect count(*) from smurf_event;" % self.name), "20\n")

    def test_refusals(self):
        server = self.serve()
        with open("/proc/%d/cmdline" % server.process.pid, "rb") as file:
            self.assertNotIn(b"gehe1m", file.read())
        self.assertEqual(server.stop(), 0)
        said = server.err
        model = self.at("context.safetensors")
        self.assertIn("stored in postgresql://smurf@", said)
        said += self.refuse("serve", self.at("numbers.safetensors"), "--store", self.store, "-q", says="are dates, but those of the model are numbers")
        said += self.refuse("serve", model, "--store", self.database.address(password="wr0ng"), "-q", says="cannot be opened.*password authentication failed")
        said += self.refuse("serve", model, "--store", self.database.address(password=None), "-q", says="PGPASSWORD")
        said += self.refuse("serve", model, "--store", "postgresql://u:geh@e1m@h/db", "-q", says="ambiguous: .*write @ as %40")
        for secret in "gehe1m", "wr0ng", "geh@":
            self.assertNotIn(secret, said)
        server = self.serve()
        self.sql("delete from smurf_store")
        self.error(server.post(self.events("a", 1)), 503, None, "smurf_store is empty")
        self.assertEqual(server.get("/v1/sequences")[1]["total"], 0)
        self.assertEqual(server.stop(), 0)
        self.refuse("serve", model, "--store", self.store, "-q", says="a store of another version")
        self.sql("insert into smurf_store values(1, 7, 'dates', 0, 0)")
        self.refuse("serve", model, "--store", self.store, "-q", says="a store of another version")
        self.write("lib/libpq.so.5", "")
        self.refuse("serve", model, "--store", self.store, "-q", env={"LD_LIBRARY_PATH": self.path("lib")}, says=r"needs libpq: install it \(Debian: libpq5\)")
        self.database.sql("create database latin encoding 'LATIN1' template template0")
        self.refuse("serve", model, "--store", self.database.address(database="latin"), "-q", says="encoding UTF8")


del StoreCase


if __name__ == "__main__":
    unittest.main()
