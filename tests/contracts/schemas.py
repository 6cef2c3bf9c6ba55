"""Compare JSON Schemas by what they accept, not by how they are written."""

import re
from typing import Any

MEANING = ("type", "minLength", "maxLength", "minimum", "maximum", "pattern", "enum", "minItems", "maxItems")

MISSPELT = ["pmid:abc", "pmid:", "pmid:1\n", "1\n", "pmid:１", "１", "0x1"]
WRONG: dict[str, list[Any]] = {"string": [7.5, True], "integer": ["7.5", 1.5, True], "boolean": ["maybe", 1]}


def resolved(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """`schema` without references, and with `X | null` as a list of types."""
    while "$ref" in schema:
        own = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**root["$defs"][schema["$ref"].rpartition("/")[2]], **own}
    if "anyOf" in schema:
        choices = [resolved(each, root) for each in schema["anyOf"]]
        merged = {key: value for each in choices for key, value in each.items() if key != "type"}
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        return {**merged, **rest, "type": [name for each in choices for name in types(each)]}
    return schema


def types(schema: dict[str, Any]) -> list[str]:
    named = schema.get("type", [])
    return sorted([named] if isinstance(named, str) else named)


def same(ours: dict[str, Any], contract: dict[str, Any], root: dict[str, Any], path: str = "") -> list[str]:
    """Every way in which `ours` differs from `contract` in what the contract names; extra properties are no matter."""
    ours = resolved(ours, root)
    found = [
        f"{path or '.'}: {key} is {ours.get(key)!r}, the contract has {contract.get(key)!r}"
        for key in MEANING
        if key != "type" and ours.get(key) != contract.get(key)
    ]
    if "type" in contract and types(ours) != types(contract):
        found.append(f"{path or '.'}: type is {types(ours)}, the contract has {types(contract)}")
    if missing := set(contract.get("required", ())) - set(ours.get("required", ())):
        found.append(f"{path or '.'}: not required: {sorted(missing)}")
    if "items" in contract:
        found += same(ours.get("items", {}), contract["items"], root, f"{path}[]")
    for name, each in contract.get("properties", {}).items():
        if name not in ours.get("properties", {}):
            found.append(f"{path}.{name}: missing")
        else:
            found += same(ours["properties"][name], each, root, f"{path}.{name}")
    return found


def same_input(ours: dict[str, Any], contract: dict[str, Any]) -> list[str]:
    """As `same`, and defaults and the required set are equal, and unknown keys are refused as the contract has it."""
    found = same(ours, contract, ours)
    if set(ours.get("required", ())) != set(contract.get("required", ())):
        found.append(f"required is {ours.get('required')}, the contract has {contract.get('required')}")
    if ours.get("additionalProperties") is not False:
        found.append("unknown keys are accepted")
    for name, each in contract["properties"].items():
        default = resolved(ours["properties"].get(name, {}), ours).get("default")
        if default != each.get("default"):
            found.append(f".{name}: default is {default!r}, the contract has {each.get('default')!r}")
    return found


def misfits(contract: dict[str, Any], fitting: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Inputs that break the contract in one place each, with the name of what is broken."""
    found = [("unknown_key", {**fitting, "unknown_key": 1})]
    for name, each in contract["properties"].items():
        wrong: list[Any] = {"object": [None, [], "x"], "array": [None, {}, True]}.get(each.get("type"), [None, [], {}])
        wrong += WRONG.get(each.get("type", ""), [])
        wrong += [""] if each.get("minLength") else []
        wrong += ["another", 1] if "enum" in each else []
        wrong += [[]] if each.get("minItems") else []
        wrong += [fitting[name] * (each["maxItems"] + 1)] if "maxItems" in each else []
        wrong += [[None], [7.5], [["x"]]] if each.get("type") == "array" else []
        wrong += [each["minimum"] - 1] if "minimum" in each else []
        wrong += [each["maximum"] + 1] if "maximum" in each else []
        wrong += [text for text in MISSPELT if "pattern" in each and not re.fullmatch(each["pattern"], text, re.ASCII)]
        found += [(name, {**fitting, name: value}) for value in wrong]
    for name in contract["required"]:
        found.append((name, {key: value for key, value in fitting.items() if key != name}))
    return found
