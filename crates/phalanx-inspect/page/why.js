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
