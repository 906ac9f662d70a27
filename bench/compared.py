"""Shared by results.py and ablations.py: calls of smurf compare, whose answers are stored as JSON, and tables of their rows."""

import hashlib
import json
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent

TITLE = {"stackoverflow": "StackOverflow", "retweet": "Retweet (SEISMIC-derived)", "mimic2": "MIMIC-II", "financial": "Financial"}
# CRPS and IL in the units of the paper's tables: 10^6 s, the data's own unit, for StackOverflow; mean train gaps for the others.
UNIT = {"stackoverflow": [], "retweet": ["--in-mean-gaps"], "mimic2": ["--in-mean-gaps"], "financial": ["--in-mean-gaps"]}
UNIT_TEXT = {data: "mean train gaps" if options else "10⁶ s" for data, options in UNIT.items()}
# The name of a data set in the presets paper-... and program-....
PRESET = {"stackoverflow": "stackoverflow", "retweet": "retweet", "mimic2": "mimic", "financial": "financial"}

# Name in the JSON, heading, decimals, and direction: -1 lower is better, 1 higher, 0 neither.
COLUMNS = [("cs", "CS %", 2, -1), ("crps", "CRPS", 4, -1), ("cer", "CER %", 2, -1), ("il", "IL", 4, 0), ("acc", "types %", 2, 1),
           ("acc_true_time", "at true time %", 2, 1), ("log_likelihood", "log-lik.", 3, 1), ("skill", "skill %", 1, 1)]


# Finished cells and answers of earlier runs, a file for each data set, by their path in --runs: the long ones take days, and come one by one.
KEPT = ROOT / "bench" / "kept"


def restore(arguments):
    """Puts what was kept where smurf compare finds it."""
    for file in sorted(KEPT.glob("*.jsonl")):
        for line in file.read_text().splitlines():
            kept = json.loads(line)
            path = arguments.runs / kept["path"]
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(kept["text"])


def shortened(value, key=""):
    """Numbers with seven digits, and names of files without their folders."""
    if isinstance(value, dict):
        return {name: shortened(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [shortened(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.7g}")
    return pathlib.PurePath(value).name if key == "data" else value


def keep(arguments, data):
    """Keeps what was finished; of logs, what the tables need."""
    file = KEPT / f"{data}.jsonl"
    kept = {json.loads(line)["path"]: line for line in file.read_text().splitlines()} if file.exists() else {}
    for path in [*arguments.runs.glob(f"json/{data}-*.json"), *arguments.runs.glob(f"{data}/*/result-*.json"), *arguments.runs.glob(f"{data}/*/log.jsonl")]:
        text, name = path.read_text(), str(path.relative_to(arguments.runs))
        if path.suffix == ".json":
            text = json.dumps(shortened(json.loads(text)), separators=(",", ":"))
        elif list(path.parent.glob("result-*.json")):
            text = "".join(json.dumps({"seconds": json.loads(line)["seconds"]}) + "\n" for line in text.splitlines())
        else:
            continue  # not finished
        kept[name] = json.dumps({"path": name, "text": text})
    KEPT.mkdir(exist_ok=True)
    file.write_text("".join(kept[name] + "\n" for name in sorted(kept)))


def add_options(parser):
    parser.add_argument("--command", type=pathlib.Path, default=ROOT / "build" / "smurf")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--runs", type=pathlib.Path, default=ROOT / "runs" / "compare")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="only write the document, from existing results")


def compare(arguments, data, models, options, folder=None):
    """The answer of smurf compare; None if it was not run and arguments.write is set."""
    words = ["--models", ",".join(models), *options, *UNIT[data]]
    place = arguments.runs / "json"
    place.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(" ".join([data, str(folder or ""), *words]).encode()).hexdigest()[:12]
    out = place / f"{data}-{name}.json"
    if not arguments.write:
        command = [str(arguments.command), "compare", str(folder or arguments.data / data), *words, "--runs", str(arguments.runs / data),
                   "--threads", str(arguments.threads), "--format", "json", "-o", str(out), "--report", str(out.with_suffix(".html"))]
        print(" ".join(command), flush=True)
        subprocess.run(command, check=True)
    return drawn_types(json.loads(out.read_text())) if out.exists() else None


def drawn_types(answer):
    """Rows of draws use the accuracy of drawn types."""
    for row in answer["rows"]:
        for part in ("mean", "sd"):
            if row["law"] == "drawn":
                row[part]["acc"] = row[part]["acc_draws"]
    return answer


def command_line(data, models, options):
    """The command line of a comparison."""
    return " ".join(["smurf compare", data, "--models", ",".join(models), *options, *UNIT[data]])


def minutes(arguments, data, row):
    """Mean training time of a row's runs, from their logs; None without logs."""
    times = []
    for run in row.get("each", []):
        for log in (arguments.runs / data).glob(f"*-{run['fingerprint']}/log.jsonl"):
            seconds = [json.loads(line)["seconds"] for line in log.read_text().splitlines()]
            times.append(len(seconds) * statistics.median(seconds) / 60)  # the median ignores delayed epochs
    return statistics.mean(times) if times else None


def epochs(arguments, data, row):
    """Number of epochs of a row's first run."""
    for run in row.get("each", []):
        for log in (arguments.runs / data).glob(f"*-{run['fingerprint']}/log.jsonl"):
            return len(log.read_text().splitlines())
    return None


def is_naive(row):
    return row["model"] in ("recent", "marginal")


# ---- Tables ----


def number(x, decimals):
    if x is None:
        return ""
    if x and abs(x) < 0.5 * 10**-decimals:
        return f"{x:.2g}"
    return f"{x:.{decimals}f}"


def marks(rows, key, way):
    """For each row: "best", "near" (within the larger deviation over seeds) or ""."""
    values = [row["mean"].get(key) for row in rows]
    there = [v for v in values if v is not None]
    floors = [row["mean"]["cs_floor"] for row in rows if row["mean"].get("cs_floor")]
    if key == "cs" and there and floors and sorted(there)[:2][-1] < min(floors):
        return [""] * len(rows)  # several below the noise floor: not distinguishable
    if not way or len(there) < 2:
        return [""] * len(rows)
    best = max(there) if way > 0 else min(there)
    spread = lambda row: (row.get("sd") or {}).get(key) or 0
    widest = max(spread(row) for row, v in zip(rows, values) if v == best)
    return ["" if v is None else "best" if v == best else "near" if abs(v - best) <= max(widest, spread(row)) else "" for row, v in zip(rows, values)]


def table(rows, extra=()):
    """Lines of a Markdown table. rows: {"name", "mean", "sd"}; extra: (heading, function of a row) for further columns; rows with "apart" are
    shown but not ranked."""
    ranked = [row for row in rows if not row.get("apart")]
    mark = {key: dict(zip(map(id, ranked), marks(ranked, key, way))) for key, _, _, way in COLUMNS}
    lines = ["| | " + " | ".join([head for _, head, _, _ in COLUMNS] + [head for head, _ in extra]) + " |", "|---|" + "--:|" * (len(COLUMNS) + len(extra))]
    for row in rows:
        cells = []
        for key, _, decimals, _ in COLUMNS:
            text, sd = number(row["mean"].get(key), decimals), (row.get("sd") or {}).get(key)
            text += f" ± {number(sd, decimals)}" if text and sd else ""
            how = mark[key].get(id(row))
            cells.append(f"**{text}**" if how == "best" else f"{text} ~" if how == "near" else text)
        lines.append(f"| {row['name']} | " + " | ".join(cells + [say(row) for _, say in extra]) + " |")
    return lines


def naive_rows(answer):
    """The rows of the naive laws and of Markov types, part of every table."""
    rows = [{**row, "name": f"naive: {row['model']}"} for row in answer["rows"] if is_naive(row)]
    return rows + [{"name": "naive: Markov types", "mean": {"acc": answer["acc_markov"]}}]


def floor(answer):
    """The noise floor of CS, as text."""
    rows = answer["rows"]
    raw = next(row["mean"]["cs_floor"] for row in rows if is_naive(row))
    mapped = [row["mean"]["cs_floor"] for row in rows if row["law"] == "recalibrated"]
    return f"Noise floor of CS: {raw:.2f}%" + (f", of recalibrated laws {mapped[0]:.2f}%" if mapped else "") + "."
