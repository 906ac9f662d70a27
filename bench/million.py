#!/usr/bin/env python3
"""A log of a million events: how long reading and the first epoch take.

    bench/million.py BUILD_DIRECTORY [--scale N] [--threads N] [--keep FILE]

30,000 sequences, one of them of 73,520 events, and 10,000 types, each with at least 8 events; --scale 50 makes all of it 50 times
smaller. Prints one JSON object. Fails if the epoch takes more than two minutes, at full size.
"""
import argparse
import json
import math
import os
import pathlib
import random
import sys
import tempfile

from startup import measured

EVENTS, SEQUENCES, LONGEST, TYPES = 1_000_000, 30_000, 73_520, 10_000
EPOCH_SECONDS = 120  # limit, on two cores
LEAST = 8  # events of a type: fewer than 5 would become `other`
START = 1_700_000_000


def lengths(draw, scale):
    """Of the sequences: one is long, the others share the rest, at random and at least 2 each."""
    events, count, longest = EVENTS // scale, SEQUENCES // scale, LONGEST // scale
    rest = [2] * (count - 1)
    share = [draw.expovariate(1) for _ in rest]
    room = events - longest - sum(rest)
    rest = [n + int(room * s / sum(share)) for n, s in zip(rest, share)]
    rest[0] += events - longest - sum(rest)
    return [longest] + rest


def types(draw, events, scale):
    """In random order, with frequencies that fall as 1 / rank."""
    count = TYPES // scale
    taken = [k for k in range(count) for _ in range(LEAST)]
    taken += draw.choices(range(count), [1 / (k + 1) for k in range(count)], k=events - len(taken))
    draw.shuffle(taken)
    return taken


def write(path, scale, seed=1):
    """As an export would have it: rows in order of time, sequences interleaved, gaps of minutes and of days."""
    draw = random.Random(seed)
    rows = []
    for s, n in enumerate(lengths(draw, scale)):
        now, rate = START + draw.uniform(0, 3e7), math.exp(draw.gauss(-7, 1)) if s else 2e-3
        for _ in range(n):
            now += draw.expovariate(rate if draw.random() < 0.8 else rate / 100)
            rows.append((now, s))
    rows.sort()
    with open(path, "w") as out:
        out.write("user,timestamp,action\n")
        out.writelines(f"u{s},{now:.0f},t{k}\n" for (now, s), k in zip(rows, types(draw, len(rows), scale)))
    return len(rows)


def benchmark(build, path, threads):
    smurf = pathlib.Path(build).resolve() / "smurf"
    with tempfile.TemporaryDirectory() as folder:
        model, log = f"{folder}/model", f"{folder}/log.jsonl"
        wall, _, read_mb = measured([smurf, "info", path, "--json"])
        whole, processor, train_mb = measured([smurf, "train", path, "-o", model, "--epochs", "1", "--recalibrate", "off", "--log",
                                               log, "--threads", str(threads), "--quiet"])
        epoch = json.loads(pathlib.Path(log).read_text().splitlines()[0])
    return {"bytes": os.path.getsize(path), "info_seconds": wall, "info_mb_per_s": os.path.getsize(path) / wall / 1e6, "info_peak_mb": read_mb,
            "epoch_seconds": epoch["seconds"], "epoch_events_per_second": epoch["events_per_second"], "train_seconds": whole,
            "train_processor_seconds": processor, "train_peak_mb": train_mb, "threads": threads}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--keep", help="where the log is written; a temporary file by default")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = o.keep or f"{folder}/million.csv"
        events = write(path, o.scale)
        result = {"events": events, "scale": o.scale, **benchmark(o.build, path, o.threads)}
    print(json.dumps(result))
    if o.scale == 1 and result["epoch_seconds"] > EPOCH_SECONDS:
        return f"the epoch took more than {EPOCH_SECONDS} s"


if __name__ == "__main__":
    sys.exit(main())
