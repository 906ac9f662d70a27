#!/usr/bin/env python3
"""Makes the files of expected values in this folder: make.py [FOLDER]

Plain Python with mathematics of its own: the models are written out number by number as in doc/method.md; gradients come
from a tape of all operations (reverse mode), derivatives in the gap from power series, integrals from the tanh-sinh
rule. Nothing is shared with the C code, which has closed forms, Gauss-Legendre nodes and vector functions instead.
test/golden.c reads the files.
"""
import json
import math
import os
import random
import sys

# ---- Reverse mode ------------------------------------------------------------------------------------


class Var:
    """A number that remembers what it was made of: pairs of a Var and the derivative by it."""
    __slots__ = ("value", "made_of", "slope")

    def __init__(self, value, made_of=()):
        self.value, self.made_of, self.slope = value, made_of, 0.0
        if made_of:
            TAPE.append(self)

    def __add__(self, other):
        if isinstance(other, Var):
            return Var(self.value + other.value, ((self, 1.0), (other, 1.0)))
        return Var(self.value + other, ((self, 1.0),))

    def __mul__(self, other):
        if isinstance(other, Var):
            return Var(self.value * other.value, ((self, other.value), (other, self.value)))
        return Var(self.value * other, ((self, other),))

    def __truediv__(self, other):
        return self * (other ** -1 if isinstance(other, Var) else 1 / other)

    def __pow__(self, p):
        return Var(self.value ** p, ((self, p * self.value ** (p - 1)),))

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    __radd__, __rmul__ = __add__, __mul__


TAPE = []  # every Var that was computed, in order


def gradient(of, by):
    """Derivatives of a Var by the Vars of a list."""
    for var in TAPE + by:
        var.slope = 0.0
    of.slope = 1.0
    for var in reversed(TAPE):
        if var.slope:
            for part, derivative in var.made_of:
                part.slope += derivative * var.slope
    return [var.slope for var in by]


def exp(x):
    e = math.exp(x.value)
    return Var(e, ((x, e),))


def log(x):
    return Var(math.log(x.value), ((x, 1 / x.value),))


def tanh(x):
    t = math.tanh(x.value)
    return Var(t, ((x, 1 - t * t),))


def logistic(x):
    return 0.5 * tanh(0.5 * x) + 0.5


def softplus(x):
    v = x.value
    value = max(v, 0) + math.log1p(math.exp(-abs(v)))
    return Var(value, ((x, 0.5 * (1 + math.tanh(v / 2))),))


def gelu(x):
    v = x.value
    below = 0.5 * math.erfc(-v / math.sqrt(2))
    return Var(v * below, ((x, below + v * math.exp(-v * v / 2) / math.sqrt(2 * math.pi)),))


def dot(a, b):
    return Var(math.fsum(x.value * y.value for x, y in zip(a, b)),
               tuple((x, y.value) for x, y in zip(a, b)) + tuple((y, x.value) for x, y in zip(a, b)))


def total(values):
    return Var(math.fsum(x.value for x in values), tuple((x, 1.0) for x in values))


def constant(x):
    """The value alone: nothing is learned through it."""
    return Var(x.value)


def log_sum_exp(values):
    most = max(x.value for x in values)
    return log(total([exp(x - most) for x in values])) + most


# ---- The encoder -------------------------------------------------------------------------------------


class Tensor:
    """Rows of Vars under a name."""

    def __init__(self, shape, draw):
        self.shape = shape
        rows, columns = (shape[0], shape[1]) if len(shape) == 2 else (1, shape[0] if shape else 1)
        self.rows = [[Var(draw()) for _ in range(columns)] for _ in range(rows)]
        self.flat = [x for row in self.rows for x in row]

    def json(self):
        return {"shape": list(self.shape), "data": [x.value for x in self.flat]}


def linear(weight, x, bias=None):
    y = [dot(row, x) for row in weight.rows]
    return [a + b for a, b in zip(y, bias.flat)] if bias else y


def layer_norm(x, gain, bias):
    centred = [v - total(x) / len(x) for v in x]
    scale = (dot(centred, centred) / len(x) + 1e-6) ** -0.5
    return [v * scale * g + b for v, g, b in zip(centred, gain.flat, bias.flat)]


def temporal(t, width):
    phase = [t / 10000 ** (2 * (i // 2) / width) for i in range(width)]
    return [math.cos(p) if i % 2 else math.sin(p) for i, p in enumerate(phase)]


def attention(p, config, rows):
    wide, heads = config["d_k"], config["n_head"]
    query, key, value = ([linear(p[name], x) for x in rows] for name in ("w_qs.weight", "w_ks.weight", "w_vs.weight"))
    out = []
    for i in range(len(rows)):
        joined = []
        for h in range(heads):
            own = slice(h * wide, (h + 1) * wide)
            logit = [dot(query[i][own], key[j][own]) / math.sqrt(wide) for j in range(i + 1)]
            norm = log_sum_exp(logit)
            weight = [exp(x - norm) for x in logit]
            joined += [dot(weight, [value[j][own][c] for j in range(i + 1)]) for c in range(wide)]
        out.append(linear(p["fc.weight"], joined, p["fc.bias"]))
    return out


def encode(params, config, sequence):
    """The hidden state after each event."""
    def part(prefix):
        return {name[len(prefix):]: tensor for name, tensor in params.items() if name.startswith(prefix)}

    width = config["d_model"]
    clock = [temporal(t, width) for t in sequence["time"]]
    rows = [params["encoder.event_emb.weight"].rows[k + 1] for k in sequence["type"]]
    for layer in range(config["n_layers"]):
        a = part(f"encoder.layer_stack.{layer}.slf_attn.")
        f = part(f"encoder.layer_stack.{layer}.pos_ffn.")
        rows = [[x + z for x, z in zip(row, zs)] for row, zs in zip(rows, clock)]
        rows = [layer_norm([x + y for x, y in zip(row, more)], a["layer_norm.weight"], a["layer_norm.bias"])
                for row, more in zip(rows, attention(a, config, rows))]
        inner = [[gelu(x) for x in linear(f["w_1.weight"], row, f["w_1.bias"])] for row in rows]
        rows = [layer_norm([x + y for x, y in zip(row, linear(f["w_2.weight"], more, f["w_2.bias"]))],
                           f["layer_norm.weight"], f["layer_norm.bias"]) for row, more in zip(rows, inner)]
    return rows


def encoder_shapes(config):
    width, inner, wide = config["d_model"], config["d_inner"], config["n_head"] * config["d_k"]
    shapes = {"encoder.event_emb.weight": (config["num_types"] + 1, width)}
    for layer in range(config["n_layers"]):
        a, f = f"encoder.layer_stack.{layer}.slf_attn.", f"encoder.layer_stack.{layer}.pos_ffn."
        shapes |= {a + "w_qs.weight": (wide, width), a + "w_ks.weight": (wide, width), a + "w_vs.weight": (wide, width),
                   a + "fc.weight": (width, wide), a + "fc.bias": (width,),
                   a + "layer_norm.weight": (width,), a + "layer_norm.bias": (width,),
                   f + "w_1.weight": (inner, width), f + "w_1.bias": (inner,), f + "w_2.weight": (width, inner),
                   f + "w_2.bias": (width,), f + "layer_norm.weight": (width,), f + "layer_norm.bias": (width,)}
    return shapes


def draw_params(shapes, seed):
    """Weights of two digits, so that a file holds them exactly; gains of the norms around 1."""
    source = random.Random(seed)
    return {name: Tensor(shape, lambda: round(source.uniform(-0.9, 0.9) + ("norm.weight" in name), 2))
            for name, shape in shapes.items()}


def draw_sequences(types, lengths, seed):
    source, found = random.Random(seed), []
    for length in lengths:
        time = [round(source.uniform(0.2, 2), 3)]
        while len(time) < length:
            time.append(round(time[-1] + 0.05 + source.expovariate(1), 3))
        found.append({"time": time, "type": [source.randrange(types) for _ in time]})
    return found


def targets(sequences):
    """(sequence, position of the history's last event, gap, type) of every predicted event."""
    return [(s, i - 1, q["time"][i] - q["time"][i - 1], q["type"][i])
            for s, q in enumerate(sequences) for i in range(1, len(q["time"]))]


def gradients(of, params):
    names = list(params)
    flat = gradient(of, [x for name in names for x in params[name].flat])
    found, at = {}, 0
    for name in names:
        size = len(params[name].flat)
        found[name], at = flat[at:at + size], at + size
    return found


# ---- SMURF -------------------------------------------------------------------------------------------


def coefficients(params, prefix, base, h):
    """a and b of a head: tanh of a linear map, and a linear map."""
    a = [tanh(x) for x in linear(params[prefix + "affect_layer.0.weight"], h, params[prefix + "affect_layer.0.bias"])]
    return a, linear(params[prefix + base + ".weight"], h, params[prefix + base + ".bias"])


def tanh_series(x0, x1):
    """tanh(x0 + x1 e) to order 2 in e, from y' = (1 - y^2) x1."""
    y0 = tanh(x0)
    y1 = (1 - y0 * y0) * x1
    return y0, y1, -(y0 * y1) * x1


def softplus_series(u):
    """ln(1 + e^u) of a series, from l' = q u' with q = 1 / (1 + e^-u), q' = q (1 - q) u'."""
    q = logistic(u[0])
    return softplus(u[0]), q * u[1], q * u[2] + 0.5 * (q * (1 - q) * u[1] * u[1])


def intensity_series(params, h, tau):
    """lambda, lambda' and lambda'' at a gap."""
    a, b = coefficients(params, "score_decoder.", "base_layer.0", h)
    w, c = params["score_decoder.intensity_layer.0.weight"].flat, params["score_decoder.intensity_layer.0.bias"].flat[0]
    z = [tanh_series(x * tau + y, x) for x, y in zip(a, b)]
    u = [dot(w, [s[order] for s in z]) for order in range(3)]
    value, first, second = softplus_series((u[0] + c, u[1], u[2]))
    return value, first, 2.0 * second


def score(intensity, learn_slope=True):
    value, first, _ = intensity
    ratio = first / (value + 1e-10)
    return (ratio if learn_slope else constant(ratio)) - value


def score_slope(intensity):
    value, first, second = intensity
    below = value + 1e-10
    return second / below - (first / below) ** 2 - first


def logits(params, h, tau):
    a, b = coefficients(params, "type_predictor.", "base_layer", h)
    z = [tanh(x * tau + y) for x, y in zip(a, b)]
    return linear(params["type_predictor.classifier.weight"], z, params["type_predictor.classifier.bias"])


def cross_entropy(logit, true, smoothing):
    """Target 1 - e for the true type and e / K for each other."""
    norm = log_sum_exp(logit)
    weight = [smoothing / len(logit)] * len(logit)
    weight[true] = 1 - smoothing
    return total([(norm - x) * w for x, w in zip(logit, weight)])


def tanh_sinh(f, length, step=0.125, reach=27):
    """The integral of f over [0, length]."""
    parts = []
    for i in range(-reach, reach + 1):
        s = math.pi / 2 * math.sinh(i * step)
        weight = step * math.pi / 2 * math.cosh(i * step) / math.cosh(s) ** 2
        parts.append(f(length / (1 + math.exp(-2 * s))) * (weight * length / 2))
    return total(parts)


def smurf():
    config = {"num_types": 3, "d_model": 6, "d_inner": 8, "n_head": 2, "n_layers": 2, "d_k": 4, "d_v": 4, "sigma": 0.2,
              "num_noise": 3, "alpha": 2.5, "label_smoothing": 0.1, "layer_norm_eps": 1e-6}
    width, half, types = config["d_model"], config["d_model"] // 2, config["num_types"]
    params = draw_params(encoder_shapes(config) | {
        "type_predictor.base_layer.weight": (half, width), "type_predictor.base_layer.bias": (half,),
        "type_predictor.affect_layer.0.weight": (half, width), "type_predictor.affect_layer.0.bias": (half,),
        "type_predictor.classifier.weight": (types, half), "type_predictor.classifier.bias": (types,),
        "score_decoder.base_layer.0.weight": (width, width), "score_decoder.base_layer.0.bias": (width,),
        "score_decoder.affect_layer.0.weight": (width, width), "score_decoder.affect_layer.0.bias": (width,),
        "score_decoder.intensity_layer.0.weight": (1, width), "score_decoder.intensity_layer.0.bias": (1,)}, 11)
    sequences = draw_sequences(types, (4, 6), 12)
    sequences[1]["end"] = round(sequences[1]["time"][-1] + 0.7, 3)  # of observation; the other's is not known
    source, sigma, many = random.Random(13), config["sigma"], config["num_noise"]
    goal = targets(sequences)
    tau = [[round(gap + sigma * source.gauss(0, 1), 4) for _ in range(many)] for _, _, gap, _ in goal]

    hidden = [encode(params, config, q) for q in sequences]
    state = [hidden[s][i] for s, i, _, _ in goal]
    near = [[intensity_series(params, h, t) for t in ts] for h, ts in zip(state, tau)]
    near_logits = [[logits(params, h, t) for t in ts] for h, ts in zip(state, tau)]
    exact = [intensity_series(params, h, gap) for h, (_, _, gap, _) in zip(state, goal)]

    def denoising(learn_slope):
        time = total([0.5 * sigma ** 2 / many * (score(x, learn_slope) - (gap - t) / sigma ** 2) ** 2
                      for (_, _, gap, _), ts, xs in zip(goal, tau, near) for t, x in zip(ts, xs)])
        kind = total([cross_entropy(x, k, config["label_smoothing"]) / many
                      for (_, _, _, k), xs in zip(goal, near_logits) for x in xs])
        loss = config["alpha"] * time + kind
        return {"dsm_sum": time.value, "ce_sum": kind.value, "loss": loss.value, "grad": gradients(loss, params)}

    def weighted(target, x):
        """1/2 h psi^2 + h psi' + h' psi with h = min(gap, what is left until the end of observation)."""
        s, i, gap, _ = target
        left = sequences[s].get("end", math.inf) - sequences[s]["time"][i] - gap
        h, slope = (gap, 1.0) if gap <= left else (left, -1.0)
        psi = score(x)
        return 0.5 * h * psi * psi + h * score_slope(x) + slope * psi

    def of_time(values):
        loss = total(values)
        own = {name: tensor for name, tensor in params.items() if not name.startswith("type_predictor")}
        return {"sum": loss.value, "grad": gradients(loss, own)}

    compensator = [tanh_sinh(lambda t: intensity_series(params, h, t)[0], gap) for h, (_, _, gap, _) in zip(state, goal)]
    implicit = [0.5 * score(x) ** 2 + score_slope(x) for x in exact]
    likelihood = of_time([c - log(x[0]) for c, x in zip(compensator, exact)])
    return {
        "what": "SMURF; see make.py",
        "config": config, "sequences": sequences, "params": {name: t.json() for name, t in params.items()},
        "tau": tau,
        "expect": {
            "encoder": [x.value for rows in hidden for row in rows for x in row],
            "intensity": [x[0].value for xs in near for x in xs],
            "score": [score(x).value for xs in near for x in xs],
            "logits": [v.value for xs in near_logits for x in xs for v in x],
            "denoising_full_gradient": denoising(True),
            "denoising_stop_gradient": denoising(False),
            "implicit_score_matching": of_time(implicit),
            "weighted_score_matching": of_time([weighted(t, x) for t, x in zip(goal, exact)]),
            "maximum_likelihood": likelihood,
            "log_likelihood_sum": -likelihood["sum"],
        }}


# ---- THP ---------------------------------------------------------------------------------------------


def thp():
    config = {"num_types": 3, "d_model": 6, "d_inner": 7, "n_head": 3, "n_layers": 1, "d_k": 2, "d_v": 2,
              "layer_norm_eps": 1e-6}
    width, types, draws = config["d_model"], config["num_types"], 5
    params = draw_params({"alpha": (), "beta": (), **encoder_shapes(config), "linear.weight": (types, width),
                          "linear.bias": (types,), "type_predictor.linear.weight": (types, width)}, 21)
    params["alpha"].flat[0].value, params["beta"].flat[0].value = -0.35, 1.4
    sequences = draw_sequences(types, (5, 4), 22)
    goal, source = targets(sequences), random.Random(23)
    u = [[round(source.random(), 4) for _ in range(draws)] for _ in goal]
    hidden = [encode(params, config, q) for q in sequences]
    alpha, beta = params["alpha"].flat[0], params["beta"].flat[0]

    def intensities(s, i, tau):
        slope = alpha / (sequences[s]["time"][i] + 1e-10)
        x = [v + slope * tau for v in linear(params["linear.weight"], hidden[s][i], params["linear.bias"])]
        return [softplus(beta * v) / beta for v in x], [logistic(beta * v) * slope for v in x]  # lambda_k, lambda_k'

    at = [[intensities(s, i, f * gap) for f in fs] for (s, i, gap, _), fs in zip(goal, u)]
    event = total([log(intensities(s, i, gap)[0][k] + 1.1e-9) for s, i, gap, k in goal])
    integral = total([total(x) * (gap / draws) for (_, _, gap, _), xs in zip(goal, at) for x, _ in xs])
    loss = integral - event
    own = {name: tensor for name, tensor in params.items() if not name.startswith("type_predictor")}
    return {
        "what": "THP; see make.py",
        "config": config, "sequences": sequences, "params": {name: t.json() for name, t in params.items()}, "u": u,
        "expect": {
            "intensity": [v.value for xs in at for x, _ in xs for v in x],
            "score": [(d[k] / (x[k] + 1e-10) - total(x)).value for (_, _, _, k), xs in zip(goal, at) for x, d in xs],
            "event_ll_sum": event.value, "integral_sum": integral.value, "nll": loss.value,
            "type_logits": [v.value for s, i, _, _ in goal
                            for v in linear(params["type_predictor.linear.weight"], hidden[s][i])],
            "grad": gradients(loss, own),
        }}


# ---- Metrics -----------------------------------------------------------------------------------------


def metrics():
    """Straight from the definitions: every pair of draws, every level by itself."""
    source, n, draws = random.Random(31), 20, 13
    samples = [[round(source.gauss(0.8, 0.9), 3) for _ in range(draws)] for _ in range(n)]
    truth = [round(source.expovariate(1), 3) for _ in range(n)]
    levels = [i / 20 for i in range(1, 20)]

    def quantile(values, q):
        place = q * (len(values) - 1)
        low = min(int(place), len(values) - 2)
        ordered = sorted(values)
        return ordered[low] + (place - low) * (ordered[low + 1] - ordered[low])

    cut = [[quantile(row, q) for row in samples] for q in levels]
    coverage = [sum(t < c for t, c in zip(truth, row)) / n for row in cut]
    upper = [(c - q) ** 2 for c, q in zip(coverage, levels) if q > 0.49]
    crps = [math.fsum(abs(x - t) for x in row) / draws - math.fsum(abs(x - y) for x in row for y in row) / (2 * draws ** 2)
            for row, t in zip(samples, truth)]
    return {"what": "metrics of draws; see make.py", "samples": samples, "truth": truth, "expect": {
        "levels": levels, "coverage": coverage,
        "interval_length": [math.fsum(max(c, 0) for c in row) / n for row in cut],
        "calibration_score": math.sqrt(math.fsum(upper) / len(upper)),
        "coverage_error_at_half": abs(coverage[9] - levels[9]),
        "crps": math.fsum(crps) / n}}


# ---- Files -------------------------------------------------------------------------------------------


def rounded(value):
    """Fifteen digits: the last two of a double differ between libraries of mathematics."""
    if isinstance(value, dict):
        return {key: rounded(v) for key, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return float(f"{value:.15g}") if isinstance(value, float) else value


def made():
    """The files by name, as what they hold."""
    found = {}
    for make in smurf, thp, metrics:
        TAPE.clear()
        found[make.__name__ + ".json"] = rounded(make())
    return found


def write(folder):
    for name, content in made().items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
            json.dump(content, out, indent=None, separators=(", ", ": "))
            out.write("\n")


if __name__ == "__main__":
    write(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))
