"""What recognises text in scans and names in texts, by the names that a call gives them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

from bio_mcp.errors import InvalidInput
from bio_mcp.extracting.findings import Recognition
from bio_mcp.extracting.gazetteer import Gazetteer
from bio_mcp.literature.languages import three_letters
from bio_mcp.ports.graph import Graph


@lru_cache(maxsize=1)
def _gazetteer(graph: Any, revision: str) -> Gazetteer:  # noqa: ARG001  another one is made when the graph changes
    """The names of a graph as it stands, made once: a hundred thousand take seconds."""
    return Gazetteer(graph.names())


NER: Mapping[str, Callable[[Graph], Recognition]] = {
    "gazetteer": lambda graph: _gazetteer(cast("Any", graph), graph.revision())
}
OCR = ("tesseract",)  # of the port Parser
LANGUAGES: Mapping[str, Sequence[str]] = {"th": ("th", "en"), "en": ("en",), "auto": ("en", "th")}


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider as a call names it, with what it says to it."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)


def ner_of(asked: Provider) -> Callable[[Graph], Recognition]:
    """Makes what finds names. Raises `InvalidInput`, which names the choices, for an unknown one."""
    _check("ner", asked, tuple(NER))
    return NER[asked.name]


def languages_of(asked: Provider, lang: str) -> Sequence[str]:
    """The languages of scans, the likeliest first. Raises `InvalidInput` as `ner_of` does."""
    _check("ocr", asked, OCR)
    named = tuple(asked.params.get("languages", LANGUAGES[lang]))
    if not named or not all(map(three_letters, named)):
        raise InvalidInput("ocr.params.languages: should be a list of codes, such as tha and eng, the likeliest first")
    return named


def _check(kind: str, asked: Provider, names: Sequence[str]) -> None:
    if asked.name not in names:
        raise InvalidInput(f"{kind}.provider: there is no {asked.name[:50]!r}; there is {', '.join(names)}")
