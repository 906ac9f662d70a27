"""Start-up time and size of the command, and memory of training.

    from startup import startup, section, misses
"""
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

PREDICT_MS, STRIPPED_MB, PEAK_MB = 30, 3, 300  # limits
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
    """Wall time and processor time of a command, in seconds, and its peak memory in MB."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: status {child.returncode}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def predict_times(smurf, model, history, times=20):
    """(wall time, processor time) in ms of that many forecasts, from the shell."""
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
    """data: the folder of data sets; training is skipped if StackOverflow's is missing."""
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
        f"`smurf predict` with a model of {result['model_bytes'] / 1e6:.1f} MB on one history, from the shell: {result['predict_ms']:.1f} ms of wall time (the median of",
        f"20; the best {result['predict_best_ms']:.1f}), {result['predict_processor_ms']:.1f} ms of processor time. The command takes {result['stripped_bytes'] / 1e6:.1f} MB, stripped.",
    ]
    if result["peak_mb"]:
        peaks = " and ".join(f"{peak:.0f} MB with the preset {preset}" for preset, peak in result["peak_mb"].items())
        lines += ["", f"An epoch of training on StackOverflow's data takes at most {peaks}, including data and evaluation on dev."]
    return lines


def misses(result):
    """Missed targets, as text. The best time counts: other times include other work of the machine."""
    checks = [
        (result["predict_best_ms"] < PREDICT_MS, f"a forecast from the shell takes {result['predict_best_ms']:.0f} ms, {PREDICT_MS} are allowed"),
        (result["stripped_bytes"] < STRIPPED_MB * 1e6, f"the command takes {result['stripped_bytes'] / 1e6:.1f} MB, {STRIPPED_MB} are allowed"),
        *[(peak < PEAK_MB, f"training with {preset} takes {peak:.0f} MB, {PEAK_MB} are allowed") for preset, peak in result["peak_mb"].items()],
    ]
    return [words for met, words in checks if not met]
