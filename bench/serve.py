#!/usr/bin/env python3
"""Load on smurf serve, over loopback, with wrk: forecasts of many sequences, and events that are stored.

    bench/serve.py BUILD_DIRECTORY [--seconds N] [--sequences N] [--soak SECONDS] [--write]     prints the figures as JSON
    bench/serve.py BUILD_DIRECTORY --load SECONDS        only the load of --soak, on 100,000 sequences: for builds with sanitizers

--write also replaces the section of doc/performance.md.

    from serve import benchmark, section, misses

The service and wrk share the cores, so what a request costs is also given as processor time of the service, which does not
depend on what else the machine does.
"""
import argparse
import atexit
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEQUENCES, EVENTS, CONNECTIONS, SECONDS, BATCH = 100_000, 10, 64, 10, 100
SOAK_SECONDS, SOAK_SEQUENCES, SOAK_EVENTS = 600, 20_000, 10_000  # SOAK_EVENTS: a second
GROWTH = 1.02  # of memory in the last 3 of 10 minutes
FORECASTS, P99_MS, STORED, STORED_WATCHED = 5_000, 10, 50_000, 10_000  # required
FORECASTS_GOAL, P99_GOAL_MS = 10_000, 5
START = 1_700_000_000
ASKED = ("again", "forecasts, asked again"), ("at_moments", "forecasts at a moment (`now=`)")

FORECAST = """
math.randomseed(%(seed)d)
request = function() return wrk.format("GET", "/v1/forecast/s" .. math.random(0, %(sequences)d - 1)%(more)s) end
"""
# At moments that differ, so that no answer can be given twice.
MOMENT = """os.date("!?now=%%Y-%%m-%%dT%%H:%%M:%%SZ", %d + math.random(0, 400))"""
# A batch has one event of each of a block of sequences. Blocks come in turn, so that requests that overtake each other do not
# meet.
STORE = """
wrk.method = "POST"
local at = 0
request = function()
  local block, time, part = at %% %(blocks)d, %(start)d + 600 * math.floor(at / %(blocks)d), {}
  for i = 1, %(batch)d do
    part[i] = string.format('{"sequence":"%(name)s%%d","time":"%%s","type":"%%s"}', block * %(batch)d + i - 1, os.date("!%%Y-%%m-%%dT%%H:%%M:%%SZ", time + i), i %% 3 == 0 and "b" or "a")
  end
  at = at + 1
  return wrk.format("POST", "/v1/events", nil, table.concat(part, "\\n"))
end
delay = function() return %(delay)d end
"""
# To the first half of the sequences events come; the others are asked at moments.
MIXED = """
math.randomseed(1)
request = function()
  local k = math.random(0, %(sequences)d - 1)
  return wrk.format("GET", "/v1/forecast/s" .. k .. (k < %(sequences)d / 2 and "" or %(moment)s))
end
"""


class Server:
    def __init__(self, smurf, folder, model, *options):
        self.process = subprocess.Popen([smurf, "serve", model, "--listen", "127.0.0.1:0", "--quiet", "--sequences", "1000000", *options], cwd=folder, stdout=subprocess.PIPE)
        atexit.register(self.process.kill)  # where something goes wrong
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


def make_model(smurf, folder, name="model", *options):
    """The default preset, on dates, trained for a moment: how well it forecasts does not matter here."""
    lines = ["case,time,event"]
    for case in range(60):
        time_at = START + 1000 * case
        for k in range(40):
            time_at += 60 + 37 * (case * k % 29) + (3000 if (case + k) % 7 == 0 else 0)
            lines.append(f"c{case},{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(time_at))},{'aab'[(case + k) % 3]}")
    (pathlib.Path(folder) / "log.csv").write_text("\n".join(lines) + "\n")
    subprocess.run([smurf, "train", "log.csv", "-o", name, "--epochs", "2", "--threads", "1", "-q", *options], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return name


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
    for name, more in ("again", ""), ("at_moments", " .. " + MOMENT % (START + 400 * EVENTS)):
        found[name] = wrk(server, folder, FORECAST % {"seed": 1, "sequences": sequences, "more": more}, seconds)
    found.update(memory_mb=server.memory(), kept=server.figure("forecasts_kept"), whole=server.figure("forecasts_whole"))
    server.stop()
    return found


def events(smurf, folder, model, seconds, *options):
    server = Server(smurf, folder, model, "--store", f"events{len(options)}.db", *options)
    found = wrk(server, folder, STORE % {"start": START, "batch": BATCH, "name": "e", "blocks": 500, "delay": 0}, seconds, 16)
    stored, took = server.figure("events"), seconds
    if options:  # until the watch has seen them all
        begun = time.monotonic()
        while server.ask("GET", "/v1/alarms?limit=0")["behind"]:
            time.sleep(0.02)
        took += time.monotonic() - begun
    server.stop()
    return {"per_s": stored / took, "cpu_us": found["cpu_us"] / BATCH, "p99_ms": found["p99_ms"]}


def load(server, folder, sequences, seconds, looks):
    """For so long: forecasts on 64 connections, some for a moment of their own; events of half of the sequences; and a listener of
    the stream, as the page is. Forecasts per second, events stored, and memory at `looks` moments."""
    writers, address = 4, f"http://127.0.0.1:{server.port}"
    scripts = {"ask": (CONNECTIONS, MIXED % {"sequences": sequences, "moment": MOMENT % (START + 400 * EVENTS)}),
               "store": (writers, STORE % {"start": START + 400 * EVENTS, "batch": BATCH, "name": "s", "blocks": sequences // 2 // BATCH, "delay": 1000 * BATCH * writers // SOAK_EVENTS})}
    memory, running, before = [], [], server.figure("events")
    listener = subprocess.Popen(["curl", "-sN", address + "/v1/stream"], stdout=subprocess.DEVNULL)
    for name, (connections, script) in scripts.items():
        path = pathlib.Path(folder) / f"{name}.lua"
        path.write_text(script)
        running.append(subprocess.Popen(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "60s", "-s", path, address], stdout=subprocess.PIPE, text=True))
    for _ in range(looks):
        time.sleep(seconds / looks)
        memory.append(server.memory())
    said = [one.communicate()[0] for one in running]
    if listener.poll() is not None:
        raise RuntimeError("the stream ended")
    listener.terminate()
    listener.wait()
    server.connection.close()  # it has been silent for too long
    for text in said:
        if "Non-2xx" in text or "Socket errors" in text:
            raise RuntimeError(text)
    return {"seconds": seconds, "memory_mb": memory, "forecasts_per_s": float(re.search(r"Requests/sec:\s+([\d.]+)", said[0])[1]),
            "events_per_s": (server.figure("events") - before) / seconds}


def soak(smurf, folder, model, sequences, seconds, looks=20):
    """The load on a service that prunes, watches, and keeps forecasts in less memory than they would take."""
    server = Server(smurf, folder, model, "--store", "soak.db", "--memory", "64", "--keep-events", "50", "--alarms-per-day", "1")
    fill(server, sequences)
    found = load(server, folder, sequences, seconds, looks)
    server.stop()
    return found


def make_short_model(smurf, folder):
    """One that looks back at the last events only, so that its histories are soon as long as they get."""
    return make_model(smurf, folder, "short", "--window", "32", "--history", "16", "--adaptive", "0", "--pool", "off")


def program(build):
    for tool in "wrk", "curl":
        if not shutil.which(tool):
            raise SystemExit(f"bench: smurf serve is measured with {tool}: apt-get install {tool}")
    return pathlib.Path(build).resolve() / "smurf"


def benchmark(build, seconds=SECONDS, sequences=SEQUENCES, soak_seconds=SOAK_SECONDS):
    smurf = program(build)
    with tempfile.TemporaryDirectory(prefix="smurf-bench-") as folder:
        model = make_model(smurf, folder)
        found = {"sequences": sequences, "forecasts": forecasts(smurf, folder, model, sequences, seconds), "events": events(smurf, folder, model, seconds),
                 "watched": events(smurf, folder, model, seconds, "--alarms-per-day", "1")}
        if soak_seconds:
            found["soak"] = soak(smurf, folder, make_short_model(smurf, folder), min(sequences, SOAK_SEQUENCES), soak_seconds)
    return found


def tenths(soaked):
    """Memory at the end of each tenth of the time."""
    memory = soaked["memory_mb"]
    return [memory[len(memory) * k // 10 - 1] for k in range(1, 11)]


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
        s = found["soak"]
        lines += ["", f"Under load for {s['seconds'] / 60:.0f} minutes, {s['forecasts_per_s']:,.0f} forecasts and {s['events_per_s']:,.0f} events a second of {SOAK_SEQUENCES:,} sequences, with alarms, pruning (`--keep-events 50`),",
                  "a listener of the stream, a model that looks back at no more than 32 events, and `--memory 64`, it took this memory; in the last three tenths of the time it may grow by 2%:", "",
                  "| tenth of the time | " + " | ".join(str(k) for k in range(1, 11)) + " |", "|---|" + "--:|" * 10, "| MB | " + " | ".join(f"{mb:,.0f}" for mb in tenths(s)) + " |"]
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
        memory = tenths(found["soak"])
        checks.append((memory[9] < GROWTH * memory[6], f"the service grew from {memory[6]:.0f} to {memory[9]:.0f} MB in the last three tenths of its load"))
    return [words for met, words in checks if not met]


def load_alone(build, seconds, sequences):
    with tempfile.TemporaryDirectory(prefix="smurf-bench-") as folder:
        return soak(program(build), folder, make_short_model(program(build), folder), sequences, seconds)


def write(found):
    page = ROOT / "doc" / "performance.md"
    before, rest = page.read_text().split("## The service\n", 1)
    page.write_text(before + "\n".join(section(found)) + "\n\n## " + rest.split("\n## ", 1)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--sequences", type=int, default=SEQUENCES)
    parser.add_argument("--soak", type=int, default=SOAK_SECONDS, metavar="SECONDS")
    parser.add_argument("--load", type=int, metavar="SECONDS")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    found = load_alone(args.build, args.load, args.sequences) if args.load else benchmark(args.build, args.seconds, args.sequences, args.soak)
    print(json.dumps(found, indent=1))
    if args.write and not args.load:
        write(found)
        sys.exit("\n".join(misses(found)) or 0)


if __name__ == "__main__":
    main()
