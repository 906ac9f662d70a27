"""When will the next event come, of what type, and how sure can one be?

    import smurf
    log = smurf.read("tickets.csv")
    train, dev, test = log.split()
    model = smurf.fit(train, dev)
    model.evaluate(test)
    model.forecast(log).plot()
"""

from smurf._compare import Comparison, compare
from smurf._estimator import EventForecaster
from smurf._evaluate import Evaluation, metrics, samplers
from smurf._fit import fit, presets
from smurf._forecast import Forecasts
from smurf._law import Law, TrueLaw
from smurf._lib import ArgumentError, InputError, IOFailure, Remark, SmurfError, UnsupportedError, lib, text
from smurf._live import Live
from smurf._log import Log, from_arrays, from_dicts, from_pandas, read
from smurf._model import Model, law, load, settings
from smurf._process import Process, processes, simulate
from smurf._sql import from_sql
from smurf._times import duration

__version__ = text(lib.smurf_version())
__all__ = ["ArgumentError", "Comparison", "Evaluation", "EventForecaster", "Forecasts", "IOFailure", "InputError", "Law", "Live", "Log",
           "Model", "Process", "Remark", "SmurfError", "TrueLaw", "UnsupportedError", "compare", "duration", "fit", "from_arrays",
           "from_dicts", "from_pandas", "from_sql", "law", "load", "metrics", "presets", "processes", "read", "samplers", "settings",
           "simulate"]
