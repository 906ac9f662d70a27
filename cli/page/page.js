/*
 * page.js - the page: asks for everything once, then follows the stream. A second is a step of time: bands shrink.
 *
 *     service.js  requests and the stream        words.js  times and numbers as text      law.js   what remains of a law
 *     next.js     the list                       one.js    one sequence                   side.js  held, alarms
 *     file.js     a dropped file                 draw.js   drawings
 */
import { ask, hasToken, listen } from "./service.js";
import { element, nameTypes } from "./draw.js";
import { count, duration, percent, setClock, zone } from "./words.js";
import { lookAt } from "./law.js";
import { lawOf, load, now, onChoose, showList, take, watchFinder } from "./next.js";
import { chosen, showOne, showTime, updateOne, watchOne } from "./one.js";
import { loadAlarms, loadHeld, onChooseAlarm, showAlarms, showNoAlarms, takeAlarm } from "./side.js";
import { watchFiles } from "./file.js";

const byId = id => document.getElementById(id);
let model = null, heldIsOld = false, listIsOld = false, loading = null, failures = 0;

/* ---- What is said ---- */

function showProblem(error) {
  byId("problem").textContent = error.message;
  byId("problem").hidden = false;
}

const announce = text => { byId("announce").textContent = text; };

function showState(state) {
  byId("live").dataset.state = state;
  byId("live-text").textContent = state === "live" ? "live" : "connecting again";
}

function showModel() {
  const { types, parameters, smurf } = model;
  byId("model").textContent = `Model of ${count(types.length, "type")}, ${count(parameters, "parameter")}; smurf ${smurf}`;
  byId("zone").textContent = zone();
  byId("links").hidden = hasToken();
}

/* ---- An empty store ---- */

const quoted = text => `'${text.replaceAll("'", "'\\''")}'`;

function showEmpty(isEmpty) {
  byId("empty").hidden = !isEmpty;
  byId("next").hidden = byId("tiles").hidden = isEmpty;
  byId("main").classList.toggle("nothing", isEmpty);
  if (!isEmpty) return;
  const time = model.times === "dates" ? new Date().toISOString().slice(0, 19) + "Z" : 1;
  const event = JSON.stringify({ sequence: "first", time, type: model.types[0] });
  const token = hasToken() ? ` -H "Authorization: Bearer $TOKEN"` : "";
  byId("curl").textContent = `curl ${location.origin}/v1/events${token} -d ${quoted(event)}`;
}

function watchCopy() {
  byId("copy").hidden = !navigator.clipboard;
  byId("copy").addEventListener("click", async () => {
    await navigator.clipboard.writeText(byId("curl").textContent);
    announce("Copied");
    byId("copy").textContent = "Copied";
  });
}

/* ---- Asking ---- */

async function loadAll() {
  model = await ask("/v1/model");
  setClock(model);
  nameTypes(model.types);
  showModel();
  showEmpty(await load() === 0);
  showList();
  if (model.alarms) await Promise.all([loadHeld(), loadAlarms()]);
  else showNoAlarms();
  byId("problem").hidden = true;
  failures = 0;
}

/* One at a time. A service that is busy is asked again by tick(). */
function reload() {
  loading ??= loadAll().catch(error => {
    failures++;
    listIsOld = true;
    if (error.status !== 503 || failures > 5) showProblem(error);
  }).finally(() => { loading = null; });
  return loading;
}

/* ---- The stream ---- */

/* Many messages at a time are shown once. */
let showing = 0;
function showSoon() {
  showing ||= setTimeout(() => {
    showing = 0;
    showList();
    showAlarms();
  }, 100);
}

function tellForecast(item) {
  const name = item.forecast.sequence;
  showEmpty(false);
  take(item);
  showSoon();
  heldIsOld = true;
  if (name !== chosen()) return;
  updateOne(name).catch(showProblem);
  const view = lookAt(lawOf(name), now());
  announce(`${name}: ${item.last_type}. Next in ${duration(view.median)}.`);
}

function hear(kind, message) {
  if (kind === "forecast" && model) tellForecast(message);
  if (kind === "event") byId("about").replaceChildren("last: ", element("bdi", {}, `${message.sequence}, ${message.type}`));
  if (kind === "alarm") {
    takeAlarm(message);
    showSoon();
    announce(`Alarm: ${message.alarm}${message.sequence ? ", " + message.sequence : ""}: ${message.evidence}`);
  }
  if (kind === "model") reload();
}

/* After a time without the stream everything may have changed. */
function changeState(state) {
  showState(state);
  if (state === "live" || !model) reload();
}

/* ---- Time ---- */

let seconds = 0;
function tick() {
  seconds++;
  if (!model || document.hidden) return;
  showList();
  showTime();
  if (seconds % 3 === 0 && heldIsOld && model.alarms) {
    heldIsOld = false;
    loadHeld().catch(error => console.warn(error.message));
  }
  if (listIsOld ? seconds % 3 === 0 : seconds % 300 === 0) {
    listIsOld = false;
    reload();
  }
}

function choose(name, from) {
  showOne(name, from).catch(showProblem);
}

onChoose(choose);
onChooseAlarm(choose);
watchFinder();
watchOne();
watchFiles();
watchCopy();
listen(hear, changeState);
setInterval(tick, 1000);
addEventListener("resize", () => { if (model) showList(); });
