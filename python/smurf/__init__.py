"""When will the next event come, of what type, and how sure can one be?

    import smurf
    log = smurf.read("tickets.csv")
    train, dev, test = log.split()
    model = smurf.fit(train, dev)
    model.evaluate(test)
    model.forecast(log).plot()
"""

from smurf._estimator import EventForecaster
from smurf._evaluate import Evaluation, metrics
from smurf._forecast import Forecasts, Live
from smurf._law import Law, TrueLaw
from smurf._lib import ArgumentError, InputError, IOFailure, Remark, SmurfError, UnsupportedError, lib, text
from smurf._log import Log, Process, duration, from_arrays, from_dicts, from_pandas, from_sql, processes, read, simulate
from smurf._model import Model, fit, law, load, presets, settings

__version__ = text(lib.smurf_version())
__all__ = ["ArgumentError", "Evaluation", "EventForecaster", "Forecasts", "IOFailure", "InputError", "Law", "Live", "Log", "Model",
           "Process", "Remark", "SmurfError", "TrueLaw", "UnsupportedError", "duration", "fit", "from_arrays", "from_dicts",
           "from_pandas", "from_sql", "law", "load", "metrics", "presets", "processes", "read", "settings", "simulate"]
