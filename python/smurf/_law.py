"""Laws of the next gap as objects: of a forecast, and the true ones of processes."""

import numpy as np

from smurf._lib import call, ffi, lib


def _each(function, handle, values):
    """A function of n numbers of the library, on an array of any shape."""
    x = np.ascontiguousarray(values, dtype=np.float64)
    out = np.empty_like(x)
    with handle as pointer:
        call(function, pointer, ffi.from_buffer("double[]", x), ffi.from_buffer("double[]", out, require_writable=True), x.size)
    return out if np.ndim(values) else float(out[0])


class Law:
    """The law of the gap from the last event of a history to the next, in the log's unit.

    It is a view of a forecast: an event that is appended to it changes the law.
    """

    def __init__(self, forecast):
        self._forecast = forecast

    def cdf(self, gap):
        """The probability that the next event comes within `gap`."""
        return _each(lib.smurf_forecast_cdf, self._forecast, gap)

    def quantile(self, level):
        """The gap that is exceeded with probability 1 - level."""
        return _each(lib.smurf_forecast_quantile, self._forecast, level)

    def pdf(self, gap):
        """The density at `gap`."""
        return _each(lib.smurf_forecast_density, self._forecast, gap)

    @property
    def median(self):
        return self.quantile(0.5)

    @property
    def mean(self):
        out = ffi.new("double *")
        with self._forecast as pointer:
            call(lib.smurf_forecast_mean, pointer, out)
        return out[0]

    def interval(self, level=0.9):
        """The central interval (low, high) of this probability."""
        low, high = self.quantile([(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)

    def sample(self, n=1, seed=1):
        """n gaps drawn from the law; a function of the seed."""
        out = np.empty(n)
        with self._forecast as pointer:
            call(lib.smurf_forecast_sample, pointer, seed, ffi.from_buffer("double[]", out, require_writable=True), n)
        return out

    def __repr__(self):
        low, high = self.interval()
        return f"<smurf.Law median {self.median:.4g}, 90% in {low:.4g} to {high:.4g}>"


class TrueLaw:
    """The true law of the next gap of a process.

    >>> import smurf
    >>> p = smurf.Process("exponential", mean=2.0)
    >>> round(p.law(p.simulate(sequences=1, events=3)).cdf(2.0), 4)
    0.6321
    """

    def __init__(self, handle):
        self._handle = ffi.gc(handle, lib.smurf_law_free)

    def _values(self, function, gap):
        x = np.ascontiguousarray(gap, dtype=np.float64)
        out = np.empty_like(x)
        function(self._handle, ffi.from_buffer("double[]", x), ffi.from_buffer("double[]", out, require_writable=True), x.size)
        return out if np.ndim(gap) else float(out[0])

    def cdf(self, gap):
        return self._values(lib.smurf_law_cdf, gap)

    def intensity(self, gap):
        """The hazard at `gap`."""
        return self._values(lib.smurf_law_intensity, gap)

    def pdf(self, gap):
        return self.intensity(gap) * (1 - self.cdf(gap))
