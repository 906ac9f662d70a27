/* one.js - one sequence: its next event, the density of the time to it, its type, and what happened before. */
import { ask, pathOf } from "./service.js";
import { lookAt, makeLaw } from "./law.js";
import { chip, drawDensity, drawShares, drawStrip, element } from "./draw.js";
import { clock, duration, moment, percent, readMoment } from "./words.js";
import { lawOf, mark, now, showList } from "./next.js";

const CURVE = 100, PAST = 200, LISTED = 8;
const byId = id => document.getElementById(id);
const dialog = byId("one"), wide = matchMedia("(min-width: 1000px)");
let name = null, law = null, opener = null;

export const chosen = () => name;

/* Beside the list where there is room, else over it. */
function open() {
  if (dialog.open) dialog.close();
  dialog.hidden = false;
  if (wide.matches) dialog.show();
  else dialog.showModal();
}

function words(forecast, view) {
  const time = now();
  if (!isFinite(view.median)) return `No further event is expected${forecast.never ? ` (${percent(forecast.never)})` : ""}.`;
  const at = clock.calendar ? ` (${moment(time + view.median, time)})` : "";
  const low = duration(view.low90), high = duration(view.high90), silence = duration(time - readMoment(forecast.last));
  const range = isFinite(view.high90) ? `between ${low} and ${high} in 90% of cases` : `not within ${low} in 95% of cases, and perhaps never`;
  const late = view.overdue ? ` It is overdue: a silence of ${silence} has a probability of ${percent(view.p)}.` : "";
  return `Next in ${duration(view.median)}${at}; ${range}.${late}`;
}

/* As time passes. */
export function showTime() {
  if (!name || !law) return;
  const view = lookAt(law, now());
  byId("one-words").textContent = words(law.forecast, view);
  byId("one-words").classList.toggle("late", view.overdue);
  drawDensity(byId("one-density"), view);
}

function showPast(past) {
  const events = past.events.map(e => ({ type: e.type, at: readMoment(e.time) })), time = now();
  drawStrip(byId("one-strip"), events, Math.max(time, events.length ? events[events.length - 1].at : time));
  const rows = events.map((e, i) => element("tr", {}, element("td", {}, moment(e.at, time)), element("td", {}, chip(e.type)),
    element("td", {}, i ? duration(e.at - events[i - 1].at) : "")));
  byId("one-events").replaceChildren(...rows.slice(-LISTED).reverse());
}

async function fillOnce() {
  const wanted = name;
  const past = await ask(`/v1/events/${pathOf(wanted)}?limit=${PAST}`);
  const last = past.events.length ? readMoment(past.events[past.events.length - 1].time) : Infinity;
  const silent = clock.calendar && now() > last + 1 ? `&now=${new Date(1000 * now()).toISOString()}` : "";
  const forecast = await ask(`/v1/forecast/${pathOf(wanted)}?curve=${CURVE}&top=6${silent}`);
  if (wanted !== name) return;
  const known = lawOf(wanted);
  law = makeLaw(forecast, known && silent ? lookAt(known, readMoment(forecast.from)).p : 1);
  showTime();
  drawShares(byId("one-types"), forecast.types);
  showPast(past);
}

/* Not more often than the service answers. */
let filling = false, again = false;
async function fill() {
  again = true;
  if (filling) return;
  filling = true;
  try {
    for (; again && name;) {
      again = false;
      await fillOnce();
    }
  } finally {
    filling = false;
  }
}

/* from: the element that is focused again when the panel is closed. */
export async function showOne(wanted, from) {
  mark(name = wanted);
  law = null;
  opener = from;
  byId("one-title").textContent = wanted;
  byId("one-words").textContent = "";
  for (const id of ["one-density", "one-types", "one-strip", "one-events"]) byId(id).replaceChildren();
  open();
  showList();
  byId("one-title").focus({ preventScroll: wide.matches });
  if (wide.matches) dialog.scrollIntoView({ block: "nearest" });
  await fill();
}

/* An event of some sequence has come. */
export async function updateOne(which) {
  if (which === name) await fill();
}

function forget() {
  if (!name) return;
  mark(name = law = null);
  dialog.hidden = true;
  showList();
  if (opener?.isConnected) opener.focus();
}

export function watchOne() {
  dialog.hidden = true;
  byId("one-close").addEventListener("click", () => { dialog.close(); forget(); });
  dialog.addEventListener("cancel", () => forget());
  dialog.addEventListener("keydown", event => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    dialog.close();
    forget();
  });
  wide.addEventListener("change", () => { if (name) open(); });
}
