"""tools/install-deps as root, through sudo, without either, and without apt: with fake programs in PATH."""
import os
import re
import shutil
import stat
import subprocess
import tempfile
import unittest

ROOT = os.environ.get("SMURF_ROOT", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = os.path.join(ROOT, "tools", "install-deps")
with open(SCRIPT) as script:  # the packages of each purpose
    WANTED = {p: names.replace("\\\n", " ").split()
              for p, names in re.findall(r"^ +(\w+)\)\s+echo ((?:[^;]|\n)+?)\s*;;", script.read().split("programs()")[0], re.M)}


def all_but(purpose, *absent):
    assert set(absent) <= set(WANTED[purpose])
    return " ".join(p for p in WANTED[purpose] if p not in absent)


class InstallDeps(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.log = os.path.join(self.folder, "log")
        for name in "sh", "env":  # all that the script may take from the real system
            os.symlink(shutil.which(name), os.path.join(self.folder, name))

    def fake(self, name, body):
        """A program that notes how it was called, and then does what body says."""
        path = os.path.join(self.folder, name)
        with open(path, "w") as out:
            out.write(f'#!/bin/sh\necho "{name} $*" >>"{self.log}"\n{body}\n')
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)

    def fake_debian(self, user, installed, install="exit 0"):
        listed = "".join(f" installed:{package}" for package in installed.split())
        self.fake("id", f"echo {user}")
        self.fake("dpkg-query", f"echo '{listed} '; exit 1")  # status 1, as for any package that is not known
        self.fake("apt-get", install)

    def run_script(self, *purposes):
        done = subprocess.run([SCRIPT, *purposes], env={"PATH": self.folder}, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        calls = ""
        if os.path.exists(self.log):
            with open(self.log) as log:
                calls = log.read()
        return done, [call for call in calls.splitlines() if call.split()[0] not in ("id", "dpkg-query")]

    def test_silent_when_nothing_is_missing(self):
        self.fake_debian(1000, all_but("test"))
        done, calls = self.run_script("test")
        self.assertEqual((done.returncode, done.stdout, done.stderr, calls), (0, "", "", []))

    def test_root_installs_only_what_is_missing(self):
        self.fake_debian(0, all_but("test", "libcmocka-dev", "python3-numpy"))
        done, calls = self.run_script("test")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(calls, ["apt-get install -y --no-install-recommends libcmocka-dev python3-numpy"])

    def test_benchmarks_race_pytorch(self):
        self.fake_debian(0, all_but("bench", "python3-torch"))
        done, calls = self.run_script("bench")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(calls, ["apt-get install -y --no-install-recommends python3-torch"])

    def test_root_updates_the_lists_where_they_are_needed(self):
        updated = os.path.join(self.folder, "updated")
        self.fake_debian(0, all_but("test", "libcmocka-dev"),
                         f'case $1 in update) : >"{updated}" ;; *) [ -e "{updated}" ] ;; esac')
        done, calls = self.run_script("test")
        self.assertEqual(done.returncode, 0, done.stderr)
        install = "apt-get install -y --no-install-recommends libcmocka-dev"
        self.assertEqual(calls, [install, "apt-get update -qq", install])

    def test_asks_no_questions(self):
        self.fake_debian(0, "", f'echo "$DEBIAN_FRONTEND" >>"{self.log}"')
        _, calls = self.run_script("test")
        self.assertIn("noninteractive", calls)

    def test_sudo(self):
        self.fake_debian(1000, all_but("test", "libcmocka-dev"))
        self.fake("sudo", '[ "$1" = -n ] && exit 0; exec "$@"')
        done, calls = self.run_script("test")
        self.assertEqual(done.returncode, 0, done.stderr)
        install = "apt-get install -y --no-install-recommends libcmocka-dev"
        self.assertEqual(calls, ["sudo -n true", "sudo env DEBIAN_FRONTEND=noninteractive " + install, install])

    def test_neither_prints_the_line_to_run(self):
        self.fake_debian(1000, all_but("test", "libcmocka-dev"))
        for sudo in None, "exit 1":  # there is none, or it would ask for a password where nobody can answer
            if sudo:
                self.fake("sudo", sudo)
            done, calls = self.run_script("test")
            self.assertEqual(done.returncode, 1)
            self.assertIn("\n    apt-get update && apt-get install -y --no-install-recommends libcmocka-dev\n", done.stderr)
            self.assertFalse([call for call in calls if call.startswith("apt-get")])

    def test_failure_to_install_is_a_failure(self):
        self.fake_debian(0, "", "exit 100")
        self.assertNotEqual(self.run_script("test")[0].returncode, 0)

    def test_without_apt_goes_on_where_the_programs_are_there(self):
        for name in "cc", "meson", "ninja", "pkg-config":
            self.fake(name, "")
        self.assertEqual(self.run_script("build")[0].returncode, 0)

    def test_without_apt_says_what_is_needed(self):
        self.fake("cc", "")
        done, _ = self.run_script("build")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Not found: meson ninja pkg-config\n", done.stderr)
        self.assertIn("librandom123-dev", done.stderr)

    def test_unknown_purpose(self):
        self.assertEqual(self.run_script("pleasure")[0].returncode, 2)


if __name__ == "__main__":
    unittest.main()
