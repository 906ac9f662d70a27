"""smurf serve: events over HTTP, forecasts, what is durable, what is refused."""
import concurrent.futures
import contextlib
import csv
import http.client
import io
import json
import os
import random
import re
import resource
import shlex
import signal
import socket
import sqlite3
import subprocess
import threading
import time
import unittest
import urllib.parse

import common
import models
import test_watch
from models import ModelCase

HAS_SERVE = " serve" in subprocess.run([common.SMURF, "--version"], capture_output=True, env=common.environment()).stdout.decode()


class Server:
    """A service on a port of this machine, by default a free one."""

    def __init__(self, folder, *args, limit=None, port=0, env=None):
        def set_limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        self.process = subprocess.Popen([common.SMURF, "serve", *args, "--listen", "127.0.0.1:%d" % port], cwd=folder, env=common.environment(**(env or {})),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=set_limit if limit else None)
        line = self.process.stdout.readline().decode()  # ends with the process
        self.context = None  # for HTTPS
        if not re.match("listening on https?://127.0.0.1:", line):
            self.process.kill()
            raise AssertionError((line, self.process.communicate()[1]))
        self.port = int(line.rsplit(":", 1)[1])
        self.connection = None

    def connect(self):
        if self.context:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=common.TIMEOUT, context=self.context)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=common.TIMEOUT)

    def raw(self, method, path, body=None, headers=None, connection=None):
        """(status, headers, body) of one request, by default on the connection that is kept."""
        kept = connection or self.connection or self.connect()
        if not connection:
            self.connection = kept
        kept.request(method, path, body if body is None or isinstance(body, bytes) else body.encode(), headers or {})
        answer = kept.getresponse()
        return answer.status, answer.headers, answer.read()

    def get(self, path, **more):
        status, _, body = self.raw("GET", path, **more)
        return status, json.loads(body)

    def post(self, events, path="/v1/events", **more):
        status, _, body = self.raw("POST", path, events if isinstance(events, (str, bytes)) else json.dumps(events), **more)
        return status, json.loads(body)

    def kill(self):
        self.process.kill()
        self.end()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.end()

    def end(self):
        if self.connection:
            self.connection.close()
            self.connection = None
        self.err = self.process.communicate(timeout=common.TIMEOUT)[1].decode()
        return self.process.returncode


def events_of(table, sequence="user"):
    return [{"sequence": row[sequence], "time": row["time"], "type": row["type"]} for row in csv.DictReader(io.StringIO(table))]


def in_the_future(table):
    """Where time, as it passes during a test, raises no alarms."""
    return table.replace("%d-" % test_watch.START.year, "2090-")


@unittest.skipUnless(HAS_SERVE, "this build has no service (libmicrohttpd is missing)")
class ServeCase(ModelCase):
    @classmethod
    def make(cls):
        cls.put("log.csv", models.calendar(30, events=20))
        cls.train("log.csv", "dates.safetensors")
        cls.put("numbers.csv", models.table(20))
        cls.train("numbers.csv", "numbers.safetensors")

    def server(self, *args, model="dates.safetensors", **more):
        server = Server(self.folder, self.at(model), "--threads", "1", *args, **more)

        def end():
            if server.process.poll() is None:
                server.kill()
            server.process.stdout.close()
        self.addCleanup(end)
        return server

    def forecast(self, server, name, query=""):
        status, headers, body = server.raw("GET", "/v1/forecast/" + urllib.parse.quote(name, safe="") + query)
        self.assertEqual(status, 200, body)
        return body

    def error(self, answer, status, field, says):
        self.assertEqual(answer[0], status, answer)
        self.assertEqual(list(answer[1]), ["error"])
        self.assertEqual(set(answer[1]["error"]), {"message", "field", "do"})
        self.assertEqual(answer[1]["error"]["field"], field, answer)
        self.assertRegex(answer[1]["error"]["message"] + "; " + str(answer[1]["error"]["do"]), says)


class Serve(ServeCase):
    # ---- answers ----

    def test_forecasts_are_those_of_predict(self):
        for model, table in ("dates.safetensors", models.calendar(5, 9, 2)), ("numbers.safetensors", models.table(5, 9, seed=2)), \
                ("numbers.safetensors", models.table(3, 9, seed=3, first=1.7e9)):
            server = self.server(model=model)
            events = events_of(table)
            if model.startswith("numbers"):
                for e in events:
                    e["time"] = float(e["time"])
            half = len(events) // 2
            self.assertEqual(server.post(events[:half]), (200, {"accepted": half, "duplicates": 0}))
            self.forecast(server, events[0]["sequence"])  # goes on from what was asked before
            rest = "\n".join(map(json.dumps, events[half:]))
            self.assertEqual(server.post(rest), (200, {"accepted": len(events) - half, "duplicates": 0}))
            for query, options in ("", []), ("?levels=0.8&within=1,2.5&top=1", ["--interval", "0.8", "--within", "1,2.5", "--top", "1"]):
                said = self.smurf("predict", self.at(model), "-", "--format", "jsonl", "--threads", "1", *options, input=table).lines
                self.assertEqual(len(said), len({e["sequence"] for e in events}))
                for line in said:
                    self.assertEqual(self.forecast(server, json.loads(line)["sequence"], query).decode(), line + "\n")
            # The whole history in the request: nothing is stored.
            whole = self.jsonl("predict", self.at(model), self.write("whole.csv", table), "--threads", "1")
            for body in table, json.dumps(events):
                status, answer = server.post(body, "/v1/forecast")
                self.assertEqual((status, answer["forecasts"]), (200, whole))
            self.assertEqual(server.get("/v1/sequences")[1]["total"], len(whole))
            self.assertEqual(server.stop(), 0)

    def test_now(self):
        server = self.server()
        server.post([{"sequence": "a", "time": "2024-02-01T00:00:00Z", "type": "login"}, {"sequence": "a", "time": "2024-02-01T01:00:00+01:00", "type": "logout"}])
        table = "user,time,type\na,2024-02-01T00:00:00Z,login\na,2024-02-01T00:00:00Z,logout\n"
        said = self.smurf("predict", self.at("dates.safetensors"), "-", "--now", "2024-02-01T03:00Z", "--format", "jsonl", input=table).out
        self.assertEqual(self.forecast(server, "a", "?now=2024-02-01T03:00Z").decode(), said)
        self.assertEqual(json.loads(self.forecast(server, "a", "?now=now"))["events"], 2)
        for now, says in ("2024-01-01", "before"), ("5", "give a date"), ("soon", "2024-01-31"), ("", "now is ''|neither"):
            self.error(server.get("/v1/forecast/a?now=" + now), 400, "now", says)

    def test_one_event_and_names(self):
        server = self.server()
        names = ["a/b c", "\u00fc\"<b>&amp;</b>", "%2F", "x" * 500, "..", "'; DROP TABLE event; --", "17"]
        for name in names:
            sent = 17 if name == "17" else name
            self.assertEqual(server.post({"sequence": sent, "time": "2024-02-01", "type": "login"})[0], 200)
            self.assertEqual(json.loads(self.forecast(server, name))["sequence"], name)
        self.assertEqual(sorted(names, key=lambda n: n.encode()), [s["sequence"] for s in server.get("/v1/sequences")[1]["sequences"]])
        self.error(server.get("/v1/forecast/17%00"), 404, "sequence", "no sequence '17")
        self.error(server.get("/v1/forecast/18"), 404, "sequence", "post its events")

    def test_sequences(self):
        server = self.server()
        events = [{"sequence": "%s%02d" % (letter, k), "time": "2024-02-01T00:00:%02dZ" % k, "type": "login"} for letter in "ab" for k in range(30)]
        server.post(events)
        pages, after = [], ""
        while after is not None:
            status, answer = server.get("/v1/sequences?limit=25&after=" + after)
            self.assertEqual((status, answer["total"]), (200, 60))
            pages.append(answer["sequences"])
            after = answer["next"]
        self.assertEqual([len(page) for page in pages], [25, 25, 10])
        self.assertEqual(sum(pages, []), [{"sequence": e["sequence"], "events": 1, "last": e["time"]} for e in events])
        self.assertEqual([s["sequence"] for s in server.get("/v1/sequences?prefix=b0")[1]["sequences"]], ["b%02d" % k for k in range(10)])
        self.error(server.get("/v1/sequences?limit=5000"), 400, "limit", "from 0 to 1000")
        self.error(server.get("/v1/sequences?limit=-1"), 400, "limit", "whole number")

    def test_overdue(self):
        for model, table, now in ("dates.safetensors", models.calendar(8, 9, 4), "2024-03-01"), ("numbers.safetensors", models.table(8, 9, seed=4), None):
            server = self.server(model=model)
            events = events_of(table)
            for e in events:
                e["time"] = e["time"] if now else float(e["time"])
            server.post(events)
            said = self.jsonl("overdue", self.at(model), self.write("t.csv", table), *(["--now", now] if now else []))
            status, answer = server.get("/v1/overdue" + ("?now=" + now if now else ""))
            self.assertEqual((status, answer["sequences"], answer["total"]), (200, 8, len(said)))
            self.assertTrue(said)
            for mine, theirs in zip(answer["overdue"], sorted(said, key=lambda row: row["p"])):
                self.assertEqual(list(mine), list(theirs))
                for key in mine:
                    if isinstance(mine[key], float):
                        self.assertAlmostEqual(mine[key] / theirs[key], 1, 5)
                    elif not key.endswith("_at"):
                        self.assertEqual(mine[key], theirs[key])
            self.assertEqual(len(server.get("/v1/overdue?top=1" + ("&now=" + now if now else ""))[1]["overdue"]), 1)
            self.error(server.get("/v1/overdue?level=1"), 400, "level", "between 0 and 1")
        self.assertEqual(server.stop(), 0)

    def test_alarms_are_those_of_watch(self):
        self.smurf("train", self.write("watched/train.csv", test_watch.log(20, 1)), "-o", "w.safetensors", "--epochs", "2", "-q", *models.SMALL)
        table = in_the_future(test_watch.log(30, 3))
        watched = self.jsonl("watch", "w.safetensors", self.write("w.csv", table), "--alarms-per-day", "3", "-q")
        self.assertGreater(len(watched), 20)
        server = self.server("--alarms-per-day", "3", "--store", "w.db", model=self.path("w.safetensors"))
        events = events_of(table, "device")
        for k in range(0, len(events), 1000):
            server.post(events[k:k + 1000])

        def alarms():
            while server.get("/v1/alarms")[1]["behind"]:
                time.sleep(0.01)
            return server.get("/v1/alarms")[1]
        found = alarms()
        self.assertEqual([{k: v for k, v in a.items() if k != "number"} for a in found["alarms"]], watched)
        self.assertEqual([a["number"] for a in found["alarms"]], list(range(1, len(watched) + 1)))
        self.assertEqual(server.get("/v1/alarms?after=%d" % found["next"])[1]["alarms"], [])
        self.assertEqual([a["number"] for a in server.get("/v1/alarms?after=5&limit=2")[1]["alarms"]], [6, 7])
        server.kill()  # they are found anew from what is stored
        server = self.server("--alarms-per-day", "3", "--store", "w.db", model=self.path("w.safetensors"))
        self.assertEqual(alarms(), found)
        self.error(self.server().get("/v1/alarms"), 404, None, "--alarms-per-day")

    def test_about(self):
        server = self.server()
        status, model = server.get("/v1/model")
        self.assertEqual((status, model["api"], model["times"], model["types"]), (200, 1, "dates", ["login", "logout"]))
        self.assertEqual(model["settings"]["width"], "8")
        self.assertEqual(server.get("/healthz"), (200, {"status": "ok", "durable": False}))
        described = server.get("/v1/openapi.json")[1]
        self.assertEqual(described["openapi"], "3.0.3")
        names = set(described["components"]["schemas"]) | set(described["components"]["responses"])
        self.assertEqual(names, {"event", "error"})
        for path in set(described["paths"]) - {"/v1/stream"}:  # nothing is described that is not there; the stream does not end
            method = list(described["paths"][path])[0].upper()
            answer = server.raw(method, path.replace("{sequence}", "none"), "" if method == "POST" else None)
            self.assertIn(answer[0], (200, 404, 400), path)
            self.assertNotIn(b"there is nothing at", answer[2])
        server.post({"sequence": "a", "time": "2024-02-01", "type": "login"})
        status, headers, text = server.raw("GET", "/metrics")
        self.assertTrue(headers["Content-Type"].startswith("text/plain"))
        figures = dict(line.rsplit(" ", 1) for line in text.decode().splitlines() if not line.startswith("#"))
        self.assertEqual((figures["smurf_events_accepted_total"], figures["smurf_sequences"]), ("1", "1"))
        self.assertGreater(int(figures['smurf_answers_total{status="2xx"}']), 3)
        self.assertEqual(server.raw("HEAD", "/healthz")[::2], (200, b""))
        for name, value in (("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"), ("X-Content-Type-Options", "nosniff")):
            self.assertEqual(headers[name], value)
        self.assertNotIn("Access-Control-Allow-Origin", headers)
        self.assertEqual(server.stop(), 0)
        self.assertIn("memory only", server.err)

    def test_the_document(self):
        """The four commands of doc/service.md, with a small model, and a service on a free port."""
        with open(os.path.join(common.ROOT, "doc", "service.md")) as file:
            train, serve, post, get = [shlex.split(line) for line in file if re.match("    (smurf|curl) ", line)][:4]
        self.assertEqual((train[0], serve[-1], post[2], len(get)), ("smurf", "&", "--data-binary", 2))
        os.symlink(os.path.join(common.ROOT, "examples"), self.path("examples"))
        self.smurf(*train[1:], "--epochs", "1", "-q", *models.SMALL)
        server = Server(self.folder, *serve[2:-1])
        self.addCleanup(server.process.stdout.close)
        with open(self.path(post[3].removeprefix("@"))) as file:
            status, stored = server.post(file.read(), post[1].removeprefix("localhost:8420"))
        self.assertEqual((status, stored), (200, {"accepted": 1561, "duplicates": 0}))
        status, forecast = server.get(get[1].removeprefix("localhost:8420"))
        self.assertEqual((status, forecast["sequence"], [w["horizon"] for w in forecast["within"]]), (200, "T018", [3600, 86400]))
        self.assertEqual(server.stop(), 0)

    def test_tables(self):
        """A table is stored as its events would be, one by one in the order of time, and forecasts are those of predict."""
        for model, table in ("dates", models.calendar(6, 9, 2)), ("numbers", models.table(6)):
            header, *rows = table.splitlines()
            random.Random(1).shuffle(rows)
            server = self.server("--store", model + ".db", model=model + ".safetensors")
            self.assertEqual(server.post("\n".join([header, *rows]) + "\n"), (200, {"accepted": len(rows), "duplicates": 0}))
            said = self.smurf("predict", self.at(model + ".safetensors"), "-", "--format", "jsonl", "--threads", "1", input=table).lines
            for line in said:
                self.assertEqual(self.forecast(server, json.loads(line)["sequence"]).decode(), line + "\n")
            with contextlib.closing(sqlite3.connect(self.path(model + ".db"))) as db:
                times = [whole + fraction for whole, fraction in db.execute("select whole, fraction from event order by number")]
            self.assertEqual(times, sorted(times))
            self.assertEqual(len(said), 6)
            self.error(server.post(header + "\n" + rows[0].rsplit(",", 1)[0] + ",odd\n"), 400, "type", "does not know the type .odd.")
            self.error(server.post(header + "\n"), 400, None, "send JSON")
            self.error(server.post(header + "\n" + "x" * 600 + rows[0][rows[0].index(","):] + "\n"), 400, "sequence", "too long")
            self.error(server.post(table), 409, "time", "before the last event")
        self.assertEqual(server.get("/v1/sequences")[1]["total"], 6)

    # ---- refusals ----

    def test_bad_events(self):
        server = self.server("--store", "s.db")
        good = {"sequence": "a", "time": "2024-02-01T10:00:00Z", "type": "login", "id": "1"}
        self.assertEqual(server.post(good)[0], 200)
        for events, field, says in (
                ("{", None, "not JSON"), ("", None, "no event"), ("[]", None, "no event"), ("nothing", None, "not JSON"), (b"\xff\xfe{}", None, "not JSON"),
                ('{"sequence":"a","sequence":"b"}', None, "not JSON"), ("[" * 5000, None, "no object"), ("[1]", None, "no object"),
                ('{"sequence":"a\\u0000b","time":1}', None, "not JSON"),
                (dict(good, sequence=None), "sequence", "text or a number"), (dict(good, sequence=""), "sequence", "empty"),
                (dict(good, sequence="x" * 600), "sequence", "too long"), (dict(good, time=None), "time", "no time"), (dict(good, time=5), "time", "dates"),
                (dict(good, time="noon"), "time", "neither"), (dict(good, time="2024-13-01"), "time", "neither"), (dict(good, type="odd"), "type", "'odd'.*v1/model"),
                (dict(good, type=["login"]), "type", "text or a number"), (dict(good, id={}), "id", "text"), (dict(good, user="a"), "user", "leave it out")):
            self.error(server.post(events), 400, field, says)
        later = dict(good, time="2024-02-01T11:00:00Z", id="2")
        self.error(server.post([later, dict(later, type="odd")]), 400, "type", "event 2")
        self.error(server.post([later, dict(good, id="3")]), 409, "time", "event 2: 2024-02-01T10:00:00Z is before the last event of 'a', at 2024-02-01T11")
        self.error(server.post([later, dict(good, type="logout")]), 409, "id", "event 2.*another event")
        self.assertEqual(json.loads(self.forecast(server, "a"))["events"], 1)  # all or none
        self.assertEqual(server.post([good, later, later, good]), (200, {"accepted": 1, "duplicates": 3}))
        self.assertEqual(server.post([good, later]), (200, {"accepted": 0, "duplicates": 2}))
        self.assertEqual(json.loads(self.forecast(server, "a"))["events"], 2)
        numbers = self.server(model="numbers.safetensors")
        self.error(numbers.post({"sequence": "a", "time": "2024-02-01", "type": "a"}), 400, "time", "numbers")
        self.error(numbers.post('{"sequence": "a", "time": 1e400, "type": "a"}'), 400, None, "not JSON")
        self.error(numbers.post({"sequence": "a", "time": 1e300, "type": "a"}), 400, "time", "range")

    def test_bad_requests(self):
        server = self.server("--max-body", "1", "--sequences", "2")
        for method, path, status, says in (("GET", "/nothing", 404, "openapi"), ("GET", "/v1/forecast/", 404, "nothing"), ("GET", "/etc/passwd", 404, "nothing"),
                                           ("GET", "/v1/../../etc/passwd", 404, "nothing"), ("PUT", "/v1/events", 405, "use POST"), ("GET", "/v1/events", 405, "use POST"),
                                           ("POST", "/v1/model", 405, "use GET"), ("DELETE", "/v1/forecast/a", 405, "use GET"), ("OPTIONS", "/v1/events", 405, "POST"),
                                           ("GET", "/healthz?verbose=1", 400, "use none"), ("GET", "/v1/forecast/a?level=0.5", 400, "use only: levels"),
                                           ("GET", "/v1/forecast/a?levels=2", 400, "between 0 and 1"), ("GET", "/v1/forecast/a?levels=", 400, "between 0 and 1"),
                                           ("GET", "/v1/forecast/a?levels=" + ",".join(["0.5"] * 21), 400, "up to 20"), ("GET", "/v1/forecast/a?within=-x", 400, "durations"),
                                           ("GET", "/v1/forecast/a?top=51", 400, "from 0 to 50"), ("POST", "/v1/forecast", 400, "empty")):
            got = server.raw(method, path, "" if method == "POST" else None)
            self.assertEqual(got[0], status, (method, path, got))
            self.assertRegex(got[2].decode(), says)
            self.assertEqual(got[1]["Content-Type"], "application/json")
            self.assertEqual(got[1]["Allow"] is not None, status == 405)
        self.error(server.post(common.packed("user,time,type\n"), "/v1/forecast"), 400, None, "compressed")
        self.error(server.post("user,time,type\na,b\n", "/v1/forecast"), 400, None, "JSON Lines")
        for sequence, status in ("a", 200), ("b", 200), ("c", 507), ("a", 200):
            self.assertEqual(server.post({"sequence": sequence, "time": "2024-02-01", "type": "login"})[0], status)
        # A body that is too long: by what it says, and by what it is.
        self.error(server.post(b" " * (2 << 20)), 413, None, "1 MB")

        def parts():
            for _ in range(24):
                yield b" " * (1 << 16)
        self.error(self.chunked(server, parts()), 413, None, "1 MB")
        self.assertEqual(server.get("/healthz")[0], 200)

    def chunked(self, server, parts):
        connection = server.connect()
        connection.request("POST", "/v1/events", parts, {"Transfer-Encoding": "chunked"}, encode_chunked=True)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def test_tokens(self):
        token = "4b1c0ffee-token-of-32-characters"
        server = self.server("--token-file", self.write("token", token + "\n"), "--rate", "1000")
        event = {"sequence": "a", "time": "2024-02-01", "type": "login"}
        for header in None, "Bearer", "Bearer ", "Bearer " + token[:-1], "Bearer " + token + "x", "Bearer " + token[:-1] + "x", "Basic " + token:
            answer = server.post(event, headers={"Authorization": header} if header else {}, connection=server.connect())
            self.error(answer, 401, "Authorization", "Bearer TOKEN")
        self.assertEqual(server.raw("GET", "/nothing", connection=server.connect())[0], 401)
        self.assertEqual(server.get("/healthz")[0], 200)
        self.assertEqual(server.post(event, headers={"Authorization": "Bearer " + token, "Host": "example.org"})[0], 200)
        self.refuse("serve", self.at("dates.safetensors"), "--token-file", self.write("short", "abc"), "--listen", "127.0.0.1:0", "-q", says="16 to 4096")
        self.refuse("serve", self.at("dates.safetensors"), "--token-file", "none", "--listen", "127.0.0.1:0", "-q", says="none: No such file")

    def test_pages_of_other_sites(self):
        server = self.server()
        for headers, field in ({"Origin": "http://example.org"}, "Origin"), ({"Host": "example.org"}, "Host"), ({"Host": "localhost.example.org"}, "Host"):
            self.error(server.get("/v1/model", headers=headers, connection=server.connect()), 403, field, "another site")
        self.assertEqual(server.get("/v1/model", headers={"Host": "localhost:%d" % server.port})[0], 200)

    def test_too_often(self):
        server = self.server("--rate", "5")
        answers = [server.raw("GET", "/healthz") for _ in range(30)]
        self.assertEqual([a[0] for a in answers[:5]], [200] * 5)
        refused = [a for a in answers if a[0] == 429]
        self.assertTrue(refused)
        self.assertEqual(refused[0][1]["Retry-After"], "1")

    def test_silent_clients(self):
        server = self.server("--timeout", "1")
        with socket.create_connection(("127.0.0.1", server.port)) as s:
            s.sendall(b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
            s.settimeout(common.TIMEOUT)
            while s.recv(1000):
                pass
        with socket.create_connection(("127.0.0.1", server.port)) as s:  # never silent, but without end
            s.sendall(b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
            with self.assertRaises(OSError):
                for _ in range(999):
                    s.sendall(b" ")
                    time.sleep(0.2)
        self.assertEqual(server.get("/healthz", connection=server.connect())[0], 200)

    def test_usage(self):
        model = self.at("dates.safetensors")
        for args, says in ((["--listen", "0.0.0.0:0"], "--token-file"), (["--listen", "[::]:0"], "--token-file"), (["--listen", "localhost:1"], "--listen takes"),
                           (["--listen", "127.0.0.1"], "--listen takes"), (["--listen", "127.0.0.1:99999"], "--listen takes"), (["--max-body", "0"], "--max-body"),
                           (["--connections", "0"], "--connections"), (["--timeout", "0"], "--timeout"), (["--sequences", "0"], "--sequences"),
                           (["--store", ""], "--store"), (["--store", ":memory:"], "--store"), (["--no-auth", "--token-file", model], "mutually exclusive"), (["--day", "1h"], "--alarms-per-day"),
                           (["--alarms-per-day", "0"], "--alarms-per-day")):
            self.refuse("serve", model, "-q", *args, says=says, status=2)
        server = self.server()
        self.refuse("serve", model, "-q", "--listen", "127.0.0.1:%d" % server.port, says="cannot listen")
        self.refuse("serve", "none", "-q", says="none")

    # ---- what is stored ----

    def test_stores(self):
        self.assertEqual(self.server("--store", "s.db").stop(), 0)
        for model, store, says in (("numbers.safetensors", "s.db", "are dates.*are numbers"), ("dates.safetensors", "other.db", "no store"),
                                   ("dates.safetensors", "text.db", "not a database"), ("dates.safetensors", "none/s.db", "unable to open")):
            self.write("text.db", "no database " * 100)
            with contextlib.closing(sqlite3.connect(self.path("other.db"))) as db:
                db.execute("create table if not exists t(a)")
            done = self.run_smurf("serve", self.at(model), "--store", store, "-q", "--listen", "127.0.0.1:0")
            self.assertEqual((done.status, done.out, done.err.count("\n")), (1, "", 1), done.err)
            self.assertRegex(done.err, says)

    def test_two_services_share_a_store(self):
        servers = [self.server("--store", "s.db") for _ in range(2)]
        for k in range(20):
            event = {"sequence": "a", "time": "2024-02-01T00:00:%02dZ" % k, "type": "login", "id": k}
            self.assertEqual(servers[k % 2].post(event), (200, {"accepted": 1, "duplicates": 0}))
            self.assertEqual(servers[1 - k % 2].post(event), (200, {"accepted": 0, "duplicates": 1}))
            self.assertEqual(self.forecast(servers[0], "a"), self.forecast(servers[1], "a"))
        self.assertEqual(json.loads(self.forecast(servers[0], "a"))["events"], 20)

    def test_kills(self):
        """Two clients send batches, each to sequences of its own, and send again what was not acknowledged. Ids make that safe."""
        draw, kills, size, most = random.Random(1), 20, 7, 70  # events of a batch, of a sequence
        server = [self.server("--store", "s.db")]
        over = threading.Event()
        acknowledged = {"a": 0, "b": 0}

        def event(name, k):
            return {"sequence": "%s%04d" % (name, k // most), "time": "2024-02-01T00:%02d:%02dZ" % (k % most // 60, k % most % 60), "type": "login", "id": k}

        def client(name):
            sent, port, connection = 0, None, None
            while not over.is_set():
                if port != server[0].port:
                    if connection:
                        connection.close()
                    port, connection = server[0].port, server[0].connect()
                try:
                    status, answer = server[0].post([event(name, k) for k in range(sent, sent + size)], connection=connection)
                except (OSError, http.client.HTTPException):
                    port = None
                    time.sleep(0.005)
                    continue
                if status != 200 or answer["accepted"] + answer["duplicates"] != size:
                    return answer
                sent += size
                acknowledged[name] = sent
            connection.close()
            return sent

        def stored(name):
            page = server[0].get("/v1/sequences?limit=1000&prefix=" + name)[1]["sequences"]
            return sum(s["events"] for s in page), page[-1]["sequence"] if page else None
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            clients = [pool.submit(client, name) for name in "ab"]
            for _ in range(kills):
                time.sleep(draw.uniform(0, 0.1))
                server[0].kill()
                least = dict(acknowledged)
                server[0] = self.server("--store", "s.db")
                for name in "ab":
                    count, last = stored(name)
                    self.assertGreaterEqual(count, least[name])
                    if last:
                        self.forecast(server[0], last)
            over.set()
            sent = [c.result() for c in clients]
        self.assertGreater(min(sent), 3 * size)
        with contextlib.closing(sqlite3.connect(self.path("s.db"))) as db:
            self.assertEqual(db.execute("pragma integrity_check").fetchall(), [("ok",)])
            ids = {name: [int(row[0]) for row in db.execute("select id from event e join sequence s on s.number = e.sequence where name like ? order by name, n",
                                                            (name + "%",))] for name in "ab"}
        for name, count in zip("ab", sent):
            self.assertEqual(ids[name], list(range(len(ids[name]))))  # none lost, none twice, all in order
            self.assertIn(len(ids[name]) - count, (0, size))  # the last batch may be stored without the client knowing
        last = {name: stored(name)[1] for name in "ab"}
        before = {name: self.forecast(server[0], last[name], "?within=1h") for name in "ab"}
        server[0].kill()
        again = self.server("--store", "s.db")
        self.assertEqual({name: self.forecast(again, last[name], "?within=1h") for name in "ab"}, before)
        self.assertEqual(again.stop(), 0)

    def test_two_threads(self):
        server = self.server("--store", "s.db")

        def client(name):
            connection = server.connect()
            for k in range(100):
                if server.post({"sequence": name, "time": "2024-02-01T00:%02d:%02dZ" % (k // 60, k % 60), "type": "login"}, connection=connection)[0] != 200:
                    return k
                if json.loads(server.raw("GET", "/v1/forecast/" + name, connection=connection)[2])["events"] != k + 1:
                    return -k
            return 100
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.assertEqual(list(pool.map(client, "ab")), [100, 100])
        self.assertEqual(self.forecast(server, "a"), self.forecast(server, "b").replace(b'"b"', b'"a"'))
        self.assertEqual(server.stop(), 0)

    def test_full_disk(self):
        server = self.server("--store", "s.db", limit=200000)
        taken = 0
        for k in range(100):
            batch = [{"sequence": "s%d" % j, "time": "2024-02-01T%02d:%02d:00Z" % (k // 60, k % 60), "type": "login", "id": "i%d" % k} for j in range(50)]
            status, answer = server.post(batch)
            if status != 200:
                break
            taken += 50
        self.error((status, answer), 507, None, "full.*make room")
        self.assertTrue(taken)
        self.assertEqual(sum(s["events"] for s in server.get("/v1/sequences?limit=1000")[1]["sequences"]), taken)
        self.assertEqual(server.post(batch)[0], 507)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        self.assertEqual(server.post(batch), (200, {"accepted": 50, "duplicates": 0}))
        server.kill()
        again = self.server("--store", "s.db")
        self.assertEqual(sum(s["events"] for s in again.get("/v1/sequences?limit=1000")[1]["sequences"]), taken + 50)

    def test_drain(self):
        server = self.server("--store", "s.db")
        body = json.dumps({"sequence": "a", "time": "2024-02-01", "type": "login"}).encode()
        with socket.create_connection(("127.0.0.1", server.port)) as s:
            s.settimeout(common.TIMEOUT)
            s.sendall(b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
            self.assertIn(b"100", s.recv(1000))  # the request has begun
            started = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.1)
            s.sendall(body)
            answer = b""
            while part := s.recv(1000):
                answer += part
        self.assertIn(b" 200 OK", answer)
        self.assertIn(b'"accepted":1', answer)
        self.assertEqual(server.end(), 0)
        self.assertLess(time.monotonic() - started, 20)  # 5 s on an idle machine
        again = self.server("--store", "s.db")
        self.assertEqual(json.loads(self.forecast(again, "a"))["events"], 1)
        again.process.send_signal(signal.SIGINT)
        self.assertEqual(again.end(), 0)

    def test_drain_of_many(self):
        """Requests keep coming on 64 connections while the service ends; a server that is being stopped asks for an answer again."""
        for k in range(16):
            server = self.server()
            server.post(models.calendar(5, 9, 2))
            with contextlib.ExitStack() as stack:
                clients = [stack.enter_context(socket.create_connection(("127.0.0.1", server.port))) for _ in range(64)]
                for part in range(6):
                    if part == 3:
                        time.sleep(0.003 * (k % 4))
                        server.process.send_signal(signal.SIGTERM)
                    for n, client in enumerate(clients):
                        with contextlib.suppress(OSError):  # it is closed
                            client.sendall(b"GET /v1/forecast/u%d?curve=100&now=2024-01-31T23:%02d:%02dZ HTTP/1.1\r\nHost: localhost\r\n\r\n" % (n % 5, part, n % 60))
                self.assertEqual(server.end(), 0, server.err)


class Absent(common.Case):
    @unittest.skipIf(HAS_SERVE, "this build has the service")
    def test_says_so(self):
        self.smurf("simulate", "poisson", "rate=1", "-n", "12", "--events", "10", "-o", "plain/", "-q")
        self.smurf("train", "plain/", "-o", "m.safetensors", "--epochs", "1", "-q", *models.SMALL)
        self.refuse("serve", "m.safetensors", says="this build has no service: install libmicrohttpd-dev")


if __name__ == "__main__":
    unittest.main()
