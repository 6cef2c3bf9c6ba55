"""The text of a file in which a client lists its servers, with ours in it, in JSON or TOML.

Everything else stays as it is: comments, order, indentation and line ends. What cannot be changed without losing
something (names that stand twice, comments within our own entry, forms of TOML that are not understood) is refused.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from bio_mcp.errors import InvalidInput

NAME = "bio-mcp"
HOW_IT_STARTS = {"type", "command", "args", "url", "serverUrl", "startup_timeout_sec"}

Entry = dict[str, Any]


class UnreadableConfig(InvalidInput):
    """The file cannot be changed without losing something: the message says why."""


def into_json(text: str, section: str, entry: Entry) -> str:
    """The file's text with `entry` under the server's name in `section`. Comments and commas behind a last member are
    read, and stay as everything else does."""
    bare, document = _bare(text), _json(text)
    servers = _table(document, section)
    wanted = merged(_table(servers, NAME), entry)
    if servers.get(NAME) == wanted:
        return text
    if not bare.strip():
        return json.dumps({section: {NAME: wanted}}, indent=2, ensure_ascii=False) + "\n"
    whole = bare.index("{")
    of_servers = _members(bare, whole)[0].get(section)
    place = _members(bare, of_servers.start)[0].get(NAME) if of_servers else None
    if of_servers is None:
        made = _with_member(text, whole, section, {NAME: wanted})
    elif place is None:
        made = _with_member(text, of_servers.start, NAME, wanted)
    elif _uncommented(text[place]) != text[place]:
        raise UnreadableConfig(f"what it says of {NAME} has comments, which would be lost")
    else:
        made = text[: place.start] + _printed(wanted, text, _indent(text, place.start)) + text[place.stop :]
    if _json(made) != {**document, section: {**servers, NAME: wanted}}:
        raise UnreadableConfig("it is JSON of a form that this command cannot change")
    return made


_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_INDENTED = re.compile(r"^[ \t]+(?=\S)", re.MULTILINE)
_BLANK = re.compile(r"[ \t\r\n]*")


def _blanked(found: re.Match[str]) -> str:
    return found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0])


@lru_cache(2)
def _uncommented(text: str) -> str:
    """The text, as long as it is, with blanks for comments and for a mark of its encoding."""
    return _COMMENT.sub(_blanked, re.sub("^\ufeff", " ", text))


@lru_cache(2)
def _bare(text: str) -> str:
    """The same, with blanks also for commas behind a last member."""
    return _LAST_COMMA.sub(_blanked, _uncommented(text))


def _json(text: str) -> dict[str, Any]:
    try:
        document = json.loads(_bare(text).strip() or "{}", object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise UnreadableConfig("it is no JSON") from None
    if not isinstance(document, dict):
        raise UnreadableConfig("it holds no list of servers by name")
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise UnreadableConfig("a name stands twice in it")
    return found


def _members(bare: str, at: int) -> tuple[dict[str, slice], int]:
    """Where the values of the object stand whose brace is at `at`, and where its closing brace is."""

    def after(place: int) -> int:
        return place + len(_BLANK.match(bare, place)[0])  # type: ignore[index]  # it matches nothing too

    decoder, members = json.JSONDecoder(), dict[str, slice]()
    at = after(at + 1)
    while bare[at] != "}":
        key, colon = decoder.raw_decode(bare, at)
        start = after(after(colon) + 1)
        end = decoder.raw_decode(bare, start)[1]
        members[key] = slice(start, end)
        at = after(end)
        at = after(at + 1) if bare[at] == "," else at
    return members, at


def _with_member(text: str, at: int, key: str, value: Any) -> str:
    """The text with another member at the end of the object whose brace is at `at`."""
    members, closing = _members(_bare(text), at)
    last = max((each.stop for each in members.values()), default=at + 1)
    comma = "," if members and "," not in _uncommented(text)[last:closing] else ""
    line, outer = _line_end(text), _indent(text, at)
    inner = outer + _unit(text)
    member = f"{line}{inner}{json.dumps(key, ensure_ascii=False)}: {_printed(value, text, inner)}"
    return f"{text[:last]}{comma}{text[last:closing].rstrip()}{member}{line}{outer}{text[closing:]}"


def _printed(value: Any, text: str, indent: str) -> str:
    """A value as JSON, indented and with line ends as the text has them."""
    shown = json.dumps(value, indent=_unit(text), ensure_ascii=False)
    return shown.replace("\n", f"{_line_end(text)}{indent}")


def _unit(text: str) -> str:
    found = _INDENTED.search(text)
    return found[0] if found else "  "


def _indent(text: str, at: int) -> str:
    """With what the line begins that has this place."""
    found = _INDENTED.match(text, text.rfind("\n", 0, at) + 1)
    return found[0] if found else ""


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def into_toml(text: str, section: str, entry: Entry) -> str:
    """As `into_json`, for a file of TOML, whose other lines stay to the letter."""
    before = _toml(text)
    servers = _table(before, section)
    wanted = merged(_table(servers, NAME), entry)
    if servers.get(NAME) == wanted:
        return text
    after = {**before, section: {**servers, NAME: wanted}}
    if _is_toml_of(made := _with_tables(text, f"{section}.{NAME}", wanted), after):
        return made
    for key, table in ((section, after[section]), (NAME, wanted)):
        for found in re.finditer(rf"^[^#\n]*?\b{re.escape(key)}[\"']?\s*=\s*(?=\{{)", text, re.MULTILINE):
            end = _end_of_inline(text, found.end())
            if _is_toml_of(made := text[: found.end()] + _value(table) + text[end:], after):
                return made
    raise UnreadableConfig(f"it lists {NAME} in a form that this command cannot change; remove that first")


def _is_toml_of(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        return _toml(text) == wanted
    except UnreadableConfig:
        return False


def _end_of_inline(text: str, start: int) -> int:
    """Where the inline table ends that begins at `start`."""
    for closing in re.finditer("}", text[start:]):
        end = start + closing.end()
        with suppress(ValueError, RecursionError):
            tomllib.loads(f"x = {text[start:end]}")
            return end
    return start


def _with_tables(text: str, name: str, wanted: Mapping[str, Any]) -> str:
    """The text with the table of that name, and the tables in it, at its end."""
    line = _line_end(text)
    tables: dict[str, Mapping[str, Any]] = {name: {k: v for k, v in wanted.items() if not isinstance(v, Mapping)}}
    tables |= {f"{name}.{_key(key)}": value for key, value in wanted.items() if isinstance(value, Mapping)}
    parts = [
        line.join([f"[{header}]", *(f"{_key(key)} = {_value(value)}" for key, value in table.items())])
        for header, table in tables.items()
    ]
    others = _without_tables(text, name).rstrip("\r\n")
    return (line * 2).join(filter(None, [others, *parts])) + line


def merged(old: Mapping[str, Any], entry: Entry) -> Entry:
    """The new entry, with what somebody added to the old one: arguments, variables, and what a client stores there."""
    if "args" in entry and isinstance(args := old.get("args"), list) and entry["args"][-1] in args:
        entry = {**entry, "args": [*entry["args"], *args[args.index(entry["args"][-1]) + 1 :]]}
    added = {key: value for key, value in old.items() if key not in HOW_IT_STARTS and key not in entry}
    if "command" not in entry:
        added.pop("env", None)  # an endpoint takes no variables
    elif isinstance(old.get("env"), Mapping) and "env" in entry:
        entry = {**entry, "env": {**old["env"], **entry["env"]}}
    return {**entry, **added}


def _table(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = document.get(key, {})
    if not isinstance(found, dict):
        raise UnreadableConfig(f"its {key} is no list of names")
    return found


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableConfig("it is no TOML") from None


def _key(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else _value(key)


def _value(value: Any) -> str:
    """A value in TOML, whose strings, numbers and lists are written as JSON's, but for the character DEL."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(each)}' for key, each in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    try:
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    except TypeError:
        raise UnreadableConfig(f"it lists {NAME} with a value that this command cannot write") from None


def _without_tables(text: str, name: str) -> str:
    """The lines outside of the table of that name and the tables in it."""
    unquoted = re.compile(r"^\s*\[\s*([^\[\]]+?)\s*\]")
    others, inside = [], False
    for line in text.splitlines(keepends=True):
        if header := unquoted.match(line):
            path = header[1].replace('"', "").replace("'", "").replace(" ", "")
            inside = path == name or path.startswith(f"{name}.")
        elif line.lstrip().startswith("[["):
            inside = False
        if not inside:
            others.append(line)
    return "".join(others)
