"""Every command of the README runs and prints what the README shows.

A ```console block holds commands after "$ " and what they print. They run in order in one empty folder that holds the examples, with the
command on the PATH; CI runs those that begin with make. Numbers may differ by 2%, those of a trained model by a half and its types may change
places: another processor rounds otherwise. Durations of runs are free. A ```c block with a main is compiled against the header and the library.

    python3 test/test_readme.py --refresh       replaces what the README shows by what the commands print
"""

import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("SMURF_ROOT", pathlib.Path(__file__).resolve().parent.parent))
BUILD = pathlib.Path(os.environ.get("SMURF_BUILD", ROOT / "build"))
LOGS = ROOT / ".." / "shared" / "data" / "logs"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / "README.md").read_text(), re.S | re.M)


def commands():
    """Pairs of a command and what it should print."""
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output.rstrip()


def is_of_model(command):
    return command.startswith("smurf ") and command.split()[1] in ("train", "predict", "eval", "overdue", "score", "watch")


NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


def close(left, right, tolerance):
    return math.isclose(float(left.replace(",", "")), float(right.replace(",", "")), rel_tol=tolerance, abs_tol=tolerance)


def same_line(expected, found, of_model):
    if of_model and expected.startswith("time "):
        return found.startswith("time ")
    numbers, others = NUMBER.findall(expected), NUMBER.findall(found)
    words, texts = NUMBER.sub("0", expected).split(), NUMBER.sub("0", found).split()
    if of_model:
        words, texts = sorted(words), sorted(texts)
    return words == texts and len(numbers) == len(others) and all(close(x, y, 0.5 if of_model else 0.02) for x, y in zip(numbers, others))


def run(command, folder):
    path = f"{BUILD}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", command], cwd=folder, env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    return done.stdout.rstrip()


def prepared(folder):
    os.symlink(ROOT / "examples", os.path.join(folder, "examples"))
    for log in LOGS.glob("*"):
        os.symlink(log.resolve(), os.path.join(folder, log.name))


def can_run(command):
    """make is left to CI; real logs lie beside the repository, if at all."""
    return not command.startswith("make") and ("pdm.csv" not in command or (LOGS / "pdm.csv").exists())


def refresh():
    """Rewrites the README with what its commands print."""
    text = (ROOT / "README.md").read_text()
    with tempfile.TemporaryDirectory() as folder:
        prepared(folder)
        for command, expected in commands():
            if not can_run(command):
                continue
            old = f"$ {command}\n" + (expected + "\n" if expected else "")
            printed = run(command, folder)
            text = text.replace(old, f"$ {command}\n" + (printed + "\n" if printed else ""), 1)
    (ROOT / "README.md").write_text(text)


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
    subprocess.run([smurf, "train", "data", "--epochs", "1", "-q", "--layers", "1", "--inner", "16", "--no-end"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)


class Readme(unittest.TestCase):
    def test_commands_print_what_is_shown(self):
        shown = list(commands())
        self.assertGreater(len(shown), 3)
        with tempfile.TemporaryDirectory() as folder:
            prepared(folder)
            for command, expected in shown:
                if not can_run(command):
                    continue
                printed = run(command, folder)
                with self.subTest(command=command):
                    lines, found = expected.splitlines(), printed.splitlines()
                    self.assertEqual(len(lines), len(found), f"{expected}\n--- found\n{printed}")
                    for line, other in zip(lines, found):
                        self.assertTrue(same_line(line, other, is_of_model(command)), f"README: {line}\nfound:  {other}")

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
                done = subprocess.run([f"{folder}/example"], cwd=folder, stdout=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 0)
                self.assertRegex(done.stdout, r"^next event between 11\.\d+ and \d+\.?\d*, median \d+\.\d+\n$")


if __name__ == "__main__":
    if sys.argv[1:] == ["--refresh"]:
        refresh()
    else:
        unittest.main()
