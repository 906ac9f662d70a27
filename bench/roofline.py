"""The section of doc/performance.md that compares training with the machine's peaks; see roofline.c."""

import json
import subprocess

SMALL = 0.3  # of the ideal: below it a reason is given

# Why an op is far below its ideal.
WHY = {
    "attention": "dropout masks are integer work that no peak covers, and four events do not fill a vector of 16",
    "activation": "ReLU reads, compares and writes",
    "layer norm": "a row of 64 is three short dependent sums, a root and a quotient; the peak is for independent multiply-adds",
    "dropout": "masks are integer work, ten rounds of Philox per eight elements, which no peak covers",
    "gap head": "25 points take two vectors of 16, with 7 lanes wasted; sums over points end with scalar steps",
    "type head": "with one point per event, each product is of a 22 × 32 matrix and one vector: the call costs more than the computation",
    "objective": "noise is integer work (Philox), and the loops over the points of one event are short; the likelihood's softplus is computed point by point",
    "encodings": "the gap feature is computed event by event, in scalar sums of 16 units",
    "decayed counts": "an event at a time: ten exponentials, the decay of all counts, and the terms of what repeats, in short loops",
    "Adam": "a root and a quotient per weight keep it below the memory bandwidth",
}
GOAL = 0.5
GOAL_OF = ("default", "paper-stackoverflow")


def benchmark(build):
    run = subprocess.run([build / "bench" / "bench_roofline"], check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def steps_of(rows):
    return {row["preset"]: row for row in rows if row["kind"] == "step"}


def ops_of(rows, preset):
    return [row for row in rows if row["kind"] == "op" and row["preset"] == preset]


def functions(row):
    return sum(row[name] for name in ("tanh", "exp", "erf", "log", "sin", "sin64"))


def peaks_lines(peaks):
    return [
        f"One thread, processor time, the fastest of several rounds. Peaks in the same run: sgemm {peaks['gflops']:.0f} GFLOP/s at 1024 × 1024 × 1024"
        f" ({peaks['small_gflops']:.0f} at the encoder's",
        f"36 × 64 × 64); in billions per second tanh {peaks['tanh'] / 1e9:.1f}, exp {peaks['exp'] / 1e9:.1f}, erf {peaks['erf'] / 1e9:.1f},"
        f" log {peaks['log'] / 1e9:.1f}, sine {peaks['sin'] / 1e9:.1f}; memory {peaks['near'] / 1e9:.0f} GB/s in 384 kB,"
        f" {peaks['shared'] / 1e9:.0f} in 6 MB, {peaks['far'] / 1e9:.0f} in 192 MB.",
    ]


def detail_lines(rows, preset):
    ops, step = ops_of(rows, preset), steps_of(rows)[preset]
    lines = [
        f"A step of `{preset}`, with each op called as often as in the step, forward and backward:",
        "",
        "| op | µs per event | MFLOP per event | functions per event | kB per event | GFLOP/s | limited by | share of the ideal |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in ops:
        n = step["events"]
        lines.append(
            f"| {row['name']} | {1e6 * row['seconds'] / n:.2f} | {row['flops'] / n / 1e6:.3f} | {functions(row) / n:,.0f} | {row['bytes'] / n / 1e3:.1f} |"
            f" {row['flops'] / row['seconds'] / 1e9:.0f} | {row['bound']} | {100 * row['share']:.0f}% |"
        )
    together = sum(row["seconds"] for row in ops)
    lines += ["", f"All ops take {1e6 * together / step['events']:.0f} µs; the whole step takes {1e6 * step['seconds'] / step['events']:.0f} µs per event."]
    return lines


def shares_lines(rows):
    steps = steps_of(rows)
    names = [row["name"] for row in ops_of(rows, next(iter(steps)))]
    lines = [
        "All presets, with the shapes of their data sets (`default`: StackOverflow's): share of the ideal, and in brackets the fraction of the ops' time.",
        "",
        "| op | " + " | ".join(steps) + " |",
        "|---|" + "---|" * len(steps),
    ]
    for i, name in enumerate(names):
        cells = []
        for preset in steps:
            ops = ops_of(rows, preset)
            part = ops[i]["seconds"] / sum(row["seconds"] for row in ops)
            cells.append(f"{100 * ops[i]['share']:.0f}% ({100 * part:.0f}%)")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines.append("| **whole step, all counted** | " + " | ".join(f"**{100 * step['share']:.0f}%**" for step in steps.values()) + " |")
    lines.append("| whole step, operations relative to sgemm | " + " | ".join(f"{100 * step['sgemm_share']:.0f}%" for step in steps.values()) + " |")
    return lines


def why_lines(rows):
    """A reason for each op that is below SMALL and takes at least 2% of the time."""
    worst = {}
    for preset in steps_of(rows):
        ops = ops_of(rows, preset)
        total = sum(row["seconds"] for row in ops)
        for row in ops:
            if row["share"] < SMALL and row["seconds"] >= 0.02 * total:
                worst.setdefault(row["name"], []).append((row["share"], preset))
    lines = []
    for name, where in worst.items():
        share, preset = min(where)
        lines.append(f"- {name} ({100 * share:.0f}% in `{preset}`): {WHY.get(name, 'not yet known')}.")
    return ["", f"Below {100 * SMALL:.0f}%, for ops that take at least 2% of the time:", "", *lines] if lines else []


def section(rows):
    return [
        "## Comparison with the machine's peaks",
        "",
        *peaks_lines(next(row for row in rows if row["kind"] == "peaks")),
        "",
        "The ideal time of an op is max(operations / sgemm + evaluations of functions / their peaks, bytes / bandwidth), computed from the shapes; its",
        "share is ideal / measured. A whole step's share is the sum of the ideal times of its ops over its measured time; its operations relative to sgemm are",
        "all operations per second (two per multiply-add) over sgemm's peak, as if functions and memory were free.",
        "",
        *detail_lines(rows, "paper-stackoverflow"),
        "",
        *shares_lines(rows),
        *why_lines(rows),
    ]


def shares(rows):
    """Values for bench.json, from a step with the published StackOverflow settings."""
    step = steps_of(rows)["paper-stackoverflow"]
    return {"sgemm_share": step["sgemm_share"], "roofline_share": step["share"]}


def misses(rows):
    """Missed targets, as text."""
    steps = steps_of(rows)
    return [f"a step of {name} reaches {100 * steps[name]['share']:.0f}% of its ideal, {100 * GOAL:.0f}% is required" for name in GOAL_OF if steps[name]["share"] < GOAL]
