"""An estimator in the style of scikit-learn, which need not be installed.

X is a list of sequences, an array of shape (sequences, events) of times, or a Log. There is no y: what is predicted is the next
event of each sequence.
"""

import inspect

import numpy as np

from smurf._log import Log, from_arrays
from smurf._model import fit


def _log(X):
    if isinstance(X, Log):
        return X
    rows = [np.asarray(row, dtype=np.float64).ravel() for row in X]
    if not rows:
        raise ValueError("X has no sequences")
    return from_arrays(np.concatenate(rows), sequence=np.repeat(np.arange(len(rows)), [len(row) for row in rows]))


class EventForecaster:
    """fit(X) trains, predict(X) gives the median time to the next event, score(X) minus the mean CRPS (larger is better).

    >>> import smurf
    >>> log = smurf.simulate("exponential", sequences=20, events=20, seed=3)
    >>> EventForecaster(epochs=1, threads=1).fit(log).predict(log).shape
    (20,)
    """

    def __init__(self, preset="default", epochs=None, width=None, objective=None, seed=1, threads=0):
        self.preset, self.epochs, self.width, self.objective, self.seed, self.threads = preset, epochs, width, objective, seed, threads

    def get_params(self, deep=True):
        return {name: getattr(self, name) for name in list(inspect.signature(type(self).__init__).parameters)[1:]}

    def set_params(self, **params):
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"invalid parameter {name!r} of EventForecaster; valid ones are: {', '.join(known)}")
            setattr(self, name, value)
        return self

    def fit(self, X, y=None):
        given = {name: value for name in ("epochs", "width", "objective") if (value := getattr(self, name)) is not None}
        self.model_ = fit(_log(X), preset=self.preset, seed=self.seed, threads=self.threads, **given)
        return self

    def _fitted(self):
        if not hasattr(self, "model_"):
            try:
                from sklearn.exceptions import NotFittedError as kind
            except ImportError:
                kind = ValueError
            raise kind("this EventForecaster is not fitted yet: call fit first")
        return self.model_

    def predict(self, X):
        return self._fitted().forecast(_log(X), threads=self.threads).df["median"].to_numpy()

    def score(self, X, y=None):
        return -self._fitted().evaluate(_log(X), threads=self.threads)["crps"]

    def __repr__(self):
        default = {name: p.default for name, p in inspect.signature(type(self).__init__).parameters.items()}
        return f"EventForecaster({', '.join(f'{name}={value!r}' for name, value in self.get_params().items() if value != default[name])})"
