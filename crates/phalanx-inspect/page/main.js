// The page as a whole: tabs, time, the stream of events, and who is asked how often.

let tab = "entities";
let next = 0;
// Whether a tab was drawn since it was chosen: what follows can wait.
let drawn = false;

function showTab(name) {
  tab = name;
  for (const button of $("tabs").children) button.setAttribute("aria-selected", String(button.dataset.tab === name));
  for (const section of document.querySelectorAll(".tab")) section.hidden = section.id !== name;
  parts.map.layOut();
  next = 0;
  drawn = false;
}
for (const button of $("tabs").children) button.addEventListener("click", () => showTab(button.dataset.tab));

async function togglePause() {
  const paused = live.stats?.paused;
  const answer = await act(paused ? "app.resume" : "app.pause");
  if (answer && live.stats) tell({ ...live.stats, paused: answer.paused });
}
const stepOnce = () => act("app.step", { frames: 1 });
async function stepSystem() {
  const ran = await act("app.step_system");
  if (ran) toast(ran.system ? "Ran " + ran.phase + "/" + ran.system : "The frame has ended");
}
$("pause").addEventListener("click", togglePause);
$("step").addEventListener("click", stepOnce);
$("step-system").addEventListener("click", stepSystem);
document.addEventListener("keydown", (event) => {
  if (["INPUT", "SELECT", "BUTTON"].includes(event.target.tagName)) return;
  if (event.key === " ") { event.preventDefault(); togglePause(); }
  if (event.key === ".") stepOnce();
  if (event.key === ",") stepSystem();
});

$("rewind").addEventListener("change", async () => {
  const frames = Number($("rewind").max) - Number($("rewind").value);
  const answer = frames > 0 && await act("app.rewind", { frames });
  if (answer) {
    toast("Went back " + number(frames) + (frames === 1 ? " frame" : " frames") + " to frame " + number(answer.frame));
    live.stats.frame = answer.frame;
    parts.compare.forget();
  }
});

function tell(stats) {
  live.stats = stats;
  live.edits = stats.edits;
  live.history.push(stats);
  if (live.history.length > 600) live.history.shift();
  $("s-frame").textContent = number(stats.frame);
  $("s-ms").textContent = stats.frameTime.toFixed(2);
  $("s-entities").textContent = number(stats.entities);
  $("s-bytes").textContent = bytes(stats.bytes);
  $("pause").textContent = stats.paused ? "Resume" : "Pause";
  $("pause").disabled = !stats.edits;
  $("step").disabled = $("step-system").disabled = !stats.edits || !stats.paused;
  $("spawn").hidden = !stats.edits;
  // The slider stands at the present; what is left of it is kept.
  $("rewind-box").hidden = !stats.edits || !stats.paused || !stats.history;
  if ($("rewind").max !== String(stats.history) && document.activeElement !== $("rewind")) {
    $("rewind").max = String(stats.history);
    $("rewind").value = String(stats.history);
  }
  $("s-dot").className = "dot " + (stats.paused ? "paused" : "on");
  $("s-link").textContent = stats.paused ? (stats.system ? "after " + stats.system : "paused") : stats.edits ? "live" : "read-only";
}

function listen() {
  const events = new EventSource("/events?token=" + encodeURIComponent(token));
  events.onmessage = (event) => {
    try { tell(JSON.parse(event.data)); } catch { /* The next one will be whole. */ }
  };
  events.onerror = () => {
    $("s-dot").className = "dot";
    $("s-link").textContent = "waiting";
  };
}

async function loop() {
  const part = parts[tab];
  const now = performance.now();
  if (!document.hidden && now >= next && part?.tick) {
    next = now + (part.every || 250);
    const patient = drawn;
    drawn = true;
    try { await part.tick(patient); } catch (error) { toast(error.message); }
  }
  if (!document.hidden) await parts.map.tickBeside(now);
  setTimeout(loop, 50);
}

async function know() {
  try {
    live.components = await call("world.components", {}, true);
    $("names").replaceChildren(...live.components.map((component) => el("option", { value: component.short })));
  } catch { /* Shown by whoever needs it. */ }
  setTimeout(know, 5000);
}

(async () => {
  listen();
  try {
    const found = await call("rpc.discover");
    live.edits = found.edits;
    live.map = found.map;
  } catch (error) {
    toast(error.message);
  }
  await know();
  parts.entities.start();
  loop();
})();
