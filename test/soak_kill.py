"""Kills commands at random moments: what they write is then the old file or the new one, whole, and runs go on.

    SMURF=build/smurf python3 test/soak_kill.py SECONDS [SEED]
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import soak_alloc
from soak_alloc import common

TRAIN = ["train", "data", "-o", "made", "--epochs", "6", "--save-every", "10ms", *soak_alloc.TINY, "--quiet"]
COMPARE = ["compare", "data", "--models", "default", "--runs", "made", "--epochs", "3", *soak_alloc.SET, "--threads", "2",
           "-o", "made.txt", "--quiet"]
COMMANDS = {"convert": ["convert", "a.csv", "made.jsonl", "--quiet"], "train": TRAIN, "compare": COMPARE}


def run(folder, args, limit=None):
    """Runs a command, killed after `limit` seconds; whether it was."""
    process = subprocess.Popen([common.SMURF, *args], cwd=folder, env=common.environment(), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        err = process.communicate(timeout=limit)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return True
    if process.returncode:
        raise SystemExit(f"{' '.join(args)}: status {process.returncode}: {err.decode()}")
    return False


def check(folder, name, want):
    """Files after a kill: old (there were none), or whole."""
    for path, content in soak_alloc.state(folder).items():
        if not path.startswith("made") or ".tmp-" in path or path.endswith((".part", "lock", ".jsonl")) and name != "convert":
            continue
        if soak_alloc.plain({path: content})[path] != want.get(path) and not soak_alloc.whole(content) and name != "compare":
            raise SystemExit(f"{name}: '{path}' is neither absent nor whole after a kill")


def results(folder):
    """What a finished run must leave, however often it was killed."""
    files = soak_alloc.plain(soak_alloc.state(folder))
    return {path: content for path, content in files.items() if path.startswith("made") and ".tmp-" not in path
            and not path.endswith((".resume", "lock", "log.jsonl"))}


def go_on(folder, name, args):
    again = [*args[:4], "--resume", "--threads", "1", "--quiet"] if name == "train" and os.path.exists(
        os.path.join(folder, "made.resume")) else args
    run(folder, again)


def main():
    seconds, seed = float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    draw, end, kills = random.Random(seed), time.monotonic() + seconds, {name: 0 for name in COMMANDS}
    with tempfile.TemporaryDirectory(prefix="smurf-kill-") as made:
        soak_alloc.prepare_data(made)
        want, took = {}, {}
        for name, args in COMMANDS.items():
            with tempfile.TemporaryDirectory(prefix="smurf-kill-") as folder:
                shutil.copytree(made, folder, dirs_exist_ok=True)
                start = time.monotonic()
                run(folder, args)
                took[name], want[name] = time.monotonic() - start, results(folder)
        while time.monotonic() < end:
            for name, args in COMMANDS.items():
                with tempfile.TemporaryDirectory(prefix="smurf-kill-") as folder:
                    shutil.copytree(made, folder, dirs_exist_ok=True)
                    kills[name] += run(folder, args, draw.uniform(0, took[name]))
                    check(folder, name, want[name])
                    go_on(folder, name, args)
                    if results(folder) != want[name]:
                        raise SystemExit(f"{name}: a run that was killed and went on gives other results")
    print("kills: " + ", ".join(f"{n} of {name}" for name, n in kills.items()) + ", all files whole, all runs went on")


if __name__ == "__main__":
    main()
