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
DEAD = 30  # seconds that a job may take to end after a kill


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
    age = killed - written(folder)
    if written(folder) > started and age > OLD:
        raise Failed(f"the checkpoint is {age:.1f} s old")


def written(folder):
    """When the checkpoint was last written; 0: never."""
    path = os.path.join(folder, "m.resume")
    return os.stat(path).st_mtime if os.path.exists(path) else 0


def kill_one(run, folder, count, rank, after, early):
    """Kills one rank of a job after some seconds; when that was, or None if the job ended before."""
    begun, end = time.time(), time.monotonic() + after
    while run.poll() is None:
        found = mpi.ranks(run.pid)
        if time.monotonic() >= end and len(found) == count and (early or written(folder) > begun):
            try:
                os.kill(found[rank], signal.SIGKILL)
                return time.time()
            except ProcessLookupError:
                return None
        time.sleep(0.001)
    return None


def job(folder, count, args, rank=None, after=0.0, early=True):
    """A job of so many processes, of which one is killed after some seconds, unless rank is None. Whether it was; "stuck":
    it was, all others ended, but mpirun did not. (When a process is killed while it connects to mpirun, Open MPI 4.1 may wait
    for itself at its end.)"""
    begun, stuck = time.time(), False
    run = subprocess.Popen(mpi.parts((count, args)), cwd=folder, env=mpi.environment(), stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    killed = None if rank is None else kill_one(run, folder, count, rank, after, early)
    try:
        err = run.communicate(timeout=common.TIMEOUT if rank is None else DEAD)[1].decode()
    except subprocess.TimeoutExpired:
        stuck = not mpi.ranks(run.pid)
        run.kill()
        err = run.communicate()[1].decode()
        if not stuck:
            raise Failed(f"{count} processes did not end after rank {rank} was killed") from None
    if run.returncode == 0:
        return False
    if not killed:
        raise Failed(f"{count} processes: status {run.returncode}: {err}")
    if len(mpi.told(err)) > 1:
        raise Failed(f"more than one line after a kill: {err}")
    check_files(folder, begun, killed)
    return "stuck" if stuck else True


def campaign(folder, kills, seed, epochs, early=True):
    """Returns how many runs it took, and how often mpirun was stuck. early: kills come at any moment, else in training."""
    draw, runs, stuck = random.Random(seed), 0, 0
    args = [*TRAIN, "--epochs", str(epochs)]
    write_data(folder)
    subprocess.run([common.SMURF, *args], cwd=folder, env=common.environment(), check=True, stdout=subprocess.DEVNULL)
    want = content(folder, "m.safetensors")
    begun = time.monotonic()
    if early:
        job(folder, 2, args)
    took = time.monotonic() - begun
    while kills > 0:
        for name in "m.safetensors", "m.resume":
            os.remove(os.path.join(folder, name))
        runs += 1
        while True:
            count = draw.randint(2, 4)
            again = ["--resume"] if os.path.exists(os.path.join(folder, "m.resume")) else []
            rank, after = draw.randrange(count) if kills else None, draw.uniform(0, took) if early else 0
            was = job(folder, count, args + again, rank, after, early)
            if not was:
                break
            kills -= 1
            stuck += was == "stuck"
        if content(folder, "m.safetensors") != want:
            raise Failed(f"seed {seed}: a run that was killed and went on gives another model")
    return runs, stuck


def main():
    kills, seed = int(sys.argv[1]) if len(sys.argv) > 1 else 200, int(sys.argv[2]) if len(sys.argv) > 2 else 1
    if mpi.MISSING:
        print("skipped: " + mpi.MISSING)
        return
    with tempfile.TemporaryDirectory(prefix="smurf-mpi-") as folder:
        try:
            runs, stuck = campaign(folder, kills, seed, 15)
        except Failed as e:
            raise SystemExit(f"soak: {e}") from None
    print(f"kills: {kills} of random ranks in {runs} runs; all processes ended, all runs went on to the same model; mpirun itself "
          f"was stuck {stuck} times")


if __name__ == "__main__":
    main()
