"""smurf serve: the stream, what comes next, curves, how well forecasts have held, and who may ask."""
import contextlib
import datetime
import json
import socket
import time
import unittest

import common
import models
import test_watch
from models import ModelCase
from test_serve import HAS_SERVE, Server, events_of


class Listener:
    """A client of /v1/stream."""

    def __init__(self, server, headers=None):
        self.connection = server.connect()
        self.connection.request("GET", "/v1/stream", headers=headers or {})
        self.answer = self.connection.getresponse()

    def lines(self):
        """The next message or comment; nothing at the end."""
        found = []
        while line := self.answer.readline().decode():
            if line == "\n":
                return found
            found.append(line.rstrip("\n"))
        return []

    def message(self):
        """(kind, data) of the next message; None at the end."""
        while found := self.lines():
            fields = dict(line.split(": ", 1) for line in found if ": " in line)
            if "event" in fields:
                return fields["event"], json.loads(fields["data"])
        return None

    def messages(self, kind, count):
        found = []
        while len(found) < count:
            which, data = self.message()
            if which == kind:
                found.append(data)
        return found

    def close(self):
        self.connection.close()
        self.answer.close()


def ago(**span):
    return (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(**span)).strftime("%Y-%m-%dT%H:%M:%SZ")


@unittest.skipUnless(HAS_SERVE, "this build has no service (libmicrohttpd is missing)")
class Live(ModelCase):
    @classmethod
    def make(cls):
        cls.put("log.csv", models.calendar(30, events=20))
        cls.train("log.csv", "dates.safetensors")
        cls.put("numbers.csv", models.table(20))
        cls.train("numbers.csv", "numbers.safetensors")
        silent = Server(cls.made, "dates.safetensors", "--threads", "1")  # for the heartbeat, which takes its time
        cls.addClassCleanup(silent.process.stdout.close)
        cls.addClassCleanup(silent.kill)
        cls.silent = Listener(silent)
        cls.addClassCleanup(cls.silent.close)

    def server(self, *args, model="dates.safetensors"):
        server = Server(self.folder, self.at(model), "--threads", "1", *args)

        def end():
            if server.process.poll() is None:
                server.kill()
            server.process.stdout.close()
        self.addCleanup(end)
        return server

    def listener(self, server, **more):
        made = Listener(server, **more)
        self.addCleanup(made.close)
        return made

    # ---- the stream ----

    def test_events_and_forecasts(self):
        server = self.server()
        both = self.listener(server), self.listener(server)
        for one in both:
            self.assertEqual((one.answer.status, one.answer.headers["Content-Type"]), (200, "text/event-stream; charset=utf-8"))
        names = ["a", "b\n\u00fc\"</script>", "a"]
        for k, name in enumerate(names):
            event = {"sequence": name, "time": "2024-02-01T00:00:%02dZ" % k, "type": "login"}
            server.post(event)
            for one in both:
                self.assertEqual(one.message(), ("event", {"number": k + 1, **event}))
                kind, told = one.message()
                self.assertEqual((kind, told["last_type"], told["overdue"], told["p"], told["forecast"]["sequence"]), ("forecast", "login", False, 1, name))
        path = "/v1/forecast/a?curve=40"
        self.assertEqual(told["forecast"], server.get(path)[1])
        self.assertEqual(told["forecast"]["events"], 2)

    def test_many_at_a_time(self):
        """Of many events the last ones are told, and each sequence is forecast once."""
        server = self.server()
        one = self.listener(server)
        server.post([{"sequence": "s%d" % (k % 3), "time": "2024-02-01T%02d:%02d:00Z" % (k // 60, k % 60), "type": "login"} for k in range(1000)])
        told = one.messages("event", 200)
        self.assertEqual([e["number"] for e in told], list(range(801, 1001)))
        self.assertEqual({f["forecast"]["sequence"]: f["forecast"]["events"] for f in one.messages("forecast", 3)}, {"s0": 334, "s1": 333, "s2": 333})

    def test_alarms(self):
        self.smurf("train", self.write("watched/train.csv", test_watch.log(20, 1)), "-o", "w.safetensors", "--epochs", "2", "-q", *models.SMALL)
        server = self.server("--alarms-per-day", "3", model=self.path("w.safetensors"))
        one = self.listener(server)
        events = events_of(test_watch.log(30, 3), "device")
        for k in range(0, len(events), 1000):
            server.post(events[k:k + 1000])
        while server.get("/v1/alarms")[1]["behind"]:
            time.sleep(0.01)
        alarms = server.get("/v1/alarms")[1]["alarms"]
        self.assertGreater(len(alarms), 20)
        self.assertEqual(one.messages("alarm", len(alarms)), alarms)

    def test_it_ends(self):
        server = self.server("--timeout", "1")
        many = [self.listener(server) for _ in range(20)]
        time.sleep(2.2)  # a silent stream is no silent client
        server.post({"sequence": "a", "time": "2024-02-01", "type": "login"})
        for one in many:
            self.assertEqual(one.message()[0], "event")
        started = time.monotonic()
        self.assertEqual(server.stop(), 0)
        self.assertLess(time.monotonic() - started, 20)  # at once on an idle machine
        for one in many:
            while one.message():
                pass

    def test_the_heartbeat(self):
        self.assertEqual([self.silent.lines(), self.silent.lines()], [["retry: 2000", ":"], [":"]])  # the second after 15 s

    def test_head(self):
        server = self.server()
        status, headers, body = server.raw("HEAD", "/v1/stream", connection=server.connect())
        self.assertEqual((status, headers["Content-Type"].split(";")[0], body), (200, "text/event-stream", b""))
        self.assertEqual(server.stop(), 0)

    def test_number_of_listeners(self):
        server = self.server()
        many = [self.listener(server) for _ in range(100)]
        self.assertEqual({one.answer.status for one in many}, {200})
        late = self.listener(server)
        self.assertEqual(late.answer.status, 503)
        self.assertIn("100 listeners", json.loads(late.answer.read())["error"]["message"])
        for one in many:
            one.close()
        for k in range(1000):  # found to be gone when there is something to tell
            server.post({"sequence": "a", "time": "2024-02-01T00:%02d:%02dZ" % (k // 60, k % 60), "type": "login"})
            with contextlib.closing(Listener(server)) as again:
                if again.answer.status == 200:
                    return
        self.fail("no listener was admitted after others had gone")

    def test_slow_listeners_are_dropped(self):
        server = self.server()
        quick = self.listener(server)
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(("127.0.0.1", server.port))
            slow.sendall(b"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertIn(b"200 OK", slow.recv(1000))
            batches, size = 80, 200  # some 10 MB
            for k in range(batches):  # more than the system keeps for the connection
                server.post([{"sequence": "%0500d" % j, "time": "2024-02-01T00:%02d:%02dZ" % (k // 60, k % 60), "type": "login"} for j in range(size)])
                while quick.messages("event", 1)[0]["number"] < (k + 1) * size:
                    pass
            slow.settimeout(common.TIMEOUT)
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)  # through a small window the rest may take minutes
            got = b""
            with contextlib.suppress(ConnectionResetError):
                while part := slow.recv(1 << 16):
                    got += part
        self.assertNotIn(b"\r\n0\r\n\r\n", got[-10:])
        self.assertLess(got.count(b"event: event"), batches * size)
        self.assertEqual(server.get("/healthz", connection=server.connect())[0], 200)

    # ---- what comes next ----

    def test_next(self):
        server = self.server()
        events = []
        for k in range(12):
            for hours in (200, 199.5, 199, 0.2 * k):
                events.append({"sequence": "s%02d" % k, "time": ago(hours=hours), "type": "login"})
        events += [{"sequence": "late%d" % k, "time": ago(days=30 + k, hours=hours), "type": "logout"} for k in range(3) for hours in (3, 2, 1)]
        events += [{"sequence": "future", "time": ago(days=-3, hours=hours), "type": "login"} for hours in (2, 1)]
        self.assertEqual(server.post(events)[0], 200)
        status, answer = server.get("/v1/next?limit=100&curve=20")
        self.assertEqual((status, answer["sequences"], len(answer["next"])), (200, 16, 16))
        overdue = server.get("/v1/overdue?now=" + answer["now"])[1]
        self.assertEqual([a["forecast"]["sequence"] for a in answer["next"] if a["overdue"]], [o["sequence"] for o in overdue["overdue"]])
        self.assertEqual((answer["overdue"], overdue["total"]), (sum(a["overdue"] for a in answer["next"]),) * 2)
        self.assertGreaterEqual(answer["overdue"], 3)
        rest = [a for a in answer["next"] if not a["overdue"]]
        times = [a["forecast"]["median_time"] for a in rest]
        self.assertEqual(times, sorted(times))
        self.assertEqual([a["forecast"]["sequence"] for a in rest][-1], "future")
        self.assertEqual((rest[-1]["p"], rest[-1]["silence"]), (1, 0))
        for a in answer["next"]:
            forecast = a["forecast"]
            now = "" if forecast["sequence"] == "future" else "&now=" + answer["now"]
            self.assertEqual(forecast, server.get("/v1/forecast/%s?curve=20%s" % (forecast["sequence"], now))[1])
            self.assertEqual(a["last_type"], "logout" if forecast["sequence"].startswith("late") else "login")
        self.assertEqual([a["forecast"]["sequence"] for a in server.get("/v1/next?limit=3&now=" + answer["now"])[1]["next"]],
                         [a["forecast"]["sequence"] for a in answer["next"][:3]])
        self.assertEqual(server.get("/v1/next?limit=1001")[0], 400)
        self.assertEqual(server.get("/v1/next?now=soon")[0], 400)

    def test_next_of_numbers(self):
        server = self.server(model="numbers.safetensors")
        self.assertEqual(server.get("/v1/next"), (200, {"sequences": 0, "overdue": 0, "now": 0, "next": []}))
        server.post([{"sequence": name, "time": t, "type": "a"} for name, t in (("a", 1), ("b", 2), ("b", 2.5))])
        answer = server.get("/v1/next")[1]
        self.assertEqual((answer["now"], {a["forecast"]["from"] for a in answer["next"]}), (2.5, {2.5}))
        self.assertEqual({a["forecast"]["sequence"]: a["silence"] for a in answer["next"]}, {"a": 1.5, "b": 0})

    def test_curves(self):
        server = self.server()
        server.post([{"sequence": "a", "time": "2024-02-01T00:00:%02dZ" % k, "type": "login"} for k in range(3)])
        for query in "", "&now=2024-02-01T00:30:00Z":
            few = server.get("/v1/forecast/a?curve=4&levels=0.5" + query)[1]
            [half] = few["intervals"]
            self.assertEqual(few["curve"], [half["low"], few["median"], half["high"]])
            many = server.get("/v1/forecast/a?curve=40" + query)[1]
            self.assertEqual(len(many["curve"]), 39)
            gaps = [float("inf") if gap is None else gap for gap in many["curve"]]  # never
            self.assertEqual(gaps, sorted(gaps))
            self.assertEqual([x["level"] for x in many["intervals"]], [0.5, 0.9])
            for interval, low, high in zip(many["intervals"], (10, 2), (30, 38)):
                for gap, end in (gaps[low - 1], interval["low"]), (gaps[high - 1], interval["high"]):
                    self.assertTrue(gap == float("inf") and end is None or abs(gap / end - 1) < 1e-6, (gap, end))
            self.assertEqual({k: v for k, v in many.items() if k != "curve"}, server.get("/v1/forecast/a?levels=0.5,0.9" + query)[1])
        self.assertEqual(len(server.get("/v1/forecast/a?curve=200&levels=" + ",".join(["0.5"] * 20))[1]["curve"]), 199)
        for curve in "3", "5", "0", "2", "202", "x", "":
            status, answer = server.get("/v1/forecast/a?curve=" + curve)
            self.assertEqual((status, answer["error"]["field"]), (400, "curve"), curve)

    def test_what_a_file_holds(self):
        server = self.server()
        status, answer = server.post(models.calendar(5, 9, 2) + "u9,2024-02-01T00:00:00Z,odd\n", "/v1/forecast?curve=10")
        self.assertEqual((status, len(answer["forecasts"]), len(answer["forecasts"][0]["curve"])), (200, 6, 9))
        data = answer["data"]
        self.assertEqual((data["sequences"], data["events"], sum(t["events"] for t in data["types"])), (6, 46, 46))
        self.assertEqual([t["type"] for t in data["types"]], ["login", "logout", "other"])
        self.assertIn("user", data["read"])

    def test_the_past(self):
        server = self.server()
        events = [{"time": "2024-02-01T00:00:%02dZ" % k, "type": ("login", "logout")[k % 2]} for k in range(30)]
        server.post([{"sequence": "a/b", **e} for e in events])
        for limit, some in ("", events), ("?limit=7", events[-7:]), ("?limit=0", []):
            self.assertEqual(server.get("/v1/events/a%2Fb" + limit), (200, {"sequence": "a/b", "total": 30, "events": some}))
        self.assertEqual(server.get("/v1/events/none")[0], 404)
        self.assertEqual(server.get("/v1/events/a%2Fb?limit=2000")[0], 400)

    # ---- how well forecasts have held ----

    def test_held(self):
        server = self.server("--alarms-per-day", "1")
        nothing = server.get("/v1/held")[1]
        self.assertEqual((nothing["gaps"], nothing["hours"], nothing["pit"], nothing["hour"]), (0, [], [0] * 20, 3600))
        table = models.calendar(20, 9, 5)
        rows = sorted(events_of(table), key=lambda e: e["time"])
        server.post(rows)
        while server.get("/v1/alarms")[1]["behind"]:
            time.sleep(0.01)
        held = server.get("/v1/held?hours=168")[1]
        scored = self.jsonl("score", self.at("dates.safetensors"), self.write("t.csv", table), "--threads", "1", "-q")
        self.assertEqual((held["gaps"], sum(held["pit"]), len(scored)), (160, 160, 160))
        expected = [0] * 20
        for row in scored:
            expected[min(int(20 * row["pit"]), 19)] += 1
        self.assertLessEqual(sum(abs(a - b) for a, b in zip(held["pit"], expected)), 16)  # score draws within ticks by another seed
        self.assertEqual([(x["level"], round(x["share"] * 160)) for x in held["levels"]], [(0.5, sum(held["pit"][5:15])), (0.9, sum(held["pit"][1:19]))])
        by_hour = {}
        seen = set()
        for e in rows:
            if e["sequence"] in seen:
                by_hour[e["time"][:13]] = by_hour.get(e["time"][:13], 0) + 1
            seen.add(e["sequence"])
        self.assertEqual({h["from"][:13]: h["gaps"] for h in held["hours"]}, by_hour)
        last = server.get("/v1/held?hours=2")[1]
        self.assertEqual(last["gaps"], sum(n for hour, n in by_hour.items() if hour >= last["from"][:13]))
        self.assertEqual(last["to"][:13] > max(by_hour), True)
        for query, says in ("0", "1 to 168"), ("169", "0 to 168"):
            status, answer = server.get("/v1/held?hours=" + query)
            self.assertEqual((status, answer["error"]["field"]), (400, "hours"))
            self.assertIn(says, answer["error"]["do"])
        self.assertIs(server.get("/v1/model")[1]["alarms"], True)
        server = self.server()
        self.assertIs(server.get("/v1/model")[1]["alarms"], False)
        status, answer = server.get("/v1/held")
        self.assertEqual(status, 404)
        self.assertIn("--alarms-per-day", answer["error"]["do"])

    # ---- who may ask ----

    def test_origins(self):
        server = self.server()
        event = {"sequence": "a", "time": "2024-02-01", "type": "login"}
        own = "localhost:%d" % server.port
        for origin in "http://" + own, "HTTP://LOCALHOST:%d" % server.port, "https://" + own:
            self.assertEqual(server.post(event, headers={"Origin": origin, "Host": own})[0], 200)
        for origin in "null", own, "http://localhost", "http://localhost:1", "http://127.0.0.1:%d" % server.port, "http://%s.example.org" % own, "http://%s/" % own, \
                "ftp://" + own, "http://", "http://example.org", "file://" + own, "http:// " + own, "":
            status, answer = server.post(event, headers={"Origin": origin, "Host": own}, connection=server.connect())
            self.assertEqual((status, answer["error"]["field"]), (403, "Origin"), origin)
        evil = "example.org:%d" % server.port  # another name of this machine
        self.assertEqual(server.post(event, headers={"Origin": "http://" + evil, "Host": evil}, connection=server.connect())[0], 403)

    def test_the_page_needs_no_token(self):
        token = "4b1c0ffee-token-of-32-characters"
        server = self.server("--token-file", self.write("token", token))
        for path, kind in ("/", "text/html"), ("/page/page.css", "text/css"), ("/page/page.js", "text/javascript"), ("/page/icon.svg", "image/svg+xml"):
            status, headers, body = server.raw("GET", path)
            self.assertEqual((status, headers["Content-Type"].split(";")[0]), (200, kind))
            self.assertIn("default-src 'none'; script-src 'self'", headers["Content-Security-Policy"])
            self.assertNotIn("unsafe", headers["Content-Security-Policy"])
            self.assertTrue(body)
            if path != "/":
                with open(common.ROOT + "/cli" + path, "rb") as file:
                    self.assertEqual(file.read(), body)
        for path in "/page/none", "/page/", "/page/../http.h", "/page/index.html/":
            self.assertEqual(server.raw("GET", path)[0] in (401, 404), True, path)
        self.assertEqual(server.raw("POST", "/", "x", {"Authorization": "Bearer " + token})[0], 405)
        self.assertEqual(self.listener(server).answer.status, 401)
        self.assertEqual(self.listener(server, headers={"Authorization": "Bearer " + token}).answer.status, 200)


if __name__ == "__main__":
    unittest.main()
