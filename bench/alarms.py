#!/usr/bin/env python3
"""Runs bench_alarms and writes doc/alarms.md.

    bench/alarms.py BUILD_DIRECTORY
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def delay(days):
    return f"{24 * days:.0f} h" if days < 4 else f"{days:.0f} d"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    subprocess.run(["ninja", "-C", build, "bench/bench_alarms"], check=True, stdout=subprocess.DEVNULL)
    out = subprocess.run([build / "bench" / "bench_alarms"], check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = [json.loads(line) for line in out.splitlines()]
    lines = ["# Alarms", "",
             "Written by `bench/alarms.py`. Twenty simulated machines report an event an hour each (Poisson processes); `smurf watch` asks for one alarm a day, of all five kinds together.", "",
             "| healthy stream, forecast by | alarms in 1,000 days |", "|---|--:|",
             *[f"| {row['name']} | {row['alarms']:,.0f} |" for row in rows if row["kind"] == "healthy"], "",
             "A fault begins after 30 healthy days. Delay: until the first alarm of the kind that is about it, in 200 runs. The first two rows show chance alone.", "",
             "| fault | median delay | nine of ten within |", "|---|--:|--:|",
             *[f"| {row['name']} | {delay(row['median'])} | {delay(row['most'])} |" for row in rows if row["kind"] == "fault"], "",
             "A silence is never less probable than the end of its sequence. So a model that has learned that sequences end (`never` in its forecasts) reports what has stopped as overdue only as long as",
             "the bar for silences is above that probability. Where sequences go on, train with `--no-end`; or ask for more alarms a day.", ""]
    (ROOT / "doc" / "alarms.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
