"""Processes with a known law: to simulate from, and to compare with."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from smurf import _html
from smurf._columns import kept
from smurf._evaluate import Evaluation, eval_config
from smurf._law import TrueLaw
from smurf._lib import NULL, ArgumentError, Progress, config, encoded, ffi, lib, made, text
from smurf._log import Log


def processes() -> dict[str, tuple[str, dict[str, str]]]:
    """The processes to simulate from: {name: (about, {parameter: about})}.

    >>> import smurf
    >>> smurf.processes()["exponential"]  # doctest: +ELLIPSIS
    ('renewal process: exponential gaps (a Poisson process given by its mean gap)', {'mean': 'mean gap (default 1)', 'weights': ...})
    """
    out: dict[str, tuple[str, dict[str, str]]] = {}
    while (name := text(lib.smurf_process_name(len(out)))) is not None:
        index, found = len(out), {}  # type: int, dict[str, str]
        while (parameter := text(lib.smurf_process_parameter_name(index, len(found)))) is not None:
            found[parameter] = text(lib.smurf_process_parameter_about(index, len(found)))
        out[name] = (text(lib.smurf_process_about(index)), found)
    return out


class Process:
    """A process with a known law. `processes()` lists names and parameters. types: how many; 3 for hawkes, else 1, if not given.

    >>> import smurf
    >>> p = smurf.Process("exponential", mean=2.0)
    >>> p.simulate(sequences=2, events=3, seed=7).events
    6
    """

    def __init__(self, name: str, types: Optional[int] = None, **parameters: Any) -> None:
        types = types or (3 if name == "hawkes" else 1)
        keep: list[Any] = []
        given = ffi.new("smurf_parameter[]", max(1, len(parameters)))
        for k, (key, value) in enumerate(parameters.items()):
            try:
                values = np.ascontiguousarray(np.asarray(value, dtype=np.float64).ravel())
            except (TypeError, ValueError):
                raise ArgumentError(f"parameter {key} is {value!r}: give a number, or numbers for the types") from None
            keep.append(values)
            given[k].name = kept(keep, key)
            given[k].values = ffi.from_buffer("double[]", values)
            given[k].count = len(values)
        self.name, self.types, self.parameters = name, types, dict(parameters)
        self._handle = ffi.gc(made("smurf_process", lib.smurf_process_new, encoded(name), types, given, len(parameters)), lib.smurf_process_free)

    @property
    def rates(self) -> np.ndarray:
        """Long-run events per unit of time of each type; NaN where there is no closed form."""
        out = np.empty(self.types)
        lib.smurf_process_rates(self._handle, ffi.from_buffer("double[]", out, require_writable=True))
        return out

    def simulate(self, sequences: int = 100, until: Optional[float] = None, events: int = 0, seed: int = 1, threads: int = 0,
                 progress: bool = True) -> Log:
        """Sequences from 0 to `until` (100, unless `events` is given), or of so many events."""
        c = config("smurf_simulate_config")
        c.sequences, c.max_events, c.seed, c.threads = sequences, events, seed, threads
        c.until = until if until is not None else 0 if events else 100
        with Progress(progress) as shown:
            c.progress = shown.callback
            return Log(made("smurf_data", lib.smurf_process_simulate, self._handle, c))

    def law(self, log: Log, sequence: int = 0, seen: Optional[int] = None) -> TrueLaw:
        """The true law of the gap after the first `seen` events (default: all) of a sequence of a log that it was simulated as."""
        if not 0 <= sequence < len(log):
            raise KeyError(f"there is no sequence {sequence!r}: the log has {len(log)}")
        s = lib.smurf_data_sequence(log._handle, sequence)
        if seen is not None and not 0 <= seen <= s.length:
            raise ArgumentError(f"seen is {seen}, but the sequence has {s.length} events")
        return TrueLaw(made("smurf_law", lib.smurf_process_law, self._handle, s, s.length if seen is None else seen))

    def evaluate(self, log: Log, train: Optional[Log] = None, *, bootstrap: int = 0, seed: int = 1, threads: int = 0,
                 progress: bool = True) -> Evaluation:
        """How good the true law is on the scored gaps of a log: what no model can beat but by chance."""
        with Progress(progress) as shown:
            c = eval_config([], shown, bootstrap=bootstrap, seed=seed, threads=threads)
            base = NULL if train is None else train._handle
            return Evaluation(made("smurf_evaluation", lib.smurf_evaluate_process, self._handle, log._handle, base, c), log.unit)

    def __reduce__(self) -> Any:
        return _process, (self.name, self.types, self.parameters)

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self.parameters.items())
        return f"smurf.Process({self.name!r}, types={self.types}{given})"

    def _repr_html_(self) -> str:
        return _html.table(f"Process {self.name}", [("about", processes()[self.name][0]), ("types", self.types), *self.parameters.items()])


def _process(name: str, types: int, parameters: dict[str, Any]) -> Process:
    return Process(name, types, **parameters)


def simulate(process: str = "hawkes", types: Optional[int] = None, *, sequences: int = 100, until: Optional[float] = None, events: int = 0, seed: int = 1,
             threads: int = 0, **parameters: Any) -> Log:
    """A log from a known process: see `processes()` for names and parameters.

    >>> import smurf
    >>> smurf.simulate("exponential", sequences=3, events=5, mean=2.0).events
    15
    """
    return Process(process, types, **parameters).simulate(sequences=sequences, until=until, events=events, seed=seed, threads=threads)
