"""tools/check-abi on a small library of its own: what counts as a change of the interface, and how it is accepted."""
import os
import platform
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.environ.get("SMURF_ROOT", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADER = "typedef struct smurf_thing smurf_thing;\nstruct smurf_open { int a; };\nint smurf_do(smurf_thing *, struct smurf_open *);\n"
SOURCE = '#include "smurf.h"\nstruct smurf_thing { int inside; };\nint smurf_do(smurf_thing *t, struct smurf_open *o) { return t->inside + o->a; }\n'


@unittest.skipUnless(shutil.which("abidiff"), "abigail-tools is not installed")
@unittest.skipUnless(platform.machine() == "x86_64", "not an x86-64 machine")
class CheckAbi(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        for name in "tools", "include", "test/abi", "build/src":
            os.makedirs(os.path.join(self.folder, name))
        shutil.copy(os.path.join(ROOT, "tools", "check-abi"), os.path.join(self.folder, "tools"))
        self.build()
        self.assertEqual(self.check("--accept"), (0, ""))

    def build(self, header=HEADER, source=SOURCE, debug="-g"):
        for name, text in ("include/smurf.h", header), ("x.c", source):
            with open(os.path.join(self.folder, name), "w") as out:
                out.write(text)
        subprocess.run(["cc", debug, "-Iinclude", "-shared", "-fPIC", "x.c", "-o", "build/src/libsmurf.so"], cwd=self.folder, check=True)

    def check(self, *options):
        done = subprocess.run([os.path.join(self.folder, "tools", "check-abi"), "build", *options], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def changed(self, **to):
        self.build(**to)
        status, said = self.check()
        self.assertEqual(status, 1, said)
        self.assertIn("tools/check-abi build --accept\n", said)
        return said

    def test_the_same(self):
        self.build()
        self.assertEqual(self.check()[0], 0)

    def test_a_struct_that_grows(self):
        self.assertIn("smurf_open", self.changed(header=HEADER.replace("int a;", "int a, b;")))
        self.assertEqual(self.check("--accept"), (0, ""))
        self.assertEqual(self.check()[0], 0)

    def test_a_function_that_comes_or_goes(self):
        self.assertIn("smurf_more", self.changed(header=HEADER + "int smurf_more(void);\n", source=SOURCE + "int smurf_more(void) { return 1; }\n"))
        self.assertEqual(self.check("--accept"), (0, ""))
        self.assertIn("smurf_more", self.changed())

    def test_what_is_private_may_change(self):
        self.build(source=SOURCE.replace("int inside;", "double other; int inside;"))
        self.assertEqual(self.check()[0], 0)

    def test_needs_debug_information(self):
        self.build(debug="-g0")
        self.assertEqual(self.check()[0], 2)


if __name__ == "__main__":
    unittest.main()
