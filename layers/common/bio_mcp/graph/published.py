"""What others publish, as nodes and edges: Dr. Duke's databases, and the codes of ICD-10-CM.

A row of Dr. Duke's Phytochemical and Ethnobotanical Databases says that a chemical is in a plant, and which activity is
reported of the chemical. An activity is what was seen of the substance, in a test tube as a rule; it is no use of the
plant, so it becomes `acts_on`, never `treats`. What the source doubts itself (a question mark), and uses that are no
activity (flavor, cosmetic), are left out.
"""

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from bio_mcp.errors import InvalidInput
from bio_mcp.graph.lines import parse_record
from bio_mcp.graph.nodes import Edge, EdgeType, Node, NodeType

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


def records_of(row: Mapping[str, Any]) -> Iterator[Node | Edge]:
    """Yield the nodes and the edges of a row. Raises `InvalidInput` for one without plant or chemical."""
    plant, chemical = (_field(row, key) for key in ("plant_species", "chemical"))

    def node(type: NodeType, id: str, names: dict[str, str], **more: Any) -> Node | Edge:
        return parse_record({"node": type, "id": id, "names": names, "sources": [SOURCE], **more})

    def edge(type: EdgeType, first: str, second: str) -> Node | Edge:
        return parse_record({"edge": type, "from": first, "to": second, "sources": [SOURCE]})

    herb, constituent = node_id("plant", plant), node_id("chemical", chemical)
    yield node(NodeType.HERB, herb, {"la": plant})
    number = row.get("pubchem_cid")
    if isinstance(number, bool) or not isinstance(number, int | float):
        number = 0
    synonyms = [f"PubChem CID {int(number)}"] if 0 < number < 10**10 else []
    name = chemical.lower() if len(chemical) > SHORTEST_WORD else chemical
    yield node(NodeType.CONSTITUENT, constituent, {"en": name}, synonyms=synonyms)
    yield edge(EdgeType.HAS_CONSTITUENT, herb, constituent)
    if activity := _activity(row):
        acted_on = node_id("activity", activity)
        yield node(NodeType.INDICATION, acted_on, {"en": activity}, description=ACTIVITY)
        yield edge(EdgeType.ACTS_ON, constituent, acted_on)


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
