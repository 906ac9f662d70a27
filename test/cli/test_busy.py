"""Two threads beside other work do not spend their time waiting.

Seconds depend on the other work, so processor time is compared: spinning at every wait took 13 times as much.
"""
import os
import resource
import subprocess
import sys
import unittest

import common

MOST = 2  # times the processor time of one thread


class Busy(common.Case):
    def processor_seconds(self, threads):
        """Of an epoch, as users run it: the tests' policy for waiting threads is not theirs."""
        env = common.environment()
        del env["OMP_WAIT_POLICY"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([common.SMURF, "train", "data/", "--epochs", "1", "--threads", str(threads), "-q"], cwd=self.folder, env=env,
                       check=True, stdout=subprocess.DEVNULL, timeout=common.TIMEOUT)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def test_training_beside_busy_processes(self):
        self.smurf("simulate", "poisson", "rate=1", "-n", "400", "--events", "60", "-o", "data/", "-q")
        alone = self.processor_seconds(1)
        spin = [sys.executable, "-c", f"import os\nwhile os.getppid() == {os.getpid()}: pass"]
        others = [subprocess.Popen(spin) for _ in range(os.cpu_count() or 1)]
        try:
            beside = self.processor_seconds(2)
        finally:
            for other in others:
                other.kill()
                other.wait()
        self.assertLess(beside, MOST * alone)


if __name__ == "__main__":
    unittest.main()
