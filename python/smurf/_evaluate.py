"""Evaluations: what is measured, beside naive laws, as tables and pages; scores of single events."""

from __future__ import annotations

from typing import Any, Iterator, Optional

import numpy as np

from smurf._lib import NULL, Progress, call, config, encoded, ffi, lib, listing, text
from smurf._times import instants


def metrics() -> dict[str, str]:
    """The metrics by name: {name: about}.

    >>> import smurf
    >>> smurf.metrics()["crps"]
    'continuous ranked probability score: mean error of the law, in the unit of time'
    """
    return {text(m.name): text(m.about) for m in _metrics()}


def samplers() -> list[str]:
    """The names of the samplers of `Model.evaluate`.

    >>> import smurf
    >>> smurf.samplers()[0]
    'exact'
    """
    return listing(lib.smurf_sampler_name)


def _metrics() -> Iterator[Any]:
    index = 0
    while (metric := lib.smurf_metric_at(index)) != NULL:
        yield metric
        index += 1


def eval_config(keep: list[Any], shown: Progress, *, sampler: Optional[str] = None, draws: int = 0, steps: int = 0,
                step_size: float = 0, denoise: bool = True, bootstrap: int = 0, recalibrate: bool = True, examples: int = 6,
                fast: bool = False, seed: int = 1, threads: int = 0) -> Any:
    """A smurf_eval_config; `keep` owns what it borrows."""
    c = config("smurf_eval_config")
    if sampler is not None:
        keep.append(ffi.new("char[]", encoded(sampler)))
        c.sampler = keep[-1]
    c.draws, c.steps, c.step, c.denoise, c.bootstrap = draws, steps, step_size, int(denoise), bootstrap
    c.recalibrate, c.examples, c.fast, c.seed, c.threads = int(recalibrate), examples, int(fast), seed, threads
    c.progress = shown.callback
    return c


ROWS = {"model": "SMURF_ROW_MODEL", "fixed": "SMURF_ROW_FIXED", "raw": "SMURF_ROW_RAW", "draws": "SMURF_ROW_SAMPLED", "recent": "SMURF_ROW_RECENT",
        "marginal": "SMURF_ROW_MARGINAL", "same hour": "SMURF_ROW_SAME_HOUR", "last 100": "SMURF_ROW_LAST"}


class Evaluation:
    """Laws measured on a log: `df` has one row per law and one column per metric; `report` writes a page.

    >>> import smurf
    >>> log = smurf.simulate("exponential", sequences=30, events=20, mean=2.0, seed=3)
    >>> train, dev, test = log.split()
    >>> e = smurf.fit(train, dev, epochs=1, threads=1).evaluate(test, train)
    >>> "recent" in e.df.index, e["crps"] == e.df.loc["model", "crps"]
    (True, True)
    """

    def __init__(self, handle: Any, unit: str) -> None:
        self._handle = ffi.gc(handle, lib.smurf_evaluation_free)
        self.unit = unit

    def _row(self, row: int, low: Any = NULL, high: Any = NULL) -> Any:
        out = lib.smurf_evaluation_row(self._handle, row, low, high)
        return None if out == NULL else out

    @property
    def df(self) -> Any:
        """A DataFrame of all metrics, one row per law."""
        import pandas as pd

        rows = {name: self._row(getattr(lib, number)) for name, number in ROWS.items()}
        found = {name: {text(m.name): lib.smurf_metric_value(row, m) for m in _metrics()} for name, row in rows.items() if row is not None}
        out = pd.DataFrame.from_dict(found, orient="index")
        out.insert(0, "n", [rows[name].n for name in found])
        return out

    def __getitem__(self, metric: str) -> float:
        """A metric of the model: evaluation["crps"]."""
        return lib.smurf_metric_value(self._row(lib.SMURF_ROW_MODEL), _metric(metric))

    def interval(self, metric: str) -> tuple[float, float]:
        """The 90% interval of a metric of the model, by resampling sequences: needs `bootstrap` when evaluating."""
        low, high = ffi.new("const smurf_metrics **"), ffi.new("const smurf_metrics **")
        self._row(lib.SMURF_ROW_MODEL, low, high)
        found = _metric(metric)
        return tuple(float("nan") if end[0] == NULL else lib.smurf_metric_value(end[0], found) for end in (low, high))  # type: ignore

    @property
    def coverage(self) -> Any:
        """The share of gaps below each quantile of the model: a Series by level."""
        import pandas as pd

        row = self._row(lib.SMURF_ROW_MODEL)
        return pd.Series(list(row.coverage), index=np.round(list(lib.smurf_levels), 2), name="coverage")

    @property
    def skill(self) -> Optional[dict[str, Any]]:
        """How much lower the model's CRPS is than that of the best naive law, in percent, with its 90% interval; None without train."""
        out = ffi.new("smurf_advantage *")
        if not lib.smurf_evaluation_advantage(self._handle, out):
            return None
        return {"naive": text(out.name), "value": out.value, "low": out.low, "high": out.high}

    @property
    def markov(self) -> float:
        """Accuracy in percent of the most frequent successor of the last type; NaN without train."""
        return lib.smurf_evaluation_markov(self._handle)

    @property
    def recency(self) -> float:
        """Accuracy in percent of the type that is most probable by how recently each occurred; NaN without train."""
        return lib.smurf_evaluation_recency(self._handle)

    def report(self, path: Any, figures: Any = None) -> None:
        """Writes an HTML page with figures and the table. figures: a directory for them as SVG and PNG."""
        call(lib.smurf_evaluation_report, self._handle, encoded(path), encoded(figures))

    def plot(self, ax: Any = None) -> Any:
        """A picture of coverage: the share of gaps below each quantile. Returns the axes of matplotlib."""
        from smurf._plot import coverage

        return coverage(self, ax)

    def _shown(self) -> Any:
        return self.df[[name for name in ("cs", "cs_pit", "crps", "log_likelihood", "acc") if name in self.df]]

    def __repr__(self) -> str:
        return f"<smurf.Evaluation of {self._row(lib.SMURF_ROW_MODEL).n:,} gaps>\n{self._shown().round(4)!r}"

    def _repr_html_(self) -> str:
        return self._shown().round(4).to_html()


def _metric(name: str) -> Any:
    for m in _metrics():
        if text(m.name) == name:
            return m
    raise KeyError(f"there is no metric {name!r}; smurf.metrics() lists them")


# ---- Single events ----


def _scored() -> np.dtype:
    """smurf_scored, as it lies in memory."""
    kinds = {"size_t": np.uintp, "double": np.float64, "uint32_t": np.uint32}
    fields = ffi.typeof("smurf_scored").fields
    layout: Any = {"names": [name for name, _ in fields], "offsets": [field.offset for _, field in fields],
                   "formats": [kinds[field.type.cname] for _, field in fields], "itemsize": ffi.sizeof("smurf_scored")}
    return np.dtype(layout)


def score_events(model: Any, log: Any, recalibrate: bool, seed: int, threads: int, progress: bool) -> Any:
    import pandas as pd

    n = log.gaps
    out = np.empty(n, dtype=_scored())
    with Progress(progress) as shown:
        c = eval_config([], shown, recalibrate=recalibrate, seed=seed, threads=threads)
        call(lib.smurf_score_all_sized, ffi.cast("smurf_scored *", ffi.from_buffer(out)), out.itemsize, model._handle, log._handle, c)
    label = np.array([*model.types, None], dtype=object)
    known = len(model.types)
    return pd.DataFrame({
        "sequence": pd.Series(np.array(log.sequences, dtype=object)[out["sequence"]], dtype=object).infer_objects(),
        "event": out["event"].astype(np.int64), "at": _times_of(log),
        "type": label[np.minimum(out["type"], known)],
        **{name: out[name].copy() for name in ("gap", "pit", "p", "log_density")}, "type_p": out["type_share"].copy(),
        "predicted": label[np.minimum(out["top"], known)], "predicted_p": out["top_share"].copy(),
    })


def _times_of(log: Any) -> Any:
    """When the scored events happened."""
    origin, since = [], []
    for s, time, _ in log._views():
        origin.append(np.full(max(s.length - s.first, 0), s.origin, dtype=np.int64))
        since.append(time[s.first:])
    return instants(np.concatenate(origin), np.concatenate(since), log.is_calendar)
