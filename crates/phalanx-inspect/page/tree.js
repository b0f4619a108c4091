// Parents and their children as a tree: roots by query, children when a branch is opened.

parts.tree = (() => {
  const root = $("tree");
  const MOST = 200;
  let query = "", on = false, asking = 0;
  const open = new Set();

  /** One line, and below it its children while it is open. */
  function branch({ entity, name, children }, depth, path) {
    const toggle = el("button", { class: "open", "aria-label": "Children of " + entity, tabindex: children ? 0 : -1 }, children ? (open.has(entity) ? "▾" : "▸") : "");
    const line = el("div", { class: "branch", role: "treeitem", "data-entity": entity, "aria-expanded": children ? String(open.has(entity)) : null },
      toggle, el("span", { class: "id" }, entity), name ? el("span", { class: "who" }, name) : null,
      children ? el("span", { class: "has" }, number(children) + (children === 1 ? " child" : " children")) : null);
    line.style.paddingLeft = 4 + depth * 18 + "px";
    const below = el("div", { role: "group" });
    line.addEventListener("click", () => parts.entities.pick(entity));
    async function show() {
      const found = await act("world.get", { entity });
      if (!found) return;
      // A circle of relations cannot be, but a page that never ends would be worse than a line that is missing.
      const lines = found.children.filter((child) => !path.includes(child.entity)).map((child) => branch(child, depth + 1, [...path, child.entity]));
      const more = found.childCount - found.children.length;
      below.replaceChildren(...lines, more > 0 ? el("p", { class: "empty pad" }, "and " + number(more) + " more") : "");
      mark();
    }
    toggle.addEventListener("click", (event) => {
      event.stopPropagation();
      if (!children) return;
      if (open.delete(entity)) below.replaceChildren();
      else { open.add(entity); show(); }
      toggle.textContent = open.has(entity) ? "▾" : "▸";
      line.setAttribute("aria-expanded", String(open.has(entity)));
    });
    if (children && open.has(entity)) show();
    return el("div", {}, line, below);
  }

  async function draw() {
    const own = ++asking;
    const known = live.components.filter((component) => component.short === "Children" || component.short === "ChildOf");
    if (known.length < 2) {
      root.replaceChildren(el("p", { class: "empty pad" }, "No entity has children."));
      return;
    }
    const terms = ["Children", "!ChildOf"].concat(query.trim() ? [query] : []);
    try {
      const ask = (fresh) => call("world.query", { query: terms.join(", "), limit: MOST, fresh }, !fresh);
      let found = await ask(true);
      while (!found.complete && own === asking) {
        await new Promise((done) => setTimeout(done, 100));
        found = await ask(false);
      }
      const roots = await Promise.all(found.entities.map(({ entity }) => call("world.get", { entity }).catch(() => null)));
      if (own !== asking) return;
      const lines = roots.filter(Boolean).map((r) => branch({ entity: r.entity, name: r.name, children: r.childCount }, 0, [r.entity]));
      const more = found.total - found.entities.length;
      root.replaceChildren(...lines, more > 0 ? el("p", { class: "empty pad" }, "and " + number(more) + " more: narrow the query") : "",
        lines.length ? "" : el("p", { class: "empty pad" }, "No parent matches."));
      mark();
    } catch (error) {
      if (own === asking) root.replaceChildren(el("p", { class: "empty pad" }, error.message));
    }
  }

  function mark() {
    for (const line of root.querySelectorAll(".branch")) line.classList.toggle("picked", line.dataset.entity === parts.entities.picked());
  }

  function show(tree) {
    on = tree;
    $("as-tree").setAttribute("aria-pressed", String(tree));
    $("as-list").setAttribute("aria-pressed", String(!tree));
    root.hidden = !tree;
    $("list").hidden = tree;
    if (tree) draw();
    else parts.entities.draw();
  }
  $("as-tree").addEventListener("click", () => show(true));
  $("as-list").addEventListener("click", () => show(false));

  return {
    mark,
    search(text) {
      query = text;
      if (on) draw();
    },
  };
})();
