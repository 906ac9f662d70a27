"""What was built and installed: the two libraries, the header, the pkg-config file, the example and the command.

SMURF_BUILD: the build directory. SMURF_ROOT: the sources.
"""
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.environ.get("SMURF_ROOT", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("SMURF_BUILD", os.path.join(ROOT, "build"))
HEADER = os.path.join(ROOT, "include", "smurf.h")
HEADERS = [HEADER, os.path.join(ROOT, "include", "smurf_lab.h")]
CC = shlex.split(os.environ.get("CC", "cc"))


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        raise AssertionError(f"{shlex.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def read(path):
    with open(path, encoding="utf-8") as text:
        return text.read()


def external_symbols(library, *options):
    """Names of the functions and variables that a library defines for others, their version cut off."""
    rows = [line.split() for line in run("nm", "--defined-only", "--extern-only", *options, library).splitlines()]
    return {row[2].split("@")[0] for row in rows if len(row) == 3 and row[1] != "A"}  # A: the version itself


def declared_symbols():
    """Names that the public headers declare with SMURF_API."""
    text = re.sub(r"/\*.*?\*/", "", "".join(map(read, HEADERS)), flags=re.DOTALL)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    return set(re.findall(r"SMURF_API\b[^;]*?\b(smurf_\w+)\s*(?=[(\[;])", text))


class Symbols(unittest.TestCase):
    def test_shared_library_exports_what_the_header_declares(self):
        self.assertIn("smurf_version", declared_symbols())
        self.assertEqual(external_symbols(os.path.join(BUILD, "src", "libsmurf.so"), "-D"), declared_symbols())

    def test_static_library_names_everything_smurf(self):
        others = {name for name in external_symbols(os.path.join(BUILD, "src", "libsmurf.a"))
                  if not name.startswith(("smurf_", ".gomp_critical_user_smurf_"))}
        self.assertEqual(others, set())

    def test_soname(self):
        dynamic = run("readelf", "-d", os.path.join(BUILD, "src", "libsmurf.so"))
        self.assertIn("[libsmurf.so.0]", dynamic)


class Needed(unittest.TestCase):
    """The shared libraries that are loaded at start: cairo, which brings X11 along, and those of databases are not among them."""
    ALLOWED = {"libc", "libm", "libmvec", "libz", "libjansson", "libgomp", "libomp", "ld-linux-x86-64"}

    def test_nothing_but_the_few(self):
        for built in os.path.join("src", "libsmurf.so"), "smurf":
            dynamic = run("readelf", "-d", os.path.join(BUILD, built))
            needed = set(re.findall(r"\(NEEDED\).*\[([\w-]+)\.so", dynamic))
            self.assertEqual(needed - self.ALLOWED, set(), built)
            self.assertLessEqual({"libc", "libjansson"}, needed)

    def test_nor_what_those_need(self):
        loaded = run("ldd", os.path.join(BUILD, "smurf"))
        for name in "cairo", "X11", "xcb", "fontconfig", "sqlite", "libpq":
            self.assertNotIn(name, loaded)


class Example(unittest.TestCase):
    def test_the_example_of_the_header_is_the_one_that_is_compiled(self):
        examples = read(HEADER).split("Example (compiled and run as a test: examples/")[1:]
        self.assertEqual(len(examples), 4)
        for text in examples:
            file = text.split(")", 1)[0]
            comment = text.split("*/", 1)[0].splitlines()[1:]
            shown = [line.removeprefix(" *").strip() for line in comment]
            compiled = [line.strip() for line in read(os.path.join(ROOT, "examples", file)).splitlines()]
            self.assertEqual([line for line in shown if line and line not in compiled], [])
            self.assertGreater(len(shown), 5)

    def test_the_forecast_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            smurf = os.environ["SMURF"]
            run(smurf, "simulate", "hawkes", "-k", "2", "-n", "30", "-o", "data", "-q", cwd=folder)
            run(smurf, "train", "data", "--epochs", "1", "-q", "--layers", "1", "--inner", "16", cwd=folder)
            self.assertRegex(self.example("forecast", folder), r"^next event between 11\.\d+ and ")

    def example(self, name, folder, **options):
        """What an example prints."""
        library = os.path.join(os.environ["SMURF_BUILD"], "src")
        run(*CC, os.path.join(ROOT, "examples", name + ".c"), "-I" + os.path.join(ROOT, "include"), "-L" + library, "-lsmurf",
            "-Wl,-rpath," + library, "-o", os.path.join(folder, name))
        return run(os.path.join(folder, name), cwd=folder, **options)

    def test_fit_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            run(os.environ["SMURF"], "simulate", "hawkes", "-k", "2", "-n", "30", "--until", "20", "-o", "log.csv", "-q", cwd=folder)
            said = self.example("fit", folder).splitlines()
            self.assertEqual(len(said), 3)
            self.assertRegex(said[0], r"^\d+: next event within ([\d.]+|inf), half of the time within [\d.]+$")
            self.assertTrue(os.path.exists(os.path.join(folder, "model.safetensors")))

    def test_arrays_and_streams_run(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.example("arrays", folder), "2 sequences, 3 gaps\n")
            said = self.example("stream", folder, input="user,time\nx,1\ny,1.5\nx,3000000\n")
            self.assertEqual(said, "x at 1\ny at 1.5\nx at 3e+06\n")


class Installed(unittest.TestCase):
    """`make install` into a folder of its own, and programs built from there."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", cls.folder)
        options = json.loads(run("meson", "introspect", BUILD, "--buildoptions"))
        cls.prefix = cls.folder + next(option["value"] for option in options if option["name"] == "prefix")
        cls.library = os.path.dirname(cls.find("libsmurf.so.0"))
        cls.environment = {**os.environ, "PKG_CONFIG_PATH": os.path.join(cls.library, "pkgconfig"),
                           "PKG_CONFIG_SYSROOT_DIR": cls.folder}

    @classmethod
    def find(cls, name):
        for folder, _, files in os.walk(cls.folder):
            if name in files:
                return os.path.join(folder, name)
        raise AssertionError(f"{name} was not installed")

    def flags(self, *options):
        return shlex.split(run("pkg-config", *options, "smurf", env=self.environment))

    def build_and_run(self, *flags, **environment):
        """Compiles the example, runs it on two sequences and checks what it says."""
        program = os.path.join(self.folder, "describe")
        run(*CC, os.path.join(ROOT, "examples", "describe.c"), *flags, "-o", program)
        with open(os.path.join(self.folder, "events.csv"), "w") as out:
            out.write("sequence,time,type\na,1,0\na,2,1\nb,1,0\n")
        said = run(program, cwd=self.folder, env={**os.environ, **environment})
        self.assertEqual(said, "a: 2 events\nb: 1 events\n")
        return run("readelf", "-d", program)

    def test_shared(self):
        linked = self.build_and_run(*self.flags("--cflags", "--libs"), LD_LIBRARY_PATH=self.library)
        self.assertIn("[libsmurf.so.0]", linked)

    def test_static(self):
        flags = [flag.replace("-lsmurf", "-l:libsmurf.a") for flag in self.flags("--static", "--cflags", "--libs")]
        self.assertNotIn("libsmurf", self.build_and_run(*flags))

    def test_wholly_static(self):
        if "clang" in run(*CC, "--version"):
            self.skipTest("clang's OpenMP runtime has no static form")
        flags = self.flags("--static", "--cflags", "--libs")
        self.assertNotIn("NEEDED", self.build_and_run("-static", *flags))

    def test_header_stands_alone(self):
        for language, standard in ("c", "c99"), ("c", "c17"), ("c++", "c++11"):
            with self.subTest(standard):
                if language == "c++" and not shutil.which("c++"):
                    self.skipTest("there is no C++ compiler")
                run(*(["c++"] if language == "c++" else CC), "-x", language, "-std=" + standard, "-Wall", "-Wextra",
                    "-pedantic", "-Werror", "-fsyntax-only", self.find("smurf.h"), self.find("smurf_lab.h"))

    def test_command(self):
        said = run(os.path.join(self.prefix, "bin", "smurf"), "--version")
        version = run("pkg-config", "--modversion", "smurf", env=self.environment).strip()
        self.assertRegex(said, rf"^smurf {re.escape(version)} ")

    def test_command_needs_no_libsmurf(self):
        self.assertNotIn("libsmurf", run("readelf", "-d", os.path.join(self.prefix, "bin", "smurf")))


class Portable(unittest.TestCase):
    def test_nothing_is_built_for_this_machine_only(self):
        with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as commands:
            self.assertNotIn("-march=native", commands.read())

    @unittest.skipUnless(platform.machine() == "x86_64", "not an x86-64 machine")
    @unittest.skipUnless(shutil.which("qemu-x86_64-static"), "qemu-user-static is not installed")
    def test_the_oldest_x86_64_will_do(self):
        emulate = ["qemu-x86_64-static", "-cpu", "qemu64"]
        command = [os.path.join(BUILD, "smurf"), "simulate", "hawkes", "--sequences", "20", "-o", "-"]
        self.assertEqual(run(*emulate, *command), run(*command))


if __name__ == "__main__":
    unittest.main()
