// Map: entities as points, by two fields that hold numbers, coloured by a third or by a component. If the app said what to
// draw, a smaller one stands beside the other tabs.

parts.map = (() => {
  const root = $("map"), beside = $("beside");
  const choice = { x: el("select", { "aria-label": "x" }), y: el("select", { "aria-label": "y" }), colour: el("select", { "aria-label": "colour" }) };
  const large = { canvas: el("canvas", { id: "map-canvas", "aria-label": "Map of entities" }), legend: el("div", { class: "legend" }), count: el("span", { class: "note" }), most: 2000 };
  const small = { canvas: el("canvas", { id: "beside-canvas", "aria-label": "Map of entities" }), legend: el("div", { class: "legend" }), count: el("span", { class: "note" }), most: 800 };
  root.append(el("div", { class: "controls" }, "x", choice.x, "y", choice.y, "colour", choice.colour, large.count), large.canvas, large.legend);
  beside.append(el("div", { class: "top" }, el("h2", {}, "Map"), small.count, el("span", { class: "grow" }),
    el("button", { class: "plain", id: "beside-close", "aria-label": "Close the map", title: "The tab Map still shows it", onclick: () => { closed = true; layOut(); } }, "×")),
  small.canvas, small.legend);
  let offered = "", bounds = null, closed = false;

  /** Shows the small map where there is one, and not beside the large one. */
  function layOut() {
    beside.hidden = closed || !live.map || tab === "map";
  }

  function offer() {
    const numbers = [], classes = [""];
    for (const component of live.components) {
      if (component.storage !== "sparse" && component.storage !== "stable") {
        for (const field of component.fields) if (/^[fui]\d+$/.test(field.type)) numbers.push(component.short + "." + field.name);
      }
      classes.push(component.short, ...component.fields.filter((f) => /^([ui]\d+|bool)$/.test(f.type)).map((f) => component.short + "." + f.name));
    }
    if (numbers.join() + classes.join() === offered || !numbers.length) return;
    offered = numbers.join() + classes.join();
    const map = live.map || [numbers[0], numbers[1] || numbers[0], ""];
    for (const [key, list, first] of [["x", numbers, map[0]], ["y", numbers, map[1]], ["colour", classes, map[2]]]) {
      const before = choice[key].value || first;
      choice[key].replaceChildren(...list.map((name) => el("option", { value: name, selected: name === before }, name || "one colour")));
    }
  }
  for (const select of Object.values(choice)) select.addEventListener("change", () => { bounds = null; tick(); });

  function draw({ canvas, legend, count }, found) {
    count.textContent = number(found.points.length) + (found.points.length < found.total ? " of " + number(found.total) : "") + " entities";
    const [context, width, height] = canvasOf(canvas);
    // Numbers that are too big to be exact come as texts; for a picture they need not be.
    const near = found.points.filter(([x, y]) => x != null && y != null).map(([x, y, of]) => [Number(x), Number(y), of])
      .filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
    if (!near.length) return;
    const now = [Math.min(...near.map((p) => p[0])), Math.max(...near.map((p) => p[0])), Math.min(...near.map((p) => p[1])), Math.max(...near.map((p) => p[1]))];
    // The frame only grows, so that the picture stands still.
    bounds = bounds ? [Math.min(bounds[0], now[0]), Math.max(bounds[1], now[1]), Math.min(bounds[2], now[2]), Math.max(bounds[3], now[3])] : now;
    const [left, right, low, high] = bounds;
    const scale = Math.min((width - 20) / (right - left || 1), (height - 20) / (high - low || 1));
    const [dx, dy] = [(width - (right - left) * scale) / 2, (height - (high - low) * scale) / 2];
    const classes = new Map();
    const size = near.length > 1500 ? 2 : near.length > 300 ? 3 : 5;
    // Colours are given by order, not by who comes first.
    for (const key of [...new Set(near.map((p) => String(p[2])))].sort()) classes.set(key, COLOURS[classes.size % COLOURS.length]);
    for (const [x, y, of] of near) {
      context.fillStyle = classes.get(String(of));
      context.fillRect(dx + (x - left) * scale - size / 2, height - dy - (y - low) * scale - size / 2, size, size);
    }
    legend.replaceChildren(...(choice.colour.value ? [...classes].slice(0, 8).map(([key, colour]) => {
      const mark = el("i", {});
      mark.style.background = colour;
      return el("span", {}, mark, choice.colour.value + " " + key);
    }) : []));
  }

  async function show(view, patient) {
    offer();
    if (!choice.x.value) { view.count.textContent = "No component has a field with a number."; return; }
    const found = await act("world.points", { x: choice.x.value, y: choice.y.value, colour: choice.colour.value, limit: view.most }, patient);
    if (found) draw(view, found);
  }
  const tick = (patient) => show(large, patient);

  let next = 0;
  return {
    tick,
    every: 200,
    layOut,
    async tickBeside(now) {
      layOut();
      if (beside.hidden || beside.offsetParent === null || now < next) return;
      next = now + 300;
      await show(small, true);
    },
  };
})();
