/* words.js - times, durations and shares as text. */

const SECONDS = {
  ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, sec: 1, second: 1, min: 60, minute: 60,
  h: 3600, hour: 3600, d: 86400, day: 86400, w: 604800, week: 604800,
};
const PARTS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

/* How the times of the model are written: set once it is known. */
export const clock = { calendar: true, unit: "s", seconds: 1 };

export function setClock(model) {
  clock.calendar = model.times === "dates";
  clock.unit = model.unit;
  clock.seconds = clock.calendar ? 1 : SECONDS[model.unit] ?? SECONDS[model.unit.replace(/s$/, "")] ?? null;
}

/* Moments are seconds since 1970, or the numbers of the data. */
export const readMoment = at => clock.calendar ? Date.parse(at) / 1000 : Number(at);

function inSeconds(x) {
  if (x < 0.9995) return `${Number((1000 * x).toPrecision(2))} ms`;
  if (x < 9.95) return `${Number(x.toPrecision(2))} s`;
  let i = PARTS.findIndex(([, size]) => x >= size);
  const years = x / 86400 / 365.25;
  if (years >= 2) return `${years < 10 ? years.toFixed(1) : Math.round(years)} years`;
  if (x >= 10 * PARTS[i][1] || i === 3) return `${Math.round(x / PARTS[i][1])} ${PARTS[i][0]}`;
  const [unit, size] = PARTS[i], [small, part] = PARTS[i + 1];
  const whole = Math.floor(x / size), rest = Math.floor((x - whole * size) / part);
  return rest ? `${whole} ${unit} ${rest} ${small}` : `${whole} ${unit}`;
}

/* "2 h 10 min"; the number and its unit where that is not known. */
export function duration(x) {
  if (x === null || !isFinite(x)) return "never";
  if (clock.seconds !== null) return x > 0 ? inSeconds(x * clock.seconds) : "0 s";
  return `${Number(x.toPrecision(3))} ${clock.unit}`.trim();
}

const dayOf = date => date.toDateString();
const format = (date, options) => new Intl.DateTimeFormat("en-GB", options).format(date);

/* "14:45", "Mon 14:45", "3 Mar, 14:45", "3 Mar 2024, 14:45": as much as is needed from now. */
export function moment(at, now) {
  if (!isFinite(at)) return "never";
  if (!clock.calendar) return String(Number(at.toPrecision(9)));
  const date = new Date(1000 * at), today = new Date(1000 * now);
  const time = { hour: "2-digit", minute: "2-digit" };
  if (isNaN(date)) return "beyond the calendar";
  if (dayOf(date) === dayOf(today)) return format(date, time);
  if (Math.abs(at - now) < 6 * 86400) return format(date, { weekday: "short", ...time });
  const same = date.getFullYear() === today.getFullYear();
  return format(date, { day: "numeric", month: "short", ...(same ? {} : { year: "numeric" }), ...time });
}

export const zone = () => clock.calendar ? `Times in ${Intl.DateTimeFormat().resolvedOptions().timeZone}` : "";

export function percent(p) {
  if (p === null || isNaN(p)) return "–";
  if (p > 0 && p < 0.001) return "< 0.1%";
  return p < 0.095 ? `${Number((100 * p).toPrecision(p < 0.01 ? 1 : 2))}%` : `${Math.round(100 * p)}%`;
}

export const count = (n, one, many = one + "s") => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

/* Durations for the marks of an axis, in the data's unit. */
export function marks(most) {
  if (clock.seconds === null) {
    const found = [];
    for (let x = 10 ** Math.floor(Math.log10(most) - 3); x <= most; x *= 10) found.push(x, 2 * x, 5 * x);
    return found.filter(x => x <= most);
  }
  const min = 60, h = 3600, d = 86400;
  const nice = [1, 5, 15, 30, min, 5 * min, 15 * min, 30 * min, h, 2 * h, 3 * h, 6 * h, 12 * h,
    d, 2 * d, 3 * d, 5 * d, 7 * d, 14 * d, 30 * d, 60 * d, 90 * d, 180 * d, 365 * d, 730 * d, 3650 * d];
  return nice.map(x => x / clock.seconds).filter(x => x <= most);
}
