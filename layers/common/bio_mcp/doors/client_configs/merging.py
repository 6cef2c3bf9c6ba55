"""Puts one server into a client's list of servers, and leaves everything else of its file as it is.

What cannot be changed without losing something (comments in JSON, names that stand twice, forms of TOML that are not
understood) is refused.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from bio_mcp.doors.client_configs.clients import NAME, Entry

HOW_IT_STARTS = {"type", "command", "args", "url", "serverUrl", "startup_timeout_sec"}


class Refused(Exception):
    """The file cannot be changed without losing something: the message says why."""


def into_json(text: str, section: str, entry: Entry) -> str:
    """The file's text with `entry` under the server's name in `section`. Raises `Refused`."""
    document = _json(text) if text.strip() else {}
    servers = _table(document, section)
    wanted = merged(_table(servers, NAME), entry)
    if servers.get(NAME) == wanted:
        return text
    document[section] = {**servers, NAME: wanted}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def into_toml(text: str, section: str, entry: Entry) -> str:
    """As `into_json`, for a file of TOML, whose other lines stay to the letter."""
    before = _toml(text)
    servers = _table(before, section)
    wanted = merged(_table(servers, NAME), entry)
    if servers.get(NAME) == wanted:
        return text
    rest = _without_tables(text, f"{section}.{NAME}").rstrip("\n")
    made = f"{rest}\n\n{as_toml(section, wanted)}".lstrip("\n")
    if _toml(made) != {**before, section: {**servers, NAME: wanted}}:
        raise Refused(f"it lists {NAME} in a form that this command cannot change; remove that first")
    return made


def merged(old: Mapping[str, Any], entry: Entry) -> Entry:
    """The new entry, with what somebody added to the old one: variables, and what a client stores there."""
    added = {key: value for key, value in old.items() if key not in HOW_IT_STARTS and key not in entry}
    if "command" not in entry:
        added.pop("env", None)  # an endpoint takes no variables
    elif isinstance(old.get("env"), Mapping) and "env" in entry:
        entry = {**entry, "env": {**old["env"], **entry["env"]}}
    return {**entry, **added}


def as_json(section: str, entry: Entry) -> str:
    """A file with this server alone."""
    return json.dumps({section: {NAME: entry}}, indent=2, ensure_ascii=False)


def as_toml(section: str, entry: Entry) -> str:
    """The tables of this server alone."""
    lines = [f"[{section}.{NAME}]"]
    lines += [f"{_key(key)} = {_value(value)}" for key, value in entry.items() if not isinstance(value, Mapping)]
    for key, table in entry.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{section}.{NAME}.{_key(key)}]"]
            lines += [f"{_key(name)} = {_value(value)}" for name, value in table.items()]
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else _value(key)


def _value(value: Any) -> str:
    """A value in TOML, whose strings, numbers and lists are written as JSON's, but for the character DEL."""
    try:
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    except TypeError:
        raise Refused(f"it lists {NAME} with a value that this command cannot write") from None


def _json(text: str) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise Refused("a name stands twice in it")
        return found

    try:
        document = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=once)
    except (ValueError, RecursionError):
        raise Refused("it is no JSON, or has comments, which would be lost") from None
    if not isinstance(document, dict):
        raise Refused("it holds no list of servers by name")
    return document


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        raise Refused("it is no TOML") from None


def _table(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = document.get(key, {})
    if not isinstance(found, dict):
        raise Refused(f"its {key} is no list of names")
    return found


def _without_tables(text: str, name: str) -> str:
    """The lines outside of the table of that name and the tables in it."""
    unquoted = re.compile(r"^\s*\[\s*([^\[\]]+?)\s*\]")
    others, inside = [], False
    for line in text.splitlines():
        if header := unquoted.match(line):
            path = header[1].replace('"', "").replace("'", "").replace(" ", "")
            inside = path == name or path.startswith(f"{name}.")
        elif line.lstrip().startswith("[["):
            inside = False
        if not inside:
            others.append(line)
    return "\n".join(others)
