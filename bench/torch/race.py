#!/usr/bin/env python3
"""The library against the same model in PyTorch (peer.py), alternating on the same machine.

    bench/torch/race.py BUILD_DIRECTORY [--quick]     prints a table; --quick: Financial's model on 500 events

Both sides are programs that stay warmed up and take commands: bench_peer (../peer.c) and peer.py, each once with one thread
and once with two. They alternate; the result is the median, with the better number of threads. The peer has our weights and
events. Without PyTorch nothing is measured, and the result gives the reason.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
THREADS = (1, 2)
RATIOS = ("train_stackoverflow_ratio", "train_financial_ratio", "langevin_ratio", "exact_ratio")
LEAN = "train_stackoverflow_lean_ratio"
ROUNDS = 5
LANGEVIN_STEPS, PEER_STEPS, EXACT_STEPS = 1000, 50, 1000  # ours; the peer's; those that the peer's are scaled to
DRAWS = 100
CPU = pathlib.Path("/proc/cpuinfo").read_text() if os.path.exists("/proc/cpuinfo") else ""


def find_python():
    """The first Python that has PyTorch, or None."""
    for name in "python3", "/usr/bin/python3":
        if shutil.which(name) and not subprocess.run([name, "-c", "import torch, numpy"], stderr=subprocess.DEVNULL).returncode:
            return name
    return None


class Side:
    """A program that answers commands."""

    def __init__(self, command, threads):
        # BLAS threads compete with those of PyTorch and slow it down. Debian's PyTorch uses its AVX-512 loops only on
        # request.
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS="1")
        # OpenBLAS does not know processors newer than itself, and would take kernels of 2004.
        if "avx512f" in CPU:
            environment["ATEN_CPU_CAPABILITY"] = "avx512"
            environment.setdefault("OPENBLAS_CORETYPE", "SKYLAKEX")
        elif "avx2" in CPU:
            environment.setdefault("OPENBLAS_CORETYPE", "HASWELL")
        self.command = list(map(str, command))
        self.program = subprocess.Popen(self.command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.program.send_signal(signal.SIGCONT)
        self.program.stdin.close()
        self.program.stdout.close()
        self.program.wait()

    def ask(self, command, value):
        try:
            self.program.send_signal(signal.SIGCONT)
            print(command, value, file=self.program.stdin, flush=True)
            answer = self.program.stdout.readline()
            self.program.send_signal(signal.SIGSTOP)  # must not run while another is measured
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise RuntimeError(f"{' '.join(self.command)}: no answer to '{command} {value}', status {self.program.wait()}")
        return json.loads(answer)


def ours(build, model, threads, lengths=()):
    return Side([build / "bench" / "bench_peer", model, threads, *lengths], threads)


def peer(python, threads, *more):
    return Side([python, HERE / "peer.py", threads, *more], threads)


def turns(contestants, rounds):
    """Median speeds of {(side, threads): function returning a speed}, alternating after a warm-up. Thread counts below three
    quarters of their side's best in two rounds are dropped: they cannot win."""
    for measure in contestants.values():
        measure()
    found = {key: [measure()] for key, measure in contestants.items()}
    median = {key: statistics.median(numbers) for key, numbers in found.items()}
    for round in range(1, rounds):
        for key, measure in contestants.items():
            if round < 2 or 4 * median[key] > 3 * max(speed for other, speed in median.items() if other[0] == key[0]):
                found[key].append(measure())
        median = {key: statistics.median(numbers) for key, numbers in found.items()}
    return median


def rate(side, what, command, value, times=1):
    """The speed over `times` answers. Ours is repeated until both sides are measured for about as long: in a few
    milliseconds threads would just be waking up."""
    def measure():
        answers = [side.ask(command, value) for _ in range(times)]
        return sum(answer[what] for answer in answers) / sum(answer["seconds"] for answer in answers)
    return measure


def outcome(speed, unit):
    """Speeds of the sides by threads, and our speed-up over the others, each at its better number of threads."""
    names = dict.fromkeys(name for name, _ in speed)
    found = {name: {str(threads): speed[name, threads] for threads in THREADS} for name in names}
    best = {name: max(found[name].values()) for name in names}
    return {"unit": unit, **found, "ratio": best["ours"] / best["peer"], **({"lean_ratio": best["ours"] / best["lean"]} if "lean" in names else {})}


class Match:
    """Both sides on one model, with each number of threads; the peers get our weights."""

    def __init__(self, build, python, model, lengths=()):
        self.sides = {("ours", threads): ours(build, model, threads, lengths) for threads in THREADS}
        self.sides.update({("peer", threads): peer(python, threads) for threads in THREADS})
        if not lengths:  # one sequence has no padding
            self.sides.update({("lean", threads): peer(python, threads, "lean") for threads in THREADS})

    def __enter__(self):
        self.share_weights()
        return self

    def __exit__(self, *_):
        for side in self.sides.values():
            side.__exit__()

    def share_weights(self):
        """Copies the current weights of our side, on all threads, to the peers."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "weights.safetensors")
            self.sides["ours", THREADS[-1]].ask("write", path)
            for (name, _), side in self.sides.items():
                if name != "ours":
                    side.ask("load", path)

    def train(self, steps, rounds):
        times = {"ours": 16 if steps > 1 else 1}
        found = outcome(turns({key: rate(side, "events", "train", steps, times.get(key[0], 1)) for key, side in self.sides.items()}, rounds), "events/s")
        peaks = {key: side.ask("train", 1)["peak_mb"] for key, side in self.sides.items()}
        found["peak_mb"] = {name: max(peaks[name, threads] for threads in THREADS) for name in ("ours", "peer")}
        return found

    def two(self):
        """Without the lean peer, which draws like the other."""
        return {key: side for key, side in self.sides.items() if key[0] != "lean"}.items()

    def langevin(self, rounds):
        steps = {"ours": LANGEVIN_STEPS, "peer": PEER_STEPS}
        times = {"ours": 20, "peer": 1}
        return outcome(turns({key: rate(side, "sample_steps", "langevin", steps[key[0]], times[key[0]]) for key, side in self.two()}, rounds),
                       "sample-steps/s")

    def exact(self, rounds):
        """Gaps per second: for ours the law and 19 quantiles, for the peer 100 draws of 1000 steps, scaled from fewer steps."""
        per_gap = DRAWS * EXACT_STEPS
        return outcome(turns({key: rate(side, "gaps", "exact", 4, 100) if key[0] == "ours" else
                              lambda measure=rate(side, "sample_steps", "langevin", PEER_STEPS): measure() / per_gap
                              for key, side in self.two()}, rounds), "gaps/s")


def race(build, quick=False, rounds=ROUNDS):
    """All measurements, with the four ratios; {"skipped": reason} without PyTorch."""
    python = find_python()
    if not python:
        return {"skipped": "no Python with PyTorch found (on Debian: python3-torch)"}
    build = pathlib.Path(build).resolve()
    version = subprocess.run([python, "-c", "import torch; print(torch.__version__)"], check=True, stdout=subprocess.PIPE, text=True)
    result = {"torch": version.stdout.strip(), "rounds": rounds, "financial_events": 500 if quick else 3319}
    with Match(build, python, "stackoverflow") as match:
        result["train_stackoverflow"] = match.train(8, rounds)  # all batches once
        match.sides["ours", THREADS[-1]].ask("train", 400)  # so that the laws are not trivial
        match.share_weights()
        result["langevin"] = match.langevin(rounds)
        result["exact"] = match.exact(rounds)
    with Match(build, python, "financial", [result["financial_events"]]) as match:
        result["train_financial"] = match.train(1, min(rounds, 3))  # a step of the peer takes a minute
    result["train_stackoverflow_lean_ratio"] = result["train_stackoverflow"]["lean_ratio"]
    for name in RATIOS:
        result[name] = result[name[:-len("_ratio")]]["ratio"]
    return result


def number(x):
    return f"{x / 1e6:,.1f} million" if x >= 1e6 else f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def section(result):
    """Lines of doc/performance.md."""
    lines = ["## Against PyTorch", ""]
    if "skipped" in result:
        return lines + [f"Not measured: {result['skipped']}."]
    names = {
        "train_stackoverflow": "training, StackOverflow's model, batches of 4",
        "train_financial": f"training, Financial's model, one sequence of {result['financial_events']:,} events",
        "langevin": "Langevin, 100 draws from each of 64 laws",
        "exact": "laws evaluated: ours exactly, the peer by 100 draws of 1000 Langevin steps",
    }
    lines += [
        f"The same model in PyTorch {result['torch']} (`bench/torch/peer.py`): the same shapes, batches and 100 perturbations, padded batches,",
        "automatic differentiation, Langevin by autograd. A test checks that both have the same loss and gradient for the same weights. Both sides",
        f"alternate after a warm-up; medians of {result['rounds']}, of Financial's training of three. The peer runs {PEER_STEPS} Langevin steps, scaled to the full number; the ratio uses each side's better number of threads.",
        "",
        "| | unit | ours, 1 thread | ours, 2 threads | PyTorch, 1 thread | PyTorch, 2 threads | speed-up |",
        "|---|---|---|---|---|---|---|",
    ]
    for key, words in names.items():
        row = result[key]
        speeds = [number(row[side][str(threads)]) for side in ("ours", "peer") for threads in THREADS]
        lines.append(f"| {words} | {row['unit']} | {' | '.join(speeds)} | {row['ratio']:,.3g} |")
    memory = [result[key]["peak_mb"] for key in ("train_stackoverflow", "train_financial")]
    lean = result["train_stackoverflow"]["lean"]
    lines += [
        "",
        f"A leaner peer, whose heads skip the padding, trains StackOverflow's model at {number(lean['1'])} events/s on one thread and {number(lean['2'])} on two: ours is {result['train_stackoverflow']['lean_ratio']:.3g} times as fast.",
        "Ours draws from a table of each law's score, built once per law and included in the time, over 1000 steps. The peer evaluates the network at every step.",
        "",
        "Peak memory in training, ours and PyTorch: "
        f"{memory[0]['ours']:,.0f} and {memory[0]['peer']:,.0f} MB for StackOverflow's model, "
        f"{memory[1]['ours']:,.0f} and {memory[1]['peer']:,.0f} MB for Financial's.",
    ]
    return lines


def main():
    parser = argparse.ArgumentParser(description="Compares the speed of the library with PyTorch.")
    parser.add_argument("build")
    parser.add_argument("--quick", action="store_true", help="Financial's model on 500 events")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    result = race(arguments.build, arguments.quick, arguments.rounds)
    print("\n".join(section(result)))
    print(json.dumps({name: result[name] for name in RATIOS} if "skipped" not in result else result))


if __name__ == "__main__":
    sys.exit(main())
