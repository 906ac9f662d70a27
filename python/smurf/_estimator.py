"""An estimator in the style of scikit-learn, which need not be installed.

X holds the times of events: an array of shape (sequences, events), a list of sequences of any lengths, or a Log. There is no y: what is
predicted is the next event of each sequence.
"""

from __future__ import annotations

import inspect
from typing import Any, Optional

import numpy as np

from smurf._fit import trained
from smurf._lib import ArgumentError
from smurf._log import Log, from_arrays


def _row(index: int, row: Any) -> np.ndarray:
    if np.iscomplexobj(row):
        raise ArgumentError("X has complex numbers. Complex data not supported")
    try:
        times = np.asarray(row, dtype=np.float64)
    except (TypeError, ValueError) as raised:
        raise type(raised)(f"sequence {index} of X holds what is not a number: {raised}") from None
    if times.ndim != 1:
        raise ArgumentError(f"sequence {index} of X has shape {times.shape}. Reshape your data: X is an array (sequences, events) of times, a "
                            "list of sequences, or a smurf.Log")
    if not np.isfinite(times).all():
        raise ArgumentError(f"sequence {index} of X contains NaN or infinity: times must be finite")
    return np.sort(times)


def _log(X: Any) -> Log:
    if isinstance(X, Log):
        return X
    if hasattr(X, "toarray"):
        raise TypeError("X is a sparse matrix: give an array, a list of sequences, or a smurf.Log")
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    rows = [_row(index, row) for index, row in enumerate(X)]
    if not rows:
        raise ArgumentError("X has 0 sample(s): it needs at least one sequence")
    if max(map(len, rows)) < 2:
        raise ArgumentError(f"X has {len(rows)} sample(s) and {max(map(len, rows))} feature(s) (shape={np.shape(X)}) while a minimum of 2 is "
                            "required: a sequence of one event has no gap")
    return from_arrays(np.concatenate(rows), sequence=np.repeat(np.arange(len(rows)), [len(row) for row in rows]), name="X")


class EventForecaster:
    """fit(X) trains, predict(X) gives the median time to the next event, score(X) minus the mean CRPS (larger is better).

    >>> import smurf
    >>> log = smurf.simulate("exponential", sequences=20, events=20, seed=3)
    >>> smurf.EventForecaster(epochs=1, threads=1).fit(log).predict(log).shape
    (20,)
    """

    def __init__(self, preset: str = "default", epochs: Optional[int] = None, width: Optional[int] = None, objective: Optional[str] = None,
                 settings: Optional[dict[str, Any]] = None, seed: int = 1, threads: int = 0) -> None:
        self.preset = preset
        self.epochs = epochs
        self.width = width
        self.objective = objective
        self.settings = settings
        self.seed = seed
        self.threads = threads

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in list(inspect.signature(type(self).__init__).parameters)[1:]}

    def set_params(self, **params: Any) -> EventForecaster:
        """Sets parameters by name."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"invalid parameter {name!r} of EventForecaster; valid ones are: {', '.join(known)}")
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: Any = None) -> EventForecaster:
        """Trains on the sequences of X."""
        given = {name: value for name in ("epochs", "width", "objective") if (value := getattr(self, name)) is not None}
        asked = {**(self.settings or {}), **given, "seed": self.seed, "threads": self.threads}
        self.model_, stopped = trained(_log(X), None, asked, preset=self.preset, progress=False)
        if stopped:  # by Ctrl-C: a search over many fits shall end
            raise KeyboardInterrupt
        return self

    def _fitted(self) -> Any:
        if not hasattr(self, "model_"):
            try:
                from sklearn.exceptions import NotFittedError as kind
            except ImportError:
                kind = ValueError
            raise kind("this EventForecaster is not fitted yet: call fit first")
        return self.model_

    def predict(self, X: Any) -> np.ndarray:
        """The median time from the last event of each sequence to the next."""
        return self._fitted().forecast(_log(X), threads=self.threads, progress=False).df["median"].to_numpy()

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean CRPS over the gaps of X."""
        return -self._fitted().evaluate(_log(X), threads=self.threads, progress=False)["crps"]

    def _more_tags(self) -> dict[str, Any]:
        """For scikit-learn: rows are sequences, so a fitted model takes any number of columns."""
        return {"no_validation": True, "requires_y": False, "X_types": ["2darray"]}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __repr__(self) -> str:
        default = {name: p.default for name, p in inspect.signature(type(self).__init__).parameters.items()}
        return f"EventForecaster({', '.join(f'{name}={value!r}' for name, value in self.get_params().items() if value != default[name])})"
