"""Names of formats, samplers, objectives and models stand in their own files: everything else enumerates the tables."""
import os
import re
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("SMURF_ROOT", Path(__file__).resolve().parents[1]))

# Each table: its names, and the files that define them.
TABLES = {
    "formats": {"csv": ["src/data/csv_read.c"], "tsv": ["src/data/csv_read.c"], "jsonl": ["src/data/json_read.c"], "rmtpp": ["src/data/rmtpp.c"],
                "pickle": ["src/data/pickle_read.c"], "packed": ["src/data/packed.c"]},
    "samplers": {"exact": ["src/law/exact.c"], "langevin": ["src/law/langevin.c"], "mirror": ["src/law/mirror.c"], "reject": ["src/law/reject.c"]},
    "objectives": {name: [f"src/model/objective_{name}.c"] for name in ("dsm", "sm", "wsm", "mle")},
    "models": {"thp": ["src/model/thp.c", "src/model/thp_part.c"], "sahp": ["src/model/sahp.c"], "nhp": ["src/model/nhp.c"], "nce": ["src/model/nce.c"]},
}

# Other places: where a default or a published setting is chosen, and where a command names the form of its answers, which are no event data.
ALLOWED = {
    "src/model/config.c": ["mle"],  # the default objective
    "src/train/device.c": ["dsm", "sm", "wsm", "mle"],  # those that a GPU knows
    "src/model/preset.c": ["dsm"],  # of the published settings
    "cli/compare.c": ["langevin", "csv"],  # the paper's protocol; --format
    "cli/eval.c": ["csv"],  # --csv
    "cli/overdue.c": ["csv", "jsonl"],  # --format
    "cli/predict.c": ["csv", "jsonl"],  # --format
    "cli/sample.c": ["csv", "jsonl"],  # --format
    "cli/score.c": ["csv", "jsonl"],  # --format
    "cli/show_forecast.c": ["csv", "jsonl"],  # --format
    "cli/simulate.c": ["csv"],  # keeps further columns
    "cli/watch.c": ["csv", "jsonl"],  # --format
}

LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|\'(?:\\.|[^\'\\\n])+\'|"((?:\\.|[^"\\\n])*)"', re.S)


def literals(text):
    """The string literals of C source outside comments and includes."""
    text = re.sub(r"(?m)^\s*#\s*include.*$", "", text)
    return [m[1] for m in LITERAL.finditer(text) if m[1] is not None]


def named(literal):
    """Names that a literal is, or that it lists ("csv, tsv or json")."""
    found = set()
    for names in TABLES.values():
        if literal in names:
            found.add(literal)
        one = "|".join(map(re.escape, names))
        for m in re.finditer(rf"\b({one})\b(?:,| or| and) ({one})\b", literal):
            found.update(m.groups())
    return found


def home(name):
    return next(names[name] for names in TABLES.values() if name in names)


class Literals(unittest.TestCase):
    def test_names_stand_in_their_own_files(self):
        wrong = []
        for path in sorted(p for room in ("src", "cli") for p in (ROOT / room).rglob("*.[ch]")):
            file = str(path.relative_to(ROOT))
            for literal in literals(path.read_text()):
                wrong += [f'{file}: {name} in "{literal}"' for name in named(literal) if file not in home(name) and name not in ALLOWED.get(file, [])]
        self.assertEqual(wrong, [], "enumerate the table instead, or allow it in test/test_literals.py with the reason")

    def test_homes_define_their_names(self):
        for names in TABLES.values():
            for name, files in names.items():
                self.assertIn(name, literals((ROOT / files[0]).read_text()), files[0])

    def test_what_counts(self):
        text = '#include "csv"\n/* "tsv" */ // "sm"\nchar c = \'"\'; f("mle", "a \\" thp", "csv, tsv", "save as csv");'
        self.assertEqual([sorted(named(x)) for x in literals(text)], [["mle"], [], ["csv", "tsv"], []])


if __name__ == "__main__":
    unittest.main()
