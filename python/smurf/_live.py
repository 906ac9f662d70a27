"""Live forecasts: histories that grow event by event."""

from __future__ import annotations

import pickle
import threading
from typing import Any, Iterator, Mapping, Optional

import numpy as np

from smurf import _html
from smurf._forecast import Question, level_name
from smurf._futures import new_history
from smurf._law import Law
from smurf._lib import NULL, ArgumentError, Lent, call, ffi, lib, made, text
from smurf._times import instant, moment, timedelta

_FAR = 2**20  # numbers from here on are counted from an origin, as everywhere in the library


def _words(model: Any, column: int) -> dict[Any, int]:
    """Numbers of the words of a further column; empty: it holds numbers."""
    out: dict[Any, int] = {}
    while (word := lib.smurf_model_column_word(model._handle, column, len(out))) != NULL:
        out[text(word)] = len(out)
    return out


class Live:
    """Histories that grow event by event, one per sequence. Sequences may be used from several threads.

    >>> import smurf
    >>> log = smurf.simulate("exponential", sequences=20, events=20, mean=2.0, seed=3)
    >>> live = smurf.fit(log, epochs=1, threads=1).live()
    >>> live.append("ann", 0.5); live.append("ann", 1.75)
    >>> live.forecast("ann")["events"]
    2
    """

    def __init__(self, model: Any, history: int = 0) -> None:
        self._model, self._history = model, history
        self._kinds, self._unit, self._dates = model.types, model.unit, model.is_calendar
        self._number = {name: k for k, name in enumerate(self._kinds)}
        self._columns = [text(lib.smurf_model_column_name(model._handle, k)) for k in range(lib.smurf_model_columns(model._handle))]
        self._words = [_words(model, k) for k in range(len(self._columns))]
        self._of: dict[Any, tuple[Lent, int]] = {}  # history and origin, by sequence
        self._lock = threading.Lock()
        self._asked: Any = None  # the last question, and what it was made of

    def _handle(self, sequence: Any) -> Lent:
        found = self._of.get(sequence)
        if found is None:
            raise KeyError(f"there is no sequence {sequence!r}: append its first event")
        return found[0]

    def _begin(self, sequence: Any, whole: int) -> tuple[Lent, int]:
        with self._lock:
            found = self._of.get(sequence)
            if found is None:
                handle = new_history(self._model, self._history)
                with handle as pointer:
                    lib.smurf_forecast_clear(pointer, whole)
                found = self._of[sequence] = handle, whole
            return found

    def append(self, sequence: Any, time: Any, type: Any = 0, features: Optional[Mapping[str, Any]] = None) -> None:
        """An event of a sequence: its time (a number or a date) and type (a name or number). A type that the model does not know keeps
        only its time. features: of a model that sees further columns, their values by name; one that is not there, or None, is missing.
        """
        row = self._row(features)
        whole, part = self._when(time)
        handle, origin = self._of.get(sequence) or self._begin(sequence, whole if abs(whole) >= _FAR else 0)
        number = self._type(type)
        with handle as pointer:
            try:
                call(lib.smurf_forecast_append_with, pointer, (whole - origin) + part, number, row)
            except BaseException:
                if lib.smurf_forecast_events(pointer) == 0:
                    self._of.pop(sequence, None)  # it has not begun
                raise

    def _when(self, time: Any) -> tuple[int, float]:
        """A time as whole and fraction; small numbers are all fraction."""
        if isinstance(time, (float, int)):
            return (int(time // 1), time % 1) if _FAR <= abs(time) < float("inf") else (0, time)
        when = moment(time)
        return when.whole, when.fraction

    def _row(self, features: Optional[Mapping[str, Any]]) -> Any:
        """Values of further columns, as the library wants them."""
        if features is None and self._columns:
            raise ArgumentError(f"the model sees further columns: give features={{{self._columns[0]!r}: ...}}, or {{}} if all are missing")
        for name in features or {}:
            if name not in self._columns:
                raise ArgumentError(f"the model has no further column {name!r}: it sees {', '.join(self._columns) or 'none'}")
        if not features:
            return NULL
        row = ffi.new("float[]", [float("nan")] * len(self._columns))
        for k, name in enumerate(self._columns):
            value, words = features.get(name), self._words[k]
            if value is None or value != value or value == "":
                continue
            try:
                row[k] = words.get(str(value), len(words)) if words else float(value)
            except (TypeError, ValueError):
                raise ArgumentError(f"the further column {name!r} holds numbers, not {value!r}") from None
        return row

    def _type(self, type: Any) -> int:
        number = self._number.get(type)
        if number is None:
            number = int(type) if isinstance(type, (int, np.integer)) and 0 <= type < len(self._kinds) else len(self._kinds)
        return number

    def surprise(self, sequence: Any, time: Any, type: Any = 0, seed: int = 1) -> dict[str, float]:
        """How surprising this event would be as the next one of a sequence, which it is not appended to: a dict with the gap, its level
        `pit` in the law, `type_level`, the probability of all types that are no more probable, and `type_share`, that of its type."""
        whole, part = self._when(time)
        out = ffi.new("smurf_surprise *")
        with self._handle(sequence) as pointer:
            call(lib.smurf_forecast_surprise, pointer, (whole - self._of[sequence][1]) + part, self._type(type), seed, out)
        return {name: getattr(out, name) for name in ("gap", "pit", "type_level", "type_share")}

    def _question(self, asked: dict[str, Any]) -> Question:
        """Questions are often the same, and take longer to make than to answer."""
        key = tuple(asked.items())
        try:
            hash(key)
        except TypeError:  # a list, which may change
            return Question(self._model, **asked)
        last = self._asked
        if last is None or last[0] != key or asked.get("now") == "now":
            last = self._asked = key, Question(self._model, **asked)
        return last[1]

    def forecast(self, sequence: Any, **asked: Any) -> dict[str, Any]:
        """The next event of a sequence: a dict with median, mean, intervals and probabilities of types. levels, within, now, silence,
        next, conformal, one_sided, top, recalibrate, seed, paths, steps and threads are as for `Model.forecast`."""
        question, out = self._question(asked), ffi.new("smurf_answer **")
        with self._handle(sequence) as pointer:
            call(lib.smurf_forecast_ask, pointer, question.q, out)
        try:
            return self._found(sequence, out[0], question)
        finally:
            lib.smurf_answer_free(out[0])

    def _found(self, sequence: Any, a: Any, question: Question) -> dict[str, Any]:
        start = getattr(a, "from")
        found = {"sequence": sequence, "events": a.events, "last": instant(a.last, self._dates), "from": instant(start, self._dates),
                 "median": a.median, "mean": a.mean}
        for prefix, ends in (("", a.interval), ("conformal_", a.conformal), ("next_", a.next_interval)):
            if ends != NULL:
                for k, level in enumerate(question.levels):
                    name = level_name(level)
                    found[f"{prefix}low{name}"], found[f"{prefix}high{name}"] = ends[k].low, ends[k].high
        for prefix, shares in (("p_within_", a.within), ("p_next_within_", a.next_within)):
            if shares != NULL:
                found.update((f"{prefix}{horizon}", shares[k]) for k, horizon in enumerate(question.within))
        for k in range(a.types):
            found[f"type{k + 1}"], found[f"p_type{k + 1}"] = self._kinds[a.type[k]], a.share[k]
        if question.ending:
            found["never"] = a.never
        if question.q.next >= 0:
            found["next_seen"], found["next_median"] = a.next_seen, a.next_median
        if self._dates:
            found["at"] = found["from"] + timedelta(a.median)
        return found

    def law(self, sequence: Any) -> Law:
        """The law of the next gap of a sequence. It follows the events that are appended."""
        return Law(self._handle(sequence), self._unit, self._kinds)

    def forget(self, sequence: Any) -> None:
        """Drops a sequence."""
        self._handle(sequence)
        del self._of[sequence]

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, sequence: Any) -> bool:
        return sequence in self._of

    def __iter__(self) -> Iterator[Any]:
        return iter(self._of)

    def save(self) -> bytes:
        """All histories as bytes, to go on in another process with `Live.restore`."""
        saved = {}
        for sequence, (handle, origin) in list(self._of.items()):
            data, size = ffi.new("void **"), ffi.new("size_t *")
            with handle as pointer:
                call(lib.smurf_forecast_save, pointer, data, size)
            saved[sequence] = bytes(ffi.buffer(data[0], size[0])), origin
            lib.smurf_free(data[0])
        return pickle.dumps((self._history, saved))

    @classmethod
    def restore(cls, model: Any, data: bytes) -> Live:
        """Histories from such bytes, which must come from a source you trust (they are a pickle)."""
        history, saved = pickle.loads(data)
        live = cls(model, history)
        for sequence, (state, origin) in saved.items():
            handle = made("smurf_forecast", lib.smurf_forecast_restore, model._handle, state, len(state))
            live._of[sequence] = Lent(handle, lib.smurf_forecast_free, model._handle), origin
        return live

    def __reduce__(self) -> Any:
        return Live.restore, (self._model, self.save())

    def __repr__(self) -> str:
        return f"<smurf.Live {len(self):,} sequences>"

    def _repr_html_(self) -> str:
        few = list(self._of)[:8]
        rows = [(str(sequence), f"{lib.smurf_forecast_events(self._of[sequence][0].pointer):,} events") for sequence in few]
        return _html.table(f"Live histories of {len(self):,} sequences", rows)
