// What became another one: an entity in two frames, of which the later one may be the present.

parts.compare = (() => {
  let from = 10, to = 0, asked = 0, last = null;
  const shown = (value) => (value == null ? "—" : String(value));
  const name = (ago, frame) => "frame " + number(frame) + (ago ? "" : " (now)");

  function table(found, first, second) {
    const [then, now] = [name(first, found.fromFrame), name(second, found.toFrame)];
    const note = (text) => el("p", { class: "soft" }, text);
    if (!found.livedBefore && !found.livesAfter) return note("It lived neither in " + then + " nor in " + now + ".");
    if (!found.livedBefore) return note("It did not live in " + then + ".");
    if (!found.livesAfter) return note("It lived in " + then + ", and does not in " + now + ".");
    if (!found.changes.length) return note("Nothing became another from " + then + " to " + now + ".");
    const rows = found.changes.map(({ short, field, what, before, after }) => el("tr", {},
      el("td", {}, field ? short + "." + field : short),
      what === "changed" ? el("td", { class: "was" }, shown(before)) : el("td", { class: "was" }, what === "removed" ? "had it" : "—"),
      what === "changed" ? el("td", { class: "is" }, shown(after)) : el("td", { class: "is" }, what === "added" ? "has it" : "—")));
    return el("table", { class: "diff" }, el("tr", {}, el("th", {}, "value"), el("th", {}, then), el("th", {}, now)), ...rows);
  }

  return {
    /** What was compared is of another time. */
    forget() {
      last = null;
      $("changes")?.replaceChildren();
    },
    card(entity) {
      const out = el("div", { class: "scroll", id: "changes" }, last?.entity === entity ? last.node : null);
      const ago = (value, label, id) => el("input", { type: "number", min: "0", id, value: String(Math.min(value, live.stats.history)), "aria-label": label });
      const first = ago(from, "Frames ago, earlier one", "compare-from"), second = ago(to, "Frames ago, later one", "compare-to");
      const kept = (input) => Math.max(0, Math.min(Math.round(Number(input.value)) || 0, live.stats.history));
      async function look() {
        // The one that is further back is the earlier one, in whichever field it stands.
        [from, to] = [Math.max(kept(first), kept(second)), Math.min(kept(first), kept(second))];
        first.value = String(from);
        second.value = String(to);
        const own = ++asked;
        const found = await act("world.difference", { entity, from, to });
        // Answers may come in another order than they were asked for.
        if (!found || own !== asked) return;
        last = { entity, node: table(found, from, to) };
        // The card may have been made anew meanwhile.
        $("changes")?.replaceChildren(last.node);
      }
      first.addEventListener("change", look);
      second.addEventListener("change", look);
      const soft = (text) => el("span", { class: "soft" }, text);
      return el("div", { class: "card" },
        el("div", { class: "compare" }, el("h3", {}, "What changed"), el("span", { class: "grow" }), soft("between"), first, soft("and"), second,
          soft("frames ago"), el("button", { id: "compare", onclick: look }, "Compare")), out);
    },
  };
})();
