"""The section of doc/performance.md on scaling, and its picture doc/growth.svg; see growth.c.

Slopes are those of log time or log memory against log size, between the last two points of a series, where the fastest
growing term dominates.
"""

import json
import math
import subprocess

import plot

CUT = 64  # events per sequence in the series "length, cut"


def benchmark(build):
    run = subprocess.run([build / "bench" / "bench_growth"], check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def curve(rows, series, field="seconds"):
    return [(row["x"], row[field]) for row in rows if row["series"] == series]


def cut(rows, field="seconds"):
    """Everything except the attention of a long sequence, against the number of events."""
    return [(CUT * x, y) for x, y in curve(rows, "length, cut", field)]


def attention(rows):
    """Extra cost of one long sequence over the same events in short ones, where that is a tenth or more."""
    return [(x, y - rest) for (x, y), (_, rest) in zip(curve(rows, "length"), cut(rows)) if y > 1.1 * rest]


def slope(points):
    if len(points) < 2:
        return math.nan
    (x0, y0), (x1, y1) = points[-2:]
    return math.log(y1 / y0) / math.log(x1 / x0)


def checks(rows):
    """(name, slope or ratio, upper limit)"""
    return [
        ("attention, time against length", slope(attention(rows)), 2.2),
        ("memory against length", slope(curve(rows, "length", "memory_mb")), 1.1),
        ("all but attention, time against events", slope(cut(rows)), 1.15),
        ("time against types, default", slope(curve(rows, "types, default")), 1.1),
        ("time against types, published settings", slope(curve(rows, "types, paper")), 1.1),
        ("memory against types, published settings", slope(curve(rows, "types, paper", "memory_mb")), 1.1),
        ("forecast of the gap, time against types", slope(curve(rows, "types, forecast of the gap")), 0.2),
        ("time against points, published settings", slope(curve(rows, "points, paper")), 1.1),
        ("time against points with 10,000 types, default", slope(curve(rows, "points, 10,000 types")), 0.5),
        ("memory against points, published settings", slope(curve(rows, "points, paper", "memory_mb")), 0.5),
        ("time against width", slope(curve(rows, "width")), 2.1),
        ("time against batch", slope(curve(rows, "batch")), 1.1),
    ]


def misses(rows):
    """Missed targets, as text."""
    return [f"{what}: slope {got:.2f}, {most} is allowed" for what, got, most in checks(rows) if not got <= most]


# ---- The picture -----------------------------------------------------------------------------------


def short(value, units):
    """A rounded number in the most readable unit."""
    for size, unit in units:
        if value >= 0.999 * size:
            return f"{value / size:.0f}{unit}"
    return f"{value:g}"


SECONDS = [(1, " s"), (1e-3, " ms"), (1e-6, " µs")]
MEGABYTES = [(1e3, " GB"), (1, " MB")]
COUNT = [(1e6, "M"), (1e3, "k"), (1, "")]


def panel(title, axis, units, curves):
    """One log-log panel; curves: (label, points)."""
    series = [plot.Series(label, *zip(*points)) for label, points in curves]
    return plot.Panel(title, series, x_label=axis, log_x=True, log_y=True, x_text=lambda x: short(x, COUNT), y_text=lambda y: short(y, units), names_above=True)


def panels(rows):
    def fitted(label, points):
        return f"{label} {slope(points):.2f}", points

    def one(series, label, field="seconds"):
        return fitted(label, curve(rows, series, field))

    threads = curve(rows, "threads")
    return [panel(*parts) for parts in (
        ("time against length", "events of one sequence", SECONDS, [fitted("attention", attention(rows)), fitted("all else", cut(rows))]),
        ("memory against length", "events of one sequence", MEGABYTES, [one("length", "slope", "memory_mb")]),
        (
            "time against types",
            "types",
            SECONDS,
            [one("types, default", "default"), one("types, paper", "published"), one("types, thp", "THP"), one("types, forecast", "forecast")],
        ),
        ("memory against types", "types", MEGABYTES, [one("types, default", "default", "memory_mb"), one("types, paper", "published", "memory_mb")]),
        ("time against points", "points of each event", SECONDS, [one("points, default", "default"), one("points, paper", "published"), one("points, 10,000 types", "default, 10k types")]),
        ("time against width", "width of the model", SECONDS, [one("width", "slope")]),
        ("time against batch", "sequences of 64 events", SECONDS, [one("batch", "slope")]),
        ("time against threads", "threads", SECONDS, [("wall clock", threads)]),
    )]


def picture(rows):
    return plot.picture(panels(rows), columns=4, width=250, height=220)


# ---- The section -----------------------------------------------------------------------------------


def table(rows):
    lines = ["| series | from | to | seconds | memory, MB | slope of time |", "|---|---|---|---|---|---|"]
    names = list(dict.fromkeys(row["series"] for row in rows))
    for name in names:
        time, memory = curve(rows, name), curve(rows, name, "memory_mb")
        held = f"{memory[0][1]:.0f} to {memory[-1][1]:.0f}" if memory[-1][1] > 0 else ""
        lines.append(f"| {name} | {time[0][0]:,} | {time[-1][0]:,} | {time[0][1]:.2g} to {time[-1][1]:.2g} | {held} | {slope(time):.2f} |")
    return lines


def types_lines(rows):
    last = {name: curve(rows, f"types, {name}")[-1][1] for name in ("default", "paper", "thp", "forecast", "forecast of the gap")}
    first = {name: curve(rows, f"types, {name}")[0][1] for name in ("default", "paper")}
    return [
        "The cost of many types. With the default settings the types of an event are evaluated once, at its true gap, so a step costs points × width + types × width/2",
        f"per event, not points × types: 10,000 types take {last['default'] / first['default']:.1f} times as long as 2. The published settings evaluate the types at each of 100 perturbed gaps, as the",
        f"authors' program does: points × types × width/2 and points × types exponentials per event, {last['paper'] / first['paper']:.0f} times as long; `type-loss` set to `truth` reduces that to the default's cost.",
        "THP and the other published models have one intensity per type and sum them at every point of their integrals: points × types"
        f" exponentials per event ({last['thp']:.2f} s per step",
        "with 10,000 types), and an intensity per type for each event of a batch in memory; both are inherent to these models. The law of a gap, its quantiles, CRPS and draws do not depend on types"
        f" ({1e6 * last['forecast of the gap']:.0f} µs per forecast at any number); probabilities of the",
        f"next event's type are averaged over 32 gaps of the law, 32 × types × width/2 ({1e3 * last['forecast']:.1f} ms with 10,000), in `smurf eval` over 20 and the true one. Memory: each thread holds the logits of one event at its points, or of 16 events at one",
        "point; in addition there are 16 partial gradients of the map to the types, independent of the batch.",
    ]


def section(rows):
    threads = curve(rows, "threads")
    return [
        "## Scaling",
        "",
        "A step of a small StackOverflow (2 layers, 64 wide, 22 types, 4 sequences of 64 events, one thread), varying one size at a time; one process per point. The series over lengths uses a model",
        "with one layer and one head of 16. Numbers next to names are log-log slopes between the last two points: 1 is linear, 2 quadratic.",
        "",
        "![time and memory against length, types, points, width, batch and threads](growth.svg)",
        "",
        *table(rows),
        "",
        "`length, cut` has the same number of events in sequences of 64; its difference from `length` is attention. `points` are perturbations or quadrature nodes.",
        "",
        "| slope | measured | limit |",
        "|---|---|---|",
        *[f"| {what} | {got:.2f} | {most} |" for what, got, most in checks(rows)],
        "",
        f"On 16 sequences {threads[-1][0]} threads are {threads[0][1] / threads[-1][1]:.2f} times as fast as one.",
        "",
        *types_lines(rows),
    ]
