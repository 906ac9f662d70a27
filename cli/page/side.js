/* side.js - how well forecasts have held, and the alarms. */
import { ask } from "./service.js";
import { drawPit, element } from "./draw.js";
import { count, moment, percent, readMoment } from "./words.js";
import { now } from "./next.js";

const SHOWN = 6, NAMES = { overdue: "overdue", early: "early", type: "odd type", rate: "rate", calibration: "calibration" };
const byId = id => document.getElementById(id);
const alarms = new Map(); // by number
let choose = () => {}, isOn = false; // whether the service raises alarms

export const onChooseAlarm = call => { choose = call; };

/* ---- How well forecasts have held ---- */

/* Twice the standard deviation of a share, by chance. */
const noise = (level, n) => 2 * Math.sqrt(level * (1 - level) / n);

function meter({ level, share }, n) {
  const good = Math.abs(share - level) <= noise(level, n);
  const bar = element("i", { class: good ? "good" : "off" }), mark = element("b");
  bar.style.width = `${100 * share}%`;
  mark.style.left = `${100 * level}%`;
  return element("div", {}, element("span", { class: "label" }, `${percent(level)} bands`),
    element("span", { class: "bar", "aria-hidden": "true" }, bar, mark),
    element("span", { class: "value" }, percent(share)));
}

function verdict(held) {
  const [half, most] = held.levels, n = held.gaps;
  const off = level => (level.share - level.level) / noise(level.level, n);
  if (n < 30) return `Too few to judge: ${count(n, "event")} so far.`;
  const events = count(n, "event");
  if (Math.max(Math.abs(off(half)), Math.abs(off(most))) <= 1) return `As promised, within what chance explains: ${events}.`;
  if (off(half) + off(most) < 0) return `Bands are too narrow: fewer of ${events} fell inside than promised.`;
  return `Bands are too wide: more of ${events} fell inside than promised.`;
}

export async function loadHeld() {
  const held = await ask("/v1/held?hours=24");
  byId("tile-held").textContent = held.gaps ? percent(held.levels[1].share) : "–";
  byId("tile-held-note").textContent = held.gaps ? `of ${count(held.gaps, "event")} in 24 hours` : "no events yet";
  byId("held-words").textContent = held.gaps ? verdict(held) : "Nothing to judge yet: events that follow others show whether their forecasts held.";
  byId("held-levels").replaceChildren(...held.gaps ? held.levels.map(level => meter(level, held.gaps)) : []);
  drawPit(byId("held-pit"), held.pit);
}

/* ---- Alarms ---- */

function alarmItem(a) {
  const head = element("span", { class: "alarm-head" }, element("span", { class: `badge ${a.alarm}` }, NAMES[a.alarm] ?? a.alarm),
    element("time", { datetime: a.at }, moment(readMoment(a.at), now())));
  const words = element("span", { class: "alarm-words", dir: "auto" }, a.evidence);
  if (!a.sequence) return element("li", {}, head, words);
  const button = element("button", { type: "button", class: "link", dir: "auto" }, a.sequence);
  button.addEventListener("click", () => choose(a.sequence, button));
  return element("li", {}, head, button, words);
}

export function showAlarms() {
  if (!isOn) return;
  const all = [...alarms.values()].sort((a, b) => b.number - a.number);
  byId("alarms").replaceChildren(...all.slice(0, SHOWN).map(alarmItem));
  byId("alarms-note").textContent = all.length > SHOWN ? `The last ${SHOWN} of ${all.length}.` : all.length ? "" : "None so far.";
  byId("tile-alarms").textContent = all.length;
  byId("tile-alarms-note").textContent = all.length ? `last: ${moment(readMoment(all[0].at), now())}` : "none so far";
}

export function takeAlarm(alarm) {
  if (!alarm.alarm) return;
  alarms.set(alarm.number, alarm);
}

export async function loadAlarms() {
  let after = 0;
  isOn = true;
  for (; ;) {
    const answer = await ask(`/v1/alarms?after=${after}`);
    for (const a of answer.alarms) if (a.alarm) alarms.set(a.number, a);
    if (answer.next <= after || !answer.alarms.length) break;
    after = answer.next;
  }
  showAlarms();
}

export function showNoAlarms() {
  for (const id of ["tile-alarms", "tile-held"]) byId(id).textContent = "off";
  for (const id of ["tile-alarms-note", "tile-held-note"]) byId(id).textContent = "--alarms-per-day 1 turns them on";
  byId("alarms-note").textContent = "Start the service with --alarms-per-day 1 to hear of what is overdue or odd.";
  byId("held-words").textContent = "Start the service with --alarms-per-day 1 to see how many bands contained what came.";
}
