"""smurf serve on a network: TLS, another model while requests run, further events, and every limit."""
import concurrent.futures
import datetime
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import unittest

import common
import models
import test_watch
from test_serve import ServeCase, events_of


def certificate(folder, name):
    """A certificate of this machine that signs itself, and its key."""
    made = [os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key")]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-out", made[0], "-keyout", made[1]], check=True, capture_output=True)
    return made


class Net(ServeCase):
    @classmethod
    def make(cls):
        super().make()
        cls.put("other.csv", models.calendar(30, events=20, seed=7))
        cls.train("other.csv", "other.safetensors", "--seed", "7")
        cls.put("types.csv", models.calendar(30, events=20).replace("login", "enter"))
        cls.train("types.csv", "types.safetensors")
        cls.put("more.csv", models.calendar(30, events=20) + "u9,2024-02-20T00:00:00Z,also\nu9,2024-02-21T00:00:00Z,also\n")
        cls.train("more.csv", "more.safetensors")

    def predict(self, model, table):
        lines = self.smurf("predict", self.at(model), "-", "--format", "jsonl", "--threads", "1", input=table).lines
        return {json.loads(line)["sequence"]: line + "\n" for line in lines}

    # ---- TLS ----

    @unittest.skipUnless(shutil.which("openssl"), "openssl is missing")
    def test_tls(self):
        cert, key = certificate(self.folder, "a")
        server = self.server("--tls-cert", cert, "--tls-key", key, "--store", "s.db")
        server.context = ssl.create_default_context(cafile=cert)
        event = {"sequence": "a", "time": "2024-02-01", "type": "login"}
        self.assertEqual(server.post([dict(event, id=k) for k in range(3000)]), (200, {"accepted": 3000, "duplicates": 0}))
        self.assertEqual(json.loads(self.forecast(server, "a"))["events"], 3000)
        self.assertEqual(server.connection.sock.version(), "TLSv1.3")
        old = ssl.create_default_context(cafile=cert)
        old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        with self.assertRaises(OSError), socket.create_connection(("127.0.0.1", server.port)) as s:
            old.wrap_socket(s, server_hostname="127.0.0.1")
        strangers = ssl.create_default_context()
        with self.assertRaises(ssl.SSLError), socket.create_connection(("127.0.0.1", server.port)) as s:
            strangers.wrap_socket(s, server_hostname="127.0.0.1")
        with socket.create_connection(("127.0.0.1", server.port)) as s:  # no TLS: no answer
            s.settimeout(common.TIMEOUT)
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertNotIn(b"HTTP/1.1 200", s.recv(1000))
        self.assertEqual(server.get("/healthz", connection=server.connect())[0], 200)
        self.assertEqual(server.stop(), 0)

    @unittest.skipUnless(shutil.which("openssl"), "openssl is missing")
    def test_bad_certificates(self):
        model, (cert, key), (_, other) = self.at("dates.safetensors"), certificate(self.folder, "a"), certificate(self.folder, "b")
        self.refuse("serve", model, "-q", "--tls-cert", cert, says="--tls-cert and --tls-key go together", status=2)
        self.refuse("serve", model, "-q", "--tls-key", key, says="--tls-cert and --tls-key go together", status=2)
        text = self.write("text", "no key")
        no_leaks = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}  # GnuTLS loses what it could not use
        for c, k, says in ((cert, "none", "none: No such file"), (cert, text, "no private key in PEM"), (key, key, "no certificate in PEM"),
                           (cert, cert, "no private key"), (cert, other, "is it the key of this certificate"),
                           (self.write("cut.pem", self.content("a.pem")[:300]), key, "HTTPS cannot be served")):
            self.refuse("serve", model, "-q", "--listen", "127.0.0.1:0", "--tls-cert", c, "--tls-key", k, env=no_leaks, says=says)

    @unittest.skipUnless(shutil.which("cc") and shutil.which("openssl"), "there is no compiler here")
    def test_a_library_without_tls(self):
        with open(os.path.join(common.ROOT, "cli", "loaded.h")) as file:
            names = re.findall(r"F\((\w+)\)", file.read().split("#define SQL_FUNCTIONS")[0].split("HTTP_FUNCTIONS(F)")[1])
        self.assertIn("is_feature_supported", names)
        self.write("fake.c", "".join("void *MHD_%s(void) { return 0; }\n" % name for name in names))
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "libmicrohttpd.so.12", "fake.c"], cwd=self.folder, check=True)
        cert, key = certificate(self.folder, "a")
        self.refuse("serve", self.at("dates.safetensors"), "-q", "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key,
                    env={"LD_LIBRARY_PATH": self.folder}, says="has no TLS.*proxy")

    # ---- another model ----

    def test_another_model_under_load(self):
        model = self.path("model.safetensors")
        shutil.copy(self.at("dates.safetensors"), model)
        server = self.server("--store", "s.db", model=model)
        table = models.calendar(5, 9, 2)
        server.post(events_of(table))
        said = {name: self.predict(name + ".safetensors", table) for name in ("dates", "other", "more")}
        self.assertNotEqual(said["dates"], said["other"])
        answers, over = set(), threading.Event()

        def client(k):
            connection, asked = server.connect(), 0
            while not over.is_set():
                status, _, body = server.raw("GET", "/v1/forecast/u%d" % (asked % 5), connection=connection)
                if status != 200:
                    return status, body
                answers.add(("u%d" % (asked % 5), body.decode()))
                event = {"sequence": "k%d" % k, "time": "2024-02-01T%02d:%02d:%02d" % (asked // 3600 % 24, asked // 60 % 60, asked % 60), "type": "login"}
                status, _, body = server.raw("POST", "/v1/events", json.dumps(event), connection=connection)
                if status != 200:
                    return status, body
                asked += 1
            return 200, asked

        def put(name):
            shutil.copy(self.at(name), model + "~")
            os.replace(model + "~", model)

        def is_used(name):
            return all(self.forecast(server, u).decode() == line for u, line in said[name].items())
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            clients = [pool.submit(client, k) for k in range(4)]
            try:
                self.assertTrue(is_used("dates"))
                put("other.safetensors")
                self.assertTrue(is_used("dates"))
                self.assertEqual(server.post("", "/v1/model/reload"), (200, {"reloaded": True}))
                self.assertTrue(is_used("other"))
                for name, says in (("numbers", "times are numbers.*are dates"), ("types", "does not know the type 'login'")):
                    put(name + ".safetensors")
                    self.error(server.post("", "/v1/model/reload"), 409, None, says)
                    self.assertTrue(is_used("other"))
                with open(model, "wb") as file:
                    file.write(b"damaged")
                self.error(server.post("", "/v1/model/reload"), 409, None, "model.safetensors")
                os.remove(model)
                self.error(server.post("", "/v1/model/reload"), 409, None, "no such file")
                for k in range(10):
                    put("dates.safetensors" if k % 2 else "other.safetensors")
                    self.assertEqual(server.post("", "/v1/model/reload")[0], 200)
                self.assertTrue(is_used("dates"))
                put("more.safetensors")  # a further type is fine
                server.process.send_signal(signal.SIGHUP)
                end = time.monotonic() + common.TIMEOUT
                while not is_used("more") and time.monotonic() < end:
                    time.sleep(0.01)
                self.assertTrue(is_used("more"))
                put("dates.safetensors")  # and then it must be known
                self.error(server.post("", "/v1/model/reload"), 409, None, "does not know the type 'also'")
            finally:
                over.set()
            done = [c.result() for c in clients]
        self.assertEqual([status for status, _ in done], [200] * 4, done)
        self.assertGreater(min(asked for _, asked in done), 5)
        known = {(u, line) for lines in said.values() for u, line in lines.items()}
        self.assertLessEqual(answers, known)  # each of one model
        self.assertEqual(server.post({"sequence": "a", "time": "2024-02-01", "type": "also"})[0], 200)
        self.assertEqual(server.stop(), 0)
        self.assertEqual(len(re.findall("is not used, the old one stays", server.err)), 5, server.err)
        self.assertEqual(len(re.findall("is used from now on", server.err)), 12)

    def test_another_model_and_alarms(self):
        """They are found anew."""
        model, table = self.path("model.safetensors"), test_watch.log(10, 3)
        log = self.write("train.csv", test_watch.log(10, 1))
        self.smurf("train", log, "-o", model, "--epochs", "2", "-q", *models.SMALL)
        self.smurf("train", log, "-o", "next.safetensors", "--epochs", "1", "--seed", "2", "-q", *models.SMALL)
        watched = [self.jsonl("watch", m, self.write("w.csv", table), "--alarms-per-day", "3", "-q") for m in ("model.safetensors", "next.safetensors")]
        self.assertNotEqual(*watched)
        server = self.server("--alarms-per-day", "3", model=model)
        server.post(events_of(table, "device"))
        for found in watched:
            while server.get("/v1/alarms")[1]["behind"]:
                time.sleep(0.01)
            self.assertEqual([{k: v for k, v in a.items() if k != "number"} for a in server.get("/v1/alarms")[1]["alarms"]], found)
            os.replace(self.path("next.safetensors"), model) if found is watched[0] else None
            self.assertEqual(server.post("", "/v1/model/reload")[0], 200)
        self.assertEqual(server.stop(), 0)

    # ---- further events ----

    def test_next(self):
        for model, table in ("dates.safetensors", models.calendar(3, 9, 2)), ("numbers.safetensors", models.table(3, 9, seed=2)):
            server = self.server(model=model)
            dates = model.startswith("dates")
            events = events_of(table)
            for e in events:
                e["time"] = e["time"] if dates else float(e["time"])
            server.post(events)
            said = self.jsonl("sample", self.at(model), self.write("t.csv", table), "--count", "4", "--quantiles", "0.25,0.5,0.75", "--threads", "1")
            for name in "u0", "u1", "u2":
                plain = json.loads(self.forecast(server, name, "?levels=0.5"))
                whole = json.loads(self.forecast(server, name, "?levels=0.5&next=4"))
                following = whole.pop("next")
                self.assertEqual(whole, plain)
                self.assertEqual(json.loads(self.forecast(server, name, "?levels=0.5&next=4&curve=8"))["next"], following)
                self.assertEqual(following, json.loads(self.forecast(server, name, "?levels=0.5&next=4"))["next"])
                sampled = [row for row in said if row["sequence"] == name]
                self.assertEqual([int(row["which"]) for row in sampled], [1, 2, 3, 4])
                for mine, theirs in zip(following, sampled):
                    quantiles = [mine["intervals"][0]["low"], mine["median"], mine["intervals"][0]["high"]]
                    for a, b in zip([*quantiles, mine["mean"]], [*theirs["quantiles"], theirs["mean"]]):
                        self.assertEqual(a is None, b is None)  # events are read one by one here, at once there: rounding differs
                        self.assertAlmostEqual(0 if a is None else a / b - 1, 0, 3)
                    self.assertEqual(mine["median"] is None, mine["median_time"] is None)
                    self.assertEqual(mine["seen"] == 1, mine["mean"] is not None)
                    self.assertAlmostEqual(sum(t["p"] for t in mine["types"]), 1)
                self.assertEqual([row["event"] for row in following], [1, 2, 3, 4])
            # Given silence: of the futures that count from the last event, what is left of them.
            last = datetime.datetime.fromisoformat(events[8]["time"].rstrip("Z")) if dates else events[8]["time"]
            now = (last + datetime.timedelta(hours=2)).isoformat() + "Z" if dates else last + 2
            silent = json.loads(self.forecast(server, "u0", "?levels=0.5&next=2&now=%s" % now))
            self.assertEqual(str(silent["from"])[:22], str(now)[:22])
            said = self.jsonl("sample", self.at(model), self.path("t.csv"), "--count", "2", "--quantiles", "0.25,0.5,0.75", "--threads", "1", "--silence", "2h" if dates else "2")
            for mine, theirs in zip(silent["next"], said):
                for a, b in zip([mine["intervals"][0]["low"], mine["median"], mine["intervals"][0]["high"]], theirs["quantiles"]):
                    self.assertEqual(a is None, b is None)
                    self.assertAlmostEqual(0 if a is None else a / (b - (7200 if dates else 2)) - 1, 0, 2)
            self.assertEqual(self.forecast(server, "u0", "?next=0"), self.forecast(server, "u0"))
            self.error(server.get("/v1/forecast/u0?next=21"), 400, "next", "from 0 to 20")
            self.error(server.get("/v1/forecast/none?next=2"), 404, "sequence", "no sequence")
            self.error(server.get("/v1/forecast/u0?next=2&now=" + ("2000-01-01" if dates else "-5")), 400, "now", "not before the last event")

    def test_next_at_once(self):
        """Too many such requests are turned away; the answers of the others are right."""
        server = self.server()
        server.post(events_of(models.calendar(3, 9, 2)))
        want = self.forecast(server, "u0", "?next=20")
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            got = list(pool.map(lambda k: server.raw("GET", "/v1/forecast/u0?next=20", connection=server.connect()), range(24)))
        self.assertTrue({status for status, _, _ in got} <= {200, 503})
        for status, headers, body in got:
            if status == 200:
                self.assertEqual(body, want)
            else:
                self.assertIn(b"further events", body)
                self.assertEqual(headers["Retry-After"], "1")

    # ---- answers that are kept ----

    def test_the_same_again(self):
        """An answer that is given again is the one that would be computed."""
        server, fresh = self.server("--store", "s.db"), self.server("--store", "s.db")
        queries = ["", "?top=1", "?top=1", "?levels=0.5", "?levels=0.6", "?within=1h", "?within=2h", "?within=1h&levels=0.5,0.9,0.95", "?curve=4", "?levels=0.5,0.9,0.5", "", "?now=2024-03-01", ""]
        for hour in range(3):
            server.post({"sequence": "u0", "time": "2024-02-01T%02d:00:00Z" % hour, "type": "login"})
            got = [self.forecast(server, "u0", query) for query in queries for _ in range(2)]
            fresh.kill()
            fresh = self.server("--store", "s.db")
            self.assertEqual(got, [self.forecast(fresh, "u0", query) for query in queries for _ in range(2)])
            again = ["%s%snow=%s" % (query, "&" if query else "?", json.loads(got[0])["last"]) for query in queries[:-2]]  # computed each time
            self.assertEqual(got[:-4:2], [self.forecast(fresh, "u0", query) for query in again])
        self.assertEqual(len(set(got)), 10)

    # ---- memory of forecasts ----

    def test_memory(self):
        """With little memory histories are given up and forecasts are dropped; answers stay the same to the bit."""
        small, large = self.server("--memory", "16", "--store", "s.db"), self.server("--memory", "256", "--store", "s.db")
        names = ["s%04d" % k for k in range(2500)]

        def batch(k):
            return [{"sequence": name, "time": "2024-02-01T%02d:%02d:00Z" % (k, j), "type": ("login", "logout")[(k * j + len(name)) % 2]}
                    for name in names for j in range(k % 3 + 1)]
        for k in range(3):
            self.assertEqual(small.post(batch(k))[0], 200)
            for name in names[::20] + names[:20]:
                self.assertEqual(self.forecast(small, name), self.forecast(large, name), name)

        def figures(server):
            text = server.raw("GET", "/metrics")[2].decode()
            return {key: int(re.search("^smurf_forecasts_%s (.*)$" % key, text, re.M)[1]) for key in ("kept", "whole", "bytes")}
        for name in names:
            self.forecast(small, name)
        few = figures(small)
        self.assertLessEqual(few["bytes"], 16 << 20)
        self.assertLess(few["whole"], few["kept"])
        self.assertEqual(self.forecast(small, names[-1], "?next=2"), self.forecast(large, names[-1], "?next=2"))
        self.refuse("serve", self.at("dates.safetensors"), "-q", "--memory", "15", says="--memory takes a number from 16", status=2)

    # ---- limits ----

    def raw_answer(self, server, request, most=1 << 20):
        with socket.create_connection(("127.0.0.1", server.port)) as s:
            s.settimeout(common.TIMEOUT)
            s.sendall(request)
            answer = b""
            while len(answer) < most and (part := s.recv(1 << 16)):
                answer += part
                if b"\r\n\r\n" in answer and b"Connection: close" not in answer:
                    break
        return answer

    def test_headers(self):
        server = self.server()
        head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
        self.assertIn(b" 200 ", self.raw_answer(server, head + b"X: " + b"a" * 20000 + b"\r\n\r\n"))
        self.assertRegex(self.raw_answer(server, head + b"X: " + b"a" * 70000 + b"\r\n\r\n"), b"^HTTP/1.1 431 ")
        self.assertRegex(self.raw_answer(server, head + b"".join(b"X%d: a\r\n" % k for k in range(9000)) + b"\r\n"), b"^HTTP/1.1 431 ")
        self.assertRegex(self.raw_answer(server, b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"), b"^HTTP/1.1 414 ")
        for request, status in ((b"GET /v1/model HTTP/1.0\r\n\r\n", b"200"),
                                (b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", b"400"),
                                (b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n", b"413"),
                                (b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"400")):
            self.assertRegex(self.raw_answer(server, request), b"^HTTP/1.[01] " + status, request)
        self.assertEqual(server.get("/healthz")[0], 200)

    def test_connections(self):
        server = self.server("--connections", "3")
        kept = [server.connect() for _ in range(3)]
        for connection in kept:
            self.assertEqual(server.get("/healthz", connection=connection)[0], 200)
        for _ in range(3):
            status, headers, body = server.raw("GET", "/healthz", connection=server.connect())
            self.error((status, json.loads(body)), 503, None, "more than 3 connections")
            self.assertEqual((headers["Connection"].lower(), headers["Retry-After"]), ("close", "1"))
        self.assertEqual(server.get("/healthz", connection=kept[0])[0], 200)
        kept.pop().close()
        end = time.monotonic() + common.TIMEOUT
        while server.raw("GET", "/healthz", connection=server.connect())[0] != 200 and time.monotonic() < end:
            time.sleep(0.02)
        self.assertLess(time.monotonic(), end)

    def test_slow_headers_and_takers(self):
        server = self.server("--timeout", "1", "--max-body", "2")
        with socket.create_connection(("127.0.0.1", server.port)) as s:  # never silent, but the header has no end
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ")
            with self.assertRaises(OSError):
                for _ in range(999):
                    s.sendall(b"a")
                    time.sleep(0.1)
        body = "user,time,type\n" + "".join("u%d,2024-02-01,login\n" % k for k in range(15000))
        whole = server.raw("POST", "/v1/forecast", body, connection=server.connect())[2]
        with socket.socket() as s:  # takes its answer a few bytes at a time
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.connect(("127.0.0.1", server.port))
            s.settimeout(common.TIMEOUT)
            s.sendall(b"POST /v1/forecast HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body.encode())
            taken, rest = len(s.recv(100)), b""
            for _ in range(60):
                time.sleep(0.1)
                try:
                    taken += len(s.recv(100))
                except OSError:
                    break
            try:
                while part := s.recv(1 << 16):
                    taken += len(part)
            except OSError:
                pass
            self.assertLess(taken, len(whole))
        self.assertEqual(server.get("/healthz", connection=server.connect())[0], 200)

    def test_bodies_at_once(self):
        """Bodies that would not fit into memory get 503; the others are stored."""
        server = self.server("--max-body", "1")
        event = {"sequence": "a", "time": "2024-02-01", "type": "login"}
        body = json.dumps(event).encode() + b" " * 900000
        sockets = []
        for _ in range(40):
            s = socket.create_connection(("127.0.0.1", server.port))
            self.addCleanup(s.close)
            s.settimeout(common.TIMEOUT)
            s.sendall(b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body[:-1])
            sockets.append(s)
        time.sleep(0.5)
        for s in sockets:
            s.sendall(body[-1:])
        statuses = [s.recv(12)[-3:] for s in sockets]
        self.assertEqual(set(statuses), {b"200", b"503"}, statuses)
        self.assertEqual(json.loads(self.forecast(server, "a"))["events"], statuses.count(b"200"))
        self.assertEqual(server.post(event)[0], 200)

    def test_hostile_bodies(self):
        """What a body holds cannot make it take much more memory than its length."""
        no_quarantine = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0"  # which keeps what is freed
        server = self.server(env={"ASAN_OPTIONS": no_quarantine})
        event = {"sequence": "a", "time": "2024-02-01", "type": "login"}

        def peak():
            with open("/proc/%d/status" % server.process.pid) as file:
                return int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) >> 10
        server.post(b" " * (7 << 20) + json.dumps(event).encode())
        before = peak()
        for body, says in ((b"[" + b"0," * 3500000 + b"0]", "event 1: it is no object"), (b'{"sequence":[' + b"0," * 3500000 + b"0]}", "event 1: it is longer than 64 KB"),
                           (b"[[" + b"0," * 3500000 + b"0]]", "event 1: it is no object"), (b'{"a":' * 1000000, "event 1: it is longer|not JSON"), (b"[" * 7000000, "no object")):
            self.error(server.post(body), 400, None, says)
        self.assertLess(peak() - before, 40)  # MB; 7 MB of numbers took 200
        for body, says in (("[%s", "',' or ']' is missing"), ("[%s,", "',' or ']' is missing"), ("[%s,]", "event 2: it is no object"), ("[%s%s]", "',' or ']'"), ("[,%s]", "event 1: it is no object"),
                           ("%s]", "not JSON"), ("[%s]]", "not JSON"), ("[%s}", "',' or ']'"), ("%s,%s", "not JSON"), ("[", "',' or ']'")):
            self.error(server.post(body.replace("%s", json.dumps(event))), 400, None, says)
        for body, count in ((" [ %s , %s ] ", 2), ("[%s]\n[%s]%s", 3), ("[]%s[]", 1), ("%s%s", 2)):
            self.assertEqual(server.post(body.replace("%s", json.dumps(event))), (200, {"accepted": count, "duplicates": 0}))

    def test_rate_is_of_each_client(self):
        server = self.server("--rate", "3")
        got = [server.raw("GET", "/healthz")[0] for _ in range(20)]
        self.assertIn(429, got)
        other = http.client.HTTPConnection("127.0.0.1", server.port, timeout=common.TIMEOUT, source_address=("127.0.0.9", 0))
        self.assertEqual(server.raw("GET", "/healthz", connection=other)[0], 200)

    def test_hostile_names(self):
        """Whatever a name is, answers are JSON that holds it, and nothing else."""
        server = self.server()
        names = ['<script>alert(1)</script>', '"},{"a":"', "\\", "a\nb\tc", "\u202egnp", "\U0001f600", "%00", "x" * 512, "';--", "\u007f\u0085", "]]>"]
        for name in names:
            self.assertEqual(server.post({"sequence": name, "time": "2024-02-01", "type": "login"})[0], 200, name)
            self.assertEqual(json.loads(self.forecast(server, name, "?next=1"))["sequence"], name)
            status, answer = server.post({"sequence": name, "time": "2024-01-01", "type": "login"})
            self.assertEqual(status, 409)
            self.assertIn(name[:200], answer["error"]["message"])
            status, answer = server.post({"sequence": "a", "time": "2024-02-01", "type": name})
            self.assertEqual((status, answer["error"]["field"]), (400, "type"))
            self.assertIn(name[:100], answer["error"]["message"])
            status, answer = server.post({"sequence": "a", "time": "2024-02-01", "type": "login", name: 1})
            self.assertEqual((status, answer["error"]["field"]), (400, name))
        self.assertEqual(sorted(s["sequence"] for s in server.get("/v1/sequences")[1]["sequences"]), sorted(names))
        overdue = server.get("/v1/overdue?now=2030-01-01")[1]["overdue"]
        self.assertEqual(sorted(s["sequence"] for s in overdue), sorted(names))
        for path in "/<script>", "/v1/forecast/%3Cscript%3E", "/v1/model?%3Cb%3E=1", "/healthz?%22=%22":
            status, headers, body = server.raw("GET", path)
            self.assertIn(status, (400, 404))
            self.assertEqual((headers["Content-Type"], headers["X-Content-Type-Options"]), ("application/json", "nosniff"))
            json.loads(body)

    def test_drain_gives_up(self):
        """A request that takes long does not hold up the end."""
        server = self.server("--max-body", "64")
        body = ("user,time,type\n" + "".join("u%d,2024-02-01,login\n" % k for k in range(400000))).encode()
        with socket.create_connection(("127.0.0.1", server.port)) as s:
            s.sendall(b"POST /v1/forecast HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            time.sleep(1)
            started = time.monotonic()
            self.assertEqual(server.stop(), 0)
            self.assertLess(time.monotonic() - started, 20)  # 5 s on an idle machine


if __name__ == "__main__":
    unittest.main()
