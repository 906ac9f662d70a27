/*
 * law.js - the law of the next event, from the quantiles that the service sends, and what remains of it as time passes.
 *
 * With F the law from `from` on, and nothing until s:  P(next <= t) = (F(t) - F(s)) / (1 - F(s)).
 */
import { readMoment } from "./words.js";

/* Points (gap, level) of F, increasing; a tail falls off exponentially to 1 - never. */
export function makeLaw(forecast, p = 1) {
  const n = forecast.curve.length + 1;
  const points = [[0, 0]];
  forecast.curve.forEach((gap, i) => {
    if (gap === null) return;
    points.push([Math.max(gap, points[points.length - 1][0]), (i + 1) / n]);
  });
  const top = 1 - (forecast.never ?? 0);
  return { name: forecast.sequence, from: readMoment(forecast.from), points, top, scale: tailOf(points, top), p, forecast };
}

function tailOf(points, top) {
  const [x1, f1] = points[points.length - 1];
  const [x0, f0] = points[Math.max(points.length - 5, 0)];
  const fall = Math.log((top - f0) / (top - f1));
  return x1 > x0 && fall > 0 && isFinite(fall) ? (x1 - x0) / fall : x1 || 1;
}

export function levelAt(law, gap) {
  const { points, top } = law, last = points[points.length - 1];
  if (gap <= 0) return 0;
  if (gap >= last[0]) return Math.max(last[1], top - (top - last[1]) * Math.exp(-(gap - last[0]) / law.scale));
  let i = 1;
  while (points[i][0] <= gap) i++;
  const [x0, f0] = points[i - 1], [x1, f1] = points[i];
  return f0 + (f1 - f0) * (gap - x0) / (x1 - x0);
}

export function gapAt(law, level) {
  const { points, top } = law, last = points[points.length - 1];
  if (level >= top) return Infinity;
  if (level > last[1]) return last[0] + law.scale * Math.log((top - last[1]) / (top - level));
  let i = 1;
  while (points[i][1] < level) i++;
  const [x0, f0] = points[i - 1], [x1, f1] = points[i];
  return x0 + (x1 - x0) * (level - f0) / (f1 - f0);
}

/* What is left at a moment: quantiles from then on, the probability of the silence, and whether the law has been used up.
   late: by then most events have come that come at all. */
export function lookAt(law, now) {
  const since = Math.max(now - law.from, 0);
  const passed = Math.min(levelAt(law, since), 0.999999);
  const ahead = level => gapAt(law, passed + level * (1 - passed)) - since;
  const p = law.p * (1 - passed);
  return {
    low90: ahead(0.05), low50: ahead(0.25), median: ahead(0.5), high50: ahead(0.75), high90: ahead(0.95), late: ahead(0.97 * (law.top - passed) / (1 - passed)),
    p, overdue: p <= 0.1, passed,
    level: gap => (levelAt(law, since + gap) - passed) / (1 - passed),
  };
}
