"""Training."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Optional

from smurf._lib import NULL, ArgumentError, Progress, call, config, encoded, error, ffi, lib, listing, made, remark
from smurf._log import Log
from smurf._model import Model, settings
from smurf._times import in_unit


def presets() -> list[str]:
    """The names of the presets of `fit`.

    >>> import smurf
    >>> smurf.presets()[0]
    'default'
    """
    return listing(lib.smurf_preset_name)


def _text_of(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (list, tuple)):
        return ",".join(map(_text_of, value))
    return str(value)


def settings_of(preset: str, train: Log, given: dict[str, Any], who: str = "fit") -> tuple[Any, bool]:
    """The settings of a preset with those that are given, and whether the noise is to be chosen."""
    handle = ffi.gc(made("smurf_settings", lib.smurf_settings_new, encoded(preset), train._handle), lib.smurf_settings_free)
    known = settings()
    for name, value in given.items():
        if name not in known:
            import difflib

            near = difflib.get_close_matches(name, known, 1)
            raise TypeError(f"{who}() has no setting {name!r}" + (f"; did you mean {near[0]!r}?" if near else "; smurf.settings() lists them"))
        if (name, value) != ("sigma", "auto"):
            call(lib.smurf_settings_set, handle, encoded(name.replace("_", "-")), encoded(_text_of(value)))
    call(lib.smurf_settings_check, handle)
    return handle, given.get("sigma") == "auto" and bool(lib.smurf_train_has_noise(handle))


def _told(callback: Callable[[dict[str, Any]], Any], caught: list[BaseException]) -> Any:
    """A callback of the library for one of Python, which must not raise through C."""

    def told(_: Any, e: Any) -> int:
        try:
            return int(bool(callback({name: getattr(e, name) for name in _EPOCH} | {"best": bool(e.best)})))
        except BaseException as raised:
            caught.append(raised)
            return 1

    return ffi.callback("int(void *, const smurf_epoch *)", told, error=1)


_EPOCH = ("epoch", "train_loss", "dev_loss", "dev_time_loss", "dev_type_loss", "dev_accuracy", "rate", "seconds", "events_per_second")


def fit(train: Log, dev: Optional[Log] = None, *, preset: str = "default", path: Any = None, checkpoint: Any = None, resume: bool = False,
        save_every: Any = None, recalibrate: Optional[bool] = None, callback: Optional[Callable[[dict[str, Any]], Any]] = None,
        progress: bool = True, **given: Any) -> Model:
    """Trains a model: selects the epoch on dev, calibrates, and returns it. Ctrl-C returns the best so far.

    train, dev: Logs. Without dev, train is split 9:1.
    preset: one of `presets()`. "default" chooses the settings by looking at train.
    path: the best model so far is kept in this file.
    checkpoint: a file to resume from; resume: goes on with the run there, with the same logs. save_every: writes it within epochs, too,
    when the last one is this old ("10 min").
    recalibrate: sets two thirds of dev aside to calibrate on; by default where dev is large enough.
    callback: called after each epoch with a dict of its results; True stops.
    progress: shown on terminals and in notebooks; False: never.

    Settings, which replace those of the preset:

    >>> import smurf
    >>> log = smurf.simulate("exponential", sequences=20, events=20, mean=2.0, seed=3)
    >>> smurf.fit(log, epochs=1, width=16, threads=1)
    <smurf.Model 14,292 weights, 1 types>
    """
    asked: dict[str, Any] = {"preset": preset, "path": path, "checkpoint": checkpoint, "resume": resume, "save_every": save_every,
                             "recalibrate": recalibrate, "callback": callback, "progress": progress}
    model, stopped = trained(train, dev, given, **asked)
    if stopped:
        remark("stopped: this is the best model so far, not calibrated")
    return model


def trained(train: Any, dev: Any, given: dict[str, Any], *, preset: str = "default", path: Any = None, checkpoint: Any = None,
            resume: bool = False, save_every: Any = None, recalibrate: Optional[bool] = None, callback: Any = None,
            progress: bool = True) -> tuple[Model, bool]:
    """What fit does. Also whether it was stopped, by Ctrl-C or the callback, and the model is the best so far."""
    for what, log in (("train", train), ("dev", dev)):
        if not (isinstance(log, Log) or (what == "dev" and log is None)):
            raise ArgumentError(f"{what} is a {log.__class__.__name__}, not a smurf.Log: make one with smurf.read, from_pandas, from_arrays or "
                                "from_dicts")
    if dev is None and not resume:
        one = len(train) == 1  # which is cut in time, where the last part is test
        train, dev = train.split(9, 0, 1)[::2] if one else train.split(9, 1, 0)[:2]
    chosen, choose_sigma = settings_of(preset, train, given)
    c = config("smurf_fit_config")
    keep: list[Any] = []
    for field, value in (("model_path", path), ("resume_path", checkpoint), ("split", train._split)):
        if value is not None:
            keep.append(ffi.new("char[]", encoded(value)))
            setattr(c, field, keep[-1])
    c.recalibrate = -1 if recalibrate is None else int(recalibrate)
    c.choose_sigma, c.resume = int(choose_sigma), int(resume)
    c.save_every = 0 if save_every is None else in_unit(save_every, "s")
    caught: list[BaseException] = []
    if callback is not None:
        keep.append(_told(callback, caught))
        c.epoch = keep[-1]
    shown = Progress(progress)
    c.progress = shown.callback
    out, err = ffi.new("smurf_model **"), ffi.new("smurf_error *")
    status = lib.smurf_fit(out, chosen, train._handle, NULL if dev is None else dev._handle, c, err)
    shown.close()
    model = Model(out[0]) if out[0] != NULL else None
    raised = next(iter(caught), shown.caught)
    if raised is not None and not (model is not None and isinstance(raised, KeyboardInterrupt)):
        raise raised
    if model is None:
        raise error(status, err)
    return model, bool(status)


def _document() -> None:
    """Adds the library's settings to the signature and documentation of `fit`, where editors and help() look."""
    own = inspect.signature(fit)
    names = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=Any, default=...) for name in settings()]
    named = [p for p in own.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    fit.__signature__ = own.replace(parameters=named + names)  # type: ignore[attr-defined]
    about, mark = fit.__doc__ or "", "Settings, which replace those of the preset:\n"
    listed = "".join(f"\n    {name}: {text}" for name, text in settings().items())
    fit.__doc__ = about.replace(mark, mark + listed + "\n")


_document()
