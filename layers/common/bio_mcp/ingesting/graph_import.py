"""Bring nodes and edges of a file into the graph: all of them, or none where one of them is wrong."""

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from bio_mcp.deadline import Progress, silent
from bio_mcp.errors import InvalidInput
from bio_mcp.graph.lines import LINE_BYTES, parse_line, parse_record
from bio_mcp.graph.nodes import Edge, EdgeType, Node, NodeType, merge_edges, merge_nodes
from bio_mcp.ports.stores import Graph

# A row of Dr. Duke's databases says that a chemical is in a plant, and which activity is reported of the chemical: what
# was seen of the substance, in a test tube as a rule. It is no use of the plant: it becomes `acts_on`, never `treats`.
# What the source doubts itself (a question mark), and uses that are no activity (flavor, cosmetic), are left out.
SOURCE = "USDA, Dr. Duke's Phytochemical and Ethnobotanical Databases"
ACTIVITY = "An activity that Dr. Duke's databases report of a compound; no indication of a medicine."
KEYS = ("chemical", "plant_species")
USES = frozenset(
    """
    acidulant colorant cosmetic culinary dye emulsifier flavor food fumigant insectifuge lubricant perfume perfumery
    pesticide plasticizer preservative propellant refrigerant repellant soap solvent sweetener
    """.split()
)
SHORTEST_WORD = 4  # characters: shorter names in capitals are abbreviations

_NO_ID = re.compile(r"[^a-z0-9]+")


def records_of(row: Any) -> Iterator[Node | Edge]:
    """Yield the nodes and the edges of a row. Raises `InvalidInput` for one without plant or chemical."""
    if not isinstance(row, dict):
        raise InvalidInput("a row is an object with plant_species and chemical")
    plant, chemical = (_field(row, key) for key in ("plant_species", "chemical"))
    herb, constituent = node_id("plant", plant), node_id("chemical", chemical)
    number = row.get("pubchem_cid")
    if isinstance(number, bool) or not isinstance(number, int | float):
        number = 0
    synonyms = [f"PubChem CID {int(number)}"] if 0 < number < 10**10 else []
    name = chemical.lower() if len(chemical) > SHORTEST_WORD else chemical
    said: list[dict[str, Any]] = [
        {"node": NodeType.HERB, "id": herb, "names": {"la": plant}},
        {"node": NodeType.CONSTITUENT, "id": constituent, "names": {"en": name}, "synonyms": synonyms},
        {"edge": EdgeType.HAS_CONSTITUENT, "from": herb, "to": constituent},
    ]
    if activity := _activity(row):
        acted_on = node_id("activity", activity)
        said += [
            {"node": NodeType.INDICATION, "id": acted_on, "names": {"en": activity}, "description": ACTIVITY},
            {"edge": EdgeType.ACTS_ON, "from": constituent, "to": acted_on},
        ]
    for each in said:
        yield parse_record({**each, "sources": [SOURCE]})


def node_id(kind: str, name: str) -> str:
    """A stable id: `duke:plant:zingiber-officinale`. A name that a slug does not tell from others has its hash too."""
    folded = " ".join(name.lower().split())
    slug = _NO_ID.sub("-", folded).strip("-")
    if slug == re.sub("[ -]", "-", folded) and len(slug) <= 80:
        return f"duke:{kind}:{slug}"
    return f"duke:{kind}:{slug[:60].strip('-')}:{sha256(folded.encode()).hexdigest()[:8]}"


def _field(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{key}: a name")
    return value


def _activity(row: Mapping[str, Any]) -> str | None:
    """The activity, one spelling for each; None for what is none."""
    value = row.get("application")
    if not isinstance(value, str) or not value.strip() or "?" in value or value.strip().lower() in USES:
        return None
    text = value.strip()
    return text[0].upper() + text[1:]


ICD_SOURCE = "ICD-10-CM, U.S. National Center for Health Statistics"
CODE = re.compile(r"[A-Z][0-9][0-9A-Z](?:\.?[0-9A-Z]{1,4})?")


def indication_of(code: str, value: Any) -> Node | Edge:
    """The indication of a code, `icd10cm:K30`, which is found by its code too. Raises `InvalidInput`."""
    if not CODE.fullmatch(code):
        raise InvalidInput(f"{code[:40]!r} is no code of ICD-10-CM, such as K30 or R11.2")
    label = value[1] if isinstance(value, list) and len(value) == 2 else value
    if not isinstance(label, str):
        raise InvalidInput(f"{code}: a text, or a list of whether it can be billed and a text")
    plain = code.replace(".", "")
    dotted = f"{plain[:3]}.{plain[3:]}" if len(plain) > 3 else plain  # as it is written: `R11.2`
    return parse_record(
        {
            "node": "indication",
            "id": f"icd10cm:{dotted}",
            "names": {"en": label},
            "synonyms": [dotted],
            "icdCode": dotted,
            "sources": [ICD_SOURCE],
        }
    )


FILE_BYTES = 256 << 20  # of a file when it is unpacked; Dr. Duke's rows take 20 MB
UNREADABLE = "The file cannot be read; check that it exists and is a readable file."

Item = tuple[int, Node | Edge | InvalidInput]

_GZIP = b"\x1f\x8b"
_ARRAY = re.compile(rb"\s*\[")
_CODES = re.compile(rb'\s*\{\s*(?="' + CODE.pattern.encode() + rb'"\s*:)')
_SPACE = re.compile(r"[\s,]*")
_KEY = re.compile(r'"([^"\\]{0,100})"\s*:\s*')


def read_items(path: Path) -> Iterator[Item]:
    """Yield each node and edge of a file with the number of its line, or why that line is neither.

    Raises `InvalidInput` for a file that cannot be read to its end.
    """
    content = _content(path).removeprefix(b"\xef\xbb\xbf")
    if opening := _ARRAY.match(content):
        return _values(_Json(content, opening.end()), coded=False)
    if opening := _CODES.match(content):
        return _values(_Json(content, opening.end()), coded=True)
    return _lines(content)


def _content(path: Path) -> bytes:
    if not path.is_file():  # a pipe would be waited for, and a device has no end
        raise InvalidInput(UNREADABLE)
    try:
        with path.open("rb") as file:
            packed = file.read(len(_GZIP)) == _GZIP
            file.seek(0)
            content = (gzip.GzipFile(fileobj=file) if packed else file).read(FILE_BYTES + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidInput("The archive is damaged or cut short.") from error
    except OSError as error:
        raise InvalidInput(UNREADABLE) from error
    if len(content) > FILE_BYTES:
        raise InvalidInput(f"The file is larger than {FILE_BYTES >> 20} MB when it is unpacked; split it.")
    return content


def _lines(content: bytes) -> Iterator[Item]:
    for number, line in enumerate(content.split(b"\n"), 1):
        try:
            if len(line) > LINE_BYTES:
                raise InvalidInput(f"it is longer than {LINE_BYTES >> 10} KB")
            if line.strip():
                yield number, parse_line(line)
        except InvalidInput as failure:
            yield number, failure


class _Json:
    """The items of a JSON array or object, one after the other. `line` is that of the next one."""

    def __init__(self, content: bytes, at: int) -> None:
        self.line = 1
        try:
            self._text = content.decode()
        except UnicodeDecodeError as error:
            self.line += content.count(b"\n", 0, error.start)
            raise self._broken("it is not UTF-8") from None
        self._at, self._decoder = 0, json.JSONDecoder()
        self._go_to(at)  # what comes before it is ASCII

    def at_end(self) -> bool:
        """Whether the array or object is closed here. Raises `InvalidInput` if the file ends before."""
        if found := _SPACE.match(self._text, self._at):
            self._go_to(found.end())
        if self._at == len(self._text):
            raise self._broken("the file ends in the middle")
        return self._text[self._at] in "]}"

    def key(self) -> str:
        if not (found := _KEY.match(self._text, self._at)):
            raise self._broken("a key is expected")
        self._go_to(found.end())
        return found[1]

    def value(self) -> object:
        try:
            value, end = self._decoder.raw_decode(self._text, self._at)
        except RecursionError:
            raise self._broken("it is nested too deeply") from None
        except ValueError:
            raise self._broken("it is no JSON") from None
        self._go_to(end)
        return value

    def _go_to(self, at: int) -> None:
        self.line += self._text.count("\n", self._at, at)
        self._at = at

    def _broken(self, why: str) -> InvalidInput:
        return InvalidInput(f"Line {self.line}: {why}; nothing after it was read.")


def _values(values: _Json, *, coded: bool) -> Iterator[Item]:
    """Yield the indications of codes, or what the rows of Dr. Duke's databases say."""
    while not values.at_end():
        line, code = values.line, values.key() if coded else ""
        value = values.value()
        try:
            yield from ((line, each) for each in ([indication_of(code, value)] if coded else records_of(value)))
        except InvalidInput as failure:
            yield line, failure


AT_ONCE = 20_000  # nodes and edges of a write, which the laptop's store does as a whole or not at all
LOOKED_UP = 1_000  # nodes at once
MOST_PROBLEMS = 20  # that are named


@dataclass(frozen=True, slots=True)
class GraphImport:
    """How many nodes and edges a file had, lines that say the same included, and whether they changed the graph."""

    nodes: int
    edges: int
    changed: bool


@dataclass(slots=True)
class _Found:
    """What a file says: each node and edge once, and how many of each there were.

    `types` has the type of each node and the line that gave it first, `needed` the first line that names a node;
    `problems` are lines with what is wrong there.
    """

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[tuple[str, str, str], Edge] = field(default_factory=dict)
    counts: list[int] = field(default_factory=lambda: [0, 0])
    types: dict[str, tuple[NodeType, int]] = field(default_factory=dict)
    needed: dict[str, int] = field(default_factory=dict)
    problems: list[tuple[int, str]] = field(default_factory=list)


def import_graph(
    items: Iterable[Item], graph: Graph, progress: Progress = silent, *, at_once: int = AT_ONCE
) -> GraphImport:
    """Check every item, then write them all; importing twice changes nothing.

    Nodes come before edges, `at_once` of each in a write: an import that is killed between two leaves whole nodes
    and edges, and is completed by the same import again. `progress` counts what is written. Raises `InvalidInput` with
    the lines that are wrong, and has then written nothing.
    """
    before = graph.revision()
    found = _read(items)
    _check_against(graph, found)
    if problems := sorted(found.problems):
        others = len(problems) - 1
        more = f" {others:,} more line{' is' if others == 1 else 's are'} wrong." if others else ""
        raise InvalidInput(
            f"Line {problems[0][0]}: {problems[0][1]}.{more} Nothing was imported.",
            problems=[{"line": line, "problem": each} for line, each in problems[:MOST_PROBLEMS]],
            wrong=len(problems),
        )
    nodes, edges = [*found.nodes.values()], [*found.edges.values()]
    done = 0
    last = max(len(nodes) - 1, 0) // at_once * at_once  # the first of the last nodes, which come with edges
    for at in range(0, max(len(nodes), last + len(edges)), at_once):
        page = nodes[at : at + at_once], edges[at - last : at - last + at_once] if at >= last else []
        graph.put(*page)
        done += len(page[0]) + len(page[1])
        progress(done, len(nodes) + len(edges), "")
    return GraphImport(found.counts[0], found.counts[1], graph.revision() != before)


def _read(items: Iterable[Item]) -> _Found:
    """Check items by themselves, and join what is said of one thing."""
    found = _Found()
    for line, item in items:
        if isinstance(item, InvalidInput):
            found.problems.append((line, str(item)))
            continue
        found.counts[isinstance(item, Edge)] += 1
        if isinstance(item, Edge):
            found.needed.setdefault(item.from_id, line)
            found.needed.setdefault(item.to_id, line)
            found.edges[item.key] = merge_edges(found.edges.get(item.key), item)
            continue
        type, first = found.types.setdefault(item.node_id, (item.type, line))
        if type != item.type:
            found.problems.append((line, f"{item.node_id} is a {item.type} here, and a {type} in line {first}"))
        else:
            found.nodes[item.node_id] = merge_nodes(found.nodes.get(item.node_id), item)
    if not (any(found.counts) or found.problems):
        raise InvalidInput("The file has no node and no edge.")
    return found


def _check_against(graph: Graph, found: _Found) -> None:
    """Check that nodes have the type that they are stored with, and that edges have both of their nodes."""
    missing = {each: line for each, line in found.needed.items() if each not in found.types}
    every = [*found.types, *missing]
    stored: Mapping[str, Node]
    for page in (every[first : first + LOOKED_UP] for first in range(0, len(every), LOOKED_UP)):
        stored = graph.nodes(page)
        for each in page:
            if each in missing:
                if each not in stored:
                    problem = f"{each} is a node of neither this file nor the graph"
                    found.problems.append((missing[each], problem))
                continue
            type, line = found.types[each]
            if each in stored and stored[each].type != type:
                problem = f"{each} is a {type} here, and a {stored[each].type} in the graph: use another id"
                found.problems.append((line, problem))
