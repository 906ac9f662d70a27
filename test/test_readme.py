"""Every command of the README runs and prints what the README shows.

A ```console block holds commands after "$ " and what they print. They run one behind the other in one empty folder, with the command on
the PATH; make is left to CI, which calls it. Numbers may differ by 2% (another processor rounds otherwise), and "..." stands for
anything. A ```c block that has a main is compiled against the header and the library.
"""

import math
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("SMURF_ROOT", pathlib.Path(__file__).resolve().parent.parent))
BUILD = pathlib.Path(os.environ.get("SMURF_BUILD", ROOT / "build"))


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / "README.md").read_text(), re.S | re.M)


def commands():
    """Pairs of a command and what it should print."""
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output.rstrip()


def same_word(expected, found):
    if expected == found:
        return True
    try:
        return math.isclose(float(expected.replace(",", "")), float(found.replace(",", "")), rel_tol=0.02)
    except ValueError:
        return False


def same_line(expected, found):
    if "..." in expected:
        pattern = ".*".join(re.escape(part) for part in expected.split("..."))
        return re.fullmatch(pattern, found) is not None
    words, others = expected.split(), found.split()
    return len(words) == len(others) and all(map(same_word, words, others))


class Links(unittest.TestCase):
    def test_relative_links_lead_somewhere(self):
        for page in [*ROOT.glob("*.md"), *ROOT.glob("doc/*.md")]:
            for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
                with self.subTest(page=page.name, link=link):
                    self.assertTrue((page.parent / link).exists())


def train_model(folder):
    """A small model of two types as model.safetensors."""
    smurf = os.environ.get("SMURF", f"{BUILD}/smurf")
    subprocess.run([smurf, "simulate", "hawkes", "-k", "2", "-n", "30", "-o", "data", "-q"], cwd=folder, check=True)
    subprocess.run([smurf, "train", "data", "--epochs", "1", "-q", "--layers", "1", "--inner", "16"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)


class Readme(unittest.TestCase):
    def test_commands_print_what_is_shown(self):
        shown = list(commands())
        self.assertGreater(len(shown), 3)
        with tempfile.TemporaryDirectory() as folder:
            for command, expected in shown:
                if command.startswith("make"):
                    continue
                path = f"{BUILD}:{os.environ['PATH']}"
                run = subprocess.run(["bash", "-c", command], cwd=folder, env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"},
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
                with self.subTest(command=command):
                    found = run.stdout.rstrip().splitlines()
                    lines = expected.splitlines()
                    if lines and lines[-1] == "...":
                        lines, found = lines[:-1], found[: len(lines) - 1]
                    self.assertEqual(len(lines), len(found), f"{expected}\n--- found\n{run.stdout}")
                    for line, other in zip(lines, found):
                        self.assertTrue(same_line(line, other), f"README: {line}\nfound:  {other}")

    def test_c_example_compiles_and_runs(self):
        examples = [block for block in blocks("c") if "main" in block]
        self.assertTrue(examples)
        with tempfile.TemporaryDirectory() as folder:
            for source in examples:
                file = pathlib.Path(folder, "example.c")
                file.write_text(source)
                subprocess.run([*os.environ.get("CC", "cc").split(), "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", file, "-o", f"{folder}/example",
                                f"-L{BUILD}/src", "-lsmurf", f"-Wl,-rpath,{BUILD}/src"], check=True)
                train_model(folder)
                run = subprocess.run([f"{folder}/example"], cwd=folder, stdout=subprocess.PIPE, text=True)
                self.assertEqual(run.returncode, 0)
                self.assertRegex(run.stdout, r"^next event between 11\.\d+ and \d+\.?\d*, median \d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
