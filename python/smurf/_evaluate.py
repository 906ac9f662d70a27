"""Evaluations: what is measured, beside naive laws, as tables and pages."""

import numpy as np

from smurf._lib import NULL, Progress, call, config, encoded, ffi, lib, text


def metrics():
    """The metrics by name: {name: about}."""
    return {text(m.name): text(m.about) for m in _metrics()}


def _metrics():
    index = 0
    while (metric := lib.smurf_metric_at(index)) != NULL:
        yield metric
        index += 1


_ROWS = {"model": "SMURF_ROW_MODEL", "fixed": "SMURF_ROW_FIXED", "raw": "SMURF_ROW_RAW", "draws": "SMURF_ROW_SAMPLED", "recent": "SMURF_ROW_RECENT", "marginal": "SMURF_ROW_MARGINAL"}


class Evaluation:
    """Laws measured on a log: `df` has one row per law and one column per metric; `report` writes a page."""

    def __init__(self, handle, unit):
        self._handle = ffi.gc(handle, lib.smurf_evaluation_free)
        self.unit = unit

    def _row(self, row):
        out = lib.smurf_evaluation_row(self._handle, row, NULL, NULL)
        return None if out == NULL else out

    @property
    def df(self):
        """A DataFrame of all metrics, one row per law."""
        import pandas as pd

        rows = {name: self._row(getattr(lib, number)) for name, number in _ROWS.items()}
        found = {name: {text(m.name): lib.smurf_metric_value(row, m) for m in _metrics()} for name, row in rows.items() if row is not None}
        out = pd.DataFrame.from_dict(found, orient="index")
        out.insert(0, "n", [rows[name].n for name in found])
        return out

    def __getitem__(self, metric):
        """A metric of the model: evaluation["crps"]."""
        for m in _metrics():
            if text(m.name) == metric:
                return lib.smurf_metric_value(self._row(lib.SMURF_ROW_MODEL), m)
        raise KeyError(f"there is no metric {metric!r}; smurf.metrics() lists them")

    @property
    def coverage(self):
        """The share of gaps below each quantile of the model: a Series by level."""
        import pandas as pd

        row = self._row(lib.SMURF_ROW_MODEL)
        return pd.Series(list(row.coverage), index=np.round(list(lib.smurf_levels), 2), name="coverage")

    @property
    def markov(self):
        """Accuracy in percent of the most frequent successor of the last type; NaN without train."""
        return lib.smurf_evaluation_markov(self._handle)

    def report(self, path, figures=None):
        """Writes an HTML page with figures and the table. figures: a directory for them as SVG and PNG."""
        call(lib.smurf_evaluation_report, self._handle, encoded(path), encoded(figures))

    def plot(self, ax=None):
        """A picture of coverage: the share of gaps below each quantile."""
        from smurf._plot import coverage

        return coverage(self, ax)

    def _shown(self):
        return self.df[[name for name in ("cs", "cs_pit", "crps", "log_likelihood", "acc") if name in self.df]]

    def __repr__(self):
        return f"<smurf.Evaluation of {int(self.df['n'].iloc[0]):,} gaps>\n{self._shown().round(4)!r}"

    def _repr_html_(self):
        return self._shown().round(4).to_html()


def score_events(model, log, seed, threads, progress):
    import pandas as pd

    n = log.gaps
    names, kinds = log.sequences, model.types
    fields = ("gap", "pit", "p", "log_density", "type_share", "top_share")
    columns = {name: np.empty(n) for name in fields}
    whole = {name: np.empty(n, dtype=np.int64) for name in ("sequence", "event", "type", "top")}
    at = [0]

    def scored(_, e):
        i = at[0]
        for name in fields:
            columns[name][i] = getattr(e, name)
        for name in whole:
            whole[name][i] = getattr(e, name)
        at[0] = i + 1
        return 0

    c = config("smurf_eval_config")
    c.seed, c.threads = seed, threads
    with Progress(progress) as shown:
        c.progress = shown.callback
        call(lib.smurf_score, model._handle, log._handle, c, ffi.callback("smurf_scored_fn", scored, error=1), NULL)
    label = np.array([*kinds, None], dtype=object)
    return pd.DataFrame({"sequence": np.array(names, dtype=object)[whole["sequence"]] if n else [], "event": whole["event"], **columns,
                         "type": label[np.minimum(whole["type"], len(kinds))], "top": label[np.minimum(whole["top"], len(kinds))]})
