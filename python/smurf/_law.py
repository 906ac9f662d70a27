"""Laws of the next gap as objects: of a forecast, and the true ones of processes."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from smurf import _html
from smurf._lib import ArgumentError, call, ffi, lib
from smurf._times import duration


def _doubles(values: Any) -> np.ndarray:
    try:
        return np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"{values!r} is neither a number nor an array of numbers") from None


def _lent(array: np.ndarray) -> Any:
    return ffi.from_buffer("double[]", array, require_writable=True)


class _AnyLaw:
    """What all laws have. Functions take a number or an array of any shape, and return the like."""

    unit = ""

    def cdf(self, gap: Any) -> Any:
        """The probability that the next event comes within `gap`."""
        raise NotImplementedError

    def quantile(self, level: Any) -> Any:
        """The gap that the next event comes within with probability `level`."""
        raise NotImplementedError

    @property
    def median(self) -> float:
        """The gap that is as likely exceeded as not."""
        return float(self.quantile(0.5))

    @property
    def mean(self) -> float:
        """The expected gap."""
        raise NotImplementedError

    def interval(self, level: float = 0.9) -> tuple[float, float]:
        """The central interval (low, high) of this probability."""
        low, high = self.quantile([(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)

    def _shown(self) -> list[tuple[str, str]]:
        low, high = self.interval()
        return [("median", duration(self.median, self.unit)), ("90%", f"{duration(low, self.unit)} to {duration(high, self.unit)}")]

    def __repr__(self) -> str:
        return f"<smurf.{type(self).__name__} " + ", ".join(f"{name} {value}" for name, value in self._shown()) + ">"

    def _repr_html_(self) -> str:
        return _html.table("Law of the next gap", self._shown())


class Law(_AnyLaw):
    """The law of the gap from the last event of a history to the next, in the log's unit.

    It is a view of a forecast: an event that is appended to it changes the law.

    >>> import smurf
    >>> log = smurf.simulate("exponential", sequences=20, events=20, mean=2.0, seed=3)
    >>> law = smurf.fit(log, epochs=1, threads=1).law(log, 0)
    >>> round(law.cdf(law.quantile(0.25)), 6)
    0.25
    >>> law.sample(3, seed=1).shape
    (3,)
    """

    def __init__(self, forecast: Any, unit: str, types: list[str]) -> None:
        self._forecast, self.unit, self._types = forecast, unit, types

    def _each(self, function: Any, values: Any) -> Any:
        x = _doubles(values)
        out = np.empty_like(x)
        with self._forecast as pointer:
            call(function, pointer, ffi.from_buffer("double[]", x), _lent(out), x.size)
        return out if np.ndim(values) else float(out[0])

    def cdf(self, gap: Any) -> Any:
        """The probability that the next event comes within `gap`."""
        return self._each(lib.smurf_forecast_cdf, gap)

    def quantile(self, level: Any) -> Any:
        """The gap that the next event comes within with probability `level`."""
        return self._each(lib.smurf_forecast_quantile, level)

    def pdf(self, gap: Any) -> Any:
        """The density at `gap`."""
        return self._each(lib.smurf_forecast_density, gap)

    @property
    def mean(self) -> float:
        """The expected gap."""
        out = ffi.new("double *")
        with self._forecast as pointer:
            call(lib.smurf_forecast_mean, pointer, out)
        return out[0]

    def sample(self, n: int = 1, seed: int = 1) -> np.ndarray:
        """n gaps drawn from the law; a function of the seed."""
        out = np.empty(n)
        with self._forecast as pointer:
            call(lib.smurf_forecast_sample, pointer, seed, _lent(out), n)
        return out

    def types(self, after: Optional[float] = None) -> Any:
        """The probabilities of the types: a Series by name. after: given that the event comes after this gap."""
        import pandas as pd

        out = np.empty(len(self._types))
        with self._forecast as pointer:
            if after is None:
                call(lib.smurf_forecast_types, pointer, _lent(out))
            else:
                call(lib.smurf_forecast_types_at, pointer, float(after), _lent(out))
        return pd.Series(out, index=self._types, name="probability")

    def conformal(self, level: float = 0.9) -> tuple[float, float]:
        """The central conformal interval, which has its coverage whether or not the model is right; infinite where calibration had too
        few sequences."""
        out = ffi.new("double[2]")
        with self._forecast as pointer:
            call(lib.smurf_forecast_conformal, pointer, level, 2, out)
        return out[0], out[1]


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)


class TrueLaw(_AnyLaw):
    """The true law of the next gap of a process.

    >>> import smurf
    >>> p = smurf.Process("exponential", mean=2.0)
    >>> law = p.law(p.simulate(sequences=1, events=3))
    >>> round(law.cdf(2.0), 4), round(law.quantile(0.5), 4), round(law.mean, 6)
    (0.6321, 1.3863, 2.0)
    """

    def __init__(self, handle: Any) -> None:
        self._handle = ffi.gc(handle, lib.smurf_law_free)

    def _each(self, function: Any, values: Any) -> Any:
        x = _doubles(values)
        out = np.empty_like(x)
        function(self._handle, ffi.from_buffer("double[]", x), _lent(out), x.size)
        return out if np.ndim(values) else float(out[0])

    def cdf(self, gap: Any) -> Any:
        """The probability that the next event comes within `gap`."""
        return self._each(lib.smurf_law_cdf, gap)

    def intensity(self, gap: Any) -> Any:
        """The hazard at `gap`."""
        return self._each(lib.smurf_law_intensity, gap)

    def compensator(self, gap: Any) -> Any:
        """The integral of the hazard up to `gap`."""
        return self._each(lib.smurf_law_compensator, gap)

    def pdf(self, gap: Any) -> Any:
        """The density at `gap`: hazard times survival."""
        return self.intensity(gap) * np.exp(-self.compensator(gap))

    def quantile(self, level: Any) -> Any:
        """The gap that the next event comes within with probability `level`: compensator(gap) = -ln(1 - level), by bisection. Infinite
        where an event may never come."""
        p = _doubles(level)
        if not np.all((p >= 0) & (p <= 1)):
            raise ArgumentError("a level is not between 0 and 1")
        with np.errstate(divide="ignore"):
            wanted = -np.log1p(-p)
        low, high = np.zeros_like(p), np.ones_like(p)
        for _ in range(200):
            short = (self.compensator(high) < wanted) & (high < 1e300)
            if not short.any():
                break
            low, high = np.where(short, high, low), np.where(short, high * 64, high)
        never = self.compensator(high) < wanted
        for _ in range(100):
            middle = (low + high) / 2
            below = self.compensator(middle) < wanted
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        out = np.where(never | (p == 1), np.inf, high)
        return out if np.ndim(level) else float(out[0])

    @property
    def mean(self) -> float:
        """The expected gap: the integral of the survival function, by Gauss-Legendre between quantiles."""
        ends = self.quantile(np.concatenate([[0], 1 - np.logspace(-0.05, -15, 120)]))
        if not np.isfinite(ends).all():
            return float("inf")
        half = np.diff(ends) / 2
        points = (ends[:-1] + half)[:, None] + half[:, None] * _NODES
        return float(np.sum(half[:, None] * _WEIGHTS * np.exp(-self.compensator(points))))

    def sample(self, n: int = 1, seed: int = 1) -> np.ndarray:
        """n gaps drawn from the law; a function of the seed."""
        return self.quantile(np.random.default_rng(seed).random(n))
