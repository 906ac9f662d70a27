"""Small figures for the documents: panels of dots or lines, written as SVG without a library.

    panel = Panel("CRPS, StackOverflow", [Series("", xs, ys, deviations)], references={"recent": 0.444}, x_label="σ", log_x=True)
    write("doc/sigma.svg", [panel, ...], columns=2)

A series with labels instead of numbers for x has one row per label, with a dot to its right.
"""

import dataclasses
import html
import math
import pathlib

INK, GREY, RULE = "#222222", "#767676", "#dddddd"
COLOURS = ["#1f5fa8", "#c44e2b", "#3a8a4d", "#7b52ab", "#a8841f", "#2b9aa8"]
FONT = 'font-family="Helvetica, Arial, sans-serif"'


@dataclasses.dataclass
class Series:
    name: str
    x: list  # numbers, or labels
    y: list
    deviation: list = None


@dataclasses.dataclass
class Panel:
    title: str
    series: list
    references: dict = dataclasses.field(default_factory=dict)  # name: height of a dashed line
    x_label: str = ""
    y_label: str = ""
    log_x: bool = False
    log_y: bool = False
    x_text: callable = None  # text of a tick; None: the number
    y_text: callable = None
    names_above: bool = False  # series names below the title in two columns, instead of on the right

    @property
    def labelled(self):
        return isinstance(self.series[0].x[0], str)


def write(path, panels, **sizes):
    pathlib.Path(path).write_text(picture(panels, **sizes))


def picture(panels, columns=2, width=420, height=250):
    """A grid of panels, as SVG. Panels with labels are as high as the labels need."""
    rows = [panels[i:i + columns] for i in range(0, len(panels), columns)]
    heights = [max(_height(panel, height) for panel in row) for row in rows]
    parts, y = [], 0
    for row, high in zip(rows, heights):
        for i, panel in enumerate(row):
            parts.append(f'<g transform="translate({i * width},{y})">' + (_dots if panel.labelled else _lines)(panel, width, high) + "</g>")
        y += high
    wide = width * min(columns, len(panels))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{y}" viewBox="0 0 {wide} {y}" {FONT} font-size="11">\n'
            f'<rect width="{wide}" height="{y}" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n")


def _height(panel, usual):
    return 82 + 20 * len(panel.series[0].x) if panel.labelled else usual


def _text(x, y, words, anchor="start", colour=INK, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{more}>{html.escape(words)}</text>'


def _line(x1, y1, x2, y2, colour=RULE, more=""):
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}" fill="none"{more}/>'


def _number(x):
    if x and (abs(x) >= 1e5 or abs(x) < 1e-3):
        return f"{x:.0e}".replace("e+0", "e").replace("e-0", "e-")
    return f"{x:,.3f}".rstrip("0").rstrip(".")


def ticks(low, high, log):
    """Round numbers within the range, three to six of them."""
    if log:
        decades = [10.0**k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
        found = [t for t in decades if low <= t <= high]
        if len(found) < 3:
            found = [t * f for t in decades for f in (1, 2, 5) if low <= t * f <= high]
        return found[:: max(1, len(found) // 5)]
    step = 10 ** math.floor(math.log10((high - low) / 3))
    step = next(step * f for f in (5, 2, 1) if (high - low) / (step * f) >= 3 or f == 1)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


class _Axis:
    """Maps values to positions between two ends, with a small margin."""

    def __init__(self, values, start, end, log):
        self.log = log
        scaled = [self._scale(v) for v in values]
        low, high = min(scaled), max(scaled)
        room = 0.06 * (high - low) or 0.05 * abs(high) or 1
        self.low, self.high, self.start, self.end = low - room, high + room, start, end

    def _scale(self, v):
        return math.log10(v) if self.log else v

    def __call__(self, v):
        return self.start + (self._scale(v) - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self):
        low, high = (10**self.low, 10**self.high) if self.log else (self.low, self.high)
        return ticks(low, high, self.log)


def _spread(s, i):
    d = s.deviation[i] if s.deviation and s.deviation[i] is not None else 0
    return s.y[i] - d, s.y[i] + d


def _values(panel):
    return [v for s in panel.series for i in range(len(s.y)) for v in (_spread(s, i) if not panel.log_y else (s.y[i],))] + list(panel.references.values())


def _lines(panel, width, height):
    named = any(panel.references) or any(s.name for s in panel.series)
    left, right, top, bottom = 58, width - (90 if named and not panel.names_above else 16), 34, height - 42
    if panel.names_above:
        top += 14 * -(-len(panel.series) // 2) - 6
    across = _Axis([x for s in panel.series for x in s.x], left, right, panel.log_x)
    up = _Axis(_values(panel), bottom, top, panel.log_y)
    out = [_text(left, 18, panel.title, more=' font-weight="bold"')]
    for t in up.ticks():
        out += [_line(left, up(t), right, up(t)), _text(left - 6, up(t) + 4, (panel.y_text or _number)(t), "end", GREY)]
    for t in across.ticks():
        out += [_line(across(t), bottom, across(t), bottom + 4, GREY), _text(across(t), bottom + 17, (panel.x_text or _number)(t), "middle", GREY)]
    out.append(_text((left + right) / 2, height - 8, panel.x_label, "middle", GREY))
    if panel.y_label:
        out.append(_text(0, 0, panel.y_label, "middle", GREY, f' transform="translate(12,{(top + bottom) / 2:.0f}) rotate(-90)"'))
    below = -1e9
    for name, v in sorted(panel.references.items(), key=lambda item: -item[1]):
        below = max(up(v) + 4, below + 12)  # names keep apart
        out += [_line(left, up(v), right, up(v), GREY, ' stroke-dasharray="4 3"'), _text(right + 5, below, name, "start", GREY)]
    for k, s in enumerate(panel.series):
        colour = COLOURS[k % len(COLOURS)]
        path = "L".join(f"{across(x):.1f} {up(y):.1f}" for x, y in zip(s.x, s.y))
        out.append(f'<path d="M{path}" stroke="{colour}" fill="none" stroke-width="1.5"/>')
        for i, (x, y) in enumerate(zip(s.x, s.y)):
            low, high = _spread(s, i)
            if high > low and not panel.log_y:
                out.append(_line(across(x), up(low), across(x), up(high), colour))
            out.append(f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="2.6" fill="{colour}"/>')
        if s.name:
            x, y = (left + (right - left) / 2 * (k % 2), 33 + 14 * (k // 2)) if panel.names_above else (right + 8, top + 10 + 15 * k)
            out.append(_text(x, y, s.name, colour=colour))
    return "".join(out)


def _dots(panel, width, height):
    [s] = panel.series
    left, right, top = 190, width - 20, 46
    bottom = top + 20 * len(s.x)
    across = _Axis(_values(panel), left, right, False)
    out = [_text(10, 18, panel.title, more=' font-weight="bold"')]
    for t in across.ticks():
        out += [_line(across(t), top - 6, across(t), bottom), _text(across(t), bottom + 14, _number(t), "middle", GREY)]
    for k, (name, v) in enumerate(panel.references.items()):
        out += [_line(across(v), top - 6, across(v), bottom, GREY, ' stroke-dasharray="4 3"'),
                _text(across(v), bottom + 27 if k % 2 == 0 else top - 10, name, "middle", GREY, ' font-size="10"')]
    for i, label in enumerate(s.x):
        y = top + 20 * i + 8
        low, high = _spread(s, i)
        out.append(_text(left - 10, y + 4, label, "end"))
        if high > low:
            out.append(_line(across(low), y, across(high), y, COLOURS[0], ' stroke-width="1.5"'))
        out.append(f'<circle cx="{across(s.y[i]):.1f}" cy="{y:.1f}" r="3.4" fill="{COLOURS[0]}"/>')
    return "".join(out)
