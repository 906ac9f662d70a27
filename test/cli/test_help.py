"""Help, versions, manual pages, and what happens to a command line that is wrong."""
import os
import re
import subprocess
import unittest

from common import SMURF, TIMEOUT, Case, environment


class Help(Case):
    def commands(self):
        return re.findall(r"^  (\w+) +\w", self.smurf("--help").out.split("\nCommands\n")[1].split("\n\n")[0], re.M)

    def test_every_command_is_listed(self):
        self.assertGreaterEqual(set(self.commands()), {"info", "convert", "simulate"})

    def test_every_command_has_an_example_and_its_lines_run(self):
        """Examples that begin alike share a folder, where no line is run twice."""
        ran = {}
        for command in [None, *self.commands()]:
            text = self.smurf(*([command] if command else []), "--help").out
            self.assertRegex(text, r"(?m)^usage: smurf ")
            self.assertIn("\nExample\n", text, command)
            lines = [line.strip() for line in text.split("\nExample\n")[1].splitlines()]
            self.assertTrue(lines and all(line.startswith("smurf ") for line in lines), lines)
            before = ran.setdefault(lines[0], [])
            folder = self.path(str(list(ran).index(lines[0])))
            os.makedirs(folder, exist_ok=True)
            for line in lines:
                if line in before:
                    continue
                before.append(line)
                if line.startswith("smurf serve "):
                    self.serve_briefly(line, folder)
                    continue
                done = subprocess.run(["sh", "-e", "-c", line], cwd=folder, env=environment(), capture_output=True,
                                      timeout=TIMEOUT, text=True)
                self.assertEqual(done.returncode, 0, (line, done.stderr))
                self.assertTrue(done.stdout or done.stderr or "convert" in line, line)

    def serve_briefly(self, line, folder):
        """A service ends when it is told to. It gets a port that is free."""
        with subprocess.Popen(["sh", "-c", "exec " + line + " --listen 127.0.0.1:0"], cwd=folder, env=environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
            said = server.stdout.readline()
            server.terminate()
            err = server.communicate(timeout=TIMEOUT)[1]
        if "this build has no service" not in err:
            self.assertEqual((server.returncode, said[:12]), (0, "listening on"), err)

    def test_help_fits_80_columns(self):
        for command in [None, *self.commands()]:
            text = self.smurf(*([command] if command else []), "--help").out
            for line in text.splitlines():
                if command and not line.startswith("  smurf "):
                    self.assertLessEqual(len(line.rstrip()), 80, line)

    def test_every_option_is_explained(self):
        for command in self.commands():
            text = self.smurf(command, "-h").out
            self.assertEqual(text, self.smurf(command, "--help").out)
            options = re.findall(r"^  (?:-\w, |    )--([\w-]+)(.*)$", text, re.M)
            self.assertGreaterEqual({name for name, _ in options}, {"threads", "seed", "quiet", "help", "version"})
            for name, rest in options:
                self.assertTrue(rest.strip() or re.search(rf"--{name}.*\n {{20}}", text), (command, name))

    def test_help_of_a_command_may_come_first(self):
        for word in "help", "--help", "-h":
            self.assertEqual(self.smurf(word, "train").out, self.smurf("train", "--help").out)
            self.assertEqual(self.smurf(word).out, self.smurf("--help").out)
            self.refuse(word, "inform", says="unknown command 'inform'", status=2)

    def test_help_wins_over_what_else_is_there(self):
        self.smurf("info", "nowhere.csv", "--help")
        self.smurf("convert", "--help", "--no-such")

    def test_version(self):
        first = self.smurf("--version").out
        self.assertRegex(first, r"^smurf \d+\.\d+\.\d+")
        self.assertEqual(first, self.smurf("info", "--version").out)

    def test_manual_pages(self):
        for command in [None, *self.commands()]:
            text = self.smurf(*([command] if command else []), "--man").out
            self.assertTrue(text.startswith(".TH SMURF"), command)
            for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS"]:
                self.assertIn(f"\n.SH {section}\n", text, command)


class Usage(Case):
    def test_no_command(self):
        r = self.run_smurf()
        self.assertEqual((r.status, r.out), (2, ""))
        self.assertIn("usage: smurf COMMAND", r.err)

    def test_unknown_command(self):
        self.refuse("inform", says=["'inform'", "smurf --help"], status=2)
        self.refuse("--nonsense", says=["'--nonsense'", "smurf --help"], status=2)

    def test_unknown_option(self):
        for option in ["--nonsense", "-x", "--windo", "---", "--=3"]:
            self.refuse("info", "a.csv", option, says=["unknown option", "smurf info --help"], status=2)

    def test_too_few_and_too_many_arguments(self):
        self.refuse("info", says=["too few arguments", "smurf info DATA"], status=2)
        self.refuse("info", "a", "b", says=["too many arguments", "smurf info DATA"], status=2)
        self.refuse("convert", "a.csv", says=["too few arguments", "smurf convert IN OUT"], status=2)
        self.refuse("convert", "a", "b", "c", says=["too many arguments"], status=2)
        self.refuse("simulate", says=["too few arguments", "PROCESS"], status=2)

    def test_option_without_its_value(self):
        self.refuse("info", "a.csv", "--time", says=["--time needs an argument", "NAME"], status=2)
        self.refuse("info", "a.csv", "--json=yes", says=["--json takes no argument"], status=2)

    def test_odd_values(self):
        for option in ["--threads", "--seed", "--window", "--history"]:
            for value in ["-1", "+1", "1x", "", " ", "1e3", "18446744073709551616", "0x10"]:
                self.refuse("info", "a.csv", option, value, says=[option, "whole number"], status=2)
        self.write("a.csv", "time\n1\n2\n4\n")
        self.smurf("info", "a.csv", "--seed", "18446744073709551615", "--threads", "18446744073709551615")
        self.smurf("simulate", "poisson", "-n", "3", "--threads", "18446744073709551615")

    def test_words_that_are_none(self):
        self.refuse("info", "a.csv", "--from", "xml", says=["'xml'", "csv, tsv, jsonl"], status=2)
        self.refuse("convert", "a.csv", "b", "--to", "xml", says=["'xml'", "csv, tsv, jsonl"], status=2)
        self.refuse("info", "a.csv", "--types", "kind", says=["--types", "'words'", "--type"], status=2)

    def test_options_anywhere_and_in_every_form(self):
        self.write("a.csv", "when,what\n1,x\n2,y\n")
        want = self.smurf("info", "a.csv", "--time", "when", "--type", "what").out
        for args in [("--time=when", "--type=what", "info"), ]:
            self.refuse(*args, says="unknown command", status=2)
        for args in [("--time=when", "--type=what", "a.csv"), ("--time", "when", "a.csv", "--type", "what"),
                     ("-q", "--time=when", "--type=what", "--", "a.csv")]:
            self.assertEqual(self.smurf("info", *args).out, want)

    def test_last_value_wins(self):
        self.write("a.csv", "when,what\n1,x\n2,y\n")
        self.smurf("info", "a.csv", "--time", "nope", "--time", "when")


if __name__ == "__main__":
    unittest.main()
