"""Requests as parameters, answers as bytes: the envelopes and error bodies NCBI writes.

An error is mostly a 200 whose body says so, in the shape of the utility that failed. JSON errors of ESearch carry raw
line breaks inside a string, which strict parsers refuse; that is how NCBI sends them.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

RECORDINGS = Path(__file__).with_name("recordings")
XML_HEAD = '<?xml version="1.0" encoding="UTF-8" ?>\n'
_DTDS = {
    "eSearchResult": ("esearch", "20060628"),
    "eFetchResult": ("efetch", "20131226"),
    "eSummaryResult": ("esummary v1", "20041029"),
    "ePostResult": ("epost", "20090526"),
    "eLinkResult": ("elink", "20101123"),
    "eInfoResult": ("einfo", "20130322"),
    "eSpellResult": ("espell", "20060628"),
}


@dataclass(frozen=True)
class Answer:
    """What goes back over HTTP."""

    body: bytes
    content_type: str = "text/xml; charset=UTF-8"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class Params:
    """Query and form parameters; unknown ones are ignored, as NCBI does. `id` may be repeated."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self.pairs = pairs

    def get(self, name: str, default: str = "") -> str:
        return next((value for key, value in self.pairs if key == name), default)

    def has(self, name: str) -> bool:
        return any(key == name for key, _ in self.pairs)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.pairs if key == name]

    def number(self, name: str, default: int) -> int:
        text = self.get(name)
        return int(text) if text.isdigit() else default

    @property
    def ids(self) -> list[str]:
        """Every id, of repeated and comma-joined parameters alike."""
        return [one.strip() for value in self.all("id") for one in value.split(",") if one.strip()]

    @property
    def wants_json(self) -> bool:
        return self.get("retmode").lower() == "json"


def as_json(content: Any) -> Answer:
    return Answer(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(), "application/json")


def as_text(text: str) -> Answer:
    return Answer(text.encode(), "text/plain; charset=UTF-8")


def as_xml(root: str, inner: str, status: int = 200) -> Answer:
    """`inner` inside `root`, under the declaration and DOCTYPE of that utility."""
    name, day = _DTDS[root]
    file = name.replace(" ", "-")
    named = "eEfetchResult" if root == "eFetchResult" else root  # as recorded: NCBI's DOCTYPE misspells its own root
    doctype = (
        f'<!DOCTYPE {named} PUBLIC "-//NLM//DTD {name} {day}//EN" '
        f'"https://eutils.ncbi.nlm.nih.gov/eutils/dtd/{day}/{file}.dtd">\n'
    )
    return Answer(f"{XML_HEAD}{doctype}<{root}>{inner}</{root}>\n".encode(), status=status)


def error(root: str, message: str, params: Params, status: int = 200) -> Answer:
    """An ERROR in the utility's own shape: XML, or JSON if it was asked for (EFetch and EPost have no JSON)."""
    if not params.wants_json or root in ("eFetchResult", "ePostResult"):
        return as_xml(root, f"\n\t<ERROR>{escape(message)}</ERROR>\n", status)
    kind = root.removesuffix("Result").lower()
    if kind == "esummary":
        body = json.dumps({"esummaryresult": [message]})
    else:
        body = json.dumps({"header": header(kind), f"{kind}result": {"ERROR": message}}, separators=(",", ":"))
    return Answer(body.replace("\\n", "\n").encode(), "application/json", status)


def header(kind: str) -> dict[str, str]:
    return {"type": kind, "version": "0.3"}


def recorded(name: str) -> Answer:
    """A recorded answer by file name, such as `500_diagnostic.html`; the leading number is its status."""
    path = next(RECORDINGS.rglob(name))
    content_type = {
        ".json": "application/json",
        ".xml": "text/xml; charset=UTF-8",
        ".html": "text/html; charset=UTF-8",
    }.get(path.suffix, "text/plain; charset=UTF-8")
    status = name.partition("_")[0]
    return Answer(path.read_bytes(), content_type, int(status) if status.isdigit() else 200)
