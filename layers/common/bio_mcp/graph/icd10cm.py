"""The codes of ICD-10-CM, as an object of code to whether it can be billed and what it stands for."""

import re
from typing import Any

from bio_mcp.errors import InvalidInput
from bio_mcp.graph.lines import parse_record
from bio_mcp.graph.nodes import Edge, Node

SOURCE = "ICD-10-CM, U.S. National Center for Health Statistics"
CODE = re.compile(r"[A-Z][0-9][0-9A-Z](?:\.?[0-9A-Z]{1,4})?")


def indication_of(code: str, value: Any) -> Node | Edge:
    """The indication of a code, `icd10cm:K30`, which is found by its code too. Raises `InvalidInput`."""
    if not CODE.fullmatch(code):
        raise InvalidInput(f"{code[:40]!r} is no code of ICD-10-CM, such as K30 or R11.2")
    label = value[1] if isinstance(value, list) and len(value) == 2 else value
    if not isinstance(label, str):
        raise InvalidInput(f"{code}: a text, or a list of whether it can be billed and a text")
    dotted = _dotted(code)
    return parse_record(
        {
            "node": "indication",
            "id": f"icd10cm:{dotted}",
            "names": {"en": label},
            "synonyms": [dotted],
            "icdCode": dotted,
            "sources": [SOURCE],
        }
    )


def _dotted(code: str) -> str:
    """`R112` as it is written: `R11.2`."""
    plain = code.replace(".", "")
    return f"{plain[:3]}.{plain[3:]}" if len(plain) > 3 else plain
