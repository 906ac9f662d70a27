#!/usr/bin/env python3
"""Trains on the real data sets and writes doc/results.md from the logs.

    bench/results.py [--command SMURF] [--data FOLDER] [--runs FOLDER] [--threads N] [--only NAME ...] [--write]

Runs whose log is complete are not repeated; an interrupted one is resumed. --write only writes the document from the logs there are.
"""

import argparse
import json
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Data set, preset, further options, and what to say about them.
RUNS = [
    ("mimic2", "default", [], ""),
    ("stackoverflow", "default", [], ""),
    ("retweet", "default", [], ""),
    ("financial", "default", [], ""),
    ("mimic2", "paper-mimic", [], ""),
    ("stackoverflow", "paper-stackoverflow", [], ""),
    ("retweet", "paper-retweet", ["--epochs", "10"], "10 epochs of the paper's 50"),
    ("financial", "paper-financial", ["--epochs", "10"], "10 epochs of the paper's 50: one takes minutes"),
]

# Dev accuracy of types at the noisy true time that the authors' program reaches on the same splits, in percent.
PROGRAM = {"stackoverflow": 47.6, "mimic2": 83.9, "financial": 62.7}
TITLE = {"mimic2": "MIMIC-II", "stackoverflow": "StackOverflow", "retweet": "Retweet (SEISMIC-derived)", "financial": "Financial"}


def name_of(data, preset):
    return f"{data}-{preset}"


def train(arguments, data, preset, options):
    folder = arguments.runs
    folder.mkdir(parents=True, exist_ok=True)
    name = name_of(data, preset)
    model, done = folder / f"{name}.safetensors", folder / f"{name}.done"
    if done.exists():
        return
    command = [arguments.command, "train", arguments.data / data, "--preset", preset, "-o", model, "--log", folder / f"{name}.jsonl",
               "--threads", str(arguments.threads), *options]
    if (folder / f"{name}.resume").exists():
        command.append("--resume")
    print(" ".join(map(str, command)), flush=True)
    subprocess.run(command, check=True, stdout=(folder / f"{name}.out").open("w"))
    done.write_text(json.dumps({"threads": arguments.threads, "options": options}))


def epochs_of(arguments, name):
    path = arguments.runs / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def curve(values):
    """A line of blocks, high where the loss is high; the first epoch, often far above, is cut to the range of the others."""
    blocks = "▁▂▃▄▅▆▇█"
    low, high = min(values), max(values[1:] or values)
    span = (high - low) or 1
    return "".join(blocks[min(7, max(0, int(7.99 * (min(v, high) - low) / span)))] for v in values)


def row(arguments, data, preset, note):
    epochs = epochs_of(arguments, name_of(data, preset))
    if not epochs:
        return f"| {TITLE[data]} | `{preset}` | not run | | | | | |"
    best = min(epochs, key=lambda e: e["dev_loss"])
    if not (arguments.runs / f"{name_of(data, preset)}.done").exists():
        note = "stopped before its end"
    program = f"{PROGRAM[data]:.1f}" if data in PROGRAM else ""
    seconds = sum(e["seconds"] for e in epochs)
    rate = sum(e["events_per_second"] for e in epochs) / len(epochs)
    return (f"| {TITLE[data]} | `{preset}` | {len(epochs)} / {best['epoch']} | {best['dev_time_loss']:.4f} | {best['dev_type_loss']:.4f} | "
            f"{100 * best['dev_accuracy']:.2f} | {program} | {seconds / 60:.1f} min, {rate:,.0f}/s{'; ' + note if note else ''} |")


def document(arguments):
    lines = [
        "# Results",
        "",
        "Written by `bench/results.py` from the logs of `smurf train` on the data sets of `../shared/data`. Everything is chosen on dev;",
        "the test parts are not touched here. Losses of different objectives and time scales do not compare: `default` maximises the",
        "likelihood on log time, `paper-…` does denoising score matching with the published settings. Accuracy is that of the types on dev, at the",
        "points of the type loss: the true time for `default`, the true time with noise for `paper-…`, as the authors' program measures it.",
        "",
        "| data | preset | epochs / best | dev time loss | dev type loss | dev accuracy % | authors' program | training time, events a second |",
        "|---|---|---|---|---|---|---|---|",
        *[row(arguments, data, preset, note) for data, preset, _, note in RUNS],
        "",
        f"One run each, seed 1, {arguments.threads} thread(s), beside other work on the same two cores: the times are upper bounds, and",
        "[performance.md](performance.md) has speed measured alone.",
        "",
        "## Dev loss by epoch",
        "",
        "| data | preset | first to last | curve |",
        "|---|---|---|---|",
    ]
    for data, preset, _, _ in RUNS:
        epochs = epochs_of(arguments, name_of(data, preset))
        if epochs:
            losses = [e["dev_loss"] for e in epochs]
            lines.append(f"| {TITLE[data]} | `{preset}` | {losses[0]:.4f} to {losses[-1]:.4f} | {curve(losses)} |")
    lines += ["", "## Again", "", "    bench/results.py --command build/smurf --data ../shared/data --runs runs", "",
              "trains all of them (resuming what was interrupted) and writes this page.", ""]
    (ROOT / "doc" / "results.md").write_text("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", type=pathlib.Path, default=ROOT / "build" / "smurf")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--runs", type=pathlib.Path, default=ROOT / "runs")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[], help="names such as stackoverflow-default")
    parser.add_argument("--write", action="store_true", help="write the document only")
    arguments = parser.parse_args()
    for data, preset, options, _ in RUNS:
        if not arguments.write and (not arguments.only or name_of(data, preset) in arguments.only):
            start = time.time()
            train(arguments, data, preset, options)
            print(f"{name_of(data, preset)}: {time.time() - start:.0f} s", flush=True)
    if arguments.write or not arguments.only:
        document(arguments)


if __name__ == "__main__":
    main()
