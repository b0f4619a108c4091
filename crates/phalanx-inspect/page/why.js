// Why: an entity and a system or query, two systems, a component.

parts.why = (() => {
  const root = $("why");
  const systems = el("datalist", { id: "systems-list" }), components = el("datalist", { id: "components-list" });

  function question(title, fields, submit) {
    const answer = el("p", { class: "answer", hidden: true, "aria-live": "polite" });
    const inputs = {};
    const form = el("form", { class: "ask" });
    fields.forEach(([key, label, attributes], at) => {
      inputs[key] = el("input", { spellcheck: "false", autocomplete: "off", "aria-label": label, ...attributes });
      form.append(el("label", {}, label), inputs[key], at === fields.length - 1 ? el("button", { class: "primary" }, "Ask") : el("span", {}));
    });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const params = {};
      for (const [key, input] of Object.entries(inputs)) if (input.value.trim()) params[key] = input.value.trim();
      answer.hidden = false;
      answer.classList.remove("yes", "no");
      try {
        const result = await call("why", submit(params));
        answer.textContent = result.text;
        if ("visits" in result) answer.classList.add(result.visits && !result.skipped ? "yes" : "no");
      } catch (error) {
        answer.textContent = error.message;
        answer.classList.add("no");
      }
    });
    root.append(el("div", { class: "card" }, el("h2", {}, title), form, answer));
    return { inputs, form };
  }

  root.append(systems, components);
  const entity = question("Why does a system not change this entity?",
    [["entity", "Entity", { placeholder: "12v0" }], ["system", "System", { list: "systems-list", placeholder: "Update/movement" }]], (p) => p);
  const query = question("Why does this entity not match?",
    [["entity", "Entity", { placeholder: "12v0" }], ["query", "Query", { placeholder: "Position, !Frozen, Health.hp < 10" }]], (p) => p);
  question("Why do two systems run in this order?",
    [["first", "First", { list: "systems-list" }], ["second", "Second", { list: "systems-list" }]], (p) => p);
  question("Who reads and writes a component?", [["component", "Component", { list: "components-list" }]], (p) => p);

  let known = "";
  function know(schedule) {
    const names = schedule.phases.flatMap((phase) => (phase.systems || []).map((system) => phase.phase + "/" + system.name));
    if (names.join() === known) return;
    known = names.join();
    systems.replaceChildren(...names.map((name) => el("option", { value: name })));
  }

  async function tick() {
    components.replaceChildren(...live.components.map((component) => el("option", { value: component.short })));
    const schedule = await act("app.schedule");
    if (schedule) know(schedule);
  }

  function about(id) {
    entity.inputs.entity.value = id;
    query.inputs.entity.value = id;
    showTab("why");
    entity.inputs.system.focus();
  }

  return { tick, every: 3000, know, about };
})();

// Map: entities as points, by two fields that hold numbers, coloured by a third or by a component.
parts.map = (() => {
  const root = $("map");
  const choice = { x: el("select", { "aria-label": "x" }), y: el("select", { "aria-label": "y" }), colour: el("select", { "aria-label": "colour" }) };
  const canvas = el("canvas", { id: "map-canvas", "aria-label": "Map of entities" }), legend = el("div", { class: "legend" }), count = el("span", { class: "note" });
  root.append(el("div", { class: "controls" }, "x", choice.x, "y", choice.y, "colour", choice.colour, count), canvas, legend);
  let offered = "", bounds = null;

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

  async function tick() {
    offer();
    if (!choice.x.value) { count.textContent = "No component has a field with a number."; return; }
    const found = await act("world.points", { x: choice.x.value, y: choice.y.value, colour: choice.colour.value });
    if (!found) return;
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
    const size = near.length > 2000 ? 2 : near.length > 300 ? 3 : 5;
    for (const [x, y, of] of near) {
      const key = String(of);
      if (!classes.has(key)) classes.set(key, COLOURS[classes.size % COLOURS.length]);
      context.fillStyle = classes.get(key);
      context.fillRect(dx + (x - left) * scale - size / 2, height - dy - (y - low) * scale - size / 2, size, size);
    }
    legend.replaceChildren(...(choice.colour.value ? [...classes].slice(0, 8).map(([key, colour]) => {
      const mark = el("i", {});
      mark.style.background = colour;
      return el("span", {}, mark, choice.colour.value + " " + key);
    }) : []));
  }

  return { tick, every: 150 };
})();
