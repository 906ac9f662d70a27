#!/usr/bin/env python3
"""How large a batch keeps the loss curve: StackOverflow trained at batches of 4 to 128, a section of doc/scale.md. See scale.py.

    bench/batches.py BUILD_DIRECTORY [FOLDER_OF_DATA]

trains on a share of the train sequences for a fixed number of epochs. The rate grows with the square root of the batch, or with the
batch; the warmup has the same number of events for all, and nothing is averaged. Runs are kept in runs/batches, and those that are
complete are not repeated; then the section is replaced in the document.
"""

import json
import math
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = ROOT / "runs" / "batches"
BATCHES = (4, 8, 16, 32, 64, 128)
SHARE, EPOCHS, RATE, WARMUP = 15, 8, 7e-4, 200  # percent; rate and steps of warmup at the smallest batch
NEAR = 0.01  # a loss this much above the lowest, in nats a gap, is as good
RULES = {"root": 0.5, "proportional": 1}  # the power of the batch that the rate grows with
TITLE = "## How large a batch may be"


def rate(batch, rule):
    return RATE * (batch / BATCHES[0]) ** RULES[rule]


def log_of(batch, rule):
    return RUNS / f"batch-{batch}-{rule if batch > BATCHES[0] else 'root'}.jsonl"


def prepare(data):
    """A folder with the first sequences of train, and dev."""
    folder = RUNS / "data"
    folder.mkdir(parents=True, exist_ok=True)
    for part in "train", "dev":
        if not (folder / f"{part}.jsonl").exists():
            lines = (data / "stackoverflow" / f"{part}.jsonl").read_text().splitlines(keepends=True)
            (folder / f"{part}.jsonl").write_text("".join(lines[:len(lines) * SHARE // 100 if part == "train" else len(lines)]))
    return folder


def train(command, folder, batch, rule):
    log = log_of(batch, rule)
    if log.exists() and len(log.read_text().splitlines()) == EPOCHS:
        return
    words = [command, "train", folder, "-o", RUNS / "model.safetensors", "--log", log, "--batch", batch, "--rate", f"{rate(batch, rule):.6g}", "--warmup",
             WARMUP * BATCHES[0] // batch, "--average", "0", "--epochs", EPOCHS, "--patience", "0", "--recalibrate", "off", "--save-every", "0", "--threads", "1", "--quiet"]
    subprocess.run([str(word) for word in words], check=True)


def lowest(batch, rule):
    """The lowest dev loss of a run; None if it was not run."""
    log = log_of(batch, rule)
    losses = [json.loads(line)["dev_loss"] for line in log.read_text().splitlines()] if log.exists() else []
    return min(losses) if len(losses) == EPOCHS else None


def rows():
    """{batch: {rule: dev loss}} of those that were run, and how many sequences train has."""
    sequences = len((RUNS / "data" / "train.jsonl").read_text().splitlines()) if (RUNS / "data").exists() else 0
    found = {batch: {rule: lowest(batch, rule) for rule in RULES} for batch in BATCHES}
    return {batch: row for batch, row in found.items() if None not in row.values()}, sequences


def section():
    """The lines of the section: as they were if nothing was run."""
    found, sequences = rows()
    if not found:
        before = (ROOT / "doc" / "scale.md").read_text().split("\n## ")
        return [line for part in before if part.startswith(TITLE[3:]) for line in f"## {part}".splitlines()]
    least = min(min(row.values()) for row in found.values())
    largest = max(batch for batch, row in found.items() if min(row.values()) <= least + NEAR)
    lines = [TITLE, "", f"The default model on {SHARE}% of StackOverflow ({sequences} sequences), {EPOCHS} epochs, one seed. The rate is {RATE:g} at a batch of {BATCHES[0]}, and grows with the square",
             "root of the batch or with the batch; the warmup has as many events for all. Lowest dev loss, in nats a gap:", "",
             "| batch | steps of an epoch | rate by the root | dev loss | proportional rate | dev loss |", "|--:|--:|--:|--:|--:|--:|"]
    for batch, row in found.items():
        cells = [cell for rule in RULES for cell in (f"{rate(batch, rule):.2g}", f"{row[rule]:.4f}")]
        lines.append(f"| {batch} | {math.ceil(sequences / batch)} | {' | '.join(cells)} |")
    said = f"Up to {largest} sequences, the loss is within {NEAR:g} of the lowest" if largest > BATCHES[0] else f"No batch above {BATCHES[0]} comes within {NEAR:g} of the lowest loss"
    return lines + ["", f"{said}. What suffers is the number of steps, {math.ceil(sequences / largest)} in an epoch. All of the data has as many with batches of {largest * 100 // SHARE}.", ""]


def replace(text, lines):
    """The document with the section replaced, or put before the section that follows Prediction."""
    parts = text.split("\n## ")
    parts = [part for part in parts if not part.startswith(TITLE[3:])]
    at = next(i for i, part in enumerate(parts) if part.startswith("Prediction")) + 1
    return "\n## ".join(parts[:at] + ["\n".join(lines)[3:].rstrip("\n") + "\n"] * bool(lines) + parts[at:])


def main():
    data = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT.parent / "shared" / "data"
    folder = prepare(data)
    for batch in BATCHES:
        for rule in RULES:
            train(pathlib.Path(sys.argv[1]).resolve() / "smurf", folder, batch, rule)
    path = ROOT / "doc" / "scale.md"
    path.write_text(replace(path.read_text(), section()))


if __name__ == "__main__":
    main()
