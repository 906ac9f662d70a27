"""What the commands show on a terminal."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading
import unittest

from common import SMURF, TIMEOUT, Case, environment


class Terminal(Case):
    def on_terminal(self, *args, columns=80, env=None):
        """Runs with standard output and error on a terminal; returns all that it showed."""
        main, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        process = subprocess.Popen([SMURF, *args], cwd=self.folder, env=environment(**(env or {})), stdin=subprocess.DEVNULL,
                                   stdout=other, stderr=other)
        os.close(other)
        seen = []

        def watch():
            try:
                while piece := os.read(main, 4096):
                    seen.append(piece)
            except OSError:  # the other side is closed
                pass
        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            status = process.wait(TIMEOUT)
        finally:
            process.kill()
            watcher.join()
            os.close(main)
        text = b"".join(seen).decode()
        self.assertEqual(status, 0, text)
        return text

    def test_quiet_draws_nothing(self):
        self.assertEqual(self.on_terminal("simulate", "hawkes", "-n", "2000", "-o", "out.csv", "-q"), "")

    def test_info_fits(self):
        self.write("a.csv", "time,type\n" + "".join("2024-01-%02dT%02d:%02d:07.25Z,a name that is long %d\n" %
                                                    (1 + i // 24, i % 24, i * i % 60, i % 9) for i in range(700)))
        for columns in 70, 80, 120:
            text = self.on_terminal("info", "a.csv", columns=columns)
            self.assertIn("median", text)
            self.assertLessEqual(max(map(len, text.replace("\r", "").split("\n"))), columns, text)

    def test_info_uses_the_width(self):
        self.smurf("simulate", "hawkes", "-n", "30", "--events", "12", "-o", "a.csv", "-q")
        narrow, usual, wide = (self.on_terminal("info", "a.csv", columns=n) for n in [50, 80, 100])
        self.assertEqual(narrow, usual)
        self.assertLessEqual(max(map(len, usual.splitlines())), 80)
        self.assertTrue(80 < max(map(len, wide.splitlines())) <= 100)

    def test_compare_shows_its_cells(self):
        self.smurf("simulate", "hawkes", "-n", "30", "--events", "12", "-o", "demo/", "-q")
        text = self.on_terminal("compare", "demo/", "--models", "default", "--seeds", "1", "--epochs", "1")
        self.assertRegex(text, r"\r\x1b\[K.*default")
        self.assertRegex(text.split("\x1b[K")[-1], "default")  # the table, after the line was wiped

    def test_compare_shows_what_follows_an_early_stop(self):
        self.smurf("simulate", "hawkes", "-n", "300", "--events", "60", "--split", "2:7:1", "-o", "demo/", "-q")
        text = self.on_terminal("compare", "demo/", "--models", "default:width=8:layers=1:patience=1:rate=0.1", "--epochs", "50",
                                "--threads", "1", columns=200)
        [log] = [f for f in self.listing() if f.endswith("log.jsonl")]
        epochs = len(self.content(log).splitlines())
        self.assertLess(epochs, 50)
        self.assertEqual(max(map(int, re.findall(r"epoch (\d+) of 50", text))), epochs)
        self.assertIn("calibrating", text)


if __name__ == "__main__":
    unittest.main()
