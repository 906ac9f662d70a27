"""The library: where it is, how it is called, and its errors as exceptions.

Every call of the library goes through this file. cffi releases the GIL during a call, so threads of Python run beside it.
"""

from __future__ import annotations

import atexit
import os
import pathlib
import sys
import threading
import time
import warnings
from typing import Any, Callable, Optional

from smurf._api import ffi

# The places where libsmurf may be, in order: as told, beside this package (a wheel), where the system keeps libraries.
_HERE = pathlib.Path(__file__).resolve().parent
_NAMES = [os.environ.get("SMURF_LIBRARY"), *sorted(map(str, _HERE.glob("libsmurf.so*"))), "libsmurf.so.0"]


def _open() -> Any:
    """Loads the library. Waiting threads of libgomp spin only briefly, as in the command: on a busy machine they would take the
    processor from those they wait for. libgomp reads the variable when it is loaded; nothing else should see it."""
    tried = []
    brief = not ("OMP_WAIT_POLICY" in os.environ or "GOMP_SPINCOUNT" in os.environ)
    if brief:
        os.environ["GOMP_SPINCOUNT"] = "1000"
    try:
        for name in filter(None, _NAMES):
            try:
                return ffi.dlopen(name, ffi.RTLD_NOW | os.RTLD_NODELETE)  # handles are freed at exit, in any order, when `lib` may be gone
            except OSError as error:
                tried.append(str(error))
    finally:
        if brief:
            del os.environ["GOMP_SPINCOUNT"]
    raise ImportError("libsmurf cannot be loaded: install it, or set SMURF_LIBRARY to its path (" + "; ".join(tried) + ")")


lib = _open()
NULL = ffi.NULL


class SmurfError(Exception):
    """Base of all errors of this package."""


class InputError(SmurfError, ValueError):
    """A file or stream is malformed. `file` and `line` say where (None: not known)."""

    file: Optional[str] = None
    line: Optional[int] = None


class ArgumentError(SmurfError, ValueError):
    """An argument is out of range or does not fit the others."""


class IOFailure(SmurfError, OSError):
    """The operating system refused to open, read or write."""


class UnsupportedError(SmurfError):
    """This build of the library lacks what the input needs."""


class Remark(UserWarning):
    """Something the reader noticed that is not an error."""


_KINDS = {lib.SMURF_ERROR_INPUT: InputError, lib.SMURF_ERROR_ARGUMENT: ArgumentError, lib.SMURF_ERROR_IO: IOFailure,
          lib.SMURF_ERROR_MEMORY: MemoryError, lib.SMURF_ERROR_CANCELLED: KeyboardInterrupt, lib.SMURF_ERROR_UNSUPPORTED: UnsupportedError}


def text(pointer: Any) -> Any:
    """A C string as str, or None."""
    return None if pointer == NULL else ffi.string(pointer).decode("utf-8", "replace")


def encoded(value: Any) -> Any:
    """A str, path or None as bytes or NULL."""
    return NULL if value is None else os.fsencode(value) if isinstance(value, os.PathLike) else str(value).encode("utf-8", "surrogateescape")


def error(status: int, err: Any) -> BaseException:
    """The exception of a failed call."""
    raised: BaseException = _KINDS.get(status, SmurfError)(text(err.message) or "unknown error")
    if isinstance(raised, InputError):
        raised.file = text(err.file) or None
        raised.line = err.line or None
    return raised


def call(function: Any, *arguments: Any) -> None:
    """Calls a function whose last argument is a smurf_error; raises where it fails."""
    err = ffi.new("smurf_error *")
    status = function(*arguments, err)
    if status:
        raise error(status, err)


def made(kind: str, function: Any, *arguments: Any) -> Any:
    """The handle that a function makes through its first argument, not yet owned."""
    out = ffi.new(f"{kind} **")
    call(function, out, *arguments)
    return out[0]


class Lent:
    """A handle that borrows from another, such as a forecast from its model: used by one thread at a time, as in `with lent as
    pointer`, and freed before the other.

    References between the two are not enough. Weak references to an object are called before its destructor, and the collector calls
    the destructors of a cycle in any order. A reference from here is one that the collector does not see as part of a cycle.
    """

    _lenders: dict[int, Any] = {}  # by the id of what borrows
    _leaving = False

    __slots__ = ("_free", "_lock", "pointer")

    def __init__(self, pointer: Any, free: Any, lender: Any) -> None:
        self.pointer, self._free, self._lock = pointer, free, threading.Lock()
        self._lenders[id(self)] = lender

    def __enter__(self) -> Any:
        self._lock.acquire()
        return self.pointer

    def __exit__(self, *_: Any) -> None:
        self._lock.release()

    def __del__(self) -> None:
        if self._leaving:
            return
        self._free(self.pointer)
        self.pointer = NULL
        self._lenders.pop(id(self))

    @classmethod
    def leave(cls) -> None:
        """When the interpreter ends, the references from here are part of what it collects. The system frees the rest."""
        cls._leaving = True


atexit.register(Lent.leave)


def config(kind: str) -> Any:
    """An option struct with its defaults."""
    out = ffi.new(f"{kind} *")
    getattr(lib, f"{kind}_init_sized")(out, ffi.sizeof(kind))
    return out


def listing(function: Any) -> list[str]:
    """The texts of a table of the library: names until NULL."""
    out: list[str] = []
    while (name := text(function(len(out)))) is not None:
        out.append(name)
    return out


def remark(message: str) -> None:
    """Warns at the line of the program that called this package."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] == "smurf":
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, Remark, stacklevel=depth)


# ---- Progress ----


class Progress:
    """Shows progress on terminals and in notebooks, by tqdm where that is installed, and stops the library on Ctrl-C.

    A callback must not raise through C: what it catches is kept, and raised again at the end.
    """

    delay = 0.3  # seconds: shorter work shows nothing
    pause = 0.1  # between two pictures of the bar

    def __init__(self, shown: bool) -> None:
        self.bar = _bar() if shown else None
        self.due = time.monotonic() + self.delay
        self.caught: Optional[BaseException] = None
        self.callback = ffi.callback("smurf_progress_fn", self._told, error=1)

    def _told(self, _: Any, progress: Any) -> int:
        try:
            if self.caught:
                return 1
            if self.bar and (now := time.monotonic()) >= self.due:
                self.due = now + self.pause
                self.bar.show(text(progress.what), progress.done, progress.total)
            return 0
        except BaseException as raised:  # Ctrl-C included
            self.caught = raised
            return 1

    def close(self) -> None:
        if self.bar:
            self.bar.close()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        self.close()
        if self.caught and (value is None or isinstance(value, KeyboardInterrupt)):
            raise self.caught


class _Plain:
    """Progress as text on a terminal."""

    def __init__(self, out: Any) -> None:
        self.out, self.width = out, 0

    def show(self, what: str, done: float, total: float) -> None:
        line = f"{what} {100 * done / total:.0f}%" if total else what
        self.out.write("\r" + line.ljust(self.width))
        self.out.flush()
        self.width = len(line)

    def close(self) -> None:
        if self.width:
            self.out.write("\r" + " " * self.width + "\r")
            self.out.flush()


class _Tqdm:
    """Progress by tqdm. The bar appears with the first report."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self.make, self.bar = make, None  # type: Callable[..., Any], Any

    def show(self, what: str, done: float, total: float) -> None:
        if self.bar is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # notebooks without widgets have a plain bar
                self.bar = self.make(bar_format="{desc}{percentage:3.0f}% |{bar}| {elapsed}", leave=False)
        self.bar.set_description_str(what + " ", refresh=False)
        self.bar.total = total or 1
        self.bar.n = min(done, self.bar.total)
        self.bar.refresh()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def _bar() -> Any:
    """What shows progress; None where nobody looks."""
    terminal = sys.stderr is not None and sys.stderr.isatty()
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not (terminal or hasattr(shell, "kernel")):  # a notebook has a kernel
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        return _Plain(sys.stderr) if terminal else None
    return _Tqdm(tqdm)
