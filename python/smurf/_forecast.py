"""Forecasts of many sequences at once, as a table."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from smurf._lib import NULL, ArgumentError, Progress, config, ffi, lib, made
from smurf._times import in_unit, instant, instants, moment, timedelta

# ---- Questions ----


def level_name(level: float) -> str:
    return f"{100 * level:g}"


class Question:
    """A smurf_question, and what it borrows."""

    def __init__(self, model: Any, *, levels: Any = (0.5, 0.9), within: Any = (), now: Any = None, silence: Any = None, next: Any = None,
                 one_sided: bool = False, conformal: bool = False, top: Optional[int] = 3, recalibrate: bool = True, seed: int = 1,
                 paths: int = 500, steps: int = 200, threads: int = 0, until: Any = None) -> None:
        self.levels = [float(level) for level in np.atleast_1d(levels)]
        self.within = [within] if isinstance(within, str) or not np.iterable(within) else list(within)
        q = self.q = config("smurf_question")
        self.level_array = ffi.new("double[]", self.levels)
        self.within_array = ffi.new("double[]", [in_unit(each, model.unit) for each in self.within])
        q.level, q.levels = self.level_array, len(self.levels)
        q.within, q.horizons = self.within_array, len(self.within)
        q.top = len(model.types) if top is None else min(top, len(model.types))
        q.one_sided, q.conformal, q.recalibrate = int(one_sided), int(conformal), int(recalibrate)
        q.seed, q.paths, q.steps, q.threads = seed, paths, steps, threads
        q.silence = 0 if silence is None else in_unit(silence, model.unit)
        self.now, self.until = _moment(now), _moment(until)
        if self.now is not None:
            q.now = self.now
        if self.until is not None:
            q.until = self.until
        q.next = -1 if next is None else type_number(model, next)
        self.ending = model.settings["ending"] == "on"


def _moment(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, str) and value == "now":
        import time

        value = time.time()
    return moment(value)


def type_number(model: Any, kind: Any) -> int:
    """The number of a type given by name or number."""
    names = model.types
    if kind in names:
        return names.index(kind)
    if isinstance(kind, (int, np.integer)) and 0 <= kind < len(names):
        return int(kind)
    raise ArgumentError(f"the model has no type {kind!r}; it has: {', '.join(names[:20])}" + (" …" if len(names) > 20 else ""))


# ---- Answers as columns ----


class _Answers:
    """The columns of a smurf_answers: an address and a stride each."""

    def __init__(self, handle: Any) -> None:
        self.handle, self.n = handle, lib.smurf_answers_count(handle)
        self.stride = lib.smurf_answers_stride(handle)
        self.first = lib.smurf_answers_at(handle, 0)
        self.base = int(ffi.cast("uintptr_t", self.first))
        self.bytes = ffi.buffer(ffi.cast("char *", self.first), self.n * self.stride) if self.n else b""

    def at(self, address: Any, kind: Any, *shape: int) -> np.ndarray:
        """A column of elements of this shape, whose first one is at `address`."""
        inner = [int(np.dtype(kind).itemsize * np.prod(shape[k + 1:])) for k in range(len(shape))]
        offset = int(ffi.cast("uintptr_t", address)) - self.base
        return np.ndarray((self.n, *shape), kind, self.bytes, offset, (self.stride, *inner)).copy()

    def field(self, name: str, kind: Any) -> np.ndarray:
        return self.at(ffi.addressof(self.first, *name.split(".")), kind)


def columns_of(answers: _Answers, question: Question, names: Sequence[Any], kinds: Sequence[str], is_calendar: bool) -> dict[str, Any]:
    """All that was answered, by column."""
    a, levels, horizons = answers.first, len(question.levels), len(question.within)
    out: dict[str, Any] = {"sequence": _labels(names)[answers.field("sequence", np.uintp)], "events": answers.field("events", np.uintp).astype(np.int64)}
    for name in ("last", "from"):
        out[name] = instants(answers.field(f"{name}.whole", np.int64), answers.field(f"{name}.fraction", np.float64), is_calendar)
    out["median"], out["mean"] = answers.field("median", np.float64), answers.field("mean", np.float64)
    asked = [("", a.interval), ("conformal_", a.conformal), ("next_", a.next_interval)]
    for prefix, address in asked:
        if address != NULL and levels:
            ends = answers.at(address, np.float64, levels, 2)
            for k, level in enumerate(question.levels):
                out[f"{prefix}low{level_name(level)}"], out[f"{prefix}high{level_name(level)}"] = ends[:, k, 0], ends[:, k, 1]
    for prefix, address in (("p_within_", a.within), ("p_next_within_", a.next_within)):
        if address != NULL and horizons:
            shares = answers.at(address, np.float64, horizons)
            out.update((f"{prefix}{horizon}", shares[:, k]) for k, horizon in enumerate(question.within))
    if a.types:
        number, share = answers.at(a.type, np.uint32, a.types), answers.at(a.share, np.float64, a.types)
        for k in range(a.types):
            out[f"type{k + 1}"], out[f"p_type{k + 1}"] = _labels(kinds)[number[:, k]], share[:, k]
    if question.ending:
        out["never"] = answers.field("never", np.float64)
    if question.q.next >= 0:
        out["next_seen"], out["next_median"] = answers.field("next_seen", np.float64), answers.field("next_median", np.float64)
    if question.until is not None:
        out["silence"], out["survival"] = answers.field("silence", np.float64), answers.field("survival", np.float64)
    return out


def _labels(names: Sequence[Any]) -> np.ndarray:
    """An array of names; of numbers, where all are."""
    if all(isinstance(name, int) for name in names):
        return np.array(names, dtype=np.int64)
    return np.array(names, dtype=object)


def ask_many(model: Any, log: Any, *, every: int = 0, history: int = 0, threads: int = 0, progress: bool = True, **asked: Any) -> Forecasts:
    question = Question(model, threads=threads, **asked)
    c = config("smurf_many_config")
    c.every, c.history, c.threads = every, history, threads
    with Progress(progress) as shown:
        c.progress = shown.callback
        handle = ffi.gc(made("smurf_answers", lib.smurf_forecast_all, model._handle, log._handle, question.q, c), lib.smurf_answers_free)
    answers = _Answers(handle)
    columns = columns_of(answers, question, log.sequences, model.types, model.is_calendar) if answers.n else {}
    return Forecasts(columns, question, model.unit, model.is_calendar)


class Forecasts:
    """The next event of each sequence. `df` is the table: one row per sequence, times to the next event in the log's unit; with dates
    also the moments `at` (median), `at_low90`, …

    >>> import smurf
    >>> log = smurf.simulate("exponential", sequences=20, events=20, mean=2.0, seed=3)
    >>> f = smurf.fit(log, epochs=1, threads=1).forecast(log, levels=[0.8], within=[1, 5])
    >>> len(f), list(f.df.columns)[5:9]
    (20, ['mean', 'low80', 'high80', 'p_within_1'])
    """

    def __init__(self, columns: dict[str, Any], question: Question, unit: str, is_calendar: bool) -> None:
        import pandas as pd

        self.levels, self.unit = question.levels, unit
        out = dict(columns)
        if is_calendar and out:
            for column, at in [("median", "at")] + [(f"{end}{level_name(level)}", f"at_{end}{level_name(level)}")
                                                    for level in self.levels for end in ("low", "high")]:
                out[at] = columns["from"] + timedelta(columns[column])
        self.df = pd.DataFrame(out)

    def to_pandas(self) -> Any:
        """The table: a DataFrame."""
        return self.df

    def __len__(self) -> int:
        return len(self.df)

    def __getitem__(self, column: str) -> Any:
        return self.df[column]

    def __repr__(self) -> str:
        return repr(self.df)

    def _repr_html_(self) -> str:
        return self.df.to_html(index=False, max_rows=20)

    def plot(self, ax: Any = None, most: int = 20) -> Any:
        """A picture: for each sequence the intervals and the median of the time to its next event. Returns the axes of matplotlib."""
        from smurf._plot import forecasts

        return forecasts(self, ax, most)


def overdue(model: Any, log: Any, now: Any, level: float, history: int, recalibrate: bool, threads: int, progress: bool) -> Any:
    import pandas as pd

    out_names = ["sequence", "events", "last", "type", "silence", "expected", "probability"]
    ends = [(s.origin + float(time[-1]), index) for index, (s, time, _) in enumerate(log._views()) if len(time)]
    if not ends:
        return pd.DataFrame(columns=out_names)
    latest = max(ends)
    if now is None:
        s = lib.smurf_data_sequence(log._handle, latest[1])
        now = ffi.new("smurf_moment *")
        if not lib.smurf_moment_after(now, ffi.new("smurf_moment *", {"whole": s.origin})[0], s.time[s.length - 1]):
            raise ArgumentError("the last event is too far away to count from")
    else:
        now = _moment(now)
        if now.whole + now.fraction < latest[0]:
            raise ArgumentError(f"sequence {log.sequences[latest[1]]!r} has an event after now, {instant(now, model.is_calendar)}: leave out "
                                "such events, or give a later time")
    question: dict[str, Any] = {"levels": (level,), "one_sided": True, "top": 0, "recalibrate": recalibrate}
    found = ask_many(model, log, until=now, history=history, threads=threads, progress=progress, **question).df
    kinds = [log.types[kind[-1]] if len(kind) else None for _, _, kind in log._views()]
    found = found.assign(type=kinds).rename(columns={f"high{level_name(level)}": "expected", "survival": "probability"})
    found = found[(found["events"] > 0) & (found["silence"] > found["expected"])]
    by = found.assign(times=-found["silence"] / found["expected"]).sort_values(["probability", "times"], kind="stable").index
    return found.loc[by, out_names].reset_index(drop=True)
