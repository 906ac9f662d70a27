#!/usr/bin/env python3
"""Speed of the Python package: reading a DataFrame, forecasts beside the command's, live forecasts.

    from python_package import benchmark, section, misses
    bench/python_package.py BUILD [EVENTS SEQUENCES]    prints what it measures, by default for 10,000,000 and 10,000
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

FRAME_SECONDS, FORECAST_RATIO, LIVE_US = 2, 1.3, 100  # limits
EVENTS, SEQUENCES = 10_000_000, 10_000
# Debian's Python first: it finds Debian's numpy and pandas.
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable


def best(function, times=3):
    """The least wall time of some runs, in seconds."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def frame(events):
    """A DataFrame as databases return them: dates, numbers of customers that come in any order, categories."""
    import numpy as np
    import pandas as pd

    draw = np.random.default_rng(1)
    time_of = np.datetime64("2026-01-01") + np.cumsum(draw.integers(0, 10**9, events)).astype("timedelta64[ns]")
    kinds = pd.Categorical.from_codes(draw.integers(0, 10, events), [f"type {k}" for k in range(10)])
    return pd.DataFrame({"time": time_of, "user": draw.integers(0, max(1, events // 100), events), "type": kinds})


def read_frames(smurf, events):
    df = frame(events)
    names = {"time": "time", "sequence": "user", "type": "type"}
    words = df.assign(type=df["type"].astype(object))
    return {"frame_s": best(lambda: smurf.from_pandas(df, **names)), "words_s": best(lambda: smurf.from_pandas(words, **names)),
            "guessed_s": best(lambda: smurf.from_pandas(df))}


def forecasts(smurf, command, folder, sequences):
    """Seconds of the command, which reads, loads, forecasts and writes, and of the same in Python."""
    folder = pathlib.Path(folder)
    log, path = smurf.simulate("hawkes", sequences=sequences, events=40), folder / "model.safetensors"
    log.write(folder / "log.packed", format="packed")
    smurf.fit(log.split(1, 1, 98)[0], epochs=1, width=64, progress=False).save(path)
    said = [command, "predict", str(path), str(folder / "log.packed"), "--format", "csv", "--quiet"]
    return {"command_s": best(lambda: subprocess.run(said, check=True, stdout=subprocess.DEVNULL)),
            "python_s": best(lambda: smurf.load(path).forecast(smurf.read(folder / "log.packed"), progress=False).df)}, smurf.load(path)


def live(model, times=3000):
    """The median of an event and a forecast after it, in microseconds, in a history of up to 64 events."""
    histories, seconds = model.live(history=64), []
    for k in range(times):
        start = time.perf_counter()
        histories.append("ann", 1.5 * k, 0)
        histories.forecast("ann")
        seconds.append(time.perf_counter() - start)
    return 1e6 * statistics.median(seconds)


def measure(build, events, sequences):
    os.environ.setdefault("SMURF_LIBRARY", str(build / "src" / "libsmurf.so.0"))
    sys.path.insert(0, str(build / "python"))
    import smurf

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        found, model = forecasts(smurf, str(build / "smurf"), folder, sequences)
        return {"events": events, "sequences": sequences, **read_frames(smurf, events), **found, "live_us": live(model)}


def benchmark(build):
    """Results; an empty dict where the package cannot be used."""
    done = subprocess.run([PYTHON, __file__, str(build), "--json"], check=False, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def section(result):
    """Lines of doc/performance.md."""
    lines = ["## The Python package", ""]
    if not result:
        return lines + ["Not measured: numpy, pandas or cffi is missing."]
    return lines + [
        f"A DataFrame of {result['events']:,} events with dates, numbers of sequences in any order and categories becomes a log in {result['frame_s']:.1f} s; with types as",
        f"words in {result['words_s']:.1f} s; with columns that are not named in {result['guessed_s']:.1f} s. {result['sequences']:,} forecasts, with reading the log and the model, take",
        f"{result['python_s']:.2f} s, {result['python_s'] / result['command_s']:.2f} times the time of `smurf predict` ({result['command_s']:.2f} s). An event and a forecast after it, live: {result['live_us']:.0f} µs.",
    ]


def misses(result):
    """Missed targets, as text."""
    if not result:
        return []
    ratio = result["python_s"] / result["command_s"]
    checks = [
        (result["frame_s"] < FRAME_SECONDS, f"a DataFrame takes {result['frame_s']:.1f} s, {FRAME_SECONDS} are allowed"),
        (ratio < FORECAST_RATIO, f"forecasts take {ratio:.2f} times the command's time, {FORECAST_RATIO} are allowed"),
        (result["live_us"] < LIVE_US, f"a live forecast takes {result['live_us']:.0f} µs, {LIVE_US} are allowed"),
    ]
    return [f"Python: {words}" for met, words in checks if not met]


def main():
    build, sizes = pathlib.Path(sys.argv[1]).resolve(), [int(word) for word in sys.argv[2:] if word != "--json"]
    found = measure(build, *(sizes or (EVENTS, SEQUENCES)))
    if "--json" in sys.argv:
        print(json.dumps(found))
        return
    print("\n".join(section(found)))
    for words in misses(found):
        print(f"bench: {words}", file=sys.stderr)
    sys.exit(1 if misses(found) else 0)


if __name__ == "__main__":
    main()
