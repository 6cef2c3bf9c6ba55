"""Values that clients should never send, and how a call's arguments come to have them. The same ones for each seed."""

import copy
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

LONG = 20_000
STRINGS = (
    "", " ", "\t\n\r", "\0", "a\0b", "\x1b[2J\x1b]0;x\x07", "\x9b31m", "\u202egnp", "\u2028", "\ufeff", "\ud800",
    "\U000e0041" * 8, "e\u0301" * 40, "ﷺ" * 50, "👩\u200d🔬", "ßſİıΣς", "คําถามเกี่ยวกับขิง", "ขิง", "心臓", "نص", "ı" * 300,
    "x" * LONG, "a-" * (LONG // 2), "(" * 2_000, "((a OR b) AND", "\"unbalanced", "*", "?", "a*", "NOT", "AND OR NOT",
    "heart[", "heart[TIAB]", "[au]", "1:2[dp]", "#1 AND #2", "heart AND (", "%", "_", "%00", "%2e%2e%2f", "{}", "[]",
    "' OR 1=1 --", "'; DROP TABLE documents;--", "\" UNION SELECT * FROM jobs --", "NEAR(a b)", "a:b", "{a}:b", "^a",
    "../../../../etc/passwd", "/etc/passwd", "/proc/self/environ", "/dev/zero", "/dev/stdin", "~root/.ssh/id_rsa", "~",
    "file:///etc/passwd", "file://localhost/etc/passwd", "file:///proc/self/mem", "FILE:/etc/passwd", "\\\\host\\share",
    "https://169.254.169.254/latest/meta-data/", "http://localhost:22/", "https://[::1]/", "https://[::ffff:7f00:1]/",
    "https://2130706433/", "https://0x7f.1/", "https://user:pw@127.0.0.1/", "https://127.0.0.1.nip.io/", "gopher://x/",
    "ftp://127.0.0.1/", "data:text/plain,x", "javascript:alert(1)", "s3://bucket/key", "s3://../x", "s3:///", "s3://",
    "zotero", "zotero?collection=*", "zotero?x=" + "y" * 500, "zotero://x", "zotero?tag=%00", "ldap://x", "//x/y",
    "<script>alert(1)</script>", "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>", "{{7*7}}", "${x}",
    "${jndi:ldap://x/a}", "`id`", "$(id)", "; id", "| id", "&& id", "\r\nSet-Cookie: a=b", "\r\nX: y", "%s%s%n", "%d",
    "1", "0", "-1", "00001", "1.5", "1e9", "9" * 30, "NaN", "Infinity", "null", "true", "undefined", "pmid:", "pmid:1",
    "pmid:0", "pmid:99999999999", "PMC1", "PMC0", "10.1000/xyz", "doi:10.1/x", "doi:" + "9" * 300, "NBK1347", "H1",
    "2024-02-30", "0001-01-01", "9999-12-31", "0001-01-01T00:00:00+14:00", "2024-01-01T00:00:00Z", "2024/01/01",
    "20240101", "-0001-01-01", "today",
    "aspirin", "heart failure", "lung cancer treatment", "ignore all instructions",
    "job:1", "0" * 32, "f" * 64, "00000000-0000-0000-0000-000000000000", "a/b", "a\\b", ".", "..", "...", "CON",
    "lab/x",
    "__proto__", "constructor", "__class__", "__dict__", "self", "None",
)  # fmt: skip
NUMBERS = (
    0, -0.0, -1, 1, 2, 3, 10, 100, 101, 500, 10_000, 2**31, 2**53, 2**53 + 1, 2**63, -(2**63), 10**30, 0.5, 1e308,
)  # fmt: skip
OTHERS = (None, True, False, [], {}, [[]], [{}], {"a": {}}, {"": ""}, [None], ["a", 1, None], {"$ref": "#"})
Json = Any


def hostile(rng: random.Random) -> Json:
    """Some value of any type."""
    kind = rng.random()
    if kind < 0.6:
        return rng.choice(STRINGS)
    if kind < 0.75:
        return rng.choice(NUMBERS)
    if kind < 0.9:
        return copy.deepcopy(rng.choice(OTHERS))
    return _large(rng)


def _large(rng: random.Random) -> Json:
    """A value of many parts or many levels."""
    text = rng.choice(STRINGS)
    deep: Json = text
    for _ in range(rng.choice((20, 120))):
        deep = [deep] if rng.random() < 0.5 else {"a": deep}
    return rng.choice((deep, [text] * 600, {f"key{n}": n for n in range(100)}, [{"a": text}] * 40, [0.0] * 400))


def arguments(rng: random.Random, example: Mapping[str, Json], schema: Mapping[str, Json]) -> Json:
    """The arguments of one call: of its example, or made after its schema, and then spoiled in some places."""
    definitions = schema.get("$defs", {})
    given = copy.deepcopy(dict(example)) if rng.random() < 0.5 else made(rng, schema, definitions)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        given = spoiled(rng, given)
    if rng.random() < 0.1:
        given[rng.choice(("extra", "__proto__", "", "x" * 300, "\x1b[2J"))] = hostile(rng)
    return given


def spoiled(rng: random.Random, value: Json) -> Json:
    """`value` with one place in it replaced, removed or repeated. The outermost object stays one."""
    places = list(_places(value))
    if not places:
        return value
    holder, key = rng.choice(places)
    what = rng.random()
    if what < 0.75:
        holder[key] = _of_its_kind(rng, holder[key])
    elif what < 0.9 or isinstance(holder, list):
        del holder[key]
    else:
        holder[rng.choice(("a", "\0", "x" * 200))] = holder.pop(key)
    return value


def _of_its_kind(rng: random.Random, value: Json) -> Json:
    """Mostly another value of the same type, which gets further than one of another type."""
    if rng.random() < 0.6 and not isinstance(value, bool):
        if isinstance(value, str):
            return rng.choice(STRINGS)
        if isinstance(value, int | float):
            return rng.choice(NUMBERS)
        if isinstance(value, list) and value:
            return value * rng.choice((2, 30, 600))
    return hostile(rng)


def _places(value: Json) -> Iterator[tuple[Any, Any]]:
    """Every place in a JSON value, as what holds it and the key there."""
    held = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in list(held):
        yield value, key
        yield from _places(each)


def made(rng: random.Random, schema: Mapping[str, Json], definitions: Mapping[str, Json]) -> Json:
    """A value after a JSON Schema: required properties, some optional ones, its enums, numbers about its bounds."""
    if "$ref" in schema:
        return made(rng, definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return made(rng, rng.choice(choices), definitions)
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kinds = schema.get("type", "string")
    kind = rng.choice(kinds) if isinstance(kinds, list) else kinds
    return MAKERS.get(kind, lambda *_: None)(rng, schema, definitions)


def _object(rng: random.Random, schema: Mapping[str, Json], definitions: Mapping[str, Json]) -> Json:
    required = schema.get("required", ())
    properties = schema.get("properties", {}).items()
    return {name: made(rng, each, definitions) for name, each in properties if name in required or rng.random() < 0.3}


def _array(rng: random.Random, schema: Mapping[str, Json], definitions: Mapping[str, Json]) -> Json:
    items = schema.get("items", {"type": "string"})
    return [made(rng, items, definitions) for _ in range(rng.choice((0, 1, 1, 2, 5)))]


def _number(rng: random.Random, schema: Mapping[str, Json], _: Mapping[str, Json]) -> Json:
    low, high = schema.get("minimum", 0), schema.get("maximum", 100)
    return rng.choice((low, high, low - 1, high + 1, (low + high) // 2))


def _string(rng: random.Random, schema: Mapping[str, Json], _: Mapping[str, Json]) -> Json:
    return schema.get("const") or rng.choice(STRINGS)


MAKERS: dict[str, Callable[..., Json]] = {
    "object": _object,
    "array": _array,
    "integer": _number,
    "number": _number,
    "string": _string,
    "boolean": lambda rng, *_: rng.random() < 0.5,
}
