"""Speed of matrix products next to other libraries: runs bench_products and makes its section of doc/performance.md.

    from products import benchmark, section, misses
"""
import json
import os
import subprocess

# The best kernels of Debian 12's OpenBLAS for each level of ours.
CORE = {"avx512": "SkylakeX", "avx2": "Haswell"}


def run(build, **environment):
    done = subprocess.run([build / "bench" / "bench_products"], check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})
    about, *rows = map(json.loads, done.stdout.splitlines())
    return {"core": about["openblas"], "rows": rows}


def benchmark(build):
    """As OpenBLAS chooses its kernels itself, and with the right ones."""
    own = run(build)
    level = next(name for name in ("avx512", "avx2", "neon", "plain") if name in own["rows"][0])
    right = run(build, OPENBLAS_CORETYPE=CORE[level]) if own["core"] and level in CORE else None
    return {"level": level, "own": own, "right": right}


def section(found):
    level, own, right = found["level"], found["own"], found["right"]
    lines = ["## Matrix products", "",
             "GFLOP/s on one thread, float, on the shapes of the presets: the project's kernels (src/op/gemm.c) for each kind of processor, and OpenBLAS", "of Debian 12 "
             + (f"with the kernels it chooses itself on this processor ({own['core']}) and with the right ones ({right['core']})." if right else "where it is installed."), ""]
    levels = [name for name in ("avx512", "avx2", "neon", "plain") if name in own["rows"][0]]
    others = [name for name in ("blis", "libxsmm") if any(name in row for row in own["rows"])]
    heads = [*levels, *({"blis": "BLIS", "libxsmm": "libxsmm"}[name] for name in others), *([f"OpenBLAS, {own['core']}", f"OpenBLAS, {right['core']}", f"{level} / the right OpenBLAS"] if right else [])]
    lines += ["| shape | m × n × k | " + " | ".join(heads) + " |", "|---|---|" + "--:|" * len(heads)]
    for i, row in enumerate(own["rows"]):
        cells = [f"{row[name]:.0f}" if name in row else "" for name in levels + others]
        if right:
            cells += [f"{row['openblas']:.0f}", f"{right['rows'][i]['openblas']:.0f}", f"{right['rows'][i][level] / right['rows'][i]['openblas']:.2f}"]
        lines.append(f"| {row['name']} | {row['m']} × {row['n']} × {row['k']} | " + " | ".join(cells) + " |")
    return lines


def misses(found):
    """Shapes of the default and StackOverflow's model on which OpenBLAS with the right kernels is faster by more than noise."""
    level, right = found["level"], found["right"]
    return [f"products: {row['name']}: {row[level]:.0f} GFLOP/s, OpenBLAS {row['openblas']:.0f}" for row in (right["rows"] if right else [])
            if row["name"].startswith(("StackOverflow", "default")) and row[level] < 0.95 * row["openblas"]]
