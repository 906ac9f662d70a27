"""Models: training, saving and loading, and what can be asked of them."""


import numpy as np

from smurf import _html
from smurf._evaluate import Evaluation, score_events
from smurf._forecast import Live, ask_many, history_of, sample_futures
from smurf._lib import NULL, ArgumentError, Progress, call, config, encoded, error, ffi, lib, listing, made, remark, text
from smurf._log import Log, _type_names


def settings():
    """What `fit` can be told about the model and its training: {name: about}, from the library's own table.

    >>> settings()["width"]
    'encoder width, an even number'
    """
    out, index = {}, 0
    while (name := text(lib.smurf_setting_name(index))) is not None:
        out[name.replace("-", "_")] = text(lib.smurf_setting_about(index))
        index += 1
    return out


def presets():
    """The names of the presets of `fit`."""
    return listing(lib.smurf_preset_name)


def _text_of(value):
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (list, tuple)):
        return ",".join(map(_text_of, value))
    return str(value)


def _settings(preset, train, given):
    handle = ffi.gc(made("smurf_settings", lib.smurf_settings_new, encoded(preset), train._handle), lib.smurf_settings_free)
    for name, value in given.items():
        if name not in (known := settings()):
            import difflib

            near = difflib.get_close_matches(name, known, 1)
            raise TypeError(f"fit() has no setting {name!r}" + (f"; did you mean {near[0]!r}?" if near else "; smurf.settings() lists them"))
        call(lib.smurf_settings_set, handle, encoded(name.replace("_", "-")), encoded(_text_of(value)))
    return handle


def fit(train, dev=None, *, preset="default", path=None, checkpoint=None, resume=False, recalibrate=None, choose_sigma=False,
        callback=None, progress=False, **given):
    """Trains a model: selects the epoch on dev, calibrates, and returns it. Ctrl-C returns the best so far.

    train, dev: Logs. Without dev, train is split 9:1. Settings are given by name (`settings()` lists them), such as epochs=20,
    width=32, threads=2, seed=7. checkpoint: a file to `resume` from. callback: called after each epoch with a dict; True stops.
    """
    if dev is None and not resume:
        train, dev, _ = train.split(9, 1, 0)
    chosen = _settings(preset, train, given)
    c = config("smurf_fit_config")
    keep = []
    if recalibrate is not None:
        c.recalibrate = int(recalibrate)
    c.choose_sigma = int(choose_sigma)
    for field, value in (("model_path", path), ("resume_path", checkpoint), ("split", train._split)):
        if value is not None:
            keep.append(ffi.new("char[]", encoded(value)))
            setattr(c, field, keep[-1])
    c.resume = int(resume)
    caught = []

    def told(_, epoch):
        try:
            return int(bool(callback({"epoch": epoch.epoch, "train_loss": epoch.train_loss, "dev_loss": epoch.dev_loss,
                                      "dev_accuracy": epoch.dev_accuracy, "seconds": epoch.seconds, "best": bool(epoch.best)})))
        except BaseException as raised:
            caught.append(raised)
            return 1

    if callback:
        keep.append(ffi.callback("int(void *, const smurf_epoch *)", told, error=1))
        c.epoch = keep[-1]
    shown = Progress(progress)
    c.progress = shown.callback
    out, err = ffi.new("smurf_model **"), ffi.new("smurf_error *")
    status = lib.smurf_fit(out, chosen, train._handle, dev._handle if dev is not None else NULL, c, err)
    if shown.bar:
        shown.bar.close()
    model = Model(out[0]) if out[0] != NULL else None
    raised = next(iter(caught), shown.caught)
    if raised and not (model and isinstance(raised, KeyboardInterrupt)):
        raise raised
    if status and not model:
        raise error(status, err)
    if status:
        remark("stopped: this is the best model so far, not calibrated")
    return model


def load(path):
    """Reads a model from a file written by `Model.save` or by the command."""
    return Model(made("smurf_model", lib.smurf_model_load, encoded(path)))


class Model:
    """A trained model. Using it does not change it; it may be used from several threads, and pickled."""

    def __init__(self, handle):
        self._handle = ffi.gc(handle, lib.smurf_model_free)

    @property
    def types(self):
        """The names of the types."""
        return _type_names(self._handle, lib.smurf_model_types, lib.smurf_model_type_name)

    @property
    def unit(self):
        """The unit of time; "" where unknown."""
        return text(lib.smurf_model_unit(self._handle))

    @property
    def is_calendar(self):
        """Whether times are dates."""
        return bool(lib.smurf_model_is_calendar(self._handle))

    @property
    def parameters(self):
        """The number of weights."""
        return lib.smurf_model_parameters(self._handle)

    @property
    def settings(self):
        """All settings, as text: {name: value}."""
        handle, out = lib.smurf_model_settings(self._handle), {}
        room = ffi.new("char[256]")
        for name in settings():
            call(lib.smurf_settings_get, handle, encoded(name.replace("_", "-")), room, 256)
            out[name] = text(room)
        return out

    @property
    def calibration(self):
        """How calibration went: a dict; None if there was none."""
        c = lib.smurf_model_calibration(self._handle)
        if c == NULL or c.gaps == 0:
            return None
        return {"gaps": c.gaps, "sequences": c.sequences, "recalibrated": bool(c.recalibrated), "cs_before": c.cs_before,
                "cs_after": c.cs_after, "crps_before": c.crps_before, "crps_after": c.crps_after, "cs_floor": c.cs_floor,
                "misses": bool(c.misses)}

    @property
    def pool(self):
        """The naive laws that its own are pooled with, with their weights and gains: a dict; None if there are none."""
        p = lib.smurf_model_pool(self._handle)
        if p == NULL:
            return None
        return {"law": text(p.law), "weight": p.weight, "gain": p.gain, "types": text(p.types), "type_weight": p.type_weight,
                "type_gain": p.type_gain}

    # ---- Files ----

    def save(self, path):
        """Writes the model, atomically."""
        call(lib.smurf_model_save, self._handle, encoded(path))

    def to_bytes(self):
        """The bytes of such a file."""
        out, size = ffi.new("void **"), ffi.new("size_t *")
        call(lib.smurf_model_save_memory, self._handle, out, size)
        try:
            return bytes(ffi.buffer(out[0], size[0]))
        finally:
            lib.smurf_free(out[0])

    @classmethod
    def from_bytes(cls, data):
        """A model from such bytes."""
        return cls(made("smurf_model", lib.smurf_model_load_memory, data, len(data), b"bytes"))

    def __reduce__(self):
        return Model.from_bytes, (self.to_bytes(),)

    # ---- Questions ----

    def match(self, log):
        """The log with its types numbered as in the model."""
        return Log(made_match(self._handle, log._handle))

    def forecast(self, log, *, levels=(0.5, 0.9), within=(), now=None, silence=None, next=None, conformal=False, every=0, top=3,
                 recalibrate=True, seed=1, paths=1000, steps=200, threads=0, progress=False):
        """The next event of every sequence: a Forecasts object, one row per sequence.

        levels: of the central intervals. within: horizons ("1h", numbers, timedeltas) to give the probability of. now: nothing has
        happened until this moment (or "now"). silence: nothing has happened for this long. next: also the time to the next event of
        this type. every: a forecast after every N-th event instead of at the end.
        """
        return ask_many(self, self.match(log), levels=levels, within=within, now=now, silence=silence, next=next, conformal=conformal,
                        every=every, top=top, recalibrate=recalibrate, seed=seed, paths=paths, steps=steps, threads=threads, progress=progress)

    def overdue(self, log, now=None, progress=False):
        """The sequences by how improbable their silence is, the least probable first: a DataFrame. now: default is the last event of
        the log."""
        from smurf._forecast import overdue

        return overdue(self, self.match(log), now, progress)

    def sample(self, log, *, until=None, events=0, paths=100, seed=1, threads=0, sequences=None, progress=False):
        """Futures drawn event by event: a DataFrame with columns sequence, path, step, gap, time and type."""
        if until is None and not events:
            raise ArgumentError("say how far: until=, events=, or both")
        return sample_futures(self, self.match(log), until=until, events=events, paths=paths, seed=seed, threads=threads, sequences=sequences,
                              progress=progress)

    def law(self, log, sequence=0, events=None):
        """The law of the gap after the first `events` events (default: all) of a sequence, given by name or number."""
        from smurf._law import Law

        matched = self.match(log)
        return Law(history_of(self, matched, matched_index(matched, sequence), events))

    def live(self, history=0):
        """Histories that grow event by event, one per sequence: a Live object."""
        return Live(self, history)

    def evaluate(self, log, train=None, *, sampler=None, draws=0, steps=0, bootstrap=0, recalibrate=True, seed=1, threads=0, progress=False):
        """How good the forecasts are on the scored gaps of a log: an Evaluation. train: adds the naive laws."""
        c = config("smurf_eval_config")
        keep = []
        if sampler:
            keep.append(ffi.new("char[]", encoded(sampler)))
            c.sampler = keep[-1]
        c.draws, c.steps, c.bootstrap, c.recalibrate, c.seed, c.threads = draws, steps, bootstrap, int(recalibrate), seed, threads
        c.examples = 6
        base = NULL if train is None else self.match(train)._handle
        with Progress(progress) as shown:
            c.progress = shown.callback
            return Evaluation(made("smurf_evaluation", lib.smurf_evaluate, self._handle, self.match(log)._handle, base, c), self.unit)

    def score(self, log, *, seed=1, threads=0, progress=False):
        """Every scored event with its gap, PIT, p-value, log density and the probability of its type: a DataFrame."""
        return score_events(self, self.match(log), seed, threads, progress)

    def __repr__(self):
        return f"<smurf.Model {self.parameters:,} weights, {len(self.types):,} types>"

    def _repr_html_(self):
        rows = [("weights", f"{self.parameters:,}"), ("types", ", ".join(self.types[:8]) + (" …" if len(self.types) > 8 else "")),
                ("objective", self.settings["objective"])]
        found = self.calibration
        if found:
            rows.append(("calibration", f"CS {found['cs_before']:.2f}% before, {found['cs_after']:.2f}% after, on {found['gaps']:,} gaps"))
        return _html.table("Model", rows)


def made_match(model, data):
    out = ffi.new("smurf_data **")
    call(lib.smurf_model_match, model, data, out)
    return out[0]


def matched_index(log, sequence):
    """The number of a sequence given by name or number."""
    names = log.sequences
    if sequence in names:
        return names.index(sequence)
    if isinstance(sequence, (int, np.integer)) and -len(names) <= sequence < len(names):
        return int(sequence) % len(names)
    raise KeyError(f"there is no sequence {sequence!r}")


def law(model, history, type=None):
    """The law after a history of times (and types, by name or number): for other people's code.

    Given (model, Log), the law at the end of its first sequence.
    """
    if isinstance(history, Log):
        return model.law(history)
    live = model.live()
    kinds = [0] * len(history) if type is None else type
    for when, kind in zip(history, kinds):
        live.append("", when, kind)
    return live.law("")


