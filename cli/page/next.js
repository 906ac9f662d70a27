/*
 * next.js - the list of what comes next. A row stays the same element while its sequence is shown, so that focus stays
 * where it is; rows move only while nobody points at them or has focus there.
 */
import { ask, pathOf } from "./service.js";
import { lookAt, makeLaw } from "./law.js";
import { chip, drawAxis, drawBand, element, makeScale } from "./draw.js";
import { clock, count, duration, marks, moment, percent, readMoment } from "./words.js";

const SHOWN = 50, LOADED = 100, KEPT = 400, CURVE = 40;
const rows = new Map(); // by name: { law, item, parts, view }
let skew = 0;           // of this machine's clock, against the service's
let latest = -Infinity; // event, where times are numbers
let marked = null;      // the sequence that is shown
let lateElsewhere = 0;  // overdue ones beyond those that were loaded
let wanted = "", total = 0, refreshing = false, asked = new Map(), choose = () => {};

const list = document.getElementById("next-list");
const byId = id => document.getElementById(id);

export const now = () => clock.calendar ? Date.now() / 1000 + skew : latest;
export const lawOf = name => rows.get(name)?.law ?? null;
export const mark = name => { marked = name; };
export const onChoose = call => { choose = call; };

/* ---- Rows ---- */

function makeRow(name) {
  const parts = {
    when: element("span", { class: "when" }), at: element("span", { class: "at" }), band: element("span", { class: "track" }),
    before: element("span", { class: "before" }), types: element("span", { class: "kinds" }), flag: element("span", { class: "flag" }),
  };
  parts.button = element("button", { type: "button", class: "row" },
    element("span", { class: "who" }, element("bdi", { class: "name" }, name), parts.before), parts.band,
    element("span", { class: "due" }, parts.when, parts.at), element("span", { class: "kind" }, parts.flag, parts.types));
  parts.button.addEventListener("click", () => choose(name, parts.button));
  parts.item = element("li", {}, parts.button);
  return parts;
}

function ago(since) {
  if (clock.calendar && since < 1) return " just now";
  return since > 0 ? ` ${duration(since)} ago` : "";
}

function showRow(row, scale, time) {
  const { parts, view, item } = row, forecast = item.forecast;
  const since = time - readMoment(forecast.last);
  parts.item.classList.toggle("late", view.overdue);
  parts.button.setAttribute("aria-current", row.law.name === marked);
  parts.when.textContent = isFinite(view.median) ? `in ${duration(view.median)}` : view.overdue ? "ended?" : "no more";
  parts.at.textContent = clock.calendar && isFinite(view.median) ? moment(time + view.median, time) : "";
  parts.before.replaceChildren(element("bdi", {}, item.last_type), ago(since));
  parts.flag.textContent = view.overdue ? `overdue, ${percent(view.p)}` : "";
  parts.flag.title = view.overdue ? `A silence this long has a probability of ${percent(view.p)}.` : "";
  parts.band.replaceChildren(drawBand(view, scale));
  const [type] = forecast.types;
  if (type && row.told !== type) parts.types.replaceChildren(chip(type.type), ` ${percent(type.p)}`);
  row.told = type;
}

/* Overdue ones first, the least probable on top; then the next to come. */
function byTurn(a, b) {
  if (a.view.overdue !== b.view.overdue) return a.view.overdue ? -1 : 1;
  if (a.view.overdue) return a.view.p - b.view.p || (a.item.forecast.last < b.item.forecast.last ? -1 : 1);
  return a.view.median - b.view.median || (a.law.name < b.law.name ? -1 : 1);
}

const isHeld = () => list.matches(":hover") || list.contains(document.activeElement);

/* Moves only what is out of place; nothing while somebody is there, but new rows are added. */
function arrange(sorted) {
  const here = [...list.children], want = sorted.map(row => row.parts.item);
  if (here.length === want.length && here.every((item, i) => item === want[i])) return;
  if (isHeld() && here.every(item => want.includes(item))) {
    want.filter(item => !item.isConnected).forEach(item => list.append(item));
    return;
  }
  list.replaceChildren(...want);
}

/* ---- Scale ---- */

const among = (sorted, share) => sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)];

/* The next mark of an axis at or above it, so that the axis does not move all the time. */
function upTo(gap) {
  return marks(20 * gap).find(mark => mark >= gap) ?? gap;
}

/* Where an interval has no end, as far as is known. */
const endOf = view => [view.high90, view.high50, 3 * view.median].find(isFinite) ?? Infinity;

export function scaleOf(views) {
  const sorted = pick => views.map(pick).filter(isFinite).sort((a, b) => a - b);
  const ends = sorted(endOf), middles = sorted(view => view.median);
  const most = ends.length ? among(ends, 0.9) : 1, fine = middles.length ? among(middles, 0.5) / 3 : 1;
  return makeScale(Math.max(upTo(most), 1e-9), Math.max(Math.min(upTo(fine), most), 1e-9));
}

/* ---- Showing ---- */

function noteOf(shown) {
  if (wanted) return shown ? "" : "No sequence of that name among those shown. Press Enter to look it up.";
  return shown < total ? `The first ${shown} of ${count(total, "sequence")}.` : "";
}

export function showList() {
  const time = now(), all = [...rows.values()];
  for (const row of all) row.view = lookAt(row.law, time);
  all.sort(byTurn);
  for (const row of all.splice(KEPT)) rows.delete(row.law.name);
  const found = all.filter(row => row.law.name.toLowerCase().includes(wanted)).slice(0, SHOWN);
  const scale = scaleOf(found.map(row => row.view));
  for (const row of found) showRow(row, scale, time);
  arrange(found);
  drawAxis(byId("axis").firstElementChild, scale, "now");
  byId("axis").hidden = byId("legend").hidden = !found.some(row => isFinite(row.view.low90));
  byId("next-note").textContent = noteOf(found.length);
  const late = all.filter(row => row.view.overdue).length + lateElsewhere;
  byId("tile-overdue").textContent = late.toLocaleString("en");
  byId("tile-overdue").classList.toggle("late", late > 0);
  byId("tile-overdue-note").textContent = late ? "silent for longer than in 90% of cases" : "all within what is expected";
  byId("tile-sequences").textContent = total.toLocaleString("en");
  const soon = found.find(row => !row.view.overdue && isFinite(row.view.median));
  byId("tile-sequences-note").replaceChildren(...soon ? ["next: ", element("bdi", {}, soon.law.name)] : []);
  askAgain(all);
}

/* What is left of an old law is its far end: ask for a new one, given the silence, one at a time. */
async function askAgain(all) {
  const row = all.find(row => row.view.passed > 0.8 && !(asked.get(row.law.name) > now() - 5));
  if (!row || refreshing || !clock.calendar) return;
  refreshing = true;
  try {
    const p = row.view.p, name = row.law.name, moment = new Date(1000 * now()).toISOString();
    if (asked.size > KEPT) asked.clear();
    asked.set(name, now());
    const forecast = await ask(`/v1/forecast/${pathOf(name)}?curve=${CURVE}&now=${moment}`);
    if (rows.get(name) === row && row.item.forecast.events === forecast.events) take({ ...row.item, forecast, p });
  } catch (error) {
    console.warn(error.message);
  }
  refreshing = false;
}

/* ---- What comes in ---- */

/* A sequence as in the list of /v1/next. */
export function take(item) {
  const name = item.forecast.sequence, old = rows.get(name);
  if (old && old.item.forecast.events > item.forecast.events) return;
  if (!old) total = Math.max(total, rows.size + 1);
  latest = Math.max(latest, readMoment(item.forecast.last));
  const row = { law: makeLaw(item.forecast, item.p), item, parts: old?.parts ?? makeRow(name) };
  rows.set(name, row);
  if (!old || old.item.forecast.events === item.forecast.events) return;
  row.parts.item.classList.remove("fresh");
  void row.parts.item.offsetWidth; // begin anew
  row.parts.item.classList.add("fresh");
}

/* Returns the number of sequences. */
export async function load() {
  const answer = await ask(`/v1/next?limit=${LOADED}&curve=${CURVE}`);
  if (clock.calendar) skew = readMoment(answer.now) - Date.now() / 1000;
  else latest = Math.max(latest, readMoment(answer.now));
  const names = new Set(answer.next.map(item => item.forecast.sequence));
  for (const name of rows.keys()) if (!names.has(name)) rows.delete(name);
  total = answer.sequences;
  lateElsewhere = answer.overdue - answer.next.filter(item => item.overdue).length;
  answer.next.forEach(take);
  return total;
}

/* ---- Finding one ---- */

async function suggest(text) {
  const answer = text ? await ask(`/v1/sequences?limit=20&prefix=${pathOf(text)}`) : { sequences: [] };
  byId("find-names").replaceChildren(...answer.sequences.map(s => element("option", { value: s.sequence })));
  return answer.sequences.map(s => s.sequence);
}

export function watchFinder() {
  const input = byId("find-text");
  let last = 0;
  input.addEventListener("input", () => {
    wanted = input.value.trim().toLowerCase();
    showList();
    clearTimeout(last);
    last = setTimeout(() => suggest(input.value.trim()).catch(() => {}), 250);
  });
  byId("find").addEventListener("submit", async event => {
    event.preventDefault();
    const text = input.value.trim(), names = await suggest(text).catch(() => []);
    const name = names.includes(text) ? text : names[0] ?? [...rows.keys()].find(name => name.toLowerCase().includes(wanted));
    if (text && name) choose(name, input);
    else if (text) byId("next-note").textContent = "There is no sequence whose name begins so.";
  });
}
