"""How soon the command answers, how large it is, and how much memory training takes.

    from startup import startup, section, misses
"""
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

PREDICT_MS, STRIPPED_MB, PEAK_MB = 30, 3, 300  # what is asked for
PRESETS = "default", "paper-stackoverflow"


def make_model(smurf, folder):
    """A model of about 1 MB, and a file with one history."""
    quiet = {"cwd": folder, "check": True, "stdout": subprocess.DEVNULL}
    subprocess.run([smurf, "simulate", "hawkes", "-n", "40", "--events", "50", "-q", "-o", "data/"], **quiet)
    subprocess.run([smurf, "train", "data/", "-o", "model", "--width", "96", "--layers", "3", "--epochs", "1",
                    "--threads", "1", "-q"], **quiet)
    folder = pathlib.Path(folder)
    with open(folder / "data" / "test.jsonl") as histories:
        (folder / "one.jsonl").write_text(histories.readline())
    return folder / "model", folder / "one.jsonl"


def measured(command):
    """Seconds by the clock, seconds of processor time, and the peak of memory in MB, of a command."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: status {child.returncode}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def predict_times(smurf, model, history, times=20):
    """(clock, processor time) in ms of as many forecasts, from the shell."""
    command = ["sh", "-c", 'exec "$0" predict "$1" "$2"', smurf, model, history]
    return [tuple(1000 * seconds for seconds in measured(command)[:2]) for _ in range(times)]


def stripped_size(smurf):
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(["strip", "-o", stripped.name, smurf], check=True)
        return os.path.getsize(stripped.name)


def training_peak(smurf, data, preset):
    with tempfile.TemporaryDirectory() as folder:
        return measured([smurf, "train", data, "-o", f"{folder}/model", "--preset", preset, "--epochs", "1", "-q"])[2]


def startup(build, data):
    """data: the folder of data sets; training on StackOverflow's is left out where it is not there."""
    smurf, events = pathlib.Path(build) / "smurf", pathlib.Path(data) / "stackoverflow"
    with tempfile.TemporaryDirectory() as folder:
        model, history = make_model(smurf, folder)
        clock, processor = zip(*predict_times(smurf, model, history))
        model_bytes = model.stat().st_size
    return {
        "model_bytes": model_bytes,
        "predict_ms": statistics.median(clock),
        "predict_best_ms": min(clock),
        "predict_processor_ms": statistics.median(processor),
        "stripped_bytes": stripped_size(smurf),
        "peak_mb": {preset: training_peak(smurf, events, preset) for preset in PRESETS if events.is_dir()},
    }


def section(result):
    """Lines of doc/performance.md."""
    lines = [
        "## Start-up, size and memory",
        "",
        f"`smurf predict` with a model of {result['model_bytes'] / 1e6:.1f} MB on one history, from the shell: {result['predict_ms']:.1f} ms by the clock (the median of",
        f"20; the best {result['predict_best_ms']:.1f}), {result['predict_processor_ms']:.1f} ms of processor time. The command takes {result['stripped_bytes'] / 1e6:.1f} MB, stripped.",
    ]
    if result["peak_mb"]:
        peaks = " and ".join(f"{peak:.0f} MB with the preset {preset}" for preset, peak in result["peak_mb"].items())
        lines += ["", f"An epoch of training on StackOverflow's data takes at most {peaks}, data and evaluation on dev included."]
    return lines


def misses(result):
    """Targets that were not met, in words. The best time counts: the others are also of what else the machine did."""
    checks = [
        (result["predict_best_ms"] < PREDICT_MS, f"a forecast from the shell takes {result['predict_best_ms']:.0f} ms, {PREDICT_MS} are allowed"),
        (result["stripped_bytes"] < STRIPPED_MB * 1e6, f"the command takes {result['stripped_bytes'] / 1e6:.1f} MB, {STRIPPED_MB} are allowed"),
        *[(peak < PEAK_MB, f"training with {preset} takes {peak:.0f} MB, {PEAK_MB} are allowed") for preset, peak in result["peak_mb"].items()],
    ]
    return [words for met, words in checks if not met]
