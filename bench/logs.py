#!/usr/bin/env python3
"""Trains the default preset on the real logs, as a user without options would, and writes doc/logs.md.

    bench/logs.py [--command SMURF] [--data FOLDER] [--runs FOLDER] [--threads N] [--only NAME ...] [--write]

One table compares forecasts with the naive laws on what training has not seen; one says what each part of the preset is
worth. Runs that are complete are not repeated. --only takes names of logs, or
releases, the five folds of hospital cases. --write only writes the document.
"""

import argparse
import dataclasses
import json
import pathlib
import statistics
import subprocess

import releases

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEEDS = 3


@dataclasses.dataclass
class Log:
    name: str
    title: str
    path: str
    options: list = dataclasses.field(default_factory=list)
    one: bool = False  # one log, cut in time
    clock: bool = False  # with dates of two weeks and 2,000 events


LOGS = [
    Log("sepsis", "hospital cases", "logs/sepsis.csv.gz", clock=True),
    Log("ufo", "UFO sightings, one log", "logs/ufo.csv.gz", ["--type", "Shape Reported"], one=True, clock=True),
    Log("seattle911", "emergency calls, one log", "logs/seattle911.csv.gz", one=True, clock=True),
    Log("pdm", "machine errors", "logs/pdm.csv", clock=True),
    Log("bike", "bike trips", "logs/bike.csv"),
    Log("ssh", "a server's log", "logs/ssh.csv", one=True),
    Log("mimic2", "MIMIC-II", "mimic2"),
]
# Parts of the default preset, and the options of smurf train that switch them off.
ALL = ("all", [])
NO_CLOCK = ("no clock", ["--wall-clock", "off"])
OFF = [("no pool", ["--pool", "off"]), ("no counts", ["--counts", "off"]), NO_CLOCK, ("tails not bounded", ["--tail", "off"])]
OFF_ONE, OFF_SEVERAL = ("levels do not adapt", ["--adaptive", "0"]), ("no end of a case", ["--no-end"])


def parts(log):
    return [ALL, *(part for part in OFF if part != NO_CLOCK or log.clock), OFF_ONE if log.one else OFF_SEVERAL]


def run(arguments, log, part, options, seed):
    """The answer of smurf eval; None if there is none and arguments.write is set."""
    folder = arguments.runs / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{log.name}-{part.replace(' ', '-')}-{seed}"
    model, out = folder / f"{name}.safetensors", folder / f"{name}.json"
    if not out.exists():
        if arguments.write:
            return None
        data = arguments.data / log.path
        common = ["--threads", str(arguments.threads), "--quiet"]
        commands = [[arguments.command, "train", data, "-o", model, "--seed", str(seed), *log.options, *options, *common],
                    [arguments.command, "eval", model, data, "--json", "--bootstrap", "400", *common]]
        print(" ".join(map(str, commands[0])), flush=True)
        trained = subprocess.run(commands[0], check=True, stdout=subprocess.PIPE, text=True).stdout
        answer = json.loads(subprocess.run(commands[1], check=True, stdout=subprocess.PIPE).stdout)
        answer["trained"] = trained.splitlines()
        out.write_text(json.dumps(answer))
    return json.loads(out.read_text())


def mean(rows, key):
    values = [row[key] for row in rows if row.get(key) is not None]
    return statistics.mean(values) if values else None


def spread(rows, key):
    values = [row[key] for row in rows if row.get(key) is not None]
    return f" ± {statistics.stdev(values):.4f}" if len(values) > 1 else ""


def text(value, places, sign=""):
    return "" if value is None else f"{value:{sign}.{places}f}"


def crps(rows, suffix=""):
    return mean([row["in_mean_gaps"] for row in rows], "crps" + suffix)


def gain(row):
    """Against the best naive law: gain of CRPS in percent and its 90% interval."""
    best = row["best_naive"]
    return f"{best['gain']:.1f} ({best['low']:.1f} to {best['high']:.1f}) over {best['law'].replace('_', ' ')}"


def law_names(rows):
    return [name for name in ("recent", "marginal", "same_hour", "last") if crps(rows, "_" + name) is not None]


def comparison(found):
    lines = ["| | gaps | sequences | CRPS | recent | marginal | same hour | last 100 | gain %, 90% interval |", "|---|--:|--:|--:|--:|--:|--:|--:|---|"]
    for log, rows in found:
        cells = [text(crps(rows, "_" + name), 4) for name in ("recent", "marginal", "same_hour", "last")]
        lines.append(f"| {log.title} | {rows[0]['n']:,} | {rows[0]['sequences']:,} | **{crps(rows):.4f}**{spread([row['in_mean_gaps'] for row in rows], 'crps')} | "
                     + " | ".join(cells) + f" | {gain(rows[0])} |")
    return lines


def central(row, key, level):
    """The coverage of a central interval: levels come in steps of 10%."""
    return 100 * row[key][round(level * 10) - 1]


def calibration(found):
    lines = ["| | CS % | by PIT | noise floor | 90% interval on ticks | by PIT | types % | Markov | recency |", "|---|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for log, rows in found:
        ticks, pit = (statistics.mean(central(row, key, 0.9) for row in rows) for key in ("central_on_ticks", "central_pit"))
        cells = [text(mean(rows, "cs"), 2), text(mean(rows, "cs_pit"), 2), text(mean(rows, "cs_floor"), 2), f"{ticks:.1f}", f"{pit:.1f}",
                 text(mean(rows, "acc_true_time"), 1), text(mean(rows, "acc_markov"), 1), text(mean(rows, "acc_recency"), 1)]
        lines.append(f"| {log.title} | " + " | ".join(cells) + " |")
    return lines


def ablation(arguments):
    lines = ["| | part | CRPS | gain over the best naive law % | CS by PIT % | log-lik. | types % |", "|---|---|--:|--:|--:|--:|--:|"]
    for log in LOGS:
        for part, options in parts(log):
            rows = [run(argparse.Namespace(**{**vars(arguments), "write": True}), log, part, options, 1)]
            if rows[0]:
                lines.append(f"| {log.title if part == ALL[0] else ''} | {part} | {crps(rows):.4f} | {rows[0]['best_naive']['gain']:.1f} | {rows[0]['cs_pit']:.2f} | "
                             f"{rows[0]['log_likelihood']:.3f} | {text(rows[0]['acc_true_time'], 1)} |")
    return lines


def document(arguments):
    quiet = argparse.Namespace(**{**vars(arguments), "write": True})
    found = []
    for log in LOGS:
        rows = [row for seed in range(1, SEEDS + 1) if (row := run(quiet, log, *ALL, seed))]
        if rows:
            found.append((log, rows))
    absent = [log.title for log in LOGS if log not in [log for log, _ in found]]
    lines = ["# Real logs", "",
             "Written by `bench/logs.py` from `smurf train FILE` and `smurf eval MODEL FILE` on the logs of `../shared/data`, with the default preset. Everything is chosen on train and dev;",
             "the tables are about the test part: a tenth of the sequences, or the last tenth of one log.", *([f"Not run: {', '.join(absent)}."] if absent else []), "",
             "## Against the naive laws", "",
             f"CRPS in mean train gaps, mean and standard deviation over {SEEDS} seeds. Gain: of the first seed over the best naive law, with the 90% interval of a paired bootstrap over sequences, or over",
             "blocks of time of one log. An interval that reaches 0 says that the difference may be chance.", "", *comparison(found), "",
             "## Calibration and types", "",
             "CS: root mean square of coverage - level over the levels 0.50 to 0.95, as in the paper and by the randomised PIT; noise floor: that of the true law. The 90% interval is central, its ends",
             "are on ticks of the clock and belong to it; where gaps of 0 are frequent, its coverage exceeds 90% by right, and that by PIT is the one to look at. Types: accuracy at the true time.", "",
             *calibration(found), "",
             "## The end of a case", "", *releases.section(quiet),
             "## What each part is worth", "", "The default preset with one part switched off, first seed.", "", *ablation(arguments), ""]
    (ROOT / "doc" / "logs.md").write_text("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", type=pathlib.Path, default=ROOT / "build" / "smurf")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--runs", type=pathlib.Path, default=ROOT / "runs")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[], help="names of logs, or releases")
    parser.add_argument("--write", action="store_true", help="only write the document, from existing results")
    arguments = parser.parse_args()
    for log in LOGS if not arguments.write else []:
        if not arguments.only or log.name in arguments.only:
            for seed in range(1, SEEDS + 1):
                run(arguments, log, *ALL, seed)
            for part, options in parts(log)[1:]:
                run(arguments, log, part, options, 1)
    if not arguments.write and (not arguments.only or "releases" in arguments.only):
        releases.section(arguments)
    document(arguments)


if __name__ == "__main__":
    main()
