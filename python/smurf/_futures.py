"""Futures of many events, drawn from the law event by event, as one tidy table."""

from __future__ import annotations

from typing import Any

import numpy as np

from smurf._lib import Lent, Progress, call, config, ffi, lib, made
from smurf._times import in_unit, instants


def new_history(model: Any, history: int = 0) -> Lent:
    """A forecast handle, which keeps its model alive."""
    return Lent(made("smurf_forecast", lib.smurf_forecast_new, model._handle, history), lib.smurf_forecast_free, model._handle)


def history_of(model: Any, log: Any, index: int, events: Any = None, history: int = 0) -> Lent:
    """A forecast that has read the first `events` events of a sequence."""
    handle, s = new_history(model, history), lib.smurf_data_sequence(log._handle, index)
    with handle as pointer:
        call(lib.smurf_forecast_read, pointer, s, s.length if events is None else events)
    return handle


def sample_futures(model: Any, log: Any, chosen: list[int], *, until: Any, events: int, stop_at: int, silence: Any, paths: int, history: int,
                   recalibrate: bool, seed: int, threads: int, progress: bool) -> Any:
    import pandas as pd

    c = config("smurf_futures_config")
    c.paths, c.events, c.seed, c.threads, c.stop_at = paths, events, seed, threads, stop_at
    c.until = float("inf") if until is None else in_unit(until, model.unit)
    names = log.sequences
    parts: dict[str, list[np.ndarray]] = {name: [] for name in ("index", "path", "step", "gap", "since", "type")}
    with Progress(progress) as shown:
        c.progress = shown.callback
        for index in chosen:
            with history_of(model, log, index, history=history) as pointer:
                if silence is not None:
                    call(lib.smurf_forecast_silence, pointer, in_unit(silence, model.unit))
                lib.smurf_forecast_recalibrate(pointer, int(recalibrate))
                out = ffi.new("smurf_futures **")
                call(lib.smurf_forecast_futures, pointer, c, out)
            _add_paths(parts, ffi.gc(out[0], lib.smurf_futures_free), index)
    columns = {name: np.concatenate(part) if part else np.empty(0, np.int64) for name, part in parts.items()}
    origin, last = _ends(log, chosen)
    which = columns["index"]
    return pd.DataFrame({
        "sequence": pd.Series(np.array(names, dtype=object)[which] if len(which) else [], dtype=object).infer_objects(),
        "path": columns["path"], "step": columns["step"], "gap": columns["gap"],
        "time": instants(origin[which], last[which] + columns["since"], model.is_calendar),
        "type": pd.Categorical.from_codes(columns["type"].astype(np.int64), model.types),
    })


def _ends(log: Any, chosen: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Origin and last time of the chosen sequences, at their numbers."""
    origin, last = np.zeros(len(log), np.int64), np.zeros(len(log))
    for index in chosen:
        s = lib.smurf_data_sequence(log._handle, index)
        origin[index], last[index] = s.origin, s.time[s.length - 1] if s.length else 0
    return origin, last


def _add_paths(parts: dict[str, list[np.ndarray]], futures: Any, index: int) -> None:
    time, kind = ffi.new("const double **"), ffi.new("const uint32_t **")
    for path in range(lib.smurf_futures_paths(futures)):
        n = lib.smurf_futures_path(futures, path, time, kind)
        if n == 0:
            continue
        since = np.frombuffer(ffi.buffer(time[0], 8 * n)).copy()
        parts["index"].append(np.full(n, index))
        parts["path"].append(np.full(n, path))
        parts["step"].append(np.arange(1, n + 1))
        parts["gap"].append(np.diff(since, prepend=0))
        parts["since"].append(since)
        parts["type"].append(np.frombuffer(ffi.buffer(kind[0], 4 * n), np.uint32).astype(np.int64))
