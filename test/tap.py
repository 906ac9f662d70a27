"""Runs a unittest file and prints TAP, one line a case.

    python3 test/tap.py test/test_something.py
"""
import importlib.util
import os
import sys
import unittest


class Tap(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.number = 0
        self.subtests = []

    def startTest(self, test):
        super().startTest(test)
        self.subtests = []

    def say(self, outcome, test, directive="", details=""):
        self.number += 1
        name = test.id().partition(".")[2].replace("#", "")  # a '#' would start a directive
        print(f"{outcome} {self.number} - {name}{directive}", flush=True)
        for line in details.splitlines():
            print("# " + line, flush=True)

    def addSuccess(self, test):
        self.say("ok", test)

    def addSkip(self, test, reason):
        self.say("ok", test, " # SKIP " + " ".join(reason.split()))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say("not ok", test, details=self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.say("not ok", test, details=self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is None:
            return
        details = (self.failures + self.errors)[-1][1]
        self.say("not ok", subtest, details=details)

    def addExpectedFailure(self, test, err):
        self.say("not ok", test, " # TODO expected to fail")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.say("not ok", test, details="passed, but was expected to fail")


def main():
    path = sys.argv[1]
    name = os.path.splitext(os.path.basename(path))[0]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    result = Tap()
    unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
    print(f"1..{result.number}")
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
