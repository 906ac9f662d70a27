"""Columns of Python, numpy and pandas as the library takes them: times, types, sequences, bounds of observation.

`keep` owns what a struct of the library borrows.
"""

from __future__ import annotations

from typing import Any, Iterable, Sequence

import numpy as np

from smurf._lib import ArgumentError, encoded, ffi, lib
from smurf._times import zone_of


def codes_of(what: str, values: Any) -> tuple[np.ndarray, list[str]]:
    """(codes, names) of a column of types or sequences, in the order of the categories or of their first appearance. -1: missing."""
    import pandas as pd

    if isinstance(getattr(values, "dtype", None), pd.CategoricalDtype):
        column = values.values if isinstance(values, pd.Series) else pd.Categorical(values)
        return np.asarray(column.codes), [str(name) for name in column.categories]
    if isinstance(values, (list, tuple)):
        values = np.fromiter(values, dtype=object, count=len(values))
    if np.ndim(values) != 1:
        raise ArgumentError(f"{what} has shape {np.shape(values)}: give a column, with one value for each time")
    codes, names = pd.factorize(values, sort=False)
    return codes, [str(name) for name in names]


def set_times(keep: list[Any], arrays: Any, time: Any) -> int:
    """Sets time or ticks from numbers, datetimes or anything that pandas reads as dates. Returns how many there are."""
    import pandas as pd

    if not isinstance(time, (np.ndarray, pd.Series, pd.Index)):
        time = np.asarray(time, dtype=np.float64) if np.size(time) == 0 else pd.Series(time)
    if time.ndim != 1:
        raise ArgumentError(f"time has shape {time.shape}: give a column of times, with one for each event")
    if not (pd.api.types.is_numeric_dtype(time.dtype) or pd.api.types.is_datetime64_any_dtype(time.dtype)):
        try:
            time = pd.to_datetime(pd.Series(np.asarray(time)), utc=True)
        except (ValueError, TypeError) as raised:
            raise ArgumentError(f"time is neither numbers nor dates: {raised}") from raised
    if pd.api.types.is_datetime64_any_dtype(time.dtype):
        stamps = pd.DatetimeIndex(time)
        if (zone := zone_of(stamps.tz)) is not None:
            arrays.timezone = kept(keep, zone)
        ticks = ticks_of(stamps)
        keep.append(ticks)
        arrays.ticks = ffi.from_buffer("int64_t[]", ticks)
        arrays.places = 9
        arrays.is_calendar = 1
        arrays.unit = kept(keep, "s")
        return len(ticks)
    if np.iscomplexobj(time):
        raise ArgumentError("time holds complex numbers: give numbers or dates")
    masked = pd.api.types.is_extension_array_dtype(time.dtype)  # of pandas, where a number may be missing
    given = time.to_numpy(np.float64, na_value=np.nan) if masked else np.asarray(time)
    numbers = np.ascontiguousarray(given, dtype=np.float64)
    keep.append(numbers)
    if not np.may_share_memory(numbers, given) or not (given.flags.writeable or isinstance(given.base, np.ndarray)):
        arrays.release = ffi.addressof(lib, "smurf_free")  # lent: nobody else writes to them. Freeing NULL does nothing.
    arrays.time = ffi.from_buffer("double[]", numbers)
    return len(numbers)


def ticks_of(stamps: Any) -> np.ndarray:
    """Nanoseconds since 1970 of a DatetimeIndex, without a copy where it holds them."""
    stamps = stamps.tz_convert("UTC").tz_localize(None) if stamps.tz is not None else stamps
    return np.ascontiguousarray(stamps.values.astype("datetime64[ns]", copy=False)).view(np.int64)


def kept(keep: list[Any], value: Any) -> Any:
    keep.append(ffi.new("char[]", encoded(value)))
    return keep[-1]


def name_array(keep: list[Any], names: Iterable[Any]) -> Any:
    pointers = ffi.new("char *[]", [kept(keep, name) for name in names])
    keep.append(pointers)
    return pointers


def numbers_of(what: str, values: Any, types: Sequence[Any]) -> np.ndarray:
    """Numbers of types, for which names are given."""
    codes = np.asarray(values)
    if codes.dtype.kind not in "iub":
        raise ArgumentError(f"{what} holds {codes.dtype} values, but `types` names its numbers: give whole numbers from 0 to {len(types) - 1}")
    if codes.size and not (0 <= codes.min() and codes.max() < len(types)):
        wrong = codes.max() if codes.min() >= 0 else codes.min()
        raise ArgumentError(f"{what} has the number {wrong}, but `types` names {len(types)}: from 0 to {len(types) - 1}")
    return codes


def set_sequences(keep: list[Any], arrays: Any, sequence: Any) -> int:
    """Sets the sequences of events, by their ends where each lies in one piece. Returns how many there are."""
    import pandas as pd

    codes, names = codes_of("sequence", sequence)
    check("sequence", codes, arrays.events)
    numbers, order = pd.factorize(codes)  # in the order in which they appear
    if np.all(numbers[1:] >= numbers[:-1]):
        keep.append(np.searchsorted(numbers, np.arange(len(order) + 1)).astype(np.uintp))
        arrays.offset = ffi.from_buffer("size_t[]", keep[-1])
    else:
        keep.append(np.ascontiguousarray(numbers, dtype=np.int64))
        arrays.sequence = ffi.from_buffer("int64_t[]", keep[-1])
    arrays.sequences = len(order)
    arrays.sequence_name = name_array(keep, (names[k] for k in order))
    return len(order)


def set_bounds(keep: list[Any], arrays: Any, field: str, bound: Any, sequences: int) -> None:
    """Sets starts or ends of observation. One value stands for all sequences."""
    import pandas as pd

    values = [bound] * sequences if np.ndim(bound) == 0 else bound
    if np.shape(values) != (sequences,):
        raise ArgumentError(f"{field} has shape {np.shape(values)}, but there are {sequences} sequences: give one for each")
    if arrays.is_calendar:
        keep.append(ticks_of(pd.DatetimeIndex(pd.to_datetime(pd.Series(values), utc=True))))
        setattr(arrays, field + "_ticks", ffi.from_buffer("int64_t[]", keep[-1]))
    else:
        keep.append(np.ascontiguousarray(values, dtype=np.float64))
        setattr(arrays, field, ffi.from_buffer("double[]", keep[-1]))


def check(what: str, codes: Any, events: int) -> None:
    if np.ndim(codes) != 1 or len(codes) != events:
        raise ArgumentError(f"{what} has shape {np.shape(codes)}, but there are {events} times: give one for each")
    if len(codes) and codes.min() < 0:
        raise ArgumentError(f"{what} is missing at position {int(np.argmin(codes))}: drop such rows, or give them a name of their own")
