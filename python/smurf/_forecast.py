"""Forecasts: of many sequences at once, of futures, and live, event by event."""

import numpy as np

from smurf._law import Law
from smurf._lib import NULL, ArgumentError, Lent, Progress, call, config, ffi, lib, made
from smurf._log import Log, duration, in_unit, moment

# ---- Many sequences ----


def _level_name(level):
    return f"{100 * level:g}"


class _Question:
    """A smurf_question, and what it borrows."""

    def __init__(self, model, levels=(0.5, 0.9), within=(), now=None, silence=None, next=None, conformal=False, top=3, recalibrate=True,
                 seed=1, paths=1000, steps=200, until=None):
        self.levels = [float(level) for level in levels]
        self.within = [within] if isinstance(within, str) or not np.iterable(within) else list(within)
        q = self.q = config("smurf_question")
        self.level_array = ffi.new("double[]", self.levels)
        self.within_array = ffi.new("double[]", [in_unit(each, model.unit) for each in self.within])
        q.level, q.levels = self.level_array, len(self.levels)
        q.within, q.horizons = self.within_array, len(self.within)
        q.top = len(model.types) if top is None else top
        q.conformal, q.recalibrate, q.seed, q.paths, q.steps = int(conformal), int(recalibrate), seed, paths, steps
        q.silence = 0 if silence is None else in_unit(silence, model.unit)
        self.now = _moment(now)
        self.until = _moment(until)
        if self.now is not None:
            q.now = self.now
        if self.until is not None:
            q.until = self.until
        q.next = -1 if next is None else _type_number(model, next)
        self.next = next
        self.ending = model.settings["ending"] == "on"


def _moment(value):
    if value is None:
        return None
    if isinstance(value, str) and value == "now":
        import time

        value = time.time()
    return moment(value)


def _type_number(model, kind):
    names = model.types
    if kind in names:
        return names.index(kind)
    if isinstance(kind, (int, np.integer)) and 0 <= kind < len(names):
        return int(kind)
    raise ArgumentError(f"the model has no type {kind!r}; it has: {', '.join(names[:20])}" + (" …" if len(names) > 20 else ""))


def ask_many(model, log, *, every=0, threads=0, progress=False, **asked):
    question = _Question(model, **asked)
    names, kinds = log.sequences, model.types
    columns = {}

    def add(column, value):
        columns.setdefault(column, []).append(value)

    raised = []

    def answered(_, a):
        try:
            _add_answer(add, a, question, names, kinds)
            return 0
        except BaseException as error:  # must not pass through C
            raised.append(error)
            return 1

    c = config("smurf_many_config")
    c.every, c.threads = every, threads
    callback = ffi.callback("smurf_answer_fn", answered, error=1)
    with Progress(progress) as shown:
        c.progress = shown.callback
        try:
            call(lib.smurf_forecast_many, model._handle, log._handle, question.q, c, callback, NULL)
        except KeyboardInterrupt:
            if raised:
                raise raised[0] from None
            raise
    return Forecasts(columns, model, log, question)


def _add_answer(add, a, question, names, kinds):
    add("sequence", names[a.sequence])
    add("events", a.events)
    add("last", (a.last.whole, a.last.fraction))
    add("from", (getattr(a, "from").whole, getattr(a, "from").fraction))
    add("median", a.median)
    add("mean", a.mean)
    for k, level in enumerate(question.levels):
        add(f"low{_level_name(level)}", a.interval[k].low)
        add(f"high{_level_name(level)}", a.interval[k].high)
        if a.conformal != NULL:
            add(f"conformal_low{_level_name(level)}", a.conformal[k].low)
            add(f"conformal_high{_level_name(level)}", a.conformal[k].high)
    for k, horizon in enumerate(question.within):
        add(f"p_within_{horizon}", a.within[k])
    for k in range(question.q.top):
        there = k < a.types
        add(f"type{k + 1}", kinds[a.type[k]] if there else None)
        add(f"p_type{k + 1}", a.share[k] if there else np.nan)
    if question.ending:
        add("never", a.never)
    if question.next is not None:
        add("next_seen", a.next_seen)
        add("next_median", a.next_median)
    if question.until is not None:
        add("silence", a.silence)
        add("survival", a.survival)


class Forecasts:
    """The next event of each sequence. `df` is the table: one row per sequence, gaps in the log's unit; with dates also the moments
    `at` (median), `at_low90`, …"""

    def __init__(self, columns, model, log, question):
        self._columns, self._model, self._log, self._question = columns, model, log, question
        self._df = None

    @property
    def df(self):
        if self._df is None:
            self._df = self._frame()
        return self._df

    def _frame(self):
        import pandas as pd

        out = pd.DataFrame({name: values for name, values in self._columns.items() if name not in ("last", "from")})
        for name in ("last", "from"):
            pairs = self._columns.get(name, [])
            whole = np.array([pair[0] for pair in pairs], dtype=np.int64)
            part = np.array([pair[1] for pair in pairs])
            if self._model.is_calendar:
                out.insert(2, name, pd.to_datetime(whole * 10**9 + np.rint(part * 1e9).astype(np.int64), utc=True))
            else:
                out.insert(2, name, whole + part)
        if self._model.is_calendar and len(out):
            for column, at in [("median", "at")] + [(f"{end}{_level_name(level)}", f"at_{end}{_level_name(level)}")
                                                    for level in self._question.levels for end in ("low", "high")]:
                out[at] = out["from"] + _timedelta(out[column])
        return out

    def to_pandas(self):
        return self.df

    def __len__(self):
        return len(self._columns.get("sequence", []))

    def __getitem__(self, column):
        return self.df[column]

    def __repr__(self):
        return repr(self.df)

    def _repr_html_(self):
        return self.df.to_html(index=False, max_rows=20)

    def plot(self, ax=None, most=20):
        """A picture: for each sequence the intervals and the median of the time to its next event."""
        from smurf._plot import forecasts

        return forecasts(self, ax, most)


def _timedelta(seconds):
    import pandas as pd

    far = 9e9  # beyond what nanoseconds hold: no date
    bounded = np.where(np.abs(seconds) < far, seconds, np.nan)
    return pd.to_timedelta(bounded, unit="s").round("ms")


def overdue(model, log, now, progress):
    import pandas as pd

    if now is None:
        ends = [(s.origin, float(time[-1])) for s, time, _ in log._views() if len(time)]
        if not ends:
            raise ArgumentError("the log has no events")
        origin, last = max(ends, key=lambda end: end[0] + end[1])
        until = origin + last
    else:
        until = now
    found = ask_many(model, log, levels=(0.8,), until=until, top=1, progress=progress).df
    out = found[(found["silence"] > 0) & (found["events"] > 0)]
    out = out.rename(columns={"high80": "expected90", "survival": "probability"})
    return out.sort_values("probability")[["sequence", "last", "silence", "expected90", "probability"]].reset_index(drop=True) if len(out) else pd.DataFrame(
        columns=["sequence", "last", "silence", "expected90", "probability"])


# ---- Histories ----


def new_forecast(model, history=0):
    """A forecast handle, which keeps its model alive."""
    return Lent(made("smurf_forecast", lib.smurf_forecast_new, model._handle, history), lib.smurf_forecast_free, model._handle)


def history_of(model, log, index, events=None):
    """A forecast that has read the first `events` events of a sequence."""
    handle = new_forecast(model)
    s = lib.smurf_data_sequence(log._handle, index)
    with handle as pointer:
        call(lib.smurf_forecast_read, pointer, s, s.length if events is None else events)
    return handle


def sample_futures(model, log, *, until, events, paths, seed, threads, sequences, progress):
    import pandas as pd

    names, kinds = log.sequences, model.types
    chosen = range(len(log)) if sequences is None else [names.index(name) for name in sequences]
    columns = {name: [] for name in ("sequence", "path", "step", "gap", "time", "type")}
    last = [(s.origin, time[-1] if len(time) else 0.0) for s, time, _ in log._views()]
    for index in chosen:
        c = config("smurf_futures_config")
        c.paths, c.events, c.seed, c.threads = paths, events, seed, threads
        c.until = float("inf") if until is None else in_unit(until, model.unit)
        c.stop_at = -1
        with Progress(progress) as shown:
            c.progress = shown.callback
            out = ffi.new("smurf_futures **")
            with history_of(model, log, index) as pointer:
                call(lib.smurf_forecast_futures, pointer, c, out)
            handle = ffi.gc(out[0], lib.smurf_futures_free)
        _add_paths(columns, handle, names[index], last[index])
    out = {name: np.concatenate(parts) if parts else np.empty(0) for name, parts in columns.items()}
    if model.is_calendar:
        out["time"] = pd.to_datetime(np.rint(out["time"].astype(np.float64) * 1e9).astype(np.int64), utc=True)
    out["type"] = pd.Categorical.from_codes(out["type"].astype(np.int64), kinds)
    return pd.DataFrame(out)


def _add_paths(columns, handle, name, last):
    time, kind = ffi.new("const double **"), ffi.new("const uint32_t **")
    for path in range(lib.smurf_futures_paths(handle)):
        n = lib.smurf_futures_path(handle, path, time, kind)
        if n == 0:
            continue
        since = np.frombuffer(ffi.buffer(time[0], 8 * n)).copy()
        columns["sequence"].append(np.full(n, name, dtype=object))
        columns["path"].append(np.full(n, path))
        columns["step"].append(np.arange(1, n + 1))
        columns["gap"].append(np.diff(since, prepend=0))
        columns["time"].append(last[0] + last[1] + since)
        columns["type"].append(np.frombuffer(ffi.buffer(kind[0], 4 * n), np.uint32).copy())


# ---- Live ----


class Live:
    """Histories that grow event by event, one per sequence.

    >>> import smurf
    >>> log = smurf.simulate("exponential", sequences=20, events=20, mean=2.0, seed=3)
    >>> live = smurf.fit(log, epochs=1, threads=1).live()
    >>> live.append("ann", 0.5); live.append("ann", 1.75)
    >>> live.forecast("ann")["events"]
    2
    """

    def __init__(self, model, history=0):
        self._model, self._history, self._of, self._number = model, history, {}, {name: k for k, name in enumerate(model.types)}
        self._origin = {}

    def _handle(self, sequence):
        if sequence not in self._of:
            raise KeyError(f"there is no sequence {sequence!r}: append its first event")
        return self._of[sequence]

    def append(self, sequence, time, type=0):
        """An event of a sequence: its time (a number or a date) and type (a name or number). A type that the model does not know keeps
        only its time."""
        when = time if isinstance(time, (int, float)) else _seconds(time, self._model)
        handle = self._of.get(sequence)
        if handle is None:
            handle = new_forecast(self._model, self._history)
            whole = int(when // 1) if abs(when) >= 2**20 else 0
            with handle as pointer:
                lib.smurf_forecast_clear(pointer, whole)
            self._of[sequence], self._origin[sequence] = handle, whole
        number = self._number.get(type)
        if number is None:
            number = type if isinstance(type, int) and 0 <= type < len(self._number) else len(self._number)
        with handle as pointer:
            call(lib.smurf_forecast_append, pointer, when - self._origin[sequence], number)

    def forecast(self, sequence, *, levels=(0.5, 0.9), within=(), now=None, silence=None, top=3, **asked):
        """The next event of a sequence: a dict with median, mean, intervals, probabilities of types."""
        question = _Question(self._model, levels=levels, within=within, now=now, silence=silence, top=top, **asked)
        handle, out = self._handle(sequence), ffi.new("smurf_answer **")
        with handle as pointer:
            call(lib.smurf_forecast_ask, pointer, question.q, out)
        found = {}
        try:
            _add_answer(found.__setitem__, out[0], question, [sequence], self._model.types)
        finally:
            lib.smurf_answer_free(out[0])
        for name in ("last", "from"):
            found[name] = self._date(*found[name])
        if self._model.is_calendar:
            found["at"] = found["from"] + _timedelta(found["median"])
        return found

    def _date(self, whole, fraction):
        if not self._model.is_calendar:
            return whole + fraction
        import pandas as pd

        return pd.Timestamp(whole * 10**9 + round(fraction * 1e9), unit="ns", tz="UTC")

    def law(self, sequence):
        """The law of the next gap of a sequence."""
        return Law(self._handle(sequence))

    def forget(self, sequence):
        """Drops a sequence."""
        del self._of[sequence], self._origin[sequence]

    def __len__(self):
        return len(self._of)

    def __contains__(self, sequence):
        return sequence in self._of

    def __iter__(self):
        return iter(self._of)

    def save(self):
        """All histories as bytes, to go on in another process with `Live.restore`."""
        import pickle

        out = {}
        for sequence, handle in self._of.items():
            data, size = ffi.new("void **"), ffi.new("size_t *")
            with handle as pointer:
                call(lib.smurf_forecast_save, pointer, data, size)
            out[sequence] = (self._origin[sequence], bytes(ffi.buffer(data[0], size[0])))
            lib.smurf_free(data[0])
        return pickle.dumps((self._history, out))

    @classmethod
    def restore(cls, model, data):
        """Histories from such bytes, which must come from a source you trust (they are a pickle)."""
        import pickle

        history, saved = pickle.loads(data)
        live = cls(model, history)
        for sequence, (origin, state) in saved.items():
            handle = Lent(made("smurf_forecast", lib.smurf_forecast_restore, model._handle, state, len(state)), lib.smurf_forecast_free, model._handle)
            live._of[sequence], live._origin[sequence] = handle, origin
        return live

    def __repr__(self):
        return f"<smurf.Live {len(self):,} sequences>"


def _seconds(value, model):
    if not model.is_calendar:
        return float(value)
    out = moment(value)
    return out.whole + out.fraction


__all__ = ["Forecasts", "Live", "Log", "duration"]
