#!/usr/bin/env python3
"""Runs the benchmarks and writes doc/performance.md, doc/growth.svg and build/bench.json.

    bench/run.py BUILD_DIRECTORY [NAME ...]     NAME: run only these benchmarks, take the others from bench.json

Every number in doc/performance.md comes from here. Timings on shared machines are noisy: medians of five, and ratios
to other measurements of the same run, are more reliable than seconds.
"""

import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import growth
import products
import python_package
import roofline
import serve
import startup

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench" / "torch"))
import race  # noqa: E402

WHAT = {
    "jsonl_clock": "JSON Lines, times in whole seconds",
    "jsonl_double": "JSON Lines, times of 17 digits",
    "csv_clock": "CSV, times in whole seconds",
    "csv_double": "CSV, times of 17 digits",
    "csv_interleaved": "CSV, 1000 sequences interleaved, 17 digits",
}


def machine():
    model = "unknown processor"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return f"{len(os.sched_getaffinity(0))} cores of {model}, {platform.system()} {platform.machine()}"


def python_json(path):
    """Seconds that Python's json module takes for the same JSON Lines, median of three."""
    seconds = []
    for _ in range(3):
        start = time.process_time()
        with open(path) as lines:
            for line in lines:
                json.loads(line)
        seconds.append(time.process_time() - start)
    return statistics.median(seconds)


def read_benchmark(build):
    with tempfile.TemporaryDirectory() as directory:
        run = subprocess.run([build / "bench" / "bench_read", directory], check=True, stdout=subprocess.PIPE, text=True)
        rows = [json.loads(line) for line in run.stdout.splitlines()]
        for row in rows:
            if row["name"].startswith("jsonl"):
                row["python_ratio"] = python_json(row["path"]) / (row["bytes"] / row["mb_per_s"] / 1e6)
            del row["path"]
    return rows


def read_section(rows):
    lines = [
        "## Reading",
        "",
        "100 MB files, one core, five reads, each in a new process; median processor time, and the peak memory",
        "of the process relative to the packed size (12 bytes per event plus the cost of a sequence). The benchmark",
        "fails below 150 MB/s or above three times the packed size.",
        "",
        "| file | MB/s | events/s | peak / packed memory | speed-up over Python's json |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        rate = row["events"] / (row["bytes"] / row["mb_per_s"] / 1e6)
        ratio = f"{row['python_ratio']:.1f}" if "python_ratio" in row else ""
        lines.append(
            f"| {WHAT[row['name']]} | {row['mb_per_s']:.0f} | {rate / 1e6:.1f} million | "
            f"{row['peak_over_packed']:.2f} | {ratio} |"
        )
    return lines


def train_benchmark(build):
    run = subprocess.run([build / "bench" / "bench_train"], check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def train_section(rows):
    steps = [row for row in rows if row["kind"] == "step"]
    lines = [
        "## Training",
        "",
        "A whole step (forward, backward, norm of the gradient, Adam) of denoising score matching with 100 perturbations per event and the paper's settings, on",
        "random data with the shapes of the data sets; medians, each row in its own process.",
        "",
        "| model and batch | threads | events | seconds per step | events/s | peak memory, MB |",
        "|---|---|---|---|---|---|",
    ]
    for row in steps:
        lines.append(f"| {row['name']} | {row['threads']} | {row['events']:,} | {row['seconds']:.4f} | {row['events_per_second']:,} | {row['peak_mb']:,.0f} |")
    one, two = steps[0]["events_per_second"], steps[1]["events_per_second"]
    lines += [
        "",
        f"A second core gives {two / one:.2f}× on StackOverflow's batches of 4 sequences, {steps[3]['events_per_second'] / steps[2]['events_per_second']:.2f}× on Financial's model.",
    ]
    return lines


def cores_benchmark(build):
    rows = []
    for what in "--cores", "--ceiling":
        run = subprocess.run([build / "bench" / "bench_train", what], check=True, stdout=subprocess.PIPE, text=True)
        rows += [json.loads(line) for line in run.stdout.splitlines()]
    return rows


def ceiling(rows):
    """Gains over one thread alone, medians over the turns: of two processes of one thread, and of two threads."""
    turns = [row for row in rows if row["kind"] == "ceiling"]
    return [statistics.median(row[what] / row["alone"] for row in turns) for what in ("pair", "threads")]


def ceiling_lines(rows):
    if not any(row["kind"] == "ceiling" for row in rows):
        return []
    pair, threads = ceiling(rows)
    return [f"What the machine itself allows: two processes of one thread each, which share nothing, do {pair:.2f} times the work of one (paper, batch 16; median",
            f"of turns in which one, two processes and two threads follow each other); two threads in the same turns {threads:.2f} times. `make bench` asks for 1.98, or 99% of",
            "what two processes do where that is less.", ""]


def cores_table(rows):
    steps = [row for row in rows if row["kind"] == "step"]
    one = {row["name"]: row["events_per_second"] for row in steps if row["threads"] == 1}
    lines = ["| model and batch | threads | events/s | gain | waits per step | serial | idle |", "|---|--:|--:|--:|--:|--:|--:|"]
    for row in steps:
        gain = row["events_per_second"] / one[row["name"]]
        lines.append(f"| {row['name']} | {row['threads']} | {row['events_per_second']:,} | {gain:.2f} | {row['waits']:.1f} | {100 * row['serial']:.2f}% | {100 * row['idle']:.1f}% |")
    return lines


def cores_elsewhere():
    """What bench_train --cores printed on a machine with more cores; the first line names it."""
    with open(ROOT / "bench" / "cores-16.jsonl") as file:
        return [json.loads(line) for line in file]


# What a GPU is asked for: row, its member, title, speed of the paper's program on the same card, required minimum, goal.
ASKED_OF_GPU = [
    ("StackOverflow, paper, batch 4", "events_per_second", "training, StackOverflow's model, paper's settings, batch 4, events/s", 15e3, 5e5, 1.2e6),
    ("StackOverflow, paper, batch 64", "events_per_second", "the same, batch 64", None, 2e6, 6e6),
    ("default, batch 64", "events_per_second", "training, default preset, batch 64", None, 3e6, 8e6),
    ("Financial, paper, one sequence", "events_per_second", "training, Financial's model", 76e3, 2e5, 3e5),
    ("langevin", "sample_steps_per_second", "Langevin, sample-steps/s", 84e6, 2e10, 6e10),
    ("exact", "gaps_per_second", "exact laws with 19 quantiles and CRPS, gaps/s", None, 3e6, 1e7),
]


def gpu_elsewhere():
    """What `make bench-gpu` printed on a machine with a GPU; the first line names it."""
    with open(ROOT / "bench" / "gpu-h200.jsonl") as file:
        return [json.loads(line) for line in file]


def short(x):
    return "" if x is None else f"{x / 1e9:,.3g} billion" if x >= 1e9 else f"{x / 1e6:,.3g} million" if x >= 1e6 else f"{x:,.0f}"


def gpu_section():
    about, *rows = gpu_elsewhere()
    first = {}
    for row in rows:
        first.setdefault(row["name"], row)
    lines = ["## GPU", "", f"On one {about['gpu']} (`make bench-gpu`, kept in `bench/gpu-h200.jsonl`); medians by CUDA events, random data. A rate of laws or draws is that of the kernels; in brackets with copies",
             "to and from the card.", "", "| | the paper's program | measured | required | goal | |", "|---|--:|--:|--:|--:|---|"]
    for name, key, title, program, least, goal in ASKED_OF_GPU:
        value, copies = first[name][key], first[name].get("with_copies")
        verdict = f"missed by {100 * (1 - value / least):.0f}%" if value < least else "goal reached" if value >= goal else "met"
        lines.append(f"| {title} | {short(program)} | {short(value)}" + (f" ({short(copies)})" if copies else "") + f" | {short(least)} | {short(goal)} | {verdict} |")
    lines += ["", "| a step of training | events | milliseconds | events/s |", "|---|--:|--:|--:|"]
    lines += [f"| {row['name']} | {row['events']:,} | {1e3 * row['step']:.2f} | {short(row['events_per_second'])} |" for row in rows if "events" in row]
    lines += ["", "| laws and draws | laws | per second | with copies | one thread of its processor | large rooms |", "|---|---|--:|--:|--:|--:|"]
    for row in rows:
        if "laws" in row:
            what = row["name"] + (f", {row['draws']} draws, {row['steps']:,} steps" if "draws" in row else ", 19 quantiles")
            speed = row.get("gaps_per_second") or row["sample_steps_per_second"]
            lines.append(f"| {what} | {row['laws']} | {short(speed)} | {short(row['with_copies'])} | {short(row['one_thread'])} | {100 * row['large'] / row['count']:.0f}% |")
    return lines + ["", "Sample-steps or gaps per second. Laws whose tables do not fit into shared memory take a large room in global memory."]


def cores_section(rows):
    about, *elsewhere = cores_elsewhere()
    return [
        "## Cores",
        "",
        "The same step on more and more cores, with StackOverflow's shapes. Waits: how often all threads wait for each other in a step. Serial: the share of",
        "a step's time outside of parallel regions. Idle: the share of the threads' time spent waiting.",
        "",
        *cores_table(rows),
        "",
        *ceiling_lines(rows),
        f"Beside another process that computes, on two cores, two threads take {busy_ratio(rows):.2f} times as long as one thread takes alone.",
        "",
        f"On {about['name']} (`bench_train --cores`, kept in `bench/cores-16.jsonl`):",
        "",
        *cores_table(elsewhere),
        "",
        f"There two threads beside another process, both on two of the cores, take {busy_ratio(elsewhere):.2f} times as long as one thread alone. A small batch uses no more threads than",
        "have 64 rows each.",
    ]


def busy_ratio(rows):
    alone = next(row["seconds"] for row in rows if row["kind"] == "step" and row["name"] == "default, batch 8" and row["threads"] == 1)
    return next(row["seconds"] for row in rows if row["kind"] == "busy" and row["threads"] == 2) / alone


def cores_misses(rows, threads_checked=(2, 16)):
    """Missed targets of several cores, as text."""
    step = {(row["name"], row["threads"]): row for row in rows if row["kind"] == "step"}
    gain = lambda name, threads: step[name, threads]["events_per_second"] / step[name, 1]["events_per_second"]  # noqa: E731
    checks = [(busy_ratio(rows) <= 1.2, f"two threads beside another process take {busy_ratio(rows):.2f} times as long as one alone, 1.2 is allowed")]
    for (name, threads), row in step.items():
        if "batch 16" in name or "batch 64" in name:
            checks.append((row["serial"] < 0.02, f"{name}, {threads} threads: {100 * row['serial']:.1f}% serial, 2% are allowed"))
    if 2 in threads_checked:  # two threads cannot do more than two processes that share nothing
        pair, two = ceiling(rows)
        least = min(1.98, 0.99 * pair)
        checks.append((two >= least, f"paper, batch 16: 2 threads give {two:.3f}x, {least:.3f} is required"))
    for name, threads, least in (("paper, batch 4", 2, 1.84), ("paper, batch 64", 16, 8), ("default, batch 64", 16, 8)):
        if (name, threads) in step and threads in threads_checked:
            checks.append((gain(name, threads) >= least, f"{name}: {threads} threads give {gain(name, threads):.2f}x, {least} is required"))
    return [words for met, words in checks if not met]


def sample_benchmark(build):
    run = subprocess.run([build / "bench" / "bench_sample"], check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def sample_section(rows):
    lines = [
        "## Sampling",
        "",
        "100 draws of 1000 Langevin steps from each of 64 laws of 64 tanh units, including the table of each law's score; threads over",
        "laws, medians of wall time. Steep laws have units 20 times as steep as the heads can produce.",
        "",
        "| sampler | laws | threads | million sample-steps/s | ns per sample-step, processor time |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append(f"| {row['name']} | {row['laws']} | {row['threads']} | {row['sample_steps_per_second'] / 1e6:.0f} | {row['ns']:.1f} |")
    return lines


def sample_misses(rows):
    """Missed targets of sampling, as text."""
    speed = next(row["sample_steps_per_second"] for row in rows if row["name"] == "langevin" and row["laws"] == "smooth")
    return [] if speed >= 30e6 else [f"Langevin at {speed:,} sample-steps/s, 30 million are required"]


def evaluate_benchmark(build):
    run = subprocess.run([build / "bench" / "bench_evaluate"], check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def evaluate_section(rows):
    one, two = (row for row in rows if row["name"] == "exact")
    read, append = (next(row["us"] for row in rows if row["name"] == name) for name in ("history", "append"))
    return [
        "## Exact laws and forecasts",
        "",
        f"The law, PIT, 19 quantiles and exact CRPS of all {two['gaps']:,} gaps of a test set with StackOverflow's shape, with the default preset's model",
        "(3 layers, 64 wide); medians of five.",
        "",
        "| threads | laws, seconds | µs per gap and thread | encoder, seconds |",
        "|---|---|---|---|",
        *[f"| {row['threads']} | {row['seconds']:.2f} | {row['us_per_gap']:.1f} | {row['encoder_seconds']:.2f} |" for row in (one, two)],
        "",
        f"A forecast (three quantiles and the types of the next event) for a history of 100 events takes {read:,.0f} µs; for one event appended to it, {append:,.0f} µs.",
    ]


def evaluate_misses(rows):
    """Missed targets of evaluation, as text."""
    seconds = next(row["seconds"] for row in rows if row["name"] == "exact" and row["threads"] == 2)
    read, append = (next(row["us"] for row in rows if row["name"] == name) for name in ("history", "append"))
    checks = [
        (seconds < 2, f"the laws of a test set take {seconds:.2f} s, 2 are allowed"),
        (read < 1000, f"a forecast of 100 events takes {read:.0f} us, 1000 are allowed"),
        (append < 100, f"a forecast of one more event takes {append:.0f} us, 100 are allowed"),
    ]
    return [words for met, words in checks if not met]


def misses(rows):
    """Missed targets of training, as text."""
    step = {(row["name"].split(",")[0], row["threads"]): row for row in rows if row["kind"] == "step"}
    one, two = step["StackOverflow", 1]["events_per_second"], step["StackOverflow", 2]["events_per_second"]
    checks = [
        (two >= 20000, f"StackOverflow at {two:,} events/s, 20,000 are required"),
        (two >= 1.7 * one, f"the second core gives {two / one:.2f}×, 1.7 is required"),
        (step["Financial", 2]["peak_mb"] < 1000, "Financial's model takes 1 GB or more"),
        (step["StackOverflow's model", 2]["peak_mb"] < 3000, "100,000 events take 3 GB or more"),
    ]
    return [words for met, words in checks if not met]


# Targets: name in bench.json, title, required minimum, and a further goal.
ASKED = [
    ("train_stackoverflow_ratio", "training StackOverflow's model, speed-up over PyTorch", 15, 25),
    ("train_stackoverflow_lean_ratio", "the same, over a leaner version that skips padding in its heads", None, None),
    ("train_financial_ratio", "training Financial's model, speed-up over PyTorch", 4, None),
    ("langevin_ratio", "Langevin draws, speed-up over PyTorch", 40, None),
    ("exact_ratio", "exact laws, speed-up over PyTorch's 1000-step Langevin", 1000, None),
    ("jsonl_ratio", "reading JSON Lines, speed-up over Python's json", 5, None),
    ("roofline_share", "a training step, share of its ideal speed", 0.5, None),
    ("sgemm_share", "operations of a training step, share of the sgemm peak", None, None),
]


def summary_section(kept):
    lines = ["| | measured | required | goal | |", "|---|--:|--:|--:|---|"]
    for name, words, least, goal in ASKED:
        value = kept.get(name)
        shown = "not measured" if value is None else f"{100 * value:.0f}%" if "share" in name else f"{value:,.3g}×" if value < 1000 else f"{value:,.0f}×"
        limit = "" if least is None else f"{100 * least:.0f}%" if "share" in name else f"{least:,}×"
        verdict = "" if value is None or least is None else f"missed by {100 * (1 - value / least):.0f}%" if value < least else "goal reached" if goal and value >= goal else "met"
        lines.append(f"| {words} | {shown} | {limit} | {f'{goal}×' if goal else ''} | {verdict} |")
    return lines


def ratio_misses(kept):
    return [f"{words}: {kept[name]:.3g}, {least} is required" for name, words, least, _ in ASKED if least and kept.get(name) is not None and kept[name] < least]


def measure(build, again):
    """Results of the benchmarks, by name. With `again`, only those are run; the others come from bench.json."""
    parts = {
        "read": lambda: read_benchmark(build), "peer": lambda: race.race(build), "train": lambda: train_benchmark(build), "cores": lambda: cores_benchmark(build), "roofline": lambda: roofline.benchmark(build),
        "growth": lambda: growth.benchmark(build), "sample": lambda: sample_benchmark(build), "evaluate": lambda: evaluate_benchmark(build),
        "startup": lambda: startup.startup(build, ROOT.parent / "shared" / "data"), "products": lambda: products.benchmark(build),
        "python": lambda: python_package.benchmark(build), "serve": lambda: serve.benchmark(build),
    }
    unknown = set(again) - set(parts)
    if unknown:
        sys.exit(f"bench: no such benchmark: {', '.join(sorted(unknown))}; available: {', '.join(parts)}")
    stored = build / "bench.json"
    found = json.loads(stored.read_text()) if again and stored.exists() else {}
    for name in again or parts:
        # Through JSON, so that thread counts are string keys in new and in stored results alike.
        found[name] = json.loads(json.dumps(parts[name]()))
        stored.write_text(json.dumps(found, indent=1) + "\n")
    missing = [name for name in parts if name not in found]
    if missing:
        sys.exit(f"bench: the page is written once all benchmarks have run; missing: {' '.join(missing)}")
    return found


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    found = measure(build, sys.argv[2:])
    rows, peer, training, roofs, sizes, start = (found[name] for name in ("read", "peer", "train", "roofline", "growth", "startup"))
    ratios = {"jsonl_ratio": min(row["python_ratio"] for row in rows if "python_ratio" in row), **roofline.shares(roofs), **{name: peer.get(name) for name in (*race.RATIOS, race.LEAN)}}
    kept = {**found, **ratios}  # found may hold the ratios of an earlier run
    (build / "bench.json").write_text(json.dumps(kept, indent=1) + "\n")
    (ROOT / "doc" / "growth.svg").write_text(growth.picture(sizes))
    sections = {"machine": [machine()], "summary": summary_section(kept), "peer": race.section(peer), "training": train_section(training), "cores": cores_section(found["cores"]), "gpu": gpu_section(), "roofline": roofline.section(roofs),
                "growth": growth.section(sizes), "sampling": sample_section(found["sample"]), "laws": evaluate_section(found["evaluate"]), "reading": read_section(rows),
                "startup": startup.section(start), "products": products.section(found["products"]), "python": python_package.section(found["python"]), "serve": serve.section(found["serve"])}
    text = (ROOT / "bench" / "performance.in.md").read_text()
    for name, lines in sections.items():
        text = text.replace("{{" + name + "}}", "\n".join(lines))
    (ROOT / "doc" / "performance.md").write_text(text)
    print(text)
    print("\n".join(summary_section(kept)))
    missed = (ratio_misses(kept) + misses(training) + cores_misses(found["cores"]) + cores_misses(cores_elsewhere(), (16,)) + roofline.misses(roofs) + growth.misses(sizes) + sample_misses(found["sample"]) + evaluate_misses(found["evaluate"]) + startup.misses(start) + products.misses(found["products"]) + python_package.misses(found["python"]) + serve.misses(found["serve"]))
    for words in missed:
        print(f"bench: {words}", file=sys.stderr)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
