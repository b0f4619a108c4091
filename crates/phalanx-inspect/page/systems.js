// Systems: plots of the last minute, the timeline of the last frames, and the schedule as a graph.

parts.systems = (() => {
  const root = $("systems");
  const HINT = "Each bar is one run of a system, a mark below is one that was skipped; point at it to see which, and why it waited or did not run.";
  const plots = el("div", { class: "plots" });
  const timeline = el("canvas", { id: "timeline", "aria-label": "Timeline of the last frames" });
  const hint = el("p", { class: "note" }, HINT);
  const graph = el("div", {});
  root.append(plots,
    el("div", { class: "card" }, el("div", { class: "head" }, el("h2", {}, "Last frames, by thread"), el("span", { class: "grow" }),
      el("button", { onclick: save }, "Save a trace for Perfetto")), timeline, hint),
    graph);

  const curves = [["Frame time", "frameTime", (v) => v.toFixed(2) + " ms"], ["Entities", "entities", number], ["Memory", "bytes", bytes]]
    .map(([title, key, show]) => {
      const canvas = el("canvas", {}), value = el("b", {});
      plots.append(el("div", { class: "card" }, el("div", { class: "top" }, el("h2", {}, title), el("span", { class: "grow" }), value), canvas));
      return { key, show, canvas, value };
    });

  function drawPlots() {
    for (const { key, show, canvas, value } of curves) {
      const values = live.history.map((stats) => stats[key]);
      if (!values.length) continue;
      value.textContent = show(values[values.length - 1]);
      const [context, width, height] = canvasOf(canvas);
      const high = Math.max(...values) || 1, low = key === "frameTime" ? 0 : Math.min(...values);
      const y = (v) => (high === low ? height / 2 : height - 3 - ((v - low) / (high - low)) * (height - 8));
      context.strokeStyle = css("--accent");
      context.lineWidth = 1.5;
      context.beginPath();
      values.forEach((v, at) => context.lineTo((at / Math.max(1, values.length - 1)) * width, y(v)));
      context.stroke();
    }
  }

  /** Why a bar did not begin earlier: what it had to wait for, and then what its thread was busy with. */
  function waited(found, frame, thread, from, reason, ready) {
    const busy = frame.bars.filter((b) => b[1] === thread && !b[5] && b[2] + b[3] <= from).sort((a, b) => b[2] + b[3] - a[2] - a[3])[0];
    const until = busy ? busy[2] + busy[3] : 0;
    const held = reason == null ? "" : found.reasons[reason] + ", which ended at " + ready.toFixed(1) + " µs";
    if (!busy || until <= (ready ?? 0)) return held || "it waited for no other system";
    const then = "thread " + thread + " was busy with `" + found.systems[busy[0]].name + "` until " + until.toFixed(1) + " µs";
    return held ? held + "; then " + then : then;
  }

  let bars = [];
  function drawTimeline(found) {
    const lane = 24;
    timeline.style.height = found.threads * lane + 20 + "px";
    const [context, width, height] = canvasOf(timeline);
    bars = [];
    const frames = found.frames.slice(-8);
    timeline.dataset.frames = String(frames.length);
    // Frames stand side by side: what lies between them is not the app's.
    const all = frames.reduce((sum, frame) => sum + frame.length, 0) || 1;
    const scale = (width - 6 * frames.length) / all;
    let left = 0, free = 0;
    for (const frame of frames) {
      const wide = frame.length * scale;
      context.fillStyle = css("--bar");
      context.fillRect(left, 0, wide, height - 18);
      for (const [system, thread, from, length, runs, skipped, reason, ready] of frame.bars) {
        const { phase, name } = found.systems[system];
        const bar = { x: left + from * scale, y: thread * lane + 3, w: Math.max(2, length * scale), h: lane - 6 };
        context.fillStyle = skipped ? css("--faint") : colourOf(name);
        // What did not run is a thin mark, wide enough to be pointed at.
        if (skipped) Object.assign(bar, { w: Math.max(bar.w, 4), y: bar.y + bar.h - 5, h: 5 });
        context.fillRect(bar.x, bar.y, bar.w, bar.h);
        context.font = "11px " + css("--sans");
        if (!skipped && bar.w > context.measureText(name).width + 8) {
          context.fillStyle = "#fff";
          context.fillText(name, bar.x + 4, bar.y + 13);
        }
        bars.push({ ...bar, text: phase + " / " + name + ": " + (skipped ? "did not run: " + found.reasons[reason]
          : length.toFixed(1) + " µs" + (runs > 1 ? ", the last of " + runs + " runs" : "") + ", on thread " + thread + "; "
            + waited(found, frame, thread, from, reason, ready)) });
      }
      context.font = "11px " + css("--sans");
      const label = frame.frame + " · " + (frame.length / 1000).toFixed(2) + " ms";
      if (left >= free && left + context.measureText(label).width < width) {
        context.fillStyle = css("--faint");
        context.fillText(label, left, height - 5);
        free = left + context.measureText(label).width + 8;
      }
      left += wide + 6;
    }
  }
  timeline.addEventListener("mousemove", (event) => {
    const hit = bars.filter((b) => event.offsetX >= b.x - 1 && event.offsetX <= b.x + b.w + 1 && event.offsetY >= b.y && event.offsetY <= b.y + b.h).pop();
    hint.textContent = hit ? hit.text : HINT;
  });

  async function save() {
    const trace = await act("app.trace");
    if (!trace) return;
    const link = el("a", { href: URL.createObjectURL(new Blob([JSON.stringify(trace)], { type: "application/json" })), download: "trace.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  function phaseOf(found) {
    if (found.error) return el("div", { class: "phase" }, el("h2", {}, found.phase), el("p", { class: "advice" }, found.error));
    const waves = el("div", { class: "waves" });
    let wave = null, last = -1, level = 0;
    const boxes = found.systems.map((system) => {
      const marks = [system.exclusive ? "alone" : "", system.defers ? "commands" : "", system.skipped ? system.skipped.replace(/^[^:]*: /, "did not run: ") : system.conditions.length ? "if " + system.conditions.join(", ") : ""];
      return el("button", { class: "system", title: "reads " + (system.reads.join(", ") || "nothing") + "\nwrites " + (system.writes.join(", ") || "nothing") },
        el("b", {}, system.name), el("small", {}, marks.filter(Boolean).join(" · ") || "\u00a0"));
    });
    found.systems.map((system, at) => [system, at]).sort((a, b) => a[0].wave - b[0].wave || a[1] - b[1]).forEach(([system, at]) => {
      if (system.level !== level) {
        waves.append(el("div", { class: "sync", title: "Commands are applied here" }, "sync"));
        level = system.level;
      }
      if (system.wave !== last) {
        wave = el("div", { class: "wave" });
        waves.append(wave);
        last = system.wave;
      }
      wave.append(boxes[at]);
    });
    const note = el("p", { class: "note" }, "Systems above each other may run side by side.");
    boxes.forEach((box, at) => box.addEventListener("click", () => {
      boxes.forEach((other) => other.classList.remove("linked", "clash"));
      const system = found.systems[at];
      box.classList.add("linked");
      const after = system.after, before = found.systems.flatMap((other, i) => (other.after.includes(at) ? [i] : []));
      after.concat(before).forEach((i) => boxes[i].classList.add("linked"));
      const clashes = found.conflicts.filter(([a, b]) => a === at || b === at);
      clashes.forEach(([a, b]) => boxes[a === at ? b : a].classList.add("clash"));
      const names = (list) => list.map((i) => found.systems[i].name).join(", ");
      note.textContent = system.name + " reads " + (system.reads.join(", ") || "nothing") + "; writes " + (system.writes.join(", ") || "nothing")
        + (after.length ? "; declared after " + names(after) : "") + (before.length ? "; declared before " + names(before) : "")
        + clashes.map(([a, b, parts]) => "; shares " + parts.join(", ") + " with " + found.systems[a === at ? b : a].name).join("")
        + (system.skipped ? "; " + system.skipped : "") + (system.queries.length ? "; its queries ask for entities " + system.queries.join("; ") : "") + ".";
    }));
    const warnings = (found.warnings || []).map((text) => el("p", { class: "advice" }, text));
    return el("div", { class: "phase card" }, el("h2", {}, found.phase), waves, note, ...warnings);
  }

  /** What ran in the last frame is known from its bars, so the schedule need not be asked for it. */
  function mark(schedule, { systems, frames, reasons }) {
    for (const [at, , , , , skipped, reason] of frames.length ? frames[frames.length - 1].bars : []) {
      const phase = schedule.phases.find((found) => found.phase === systems[at].phase);
      const system = phase?.systems?.find((found) => found.name === systems[at].name);
      if (system) system.skipped = skipped ? "`" + system.name + "` did not run: " + reasons[reason] : null;
    }
  }

  // Working out the order of systems costs the app more than telling when they ran, and seldom changes.
  let drawn = "", schedule = null, known = "", asked = 0;
  async function tick(patient) {
    drawPlots();
    // Frames are noted from the first time on that somebody asks: until there are some, somebody waits.
    const times = await act("app.timeline", { frames: 12 }, patient && timeline.dataset.frames > 0);
    if (!times) return;
    drawTimeline(times);
    const names = JSON.stringify(times.systems);
    if (!schedule || names !== known || performance.now() - asked > 5000) {
      schedule = await act("app.schedule", {}, patient) || schedule;
      [known, asked] = [names, performance.now()];
    }
    if (!schedule) return;
    mark(schedule, times);
    const text = JSON.stringify(schedule);
    if (text !== drawn) {
      drawn = text;
      graph.replaceChildren(...schedule.phases.map(phaseOf));
    }
    parts.why.know(schedule);
  }

  return { tick, every: 500 };
})();
