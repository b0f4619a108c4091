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
  const list = el("div", {});
  entity.form.parentNode.append(list);
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

  async function tick(patient) {
    components.replaceChildren(...live.components.map((component) => el("option", { value: component.short })));
    const schedule = await act("app.schedule", {}, patient);
    if (schedule) know(schedule);
  }

  /** All systems at once: who visits an entity, and why the others do not; a click asks about one. */
  async function overview(id) {
    const found = await act("why", { entity: id });
    if (!found) return;
    const rows = found.systems.map(({ system, visits, skipped, reason, writes }) => {
      const pick = el("button", { class: "plain id", onclick: () => { entity.inputs.system.value = system; entity.form.requestSubmit(); } }, system);
      return el("tr", { class: visits && !skipped ? "visits" : "" }, el("td", {}, pick), el("td", {}, visits && !skipped ? "yes" : visits ? "would" : "no"),
        el("td", { class: "soft" }, reason || (writes.length ? "writes " + writes.join(", ") : "")));
    });
    list.replaceChildren(el("p", { class: "note" }, found.text), ...(rows.length ? [el("div", { class: "scroll" }, el("table", { id: "visitors" },
      el("tr", {}, el("th", {}, "system"), el("th", {}, "visits it"), el("th", {}, "why not, or what it writes")), ...rows))] : []));
  }

  function about(id) {
    entity.inputs.entity.value = id;
    query.inputs.entity.value = id;
    showTab("why");
    entity.inputs.system.focus();
    overview(id);
  }

  return { tick, every: 3000, know, about };
})();
