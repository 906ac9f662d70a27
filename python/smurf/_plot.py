"""Pictures, by matplotlib, which is imported only when one is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np


def _axes(ax: Any, **size: Any) -> Any:
    import matplotlib.pyplot as plt

    return ax if ax is not None else plt.subplots(**size)[1]


def forecasts(found: Any, ax: Any, most: int) -> Any:
    """Intervals and medians of the time to the next event, the soonest on top."""
    from smurf._forecast import level_name
    from smurf._lib import encoded, ffi, lib, text

    coming = found.df[np.isfinite(found.df["median"])]  # the others have probably ended
    df = coming.sort_values("median").head(most).iloc[::-1]
    levels = sorted(found.levels, reverse=True)
    ends = df[["median"] + [f"high{level_name(level)}" for level in levels]].to_numpy(dtype=float)
    df = df.replace(np.inf, 1.2 * ends[np.isfinite(ends)].max(initial=0))  # never: at the right edge
    size, unit = ffi.new("double *", 1.0), None
    if len(df):
        unit = text(lib.smurf_duration_unit(float(df["median"].median()), encoded(found.unit), size))
    ax = _axes(ax, figsize=(8, 1 + 0.28 * max(3, len(df))))
    y = np.arange(len(df))
    shades = ["#c6dbef", "#6baed6", "#2171b5"]
    for k, level in enumerate(levels):
        low, high = df[f"low{level_name(level)}"] / size[0], df[f"high{level_name(level)}"] / size[0]
        ax.barh(y, high - low, left=low, height=0.62, color=shades[min(k, 2)], label=f"{level_name(level)}%")
    ax.plot(df["median"] / size[0], y, "k|", markersize=9, label="median")
    ax.set_yticks(y, [str(name) for name in df["sequence"]])
    over = len(found.df) - len(coming)
    ax.set_xlabel(f"time to the next event, {unit or found.unit or 'in the unit of the log'}" + (f"; {over} more have probably ended" if over else ""))
    ax.set_ylim(-0.6, len(df) - 0.4)
    if len(df) and df["median"].min() > 0 and df["median"].max() > 50 * df["median"].min():
        ax.set_xscale("log")
    else:
        ax.set_xlim(left=0)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=len(levels) + 1, frameon=False)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def coverage(evaluation: Any, ax: Any) -> Any:
    """Coverage against level, with the band of chance."""
    share = evaluation.coverage
    n = evaluation.df["n"].iloc[0]
    ax = _axes(ax, figsize=(4.5, 4.5))
    level = share.index.to_numpy()
    band = 1.645 * np.sqrt(level * (1 - level) / n)
    ax.fill_between(level, level - band, level + band, color="#dddddd", label="90% by chance")
    ax.plot([0, 1], [0, 1], color="#767676", linewidth=0.8)
    ax.plot(level, share.to_numpy(), "o-", color="#2171b5", markersize=3, label="model")
    ax.set_xlabel("level of the quantile")
    ax.set_ylabel("share of gaps below it")
    ax.legend(frameon=False)
    return ax
