/* file.js - a file that is dropped into the page, described and forecast. It is sent to /v1/forecast and not stored. */
import { ask } from "./service.js";
import { lookAt, makeLaw } from "./law.js";
import { chip, drawBand, drawShares, element } from "./draw.js";
import { count, duration, moment, percent, readMoment } from "./words.js";
import { now, scaleOf } from "./next.js";

const SHOWN = 20;
const byId = id => document.getElementById(id);

function row({ law, view }, scale) {
  const [type] = law.forecast.types, comes = isFinite(view.median);
  const range = comes ? `${duration(view.low50)} to ${duration(view.high50)}` : "no more";
  return element("tr", {}, element("th", { scope: "row" }, element("bdi", {}, law.name)),
    element("td", {}, moment(law.from, now())),
    element("td", {}, comes ? duration(view.median) : "no more"),
    element("td", { class: "track" }, drawBand(view, scale)),
    element("td", {}, range),
    element("td", {}, ...type ? [chip(type.type), ` ${percent(type.p)}`] : []));
}

function table(forecasts) {
  const rows = forecasts.filter(f => f.events).map(forecast => {
    const law = makeLaw(forecast);
    return { law, view: lookAt(law, law.from) };
  }).sort((a, b) => readMoment(b.law.forecast.last) - readMoment(a.law.forecast.last)).slice(0, SHOWN);
  const scale = scaleOf(rows.map(({ view }) => view));
  const heads = ["Sequence", "Last event", "Next after", "Band", "50% of cases", "Type"].map(text => element("th", { scope: "col" }, text));
  const made = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows.map(r => row(r, scale))));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Forecasts of the file" }, made);
}

function show(name, answer) {
  const { data, forecasts } = answer, types = element("ul", { class: "bars" });
  const sorted = [...data.types].sort((a, b) => b.events - a.events).slice(0, 6);
  drawShares(types, sorted.map(t => ({ type: t.type, p: t.events / data.events, text: t.events.toLocaleString("en") })));
  const note = forecasts.length > SHOWN ? `The ${SHOWN} latest of ${count(forecasts.length, "sequence")}.` : "";
  const size = `${count(data.sequences, "sequence")}, ${count(data.events, "event")}`;
  const faint = text => element("p", { class: "faint" }, text);
  byId("file-answer").replaceChildren(element("h3", {}, element("bdi", {}, name)),
    element("p", {}, data.read ? `${size}, read as ${data.read}` : size), ...data.remarks.map(faint), types,
    element("h3", {}, "Next, after the last event"), table(forecasts), faint(note));
}

async function send(file) {
  const answer = byId("file-answer");
  answer.replaceChildren(element("p", {}, "Reading ", element("bdi", {}, file.name), " …"));
  try {
    show(file.name, await ask("/v1/forecast?curve=40", { method: "POST", body: file, headers: { "Content-Type": "text/plain" } }));
  } catch (error) {
    answer.replaceChildren(element("p", { class: "late", role: "alert" }, element("bdi", {}, file.name), `: ${error.message}`));
  }
}

const hasFile = event => [...event.dataTransfer?.types ?? []].includes("Files");

export function watchFiles() {
  const input = byId("file-input"), drop = byId("drop");
  input.addEventListener("change", () => {
    if (input.files.length) send(input.files[0]);
    input.value = "";
  });
  document.addEventListener("dragover", event => {
    if (!hasFile(event)) return;
    event.preventDefault();
    drop.classList.add("over");
  });
  document.addEventListener("dragleave", event => { if (!event.relatedTarget) drop.classList.remove("over"); });
  document.addEventListener("drop", event => {
    if (!hasFile(event)) return;
    event.preventDefault();
    drop.classList.remove("over");
    byId("file").scrollIntoView({ block: "nearest" });
    if (event.dataTransfer.files.length) send(event.dataTransfer.files[0]);
  });
}
