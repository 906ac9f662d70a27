"""The same model in plain PyTorch: padded batches, automatic differentiation, Langevin by autograd.

    peer.py THREADS [lean]

Reads one command per line from standard input and answers each with one JSON object on a line:

    load FILE        reads weights, events and noise from a file of bench_peer (../peer.c)
    check -          the loss of all batches with the file's noise, without dropout, and the norm of its gradient
    train STEPS      that many steps of Adam, one batch after the other
    langevin STEPS   100 draws from each of the laws of the first 64 events

Meant to be as fast as plain PyTorch allows: every operation covers a whole batch. Padding is at the end of sequences, where
the causal mask hides it, and has weight 0 in the loss. With `lean`, only the encoder sees padding; the heads see real events
only.
"""
import json
import math
import resource
import struct
import sys
import time

import numpy
import torch
from torch import nn
from torch.nn import functional as F

NUMBERS = {"F32": "<f4", "F64": "<f8", "U32": "<u4", "U64": "<u8"}


def read_tensors(path):
    """({name: array}, texts) of a safetensors file."""
    with open(path, "rb") as file:
        blob = file.read()
    length, = struct.unpack_from("<Q", blob)
    header = json.loads(blob[8:8 + length])
    texts = header.pop("__metadata__", {})
    return {name: numpy.frombuffer(blob[8 + length + entry["data_offsets"][0]:8 + length + entry["data_offsets"][1]],
                                   NUMBERS[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items()}, texts


# ---- The model ---------------------------------------------------------------------------------


class Layer(nn.Module):
    """Attention and a map of each event, each followed by a norm."""

    def __init__(self, width, heads, head_width, inner, dropout):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, heads * head_width, bias=False)
        self.key = nn.Linear(width, heads * head_width, bias=False)
        self.value = nn.Linear(width, heads * head_width, bias=False)
        self.out = nn.Linear(heads * head_width, width)
        self.norm1 = nn.LayerNorm(width, eps=1e-6)
        self.inner = nn.Linear(width, inner)
        self.outer = nn.Linear(inner, width)
        self.norm2 = nn.LayerNorm(width, eps=1e-6)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (batch, heads, length, head width)

    def forward(self, x, mask):
        query, key, value = (self.split(f(x)) for f in (self.query, self.key, self.value))
        weight = torch.softmax(query / math.sqrt(query.shape[-1]) @ key.transpose(-1, -2) + mask, -1)
        seen = (self.dropout(weight) @ value).transpose(1, 2).flatten(2)
        x = self.norm1(x + self.dropout(self.out(seen)))
        return self.norm2(x + self.dropout(self.outer(self.dropout(F.relu(self.inner(x))))))


class Head(nn.Module):
    """out(tanh(a tau + b)), with a and b from the encoder's vectors h. `units` omits out, which the caller applies: with one
    output, a product with a vector is faster than nn.Linear."""

    def __init__(self, width, units, outputs):
        super().__init__()
        self.a = nn.Linear(width, units)
        self.b = nn.Linear(width, units)
        self.out = nn.Linear(units, outputs)

    def coefficients(self, h):
        """(events, 1, units) each."""
        return torch.tanh(self.a(h)).unsqueeze(1), self.b(h).unsqueeze(1)

    def units(self, coefficients, tau):
        a, b = coefficients
        return torch.tanh(torch.addcmul(b, a, tau.unsqueeze(-1)))  # (events, points, units)


class Smurf(nn.Module):
    def __init__(self, types, width, layers, heads, head_width, inner, dropout):
        super().__init__()
        self.embedding = nn.Embedding(types, width)
        self.layer = nn.ModuleList(Layer(width, heads, head_width, inner, dropout) for _ in range(layers))
        self.gap = Head(width, width, 1)
        self.kind = Head(width, width // 2, types)
        self.register_buffer("period", 10000 ** (torch.arange(0, width, 2, dtype=torch.double) / width))

    def encode(self, types, times):
        """h (batch, length, width) of padded events; the clock is read in double."""
        phase = times.unsqueeze(-1) / self.period
        clock = torch.stack((phase.sin(), phase.cos()), -1).flatten(-2).float()
        mask = torch.full((types.shape[1], types.shape[1]), -math.inf).triu(1)
        x = self.embedding(types)
        for layer in self.layer:
            x = layer(x + clock, mask)
        return x

    def score(self, coefficients, tau, create_graph=False):
        """psi = (ln lambda)' - lambda at tau (events, points), which requires a gradient."""
        intensity = F.softplus(self.gap.units(coefficients, tau) @ self.gap.out.weight[0] + self.gap.out.bias)
        slope, = torch.autograd.grad(torch.log(intensity + 1e-10).sum(), tau, create_graph=create_graph)
        return slope - intensity

    def loss(self, batch, tau, sigma, smoothing):
        """Denoising score matching and cross-entropy at the perturbed gaps: sums over events of means over points."""
        h = self.encode(batch.types, batch.times)
        h = h[batch.predicts] if batch.lean else h.flatten(0, 1)
        tau.requires_grad_()
        score = self.score(self.gap.coefficients(h), tau, create_graph=True)
        missed = score - (batch.gap.unsqueeze(1) - tau.detach()) / sigma**2
        logits = self.kind.out(self.kind.units(self.kind.coefficients(h), tau.detach()))
        share = F.log_softmax(logits, -1).mean(1)
        # The label of the true type is 1 - smoothing, that of each other smoothing / types.
        rest = smoothing / share.shape[1]
        right = share.gather(1, batch.next.unsqueeze(1)).squeeze(1)
        time_loss, type_loss = 0.5 * sigma**2 * missed.square().mean(1), -((1 - smoothing - rest) * right + rest * share.sum(1))
        return (time_loss * batch.weight).sum(), (type_loss * batch.weight).sum()


def name_of(parameter):
    """The library's name of a parameter."""
    for theirs, ours in (("gap.out.weight", "gap.w"), ("gap.out.bias", "gap.c"), ("kind.out.", "type."), ("kind.", "type."),
                         ("embedding.weight", "embedding"), ("query.weight", "query"), ("key.weight", "key"),
                         ("value.weight", "value"), ("norm1.weight", "norm1.gain"), ("norm2.weight", "norm2.gain")):
        parameter = parameter.replace(theirs, ours)
    return "weight." + parameter


# ---- Commands ----------------------------------------------------------------------------------


class Batch:
    """Sequences, padded to the longest: types and times (batch, length). `predicts` marks events that are followed by
    another, `gap` later and of type `next`. These cover all positions, with weight 1 or 0; if lean, only the events that
    `predicts` marks."""

    def __init__(self, types, times, lean):
        pad = nn.utils.rnn.pad_sequence
        self.types, self.times = pad(types, batch_first=True), pad(times, batch_first=True)
        self.real = pad([torch.ones(len(x), dtype=torch.bool) for x in types], batch_first=True)
        self.predicts = torch.zeros_like(self.real)
        self.predicts[:, :-1] = self.real[:, 1:]
        self.lean, self.events = lean, sum(map(len, types))
        self.gap = torch.cat([x.diff() for x in times]).float()
        self.next = torch.cat([x[1:] for x in types])
        self.weight = torch.ones_like(self.gap)
        if not lean:
            self.gap, self.next, self.weight = (self.spread(x) for x in (self.gap, self.next, self.weight))

    def spread(self, x):
        """Scatters values of predicted events to all positions, 0 elsewhere."""
        out = x.new_zeros(self.predicts.numel(), *x.shape[1:])
        out[self.predicts.flatten()] = x
        return out


class Work:
    def __init__(self, lean):
        self.lean = lean

    def load(self, path):
        tensors, texts = read_tensors(path)
        self.settings = s = json.loads(texts["settings"])
        self.model = Smurf(*(s[key] for key in ("types", "width", "layers", "heads", "head_width", "inner", "dropout")))
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():
                value = torch.from_numpy(tensors.pop(name_of(name)).copy())
                assert value.numel() == parameter.numel(), name
                parameter.copy_(value.view_as(parameter))
        assert not [name for name in tensors if name.startswith("weight.")], "weights are left over"
        self.adam = torch.optim.Adam(self.model.parameters(), lr=1e-4, eps=1e-5)
        lengths = tensors["length"].astype(int).tolist()
        types = torch.from_numpy(tensors["type"].astype(numpy.int64)).split(lengths)
        times = torch.from_numpy(tensors["time"].copy()).split(lengths)
        self.batches = [Batch(types[i:i + s["together"]], times[i:i + s["together"]], self.lean)
                        for i in range(0, len(lengths), s["together"])]
        self.tau = torch.from_numpy(tensors["tau"].copy())
        self.done = 0
        return {}

    def backward(self, batch, tau):
        time_loss, type_loss = self.model.loss(batch, tau, self.settings["sigma"], self.settings["smoothing"])
        (self.settings["alpha"] * time_loss + type_loss).backward()
        return time_loss, type_loss

    def check(self, _):
        self.model.eval()
        self.adam.zero_grad(set_to_none=True)
        sums = numpy.zeros(2)
        for batch, tau in zip(self.batches, self.tau.split([int(batch.predicts.sum()) for batch in self.batches])):
            tau = tau if self.lean else batch.spread(tau)
            sums += [part.item() for part in self.backward(batch, tau)]
        norm = math.sqrt(sum(p.grad.double().square().sum().item() for p in self.model.parameters()))
        return {"time": sums[0], "type": sums[1], "norm": norm}

    def train(self, steps):
        self.model.train()
        points, events = self.tau.shape[1], 0
        start = time.perf_counter()
        for _ in range(int(steps)):
            batch = self.batches[self.done % len(self.batches)]
            tau = batch.gap.unsqueeze(1) + self.settings["sigma"] * torch.randn(len(batch.gap), points)
            self.adam.zero_grad(set_to_none=True)
            self.backward(batch, tau)
            self.adam.step()
            self.done += 1
            events += batch.events
        return {"seconds": time.perf_counter() - start, "events": events,
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3}

    def langevin(self, steps):
        s = self.settings
        self.model.eval()
        self.model.requires_grad_(False)
        batch = self.batches[0]
        h = self.model.encode(batch.types, batch.times)[batch.real][:s["laws"]]
        start = time.perf_counter()
        coefficients = self.model.gap.coefficients(h)
        low, high = s["start"]
        t = (low + (high - low) * torch.rand(s["laws"], s["draws"])).requires_grad_()
        for _ in range(int(steps)):
            t = t.detach() + 0.5 * s["step"] * self.model.score(coefficients, t) + math.sqrt(s["step"]) * torch.randn_like(t)
            t.requires_grad_()
        t = t.detach() + s["sigma"]**2 * self.model.score(coefficients, t)
        seconds = time.perf_counter() - start
        self.model.requires_grad_(True)
        return {"seconds": seconds, "sample_steps": t.numel() * int(steps), "mean": t.mean().item(),
                "deviation": t.std().item()}


def main():
    torch.set_num_threads(int(sys.argv[1]))
    torch.manual_seed(1)
    work = Work(lean="lean" in sys.argv[2:])
    for line in sys.stdin:
        command, value = line.split(maxsplit=1)
        print(json.dumps({"load": work.load, "check": work.check, "train": work.train,
                          "langevin": work.langevin}[command](value.strip())), flush=True)


if __name__ == "__main__":
    main()
