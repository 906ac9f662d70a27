"""The library: where it is, how it is called, and its errors as exceptions.

Every call of the library goes through this file. cffi releases the GIL during a call, so threads of Python run beside it.
"""

import os
import pathlib
import threading
import warnings

from smurf._api import ffi

# The places where libsmurf may be, in order: as told, beside this package (a wheel), where the system keeps libraries.
_HERE = pathlib.Path(__file__).resolve().parent
_NAMES = [os.environ.get("SMURF_LIBRARY"), *sorted(map(str, _HERE.glob("libsmurf.so*"))), "libsmurf.so.0"]


def _open():
    tried = []
    for name in filter(None, _NAMES):
        try:
            return ffi.dlopen(name)
        except OSError as error:
            tried.append(str(error))
    raise ImportError("libsmurf cannot be loaded: install it, or set SMURF_LIBRARY to its path (" + "; ".join(tried) + ")")


lib = _open()
NULL = ffi.NULL


class SmurfError(Exception):
    """Base of all errors of this package."""


class InputError(SmurfError, ValueError):
    """A file or stream is malformed. `file` and `line` say where (None: not known)."""

    file = None
    line = None


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


def text(pointer):
    """A C string as str, or None."""
    return None if pointer == NULL else ffi.string(pointer).decode("utf-8", "replace")


def encoded(value):
    """A str, path or None as bytes or NULL."""
    return NULL if value is None else os.fsencode(value) if isinstance(value, os.PathLike) else str(value).encode()


def error(status, err):
    """The exception of a failed call."""
    raised = _KINDS.get(status, SmurfError)(text(err.message) or "unknown error")
    if isinstance(raised, InputError):
        raised.file = text(err.file) or None
        raised.line = err.line or None
    return raised


def call(function, *arguments):
    """Calls a function whose last argument is a smurf_error; raises where it fails."""
    err = ffi.new("smurf_error *")
    status = function(*arguments, err)
    if status:
        raise error(status, err)


def made(kind, function, *arguments):
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

    _lenders = {}  # by the id of what borrows

    __slots__ = ("_free", "_lock", "pointer")

    def __init__(self, pointer, free, lender):
        self.pointer, self._free, self._lock = pointer, free, threading.Lock()
        self._lenders[id(self)] = lender

    def __enter__(self):
        self._lock.acquire()
        return self.pointer

    def __exit__(self, *_):
        self._lock.release()

    def __del__(self):
        self._free(self.pointer)
        self.pointer = NULL
        self._lenders.pop(id(self))


def config(kind):
    """An option struct with its defaults."""
    out = ffi.new(f"{kind} *")
    getattr(lib, f"{kind}_init_sized")(out, ffi.sizeof(kind))
    return out


def listing(function):
    """The texts of a table of the library: names until NULL."""
    out, index = [], 0
    while (name := text(function(index))) is not None:
        out.append(name)
        index += 1
    return out


def remark(message):
    """Warns at the line of the program that called this package."""
    warnings.warn(message, Remark, stacklevel=2 + _depth())


def _depth():
    import sys

    depth, frame = 0, sys._getframe(2)
    while frame and frame.f_globals.get("__name__", "").split(".")[0] == "smurf":
        depth, frame = depth + 1, frame.f_back
    return depth


class Progress:
    """Shows progress, by tqdm where that is installed, and stops the library on Ctrl-C.

    A callback must not raise through C: what it catches is kept, and raised again by `check`.
    """

    def __init__(self, shown, then=None):
        self.bar = _bar() if shown else None
        self.caught = None
        self.then = then
        self.callback = ffi.callback("smurf_progress_fn", self._told, error=1)
        self.owner = threading.get_ident()

    def _told(self, _, progress):
        try:
            if self.caught:
                return 1
            if self.bar:
                self.bar.show(text(progress.what), progress.done, progress.total)
            return 0
        except BaseException as raised:  # Ctrl-C included
            self.caught = raised
            return 1

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.bar:
            self.bar.close()
        if self.caught and (value is None or isinstance(value, KeyboardInterrupt)):
            raise self.caught


class _Plain:
    """Progress as text on a terminal."""

    def __init__(self, out):
        self.out, self.width = out, 0

    def show(self, what, done, total):
        line = f"{what} {100 * done / total:.0f}%" if total else what
        self.out.write("\r" + line.ljust(self.width))
        self.out.flush()
        self.width = len(line)

    def close(self):
        if self.width:
            self.out.write("\r" + " " * self.width + "\r")
            self.out.flush()


class _Tqdm:
    def __init__(self, tqdm):
        self.bar = tqdm(bar_format="{desc}{percentage:3.0f}% |{bar}| {elapsed}", leave=False)

    def show(self, what, done, total):
        self.bar.set_description_str(what + " ", refresh=False)
        self.bar.total = total or 1
        self.bar.n = min(done, self.bar.total)
        self.bar.refresh()

    def close(self):
        self.bar.close()


def _bar():
    import sys

    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Plain(sys.stderr) if sys.stderr.isatty() else None
    return _Tqdm(tqdm) if sys.stderr.isatty() or "ipykernel" in sys.modules else None
