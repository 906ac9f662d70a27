"""Groups of processes of smurf-mpi on this machine, for tests: without a network, and more of them than cores.

SMURF_MPI: path of the command (default: smurf-mpi beside smurf).
"""
import os
import re
import shutil
import subprocess
import time
import unittest

import common

SMURF_MPI = os.path.abspath(os.environ.get("SMURF_MPI") or os.path.join(os.path.dirname(common.SMURF), "smurf-mpi"))
MISSING = (None if os.path.exists(SMURF_MPI) and shutil.which("mpirun") else
           "smurf-mpi or mpirun is missing (install libopenmpi-dev openmpi-bin)")
# -q: mpirun leaves the explanations to smurf. --bind-to none: nothing is known of the cores. Reading the memory of another
# process, which vader would do, is not allowed everywhere.
MPIRUN = ["mpirun", "-q", "--oversubscribe", "--bind-to", "none", "--mca", "pml", "ob1", "--mca", "btl", "self,vader",
          "--mca", "btl_vader_single_copy_mechanism", "none"]
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def environment(**more):
    home = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    leaks = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}  # Open MPI's
    return common.environment(**home, **ROOT, **leaks, **more)


def parts(*commands):
    """[(number of processes, arguments)] as mpirun takes them, with a colon between."""
    words = []
    for count, args in commands:
        words += [":"] * bool(words) + ["-n", str(count), SMURF_MPI, *args]
    return MPIRUN + words


def ranks(mpirun):
    """{rank: pid} of the processes that mpirun has started."""
    found = {}
    try:
        with open(f"/proc/{mpirun}/task/{mpirun}/children") as children:
            pids = [int(pid) for pid in children.read().split()]
        for pid in pids:
            with open(f"/proc/{pid}/environ", "rb") as variables:
                rank = re.search(rb"\0OMPI_COMM_WORLD_RANK=(\d+)\0", b"\0" + variables.read() + b"\0")
            with open(f"/proc/{pid}/comm") as name:
                if rank and name.read().startswith("smurf"):
                    found[int(rank[1])] = pid
    except OSError:  # one ended meanwhile
        return {}
    return found


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def told(err):
    """The lines of smurf: Open MPI may add its own when a process is killed."""
    return [line for line in err.splitlines() if line.startswith("smurf: ")]


@unittest.skipIf(MISSING, MISSING)
class Case(common.Case):
    def mpi(self, count, *args, env=None, also=()):
        """Runs a command in so many processes, and in those of `also`, as in parts()."""
        done = subprocess.run(parts((count, args), *also), cwd=self.folder, env=environment(**(env or {})),
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=common.TIMEOUT)
        return common.Result(done)

    def start(self, count, *args, env=None):
        """A run; its processes end with the test."""
        run = subprocess.Popen(parts((count, args)), cwd=self.folder, env=environment(**(env or {})),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end, run)
        return run

    def end(self, run):
        if run.poll() is None:
            run.terminate()  # mpirun then ends its processes
            try:
                run.wait(20)
            except subprocess.TimeoutExpired:
                run.kill()
        run.wait()
        for pipe in run.stdout, run.stderr:
            pipe.close()

    def wait_until(self, ready, run):
        end = time.monotonic() + common.TIMEOUT
        while not ready():
            self.assertIsNone(run.poll(), "it ended before")
            self.assertLess(time.monotonic(), end, "it takes too long")
            time.sleep(0.002)

    def signal(self, run, count, rank, number):
        """Sends a signal to one of the processes; returns the status and standard error of the whole."""
        self.wait_until(lambda: len(ranks(run.pid)) == count, run)
        os.kill(ranks(run.pid)[rank], number)
        out, err = run.communicate(timeout=common.TIMEOUT)
        self.assertEqual(out, b"", err)
        return run.returncode, err.decode()
