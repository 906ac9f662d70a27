/* draw.js - elements, and the drawings. Text is always set as text. Positions are set from here, colours in page.css. */
import { duration, marks, percent } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

/* element("li", { class: "x", dir: "auto" }, "text", child) */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter(child => child !== null));
  return made;
}

function shape(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/* A drawing 1000 wide that stretches to its place. */
function canvas(height, label) {
  const made = shape("svg", { viewBox: `0 0 1000 ${height}`, preserveAspectRatio: "none", class: "drawing" });
  if (label) {
    made.setAttribute("role", "img");
    made.setAttribute("aria-label", label);
  } else {
    made.setAttribute("aria-hidden", "true");
  }
  return made;
}

const box = (x0, x1, y, height, kind) =>
  shape("rect", { x: x0.toFixed(1), y: y.toFixed(1), width: Math.max(x1 - x0, 0).toFixed(1), height: height.toFixed(1), class: kind });

/* What the ends of a drawing mean. */
const ends = (left, right) =>
  element("div", { class: "ends", "aria-hidden": "true" }, element("span", {}, left), element("span", {}, right));

/* ---- Types ---- */

const numberOf = new Map();
export function nameTypes(types) {
  types.forEach((type, i) => numberOf.set(type, i));
}
/* A class with the type's colour, which stays the same everywhere. */
export const colourOf = type => `type-${(numberOf.get(type) ?? 7) % 8}`;
export const chip = type => element("span", { class: "chip" }, element("i", { class: colourOf(type) }), element("bdi", {}, type));

/* ---- Bands ---- */

/* From now (0) to 1000; about linear near now, and ever coarser. */
export function makeScale(most, fine) {
  const whole = Math.asinh(most / fine);
  return { most, at: gap => 1000 * Math.min(Math.asinh(Math.max(gap, 0) / fine) / whole, 1) };
}

export function drawBand(view, scale) {
  const made = canvas(24);
  const kind = view.overdue ? "band late" : "band";
  made.setAttribute("class", "drawing " + kind);
  made.append(box(0, 1000, 11, 2, "rail"));
  if (!(view.low90 < scale.most)) return made;
  made.append(box(scale.at(view.low90), Math.max(scale.at(view.high90), scale.at(view.low90) + 4), 5, 14, "band-90"));
  if (view.low50 < scale.most) made.append(box(scale.at(view.low50), Math.max(scale.at(view.high50), scale.at(view.low50) + 4), 5, 14, "band-50"));
  if (view.median < scale.most) made.append(box(scale.at(view.median) - 2, scale.at(view.median) + 2, 2, 20, "median"));
  return made;
}

/* Marks with room between them, from now on. */
export function drawAxis(place, scale, first) {
  const width = place.clientWidth || 300, made = [];
  const put = (at, text) => {
    const mark = element("span", {}, text);
    mark.style.left = `${at / 10}%`;
    if (at > 930) mark.className = "end";
    made.push(mark);
  };
  put(0, first);
  let last = 4;
  for (const gap of marks(scale.most)) {
    const x = scale.at(gap) * width / 1000, text = duration(gap);
    if (x < last + 24 + 4 * text.length || x > width + 1) continue;
    put(scale.at(gap), text);
    last = x + 4 * text.length;
  }
  place.replaceChildren(...made);
}

/* ---- The density of one forecast ---- */

export function drawDensity(place, view) {
  const bars = 90, height = 110;
  const most = view.late;
  if (!(most > 0) || !isFinite(most)) {
    place.replaceChildren(element("p", { class: "faint" }, "No further event is expected."));
    return;
  }
  const step = most / bars;
  const share = Array.from({ length: bars }, (_, i) => view.level((i + 1) * step) - view.level(i * step));
  const smooth = share.map((x, i) => ((share[i - 1] ?? x) + 2 * x + (share[i + 1] ?? x)) / 4);
  const peak = Math.max(...smooth);
  const half = `half of the cases between ${duration(view.low50)} and ${duration(view.high50)}`;
  const made = canvas(height, `Density of the time to the next event: ${half}`);
  made.classList.add("tall");
  smooth.forEach((x, i) => {
    const middle = (i + 0.5) * step, tall = (height - 12) * x / peak;
    const kind = middle >= view.low50 && middle <= view.high50 ? "in-50" : middle >= view.low90 && middle <= view.high90 ? "in-90" : "tail";
    made.append(box(1000 * i / bars, 1000 * (i + 1) / bars + 0.5, height - tall, tall, kind));
  });
  const at = gap => 1000 * gap / most;
  if (isFinite(view.median)) made.append(box(at(view.median) - 1.5, at(view.median) + 1.5, 0, height, "median"));
  const axis = element("div", { class: "ticks", "aria-hidden": "true" });
  place.replaceChildren(made, axis);
  drawAxis(axis, { most, at }, "now");
}

/* ---- Bars with a share each ---- */

export function drawShares(place, rows) {
  place.replaceChildren(...rows.map(({ type, p, text }) => {
    const bar = element("i", { class: colourOf(type) });
    bar.style.width = `${Math.max(100 * p, 0.5)}%`;
    return element("li", {}, element("bdi", { class: "label" }, type),
      element("span", { class: "bar", "aria-hidden": "true" }, bar),
      element("span", { class: "value" }, text ?? percent(p)));
  }));
}

/* ---- What happened before: a lane for each type ---- */

export function drawStrip(place, events, now) {
  const lanes = [...new Set(events.map(e => e.type))].slice(0, 6), lane = 14;
  if (!events.length) return place.replaceChildren();
  const first = events[0].at, span = Math.max(now - first, 1e-9);
  const made = canvas(lane * lanes.length, `The last ${events.length} events in time`);
  made.style.height = `${lane * lanes.length}px`;
  lanes.forEach((_, i) => made.append(box(0, 1000, lane * i + lane / 2 - 0.5, 1, "rail")));
  for (const e of events) {
    const i = lanes.indexOf(e.type);
    if (i < 0) continue;
    const mark = box(994 * (e.at - first) / span, 994 * (e.at - first) / span + 5, lane * i + 2, lane - 4, colourOf(e.type));
    made.append(mark);
  }
  place.replaceChildren(made, ends(`${duration(span)} ago`, "now"));
}

/* ---- The histogram of the PIT: flat, if forecasts hold ---- */

export function drawPit(place, counts) {
  const total = counts.reduce((a, b) => a + b, 0), height = 72;
  if (!total) return place.replaceChildren();
  const even = total / counts.length, noise = 1.645 * Math.sqrt(even * (1 - 1 / counts.length));
  const most = Math.max(...counts, even + noise) * 1.05, y = x => height * (1 - Math.max(x, 0) / most);
  const made = canvas(height, `Histogram of where ${total} gaps lay in their forecasts; even is what true forecasts give`);
  made.classList.add("pit");
  made.append(box(0, 1000, y(even + noise), y(even - noise) - y(even + noise), "chance"));
  counts.forEach((x, i) => {
    const kind = even > 3 && Math.abs(x - even) > 1.5 * noise ? "odd" : "in-50";
    made.append(box(50 * i + 3, 50 * i + 47, y(x), height - y(x), kind));
  });
  made.append(box(0, 1000, y(even) - 0.5, 1, "even"));
  place.replaceChildren(made, ends("sooner than forecast", "later"));
}
