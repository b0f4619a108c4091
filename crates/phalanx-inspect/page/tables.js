// Tables: archetypes with rows, bytes and fill, memory as a map, sparse sets, groups, pools, and advice on storage.

parts.tables = (() => {
  const root = $("tables");

  function memory(found) {
    const map = el("div", { class: "memory" });
    const blocks = found.archetypes.map((a) => [a.components.join(", ") || "empty", a.bytes])
      .concat(found.sets.map((s) => ["set of " + s.component, s.bytes]), [["directory and index", found.directory]])
      .filter(([, size]) => size > 0).sort((a, b) => b[1] - a[1]).slice(0, 60);
    const most = blocks.reduce((sum, [, size]) => sum + size, 0) || 1;
    for (const [name, size] of blocks) {
      const block = el("div", { title: name + ": " + bytes(size) }, size / most > 0.04 ? name : "");
      block.style.background = colourOf(name);
      block.style.flex = Math.max(1, Math.round((size / most) * 1000)) + " 1 " + Math.max(3, (size / most) * 300) + "px";
      map.append(block);
    }
    return el("div", { class: "card" }, el("h2", {}, "Memory: " + bytes(found.bytes)), map);
  }

  function advice(found) {
    const given = found.advisor.advice;
    const lines = given.length ? given.map((text) => el("p", { class: "advice" }, text))
      : [el("p", { class: "advice fine" }, "No advice: storage fits what the world does.")];
    return el("div", { class: "card" }, el("h2", {}, "Storage advisor"), ...lines);
  }

  function meter(part) {
    const inner = el("i", {});
    inner.style.width = Math.round(Math.min(1, part) * 100) + "%";
    return el("span", { class: "meter", title: Math.round(part * 100) + " % of the rows there is room for" }, inner);
  }

  function table(title, heads, rows) {
    return el("div", { class: "card" }, el("h2", {}, title), el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { class: head.startsWith("#") ? "n" : "" }, head.replace("#", ""))))),
      el("tbody", {}, ...rows.map((cells) => el("tr", {}, ...cells.map((cell, at) =>
        el("td", { class: heads[at].startsWith("#") ? "n" : "" }, cell))))))));
  }

  const chips = (names) => el("div", { class: "chips" }, ...names.map((name) => el("span", { class: "tag" }, name)));

  async function tick(patient) {
    const found = await act("world.tables", {}, patient);
    if (!found) return;
    const archetypes = [...found.archetypes].sort((a, b) => b.rows - a.rows);
    const fragments = number(archetypes.filter((a) => a.rows > 0).length) + " tables with rows, "
      + number(found.emptyArchetypes) + " without, " + number(found.freeSlots) + " free slots";
    const content = [
      el("div", { class: "grid2" }, memory(found), advice(found)),
      table("Archetypes: " + fragments, ["Components", "Pool", "#Rows", "Fill", "#Bytes", "#per row"],
        archetypes.slice(0, 200).map((a) => [
          chips(a.components.length ? a.components : ["no components"]), a.pool || "", number(a.rows),
          a.capacity ? meter(a.rows / a.capacity) : "", bytes(a.bytes), a.rows && a.bytes ? Math.round(a.bytes / a.rows) : ""])),
    ];
    if (found.sets.length) {
      content.push(table("Sparse sets", ["Component", "#Entities", "#Holes", "#Pages", "#Bytes"],
        found.sets.map((s) => [s.component, number(s.entities), number(s.holes), number(s.pages), bytes(s.bytes)])));
    }
    if (found.groups.length) {
      content.push(table("Groups", ["Orders the sets of", "Guarantees", "Without", "#Entities"],
        found.groups.map((g) => [chips(g.owned), chips(g.guaranteed), chips(g.without), number(g.entities)])));
    }
    if (found.pools.length > 1) {
      content.push(table("Pools", ["Pool", "Records", "#Entities", "#Archetypes"],
        found.pools.map((p) => [p.pool, p.strategy, number(p.entities), number(p.archetypes)])));
    }
    content.push(table("Components", ["Component", "Storage", "#Entities", "#Density", "#Moves per second", "#Loops per second"],
      found.advisor.components.map((c) => [c.short, c.sparse ? "sparse" : "table", number(c.entities),
        Math.round((c.entities / Math.max(1, found.entities)) * 100) + " %", number(c.moves), number(c.iterations)])));
    const top = root.scrollTop;
    root.replaceChildren(...content);
    root.scrollTop = top;
  }

  return { tick, every: 1000 };
})();
