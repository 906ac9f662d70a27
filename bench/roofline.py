"""The section of doc/performance.md on how near training comes to what the machine can do; see roofline.c."""

import json
import subprocess

SMALL = 0.3  # of the ideal: below it a reason is asked for

# Why an op stays far below, where it takes any time worth a word.
WHY = {
    "attention": "the masks of dropout are integer work that no peak stands for, and four events do not fill a vector of 16",
    "activation": "ReLU reads, compares and writes",
    "layer norm": "rows of 64 are three short sums that wait for each other, a root and a quotient, against a peak of independent multiply-adds",
    "dropout": "masks are integer work, ten rounds of Philox for eight elements, and no peak stands for that",
    "gap head": "25 points take two vectors of 16, of which 7 places are for nothing; sums over points end in single steps",
    "type head": "at one point of each event the products are of a matrix of 22 × 32 with one vector: calling costs more than computing",
    "objective": "noise is integer work (Philox), and the loops over one event's points are short; the likelihood's softplus is taken point by point",
    "encodings": "the gap feature goes event by event through sums of 16 units, not in vectors",
    "Adam": "roots and quotients, one of each a weight, keep it from the bandwidth of memory",
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
        f"One thread, processor time, the fastest of some rounds. Peaks of the same run: sgemm {peaks['gflops']:.0f} GFLOP/s at 1024 × 1024 × 1024"
        f" ({peaks['small_gflops']:.0f} at the encoder's",
        f"36 × 64 × 64); in billions a second tanh {peaks['tanh'] / 1e9:.1f}, exp {peaks['exp'] / 1e9:.1f}, erf {peaks['erf'] / 1e9:.1f},"
        f" log {peaks['log'] / 1e9:.1f}, sine {peaks['sin'] / 1e9:.1f}; memory {peaks['near'] / 1e9:.0f} GB/s in 384 kB,"
        f" {peaks['shared'] / 1e9:.0f} in 6 MB, {peaks['far'] / 1e9:.0f} in 192 MB.",
    ]


def detail_lines(rows, preset):
    ops, step = ops_of(rows, preset), steps_of(rows)[preset]
    lines = [
        f"A step of `{preset}`, each op as often as the step calls it, forward and backward:",
        "",
        "| op | µs an event | MFLOP an event | functions an event | kB an event | GFLOP/s | limited by | share of the ideal |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in ops:
        n = step["events"]
        lines.append(
            f"| {row['name']} | {1e6 * row['seconds'] / n:.2f} | {row['flops'] / n / 1e6:.3f} | {functions(row) / n:,.0f} | {row['bytes'] / n / 1e3:.1f} |"
            f" {row['flops'] / row['seconds'] / 1e9:.0f} | {row['bound']} | {100 * row['share']:.0f}% |"
        )
    together = sum(row["seconds"] for row in ops)
    lines += ["", f"Together {1e6 * together / step['events']:.0f} µs; the whole step takes {1e6 * step['seconds'] / step['events']:.0f} µs an event."]
    return lines


def shares_lines(rows):
    steps = steps_of(rows)
    names = [row["name"] for row in ops_of(rows, next(iter(steps)))]
    lines = [
        "All presets, in the shapes of their data sets (`default` in StackOverflow's): share of the ideal, and in brackets the part of the ops' time.",
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
    lines.append("| whole step, operations against sgemm | " + " | ".join(f"{100 * step['sgemm_share']:.0f}%" for step in steps.values()) + " |")
    return lines


def why_lines(rows):
    """A reason for each op that is below SMALL where it takes 2% of the time or more."""
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
    return ["", f"Below {100 * SMALL:.0f}%, where that is 2% of the time or more:", "", *lines] if lines else []


def section(rows):
    return [
        "## How near to the machine's peaks",
        "",
        *peaks_lines(next(row for row in rows if row["kind"] == "peaks")),
        "",
        "The ideal time of an op is max(operations / sgemm + evaluations of functions / their peaks, bytes / bandwidth), counted by formula from the shapes; its",
        "share is ideal / measured. A whole step's share is the sum of the ideal times of its ops over its measured time; its operations against sgemm are",
        "all counted operations (two a multiply-add) a second over sgemm's peak, as if functions and memory cost nothing.",
        "",
        *detail_lines(rows, "paper-stackoverflow"),
        "",
        *shares_lines(rows),
        *why_lines(rows),
    ]


def shares(rows):
    """What bench.json keeps, of a step of the published StackOverflow settings."""
    step = steps_of(rows)["paper-stackoverflow"]
    return {"sgemm_share": step["sgemm_share"], "roofline_share": step["share"]}


def misses(rows):
    """Targets that were not met, in words."""
    steps = steps_of(rows)
    return [f"a step of {name} reaches {100 * steps[name]['share']:.0f}% of its ideal, {100 * GOAL:.0f}% is asked for" for name in GOAL_OF if steps[name]["share"] < GOAL]
