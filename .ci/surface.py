"""Lists the public items in a file of rustdoc's JSON, sorted, one per line."""

import json
import sys


def main(path):
    with open(path, encoding="utf-8") as file:
        crate = json.load(file)
    index = {str(key): item for key, item in crate["index"].items()}
    lines = set()
    seen = set()

    def kind_of(item):
        return next(iter(item["inner"]))

    def hidden(item):
        return any("hidden" in str(attr) and "doc" in str(attr) for attr in item.get("attrs", []))

    def named(value):
        """The name of a type, without paths."""
        if not isinstance(value, dict):
            return "_" if value is None else str(value)
        kind, inner = next(iter(value.items()))
        if kind == "resolved_path":
            name = (inner.get("name") or inner.get("path") or "_").split("::")[-1]
            args = (inner.get("args") or {}).get("angle_bracketed", {}).get("args", [])
            types = [named(arg["type"]) for arg in args if "type" in arg]
            return f"{name}<{', '.join(types)}>" if types else name
        if kind in ("generic", "primitive"):
            return inner
        if kind == "borrowed_ref":
            return ("&mut " if inner.get("is_mutable", inner.get("mutable")) else "&") + named(inner["type"])
        if kind == "tuple":
            return "(" + ", ".join(named(part) for part in inner) + ")"
        if kind == "slice":
            return f"[{named(inner)}]"
        if kind == "array":
            return f"[{named(inner['type'])}; {inner['len']}]"
        if kind == "qualified_path":
            return f"{named(inner['self_type'])}::{inner['name']}"
        if kind == "impl_trait":
            bounds = [bound["trait_bound"]["trait"] for bound in inner if "trait_bound" in bound]
            return "impl " + " + ".join((b.get("path") or b.get("name")).split("::")[-1] for b in bounds)
        return kind

    def signature(function):
        sig = function.get("sig") or function.get("decl")
        inputs = ", ".join(named(given) if name != "self" else named(given).replace("Self", "self") for name, given in sig["inputs"])
        output = sig.get("output")
        return f"({inputs})" + (f" -> {named(output)}" if output else "")

    def show(kind, path, item):
        text = signature(item["inner"]["function"]) if kind == "function" else ""
        lines.add(f"{kind} {path}{text}")

    def members(path, item):
        kind, inner = kind_of(item), item["inner"][kind_of(item)]
        if not isinstance(inner, dict):
            return
        for key in inner.get("items", []) + inner.get("variants", []):
            member = index.get(str(key))
            if member and not hidden(member):
                show(kind_of(member), f"{path}::{member['name']}", member)
        fields = (inner.get("kind") or {}) if kind == "struct" else {}
        plain = fields.get("plain", {}).get("fields", []) if isinstance(fields, dict) else []
        for key in plain:
            field = index.get(str(key))
            if field and field["visibility"] == "public":
                lines.add(f"field {path}::{field['name']}")
        for key in inner.get("impls", []):
            block = index.get(str(key))
            if block is None or block["inner"]["impl"].get("trait") is not None:
                continue
            for key in block["inner"]["impl"]["items"]:
                member = index.get(str(key))
                if member and member["visibility"] == "public" and not hidden(member):
                    show(kind_of(member), f"{path}::{member['name']}", member)

    def walk(path, item):
        for key in item["inner"]["module"]["items"]:
            child = index.get(str(key))
            if child is None or hidden(child) or child["visibility"] != "public":
                continue
            kind = kind_of(child)
            if kind == "use":
                use = child["inner"]["use"]
                target = index.get(str(use.get("id")))
                if use.get("is_glob"):
                    if target and kind_of(target) == "module":
                        walk(path, target)
                elif target is None:
                    lines.add(f"use {path}::{use['name']} = {use['source']}")
                else:
                    add(f"{path}::{use['name']}", target)
            else:
                add(f"{path}::{child['name']}", child)

    def add(path, item):
        kind = kind_of(item)
        if kind == "module":
            lines.add(f"module {path}")
            walk(path, item)
            return
        show(kind, path, item)
        # An item that is exported twice has its members listed where it comes first.
        if item["id"] not in seen:
            seen.add(item["id"])
            members(path, item)

    root = index[str(crate["root"])]
    walk(root["name"], root)
    print("\n".join(sorted(lines)))


main(sys.argv[1])
