"""Runs every command with the k-th allocation failing, for many k.

    SMURF=build/smurf FAIL_MALLOC=build/test/fail_malloc.so python3 test/soak_alloc.py [--all] [--seconds N] [COMMAND ...]

Each run must end with status 1 and one line about memory on standard error, every file being absent, as before or as it
should be (a model may be that of an earlier epoch, and a log may end early); or with status 0, the right output and the
right files.
Without --all: k up to 1,000, then every 50th. After --seconds it ends with what was tried; commands take turns, each
going through its k in random order. Each command is one case of TAP.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import json
import math
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "cli"))
import common
import models

SHIM = os.path.abspath(os.environ.get("FAIL_MALLOC") or os.path.join(os.path.dirname(common.SMURF), "test", "fail_malloc.so"))
SECONDS = 20  # what one run may take
TURN = 5  # runs of a command before the next has its turn
# Durations differ from run to run.
FREE_TEXT = re.compile(rb'[0-9.]+ (s|min|h)\b|"(seconds|events_per_second)": ?[^,}]*|seconds?\\":\\"[0-9a-f]{16}')
TINY = ["--width", "2", "--heads", "1", "--head-width", "1", "--layers", "1", "--inner", "1", "--nodes", "2", "--threads", "1"]
SET = [word for i in range(0, len(TINY) - 2, 2) for word in ("--set", TINY[i][2:] + "=" + TINY[i + 1])]
COMMANDS = {
    "info": ["info", "data"],
    "info-json": ["info", "a.jsonl", "--json"],
    "info-rare": ["info", "rare.csv"],
    "info-zone": ["info", "zone.csv", "--timezone", "Europe/Berlin"],
    "info-found": ["info", "found.csv"],
    "info-objects": ["info", "objects.jsonl", "--json"],
    "convert-csv": ["convert", "a.jsonl", "made.csv.gz"],
    "convert-database": ["convert", "a.db", "made.csv"],
    "info-query": ["info", "a.db", "--query", "select * from log"],
    "convert-pickle": ["convert", "data", "made", "--to", "pickle"],
    "convert-rmtpp": ["convert", "time-a.txt", "time-made.txt"],
    "convert-split": ["convert", "a.csv", "made", "--to", "jsonl", "--split", "3:1:1", "--window", "3"],
    "simulate": ["simulate", "hawkes", "--sequences", "4", "--events", "3", "-o", "made.csv", "--threads", "1"],
    "train": ["train", "data", "-o", "made", "--epochs", "2", "--log", "made.jsonl", *TINY],
    "train-log": ["train", "log.csv", "-o", "made", "--epochs", "1", "--window", "5", "--history", "3", "--recalibrate", "on", *TINY],
    "train-nhp": ["train", "data", "-o", "made", "--preset", "nhp", "--epochs", "1", "--width", "2", "--threads", "1"],
    "train-resume": ["train", "data", "-o", "stopped", "--resume", "--log", "stopped.jsonl", "--threads", "1"],
    "eval": ["eval", "smurf", "data", "--report", "made.html", "--bootstrap", "2", "--threads", "1"],
    "eval-score": ["eval", "score", "data", "--sampler", "langevin", "--draws", "2", "--steps", "3", "--threads", "1"],
    "eval-ends": ["eval", "smurf", "data", "--observed-until", "1e6", "--json", "--threads", "1"],
    "eval-log": ["eval", "log", "log.csv", "--window", "3", "--threads", "1"],
    "predict-log": ["predict", "log", "log.csv", "--every", "4", "--threads", "1"],
    "eval-adaptive": ["eval", "adaptive", "log.csv", "--threads", "1"],
    "predict-adaptive": ["predict", "adaptive", "log.csv", "--threads", "1"],
    "predict": ["predict", "smurf", "data", "--within", "1", "--top", "2", "--threads", "1"],
    "predict-unknown": ["predict", "smurf", "unknown.csv", "--threads", "1"],
    "info-features": ["info", "further.csv", "--features", "auto"],
    "convert-features": ["convert", "further.csv", "made.csv", "--features", "amount,shop", "--window", "5"],
    "convert-parts": ["convert", "parts", "made.csv", "--features", "amount,shop"],
    "train-features": ["train", "further.csv", "-o", "made", "--features", "amount,shop", "--epochs", "1", "--window", "5", *TINY],
    "predict-features": ["predict", "further", "further.csv", "--next", "a", "--paths", "2", "--threads", "1"],
    "predict-nhp": ["predict", "nhp", "data", "--threads", "1"],
    "watch": ["watch", "smurf", "data", "--day", "5", "--state", "made.state", "--threads", "1"],
    "overdue": ["overdue", "smurf", "data", "--now", "50", "--threads", "1"],
    "sample": ["sample", "smurf", "data", "--paths", "2", "--events", "2", "--threads", "1"],
    "score": ["score", "smurf", "data", "--top", "3", "--threads", "1"],
    "compare": ["compare", "data", "--models", "default,marginal", "--runs", "runs", "--process", "hawkes", "--epochs", "1",
                *SET, "--threads", "1", "-o", "made.txt"],
    "compare-again": ["compare", "data", "--models", "default", "--runs", "kept", "--epochs", "1", *SET, "--threads", "1"],
    "report": ["report", "smurf", "data", "-o", "made.html", "--threads", "1"],
}


def smurf(folder, *args):
    subprocess.run([common.SMURF, *args], cwd=folder, env=common.environment(), check=True, capture_output=True)


def stop(folder, *args):
    """A run that ends half-way through its allocations."""
    env = common.environment(LD_PRELOAD=SHIM)
    with subprocess.Popen([common.SMURF, *args], cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        total = 0
        for _ in range(2):
            run.stdin.write(b"%d %d\n" % (total // 2, SECONDS))
            run.stdin.flush()
            total = int(run.stdout.readline().split()[1])
        run.stdin.close()
    os.remove(os.path.join(folder, "out"))
    os.remove(os.path.join(folder, "err"))


def prepare_data(folder):
    for part, n in ("train", 4), ("dev", 2), ("test", 2):
        os.makedirs(os.path.join(folder, "data"), exist_ok=True)
        with open(os.path.join(folder, "data", part + ".csv"), "w") as f:
            f.write(models.table(n, events=5, seed=n))
    shutil.copy(os.path.join(folder, "data", "train.csv"), os.path.join(folder, "a.csv"))
    with open(os.path.join(folder, "rare.csv"), "w") as f:
        f.write("time,type\n" + "".join("%d,t%d\n" % (i, i % 1010) for i in range(1010 * 4 + 1000)))
    with contextlib.closing(sqlite3.connect(os.path.join(folder, "a.db"))) as base:
        base.execute("create table log(time, type, note)")
        base.executemany("insert into log values(?, ?, ?)", [(1.5 * i, "ab"[i % 2], '"') for i in range(20)])
        base.commit()
    with open(os.path.join(folder, "zone.csv"), "w") as f:
        f.write("when,what\n31/03/2024 01:30,a\n31/03/2024 03:00,b\n27/10/2024 02:30,a\n")
    with open(os.path.join(folder, "found.csv"), "w", encoding="latin1") as f:
        f.write("".join("%d Jan 2015;10:%02d:00;\"desk é %d\";%s\n" % (30 - i // 3, i, i % 3, ["", "open", "close"][i % 3])
                        for i in range(30)))
    with open(os.path.join(folder, "objects.jsonl"), "w") as f:
        f.write("".join('{"Date":"2015-01-%02d","Time":"10:00","userId":%d,"action":"%s"}\n' % (1 + i, i % 3, "ab"[i % 2])
                        for i in range(30)))
    with open(os.path.join(folder, "unknown.csv"), "w") as f:
        f.write("time,type\n1,a\n2,new\n3,b\n4,newer\n")
    with open(os.path.join(folder, "further.csv"), "w") as f:
        f.write("user,time,type,amount,shop\n" + "".join("u%d,%d,%s,%s,%s\n" % (i % 2, i * 7 % 29, "ab"[i % 3 % 2], i % 5 or "", "xyz"[i % 3])
                                                        for i in range(40)))
    os.makedirs(os.path.join(folder, "parts"), exist_ok=True)
    for part in range(3):
        with open(os.path.join(folder, "parts", "train-%d.csv" % part), "w") as f:
            f.write("user,time,type,amount,shop\n" + "".join("u%d,%d,%s,%d,%s\n" % (part, -i, "abcd"[part + i % 2], i, "vwxyz"[part + i % 3])
                                                            for i in range(6)))
    with open(os.path.join(folder, "log.csv"), "w") as f:
        f.write(models.table(1, events=40, seed=1))


def prepare(folder):
    """Data and models that the commands use."""
    prepare_data(folder)
    smurf(folder, "convert", "a.csv", "a.jsonl")
    smurf(folder, "convert", "a.csv", "time-a.txt")
    smurf(folder, "train", "data", "-o", "smurf", "--epochs", "1", *TINY)
    smurf(folder, "train", "data", "-o", "score", "--epochs", "1", "--objective", "wsm", "--head", "score", *TINY)
    smurf(folder, *["log" if word == "made" else word for word in COMMANDS["train-log"]])
    smurf(folder, *["further" if word == "made" else word for word in COMMANDS["train-features"]])
    smurf(folder, "train", "log.csv", "-o", "adaptive", "--epochs", "1", "--adaptive", "0.1", *TINY)
    smurf(folder, *COMMANDS["compare-again"])
    shutil.copy(os.path.join(folder, "smurf"), os.path.join(folder, "stopped"))
    stop(folder, "train", "data", "-o", "stopped", "--epochs", "3", "--log", "stopped.jsonl", *TINY)
    smurf(folder, "train", "data", "-o", "nhp", "--preset", "nhp", "--epochs", "1", "--width", "2", "--threads", "1")


def state(folder):
    """{path: content} of all files."""
    found = {}
    for place, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(place, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, folder)] = f.read()
    return found


def whole(content):
    """Whether these are the bytes of a safetensors file."""
    try:
        size = 8 + int.from_bytes(content[:8], "little")
        header = json.loads(content[8:size])
        header.pop("__metadata__")
        return len(content) == size + max(tensor["data_offsets"][1] for tensor in header.values())
    except (ValueError, KeyError):
        return False


def begins(content, want):
    """Whether these are the first lines of a log."""
    return want.startswith(content) and content[-1:] in (b"", b"\n")


def plain(files):
    return {path: FREE_TEXT.sub(b"", content) for path, content in files.items()}


class Server:
    """A command under the shim, in a folder with copies of what it needs."""

    def __init__(self, made, args, everything):
        self.folder = tempfile.mkdtemp(prefix="smurf-soak-")
        shutil.copytree(made, self.folder, dirs_exist_ok=True)
        self.before = state(self.folder)
        env = common.environment(LD_PRELOAD=SHIM, OMP_NUM_THREADS="1",
                                 LC_ALL="C")
        self.process = subprocess.Popen([common.SMURF, *args, "--quiet"], cwd=self.folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.want, self.left, self.tried, self.found = self.run(0), [], 0, {}
        if self.want[0] != 0:
            self.found[0] = "fails by itself: " + self.want[2].decode()
            return
        self.left = [k for k in range(1, self.want[4] + 1) if everything or k <= 1000 or k % 50 == 0]
        random.Random(1).shuffle(self.left)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.folder)

    def restore(self, now):
        for path in now.keys() - self.before.keys():
            os.remove(os.path.join(self.folder, path))
        for path, content in self.before.items():
            if now.get(path) != content:
                with open(os.path.join(self.folder, path), "wb") as f:
                    f.write(content)
        for name in os.listdir(self.folder):
            place = os.path.join(self.folder, name)
            if os.path.isdir(place) and not os.listdir(place):
                os.rmdir(place)

    def run(self, k):
        """(status, out, err, files, allocations)"""
        self.process.stdin.write(b"%d %d\n" % (k, SECONDS))
        self.process.stdin.flush()
        status, count = map(int, self.process.stdout.readline().split())
        self.raw = now = state(self.folder)
        self.restore(now)
        status, now = os.waitstatus_to_exitcode(status), plain(now)
        return status, now.pop("out", b""), now.pop("err", b""), now, count

    def wrong(self, k):
        """What is wrong about the run with the k-th allocation failing; None: nothing."""
        status, out, err, files, count = self.run(k)
        if status == 0:
            if (out, err, files) != self.want[1:4]:
                return "status 0, other output than without failure: " + ", ".join(
                    sorted(p for p in files.keys() | self.want[3].keys() if files.get(p) != self.want[3].get(p)) or ["standard output or error"])
            return None
        if status != 1:
            return f"status {status}: {err.decode(errors='replace')}"
        if not err.startswith(b"smurf: ") or err.count(b"\n") != 1 or not err.endswith(b"\n"):
            return f"not one line: {err.decode(errors='replace')!r}"
        if b"memory" not in err.lower():
            return f"blames something else: {err.decode(errors='replace')!r}"
        before, want = plain(self.before), self.want[3]
        for path in files.keys() | before.keys():
            right = files.get(path) in (before.get(path), want.get(path)) or whole(self.raw.get(path, b""))
            if not right and not (path.endswith(".jsonl") and path in files and begins(files[path], want.get(path, b""))):
                return f"'{path}' is neither as before nor as it should be, after {err.decode(errors='replace')!r}"
        return None

    def take_turn(self):
        for k in self.left[:TURN]:
            wrong = self.wrong(k)
            self.tried += 1
            if wrong:
                self.found[k] = wrong
        del self.left[:TURN]


def take_turns(servers, end):
    """What one worker does. A server is out of the queue during its turn."""
    while time.monotonic() < end:
        try:
            server = servers.popleft()
        except IndexError:
            return
        server.take_turn()
        if server.left:
            servers.append(server)


def show(number, name, server):
    total = server.want[4]
    print(f"{'not ok' if server.found else 'ok'} {number} - {name}: {server.tried} of {total} allocations failed", flush=True)
    for k, wrong in sorted(server.found.items())[:10]:
        print(f"  allocation {k} of {total}: {wrong}", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("command", nargs="*", default=list(COMMANDS))
    args = parser.parse_args()
    servers, workers = [], os.cpu_count()
    with tempfile.TemporaryDirectory(prefix="smurf-soak-") as made:
        prepare(made)
        try:
            for name in args.command:
                servers.append(Server(made, COMMANDS[name], args.all))
            end = time.monotonic() + args.seconds
            queue = collections.deque(server for server in servers if server.left)
            with concurrent.futures.ThreadPoolExecutor(workers) as pool:
                list(pool.map(take_turns, [queue] * workers, [end] * workers))
        finally:
            for server in servers:
                server.close()
    for number, (name, server) in enumerate(zip(args.command, servers), 1):
        show(number, name, server)
    print(f"1..{len(servers)}")
    bad = sum(bool(server.found) for server in servers)
    print(f"failing allocations: {sum(server.tried for server in servers)} tried, {sum(len(server.left) for server in servers)} "
          f"left, {bad} of {len(servers)} commands wrong", file=sys.stderr)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
