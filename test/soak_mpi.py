"""Kills random ranks of smurf-mpi at random moments: each job ends, its checkpoint is whole and recent, and the run goes on
in other numbers of processes to the bits of a run by one.

    SMURF=build/smurf python3 test/soak_mpi.py [KILLS [SEED]]
"""
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "cli"))
import common
import models
import mpi
import soak_alloc

TRAIN = ["train", "data", "-o", "m.safetensors", "--batch", "24", "--width", "16", "--inner", "64", "--dropout", "0.1",
         "--average", "0.9", "--threads", "1", "--save-every", "20ms", "--quiet"]
OLD = 5  # seconds: a checkpoint this old was not written when it was due, even on a busy machine
DEAD = 60  # seconds that a job may take to end after a kill


class Failed(Exception):
    pass


def write_data(folder):
    os.makedirs(os.path.join(folder, "data"))
    for part, n, seed in ("train", 150, 1), ("dev", 20, 2):
        with open(os.path.join(folder, "data", part + ".csv"), "w") as f:
            f.write(models.table(n, events=25, seed=seed))


def content(folder, name):
    try:
        with open(os.path.join(folder, name), "rb") as f:
            return f.read()
    except FileNotFoundError:
        return None


def check_files(folder, started, killed):
    """After a kill: whole files, and a checkpoint that is not old, if the run has come to write one."""
    for name in "m.safetensors", "m.resume":
        found = content(folder, name)
        if found is not None and not soak_alloc.whole(found):
            raise Failed(f"{name} is not whole after a kill")
    resume = os.path.join(folder, "m.resume")
    written = os.stat(resume).st_mtime if os.path.exists(resume) else 0
    if written > started and killed - written > OLD:
        raise Failed(f"the checkpoint is {killed - written:.1f} s old")


def job(folder, count, args, rank=None, after=0.0):
    """A job of so many processes, of which one is killed after some seconds, unless rank is None. Whether it was."""
    begun = time.time()
    run = subprocess.Popen(mpi.parts((count, args)), cwd=folder, env=mpi.environment(), stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        end, killed = time.monotonic() + after, None
        while rank is not None and run.poll() is None and not killed:
            found = mpi.ranks(run.pid)
            if time.monotonic() >= end and len(found) == count:
                os.kill(found[rank], signal.SIGKILL)
                killed = time.time()
            time.sleep(0.001)
        err = run.communicate(timeout=DEAD if killed else common.TIMEOUT)[1].decode()
    except ProcessLookupError:  # it ended by itself
        err = run.communicate(timeout=DEAD)[1].decode()
        killed = None
    except subprocess.TimeoutExpired:
        run.kill()
        raise Failed(f"{count} processes did not end after rank {rank} was killed") from None
    finally:
        run.stderr.close()
    if run.returncode == 0:
        return False
    if not killed:
        raise Failed(f"{count} processes: status {run.returncode}: {err}")
    if len(mpi.told(err)) > 1:
        raise Failed(f"more than one line after a kill: {err}")
    check_files(folder, begun, killed)
    return True


def campaign(folder, kills, seed, epochs):
    """Returns how many runs it took."""
    draw, runs = random.Random(seed), 0
    args = [*TRAIN, "--epochs", str(epochs)]
    write_data(folder)
    subprocess.run([common.SMURF, *args], cwd=folder, env=common.environment(), check=True, stdout=subprocess.DEVNULL)
    want = content(folder, "m.safetensors")
    begun = time.monotonic()
    job(folder, 2, args)
    took = time.monotonic() - begun
    while kills > 0:
        for name in "m.safetensors", "m.resume":
            os.remove(os.path.join(folder, name))
        runs += 1
        while True:
            count = draw.randint(2, 4)
            again = ["--resume"] if os.path.exists(os.path.join(folder, "m.resume")) else []
            if not job(folder, count, args + again, draw.randrange(count) if kills else None, draw.uniform(0, took)):
                break
            kills -= 1
        if content(folder, "m.safetensors") != want:
            raise Failed(f"seed {seed}: a run that was killed and went on gives another model")
    return runs


def main():
    kills, seed = int(sys.argv[1]) if len(sys.argv) > 1 else 200, int(sys.argv[2]) if len(sys.argv) > 2 else 1
    if mpi.MISSING:
        print("skipped: " + mpi.MISSING)
        return
    with tempfile.TemporaryDirectory(prefix="smurf-mpi-") as folder:
        try:
            runs = campaign(folder, kills, seed, 15)
        except Failed as e:
            raise SystemExit(f"soak: {e}") from None
    print(f"kills: {kills} of random ranks in {runs} runs, all jobs ended, all runs went on to the same model")


if __name__ == "__main__":
    main()
