"""Kills smurf serve at random moments under load: no acknowledged event is lost, none is there twice, and forecasts are the
same to the bit after each restart.

    SMURF=build/smurf python3 test/soak_serve.py KILLS [SEED]

Clients post batches of events with ids and, when they get no answer, send them again; others ask for forecasts. One kill in
ten is a SIGTERM, after which the service must end by itself, with status 0, within five seconds.
"""
import contextlib
import http.client
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "cli"))
import common  # noqa: E402
import models  # noqa: E402
from test_serve import HAS_SERVE, Server  # noqa: E402

WRITERS, READERS, BATCH_MOST, EVENTS = 3, 2, 40, 60  # EVENTS: of a sequence
TERM_SECONDS = 5


def event(writer, k):
    at = k % EVENTS
    return {"sequence": "w%d-%05d" % (writer, k // EVENTS), "time": "2024-02-01T%02d:%02d:%02dZ" % (at // 6, at % 6 * 10, k * 7 % 60 if at % 2 else 0),
            "type": "login" if k * 5 % 3 else "logout", "id": str(k)}


class Load:
    """The service, which comes and goes, and its clients."""

    def __init__(self, folder, seed):
        self.folder, self.draw = folder, random.Random(seed)
        self.acknowledged = [0] * WRITERS
        self.asked, self.over, self.trouble = 0, threading.Event(), []
        self.server = None
        self.start()
        self.threads = [threading.Thread(target=self.guarded, args=(self.write, k)) for k in range(WRITERS)]
        self.threads += [threading.Thread(target=self.guarded, args=(self.read, k)) for k in range(READERS)]

    def start(self):
        self.server = Server(self.folder, "model", "--store", "events.db", "--threads", "1", "--quiet")

    def guarded(self, work, k):
        try:
            work(k)
        except Exception as problem:  # noqa: BLE001
            self.trouble.append(repr(problem))

    def requests(self):
        """A connection to the service that runs now, again and again."""
        server, connection = None, None
        while not self.over.is_set():
            if server is not self.server:
                server = self.server
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=common.TIMEOUT)
            yield connection

    def ask(self, connection, method, path, body=None):
        """(status, body); None if the service went away."""
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            time.sleep(0.01)
            return None

    def write(self, writer):
        draw, sent = random.Random(writer), 0
        size = draw.randint(1, BATCH_MOST)
        for connection in self.requests():
            body = json.dumps([event(writer, k) for k in range(sent, sent + size)])
            got = self.ask(connection, "POST", "/v1/events", body)
            if got is None or got[0] == 503:  # it is ending
                continue
            answer = json.loads(got[1])
            if got[0] != 200 or answer["accepted"] + answer["duplicates"] != size:
                raise AssertionError(got)
            sent += size
            self.acknowledged[writer] = sent
            size = draw.randint(1, BATCH_MOST)

    def read(self, reader):
        draw = random.Random(reader + 100)
        for connection in self.requests():
            writer = draw.randrange(WRITERS)
            last = self.acknowledged[writer] // EVENTS
            got = self.ask(connection, "GET", "/v1/forecast/w%d-%05d?within=1h" % (writer, draw.randint(0, last)))
            if got is not None and got[0] not in (200, 404, 503):
                raise AssertionError(got)
            self.asked += got is not None and got[0] == 200

    def stored(self, writer):
        """Events of a writer, as the service counts them."""
        count, after = 0, ""
        while after is not None:
            status, answer = self.server.get("/v1/sequences?limit=1000&prefix=w%d-&after=%s" % (writer, after))
            if status != 200:
                raise AssertionError(answer)
            count += sum(s["events"] for s in answer["sequences"])
            after = answer["next"]
        return count

    def complete(self):
        """Sequences that get no further events."""
        return ["w%d-%05d" % (writer, k) for writer in range(WRITERS) for k in range(self.acknowledged[writer] // EVENTS)]


def check_ids(folder, load):
    with contextlib.closing(sqlite3.connect(os.path.join(folder, "events.db"))) as db:
        if db.execute("pragma integrity_check").fetchall() != [("ok",)]:
            raise SystemExit("the store is damaged")
        for writer in range(WRITERS):
            ids = [int(row[0]) for row in db.execute("select id from event e join sequence s on s.number = e.sequence where name like ? order by name, n",
                                                     ("w%d-%%" % writer,))]
            if ids != list(range(len(ids))):
                raise SystemExit("events of writer %d are lost or twice there" % writer)
            if not 0 <= len(ids) - load.acknowledged[writer] <= BATCH_MOST:
                raise SystemExit("writer %d: %d events are stored, %d acknowledged" % (writer, len(ids), load.acknowledged[writer]))


def predicted(folder, names):
    """What smurf predict says of these sequences."""
    lines = ["user,time,type"]
    with contextlib.closing(sqlite3.connect(os.path.join(folder, "events.db"))) as db:
        for name in names:
            for whole, kind in db.execute("select e.whole, e.type from event e join sequence s on s.number = e.sequence where name = ? order by n", (name,)):
                lines.append("%s,%s,%s" % (name, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(whole)), kind))
    out = subprocess.run([common.SMURF, "predict", "model", "-", "--format", "jsonl", "--within", "1h", "--threads", "1", "-q"], input="\n".join(lines) + "\n",
                         cwd=folder, env=common.environment(), check=True, capture_output=True, text=True).stdout
    return {json.loads(line)["sequence"]: line + "\n" for line in out.splitlines()}


def main():
    kills, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    known, terms, slowest = {}, 0, 0.0
    if not HAS_SERVE:
        raise SystemExit(print("serve: skipped, this build has no service"))
    with tempfile.TemporaryDirectory(prefix="smurf-serve-") as folder:
        with open(os.path.join(folder, "log.csv"), "w") as file:
            file.write(models.calendar(30, events=20))
        subprocess.run([common.SMURF, "train", "log.csv", "-o", "model", "--epochs", "2", "--quiet", *models.SMALL], cwd=folder, env=common.environment(), check=True, capture_output=True)
        load = Load(folder, seed)
        for thread in load.threads:
            thread.start()
        try:
            for k in range(kills):
                time.sleep(load.draw.uniform(0, 0.4))
                old = load.server
                if k % 10 == 9:
                    begun = time.monotonic()
                    if old.stop() != 0:
                        raise SystemExit("the service failed at SIGTERM: " + old.err)
                    terms, slowest = terms + 1, max(slowest, time.monotonic() - begun)
                else:
                    old.kill()
                old.process.stdout.close()
                least, names = list(load.acknowledged), load.complete()
                load.start()
                for writer in range(WRITERS):
                    if load.stored(writer) < least[writer]:
                        raise SystemExit("after kill %d, writer %d: acknowledged events are lost" % (k + 1, writer))
                for name in load.draw.sample(names, min(len(names), 10)):
                    body = load.server.raw("GET", "/v1/forecast/%s?within=1h" % name)[2].decode()
                    if known.setdefault(name, body) != body:
                        raise SystemExit("after kill %d the forecast of %s differs" % (k + 1, name))
                if load.trouble:
                    raise SystemExit(load.trouble[0])
        finally:
            load.over.set()
            for thread in load.threads:
                thread.join()
            if load.server.process.poll() is None:
                load.server.kill()
            load.server.process.stdout.close()
        if load.trouble:
            raise SystemExit(load.trouble[0])
        check_ids(folder, load)
        said = predicted(folder, sorted(known))
        wrong = [name for name in known if known[name] != said[name]]
        if wrong:
            raise SystemExit("%d forecasts are not those of smurf predict: %s" % (len(wrong), wrong[0]))
    print("serve: %d kills and %d SIGTERM (the slowest took %.1f s), %d events acknowledged, none lost, none twice; %d forecasts during load, %d compared, the same to the bit"
          % (kills - terms, terms, slowest, sum(load.acknowledged), load.asked, len(known)))
    if slowest > TERM_SECONDS:
        raise SystemExit("SIGTERM took %.1f s, %g are allowed" % (slowest, TERM_SECONDS))


if __name__ == "__main__":
    main()
