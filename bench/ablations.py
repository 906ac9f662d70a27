#!/usr/bin/env python3
"""Runs the ablations with smurf compare and writes doc/ablations.md.

    bench/ablations.py [--command SMURF] [--data FOLDER] [--runs FOLDER] [--threads N] [--only NAME ...] [--write]

Each is one table of `smurf compare`, whose runs are kept: an interrupted one goes on; a page with its figures lies beside it in the folder
of runs. Two are made of several calls: shares of the train data, and Langevin steps. --write only writes the document from the tables there are.
"""

import argparse
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Data set, seeds and further options of the runs: what two cores do in an hour. More is in the command that each section names.
DATA = {"mimic2": (3, ["--in-mean-gaps"]), "stackoverflow": (1, ["--epochs", "6"])}
DSM = "default:objective=dsm:points=20"

# Name, title, what it is about, data sets, models, options, and which setting tells the rows apart (None: the model's name does).
ABLATIONS = [
    ("rivals", "Models", "The paper's comparison, each by its exact law, recalibrated on dev where that has 1,000 gaps.", ["mimic2", "stackoverflow"],
     ["default", "thp", "sahp", "nhp", "nce"], []),
    ("head", "Intensity or score", "The head gives an intensity, whose score is matched, or the score itself (the paper's SMURF^s).", ["mimic2", "stackoverflow"],
     [DSM, DSM + ":head=score"], ["--recalibrate", "off"]),
    ("sigma", "Noise", "σ of denoising score matching on log time, and none (`sm`); `auto` is chosen by the CRPS on dev.", ["mimic2"],
     [f"{DSM}:sigma={s}" for s in ("0.02", "0.05", "0.1", "0.2", "0.4", "auto")] + ["default:objective=sm"], ["--recalibrate", "off"]),
    ("objective", "Objectives and gradient", "The same model by likelihood, weighted score matching, denoising score matching with the whole gradient, and stopped at λ'/λ as in "
     "the authors' program.", ["mimic2", "stackoverflow"], ["default", "default:objective=wsm", DSM, DSM + ":gradient=stop"], ["--recalibrate", "off"]),
    ("alpha", "Weight of the time loss", "α beside the type loss.", ["mimic2"], [f"default:alpha={a}" for a in ("0.3", "1", "3", "10")], ["--recalibrate", "off"]),
    ("scale", "Time scale and gap feature", "Log time or mean time, with and without the gap before each event shown to the encoder.", ["mimic2", "stackoverflow"],
     ["default", "default:gap-feature=off", "default:scale=mean", "default:scale=mean:gap-feature=off"], ["--recalibrate", "off"]),
    ("sampler", "Langevin draws", "The law by 100 draws of the paper's sampler, the number of steps chosen on dev: beside the exact laws above.", ["mimic2"], [DSM, "paper-mimic"],
     ["--sampler", "langevin", "--steps", "auto", "--recalibrate", "off"]),
    ("calibration", "Recalibration", "The same model with two thirds of dev set aside to calibrate on, and with all of dev to select.", ["mimic2", "stackoverflow"], ["default"],
     ["--recalibrate", "on"]),
]
TITLE = {"mimic2": "MIMIC-II", "stackoverflow": "StackOverflow"}


def command_of(arguments, ablation, data, extra=()):
    _, _, _, _, models, options = ablation
    seeds, more = DATA[data]
    return [str(arguments.command), "compare", str(arguments.data / data), "--models", ",".join(models), "--seeds", str(seeds), *more, *options, *extra]


def run(arguments, ablation, data):
    out = arguments.runs / f"{ablation[0]}-{data}.md"
    arguments.runs.mkdir(parents=True, exist_ok=True)
    extra = ["--runs", str(arguments.runs / data), "--threads", str(arguments.threads), "--format", "markdown", "-o", str(out),
             "--report", str(out.with_suffix(".html"))]
    subprocess.run(command_of(arguments, ablation, data, extra), check=True)


SHARES = (10, 25, 50, 100)
STEPS = (10, 30, 100, 300, 1000, 3000)


def run_shares(arguments, data="mimic2"):
    """The default preset on a part of the train sequences."""
    rows = []
    for share in SHARES:
        folder = arguments.runs / "share" / f"{data}-{share}"
        folder.mkdir(parents=True, exist_ok=True)
        for part in ("train", "dev", "test"):
            lines = (arguments.data / data / f"{part}.jsonl").read_text().splitlines(keepends=True)
            count = max(2, len(lines) * share // 100) if part == "train" else len(lines)
            (folder / f"{part}.jsonl").write_text("".join(lines[:count]))
        out = folder / "table.md"
        seeds, more = DATA[data]
        subprocess.run([str(arguments.command), "compare", str(folder), "--models", "default", "--seeds", str(seeds), *more, "--runs", str(arguments.runs / "share" / "runs"),
                        "--threads", str(arguments.threads), "--format", "markdown", "-o", str(out)], check=True)
        table = out.read_text().splitlines()
        row = next(line for line in table if line.startswith("| default")).replace("**", "").replace(" ~", "")
        rows.append(row.replace("| default", f"| {share}% of train"))
    head = [line for line in table if line.startswith("| model") or line.startswith("|---")]
    naive = [line.replace("**", "").replace(" ~", "") for line in table if line.startswith("| naive")]
    (arguments.runs / f"share-{data}.md").write_text("\n".join([*head, *rows, *naive]) + "\n")


def run_steps(arguments, data="mimic2"):
    """Calibration of Langevin draws against the number of steps: the drift of a walk without a stationary law."""
    model = arguments.runs / f"steps-{data}.safetensors"
    subprocess.run([str(arguments.command), "train", str(arguments.data / data), "--preset", "paper-mimic", "-o", str(model), "--threads", str(arguments.threads), "-q"],
                   check=True, stdout=subprocess.DEVNULL)
    rows = []
    for steps in STEPS:
        done = subprocess.run([str(arguments.command), "eval", str(model), str(arguments.data / data), "--sampler", "langevin", "--steps", str(steps), "--in-mean-gaps", "--json",
                               "--threads", str(arguments.threads)], check=True, stdout=subprocess.PIPE)
        r = json.loads(done.stdout)
        rows.append(f"| {steps} | {r['cs_sampled']:.2f} | {r['crps_sampled']:.4f} | {r['cer_sampled']:.2f} | {r['il_sampled']:.4f} |")
    rows.append(f"| exact law | {r['cs_raw']:.2f} | {r['crps_raw']:.4f} | {r['cer_raw']:.2f} | {r['il_raw']:.4f} |")
    rows.append(f"| naive: recent | {r['cs_recent']:.2f} | {r['crps_recent']:.4f} | {r['cer_recent']:.2f} | {r['il_recent']:.4f} |")
    rows.append(f"| naive: marginal | {r['cs_marginal']:.2f} | {r['crps_marginal']:.4f} | {r['cer_marginal']:.2f} | {r['il_marginal']:.4f} |")
    (arguments.runs / f"steps-{data}.md").write_text("\n".join(["| steps | CS% | CRPS | CER% | IL |", "|---|--:|--:|--:|--:|", *rows]) + "\n")


OTHERS = [("share-mimic2", run_shares, "Share of the train data", "The default preset on the first 10% to 100% of MIMIC-II's train sequences, 3 seeds."),
          ("steps-mimic2", run_steps, "Number of Langevin steps", "MIMIC-II, `paper-mimic`, 100 draws of each gap, ε = 0.02. The walk has no stationary law, so that its calibration drifts with the "
           "number of steps; a number chosen on test would look good by chance.")]


def document(arguments):
    lines = ["# Ablations", "",
             "Written by `bench/ablations.py` from `smurf compare` on the test parts. MIMIC-II: 3 seeds, 172 gaps: differences below some 0.02 of CRPS are noise. StackOverflow: one seed and 6 epochs, a",
             "fifth of the default's, so that two cores finish within the hour; leave out `--epochs 6` for the full run. Everything is chosen on dev. The naive rows stand in every",
             "table.", ""]
    for ablation in ABLATIONS:
        name, title, about, sets, _, _ = ablation
        found = [(data, arguments.runs / f"{name}-{data}.md") for data in sets]
        found = [(data, path.read_text()) for data, path in found if path.exists()]
        lines += [f"## {title}", "", about, ""]
        if not found:
            lines += ["Not run.", ""]
        for data, text in found:
            body = text.split("\n", 2)
            lines += [f"### {TITLE[data]}", "", body[0].split(", test: ")[-1], "", body[2].strip(), "",
                      "    " + " ".join(command_of(arguments, ablation, data)).replace(str(arguments.command), "smurf").replace(str(arguments.data) + "/", ""), ""]
    for name, _, title, about in OTHERS:
        path = arguments.runs / f"{name}.md"
        lines += [f"## {title}", "", about, "", path.read_text() if path.exists() else "Not run.\n"]
    (ROOT / "doc" / "ablations.md").write_text("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", type=pathlib.Path, default=ROOT / "build" / "smurf")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--runs", type=pathlib.Path, default=ROOT / "runs" / "compare")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[], help="names such as sigma-mimic2")
    parser.add_argument("--write", action="store_true", help="write the document only")
    arguments = parser.parse_args()
    for ablation in ABLATIONS:
        for data in ablation[3]:
            if not arguments.write and (not arguments.only or f"{ablation[0]}-{data}" in arguments.only):
                run(arguments, ablation, data)
    for name, run_one, _, _ in OTHERS:
        if not arguments.write and (not arguments.only or name in arguments.only):
            run_one(arguments)
    document(arguments)


if __name__ == "__main__":
    main()
