"""Dependencies between the rooms of the source point one way.

To add a room: add its line to NEEDS, with the rooms it stands directly upon.
"""
import glob
import os
import re
import unittest

ROOT = os.environ.get("SMURF_ROOT", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

NEEDS = {
    "base": [],
    "cuda": ["law"],
    "law": ["base"],
    "data": ["base"],
    "op": ["base", "cuda"],
    "naive": ["data"],
    "simulate": ["law", "data"],
    "model": ["law", "naive", "op"],
    "eval": ["law", "naive"],
    "forecast": ["model", "eval", "simulate", "cuda"],
    "train": ["forecast"],
    "report": ["eval"],
    "watch": ["base"],
}
PUBLIC = ("smurf.h", "smurf_lab.h")
STANDARD = set("""assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h limits.h locale.h math.h setjmp.h
    signal.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h
    tgmath.h threads.h time.h uchar.h wchar.h wctype.h""".split())
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def below(room):
    """The room itself and all that it stands upon."""
    return {room}.union(*(below(other) for other in NEEDS[room]))


def files(folder):
    return sorted(glob.glob(os.path.join(ROOT, folder, "**", "*.[ch]"), recursive=True))


def includes(path):
    """(in quotes?, name) of each include of a file."""
    with open(path, encoding="utf-8") as text:
        return [(mark == '"', name) for mark, name in INCLUDE.findall(text.read())]


class IncludeGraph(unittest.TestCase):
    def check(self, folder, is_allowed):
        """Every include of every file must be allowed: is_allowed(file, quoted, name)."""
        paths = files(folder)
        self.assertTrue(paths, f"no files in {folder}")
        wrong = [f"{os.path.relpath(path, ROOT)} includes {name}"
                 for path in paths for quoted, name in includes(path) if not is_allowed(path, quoted, name)]
        self.assertEqual(wrong, [])

    def test_rooms(self):
        def is_allowed(path, quoted, name):
            room = os.path.relpath(path, os.path.join(ROOT, "src")).split(os.sep)[0]
            if not quoted:  # a header of ours in <> would hide from this test
                return not os.path.exists(os.path.join(ROOT, "src", name)) and name not in PUBLIC
            return name in (*PUBLIC, "config.h") or name.split("/")[0] in below(room)
        self.check("src", is_allowed)

    def test_every_folder_is_a_room(self):
        folders = {os.path.relpath(path, os.path.join(ROOT, "src")).split(os.sep)[0] for path in files("src")}
        self.assertEqual(folders - set(NEEDS), set())

    def test_files_compiled_twice_say_so(self):
        """The sources that src/meson.build compiles for float and for double begin with the same line, and no others."""
        with open(os.path.join(ROOT, "src", "meson.build"), encoding="utf-8") as text:
            build = text.read()
        twice = set()
        for name in ("real_sources", "fast_sources", "vector_sources", "product_sources"):
            twice.update(re.findall(r"'(.*?)'", re.search(rf"^{name} = files\((.*?)\)", build, re.M | re.S).group(1)))
        self.assertTrue(twice)
        marked = set()
        for path in files("src"):
            with open(path, encoding="utf-8") as text:
                if text.readline() == "/* Compiled twice, for float and for double: see op/op.h. */\n":
                    marked.add(os.path.relpath(path, os.path.join(ROOT, "src")))
        self.assertEqual(marked, twice)

    def test_command_uses_the_public_header_only(self):
        def is_allowed(path, quoted, name):
            if not quoted:
                return name != "config.h" and not os.path.exists(os.path.join(ROOT, "src", name))
            joins = os.path.basename(path) == "group_mpi.c" and name == "base/ranks.h"  # the engine of smurf-mpi
            return name in (*PUBLIC, "code.h", "page_files.h") or os.path.exists(os.path.join(ROOT, "cli", name)) or joins
        self.check("cli", is_allowed)

    def test_one_file_knows_mpi(self):
        knows = [os.path.relpath(path, ROOT) for folder in ("src", "cli", "include") for path in files(folder)
                 if (False, "mpi.h") in includes(path)]
        self.assertEqual(knows, [os.path.join("cli", "group_mpi.c")])

    def test_public_header_needs_the_standard_library_only(self):
        self.check("include", lambda path, quoted, name: name == "smurf.h" if quoted else name in STANDARD)

    def test_examples_use_the_public_header_only(self):
        self.check("examples", lambda path, quoted, name: not quoted and (name in STANDARD or name in PUBLIC))


if __name__ == "__main__":
    unittest.main()
