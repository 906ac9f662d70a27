"""Comparisons: several models on one data set, several seeds each, in one table with the naive laws."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional

import numpy as np

from smurf._evaluate import ROWS, _metrics, eval_config
from smurf._fit import presets, trained
from smurf._lib import NULL, ArgumentError, Progress, call, encoded, ffi, lib, made, text
from smurf._log import Log
from smurf._process import Process


class _Run:
    """A law measured once: the metrics of a model and seed, or of a law that needs no training."""

    def __init__(self, row: str, law: str, seed: Optional[int], metrics: Any) -> None:
        self.row, self.law, self.seed, self.metrics = row, law, seed, ffi.new("smurf_metrics *", metrics[0])

    @property
    def name(self) -> str:
        return f"{self.row}, {self.law}" if self.law else self.row


def _measured(handle: Any) -> Any:
    return ffi.gc(handle, lib.smurf_evaluation_free)


def _runs_of(name: str, seed: int, model: Any, test: Log, c: Any) -> list[_Run]:
    """The laws of a trained model: as trained and, where calibration made a map, recalibrated."""
    mapped = model.calibration is not None and model.calibration["recalibrated"]
    out = []
    for recalibrate, law in ((0, "raw"), (1, "recalibrated")) if mapped else ((1, ""),):
        c.recalibrate = recalibrate
        e = _measured(made("smurf_evaluation", lib.smurf_evaluate, model._handle, test._handle, NULL, c))
        out.append(_Run(name, law, seed, lib.smurf_evaluation_row(e, lib.SMURF_ROW_MODEL, NULL, NULL)))
    return out


def _parsed(spec: Any) -> tuple[str, dict[str, Any]]:
    """Preset and settings of "default:layers=1:epochs=5"."""
    preset, *given = spec.split(":")
    if preset not in presets():
        raise ArgumentError(f"unknown model {preset!r}: use one of {', '.join(presets())}")
    for each in given:
        if "=" not in each:
            raise ArgumentError(f"{each!r} is not a setting: write NAME=VALUE")
    return preset, {name.replace("-", "_"): value for name, _, value in (each.partition("=") for each in given)}


def compare(train: Log, dev: Optional[Log], test: Log, *, models: Any = None, seeds: int = 1, seed: int = 1, process: Optional[Process] = None,
            recalibrate: Optional[bool] = None, threads: int = 0, progress: bool = True, **settings: Any) -> Comparison:
    """Trains models with several seeds each and measures them on test, beside the naive laws: a Comparison.

    models: presets, each with optional settings, as in ["default", "default:layers=1", "thp"]; or a dict {name: settings}, where the
    setting "preset" says which. By default all models. seeds: runs per model, with seeds counting up from `seed`. process: that the logs
    were simulated from: adds its true law. Further arguments are settings of `fit` for all models.

    >>> import smurf
    >>> parts = smurf.simulate("exponential", sequences=30, events=20, mean=2.0, seed=3).split()
    >>> smurf.compare(*parts, models=["default"], epochs=1, threads=1).df.index.tolist()
    ['default', 'naive: recent', 'naive: marginal']
    """
    for what, log in (("train", train), ("test", test)):
        if not isinstance(log, Log):
            raise ArgumentError(f"{what} is a {log.__class__.__name__}, not a smurf.Log")
    if models is None:
        models = [name for name in presets() if "-" not in name]
    chosen: Mapping[str, Any] = models if isinstance(models, Mapping) else {name: _parsed(name) for name in _listed(models)}
    runs: list[_Run] = []
    for name, given in chosen.items():
        preset, own = given if isinstance(given, tuple) else (given.get("preset", "default"), {k: v for k, v in given.items() if k != "preset"})
        for k in range(seeds):
            all_given = {**settings, **own, "seed": seed + k, "threads": threads}
            model, stopped = trained(train, dev, all_given, preset=preset, recalibrate=recalibrate, progress=progress)
            if stopped:
                raise KeyboardInterrupt
            with Progress(progress) as shown:
                runs += _runs_of(name, seed + k, model, model.match(test), eval_config([], shown, fast=True, seed=seed, threads=threads, examples=0))
    with Progress(progress) as shown:
        c = eval_config([], shown, fast=True, seed=seed, threads=threads, examples=0)
        if process is not None:
            e = _measured(made("smurf_evaluation", lib.smurf_evaluate_process, process._handle, test._handle, NULL, c))
            runs.append(_Run("truth", "", None, lib.smurf_evaluation_row(e, lib.SMURF_ROW_MODEL, NULL, NULL)))
        naive = _measured(made("smurf_evaluation", lib.smurf_evaluate_naive, test._handle, train._handle, c))
    for law in ("recent", "marginal", "same hour", "last 100"):
        row = lib.smurf_evaluation_row(naive, getattr(lib, ROWS[law]), NULL, NULL)
        if row != NULL:
            runs.append(_Run(f"naive: {law}", "", None, row))
    several = len(train.types) > 1
    return Comparison(runs, test.source, test.unit, lib.smurf_evaluation_markov(naive) if several else float("nan"),
                      lib.smurf_evaluation_recency(naive) if several else float("nan"))


def _listed(models: Any) -> Iterable[str]:
    return models.split(",") if isinstance(models, str) else models


class Comparison:
    """Laws measured on the same gaps: `df` has means over seeds, `sd` their deviations, `runs` every run; `report` writes a page."""

    def __init__(self, runs: list[_Run], data: str, unit: str, markov: float, recency: float) -> None:
        self._runs, self.data, self.unit, self.markov, self.recency = runs, data, unit, markov, recency

    @property
    def runs(self) -> Any:
        """A DataFrame with one row per law and seed."""
        import pandas as pd

        return pd.DataFrame([{"model": run.name, "seed": run.seed, "n": run.metrics.n,
                              **{text(m.name): lib.smurf_metric_value(run.metrics, m) for m in _metrics()}} for run in self._runs])

    def _by_name(self) -> Any:
        return self.runs.groupby("model", sort=False)

    @property
    def df(self) -> Any:
        """A DataFrame of means over seeds, one row per law. skill: how much lower the CRPS is than that of recent gaps, in percent."""
        out = self._by_name().mean(numeric_only=True).drop(columns="seed", errors="ignore")
        out.insert(0, "runs", self._by_name().size())
        recent = out.loc["naive: recent", "crps"]
        return out.assign(skill=100 * (recent - out["crps"]) / recent)

    @property
    def sd(self) -> Any:
        """The deviations over seeds; NaN where there is one run."""
        return self._by_name().std(numeric_only=True).drop(columns=["seed", "n"], errors="ignore")

    def _struct(self, keep: list[Any]) -> Any:
        """A smurf_comparison for the library's page, with lengths in a readable unit."""
        order: dict[str, list[_Run]] = {}
        for run in self._runs:
            order.setdefault(run.name, []).append(run)
        recent = order["naive: recent"][0].metrics.crps
        size = ffi.new("double *", 1.0)
        readable = text(lib.smurf_duration_unit(recent, encoded(self.unit), size))
        rows = ffi.new("smurf_compared[]", len(order))
        for row, (name, runs) in zip(rows, order.items()):
            keep.append(ffi.new("char[]", encoded(name)))
            row.name, row.runs, row.reference = keep[-1], len(runs), int(runs[0].seed is None)
            row.mean, row.sd = _averaged([run.metrics for run in runs], size[0])
        keep += [rows, ffi.new("char[]", encoded(self.data)), ffi.new("char[]", encoded(readable or self.unit))]
        return ffi.new("smurf_comparison *", {
            "size": ffi.sizeof("smurf_comparison"), "data": keep[-2], "unit": keep[-1], "row": rows, "rows": len(order),
            "recent_crps": recent / size[0], "markov": self.markov, "recency": self.recency})

    @property
    def best(self) -> dict[str, str]:
        """The best law by each column of the table: {head: name}."""
        keep: list[Any] = []
        c, out, column = self._struct(keep), {}, 0
        while (metric := lib.smurf_comparison_column(column)) != NULL:
            for row in range(c.rows):
                if lib.smurf_comparison_mark(c, row, column) == lib.SMURF_MARK_BEST:
                    out[text(metric.head)] = text(c.row[row].name)
            column += 1
        return out

    def report(self, path: Any) -> None:
        """Writes an HTML page with the table, coverage and lengths of intervals over all levels."""
        keep: list[Any] = []
        call(lib.smurf_comparison_report, self._struct(keep), encoded(path))

    def _shown(self) -> Any:
        return self.df[["runs", "cs", "cs_pit", "crps", "skill", "log_likelihood", "acc"]].round(4)

    def __repr__(self) -> str:
        return f"<smurf.Comparison on {self.data}>\n{self._shown()!r}"

    def _repr_html_(self) -> str:
        return self._shown().to_html()


def _averaged(metrics: list[Any], per: float) -> tuple[Any, Any]:
    """Mean and sample deviation of smurf_metrics, with lengths of time divided by `per`."""
    mean, sd = ffi.new("smurf_metrics *", metrics[0][0]), ffi.new("smurf_metrics *", metrics[0][0])
    n, offsets = ffi.sizeof("smurf_metrics"), []
    for m in _metrics():
        offsets.append((m.offset, per if m.unit == lib.SMURF_METRIC_TIME else 1.0))
    for field, scale in (("coverage", 1.0), ("interval_length", per)):
        offsets += [(ffi.offsetof("smurf_metrics", field) + 8 * k, scale) for k in range(lib.SMURF_LEVELS)]
    values = np.array([[np.frombuffer(ffi.buffer(each, n), np.float64, 1, at)[0] / scale for at, scale in offsets] for each in metrics])
    for out, found in ((mean, values.mean(0)), (sd, values.std(0, ddof=1) if len(metrics) > 1 else np.full(len(offsets), np.nan))):
        for (at, _), value in zip(offsets, found):
            np.frombuffer(ffi.buffer(out, n), np.float64, 1, at)[0] = value
    return mean[0], sd[0]
