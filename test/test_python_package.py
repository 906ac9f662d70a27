"""The Python package as software: its declarations, documentation, types, threads, interrupts, memory, estimator, notebook."""

import ast
import doctest
import gc
import importlib
import inspect
import io
import json
import os
import pickle
import pkgutil
import re
import shutil
import signal
import subprocess
import sys
import threading
import unittest
import warnings

from python_case import BUILD, ROOT, TICKETS, Case, command, python

try:
    import numpy as np

    import smurf
    from smurf import _lib
except ImportError:
    pass  # Case skips

SOURCES = sorted((ROOT / "python" / "smurf").glob("*.py"))
HEADERS = [ROOT / "include" / name for name in ("smurf.h", "smurf_lab.h")]


def held():
    """Resident memory in kB."""
    with open("/proc/self/status", encoding="ascii") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1])


class Declarations(Case):
    """What the package believes of the library is what the headers say."""

    def test_all_functions_of_the_headers_are_in_the_library(self):
        text = re.sub(r"/\*.*?\*/", "", "".join(path.read_text() for path in HEADERS), flags=re.S)
        declared = set(re.findall(r"SMURF_API\s[^;{]*?\b(smurf_\w+)\s*\(", text))
        self.assertGreater(len(declared), 150)
        for name in declared:
            self.assertEqual(_lib.ffi.typeof(getattr(_lib.lib, name)).kind, "function", name)

    def test_the_package_uses_nothing_else(self):
        used = set(re.findall(r"\blib\.(\w+)", "".join(path.read_text() for path in SOURCES)))
        for name in used - set(re.findall(r"ffi\.addressof\(lib, \"(\w+)", "")):
            self.assertTrue(hasattr(_lib.lib, name), name)
        self.assertGreater(len(used), 100)

    @unittest.skipUnless(shutil.which("cc"), "cc not found")
    def test_structs_lie_in_memory_as_the_compiler_lays_them(self):
        """Sizes, offsets and constants by cffi, asserted by the compiler."""
        checks = []
        for name in sorted(set(re.findall(r"^\} (smurf_\w+);", "".join(path.read_text() for path in HEADERS), flags=re.M))):
            kind = _lib.ffi.typeof(name)
            if kind.kind == "enum":
                checks += [f"_Static_assert({key} == {value}, \"{key}\");" for value, key in kind.elements.items()]
                continue
            checks.append(f"_Static_assert(sizeof({name}) == {_lib.ffi.sizeof(kind)}, \"{name}\");")
            for field, about in kind.fields:
                checks.append(f"_Static_assert(offsetof({name}, {field}) == {about.offset}, \"{name}.{field}\");")
                checks.append(f"_Static_assert(sizeof((({name} *)0)->{field}) == {_lib.ffi.sizeof(about.type)}, \"{name}.{field}\");")
        self.assertGreater(len(checks), 500)
        code = '#include "smurf_lab.h"\n#include <stddef.h>\n' + "\n".join(checks)
        done = subprocess.run(["cc", "-fsyntax-only", "-I", str(ROOT / "include"), "-x", "c", "-"], input=code, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[:2000])

    def test_the_version_is_the_library_s(self):
        self.assertEqual(command("--version").split()[1], smurf.__version__)
        self.assertIn(f"version: '{smurf.__version__}'", (ROOT / "meson.build").read_text())

    def test_the_sources_are_those_of_the_build(self):
        listed = (ROOT / "python" / "smurf" / "meson.build").read_text()
        for path in SOURCES:
            self.assertIn(f"'{path.name}'", listed)


class Documentation(Case):
    def modules(self):
        return [importlib.import_module(f"smurf.{each.name}") for each in pkgutil.iter_modules(smurf.__path__) if each.name != "_api"]

    def test_examples_in_docstrings(self):
        tried = 0
        for module in self.modules():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = doctest.testmod(module)
            self.assertEqual(found.failed, 0, module.__name__)
            tried += found.attempted
        self.assertGreater(tried, 60)

    def test_everything_is_documented_with_examples(self):
        for name in smurf.__all__:
            thing = getattr(smurf, name)
            self.assertTrue(thing.__doc__, name)
            if inspect.isclass(thing):
                if issubclass(thing, (Exception, Warning)):
                    continue
                for part, function in inspect.getmembers(thing):
                    if not part.startswith("_") and (callable(function) or isinstance(function, property)):
                        self.assertTrue(inspect.getdoc(function), f"{name}.{part}")
            if name != "Comparison":  # compare() makes them
                self.assertIn(">>>", thing.__doc__, name)

    def test_all_settings_are_arguments_of_fit(self):
        known, said = smurf.settings(), inspect.signature(smurf.fit)
        self.assertIn("    --width", command("train", "--help"))
        for name, about in known.items():
            self.assertEqual(said.parameters[name].kind, inspect.Parameter.KEYWORD_ONLY)
            self.assertIn(f"    {name}: {about}", smurf.fit.__doc__)
            if name not in ("threads", "seed"):
                self.assertIn("--" + name.replace("_", "-"), command("train", "--help"))

    def test_the_page_says_what_is_true(self):
        page = (ROOT / "doc" / "python.md").read_text()
        for name in re.findall(r"\bsmurf\.(\w+)\(", page):
            self.assertIn(name, smurf.__all__)
        self.assertTrue(page.split("\n", 3)[2].startswith("!["), "the page begins with a picture")
        blocks, folder = re.findall(r"```python\n(.*?)```", page, flags=re.S), self.at / "page"
        folder.mkdir()
        shutil.copy(TICKETS, folder)
        code = ("import warnings; warnings.simplefilter('ignore')\nimport smurf\n"
                "def brief(train): return lambda *logs, **given: train(*logs, **{**given, 'epochs': 1, 'threads': 1})\n"
                "smurf.fit, smurf.compare = brief(smurf.fit), brief(smurf.compare)\n")
        code += f"import os; os.chdir({str(folder)!r})\n" + "\n".join(blocks)
        with python(code) as run:
            _, err = run.communicate(timeout=240)
        self.assertEqual(run.returncode, 0, err)

    def test_the_readme_has_the_five_lines(self):
        readme = (ROOT / "README.md").read_text()
        block = re.search(r"```python\n(import smurf\n.*?)```", readme, flags=re.S)
        self.assertIsNotNone(block)
        code = block.group(1).replace('"tickets.csv"', repr(str(TICKETS))).replace("smurf.fit(train, dev)", "smurf.fit(train, dev, epochs=2, threads=1)")
        with python("import warnings; warnings.simplefilter('ignore')\n" + code) as run:
            _, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0, err)


class Types(Case):
    def test_python_3_9_can_read_it(self):
        for path in SOURCES:
            text = path.read_text()
            ast.parse(text, feature_version=(3, 9))
            self.assertLessEqual(text.count("\n"), 500, path.name)

    @unittest.skipUnless(shutil.which("mypy"), "mypy not found (install mypy)")
    def test_types_are_right(self):
        done = subprocess.run(["mypy", "--python-version", "3.9", "--ignore-missing-imports", "--disallow-untyped-defs", "--no-error-summary",
                               "--cache-dir", str(BUILD / "mypy"), *map(str, SOURCES)], capture_output=True, text=True, check=False, cwd=ROOT / "python")
        self.assertEqual(done.stdout + done.stderr, "")


class Running(Case):
    def test_importing_is_light(self):
        """matplotlib, pandas, tqdm and scikit-learn are loaded when they are needed."""
        with python("import smurf, sys; print([m for m in ('matplotlib', 'pandas', 'tqdm', 'sklearn') if m in sys.modules])") as run:
            self.assertEqual(run.communicate(timeout=60)[0].strip(), "[]")

    def test_the_library_runs_beside_python(self):
        """A read blocks until this thread writes: it would forever if the library held the interpreter's lock."""
        pipe = self.at / "pipe.csv"
        code = f"""if 1:
            import os, smurf, threading
            os.mkfifo({str(pipe)!r})
            found = []
            thread = threading.Thread(target=lambda: found.append(smurf.read({str(pipe)!r}).events))
            thread.start()
            with open({str(pipe)!r}, "w") as out:
                out.write("time,type\\n1,a\\n2,b\\n3,a\\n")
            thread.join()
            print(found)"""
        with python(code) as run:
            try:
                out, err = run.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                run.kill()
                raise
        self.assertEqual(out.strip(), "[3]", err)

    def test_threads(self):
        wanted, found = self.model.forecast(self.test).df["median"].tolist(), []
        threads = [threading.Thread(target=lambda: found.append(self.model.forecast(self.test, threads=1).df["median"].tolist())) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [wanted] * 6)

    def test_live_histories_in_threads(self):
        live, each = self.model.live(), 40

        def feed(first):
            for k in range(each):
                live.append(k % 4, 1e6 + 10.0 * (first + k), "opened")
                live.forecast(k % 4)

        threads = [threading.Thread(target=feed, args=(1000 * 0,)) for _ in range(4)]
        errors = []
        threading.excepthook, before = lambda raised: errors.append(raised.exc_value), threading.excepthook
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            threading.excepthook = before
        late = sum(isinstance(error, smurf.ArgumentError) for error in errors)  # another thread was ahead
        self.assertEqual(len(errors), late)
        self.assertGreaterEqual(sum(live.forecast(k)["events"] for k in range(4)), each)

    def test_models_are_trained_side_by_side(self):
        wanted, found = smurf.fit(self.train, self.dev, epochs=1, threads=1).to_bytes(), []
        threads = [threading.Thread(target=lambda: found.append(smurf.fit(self.train, self.dev, epochs=1, threads=1).to_bytes())) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [wanted] * 2)

    def test_after_fork(self):
        wanted = self.model.forecast(self.test, threads=2).df["median"].tolist()
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # threads that the parent had do not exist here, and must not be waited for
            ok = self.model.forecast(self.test, threads=2).df["median"].tolist() == wanted
            smurf.fit(self.train, self.dev, epochs=1, threads=2)
            os._exit(0 if ok else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(self.model.forecast(self.test, threads=2).df["median"].tolist(), wanted)

    def test_numpy_s_threads_are_left_alone(self):
        try:
            from threadpoolctl import threadpool_info
        except ImportError:
            self.skipTest("threadpoolctl not found (install python3-threadpoolctl)")

        def pools():
            return sorted((pool["filepath"], pool["num_threads"]) for pool in threadpool_info())

        np.dot(np.ones((64, 64)), np.ones((64, 64)))
        self.model.forecast(self.test, threads=2)
        before, environment = pools(), dict(os.environ)
        self.assertTrue(any("blas" in path for path, _ in before) or len(before) > 0)
        self.model.forecast(self.test, threads=1)
        smurf.fit(self.train, self.dev, epochs=1, threads=1)
        self.assertEqual((pools(), dict(os.environ)), (before, environment))

    def test_ctrl_c_returns_the_best_so_far(self):
        code = ("import smurf, warnings; warnings.simplefilter('ignore'); train, dev, _ = smurf.read(%r).split()\n"
                "model = smurf.fit(train, dev, epochs=100000, patience=0, threads=1, callback=lambda e: print(e['epoch'], flush=True) if e['epoch'] < 3 else None)\n"
                "print('model', model.parameters, flush=True)" % str(TICKETS))
        with python(code) as run:
            while run.stdout.readline().strip() != "2":
                self.assertIsNone(run.poll())
            run.send_signal(signal.SIGINT)
            out, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0, err)
        self.assertRegex(out, r"model \d+")

    def test_ctrl_c_stops_other_work(self):
        """A signal that arrives during a long call ends it with KeyboardInterrupt."""
        code = ("import os, signal, smurf, threading, warnings; warnings.simplefilter('ignore'); log = smurf.simulate('hawkes', sequences=3000)\n"
                "model = smurf.fit(log.split(1, 1, 98)[0], epochs=1, threads=1)\n"
                "threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
                "try:\n"
                "    while True: model.score(log, threads=1)\n"
                "except KeyboardInterrupt: print('stopped', flush=True)")
        with python(code) as run:
            out, err = run.communicate(timeout=120)
        self.assertEqual((run.returncode, out.strip()), (0, "stopped"), err)

    def test_ctrl_c_stops_a_comparison(self):
        """It does not go on with half a model."""
        code = ("import os, signal, smurf, threading, warnings; warnings.simplefilter('ignore')\n"
                "parts = smurf.read(%r).split()\n"
                "threading.Timer(2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
                "try: smurf.compare(*parts, models=['default'], seeds=50, epochs=100000, patience=0, threads=1)\n"
                "except KeyboardInterrupt: print('stopped', flush=True)" % str(TICKETS))
        with python(code) as run:
            out, err = run.communicate(timeout=120)
        self.assertEqual((run.returncode, out.strip()), (0, "stopped"), err)

    def test_the_benchmark_runs(self):
        """Its numbers count on an idle machine only: `make bench`."""
        done = subprocess.run([sys.executable, ROOT / "bench" / "python_package.py", BUILD, "20000", "300", "--json"], capture_output=True,
                              text=True, check=True, timeout=240)
        found = json.loads(done.stdout)
        self.assertTrue(all(found[name] > 0 for name in ("frame_s", "words_s", "guessed_s", "command_s", "python_s", "live_us")))

    def test_what_borrows_a_model_is_freed_before_it(self):
        law, live = self.model.law(self.log, 0), pickle.loads(pickle.dumps(self.model)).live()
        live.append("a", "2026-03-01T10:00Z", "opened")
        wanted = live.forecast("a")["median"]
        mine = pickle.loads(pickle.dumps(self.model)).law(self.log, 0)  # nothing else holds this model
        self.assertEqual(mine.median, law.median)
        for _ in range(3):
            model = pickle.loads(pickle.dumps(self.model))
            model.mine = model.live()  # a cycle, for the collector
            model.mine.append("a", "2026-03-01T10:00Z", "opened")
            model.law_of_mine = model.mine.law("a")
            self.assertEqual(model.mine.forecast("a")["median"], wanted)
            del model
            gc.collect()
        del live, mine

    def test_leaving_with_everything_in_use(self):
        """Globals of a program are freed at its end, in any order."""
        code = f"""if 1:
            import smurf, warnings
            warnings.simplefilter("ignore")
            log = smurf.read({str(TICKETS)!r})
            model = smurf.load({str(self.path)!r})
            live = model.live()
            live.append("a", "2026-03-01T10:00Z", "opened")
            law, true = model.law(log), smurf.Process("exponential").law(smurf.simulate("exponential", sequences=1, events=3))
            e = model.evaluate(log)
            found = model.forecast(log, threads=2)
            model.live_of_mine = live
            def cycle():  # the globals of a function are part of a cycle
                return live, law, model
            print(live.forecast("a")["events"])"""
        with python(code) as run:
            out, err = run.communicate(timeout=120)
        self.assertEqual((run.returncode, out.strip()), (0, "1"), err)

    def test_memory_is_flat(self):
        """SMURF_FORECASTS=100000 for the long run."""
        live, few = self.model.live(), self.test
        live.append("a", "2026-03-01T10:00Z", "opened")
        many = int(os.environ.get("SMURF_FORECASTS", 400 if "asan" in str(BUILD) else 4000))

        def work(n):
            for k in range(n):
                live.forecast("a")
                if k % 40 == 0:
                    _ = self.model.law(few, 0).median, self.model.forecast(few, threads=1).df, self.model.score(few, threads=1), few.to_pandas()
                    smurf.from_arrays([1.0, 2.0], type=["a", "b"])
                    self.model.sample(few, events=2, paths=2, sequences=[0])

        work(many // 4)
        gc.collect()
        before = held()
        work(many)
        gc.collect()
        self.assertLess(held() - before, 6000)  # kB

    def test_progress(self):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        def shown(modules, **more):
            out, stderr, before = Terminal(), sys.stderr, {name: sys.modules.get(name) for name in modules}
            sys.modules.update(modules)
            sys.stderr = out
            try:
                smurf.fit(self.train, self.dev, epochs=1, threads=1, **more)
            finally:
                sys.stderr = stderr
                for name, module in before.items():
                    if module is None:
                        del sys.modules[name]
                    else:
                        sys.modules[name] = module
            return out.getvalue()

        self.addCleanup(setattr, _lib.Progress, "delay", _lib.Progress.delay)
        _lib.Progress.delay = 0
        plain = {"tqdm": None, "tqdm.auto": None}
        self.assertRegex(shown(plain), r"\repoch 1.*\d+%")
        self.assertTrue(shown(plain).rstrip(" ").endswith("\r"))
        self.assertEqual(shown(plain, progress=False), "")
        try:
            import tqdm  # noqa: F401
        except ImportError:
            return
        self.assertRegex(shown({}), r"epoch 1.*%\s*\|")
        self.assertEqual(shown({}, progress=False), "")

    def test_pictures(self):
        figure = self.model.forecast(self.test).plot().figure
        self.model.evaluate(self.test).plot().figure.savefig(self.at / "c.png")
        figure.savefig(self.at / "f.png")
        self.assertGreater((self.at / "f.png").stat().st_size, 5000)


class Estimator(Case):
    def test_estimator(self):
        est = smurf.EventForecaster(epochs=1, threads=1)
        self.assertEqual(est.get_params()["epochs"], 1)
        self.assertEqual(repr(est.set_params(width=16)), "EventForecaster(epochs=1, width=16, threads=1)")
        with self.assertRaisesRegex(ValueError, "invalid parameter"):
            est.set_params(nothing=1)
        with self.assertRaisesRegex(ValueError, "not fitted"):
            est.predict(self.test)
        X = [np.arange(6) * 1.5, np.arange(9) * 0.7, np.arange(7) * 1.1, np.arange(8) * 0.9] * 5
        est.fit(X)
        self.assertEqual(est.predict(X).shape, (20,))
        self.assertLess(est.score(X), 0)
        self.assertEqual(smurf.EventForecaster(settings={"width": 8}, epochs=1, threads=1).fit(X).model_.settings["width"], "8")

    def test_checks_of_sklearn(self):
        try:
            from sklearn.utils.estimator_checks import check_estimator
        except ImportError:
            self.skipTest("scikit-learn not found (install python3-sklearn)")
        passed = []
        for estimator, check in check_estimator(smurf.EventForecaster(epochs=1, width=8, threads=1, settings={"layers": 1}), generate_only=True):
            name = check.func.__name__
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(estimator)
                passed.append(name)
        self.assertGreater(len(passed), 18)

    def test_in_a_grid_search(self):
        try:
            from sklearn.model_selection import GridSearchCV
        except ImportError:
            self.skipTest("scikit-learn not found (install python3-sklearn)")
        X = np.cumsum(np.random.default_rng(3).exponential(size=(12, 10)), axis=1)
        search = GridSearchCV(smurf.EventForecaster(epochs=1, threads=1), {"width": [8, 16]}, cv=2).fit(X)
        self.assertIn(search.best_params_["width"], (8, 16))


class Notebook(Case):
    PATH = ROOT / "examples" / "tickets.ipynb"

    def test_the_notebook_runs(self):
        try:
            import nbclient
            import nbformat

            import ipykernel  # noqa: F401
        except ImportError as error:
            self.skipTest(f"{error.name} not found (install python3-nbclient python3-ipykernel)")
        book = nbformat.read(self.PATH, 4)
        nbformat.validate(book)
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"], backend = str(BUILD / "python"), os.environ.pop("MPLBACKEND")
        try:
            nbclient.NotebookClient(book, timeout=240, kernel_name="python3", resources={"metadata": {"path": str(ROOT / "examples")}}).execute()
        finally:
            os.environ["MPLBACKEND"] = backend
            os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)
        kinds = [kind for cell in book.cells for output in cell.get("outputs", []) for kind in output.get("data", {})]
        self.assertGreaterEqual(kinds.count("image/png"), 3)
        self.assertGreaterEqual(kinds.count("text/html"), 4)

    def test_the_notebook_is_stored_without_output(self):
        for cell in json.loads(self.PATH.read_text())["cells"]:
            self.assertEqual(cell.get("outputs", []), [])


if __name__ == "__main__":
    unittest.main()
