"""Hospital cases: does anything follow after a release? In five folds, what was forecast for each release of the cases that a model
has not seen, against what came. A section of doc/logs.md.

After a release at t, in a log that ends at T, nothing comes with probability S(T - t) = pi + (1 - pi) S0(T - t). `smurf predict` says pi,
and with --now T the probability pi / S(T - t) that nothing ever comes.
"""

import csv
import json
import random
import statistics
import subprocess

FOLDS, GROUPS = 5, 10


def lines_of(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def write(path, head, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def forecasts(command, model, path, *options):
    out = subprocess.run([command, "predict", model, path, "--format", "jsonl", "--quiet", *options], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {answer["sequence"]: answer["never"] for answer in map(json.loads, out.splitlines())}


def fold(arguments, folder, head, cases, names, end, k):
    """[(forecast, whether nothing came)] of the releases of one fold."""
    train, test = folder / f"releases-train-{k}.csv", folder / f"releases-test-{k}.csv"
    model, out = folder / f"releases-{k}.safetensors", folder / f"releases-{k}.json"
    if out.exists() or arguments.write:
        return json.loads(out.read_text()) if out.exists() else None
    mine = names[k::FOLDS]
    write(train, head, [row for name in names if name not in set(mine) for row in cases[name]])
    cut, last = [], {}
    for name in mine:
        for i, row in enumerate(cases[name]):
            if row[2].startswith("Release") and row[1] < end:
                last[f"{name} {i}"] = i + 1 == len(cases[name])
                cut += [[f"{name} {i}", *before[1:]] for before in cases[name][:i + 1]]
    write(test, head, cut)
    common = ["--threads", str(arguments.threads), "--quiet"]
    subprocess.run([arguments.command, "train", train, "-o", model, "--split", "9:1:0", "--observed-until", end, *common], check=True, stdout=subprocess.DEVNULL)
    first, then = forecasts(arguments.command, model, test), forecasts(arguments.command, model, test, "--now", end)
    found = [(first[name] / then[name], nothing) for name, nothing in last.items() if then[name]]
    out.write_text(json.dumps(found))
    return found


def section(arguments):
    """Lines of the document; runs what is missing unless arguments.write is set."""
    folder = arguments.runs / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    whole = folder / "sepsis.csv"
    if not whole.exists():
        subprocess.run([arguments.command, "convert", arguments.data / "logs" / "sepsis.csv.gz", whole, "--quiet"], check=True)
    head, rows = lines_of(whole)
    cases = {}
    for row in rows:
        cases.setdefault(row[0], []).append(row)
    end, names = max(row[1] for row in rows), sorted(cases)
    random.Random(1).shuffle(names)
    found = [fold(arguments, folder, head, cases, names, end, k) for k in range(FOLDS)]
    if not all(found):
        return ["Not run.", ""]
    pairs = sorted(pair for one in found for pair in one)
    groups = [pairs[len(pairs) * g // GROUPS:len(pairs) * (g + 1) // GROUPS] for g in range(GROUPS)]
    said, came = statistics.mean(p for p, _ in pairs), statistics.mean(nothing for _, nothing in pairs)
    lines = [f"After {len(pairs)} releases, in five folds of the cases, nothing came until the end of the log in {100 * came:.1f}%; forecast {100 * said:.1f}%. By tenths of the forecast, in percent, with the",
             "standard error of the share:", "", "| | " + " | ".join(str(g + 1) for g in range(GROUPS)) + " |", "|---|" + "--:|" * GROUPS]
    share = [statistics.mean(nothing for _, nothing in g) for g in groups]
    lines.append("| forecast | " + " | ".join(f"{100 * statistics.mean(p for p, _ in g):.0f}" for g in groups) + " |")
    lines.append("| nothing came | " + " | ".join(f"{100 * s:.0f} ± {100 * (s * (1 - s) / len(g)) ** 0.5:.0f}" for s, g in zip(share, groups)) + " |")
    return [*lines, ""]
