/* service.js - asks the service, with the token if it wants one, and listens to its stream. */

let token = sessionStorage.getItem("smurf-token");
let asking = null; // while the token is asked for: a promise

export const hasToken = () => token !== null;

/* One dialog at a time, whoever wants it. */
function askForToken() {
  const dialog = document.getElementById("ask");
  const input = document.getElementById("token");
  if (asking) return asking;
  if (token !== null) document.getElementById("ask-words").textContent = "That was not the token of this service. Try again.";
  asking = new Promise(resolve => {
    dialog.addEventListener("close", () => {
      token = input.value.replace(/[^\x21-\x7e]/g, ""); // one word
      sessionStorage.setItem("smurf-token", token);
      input.value = "";
      asking = null;
      resolve();
    }, { once: true });
  });
  dialog.addEventListener("cancel", event => event.preventDefault());
  dialog.showModal();
  return asking;
}

async function request(path, options = {}) {
  for (;;) {
    if (asking) await asking;
    const used = token;
    const headers = { ...options.headers };
    if (used !== null) headers.Authorization = "Bearer " + used;
    const response = await fetch(path, { ...options, headers, cache: "no-store" });
    if (response.status !== 401) return response;
    if (used === token) await askForToken();
  }
}

/* The answer, or an error with what is wrong and what to do. */
export async function ask(path, options) {
  const response = await request(path, options);
  const answer = await response.json();
  if (response.ok) return answer;
  const { message, do: what } = answer.error;
  throw Object.assign(new Error(what ? `${message}: ${what}` : message), { status: response.status });
}

export const pathOf = name => encodeURIComponent(name);

/* "event: KIND", "data: JSON" and an empty line are a message; other lines are comments. */
function readMessage(text, tell) {
  let kind = "", data = "";
  for (const line of text.split("\n")) {
    if (line.startsWith("event: ")) kind = line.slice(7);
    if (line.startsWith("data: ")) data += line.slice(6);
  }
  if (kind && data) tell(kind, JSON.parse(data));
}

async function readStream(body, tell) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; ;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (text + value).split("\n\n");
    text = parts.pop();
    for (const part of parts) readMessage(part, tell);
  }
}

const pause = seconds => new Promise(resolve => setTimeout(resolve, 1000 * seconds));

/* Listens for ever. EventSource cannot send a token, so the stream is read by hand. */
export async function listen(tell, tellState) {
  for (let wait = 1; ; wait = Math.min(2 * wait, 30)) {
    try {
      const response = await request("/v1/stream");
      if (response.ok) {
        wait = 1;
        tellState("live");
        await readStream(response.body, tell);
      }
    } catch (error) {
      if (!(error instanceof TypeError)) console.error(error); // TypeError: the network
    }
    tellState("lost");
    await pause(wait);
  }
}
