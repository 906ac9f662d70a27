"""Event logs: reading them from files, frames and arrays, splitting, describing, and getting them out again."""

import os

import numpy as np

from smurf import _html
from smurf._lib import NULL, ArgumentError, Progress, call, config, encoded, ffi, lib, made, remark, text

_NS = 9  # decimals of a nanosecond


class Log:
    """An event log: sequences of events, each with a time and a type. Immutable.

    Made by `read`, `from_pandas`, `from_arrays`, `from_dicts`, `from_sql` and `simulate`.

    >>> log = from_arrays([0.0, 1.0, 1.5, 0.0, 2.0], type=["a", "b", "a", "a", "b"], sequence=["x", "x", "x", "y", "y"])
    >>> len(log), log.events, log.types
    (2, 5, ['a', 'b'])
    """

    def __init__(self, handle, split=None):
        self._handle = ffi.gc(handle, lib.smurf_data_free)
        self._split = split  # how it was split off, for the model
        index = 0
        while (said := text(lib.smurf_data_remark(handle, index))) is not None:
            remark(f"{self.source}: {said}")
            index += 1

    # ---- What it holds ----

    def __len__(self):
        """The number of sequences."""
        return lib.smurf_data_sequences(self._handle)

    @property
    def events(self):
        """The number of events."""
        return lib.smurf_data_events(self._handle)

    @property
    def gaps(self):
        """The number of gaps that are scored."""
        return lib.smurf_data_gaps(self._handle)

    @property
    def types(self):
        """The names of the types, in the order of their numbers."""
        return _type_names(self._handle, lib.smurf_data_types, lib.smurf_data_type_name)

    @property
    def unit(self):
        """The unit of time; "" where unknown."""
        return text(lib.smurf_data_unit(self._handle))

    @property
    def is_calendar(self):
        """Whether times are dates (seconds since 1970)."""
        return bool(lib.smurf_data_is_calendar(self._handle))

    @property
    def source(self):
        """Where it came from, for messages."""
        return text(lib.smurf_data_source(self._handle))

    @property
    def reading(self):
        """What was taken from a table, in one line; None if there was no choice."""
        reading = lib.smurf_data_reading(self._handle)
        return None if reading == NULL else text(reading.text)

    @property
    def sequences(self):
        """The names of the sequences; where they have none, their numbers."""
        out = []
        for index in range(len(self)):
            name = text(lib.smurf_data_sequence(self._handle, index).name)
            out.append(index if name is None else name)
        return out

    def _views(self):
        """(sequence struct, times relative to its origin, type numbers) of each sequence, without copies."""
        for index in range(len(self)):
            s = lib.smurf_data_sequence(self._handle, index)
            n = s.length
            if n == 0:
                yield s, np.empty(0), np.empty(0, np.uint32)
                continue
            yield s, np.frombuffer(ffi.buffer(s.time, 8 * n)), np.frombuffer(ffi.buffer(s.type, 4 * n), np.uint32)

    # ---- Out ----

    def to_pandas(self):
        """A DataFrame with one row per event: sequence, time and type.

        >>> from_arrays([0.0, 1.0], type=["a", "b"]).to_pandas()
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

    def _clock(self, parts):
        """All times on the user's clock: datetime64 in UTC where they are dates."""
        if not self.is_calendar:
            return np.concatenate([s.origin + time for s, time, _ in parts]) if parts else np.empty(0)
        import pandas as pd

        ticks = [s.origin * 10**_NS + np.rint(time * 1e9).astype(np.int64) for s, time, _ in parts]
        return pd.DatetimeIndex(np.concatenate(ticks) if ticks else np.empty(0, np.int64)).tz_localize("UTC")

    def to_dicts(self):
        """A list with one dict per sequence, in the layout of EasyTPP and Hugging Face: time_since_start, time_since_last_event,
        type_event, dim_process, seq_len."""
        kinds = len(self.types)
        out = []
        for _, time, kind in self._views():
            since = (time - time[0] if len(time) else time).tolist()
            out.append({"dim_process": kinds, "seq_len": len(since), "time_since_start": since,
                        "time_since_last_event": [0.0, *np.diff(time).tolist()][:len(since)], "type_event": kind.tolist()})
        return out

    def write(self, path, format=None):
        """Writes a file; the format follows the suffix of the path unless it is given."""
        c = config("smurf_write_config")
        name = encoded(format)
        keep = ffi.new("char[]", name) if format else NULL
        c.format = keep
        call(lib.smurf_data_write, self._handle, encoded(path), c)

    # ---- Parts ----

    def split(self, train=8, dev=1, test=1, seed=1):
        """Deals whole sequences into (train, dev, test) with these shares. A single sequence is cut in time.

        >>> log = simulate("poisson", sequences=20, until=30, seed=1)
        >>> [len(part) for part in log.split()]
        [16, 2, 2]
        """
        out = ffi.new("smurf_split *")
        call(lib.smurf_split_by_share, out, self._handle, ffi.new("double[3]", [train, dev, test]), seed)
        return tuple(Log(part, split=f"{train}:{dev}:{test}") if part != NULL else None for part in (out.train, out.dev, out.test))

    def split_at(self, dev, test):
        """Cuts in time: train before `dev`, then dev, then test from `test` on, each with what came before as history. Times are
        numbers on the log's clock, or anything that pandas reads as a date."""
        out = ffi.new("smurf_split *")
        call(lib.smurf_split_by_time, out, self._handle, moment(dev)[0], moment(test)[0])
        return tuple(Log(part, split=f"at {dev},{test}") if part != NULL else None for part in (out.train, out.dev, out.test))

    def window(self, events, history=64):
        """Windows of so many scored events, each with up to `history` events before it that are not scored."""
        return Log(made("smurf_data", lib.smurf_data_window, self._handle, events, history))

    # ---- Description ----

    def info(self):
        """A dict of what the log holds: counts, quantiles of lengths and gaps, ties, the tick of the clock, warnings."""
        s = ffi.new("smurf_summary *")
        call(lib.smurf_data_summarise_sized, s, ffi.sizeof("smurf_summary"), self._handle, NULL)
        try:
            levels = [float(q) for q in lib.smurf_quantile_levels]
            return {
                "source": self.source, "columns": self.reading, "sequences": s.sequences, "events": s.events, "gaps": s.scored,
                "types": {name: s.type_count[k] for k, name in enumerate(self.types)},
                "unit": self.unit, "first": _instant(s.earliest, self.is_calendar), "last": _instant(s.latest, self.is_calendar),
                "tick": s.tick, "ties": s.ties, "gap_mean": s.gap_mean, "gap_sd": s.gap_sd,
                "gap": dict(zip(levels, s.gap)), "length": dict(zip(levels, s.length)),
                "warnings": [text(s.warning[k]) for k in range(s.warnings)],
            }
        finally:
            lib.smurf_summary_release_sized(s, ffi.sizeof("smurf_summary"))

    def __repr__(self):
        kinds = self.types
        return f"<smurf.Log {self.source}: {self.events:,} events of {len(kinds):,} types in {len(self):,} sequences>"

    def _repr_html_(self):
        found = self.info()
        few = sorted(found["types"].items(), key=lambda item: -item[1])[:8]
        rows = [("sequences", f"{found['sequences']:,}"), ("events", f"{found['events']:,}"),
                ("time", f"{found['first']} to {found['last']}"),
                ("gaps", f"median {duration(found['gap'][0.5], self.unit)}, mean {duration(found['gap_mean'], self.unit)}"),
                ("types", ", ".join(f"{name} {count:,}" for name, count in few) + (" …" if len(found["types"]) > len(few) else ""))]
        if found["columns"]:
            rows.insert(0, ("columns", found["columns"]))
        return _html.table(f"Log {self.source}", rows)


# ---- Times ----


def moment(value):
    """A smurf_moment from a number or a date."""
    out = ffi.new("smurf_moment *")
    if isinstance(value, (int, float, np.integer, np.floating)):
        whole = int(np.floor(value))
        out.whole, out.fraction = whole, float(value - whole)
        return out
    import pandas as pd

    stamp = pd.Timestamp(value)
    ns = (stamp.tz_convert("UTC") if stamp.tzinfo else stamp.tz_localize("UTC")).value
    out.whole, out.fraction = ns // 10**_NS, ns % 10**_NS * 1e-9
    return out


def _instant(value, is_calendar):
    """A moment as a Timestamp or a number."""
    if not is_calendar:
        return value.whole + value.fraction
    import pandas as pd

    return pd.Timestamp(value.whole * 10**_NS + round(value.fraction * 1e9), unit="ns", tz="UTC")


def duration(gap, unit):
    """A duration for people: "3.4 min".

    >>> duration(200, "s")
    '3.3 min'
    """
    out = ffi.new("char[]", lib.SMURF_DURATION_TEXT)
    return text(lib.smurf_duration_text(out, float(gap), encoded(unit)))


def in_unit(value, unit):
    """A number in `unit` from a number, a text such as "1h30m", or a timedelta."""
    if isinstance(value, str):
        out = ffi.new("double *")
        call(lib.smurf_duration_parse, out, encoded(value), encoded(unit))
        return out[0]
    if hasattr(value, "total_seconds") or isinstance(value, np.timedelta64):
        import pandas as pd

        return in_unit(f"{pd.Timedelta(value).total_seconds()!r}s", unit)
    return float(value)


def _type_names(handle, count, name):
    return [text(name(handle, k)) if name(handle, k) != NULL else str(k) for k in range(count(handle))]


# ---- In ----


def _read_config(keep, options, progress):
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


def read(path, *, sequence=None, time=None, type=None, time_format=None, timezone=None, missing=None, unit=None, format=None,
         key=None, events=None, sort=True, types_are_words=None, rare=None, like=None, progress=False, table=None, query=None):
    """Reads a log from a file, or three parts from a directory that holds train, dev and test.

    Columns and forms of time are found from the content; what is given here overrides. `like`: a Model, to read the file as its
    train data was read. `path` may be an SQLite file or the address of a PostgreSQL database, "postgresql://user@host/name";
    then `table` or `query` says what to read, and a table that is the only one need not be named.
    """
    keep = []
    options = {"sequence": sequence, "time": time, "type": type, "time_format": time_format, "timezone": timezone,
               "missing": missing, "unit": unit, "format": format, "key": key, "events": events, "sort": sort,
               "types_are_words": types_are_words, "rare": rare, "table": table, "query": query}
    with Progress(progress) as shown:
        c = _read_config(keep, options, shown)
        if like is not None:
            setattr(c, "as", lib.smurf_model_reading(like._handle))
        if os.path.isdir(path):
            parts = ffi.new("smurf_split *")
            call(lib.smurf_split_read, parts, encoded(path), c)
            return tuple(Log(part) if part != NULL else None for part in (parts.train, parts.dev, parts.test))
        return Log(made("smurf_data", lib.smurf_data_read, encoded(path), c))


def _codes(values):
    """(codes, names) of a column of types or sequences, in the order of the categories or of their first appearance."""
    import pandas as pd

    if isinstance(getattr(values, "dtype", None), pd.CategoricalDtype):
        column = pd.Categorical(values)
        return np.asarray(column.codes), [str(name) for name in column.categories]
    codes, names = pd.factorize(np.asarray(values, dtype=object) if isinstance(values, (list, tuple)) else values, sort=False)
    return codes, [str(name) for name in names]


def _times(keep, arrays, time):
    """Sets time or ticks from numbers, datetimes or anything that pandas reads as dates."""
    import pandas as pd

    if not isinstance(time, (np.ndarray, pd.Series, pd.Index)):
        time = pd.Series(time)
    if not (pd.api.types.is_numeric_dtype(time.dtype) or pd.api.types.is_datetime64_any_dtype(time.dtype)):
        try:
            time = pd.to_datetime(pd.Series(np.asarray(time)), utc=True)
        except (ValueError, TypeError) as raised:
            raise ArgumentError(f"time is neither numbers nor dates: {raised}") from raised
    if pd.api.types.is_datetime64_any_dtype(time.dtype):
        stamps = pd.DatetimeIndex(time)
        stamps = stamps.tz_convert("UTC").tz_localize(None) if stamps.tz is not None else stamps
        ticks = np.ascontiguousarray(stamps.values.astype("datetime64[ns]").astype(np.int64))
        keep.append(ticks)
        arrays.ticks = ffi.from_buffer("int64_t[]", ticks)
        arrays.places = _NS
        arrays.is_calendar = 1
        arrays.unit = _kept(keep, "s")
        return len(ticks)
    numbers = np.ascontiguousarray(time, dtype=np.float64)
    keep.append(numbers)
    arrays.time = ffi.from_buffer("double[]", numbers)
    return len(numbers)


def _kept(keep, value):
    keep.append(ffi.new("char[]", encoded(value)))
    return keep[-1]


def _names(keep, names):
    pointers = ffi.new("char *[]", [_kept(keep, name) for name in names])
    keep.append(pointers)
    return pointers


def from_arrays(time, type=None, sequence=None, *, types=None, unit=None, start=None, end=None, sort=True, name="arrays"):
    """A log from columns of equal length: times (numbers or datetimes), types and sequences (numbers, words or categories).

    types: names of types, if `type` holds their numbers. start, end: of observation, one per sequence in order of appearance.

    >>> from_arrays([3.0, 1.0, 2.0], type=["b", "a", "a"]).to_pandas()["type"].tolist()
    ['a', 'a', 'b']
    """
    keep = []
    arrays = config("smurf_arrays")
    arrays.events = _times(keep, arrays, time)
    if type is not None:
        codes, names = (np.asarray(type), types) if types is not None else _codes(type)
        _check_length("type", codes, arrays.events)
        if len(codes) and codes.min() < 0:
            raise ArgumentError(f"type is missing at position {int(np.argmin(codes))}: drop such rows, or give them a name of their own")
        keep.append(np.ascontiguousarray(codes, dtype=np.uint32))
        arrays.type = ffi.from_buffer("uint32_t[]", keep[-1])
        arrays.types = len(names)
        arrays.type_name = _names(keep, names)
    if sequence is not None:
        codes, names = _codes(sequence)
        _check_length("sequence", codes, arrays.events)
        if len(codes) and codes.min() < 0:
            raise ArgumentError(f"sequence is missing at position {int(np.argmin(codes))}: drop such rows, or give them a name")
        _, first = np.unique(codes, return_index=True)
        order = codes[np.sort(first)]  # the order in which they appear
        keep.append(np.ascontiguousarray(codes, dtype=np.int64))
        arrays.sequence = ffi.from_buffer("int64_t[]", keep[-1])
        arrays.sequences = len(order)
        arrays.sequence_name = _names(keep, [names[k] for k in order])
    for field, bound in (("start", start), ("end", end)):
        if bound is not None:
            _bounds(keep, arrays, field, bound)
    if unit is not None:
        arrays.unit = _kept(keep, unit)
    arrays.sort = int(sort)
    arrays.name = _kept(keep, name)
    return Log(made("smurf_data", lib.smurf_data_from_arrays, arrays))


def _bounds(keep, arrays, field, bound):
    if arrays.is_calendar:
        import pandas as pd

        ticks = np.ascontiguousarray(pd.to_datetime(pd.Series(bound), utc=True).dt.tz_localize(None).values.astype("datetime64[ns]").astype(np.int64))
        keep.append(ticks)
        setattr(arrays, field + "_ticks", ffi.from_buffer("int64_t[]", ticks))
    else:
        keep.append(np.ascontiguousarray(bound, dtype=np.float64))
        setattr(arrays, field, ffi.from_buffer("double[]", keep[-1]))


def _check_length(what, codes, events):
    if np.ndim(codes) != 1 or len(codes) != events:
        raise ArgumentError(f"{what} has shape {np.shape(codes)}, but there are {events} times: give one for each")


def from_pandas(df, time=None, type=None, sequence=None, *, unit=None, sort=True, name="DataFrame"):
    """A log from a DataFrame with one row per event.

    Columns that are not named are found as in files, from their names and content: datetimes are times; `case`, `user`, … are
    sequences; `event`, `type`, `activity`, … are types. "" means none.
    """
    for what, column in (("time", time), ("type", type), ("sequence", sequence)):
        if column not in (None, "") and column not in df.columns:
            raise ArgumentError(f"there is no column {column!r} for {what}; the columns are: {', '.join(map(str, df.columns))}")
    found = _roles(df, time, type, sequence)
    if found["time"] is None:
        raise ArgumentError(f"no column looks like times: say which one, as in time='when'; the columns are: {', '.join(map(str, df.columns))}")
    used = [column for column in found.values() if column is not None]
    missing = df[used].isna().any(axis=1)
    if missing.any():
        remark(f"{name}: {int(missing.sum())} of {len(df)} rows have an empty cell and are left out")
        df = df[~missing]
    return from_arrays(df[found["time"]], type=None if found["type"] is None else df[found["type"]],
                       sequence=None if found["sequence"] is None else df[found["sequence"]], unit=unit, sort=sort, name=name)


def _roles(df, time, type, sequence):
    """The columns as given; those not given, as the library finds them in a sample written as CSV."""
    given = {"time": time, "type": type, "sequence": sequence}
    if all(value is not None for value in given.values()):
        return {role: column or None for role, column in given.items()}
    sample = df.head(2000)
    sample = sample.dropna(subset=[column for column in df.columns if sample[column].notna().mean() > 0.5])
    keep = []
    c = config("smurf_read_config")
    for role, column in given.items():
        if column is not None:
            setattr(c, f"{role}_column", _kept(keep, column))
    body = sample.to_csv(index=False).encode()
    handle = ffi.gc(made("smurf_data", lib.smurf_data_read_memory, body, len(body), b"DataFrame", c), lib.smurf_data_free)
    reading = lib.smurf_data_reading(handle)
    by_name = {str(column): column for column in df.columns}
    return {role: by_name.get(text(getattr(reading, f"{role}_column"))) if column is None else column or None
            for role, column in given.items()}


def from_dicts(sequences, *, types=None, unit=None, name="dicts"):
    """A log from a list of dicts, one per sequence, in the layout of EasyTPP and Hugging Face: `time_since_start` (or
    `time_since_last_event`) and `type_event`, numbers from 0 to `dim_process` - 1.

    >>> log = from_dicts([{"time_since_start": [0, 1.5], "type_event": [0, 1], "dim_process": 2}])
    >>> len(log), log.events
    (1, 2)
    """
    times, kinds, ids, dim = [], [], [], 0
    for index, one in enumerate(sequences):
        since = one.get("time_since_start")
        since = np.cumsum(one["time_since_last_event"]) if since is None else since
        if len(since) != len(one["type_event"]):
            raise ArgumentError(f"sequence {index} has {len(since)} times and {len(one['type_event'])} types")
        times.append(np.asarray(since, dtype=np.float64))
        kinds.append(np.asarray(one["type_event"], dtype=np.int64))
        ids.append(np.full(len(since), index))
        dim = max(dim, int(one.get("dim_process", 0)), int(kinds[-1].max(initial=-1)) + 1)
    if not times:
        raise ArgumentError("there are no sequences")
    return from_arrays(np.concatenate(times), type=np.concatenate(kinds), sequence=np.concatenate(ids),
                       types=list(types) if types is not None else [str(k) for k in range(dim)], unit=unit, name=name)


def from_sql(query, connection, **columns):
    """A log from a query. connection: an SQLite file or the address of a PostgreSQL database, which the library reads itself, with
    further arguments as in `read`; or a connection of Python, of any kind that pandas.read_sql takes, with those of `from_pandas`.

    >>> import sqlite3
    >>> from_sql("select 1.5 as time union all select 2", sqlite3.connect(":memory:")).events
    2
    """
    if isinstance(connection, os.PathLike) or (isinstance(connection, str) and _is_ours(connection)):
        return read(connection, query=query, **columns)
    return from_pandas(_rows(query, connection), name="query", **columns)


def _is_ours(address):
    """Not an address of SQLAlchemy."""
    return "://" not in address or address.startswith(("postgresql://", "postgres://"))


def _rows(query, connection, most=100_000):
    """The rows of a query as a DataFrame; a connection of DB-API hands over `most` at a time."""
    import pandas as pd

    if not hasattr(connection, "cursor"):
        return pd.read_sql(query, connection)
    cursor, parts = connection.cursor(), []
    try:
        cursor.execute(query)
        names = [column[0] for column in cursor.description or ()]
        while rows := cursor.fetchmany(most):
            parts.append(pd.DataFrame.from_records(rows, columns=names, coerce_float=True))
    finally:
        cursor.close()
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=names)


def simulate(process="hawkes", types=1, *, sequences=100, until=0.0, events=0, seed=1, threads=0, **parameters):
    """A log from a known process: see `processes()` for names and parameters.

    >>> simulate("exponential", sequences=3, events=5, mean=2.0).events
    15
    """
    return Process(process, types, **parameters).simulate(sequences=sequences, until=until, events=events, seed=seed, threads=threads)


def processes():
    """The processes to simulate from: {name: (about, {parameter: about})}."""
    out, index = {}, 0
    while (name := text(lib.smurf_process_name(index))) is not None:
        found, k = {}, 0
        while (parameter := text(lib.smurf_process_parameter_name(index, k))) is not None:
            found[parameter] = text(lib.smurf_process_parameter_about(index, k))
            k += 1
        out[name] = (text(lib.smurf_process_about(index)), found)
        index += 1
    return out


class Process:
    """A process with a known law, to simulate from and to compare with.

    >>> p = Process("exponential", mean=2.0)
    >>> p.simulate(sequences=2, events=3, seed=7).events
    6
    """

    def __init__(self, name, types=1, **parameters):
        keep, given = [], ffi.new("smurf_parameter[]", max(1, len(parameters)))
        for k, (key, value) in enumerate(parameters.items()):
            values = np.ascontiguousarray(np.atleast_1d(np.asarray(value, dtype=np.float64)).ravel())
            keep.append(values)
            given[k].name = _kept(keep, key)
            given[k].values = ffi.from_buffer("double[]", values)
            given[k].count = len(values)
        self.name, self.types = name, types
        self._handle = ffi.gc(made("smurf_process", lib.smurf_process_new, encoded(name), types, given, len(parameters)), lib.smurf_process_free)

    def simulate(self, sequences=100, until=0.0, events=0, seed=1, threads=0):
        """Sequences from 0 to `until`, or of so many events."""
        c = config("smurf_simulate_config")
        c.sequences, c.until, c.max_events, c.seed, c.threads = sequences, until, events, seed, threads
        with Progress(False) as progress:
            c.progress = progress.callback
            return Log(made("smurf_data", lib.smurf_process_simulate, self._handle, c))

    def law(self, log, sequence=0, seen=None):
        """The true law of the gap after the first `seen` events (default: all) of a sequence of a log that it was simulated as."""
        from smurf._law import TrueLaw

        s = lib.smurf_data_sequence(log._handle, sequence)
        handle = made("smurf_law", lib.smurf_process_law, self._handle, s, s.length if seen is None else seen)
        return TrueLaw(handle)

    def __repr__(self):
        return f"<smurf.Process {self.name}>"
