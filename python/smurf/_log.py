"""Event logs: reading them from files, frames and arrays, splitting, describing, and getting them out again."""

from __future__ import annotations

import os
from typing import Any, Iterator, Mapping, Optional, Sequence

import numpy as np

from smurf import _html
from smurf._columns import check, codes_of, kept, name_array, numbers_of, set_bounds, set_sequences, set_times
from smurf._lib import NULL, ArgumentError, Progress, call, config, encoded, ffi, lib, made, remark, text
from smurf._times import duration, instant, instants, moment


class Log:
    """An event log: sequences of events, each with a time and a type. Immutable; it may be used from several threads.

    Made by `read`, `from_pandas`, `from_arrays`, `from_dicts`, `from_sql` and `simulate`.

    >>> import smurf
    >>> log = smurf.from_arrays([0.0, 1.0, 1.5, 0.0, 2.0], type=["a", "b", "a", "a", "b"], sequence=["x", "x", "x", "y", "y"])
    >>> len(log), log.events, log.types
    (2, 5, ['a', 'b'])
    """

    def __init__(self, handle: Any, split: Optional[str] = None) -> None:
        self._handle = ffi.gc(handle, lib.smurf_data_free)
        self._split = split  # how it was split off, for the model
        self._lent: Any = None  # arrays that the library may use in place
        index = 0
        while (said := text(lib.smurf_data_remark(handle, index))) is not None:
            remark(f"{self.source}: {said}")
            index += 1

    # ---- What it holds ----

    def __len__(self) -> int:
        """The number of sequences."""
        return lib.smurf_data_sequences(self._handle)

    @property
    def events(self) -> int:
        """The number of events."""
        return lib.smurf_data_events(self._handle)

    @property
    def gaps(self) -> int:
        """The number of gaps that are scored."""
        return lib.smurf_data_gaps(self._handle)

    @property
    def types(self) -> list[str]:
        """The names of the types, in the order of their numbers."""
        return _type_names(self._handle, lib.smurf_data_types, lib.smurf_data_type_name)

    @property
    def unit(self) -> str:
        """The unit of time; "" where unknown."""
        return text(lib.smurf_data_unit(self._handle))

    @property
    def is_calendar(self) -> bool:
        """Whether times are dates (seconds since 1970)."""
        return bool(lib.smurf_data_is_calendar(self._handle))

    @property
    def source(self) -> str:
        """Where it came from, for messages."""
        return text(lib.smurf_data_source(self._handle))

    @property
    def reading(self) -> Optional[str]:
        """What was taken from a table, in one line; None if there was no choice."""
        reading = lib.smurf_data_reading(self._handle)
        return None if reading == NULL else text(reading.text)

    @property
    def features(self) -> list[Any]:
        """The names of the further columns that a model of this log sees."""
        return [text(lib.smurf_data_column_name(self._handle, k)) for k in range(lib.smurf_data_columns(self._handle))]

    @property
    def sequences(self) -> list[Any]:
        """The names of the sequences; where they have none, their numbers."""
        out = []
        for index in range(len(self)):
            name = text(lib.smurf_data_sequence(self._handle, index).name)
            out.append(index if name is None else name)
        return out

    def _views(self) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
        """(sequence struct, times relative to its origin, type numbers) of each sequence, without copies."""
        for index in range(len(self)):
            s = lib.smurf_data_sequence(self._handle, index)
            n = s.length
            if n == 0:
                yield s, np.empty(0), np.empty(0, np.uint32)
                continue
            yield s, np.frombuffer(ffi.buffer(s.time, 8 * n)), np.frombuffer(ffi.buffer(s.type, 4 * n), np.uint32)

    # ---- Out ----

    def to_pandas(self) -> Any:
        """A DataFrame with one row per event: sequence, time and type.

        >>> import smurf
        >>> smurf.from_arrays([0.0, 1.0], type=["a", "b"]).to_pandas()
           sequence  time type
        0         0   0.0    a
        1         0   1.0    b
        """
        import pandas as pd

        parts = list(self._views())
        lengths = [len(time) for _, time, _ in parts]
        codes = np.concatenate([kind for _, _, kind in parts]) if parts else np.empty(0, np.uint32)
        return pd.DataFrame({
            "sequence": pd.Series(np.repeat(np.array(self.sequences, dtype=object), lengths)).infer_objects(),
            "time": self._clock(parts),
            "type": pd.Categorical.from_codes(codes.astype(np.int64), self.types),
        })

    def _clock(self, parts: list[Any]) -> Any:
        """All times on the user's clock: in UTC where they are dates."""
        if not parts:
            return instants(np.empty(0, np.int64), np.empty(0), self.is_calendar)
        whole = np.repeat(np.array([s.origin for s, _, _ in parts], dtype=np.int64), [len(time) for _, time, _ in parts])
        return instants(whole, np.concatenate([time for _, time, _ in parts]), self.is_calendar)

    def to_dicts(self) -> list[dict[str, Any]]:
        """A list with one dict per sequence, in the layout of EasyTPP and Hugging Face: dim_process, seq_idx, seq_len,
        time_since_start, time_since_last_event, type_event.

        >>> import smurf
        >>> smurf.from_arrays([2.0, 3.5], type=["a", "b"]).to_dicts()[0]["time_since_last_event"]
        [0.0, 1.5]
        """
        kinds = len(self.types)
        out = []
        for index, (_, time, kind) in enumerate(self._views()):
            since = time - time[0] if len(time) else time
            out.append({"dim_process": kinds, "seq_idx": index, "seq_len": len(since), "time_since_start": since.tolist(),
                        "time_since_last_event": np.diff(since, prepend=since[:1]).tolist(), "type_event": kind.tolist()})
        return out

    def write(self, path: Any, format: Optional[str] = None, progress: bool = True) -> None:
        """Writes a file; the format follows the suffix of the path unless it is given."""
        c = config("smurf_write_config")
        c.format = keep = NULL if format is None else ffi.new("char[]", encoded(format))
        with Progress(progress) as shown:
            c.progress = shown.callback
            call(lib.smurf_data_write, self._handle, encoded(path), c)
        del keep

    def __reduce__(self) -> Any:
        raise TypeError("a smurf.Log cannot be pickled: write it to a file, or pass its to_pandas() on")

    # ---- Parts ----

    def split(self, train: float = 8, dev: float = 1, test: float = 1, seed: int = 1) -> tuple[Any, Any, Any]:
        """Deals whole sequences into (train, dev, test) with these shares. A single sequence is cut in time.

        >>> import smurf
        >>> log = smurf.simulate("poisson", sequences=20, until=30, seed=1)
        >>> [len(part) for part in log.split()]
        [16, 2, 2]
        """
        out = ffi.new("smurf_split *")
        call(lib.smurf_split_by_share, out, self._handle, ffi.new("double[3]", [train, dev, test]), seed)
        return _parts(out, f"shares {train:g}:{dev:g}:{test:g}")

    def split_at(self, dev: Any, test: Any) -> tuple[Any, Any, Any]:
        """Cuts in time: train before `dev`, then dev, then test from `test` on, each with what came before as history. Times are
        numbers on the log's clock, or anything that pandas reads as a date.

        >>> import smurf
        >>> log = smurf.from_arrays([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
        >>> [part.gaps for part in log.split_at(3, 5)]
        [2, 2, 1]
        """
        at = [moment(dev), moment(test)]
        out = ffi.new("smurf_split *")
        call(lib.smurf_split_by_time, out, self._handle, at[0][0], at[1][0])
        return _parts(out, "at " + ",".join(str(instant(each, self.is_calendar)).replace(" ", "T") for each in at))

    def window(self, events: int, history: int = 64) -> Log:
        """Windows of so many scored events, each with up to `history` events before it that are not scored."""
        return Log(made("smurf_data", lib.smurf_data_window, self._handle, events, history))

    def dither(self, tick: Optional[float] = None, seed: int = 1) -> Log:
        """Rounded gaps spread within the tick of the clock, which is found where it is not given."""
        found = lib.smurf_data_tick(self._handle) if tick is None else tick
        if not found > 0:
            raise ArgumentError("no clock tick found in the times: nothing to dither")
        return Log(made("smurf_data", lib.smurf_data_dither, self._handle, found, seed))

    # ---- Description ----

    @property
    def observed_until(self) -> Any:
        """Until when sequences without an end of their own were observed; None where that is not known."""
        until = ffi.new("smurf_moment *")
        return instant(until, self.is_calendar) if lib.smurf_data_observed(self._handle, until) else None

    def info(self) -> dict[str, Any]:
        """A dict of what the log holds: counts, quantiles of lengths and gaps, ties, the tick of the clock, warnings."""
        s = ffi.new("smurf_summary *")
        call(lib.smurf_data_summarise_sized, s, ffi.sizeof("smurf_summary"), self._handle, NULL)
        try:
            levels = [float(q) for q in lib.smurf_quantile_levels]
            return {
                "source": self.source, "columns": self.reading, "sequences": s.sequences, "events": s.events, "gaps": s.scored,
                "types": {name: s.type_count[k] for k, name in enumerate(self.types)},
                "unit": self.unit, "first": instant(s.earliest, self.is_calendar), "last": instant(s.latest, self.is_calendar),
                "observed_until": self.observed_until, "tick": s.tick, "ties": s.ties, "gap_mean": s.gap_mean, "gap_sd": s.gap_sd,
                "gap": dict(zip(levels, s.gap)), "length": dict(zip(levels, s.length)),
                "warnings": [text(s.warning[k]) for k in range(s.warnings)],
            }
        finally:
            lib.smurf_summary_release_sized(s, ffi.sizeof("smurf_summary"))

    def __repr__(self) -> str:
        kinds = self.types
        return f"<smurf.Log {self.source}: {self.events:,} events of {len(kinds):,} types in {len(self):,} sequences>"

    def _repr_html_(self) -> str:
        found = self.info()
        few = sorted(found["types"].items(), key=lambda item: -item[1])[:8]
        rows = [("sequences", f"{found['sequences']:,}"), ("events", f"{found['events']:,}"),
                ("time", f"{found['first']} to {found['last']}"),
                ("gaps", f"median {duration(found['gap'][0.5], self.unit)}, mean {duration(found['gap_mean'], self.unit)}"),
                ("types", ", ".join(f"{name} {count:,}" for name, count in few) + (" …" if len(found["types"]) > len(few) else ""))]
        if found["columns"]:
            rows.insert(0, ("columns", found["columns"]))
        return _html.table(f"Log {self.source}", rows)


def _parts(out: Any, note: Optional[str] = None) -> tuple[Any, Any, Any]:
    train, dev, test = (Log(part, split=note) if part != NULL else None for part in (out.train, out.dev, out.test))
    return train, dev, test


def _observed(logs: Sequence[Any], until: Any) -> None:
    """Sets until when new logs were observed, where they do not say, as the command does."""
    if until is False:
        return
    parts = ffi.new("smurf_split *")
    for name, log in zip(("train", "dev", "test"), logs):
        setattr(parts, name, NULL if log is None else log._handle)
    call(lib.smurf_split_observe, parts, NULL if until is None else moment(until))


def _type_names(handle: Any, count: Any, name: Any) -> list[str]:
    return [text(name(handle, k)) if name(handle, k) != NULL else str(k) for k in range(count(handle))]


# ---- In ----


def _read_config(keep: list[Any], options: Mapping[str, Any], progress: Progress) -> Any:
    c = config("smurf_read_config")
    names = {"sequence": "sequence_column", "time": "time_column", "type": "type_column", "events": "events_path"}
    for name, value in options.items():
        if value is None:
            continue
        field = names.get(name, name)
        if field in ("sort", "types_are_words", "rare"):
            setattr(c, field, int(value))
            continue
        keep.append(ffi.new("char[]", encoded(value if isinstance(value, (str, os.PathLike)) else ",".join(value))))
        setattr(c, field, keep[-1])
    c.progress = progress.callback
    return c


def read(path: Any, *, sequence: Optional[str] = None, time: Any = None, type: Optional[str] = None, time_format: Optional[str] = None,
         timezone: Optional[str] = None, missing: Optional[str] = None, unit: Optional[str] = None, format: Optional[str] = None,
         key: Optional[str] = None, events: Any = None, sort: bool = True, types_are_words: Optional[bool] = None,
         rare: Optional[int] = None, observed_until: Any = None, like: Any = None,
         table: Optional[str] = None, query: Optional[str] = None, features: Any = None, progress: bool = True) -> Any:
    """Reads a log from a file ("-": standard input), or three parts from a directory that holds train, dev and test,
    each one file or several (train-000.csv, train-001.csv, ...).

    Columns and forms of time are found from the content; what is given here overrides.

    sequence, time, type: names of columns (CSV) or fields (JSON); "": none. Several that make up the time are separated by commas.
    time_format: "number", "iso", "epoch-s" (-ms, -us, -ns), "excel", or a pattern of strptime.
    timezone: the IANA name of the zone of dates without an offset; UTC if not given.
    missing: rows with an empty cell: "drop" (the default), "keep" or "fail".
    format: by name, where the content does not tell. key: which list of sequences of a pickle or JSON file. events: the file of types
    of RMTPP text.
    sort: False refuses events that are out of order. types_are_words: numbers in the type column are names.
    rare: types with fewer events become "other", if there are more than 1000 types.
    observed_until: the end of observation, of sequences without one of their own; False: not known. By default that is the last event
    of a log with dates.
    table, query: of a database; `path` is then an SQLite file or the address of a PostgreSQL database, "postgresql://user@host/name". A
    table that is the only one need not be named.
    features: further columns that a model is to see: a list of names, "amount" or "zip=word", or "auto".
    like: a Model, to read the file as its train data was read.

    >>> import os, smurf, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "log.csv")
    ...     _ = open(path, "w").write("time,type\\n1,a\\n2.5,b\\n")
    ...     smurf.read(path).gaps
    1
    """
    keep: list[Any] = []
    options = {"sequence": sequence, "time": time, "type": type, "time_format": time_format, "timezone": timezone,
               "missing": missing, "unit": unit, "format": format, "key": key, "events": events, "sort": sort,
               "types_are_words": types_are_words, "rare": rare, "table": table, "query": query, "features": features}
    with Progress(progress) as shown:
        c = _read_config(keep, options, shown)
        if like is not None:
            setattr(c, "as", lib.smurf_model_reading(like._handle))
        if not os.path.isdir(path):
            log = Log(made("smurf_data", lib.smurf_data_read, encoded(path), c))
            _observed([log], observed_until)
            return log
        parts = ffi.new("smurf_split *")
        call(lib.smurf_split_read, parts, encoded(path), c)
    logs = _parts(parts)
    _observed(logs, observed_until)
    return logs


def from_arrays(time: Any, type: Any = None, sequence: Any = None, *, types: Optional[Sequence[Any]] = None, unit: Optional[str] = None,
                start: Any = None, end: Any = None, observed_until: Any = None, sort: bool = True, name: str = "arrays") -> Log:
    """A log from columns of equal length: times (numbers or datetimes), types and sequences (numbers, words or categories).

    Read-only arrays of times in order are used in place, others are copied.

    types: names of types, if `type` holds their numbers. start, end: of observation, one per sequence in order of appearance.
    observed_until: as for `read`.

    >>> import smurf
    >>> smurf.from_arrays([3.0, 1.0, 2.0], type=["b", "a", "a"]).to_pandas()["type"].tolist()
    ['a', 'a', 'b']
    """
    keep: list[Any] = []
    arrays = config("smurf_arrays")
    arrays.events = set_times(keep, arrays, time)
    if type is not None:
        codes, names = (numbers_of("type", type, types), list(types)) if types is not None else codes_of("type", type)
        check("type", codes, arrays.events)
        keep.append(np.array(codes, dtype=np.uint32))
        arrays.type = ffi.from_buffer("uint32_t[]", keep[-1])
        arrays.types = len(names)
        arrays.type_name = name_array(keep, names)
    sequences = 1 if sequence is None else set_sequences(keep, arrays, sequence)
    for field, bound in (("start", start), ("end", end)):
        if bound is not None:
            set_bounds(keep, arrays, field, bound, sequences)
    if unit is not None:
        arrays.unit = kept(keep, unit)
    arrays.sort = int(sort)
    arrays.name = kept(keep, name)
    log = Log(made("smurf_data", lib.smurf_data_from_arrays, arrays))
    log._lent = keep
    _observed([log], observed_until)
    return log


def from_pandas(df: Any, time: Any = None, type: Any = None, sequence: Any = None, *, unit: Optional[str] = None,
                observed_until: Any = None, sort: bool = True, name: str = "DataFrame") -> Log:
    """A log from a DataFrame with one row per event.

    Columns that are not named are found as in files, from their names and content: datetimes are times; `case`, `user`, … are
    sequences; `event`, `type`, `activity`, … are types. "" means none.

    >>> import smurf
    >>> import pandas as pd
    >>> df = pd.DataFrame({"user": ["ann", "bob", "ann"], "at": [1.0, 1.5, 2.0], "action": ["in", "in", "out"]})
    >>> smurf.from_pandas(df, time="at", type="action", sequence="user").sequences
    ['ann', 'bob']
    """
    import pandas as pd

    if not isinstance(df, pd.DataFrame):
        raise ArgumentError(f"from_pandas takes a DataFrame, not {df.__class__.__name__}: from_arrays takes columns, from_dicts a list of dicts")
    given = {"time": time, "type": type, "sequence": sequence}
    for what, column in given.items():
        if not (column is None or isinstance(column, str) and column == "") and column not in df.columns:
            raise ArgumentError(f"there is no column {column!r} for {what}; the columns are: {_columns(df)}")
    found = _roles(df, given)
    if found["time"] is None:
        raise ArgumentError(f"no column looks like times: say which one, as in time='when'; the columns are: {_columns(df)}")
    used = {role: df[column] for role, column in found.items() if column is not None}
    for role in ("type", "sequence"):
        if role in used:
            codes, names = codes_of(role, used[role])
            used[role] = pd.Series(pd.Categorical.from_codes(codes, pd.Index(names, dtype=object)) if len(set(names)) == len(names)
                                   else used[role].values)
    missing = np.zeros(len(df), dtype=bool)
    for column in used.values():
        missing |= column.cat.codes.to_numpy() < 0 if isinstance(column.dtype, pd.CategoricalDtype) else column.isna().to_numpy()
    if missing.any():
        remark(f"{name}: {int(missing.sum())} of {len(df)} rows have an empty cell and are left out")
        used = {role: column[~missing] for role, column in used.items()}
    return from_arrays(used["time"], type=used.get("type"), sequence=used.get("sequence"), unit=unit, observed_until=observed_until,
                       sort=sort, name=name)


def _columns(df: Any) -> str:
    return ", ".join(map(str, df.columns))


def _roles(df: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The columns as given; those not given, as the library finds them in a sample written as CSV. None: no such column."""
    chosen = {role: None if isinstance(column, str) and column == "" else column for role, column in given.items()}
    if all(column is not None for column in given.values()):
        return chosen
    sample = df.head(2000)
    sample = sample.dropna(subset=[column for column in df.columns if sample[column].notna().mean() > 0.5])
    keep: list[Any] = []
    c = config("smurf_read_config")
    for role, column in given.items():
        if column is not None:
            setattr(c, f"{role}_column", kept(keep, column))
    body = sample.to_csv(index=False).encode()
    handle = ffi.gc(made("smurf_data", lib.smurf_data_read_memory, body, len(body), b"DataFrame", c), lib.smurf_data_free)
    reading = lib.smurf_data_reading(handle)
    by_name = {str(column): column for column in df.columns}
    return {role: by_name.get(text(getattr(reading, f"{role}_column"))) if given[role] is None else column
            for role, column in chosen.items()}


def from_dicts(sequences: Any, *, types: Optional[Sequence[Any]] = None, unit: Optional[str] = None, name: str = "dicts") -> Log:
    """A log in the layout of EasyTPP and Hugging Face: one dict per sequence (or a dict of columns) with `time_since_start` (or
    `time_since_last_event`) and `type_event`, numbers from 0 to `dim_process` - 1.

    >>> import smurf
    >>> log = smurf.from_dicts([{"time_since_start": [0, 1.5], "type_event": [0, 1], "dim_process": 2}])
    >>> len(log), log.events
    (1, 2)
    """
    if isinstance(sequences, Mapping):  # of columns
        sequences = [dict(zip(sequences, row)) for row in zip(*sequences.values())]
    times, kinds, dim = [], [], 0
    for index, one in enumerate(sequences):
        if not isinstance(one, Mapping):
            raise ArgumentError(f"sequence {index} is a {one.__class__.__name__}: give dicts with time_since_start and type_event")
        if "type_event" not in one or not ("time_since_start" in one or "time_since_last_event" in one):
            raise ArgumentError(f"sequence {index} has the keys {', '.join(map(str, one))}: it needs time_since_start (or "
                                "time_since_last_event) and type_event")
        since = one["time_since_start"] if "time_since_start" in one else np.cumsum(one["time_since_last_event"])
        if len(since) != len(one["type_event"]):
            raise ArgumentError(f"sequence {index} has {len(since)} times and {len(one['type_event'])} types")
        times.append(np.asarray(since, dtype=np.float64))
        kinds.append(np.asarray(one["type_event"], dtype=np.int64))
        dim = max(dim, int(one.get("dim_process", 0)), int(kinds[-1].max(initial=-1)) + 1)
    if not times:
        raise ArgumentError("there are no sequences")
    return from_arrays(np.concatenate(times), type=np.concatenate(kinds), sequence=np.repeat(np.arange(len(times)), [len(t) for t in times]),
                       types=list(types) if types is not None else [str(k) for k in range(dim)], unit=unit, name=name)
