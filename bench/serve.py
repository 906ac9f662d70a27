#!/usr/bin/env python3
"""Load on smurf serve, over loopback, with wrk: forecasts of many sequences, and events that are stored.

    bench/serve.py BUILD_DIRECTORY [--seconds N] [--sequences N] [--soak SECONDS]     prints the figures as JSON

    from serve import benchmark, section, misses

The service and wrk share the cores, so what a request costs is also given as processor time of the service, which does not
depend on what else the machine does.
"""
import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

SEQUENCES, EVENTS, CONNECTIONS, SECONDS, BATCH = 100_000, 10, 64, 10, 100
FORECASTS, P99_MS, STORED, STORED_WATCHED = 5_000, 10, 50_000, 10_000  # required
FORECASTS_GOAL, P99_GOAL_MS = 10_000, 5
START = 1_700_000_000
ASKED = ("again", "forecasts, asked again"), ("at_moments", "forecasts at a moment (`now=`)")

FORECAST = """
math.randomseed(%(seed)d)
request = function() return wrk.format("GET", "/v1/forecast/s" .. math.random(0, %(sequences)d - 1)%(more)s) end
"""
# At moments that differ, so that no answer can be given twice.
MOMENT = """ .. os.date("!?now=%%Y-%%m-%%dT%%H:%%M:%%SZ", %d + math.random(0, 400))"""
# A batch has one event of each of a block of sequences. Blocks come in turn, so that requests that overtake each other do not
# meet.
STORE = """
wrk.method = "POST"
local at = 0
request = function()
  local block, time, part = at %% 500, %(start)d + 600 * math.floor(at / 500), {}
  for i = 1, %(batch)d do
    part[i] = string.format('{"sequence":"%(name)s%%d","time":"%%s","type":"%%s"}', block * %(batch)d + i, os.date("!%%Y-%%m-%%dT%%H:%%M:%%SZ", time + i), i %% 3 == 0 and "b" or "a")
  end
  at = at + 1
  return wrk.format("POST", "/v1/events", nil, table.concat(part, "\\n"))
end
"""


class Server:
    def __init__(self, smurf, folder, model, *options):
        self.process = subprocess.Popen([smurf, "serve", model, "--listen", "127.0.0.1:0", "--quiet", "--sequences", "1000000", *options], cwd=folder, stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline().decode().rsplit(":", 1)[1])
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)

    def ask(self, method, path, body=None):
        self.connection.request(method, path, body)
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:300]}")
        return json.loads(content) if content.startswith(b"{") else content.decode()

    def processor(self):
        """Seconds of processor time so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        """Resident, in MB."""
        return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text())[1]) / 1000

    def figure(self, name):
        return float(re.search(rf"^smurf_{name} (\S+)$", self.ask("GET", "/metrics"), re.M)[1])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(20) != 0:
            raise RuntimeError("the service failed")


def milliseconds(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(number) * {"us": 1e-3, "ms": 1, "s": 1e3, "m": 6e4}[unit]


def wrk(server, folder, script, seconds, connections=CONNECTIONS):
    """Requests per second, latencies in ms, and processor time of the service per request in microseconds."""
    path = pathlib.Path(folder) / "load.lua"
    path.write_text(script)
    before = server.processor()
    out = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "10s", "-s", path, f"http://127.0.0.1:{server.port}"],
                         check=True, stdout=subprocess.PIPE, text=True).stdout
    spent = server.processor() - before
    if "Non-2xx" in out or "Socket errors" in out:
        raise RuntimeError(out)
    requests = int(re.search(r"(\d+) requests in", out)[1])
    return {"per_s": float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]), "requests": requests, "cpu_us": 1e6 * spent / requests,
            **{f"p{p}_ms": milliseconds(re.search(rf"^ +{p}% +(\S+)$", out, re.M)[1]) for p in (50, 99)}}


def make_model(smurf, folder):
    """The default preset, on dates, trained for a moment: how well it forecasts does not matter here."""
    lines = ["case,time,event"]
    for case in range(60):
        time_at = START + 1000 * case
        for k in range(40):
            time_at += 60 + 37 * (case * k % 29) + (3000 if (case + k) % 7 == 0 else 0)
            lines.append(f"c{case},{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(time_at))},{'aab'[(case + k) % 3]}")
    (pathlib.Path(folder) / "log.csv").write_text("\n".join(lines) + "\n")
    subprocess.run([smurf, "train", "log.csv", "-o", "model", "--epochs", "2", "--threads", "1", "-q"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return "model"


def fill(server, sequences):
    """Histories of EVENTS events."""
    rest = EVENTS * sequences
    stamps = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(START + 400 * k)) for k in range(EVENTS)]
    for first in range(0, sequences, 1000):
        names = range(first, min(first + 1000, sequences))
        lines = [f'{{"sequence":"s{name}","time":"{stamp}","type":"{"aab"[(name + k) % 3]}"}}' for name in names for k, stamp in enumerate(stamps)]
        rest -= server.ask("POST", "/v1/events", "\n".join(lines))["accepted"]
    if rest:
        raise RuntimeError(f"{rest} events were not stored")


def first_answers(server, sequences):
    """Asks for each once; microseconds of processor time each."""
    before = server.processor()
    for name in range(sequences):
        server.ask("GET", f"/v1/forecast/s{name}")
    return 1e6 * (server.processor() - before) / sequences


def forecasts(smurf, folder, model, sequences, seconds):
    server = Server(smurf, folder, model, "--store", "forecasts.db")
    fill(server, sequences)
    found = {"first_us": first_answers(server, sequences)}
    for name, more in ("again", ""), ("at_moments", MOMENT % (START + 400 * EVENTS)):
        found[name] = wrk(server, folder, FORECAST % {"seed": 1, "sequences": sequences, "more": more}, seconds)
    found.update(memory_mb=server.memory(), kept=server.figure("forecasts_kept"), whole=server.figure("forecasts_whole"))
    server.stop()
    return found


def events(smurf, folder, model, seconds, *options):
    server = Server(smurf, folder, model, "--store", f"events{len(options)}.db", *options)
    found = wrk(server, folder, STORE % {"start": START, "batch": BATCH, "name": "e"}, seconds, 16)
    stored, took = server.figure("events"), seconds
    if options:  # until the watch has seen them all
        begun = time.monotonic()
        while server.ask("GET", "/v1/alarms?limit=0")["behind"]:
            time.sleep(0.02)
        took += time.monotonic() - begun
    server.stop()
    return {"per_s": stored / took, "cpu_us": found["cpu_us"] / BATCH, "p99_ms": found["p99_ms"]}


def soak(smurf, folder, model, sequences, seconds):
    """Both at once, for long: memory after each tenth."""
    server = Server(smurf, folder, model, "--store", "soak.db", "--memory", "128")
    fill(server, min(sequences, 20_000))
    memory = []
    pathlib.Path(folder, "ask.lua").write_text(FORECAST % {"seed": 1, "sequences": min(sequences, 20_000), "more": ""})
    for k in range(10):
        asking = subprocess.Popen([shutil.which("wrk"), "-t1", "-c32", f"-d{seconds / 10:.0f}s", "-s", "ask.lua", f"http://127.0.0.1:{server.port}"], cwd=folder, stdout=subprocess.DEVNULL)
        wrk(server, folder, STORE % {"start": START + 10_000_000 * (k + 1), "batch": BATCH, "name": "e"}, int(seconds / 10), 4)
        asking.wait()
        memory.append(server.memory())
    server.stop()
    return {"seconds": seconds, "memory_mb": memory}


def benchmark(build, seconds=SECONDS, sequences=SEQUENCES, soak_seconds=0):
    smurf = pathlib.Path(build).resolve() / "smurf"
    if not shutil.which("wrk"):
        raise SystemExit("bench: smurf serve is measured with wrk: apt-get install wrk")
    with tempfile.TemporaryDirectory(prefix="smurf-bench-") as folder:
        model = make_model(smurf, folder)
        found = {"sequences": sequences, "forecasts": forecasts(smurf, folder, model, sequences, seconds), "events": events(smurf, folder, model, seconds),
                 "watched": events(smurf, folder, model, seconds, "--alarms-per-day", "1")}
        if soak_seconds:
            found["soak"] = soak(smurf, folder, model, sequences, soak_seconds)
    return found


def section(found):
    f, stored, watched = found["forecasts"], found["events"], found["watched"]
    lines = [
        "## The service",
        "",
        f"`smurf serve` with the default preset's model, loaded with wrk over loopback, both on the same cores. Forecasts are of one of {found['sequences']:,} sequences of {EVENTS} events at",
        f"random, {CONNECTIONS} connections: those that nothing has happened to since they were last asked, and those for a moment of its own each, whose laws are computed; events come in batches of {BATCH}, and are on disk when they are acknowledged. Processor time is that of the service.",
        "",
        "| | per second | required | goal | p50, ms | p99, ms | required | goal | processor time each, µs |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
        *[f"| {words} | {f[name]['per_s']:,.0f} | {FORECASTS:,} | {FORECASTS_GOAL:,} | {f[name]['p50_ms']:.1f} | {f[name]['p99_ms']:.1f} | {P99_MS} | {P99_GOAL_MS} | {f[name]['cpu_us']:.0f} |" for name, words in ASKED],
        f"| events stored | {stored['per_s']:,.0f} | {STORED:,} | | | {stored['p99_ms']:.1f} | | | {stored['cpu_us']:.1f} |",
        f"| events stored and watched | {watched['per_s']:,.0f} | {STORED_WATCHED:,} | | | {watched['p99_ms']:.1f} | | | {watched['cpu_us']:.1f} |",
        "",
        f"The first forecast of a sequence reads its events: {f['first_us']:.0f} µs. {f['kept']:,.0f} forecasts are kept, {f['whole']:,.0f} of them with their history; the service takes {f['memory_mb']:,.0f} MB.",
    ]
    if "soak" in found:
        memory = found["soak"]["memory_mb"]
        lines += ["", f"Under forecasts and events together for {found['soak']['seconds'] / 60:.0f} minutes (`bench/serve.py --soak`) it took {memory[1]:,.0f} MB after a fifth of the time and {memory[-1]:,.0f} MB at the end."]
    return lines


def misses(found):
    f, stored, watched = found["forecasts"], found["events"], found["watched"]
    checks = [
        *[(f[name]["per_s"] >= FORECASTS, f"smurf serve answers {f[name]['per_s']:,.0f} {words} a second, {FORECASTS:,} are required") for name, words in ASKED],
        *[(f[name]["p99_ms"] <= P99_MS, f"the slowest 1% of {words} take {f[name]['p99_ms']:.1f} ms, {P99_MS} are allowed") for name, words in ASKED],
        (stored["per_s"] >= STORED, f"smurf serve stores {stored['per_s']:,.0f} events/s, {STORED:,} are required"),
        (watched["per_s"] >= STORED_WATCHED, f"smurf serve watches {watched['per_s']:,.0f} events/s, {STORED_WATCHED:,} are required"),
    ]
    if "soak" in found:
        memory = found["soak"]["memory_mb"]
        checks.append((memory[-1] < 1.2 * memory[1], f"the service grew from {memory[1]:.0f} to {memory[-1]:.0f} MB under load"))
    return [words for met, words in checks if not met]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--sequences", type=int, default=SEQUENCES)
    parser.add_argument("--soak", type=int, default=0, metavar="SECONDS")
    args = parser.parse_args()
    print(json.dumps(benchmark(args.build, args.seconds, args.sequences, args.soak), indent=1))


if __name__ == "__main__":
    main()
