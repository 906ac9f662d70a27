#!/usr/bin/env python3
"""Measures what smurf-mpi sends and holds, models the time of a step, and writes doc/scale.md.

    bench/scale.py BUILD_DIRECTORY

Bytes, messages and memory are exact on any machine. The model of time has latency and bandwidth as parameters; a delay
that is injected into every message checks it here, where several processes share the cores. How large a batch may be is
measured by batches.py.
"""
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "cli"))

import batches

CHUNK = 16384  # weights, ADAM_CHUNK
SHARDS = 64
ROWS = 64  # of a slice, up to half a million weights
WEIGHT_BYTES = 4
FILES = 16  # of the directory whose memory is measured
EVENT_FEED, EVENT_PACKED = 56, 12  # bytes of an event where it is trained on, and in a packed file

# ---- The model -------------------------------------------------------------------------------------------------------


def leaves(events):
    """Leaves of the tree for batches of so many events: at most that many processes have work."""
    n = 1
    while n < SHARDS and events >= 2 * n * ROWS:
        n *= 2
    return n


def rounds(ranks):
    """Of a step: an exchange and two gathers. A gather of R processes takes log2 R rounds."""
    return 0 if ranks == 1 else 1 + 2 * math.ceil(math.log2(ranks))


def messages(ranks, rank):
    """That a process sends in a step, if none is empty: one to each other in the exchange; one in each round of a gather,
    or two if its blocks wrap around."""
    sent, have = ranks - 1, 1
    while have < ranks:
        more = min(have, ranks - have)
        sent += 2 * (1 + (rank + more > ranks))
        have *= 2
    return sent


def in_line(ranks):
    """Messages that a step waits for, one after the other: in each round those of the process that sends most."""
    gather = [1 if have == 1 else 2 for have in (2**k for k in range(math.ceil(math.log2(ranks))))]
    return ranks - 1 + 2 * sum(gather) if ranks > 1 else 0


def sent(weights, ranks, rank):
    """Bytes that a process sends in a step, without sums of squares and losses: of its sum all but the share of weights that
    it moves itself; in each round of the gather of weights all shares that it has. Shares are whole chunks."""
    chunks = math.ceil(weights / CHUNK)
    begin = [min(weights, chunks * q // ranks * CHUNK) for q in range(ranks + 1)]
    share = [begin[q + 1] - begin[q] for q in range(ranks)]
    moved, have = weights - share[rank], 1
    while have < ranks:
        moved += sum(share[(rank + i) % ranks] for i in range(min(have, ranks - have)))
        have *= 2
    return moved * WEIGHT_BYTES


def traffic(weights, ranks):
    """The same for shares of one size."""
    return 2 * (ranks - 1) / ranks * weights * WEIGHT_BYTES


def busiest(ranks, sequences):
    """Work of the process that has most of it, over the mean: sequences of one length fall into shards at random."""
    if ranks == 1:
        return 1
    draw, total = random.Random(1), 0
    for _ in range(200):
        load = [0] * ranks
        for _ in range(sequences):
            load[draw.randrange(SHARDS if ranks <= SHARDS else ranks) * ranks // max(SHARDS, ranks)] += 1
        total += max(load)
    return total / 200 / (sequences / ranks)


def step_parts(ranks, sequences, length, weights, rate, latency, bandwidth):
    """Seconds of a step, of work and of messages. rate: events a second of one process."""
    compute = sequences * length / ranks / rate * busiest(ranks, sequences)
    return compute, in_line(ranks) * latency + (traffic(weights, ranks) / bandwidth if ranks > 1 else 0)


def step_time(*step):
    return sum(step_parts(*step))


# ---- Measuring -------------------------------------------------------------------------------------------------------


def train(folder, ranks, data, *args, delay=0.0):
    """What each rank counted, and the fastest epoch's seconds."""
    import mpi
    env = mpi.environment(SMURF_MPI_COUNTS="counts", SMURF_MPI_DELAY=str(delay))
    done = subprocess.run(mpi.parts((ranks, ["train", data, "-o", "m", "--log", "log.jsonl", "--threads", "1", "-q", *args])),
                          cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"scale: {done.stderr}")
    counts = [json.loads((folder / f"counts.{rank}").read_text()) for rank in range(ranks)]
    epochs = [json.loads(line)["seconds"] for line in (folder / "log.jsonl").read_text().splitlines()]
    return counts, min(epochs)


def smurf(folder, *args):
    import common
    subprocess.run([common.SMURF, *args, "--quiet"], cwd=folder, env=common.environment(), check=True)


def measure_steps(folder):
    """[{ranks, weights, messages, bytes, seconds by delay}]"""
    epochs, found = 3, []
    smurf(folder, "simulate", "hawkes", "-k", "5", "-n", "640", "--events", "16", "-o", "steps.csv")
    smurf(folder, "convert", "steps.csv", "steps", "--to", "packed", "--split", "8:2:0")
    for ranks in 1, 2, 4:
        row = {"ranks": ranks, "seconds": {}}
        for delay in (0.0, 0.01, 0.02) if ranks > 1 else (0.0,):
            counts, seconds = train(folder, ranks, "steps", "--batch", "64", "--epochs", str(epochs), "--dropout", "0", delay=delay)
            steps = counts[0]["steps"] or epochs * 8
            row["seconds"][delay] = seconds / (steps / epochs)
        for what in "rounds", "messages", "bytes":
            row[what] = [c["step"][what] / steps for c in counts]
        found.append(row)
    return found


def weights_of(folder):
    header = (folder / "m").read_bytes()
    tensors = json.loads(header[8:8 + int.from_bytes(header[:8], "little")])
    return sum(math.prod(t["shape"]) for name, t in tensors.items() if name != "__metadata__")


def deal(folder, source, to, parts):
    """The lines of a file as so many files."""
    lines = (folder / source).read_text().splitlines(keepends=True)
    for p in range(parts):
        (folder / to.format(p)).write_text("".join(lines[len(lines) * p // parts:len(lines) * (p + 1) // parts]))


def measure_memory(folder):
    """Peak of the largest rank, MB, on a million events, packed and in files of JSON Lines: {ranks: (MB, MB)}; and of one
    on hardly any."""
    tiny = ["--width", "8", "--heads", "2", "--head-width", "4", "--layers", "1", "--inner", "8", "--nodes", "4", "--batch", "512",
            "--epochs", "1", "--recalibrate", "off"]
    smurf(folder, "simulate", "poisson", "-k", "3", "-n", "20000", "--events", "50", "-o", "much.csv")
    smurf(folder, "convert", "much.csv", "much", "--to", "packed", "--split", "99:1:0")
    smurf(folder, "convert", "much/train.smurf", "much.jsonl")
    (folder / "files").mkdir()
    deal(folder, "much.jsonl", "files/train-{:03}.jsonl", FILES)
    smurf(folder, "convert", "much/dev.smurf", "files/dev.jsonl")
    found = {}
    for ranks in 1, 2, 4:
        found[ranks] = [max(c["memory_kb"] for c in train(folder, ranks, data, *tiny)[0]) / 1000 for data in ("much", "files")]
    (folder / "few").mkdir()
    smurf(folder, "simulate", "poisson", "-k", "3", "-n", "600", "--events", "50", "-o", "few.csv")
    smurf(folder, "convert", "few.csv", "few", "--to", "packed", "--split", "8:2:0")
    counts, _ = train(folder, 2, "few", *tiny)
    return found, max(c["memory_kb"] for c in counts) / 1000


# ---- The page --------------------------------------------------------------------------------------------------------

NETWORKS = {"Ethernet, 10 Gb/s, 30 µs": (30e-6, 1.1e9), "InfiniBand, 100 Gb/s, 2 µs": (2e-6, 11e9)}
RANK_RATE = 150000  # events a second of one process with 16 cores
LENGTH, WEIGHTS = 72, 63942


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "--:|" * len(head), *("| " + " | ".join(row) + " |" for row in rows)]


def traffic_section(steps, weights):
    rows = []
    for row in steps[1:]:
        r = row["ranks"]
        rows.append([str(r), f"{statistics.mean(row['rounds']):.0f}", f"{rounds(r)}", f"{max(row['messages']):.1f}",
                     f"{max(messages(r, q) for q in range(r))}", f"{max(row['bytes']):,.0f}", f"{max(sent(weights, r, q) for q in range(r)):,}"])
    return table(["processes", "rounds", "formula", "messages", "formula", "bytes sent", "formula"], rows)


def delay_section(steps):
    rows = []
    for row in steps[1:]:
        seconds = row["seconds"]
        base, slow = seconds[0.0], max(seconds)
        slope = (seconds[slow] - base) / slow
        rows.append([str(row["ranks"]), *(f"{1000 * s:.1f}" for s in seconds.values()), f"{slope:.1f}", f"{in_line(row['ranks'])}"])
    delays = list(steps[1]["seconds"])
    return table(["processes", *(f"{1000 * d:g} ms" for d in delays), "slope", "formula"], rows)


def prediction_section():
    """The table, and what overlap could gain at most, in percent, where the speed is two thirds of the ideal or more, and
    elsewhere."""
    rows, gains = [], {True: 0, False: 0}
    for ranks in 8, 16, 32, 64, 128, 1024:
        for batch in 128, 1024, 8192:
            cells = [f"{ranks}", f"{batch:,}"]
            for latency, bandwidth in NETWORKS.values():
                used = min(ranks, leaves(batch * LENGTH))
                work, messages_time = step_parts(used, batch, LENGTH, WEIGHTS, RANK_RATE, latency, bandwidth)
                built = batch * LENGTH / (work + messages_time)
                gain = 100 * ((work + messages_time) / max(work, messages_time) - 1)
                more = batch * LENGTH / step_time(ranks, batch, LENGTH, WEIGHTS, RANK_RATE, latency, bandwidth)
                cells += [f"{built / 1e6:.2f}", f"{100 * built / ranks / RANK_RATE:.0f}%"]
                if ranks > SHARDS:
                    cells[-1] += f" ({more / 1e6:.2f})"
                cells.append(f"{gain:.0f}%")
                good = built >= ranks * RANK_RATE * 2 / 3
                gains[good] = max(gains[good], gain)
            rows.append(cells)
    head = ["processes", "batch"]
    for name in NETWORKS:
        head += [f"{name}: million events/s", "of ideal", "overlap"]
    return table(head, rows), gains


def day_section():
    rows = []
    events = 1e9
    for ranks in 1, 4, 8, 16, 64:
        latency, bandwidth = NETWORKS["Ethernet, 10 Gb/s, 30 µs"]
        batch = 2048
        step = step_time(ranks, batch, LENGTH, WEIGHTS, RANK_RATE, latency, bandwidth)
        epoch = events / (batch * LENGTH) * step
        rows.append([str(ranks), f"{batch * LENGTH / step / 1e6:.2f}", f"{epoch / 60:.0f} min", f"{events * EVENT_FEED / ranks / 1e9:.1f} GB"])
    return table(["processes", "million events/s", "an epoch", "memory of a process"], rows)


def memory_section(memory, rest):
    rows = [[str(r), f"{packed:.0f}", f"{packed - rest:.0f}", f"{files:.0f}", f"{files - rest:.0f}", f"{EVENT_FEED / r + EVENT_PACKED:.0f}"]
            for r, (packed, files) in memory.items()]
    return table(["processes", "packed file: peak, MB", "due to the data", "directory: peak, MB", "due to the data", "formula"], rows)


PAGE = """# Several machines

`mpirun -n R smurf-mpi train DATA` trains one model with R processes, on one machine or many: the same model to the bit for any
R, and for any number of threads of each. `mpirun -n R smurf-mpi compare DATA` deals out the runs of a comparison. This page
says how to use it, what travels, and what to expect. Its numbers are written by bench/scale.py.

## Use

`make` builds `smurf-mpi` where it finds MPI (`apt install libopenmpi-dev openmpi-bin`).

    smurf convert log.csv log.smurf
    mpirun -q --map-by ppr:1:node --bind-to none smurf-mpi train log.smurf --batch 1024 --threads 16

- One process per machine (or per processor), with threads inside, sends least. `-q` leaves out mpirun's own explanations.
- Every process reads DATA from the same path; rank 0 alone prints and writes, and MODEL.resume need not be shared before a
  `--resume`. For compare, the folder of runs must be shared.
- Types, scales and the clock are those of all of train, so every process must see all of it; mapped, it does so without holding
  it. A packed file is mapped, and shared by the processes of one machine. A directory with train in several files (`train-000.jsonl`,
  `train-001.jsonl`, ...; doc/formats.md) is read by all together: the first file by rank 0, since it decides about columns, the others
  in turn, R at a time. What a process has read travels to all as a packed file, and each keeps the events in a temporary file of its
  own, of 12 bytes an event, in `$TMPDIR` (or /var/tmp): put that on a disk, not in memory. Any other file is read whole by every
  process, and so are directories with `--features`.
- Work is dealt out by sequences, so windows (`--window`) or many sequences are needed. A batch of E events has work for E / 128
  processes, 64 at most. With fewer than 64 sequences in a batch, neighbours in the file may all be of one process.
- Ctrl-C stops all processes and saves the run, if a step ends within the second that mpirun leaves them. A process that is
  killed, or silent for `SMURF_MPI_TIMEOUT` seconds (600; 0: no limit), ends the job with one line; its checkpoint is at most
  `--save-every` old, and `--resume` goes on with any number of processes. mpirun ends with the status of the first process that
  failed: 1 or 2 as for `smurf`, 137 for one that was killed: no option of mpirun makes that 1 (`--enable-recovery` makes it 0).
  `mpirun ... sh -c 'smurf-mpi train DATA ... || exit 1'` does.
- Results are the same on processors of one type. Before the first step, processes check that all have the same data and settings.
- mpirun of Open MPI 4.1 may itself not return when a process is killed while it starts; all processes have ended then.

## What travels in a step

Each process adds the gradients of its sequences along the tree, and sends each other process the part of the sum that this
one moves (*exchange*); squares and losses are gathered, and so are the weights after Adam. For W weights and R processes, each
sends 2 (R - 1) / R × 4 W bytes in 1 + 2 log2 R rounds, and R - 1 messages in the exchange. Counted per step, for the process
that sends most; W = {weights:,}:

{traffic}

The formula for bytes is that for shares of whole chunks of {chunk:,} weights. Sums of squares and losses come on top; a process
that has several subtrees, which is so if R does not divide 64, sends several sums.

## Time of a step

    T = E b / (R v) + m α + 2 (R - 1) / R × 4 W / β

E events in a batch, v events a second of one process, b the share of the busiest process over the mean, m messages one after
the other, α latency and β bandwidth. Messages and work do not overlap. m = R - 1 + 2 (2 log2 R - 1): each round waits for the process that
sends most messages in it.

A delay injected into every message (`SMURF_MPI_DELAY`) must show as m times that delay. Milliseconds of a step by delay, all
processes on {cores} busy cores, and the slope between the first and the last:

{delay}

## Prediction

Sequences of {length} events, W = {model:,}, processes of 16 cores that train {rate:,} events a second. Batches fall
unevenly on processes: with 2 sequences for each, the busiest has three times the mean. So batches should have 16
sequences or more for every process. As built, a batch has 64 shards and more than 64 processes gain nothing; in brackets: with as
many shards as processes. How large a batch may be before the dev loss suffers depends on the data: see below.

{prediction}

Overlap: how much faster steps would be, at most, if messages travelled during the work: T over the longer of the two.
Where the processes reach two thirds of the ideal speed, that is {gain_good:.0f}% at most, so nothing overlaps. With small batches on many machines over
Ethernet, where each has few sequences, it is up to {gain_bad:.0f}%. What can be had is less: a step needs the norm of the whole gradient before the
first weight moves, and all weights before the next step begins. So only the exchange, half of the bytes, could overlap: the gradient of
the last layers would be sent while those before them are computed. For that, the sums over slices, which are made when all slices are
done, would have to be made layer by layer.

## A day of a billion events

Batches of 2,048 sequences of {length} events, on the Ethernet above:

{day}

The packed file has 12 GB, mapped by all. Eight machines of 16 cores train ten epochs within three hours, and 7 GB of memory
are enough for each.

## Memory

Peak of the largest process, on a million events in a packed file, and in a directory of {files} files of JSON Lines; due to the
data: without the {rest:.0f} MB of a process on hardly any. Each process holds {feed} bytes for every event of its own sequences, and maps
{packed} bytes for every event: those of the packed file, which processes of one machine share, or of its temporary file. Mapped pages
count here, but a machine takes them back when it needs memory. Formula: MB for a million events, with the mapped file.

{memory}
"""


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    os.environ["SMURF"] = str(build / "smurf")
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        steps = measure_steps(folder)
        weights = weights_of(folder)
        memory, rest = measure_memory(folder)
    prediction, gains = prediction_section()
    text = PAGE.format(weights=weights, chunk=CHUNK, traffic="\n".join(traffic_section(steps, weights)), delay="\n".join(delay_section(steps)),
                       cores=len(os.sched_getaffinity(0)), length=LENGTH, model=WEIGHTS, rate=RANK_RATE,
                       prediction="\n".join(prediction), gain_good=gains[True], gain_bad=gains[False], files=FILES, day="\n".join(day_section()),
                       memory="\n".join(memory_section(memory, rest)), rest=rest, feed=EVENT_FEED, packed=EVENT_PACKED)
    (ROOT / "doc" / "scale.md").write_text(batches.replace(text, batches.section()))
    print(text)


if __name__ == "__main__":
    main()
