// What became another one: an entity now and some frames ago.

parts.compare = (() => {
  let frames = 10;
  const shown = (value) => (value == null ? "—" : String(value));

  function table(found) {
    if (!found.livedBefore && !found.livesAfter) return el("p", { class: "soft" }, "It lived neither then nor now.");
    if (!found.livedBefore) return el("p", { class: "soft" }, "It did not live then.");
    if (!found.livesAfter) return el("p", { class: "soft" }, "It lived then, and does not now.");
    if (!found.changes.length) return el("p", { class: "soft" }, "Nothing became another.");
    const rows = found.changes.map(({ short, field, what, before, after }) => el("tr", {},
      el("td", {}, field ? short + "." + field : short),
      what === "changed" ? el("td", { class: "was" }, shown(before)) : el("td", { class: "was" }, what === "removed" ? "had it" : "—"),
      what === "changed" ? el("td", { class: "is" }, shown(after)) : el("td", { class: "is" }, what === "added" ? "has it" : "—")));
    return el("table", { class: "diff" }, el("tr", {}, el("th", {}, "value"), el("th", {}, "then"), el("th", {}, "now")), ...rows);
  }

  return {
    card(entity) {
      const out = el("div", { class: "scroll", id: "changes" });
      const count = el("input", { type: "number", min: "1", value: String(Math.max(1, Math.min(frames, live.stats.history))), "aria-label": "Frames to look back" });
      async function look() {
        frames = Math.max(1, Math.min(Number(count.value) || 1, live.stats.history));
        count.value = String(frames);
        const found = await act("world.difference", { entity, from: frames, to: 0 });
        if (found) out.replaceChildren(table(found));
      }
      count.addEventListener("change", look);
      return el("div", { class: "card" },
        el("div", { class: "compare" }, el("h3", {}, "What changed"), el("span", { class: "grow" }), el("span", { class: "soft" }, "since"), count,
          el("span", { class: "soft" }, "frames ago"), el("button", { id: "compare", onclick: look }, "Compare")), out);
    },
  };
})();
