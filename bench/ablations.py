#!/usr/bin/env python3
"""Runs the ablations with smurf compare and writes doc/ablations.md and its figures.

    bench/ablations.py [--command SMURF] [--data FOLDER] [--runs FOLDER] [--threads N] [--only NAME ...] [--write]

Every row is a model and a way of measuring. Rows measured in the same way are one call of `smurf compare`, whose runs are stored:
interrupted ones are resumed, and a page with coverage and interval lengths is written next to the answer. --only takes names such
as sigma or sigma-mimic2, or ends or ends-bike of parts.py, whose sections come last. --write only writes the document, from existing answers.
"""

import argparse
import dataclasses
import typing

import parts
import plot
from compared import PRESET, ROOT, TITLE, UNIT, UNIT_TEXT, add_options, command_line, compare, floor, naive_rows, table

# Seeds and epochs of the runs: a few hours on two cores. For full runs, use the command below each table without --epochs and with more seeds.
EFFORT = {"stackoverflow": ["--seeds", "1", "--epochs", "6"], "retweet": ["--seeds", "1", "--epochs", "3"], "mimic2": ["--seeds", "3"],
          "financial": ["--seeds", "1", "--epochs", "6"]}
ONE_FULL = {"stackoverflow": ["--seeds", "1"], "retweet": ["--seeds", "1", "--epochs", "10"], "mimic2": ["--seeds", "5"],
            "financial": ["--seeds", "1", "--epochs", "3"]}
DSM = "default:objective=dsm:points=20"
RAW = ["--recalibrate", "off"]
LANGEVIN = ["--sampler", "langevin"]
SHARES = (10, 25, 50, 100)
STEPS = (10, 30, 100, 300, 1000, 3000)


@dataclasses.dataclass
class Row:
    label: str
    model: str
    options: tuple = ()
    x: float = None  # position on a numeric axis
    share: int = 100  # of the train sequences, in percent


@dataclasses.dataclass
class Ablation:
    name: str
    title: str
    about: str
    sets: list
    rows: typing.Callable  # of the data set
    options: list = dataclasses.field(default_factory=lambda: RAW)
    x_label: str = ""
    full: bool = False  # with the epochs of the main table


ABLATIONS = [
    Ablation("head", "Intensity or score", "The head outputs an intensity, whose score is matched, or the score itself (the paper's SMURF^s). The paper has, for intensity against "
             "score, CS 0.65 against 6.13 and CRPS 0.44 against 0.54 on StackOverflow; CS 0.71 against 3.92 and CRPS 0.86 against 1.33 on its Retweet.",
             ["stackoverflow", "retweet", "mimic2"], lambda data: [Row("intensity", DSM), Row("score", DSM + ":head=score")]),
    Ablation("sigma", "Noise", "σ of denoising score matching on log time, and no noise (`sm`, which on log time without a known end of observation equals `wsm`); `auto` is "
             "chosen by the CRPS on dev.", ["stackoverflow", "retweet", "mimic2"],
             lambda data: [Row(f"σ = {s}", f"{DSM}:sigma={s}", x=s) for s in (0.02, 0.05, 0.1, 0.2, 0.4)] + [Row("σ auto", DSM + ":sigma=auto"), Row("none (`sm`)", "default:objective=sm")],
             x_label="σ"),
    Ablation("sampler", "Samplers", "Denoising score matching on unscaled time, with the published settings: the exact law of the same model next to 100 draws per gap, "
             "with the number of steps chosen on dev. The paper has CS 0.65, 0.87 and 8.88 for Langevin with and without its last step and mirror Langevin on StackOverflow, "
             "0.71, 1.38 and 6.73 on its Retweet, the number of steps chosen on test.", ["stackoverflow", "retweet", "mimic2"],
             lambda data: [Row("exact", "paper-" + PRESET[data])] + [Row(label, "paper-" + PRESET[data], tuple(options)) for label, options in (
                 ("Langevin + denoising", LANGEVIN), ("Langevin", LANGEVIN + ["--no-denoise"]), ("mirror Langevin", ["--sampler", "mirror"]))], options=[], full=True),
    Ablation("steps", "Number of Langevin steps", "The settings of the authors' program, 100 draws per gap. The walk has no stationary law because λ tends to a constant on the left, so "
             "its calibration drifts with the number of steps: it is best where the walk, from a wide start, crosses the right spread on its way to a biased one. The dip is narrow: the line on "
             "dev, one walk scored at every 20th step, shows it, and a coarse grid misses it.", ["stackoverflow", "mimic2"],
             lambda data: [Row(f"{n} steps", "program-" + PRESET[data], (*LANGEVIN, "--steps", str(n)), x=n) for n in STEPS]
             + [Row("chosen on dev", "program-" + PRESET[data], (*LANGEVIN, "--steps", "auto")), Row("exact law", "program-" + PRESET[data])],
             options=[], x_label="steps", full=True),
    Ablation("alpha", "Weight of the time loss", "α relative to the type loss. In the paper a larger α lowers CS and CRPS at the cost of accuracy.", ["stackoverflow", "mimic2"],
             lambda data: [Row(f"α = {a}", f"{DSM}:alpha={a}", x=a) for a in (0.3, 1, 3, 10)], x_label="α"),
    Ablation("share", "Share of the train data", "The default preset on the first 10% to 100% of the train sequences; skill is relative to the naive law of the same part.", ["stackoverflow", "retweet", "mimic2"],
             lambda data: [Row(f"{share}%", "default", x=share, share=share) for share in SHARES], x_label="% of the train sequences"),
    Ablation("objective", "Objectives and gradient", "The same model trained by likelihood, weighted score matching, and denoising score matching with the full gradient or stopped at λ'/λ as in "
             "the authors' program.", ["stackoverflow", "retweet", "financial", "mimic2"],
             lambda data: [Row("`mle`", "default"), Row("`wsm`", "default:objective=wsm"), Row("`dsm`", DSM), Row("`dsm`, gradient stopped", DSM + ":gradient=stop")]),
    Ablation("scale", "Time scale and gap feature", "Log time or mean time, with and without the preceding gap as an input of the encoder.", ["stackoverflow", "retweet", "financial", "mimic2"],
             lambda data: [Row("log time, gap feature", "default"), Row("log time", "default:gap-feature=off"), Row("mean time, gap feature", "default:scale=mean"),
                           Row("mean time", "default:scale=mean:gap-feature=off")]),
    Ablation("counts", "Decayed counts", "With and without decayed counts of the events on ten time scales, as an input of the encoder and of the types.",
             ["stackoverflow", "retweet", "financial", "mimic2"], lambda data: [Row("counts", "default"), Row("no counts", "default:counts=off")]),
    Ablation("calibration", "Recalibration", "The same model with two thirds of dev set aside for calibration: its law as trained, and recalibrated.",
             ["stackoverflow", "retweet", "financial", "mimic2"], lambda data: [Row("", "default")], options=["--recalibrate", "on"]),
]


def part_of(arguments, data, share):
    """A folder with the first `share` percent of the train sequences."""
    if share == 100:
        return None
    folder = arguments.runs / "share" / f"{data}-{share}"
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("train", "dev", "test"):
        lines = (arguments.data / data / f"{part}.jsonl").read_text().splitlines(keepends=True)
        count = max(2, len(lines) * share // 100) if part == "train" else len(lines)
        (folder / f"{part}.jsonl").write_text("".join(lines[:count]))
    return folder


def calls(ablation, data):
    """Rows grouped by call of compare: (options, share, rows)."""
    effort = (ONE_FULL if ablation.full else EFFORT)[data]
    found = {}
    for row in ablation.rows(data):
        found.setdefault((row.options, row.share), []).append(row)
    return [([*effort, *ablation.options, *options], share, rows) for (options, share), rows in found.items()]


def run(arguments, ablation, data):
    """The rows with their numbers, and the last answer; None if something was not run."""
    measured, answer, full = {}, None, None
    for options, share, rows in calls(ablation, data):
        answer = compare(arguments, data, [row.model for row in rows], options, part_of(arguments, data, share))
        if not answer:
            return None
        if share == 100:
            full = answer["mean_gap"]
        for row in rows:
            for found in answer["rows"]:
                if found["model"] == row.model:
                    found["measured_in"] = answer["mean_gap"]
                    name = ", ".join(word for word in (row.label, found["law"] if found["law"] in ("raw", "recalibrated") else "") if word)
                    steps = [str(each["steps"]) for each in found["each"] if each.get("steps")]
                    chosen = f" ({', '.join(dict.fromkeys(steps))} steps)" if steps and not row.x else ""
                    measured.setdefault(id(row), []).append({**found, "name": name + chosen, "x": row.x})
    rows = [row for key in measured for row in measured[key]]
    for row in rows if UNIT[data] else []:
        in_one_unit(row, full)
    return rows, answer


def in_one_unit(row, mean_gap):
    """Converts durations from mean gaps of a part of the train data to those of all; skill stays relative to the part's own naive law."""
    factor = row["measured_in"] / mean_gap
    for part in ("mean", "sd"):
        for key in ("crps", "il"):
            if row[part].get(key) is not None:
                row[part][key] *= factor


def panels(ablation, data, rows, naive):
    """CRPS and CS of the rows, on a numeric axis if they have positions."""
    out = []
    for key, head in (("crps", f"CRPS, {UNIT_TEXT[data]}"), ("cs", "CS %")):
        there = [row for row in rows if row["mean"].get(key) is not None]
        references = {row["model"]: row["mean"][key] for row in naive if row["mean"].get(key) is not None}
        lined = [row for row in there if row["x"] is not None] if ablation.x_label else []
        shown = lined or there
        deviation = [(row.get("sd") or {}).get(key) for row in shown]
        xs = [row["x"] for row in lined] or [row["name"].replace("`", "") for row in there]
        for row in there if lined else []:
            if row["x"] is None:
                references[row["name"].replace("`", "")] = row["mean"][key]
        series = [plot.Series("", xs, [row["mean"][key] for row in shown], deviation)]
        walk = next((row["each"][0] for row in there if row["each"][0].get("walk_cs")), None)
        if key == "cs" and lined and walk:
            cs = walk["walk_cs"]
            series.append(plot.Series("dev", [(k + 1) * walk["walk_every"] for k in range(len(cs))], cs))
        out.append(plot.Panel(f"{TITLE[data]}: {head}", series, references, ablation.x_label, log_x=bool(lined)))
    return out


def parts_of(text, mark):
    """The parts of a document by their heading: {heading: lines}."""
    parts, lines = {}, []
    for line in text.splitlines():
        if line.startswith(mark + " "):
            lines = parts.setdefault(line[len(mark) + 1:], [])
        lines.append(line)
    return parts


def section(arguments, ablation, before):
    """before: the text of the document as it was. Sets that are not run here keep what it says of them."""
    lines, body, pictures = [f"## {ablation.title}", "", ablation.about, ""], [], []
    kept = parts_of("\n".join(parts_of(before, "##").get(ablation.title, [])), "###")
    for data in ablation.sets:
        done = run(arguments, ablation, data)
        if not done:
            before_it = "\n".join(kept.get(TITLE[data], [f"### {TITLE[data]}", "", "Not run."]))
            body += [*before_it.rstrip("\n").split("\n"), ""]
            continue
        rows, answer = done
        naive = naive_rows(answer)
        pictures += panels(ablation, data, rows, naive)
        seeds = max(row["runs"] for row in rows)
        body += [f"### {TITLE[data]}", "", f"{answer['n']:,} gaps of {answer['sequences']:,} sequences; {seeds} seed{'s' if seeds > 1 else ''}; CRPS and IL in {UNIT_TEXT[data]}. "
                 + floor(answer), "", *table(rows + naive), ""]
        body += [f"    {command_line(data, [row.model for row in group], options)}" + (f"   # on {share}% of train" if share < 100 else "")
                 for options, share, group in calls(ablation, data)] + [""]
    picture = ROOT / "doc" / f"ablation-{ablation.name}.svg"
    if len(pictures) == 2 * len(ablation.sets) or pictures and not picture.exists():
        plot.write(picture, pictures)
    if picture.exists():
        lines += [f"![{ablation.title}](ablation-{ablation.name}.svg)", ""]
    return lines + body


def document(arguments):
    lines = ["# Ablations", "",
             "Written by `bench/ablations.py` from `smurf compare` on the test parts; all choices are made on dev, and every table includes the naive laws. Laws are exact and as trained, unless",
             "stated otherwise. MIMIC-II has 172 gaps: differences in CRPS below about 0.02 are noise. The large sets have one seed and few epochs (6 of 29 on StackOverflow, 3 of 10 on",
             "Retweet, 6 of 20 on Financial), so that two cores finish within hours; omit `--epochs` for full runs. Retweet is a different selection from the paper's. Dashed lines in the",
             "figures are the naive laws. **Bold**: best of its column; ~: no further from it than the larger standard deviation over seeds. Accuracy given the true time is in every table; with the",
             "paper's numbers it is in [results.md](results.md).", ""]
    path = ROOT / "doc" / "ablations.md"
    before = path.read_text() if path.exists() else ""
    for ablation in ABLATIONS:
        lines += section(arguments, ablation, before)
    lines += parts.sections(arguments, parts_of(before, "##"))
    path.write_text("\n".join(lines) + ("" if lines[-1] == "" else "\n"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--only", nargs="*", default=[], help="names such as sigma, sigma-mimic2 or ends-bike")
    arguments = parser.parse_args()
    if arguments.only and not arguments.write:
        for ablation in ABLATIONS:
            for data in ablation.sets:
                if {ablation.name, f"{ablation.name}-{data}"} & set(arguments.only):
                    run(arguments, ablation, data)
        parts.run(arguments, set(arguments.only))
        arguments.write = True
    document(arguments)


if __name__ == "__main__":
    main()
