// Entities: a list that only has the rows in sight, the components of one entity, live, and edits with undo.

parts.entities = (() => {
  const ROW = 30, PAGE = 100;
  const list = $("list"), all = $("list-all"), detail = $("detail");
  let query = "", total = 0, pages = new Map(), picked = null, shown = "", asking = 0;
  const undo = [];

  function forget(fresh) {
    asking += 1;
    pages = new Map();
    if (fresh) list.scrollTop = 0;
  }

  // When the search began and ended that the list shows; it goes on for as long as it is not whole.
  const searched = { began: 0, ended: 0, whole: false };

  /** Asks for a page of the list; `fresh` begins the search anew, `again` keeps what is shown until that is
   *  whole, and can wait, as does asking how far a search is (`more`). */
  async function load(page, fresh, again, more) {
    const own = asking;
    if (!again) pages.set(page, null);
    if (fresh) Object.assign(searched, { began: performance.now(), whole: false });
    try {
      const result = await call("world.query", { query, offset: page * PAGE, limit: PAGE, fresh }, again || more);
      if (own !== asking) return;
      if (result.complete && !searched.whole) Object.assign(searched, { ended: performance.now(), whole: true });
      if (again) {
        if (!result.complete) {
          setTimeout(() => { if (own === asking) load(page, false, true); }, 100);
          return;
        }
        pages = new Map();
      }
      $("query").classList.remove("wrong");
      const note = $("query-note");
      note.classList.remove("wrong");
      note.textContent = result.complete
        ? number(result.total) + (result.total === 1 ? " entity" : " entities")
        : number(result.total) + " found, " + number(result.scanned) + " looked at …";
      total = result.total;
      pages.set(page, result.entities);
      draw();
      if (!result.complete) setTimeout(() => { if (own === asking) load(page, false, false, true); }, 100);
    } catch (error) {
      if (own !== asking) return;
      Object.assign(searched, { ended: performance.now(), whole: true });
      $("query").classList.add("wrong");
      $("query-note").classList.add("wrong");
      $("query-note").textContent = error.message;
    }
  }

  // Browsers end an element at some 30 million pixels; in a list that is longer, each pixel of the bar stands for more.
  const height = () => Math.min(total * ROW, 15e6);
  /** How many pixels of the whole list lie above what is in sight. */
  function above() {
    const whole = total * ROW, view = list.clientHeight;
    return whole <= height() ? list.scrollTop : (list.scrollTop / Math.max(1, height() - view)) * (whole - view);
  }

  function draw() {
    all.style.height = height() + "px";
    const top = list.scrollTop, hidden = above();
    const first = Math.max(0, Math.floor(hidden / ROW) - 3);
    const last = Math.min(total, first + Math.ceil(list.clientHeight / ROW) + 8);
    const rows = [];
    for (let at = first; at < last; at++) {
      const page = Math.floor(at / PAGE);
      if (!pages.has(page)) load(page, false);
      const found = (pages.get(page) || [])[at % PAGE];
      const row = el("div", { class: "row" + (found && found.entity === picked ? " picked" : ""), role: "option" });
      row.style.top = top + at * ROW - hidden + "px";
      if (found) {
        row.dataset.entity = found.entity;
        row.append(el("span", { class: "id" }, found.entity));
        if (found.name) row.append(el("span", { class: "who" }, found.name));
        row.append(el("span", { class: "has" }, found.components.join(" · ")));
        row.addEventListener("click", () => pick(found.entity));
      } else {
        row.append(el("span", { class: "has" }, "…"));
      }
      rows.push(row);
    }
    if (!total && pages.get(0)) rows.push(el("p", { class: "empty pad" }, "No entity matches."));
    all.replaceChildren(...rows);
  }

  function pick(entity) {
    picked = entity;
    shown = "";
    history.replaceState(null, "", "#" + entity);
    draw();
    parts.tree.mark();
    refresh();
  }

  async function refresh(patient) {
    if (!picked) return;
    const asked = picked;
    try {
      const found = await call("world.get", { entity: picked }, patient);
      if (asked === picked) show(found);
    } catch (error) {
      if (asked === picked) {
        shown = "";
        detail.replaceChildren(el("p", { class: "empty" }, error.message),
          live.edits && undo.length ? el("button", { id: "undo", onclick: takeBack }, "Undo") : "");
      }
    }
  }

  function show(found) {
    const shape = JSON.stringify([found.entity, live.edits, undo.length, Boolean(live.stats?.history), found.parent, found.children,
      found.components.map((c) => [c.component, c.fields.map((f) => [f.name, f.type])])]);
    if (shape !== shown) {
      shown = shape;
      build(found);
    }
    for (const component of found.components) {
      for (const field of component.fields) {
        const input = inputs.get(component.component + "\n" + field.name);
        // What somebody is typing stays.
        if (!input || input === document.activeElement) continue;
        if (input.type === "checkbox") input.checked = field.value === true;
        else if (input.value !== textOf(field.value)) input.value = textOf(field.value);
      }
      const text = texts.get(component.component);
      if (text && text.textContent !== (component.text || "")) text.textContent = component.text || "";
    }
  }

  const inputs = new Map(), texts = new Map();
  const textOf = (value) => (value == null ? "—" : String(value));

  function build(found) {
    inputs.clear();
    texts.clear();
    const id = found.entity;
    const head = el("div", { class: "head" },
      el("h3", { class: "id" }, id), found.name ? el("b", {}, found.name) : null,
      found.pool ? el("span", { class: "tag hot" }, "pool " + found.pool) : null,
      el("span", { class: "tag" }, found.archetype), el("span", { class: "grow" }),
      el("button", { class: "plain", onclick: () => parts.why.about(id) }, "Why?"));
    if (live.edits) {
      head.append(
        el("button", { class: "plain", id: "undo", disabled: undo.length === 0, onclick: takeBack }, "Undo"),
        el("button", { class: "plain", id: "despawn", onclick: () => despawn(id) }, "Despawn"));
    }
    const lead = ({ entity, name }) => el("button", { class: "plain id", onclick: () => pick(entity) }, name ? name + " " + entity : entity);
    const family = [];
    if (found.parent) family.push(el("div", { class: "chips" }, el("span", { class: "soft" }, "child of"), lead(found.parent)));
    if (found.children.length) {
      const more = found.childCount - found.children.length;
      family.push(el("div", { class: "chips" }, el("span", { class: "soft" }, "children"), ...found.children.map(lead),
        more > 0 ? el("span", { class: "soft" }, "and " + number(more) + " more") : null));
    }
    const cards = found.components.map((component) => card(id, component));
    if (!cards.length) cards.push(el("p", { class: "empty" }, "This entity has no components."));
    detail.replaceChildren(head, ...family, ...cards, live.edits ? adder(id, found) : "", live.stats?.history ? parts.compare.card(id) : "");
  }

  function card(id, component) {
    const fields = el("div", { class: "fields" });
    for (const field of component.fields) {
      const key = component.component + "\n" + field.name;
      const flag = field.type === "bool";
      const input = el("input", {
        type: flag ? "checkbox" : "text", disabled: !field.editable || !live.edits, spellcheck: "false",
        "aria-label": component.short + "." + field.name, "data-field": component.short + "." + field.name,
      });
      input.addEventListener("change", () => edit(id, component, field, input));
      input.addEventListener("keydown", (event) => {
        if (event.key === "Enter") input.blur();
        if (event.key === "Escape") { input.value = textOf(field.value); input.blur(); }
      });
      inputs.set(key, input);
      fields.append(el("label", {}, field.name), input, el("span", { class: "type" }, field.type));
    }
    const text = el("pre", { class: "text" });
    texts.set(component.component, text);
    return el("div", { class: "card", "data-component": component.short },
      el("div", { class: "top" }, el("h3", { title: component.component }, component.short),
        el("span", { class: "tag" }, component.storage), el("span", { class: "grow" }),
        live.edits ? el("button", { class: "plain", onclick: () => remove(id, component) }, "Remove") : null),
      fields, text);
  }

  function adder(id, found) {
    const has = new Set(found.components.map((component) => component.component));
    const choice = el("select", { "aria-label": "Component to add" }, el("option", { value: "" }, "Add a component …"));
    for (const component of live.components) {
      if (component.default && !has.has(component.component)) {
        choice.append(el("option", { value: component.component }, component.short));
      }
    }
    choice.addEventListener("change", async () => {
      const component = choice.value;
      if (component && await act("world.insert", { entity: id, component })) {
        undo.push(() => act("world.remove", { entity: id, component }));
        refresh();
      }
    });
    return choice;
  }

  function parsed(type, text) {
    if (type === "text" || type === "entity") return text;
    const value = text.trim();
    return /^[ui]/.test(type) && /^-?\d+$/.test(value) && !Number.isSafeInteger(Number(value)) ? value
      : value !== "" && Number.isFinite(Number(value)) ? Number(value) : value;
  }

  async function edit(id, component, field, input) {
    const value = input.type === "checkbox" ? input.checked : parsed(field.type, input.value);
    const where = { entity: id, component: component.component, field: field.name };
    const done = await act("world.set", { ...where, value });
    input.classList.toggle("wrong", !done);
    if (done) {
      undo.push(() => act("world.set", { ...where, value: done.old }));
      refresh();
    }
  }

  async function remove(id, component) {
    const fields = {};
    for (const field of component.fields) if (field.editable) fields[field.name] = field.value;
    const now = (await act("world.get", { entity: id }))?.components.find((c) => c.component === component.component);
    for (const field of now?.fields || []) if (field.editable) fields[field.name] = field.value;
    if (await act("world.remove", { entity: id, component: component.component })) {
      undo.push(() => act("world.insert", { entity: id, component: component.component, fields }));
      refresh();
    }
  }

  // An entity that is brought back has another id, and of its components those that can be made from their fields.
  async function despawn(id) {
    const before = await act("world.get", { entity: id });
    if (!before || !await act("world.despawn", { entity: id })) return;
    const made = new Set(live.components.filter((component) => component.default).map((component) => component.component));
    const components = {}, lost = [];
    for (const { component, short, fields } of before.components) {
      if (!made.has(component)) { lost.push(short); continue; }
      components[component] = Object.fromEntries(fields.filter((f) => f.editable).map((f) => [f.name, f.value]));
    }
    undo.push(async () => {
      const again = await act("world.spawn", { components });
      if (again) {
        pick(again.entity);
        search(false);
        if (lost.length) toast("Back as " + again.entity + ", without " + lost.join(", "));
      }
      return again && !lost.length;
    });
    toast(id + " is gone");
    refresh();
    search(false);
  }

  async function takeBack() {
    const last = undo.pop();
    if (last && await last()) toast("Taken back");
    refresh();
  }

  function search(fresh) {
    query = $("query").value;
    forget(fresh);
    load(0, true);
    parts.tree.search(query);
  }

  let typing = 0;
  $("query").addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => search(true), 180);
  });
  $("search").addEventListener("submit", (event) => { event.preventDefault(); search(true); });
  $("spawn").addEventListener("click", async () => {
    const made = await act("world.spawn", {});
    if (made) {
      undo.push(() => act("world.despawn", { entity: made.entity }));
      pick(made.entity);
      search(false);
    }
  });
  list.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const rows = [...all.querySelectorAll("[data-entity]")];
    const at = rows.findIndex((row) => row.dataset.entity === picked);
    const next = rows[at < 0 ? 0 : at + step];
    if (next) { pick(next.dataset.entity); list.scrollTop += (step * ROW * (at > 3 ? 1 : 0) * height()) / Math.max(1, total * ROW); }
  });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "z" && event.target.tagName !== "INPUT") {
      event.preventDefault();
      takeBack();
    }
  });
  window.addEventListener("resize", draw);

  let rounds = 0;
  return {
    pick,
    draw,
    picked: () => picked,
    start() {
      search(true);
      if (/^#\d+v\d+$/.test(location.hash)) pick(location.hash.slice(1));
    },
    async tick(patient) {
      await refresh(patient);
      // The list follows the world more slowly than the entity that is looked at.
      rounds += 1;
      // A search over many entities goes on for a while: it is begun anew only when it has ended, and as long ago as it took.
      const rest = Math.max(1800, searched.ended - searched.began);
      if (rounds % 8 === 0 && pages.size && searched.whole && performance.now() - searched.ended > rest) {
        const top = Math.floor(above() / ROW / PAGE);
        load(Math.min(top, Math.max(0, Math.ceil(total / PAGE) - 1)), true, true);
      }
    },
  };
})();
