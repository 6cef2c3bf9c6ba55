"""Lines of an import file: each a node or an edge as JSON, checked, since anybody may have written it."""

import json
import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import Any

from bio_mcp.errors import InvalidInput
from bio_mcp.graph.nodes import EDGE_TYPES, NODE_ID, NODE_TYPES, Edge, Evidence, Node, fold_name, type_named
from bio_mcp.literature.identifiers import bare_pmid

LINE_BYTES = 256 << 10
NAME, SOURCE, DESCRIPTION, QUOTE, CODE = 500, 500, 5_000, 5_000, 20  # characters
MOST_ITEMS = 200  # of a list
NODE_KEYS = ("node", "id", "names", "synonyms", "parts", "icdCode", "description", "sources")
EDGE_KEYS = ("edge", "from", "to", "sources", "evidence")
EVIDENCE_KEYS = ("pmid", "quote")
_LANGUAGE = re.compile("[a-z]{2,3}")
_NOT_SHOWN = re.compile(  # controls but white space, lone surrogates, and what reorders the text that is shown
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]"
)


def parse_line(line: bytes) -> Node | Edge:
    """The node or edge of a line. Raises `InvalidInput` that names the key and what would do."""
    try:
        found = json.loads(line.decode(), object_pairs_hook=_once)
    except UnicodeDecodeError:
        raise InvalidInput("it is not UTF-8") from None
    except RecursionError:
        raise InvalidInput("its JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise InvalidInput(f"it is no JSON: {error.msg} at column {error.colno}") from None
    except ValueError:
        raise InvalidInput("it is no JSON: a number is too long") from None
    if not isinstance(found, dict):
        raise InvalidInput("it is no JSON object")
    return parse_record(found)


def parse_record(record: Mapping[str, Any]) -> Node | Edge:
    """The node or edge of a JSON object. Raises `InvalidInput` like `parse_line`."""
    if ("node" in record) == ("edge" in record):
        raise InvalidInput('give either "node" or "edge", with its type')
    return _node(record) if "node" in record else _edge(record)


def node_id(value: Any, key: str) -> str:
    """An id of a node. Raises `InvalidInput`."""
    if not isinstance(value, str) or not NODE_ID.fullmatch(value):
        raise InvalidInput(f"{key}: an id has 1 to 100 letters, digits and . _ : - and begins with a letter or digit")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidInput("a key stands in it twice")
    return found


def _node(record: Mapping[str, Any]) -> Node:
    _known_keys(record, NODE_KEYS)
    type = type_named(_text(record["node"], "node", CODE), NODE_TYPES, "node type")
    names = _names(record.get("names"))
    synonyms = tuple(_name(each, "synonyms") for each in _list(record, "synonyms"))
    return Node(
        node_id=node_id(record.get("id"), "id"),
        type=type,
        names=names,
        synonyms=tuple(each for each in dict.fromkeys(synonyms) if each not in names.values()),
        parts=_texts(record, "parts", NAME),
        icd_code=_optional(record, "icdCode", CODE),
        description=_optional(record, "description", DESCRIPTION),
        sources=_texts(record, "sources", SOURCE),
    )


def _edge(record: Mapping[str, Any]) -> Edge:
    _known_keys(record, EDGE_KEYS)
    edge = Edge(
        type=type_named(_text(record["edge"], "edge", CODE), EDGE_TYPES, "edge"),
        from_id=node_id(record.get("from"), "from"),
        to_id=node_id(record.get("to"), "to"),
        sources=_texts(record, "sources", SOURCE),
        evidence=tuple(dict.fromkeys(map(_evidence, _list(record, "evidence")))),
    )
    if not edge.sources:
        raise InvalidInput("an edge needs at least one", field="sources")
    if edge.from_id == edge.to_id:
        raise InvalidInput("an edge leads to another node", field="to")
    return edge


def _evidence(value: Any) -> Evidence:
    if not isinstance(value, dict):
        raise InvalidInput("each is an object with pmid, quote or both", field="evidence")
    _known_keys(value, EVIDENCE_KEYS)
    pmid, quote = value.get("pmid"), value.get("quote")
    if pmid is None and not quote:
        raise InvalidInput("each needs a pmid, a quote or both", field="evidence")
    if pmid is not None and (isinstance(pmid, bool) or not isinstance(pmid, str | int)):
        raise InvalidInput("a PMID is digits", field="evidence.pmid")
    return Evidence(
        bare_pmid(str(pmid)) if pmid is not None else None,
        _checked(quote, "evidence.quote", QUOTE) if quote else None,
    )


def _names(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not any(value.values()):
        raise InvalidInput(
            'an object with a name by language, as {"en": "Ginger", "th": "ขิง", "la": "..."}', field="names"
        )
    if len(value) > MOST_ITEMS or not all(map(_LANGUAGE.fullmatch, value)):
        raise InvalidInput("a language has two or three small letters; la is Latin", field="names")
    return {language: _name(name, f"names.{language}") for language, name in value.items() if name is not None}


def _name(value: Any, key: str) -> str:
    name = unicodedata.normalize("NFC", _text(value, key, NAME))
    if not fold_name(name):
        raise InvalidInput(f"{key}: a name has a letter or a digit")
    return name


def _optional(record: Mapping[str, Any], key: str, most: int) -> str | None:
    value = record.get(key)
    return None if value is None or value == "" else _text(value, key, most)


def _texts(record: Mapping[str, Any], key: str, most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_text(each, key, most) for each in _list(record, key)))


def _list(record: Mapping[str, Any], key: str) -> list[Any]:
    value = record.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > MOST_ITEMS:
        raise InvalidInput(f"{key}: a list of at most {MOST_ITEMS}")
    return value


def _text(value: Any, key: str, most: int) -> str:
    """The text, with single spaces between its words."""
    text = " ".join(_checked(value, key, most).split())
    if not text:
        raise InvalidInput(f"{key}: it is empty")
    return text


def _checked(value: Any, key: str, most: int) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{key}: a text")
    if len(value) > most:
        raise InvalidInput(f"{key}: at most {most:,} characters")
    if _NOT_SHOWN.search(value):
        raise InvalidInput(f"{key}: it has a character that cannot be shown")
    return value


def _known_keys(record: Mapping[str, Any], known: Collection[str]) -> None:
    if unknown := sorted(record.keys() - set(known)):
        raise InvalidInput(f"{unknown[0][:40]!r} is no key of it; there are {', '.join(known)}")
