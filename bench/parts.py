"""The parts of the default preset that real logs ask for, each on and off: sections of doc/ablations.md, from the runs of logs.py.

bench/ablations.py --only ends ties tails pools adaptive (or ends-bike and so on) runs them; runs that are complete are not repeated.
"""

import argparse
import dataclasses
import typing

import logs

ONE, ALL = (lambda log: log.one), (lambda log: True)


@dataclasses.dataclass
class Part:
    name: str
    title: str
    about: str
    logs: typing.Callable  # which ones show it
    off: str  # the part in logs.parts(), or "" where one run shows both
    columns: list  # (heading, function of the answers with and without)


def both(heading, places, value):
    """Two columns: with the part and without it."""
    return [(heading, lambda on, off: logs.text(value(on), places)), (f"{heading}, off", lambda on, off: logs.text(value(off), places))]


def of_ends(key, factor=1):
    return lambda answer: factor * answer["ends"][key] if answer.get("ends") else None


def crps(answer):
    return answer["in_mean_gaps"]["crps"]


def gain(answer):
    return answer["best_naive"]["gain"]


def central(key):
    return lambda on, off: f"{logs.central(on, key, 0.9):.1f}"


def open_interval(on, off):
    """Share of the gaps from the 5% quantile to below the 95% quantile."""
    return f"{100 * (on['coverage'][18] - on['coverage'][0]):.1f}"


WORTH = [*both("CRPS", 4, crps), *both("gain over the best naive law %", 1, gain), *both("log-lik.", 3, lambda answer: answer["log_likelihood"]),
         *both("types %", 1, lambda answer: answer["acc_true_time"])]
PARTS = [
    Part("memory", "Decayed counts on real logs", "Decayed counts of the events on ten time scales as inputs (on) or not (`--counts off`). CRPS in mean train gaps.", ALL, "no counts", WORTH),
    Part("clock", "The clock on the wall", "The time of day and the day of the week as inputs and inside the law (on) or not (`--wall-clock off`), on the logs of two weeks or more.",
         lambda log: log.clock, "no clock", WORTH),
    Part("ends", "The end of a case",
         "Logs of cases, with P(no further event) learned (on) and with `--no-end` (off). After some events nothing came until the end of observation: their share, what was forecast for it, and the Brier "
         "score of that forecast.",
         lambda log: not log.one and log.name != "mimic2", "no end of a case",
         [("nothing came %", lambda on, off: logs.text(of_ends("share", 100)(on), 1)), *both("forecast %", 1, of_ends("forecast", 100)), *both("Brier score", 4, of_ends("brier")), *both("CRPS", 4, crps)]),
    Part("ties", "Ticks and ties",
         "Coverage of the central 90% interval. On: its ends are ticks of the clock and belong to it, as users see it. Off: from the 5% to below the 95% quantile of the law, so that a tie at the end "
         "of the interval lies outside. By PIT: ties count as inside with the probability that makes the share of a true law 90%. Where many gaps are 0, the coverage on ticks exceeds 90% by right.",
         ALL, "",
         [("tick", lambda on, off: f"{on['tick']:g} {on['unit']}" if on["tick"] else "none"), ("on ticks, closed %", central("central_on_ticks")), ("off %", open_interval), ("by PIT %", central("central_pit"))]),
    Part("tails", "Tails", "What a law claims beyond the longest train gap, bounded by what dev supports (on) or not (`--tail off`). CRPS in mean train gaps.", ALL, "tails not bounded",
         [*both("CRPS", 4, crps), *both("gain over the best naive law %", 1, gain), *both("log-lik.", 3, lambda answer: answer["log_likelihood"])]),
    Part("pools", "Pools with naive laws", "Laws and types pooled with a naive law where that gains on held-out data (on) or never (`--pool off`). CRPS in mean train gaps.", ALL, "no pool",
         [*both("CRPS", 4, crps), *both("gain over the best naive law %", 1, gain), *both("types %", 1, lambda answer: answer["acc_true_time"])]),
    Part("adaptive", "Adaptive levels and types", "Logs that go on, with levels and weights of types that follow what came (on) and with `--adaptive 0` (off). CS by the randomised PIT.", ONE, "levels do not adapt",
         [("noise floor of CS %", lambda on, off: logs.text(on["cs_floor"], 2)), *both("CS by PIT %", 2, lambda answer: answer["cs_pit"]), *both("CRPS", 4, crps), *both("types %", 1, lambda answer: answer["acc_true_time"])]),
]


def chosen(part):
    return [log for log in logs.LOGS if part.logs(log)]


def answers(arguments, part, log, write):
    """With the part and without it, first seed; None for what was not run and is not to be."""
    place = argparse.Namespace(**{**vars(arguments), "runs": arguments.runs.parent, "write": write})
    options = dict(logs.parts(log))
    on = logs.run(place, log, *logs.ALL, 1)
    return on, logs.run(place, log, part.off, options[part.off], 1) if part.off else on


def run(arguments, only):
    """Runs what `only` names."""
    for part in PARTS:
        for log in chosen(part):
            if {part.name, f"{part.name}-{log.name}"} & only:
                answers(arguments, part, log, False)


def sections(arguments, before):
    """before: {title: lines} of the document as it was. Rows that are not run here stay as they were."""
    lines = []
    for part in PARTS:
        kept = {line.split(" | ")[0]: line for line in before.get(part.title, []) if line.startswith("| ")}
        head = "| | " + " | ".join(heading for heading, _ in part.columns) + " |"
        rows = []
        for log in chosen(part):
            on, off = answers(arguments, part, log, True)
            title = f"| {log.title}"
            if on and off:
                rows.append(f"{title} | " + " | ".join(value(on, off) for _, value in part.columns) + " |")
            elif title in kept:
                rows.append(kept[title])
        table = [head, "|---|" + "--:|" * len(part.columns), *rows, ""] if rows else ["Not run.", ""]
        lines += [f"## {part.title}", "", part.about, "", *table]
    return lines
