"""Moments and durations: from numbers, texts, and what pandas and numpy know, and back."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from smurf._lib import ArgumentError, call, encoded, ffi, lib, text

NS = 9  # decimals of a nanosecond
_FAR = 9e9  # seconds, beyond which nanoseconds overflow


def moment(value: Any) -> Any:
    """A smurf_moment from a number or a date."""
    if isinstance(value, ffi.CData):
        return value
    out = ffi.new("smurf_moment *")
    if isinstance(value, (int, float, np.integer, np.floating)):
        if not np.isfinite(value):
            raise ArgumentError(f"{value} is not a moment: give a number or a date")
        whole = int(np.floor(value))
        out.whole, out.fraction = whole, float(value - whole)
        return out
    import pandas as pd

    try:
        stamp = pd.Timestamp(value)
    except (ValueError, TypeError):
        stamp = pd.NaT
    if stamp is pd.NaT:
        raise ArgumentError(f"{value!r} is not a moment: give a number or a date")
    ns = (stamp.tz_convert("UTC") if stamp.tzinfo else stamp.tz_localize("UTC")).value
    out.whole, out.fraction = ns // 10**NS, ns % 10**NS * 1e-9
    return out


def instant(value: Any, is_calendar: bool) -> Any:
    """A moment as a Timestamp or a number."""
    if not is_calendar:
        return value.whole + value.fraction
    import pandas as pd

    return pd.Timestamp(value.whole * 10**NS + round(value.fraction * 1e9), unit="ns", tz="UTC")


def instants(whole: Any, fraction: Any, is_calendar: bool) -> Any:
    """Arrays of moments as a DatetimeIndex or as numbers."""
    if not is_calendar:
        return whole + fraction
    import pandas as pd

    return pd.to_datetime(whole * 10**NS + np.rint(fraction * 1e9).astype(np.int64), unit="ns", utc=True)


def timedelta(seconds: Any) -> Any:
    """Seconds as timedeltas, to the millisecond; NaT where they are beyond what nanoseconds hold."""
    import pandas as pd

    if np.ndim(seconds) == 0:
        return pd.Timedelta(round(seconds * 1000), unit="ms") if abs(seconds) < _FAR else pd.NaT
    near = np.abs(seconds) < _FAR  # not where they are NaN
    milliseconds = np.rint(np.where(near, seconds, 0) * 1000).astype(np.int64)
    return pd.TimedeltaIndex(np.where(near, milliseconds.astype("timedelta64[ms]"), np.timedelta64("NaT", "ms")).astype("timedelta64[ns]"))


def zone_of(tz: Any) -> Optional[str]:
    """The IANA name of a time zone; None where it has none."""
    name = getattr(tz, "key", None) or getattr(tz, "zone", None)
    return name if isinstance(name, str) and name != "UTC" else None


def duration(gap: float, unit: str) -> str:
    """A duration for people.

    >>> import smurf
    >>> smurf.duration(200, "s")
    '3.3 min'
    """
    out = ffi.new("char[]", lib.SMURF_DURATION_TEXT)
    return text(lib.smurf_duration_text(out, float(gap), encoded(unit)))


def in_unit(value: Any, unit: str) -> float:
    """A number in `unit` from a number, a text such as "1h30m", or a timedelta."""
    if isinstance(value, str):
        out = ffi.new("double *")
        call(lib.smurf_duration_parse, out, encoded(value), encoded(unit))
        return out[0]
    if hasattr(value, "total_seconds") or isinstance(value, np.timedelta64):
        import pandas as pd

        return in_unit(f"{pd.Timedelta(value).total_seconds()!r}s", unit)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{value!r} is not a duration: give a number, a text such as '1h30m', or a timedelta") from None
