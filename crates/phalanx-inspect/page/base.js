// What every part of the page uses: calls, elements, numbers. Text from the world only ever becomes text content.

const token = new URLSearchParams(location.search).get("token") || sessionStorage.getItem("phalanx-token") || "";
sessionStorage.setItem("phalanx-token", token);
// The token leaves the address bar, and with it the history and pictures of the screen.
if (location.search) history.replaceState(null, "", location.pathname + location.hash);

const $ = (id) => document.getElementById(id);

/** Makes an element: el("td", {class: "n"}, "text", other). */
function el(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  for (const child of children) {
    if (child != null) made.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return made;
}

let calls = 0;

/** Calls a method of the app; `patient` for what nobody waits for, which the app answers when that costs it little. Whole
 *  numbers beyond 2^53, which would be rounded here, come and go as texts. */
async function call(method, params, patient) {
  const answer = await fetch("/api", {
    method: "POST",
    headers: { "Content-Type": "application/json", "Authorization": "Bearer " + token },
    body: JSON.stringify({ jsonrpc: "2.0", id: ++calls, method, params: params || {}, patient: patient === true }),
  });
  if (!answer.ok) throw new Error((await answer.text()).trim() || "HTTP " + answer.status);
  const { result, error } = await answer.json();
  if (error) throw new Error(error.message);
  return result;
}

let toastTimer = 0;
function toast(text) {
  $("toast").textContent = text;
  $("toast").classList.add("shown");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => $("toast").classList.remove("shown"), 3500);
}

/** Calls a method for its effect, and says why when there is none. */
async function act(method, params, patient) {
  try {
    return await call(method, params, patient);
  } catch (error) {
    toast(error.message);
    return null;
  }
}

const number = (value) => Number(value).toLocaleString("en");
function bytes(value) {
  const units = ["B", "KB", "MB", "GB"];
  let at = 0;
  while (value >= 1024 && at < 3) { value /= 1024; at += 1; }
  return (at && value < 100 ? value.toFixed(1) : Math.round(value)) + " " + units[at];
}

const COLOURS = ["#4c8dff", "#f0743e", "#2fae76", "#b56be0", "#d9a514", "#e2527b", "#21a8b8", "#8b93a1"];
function colourOf(text) {
  let hash = 7;
  for (const c of String(text)) hash = (hash * 31 + c.charCodeAt(0)) >>> 0;
  return COLOURS[hash % COLOURS.length];
}
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Prepares a canvas for its size on the screen, and returns its context. */
function canvasOf(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return [context, width, height];
}

/** What the stream told last, and a little of what it told before. */
const live = { stats: null, history: [], edits: false, map: null, components: [] };
const parts = {};
