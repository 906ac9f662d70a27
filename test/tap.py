"""Runs a unittest file and prints TAP, one line a case.

    python3 test/tap.py test/test_something.py
"""
import importlib.util
import os
import sys
import traceback
import unittest


class Tap(unittest.TestResult):
    def __init__(self, module):
        super().__init__()
        self.module = module
        self.number = 0

    def say(self, outcome, test, directive="", err=None):
        self.number += 1
        name = test.id().replace(self.module + ".", "").replace("#", "")  # a '#' would start a directive
        print(f"{outcome} {self.number} - {name}{directive}", flush=True)
        for line in "".join(traceback.format_exception(*err)).splitlines() if err else []:
            print(line, file=sys.stderr, flush=True)  # where meson shows it

    def addSuccess(self, test):
        self.say("ok", test)

    def addSkip(self, test, reason):
        self.say("ok", test, " # SKIP " + " ".join(reason.split()))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say("not ok", test, err=err)

    def addError(self, test, err):
        super().addError(test, err)
        self.say("not ok", test, err=err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.say("not ok", subtest, err=err)

    def addExpectedFailure(self, test, err):
        self.say("not ok", test, " # TODO expected to fail")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.say("not ok", test)


def main():
    path = sys.argv[1]
    sys.dont_write_bytecode = True  # tests leave nothing beside the sources
    name = os.path.splitext(os.path.basename(path))[0]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    result = Tap(name)
    unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
    print(f"1..{result.number}")
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
