"""Models: saving and loading, and what can be asked of them."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from smurf import _html
from smurf._evaluate import Evaluation, eval_config, score_events
from smurf._forecast import Forecasts, ask_many, overdue, type_number
from smurf._futures import history_of, sample_futures
from smurf._law import Law
from smurf._lib import NULL, ArgumentError, Progress, call, encoded, ffi, lib, made, remark, text
from smurf._live import Live
from smurf._log import Log, _type_names, from_arrays


def settings() -> dict[str, str]:
    """What `fit` can be told about the model and its training: {name: about}, from the library's own table.

    >>> import smurf
    >>> smurf.settings()["width"]
    'encoder width, an even number'
    """
    out: dict[str, str] = {}
    while (name := text(lib.smurf_setting_name(len(out)))) is not None:
        out[name.replace("-", "_")] = text(lib.smurf_setting_about(len(out)))
    return out


def load(path: Any) -> Model:
    """Reads a model from a file written by `Model.save` or by the command.

    >>> import os, smurf, tempfile
    >>> log = smurf.simulate("exponential", sequences=20, events=20, seed=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.safetensors")
    ...     smurf.fit(log, epochs=1, threads=1).save(path)
    ...     smurf.load(path).types
    ['0']
    """
    return Model(made("smurf_model", lib.smurf_model_load, encoded(path)))


class Model:
    """A trained model. Using it does not change it; it may be used from several threads, and pickled.

    >>> import smurf
    >>> log = smurf.simulate("exponential", sequences=20, events=20, mean=2.0, seed=3)
    >>> model = smurf.fit(log, epochs=1, threads=1)
    >>> model.forecast(log).df.shape[0], model.settings["epochs"]
    (20, '1')
    >>> list(model.sample(log, events=2, paths=1, sequences=[0]).columns)
    ['sequence', 'path', 'step', 'gap', 'time', 'type']
    """

    def __init__(self, handle: Any) -> None:
        self._handle = ffi.gc(handle, lib.smurf_model_free)

    @property
    def types(self) -> list[str]:
        """The names of the types."""
        return _type_names(self._handle, lib.smurf_model_types, lib.smurf_model_type_name)

    @property
    def unit(self) -> str:
        """The unit of time; "" where unknown."""
        return text(lib.smurf_model_unit(self._handle))

    @property
    def is_calendar(self) -> bool:
        """Whether times are dates."""
        return bool(lib.smurf_model_is_calendar(self._handle))

    @property
    def parameters(self) -> int:
        """The number of weights."""
        return lib.smurf_model_parameters(self._handle)

    @property
    def settings(self) -> dict[str, str]:
        """All settings, as text: {name: value}."""
        handle, out = lib.smurf_model_settings(self._handle), {}
        room = ffi.new("char[256]")
        for name in settings():
            call(lib.smurf_settings_get, handle, encoded(name.replace("_", "-")), room, 256)
            out[name] = text(room)
        return out

    @property
    def calibration(self) -> Optional[dict[str, Any]]:
        """How calibration went: a dict; None if there was none."""
        c = lib.smurf_model_calibration(self._handle)
        if c == NULL or c.gaps == 0:
            return None
        return {"gaps": c.gaps, "sequences": c.sequences, "recalibrated": bool(c.recalibrated), "cs_before": c.cs_before,
                "cs_after": c.cs_after, "crps_before": c.crps_before, "crps_after": c.crps_after, "cs_floor": c.cs_floor,
                "misses": bool(c.misses)}

    def trained_on(self, log: Log) -> bool:
        """Whether the model was trained on exactly these events."""
        found = lib.smurf_model_trained_on(self._handle, log._handle)
        if found < 0:
            raise MemoryError
        return bool(found)

    @property
    def pool(self) -> Optional[dict[str, Any]]:
        """The naive laws that its own are pooled with, with their weights and gains: a dict; None if there are none."""
        p = lib.smurf_model_pool(self._handle)
        if p == NULL:
            return None
        return {"law": text(p.law), "weight": p.weight, "gain": p.gain, "types": text(p.types), "type_weight": p.type_weight,
                "type_gain": p.type_gain, "type_follow": p.type_follow}

    # ---- Files ----

    def save(self, path: Any) -> None:
        """Writes the model, atomically."""
        call(lib.smurf_model_save, self._handle, encoded(path))

    def to_bytes(self) -> bytes:
        """The bytes of such a file."""
        out, size = ffi.new("void **"), ffi.new("size_t *")
        call(lib.smurf_model_save_memory, self._handle, out, size)
        try:
            return bytes(ffi.buffer(out[0], size[0]))
        finally:
            lib.smurf_free(out[0])

    @classmethod
    def from_bytes(cls, data: bytes) -> Model:
        """A model from such bytes."""
        return cls(made("smurf_model", lib.smurf_model_load_memory, data, len(data), b"bytes"))

    def __reduce__(self) -> Any:
        return Model.from_bytes, (self.to_bytes(),)

    # ---- Questions ----

    def match(self, log: Log) -> Log:
        """The log with its types numbered as in the model."""
        if not isinstance(log, Log):
            raise ArgumentError(f"this needs a smurf.Log, not {log.__class__.__name__}: make one with smurf.read, from_pandas, from_arrays or "
                                "from_dicts")
        out = ffi.new("smurf_data **")
        call(lib.smurf_model_match, self._handle, log._handle, out)
        return Log(out[0])

    def forecast(self, log: Log, *, levels: Any = (0.5, 0.9), within: Any = (), now: Any = None, silence: Any = None, next: Any = None,
                 one_sided: bool = False, conformal: bool = False, every: int = 0, history: int = 0, top: Optional[int] = 3,
                 recalibrate: bool = True, seed: int = 1, paths: int = 500, steps: int = 200, threads: int = 0,
                 progress: bool = True) -> Forecasts:
        """The next event of every sequence: a Forecasts object, one row per sequence.

        levels: of the central intervals; one_sided: intervals that start at 0. within: horizons ("1h", numbers, timedeltas) to give the
        probability of. now: nothing has happened until this moment (or "now"). silence: nothing has happened for this long. next: also the
        time to the next event of this type, from `paths` futures of up to `steps` events. conformal: also intervals that hold even if the
        model is wrong. every: a forecast after every N-th event instead of at the end. history: use only the last N events. top: types to
        name, None: all. recalibrate: False uses the law as trained. threads: 0: all cores.
        """
        return ask_many(self, self.match(log), levels=levels, within=within, now=now, silence=silence, next=next, one_sided=one_sided,
                        conformal=conformal, every=every, history=history, top=top, recalibrate=recalibrate, seed=seed, paths=paths,
                        steps=steps, threads=threads, progress=progress)

    def overdue(self, log: Log, now: Any = None, *, level: float = 0.9, history: int = 0, recalibrate: bool = True, threads: int = 0,
                progress: bool = True) -> Any:
        """The sequences that have been silent for longer than expected, the least probable silence first: a DataFrame.

        now: nothing has happened until this moment (or "now"); by default the last event of the log. level: an event is expected by the
        time that it precedes with this probability.
        """
        return overdue(self, self.match(log), now, level, history, recalibrate, threads, progress)

    def sample(self, log: Log, *, until: Any = None, events: int = 0, paths: int = 100, sequences: Any = None, stop_at: Any = None,
               silence: Any = None, history: int = 0, recalibrate: bool = True, seed: int = 1, threads: int = 0, progress: bool = True) -> Any:
        """Futures drawn event by event: a DataFrame with one row per event and columns sequence, path, step, gap, time and type.

        until: how far to look ahead after the last event. events: the most events of a future. sequences: which, by name or number.
        stop_at: a future ends with an event of this type. silence: nothing has happened for this long.
        """
        if until is None and not events:
            raise ArgumentError("say how far: until=, events=, or both")
        matched = self.match(log)
        chosen = list(range(len(log))) if sequences is None else [matched_index(matched, sequence) for sequence in sequences]
        return sample_futures(self, matched, chosen, until=until, events=events, stop_at=-1 if stop_at is None else type_number(self, stop_at),
                              silence=silence, paths=paths, history=history, recalibrate=recalibrate, seed=seed, threads=threads,
                              progress=progress)

    def law(self, log: Log, sequence: Any = 0, events: Optional[int] = None) -> Law:
        """The law of the gap after the first `events` events (default: all) of a sequence, given by name or number."""
        matched = self.match(log)
        index = matched_index(matched, sequence)
        length = lib.smurf_data_sequence(matched._handle, index).length
        if events is not None and not 0 <= events <= length:
            raise ArgumentError(f"events is {events}, but sequence {sequence!r} has {length}")
        return Law(history_of(self, matched, index, events), self.unit, self.types)

    def live(self, history: int = 0) -> Live:
        """Histories that grow event by event, one per sequence. history: look back at this many events at most."""
        return Live(self, history)

    def evaluate(self, log: Log, train: Optional[Log] = None, *, sampler: Optional[str] = None, draws: int = 0, steps: int = 0,
                 step_size: float = 0, denoise: bool = True, bootstrap: int = 0, recalibrate: bool = True, examples: int = 6, seed: int = 1,
                 threads: int = 0, progress: bool = True) -> Evaluation:
        """How good the forecasts are on the scored gaps of a log: an Evaluation.

        train: adds the naive laws. sampler: also draws from the law this way and scores the draws (`samplers()`), with `draws` per gap,
        `steps` of `step_size`, `denoise` at the end. bootstrap: 90% intervals from so many resamplings of the sequences. examples: laws
        kept for the pictures of the report.
        """
        matched = self.match(log)
        if self.trained_on(log):
            remark("the model was trained on this log: other events show how good it is")
        keep: list[Any] = []
        base = NULL if train is None else self.match(train)
        with Progress(progress) as shown:
            c = eval_config(keep, shown, sampler=sampler, draws=draws, steps=steps, step_size=step_size, denoise=denoise, bootstrap=bootstrap,
                            recalibrate=recalibrate, examples=examples, seed=seed, threads=threads)
            return Evaluation(made("smurf_evaluation", lib.smurf_evaluate, self._handle, matched._handle, NULL if train is None else base._handle,
                                   c), self.unit)

    def score(self, log: Log, *, recalibrate: bool = True, seed: int = 1, threads: int = 0, progress: bool = True) -> Any:
        """Every scored event: a DataFrame with its time, type, gap, PIT, p-value, log density and the probability of its type."""
        return score_events(self, self.match(log), recalibrate, seed, threads, progress)

    def __repr__(self) -> str:
        return f"<smurf.Model {self.parameters:,} weights, {len(self.types):,} types>"

    def _repr_html_(self) -> str:
        rows = [("weights", f"{self.parameters:,}"), ("types", ", ".join(self.types[:8]) + (" …" if len(self.types) > 8 else "")),
                ("objective", self.settings["objective"])]
        found = self.calibration
        if found:
            rows.append(("calibration", f"CS {found['cs_before']:.2f}% before, {found['cs_after']:.2f}% after, on {found['gaps']:,} gaps"))
        return _html.table("Model", rows)


def matched_index(log: Log, sequence: Any) -> int:
    """The number of a sequence given by name or number."""
    names = log.sequences
    if sequence in names:
        return names.index(sequence)
    if isinstance(sequence, (int, np.integer)) and -len(names) <= sequence < len(names):
        return int(sequence) % len(names)
    raise KeyError(f"there is no sequence {sequence!r}")


def law(model: Model, history: Any, type: Any = None) -> Law:
    """The law after a history of times (and types, by name or number): for other people's code. Given a Log, the law at the end of its
    first sequence.

    >>> import smurf
    >>> log = smurf.simulate("exponential", sequences=20, events=20, mean=2.0, seed=3)
    >>> model = smurf.fit(log, epochs=1, threads=1)
    >>> smurf.law(model, [0.5, 1.0, 4.0]).pdf([0.5, 1.0]).shape
    (2,)
    """
    if isinstance(history, Log):
        return model.law(history)
    if type is None:
        type = [0] * len(history)
    numbers = len(type) and all(isinstance(kind, (int, np.integer)) for kind in type)
    return model.law(from_arrays(history, type=type, types=model.types if numbers else None, sort=False, name="history"))
