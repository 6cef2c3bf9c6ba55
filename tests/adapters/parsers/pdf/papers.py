"""Papers to read, and what they are known to say."""

import lzma
import re
import unicodedata
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from bio_mcp.adapters.parsers.pdf import parse_pdf
from bio_mcp.literature.documents import ParsedDocument, SectionKind

PDF = Path(__file__).parents[3] / "data/pdf"
TEI = "{http://www.tei-c.org/ns/1.0}"


@cache
def parsed(name: str) -> ParsedDocument:
    return parse_pdf((PDF / name).read_bytes())


def words(text: str) -> list[str]:
    """Words alone, in small letters and compatible characters, so that neither quotes nor hyphens count."""
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())


def similarity(one: str, other: str) -> float:
    return SequenceMatcher(None, words(one), words(other), autojunk=False).ratio()


@cache
def grobid() -> tuple[list[str], str]:
    """The headings of the paper's text as GROBID finds them, and the text itself without figures."""
    tei = ElementTree.fromstring(lzma.decompress((PDF / "demarchis2016.tei.xml.xz").read_bytes()))
    divisions = tei.findall(f"{TEI}text/{TEI}body/{TEI}div")
    headings = ["".join(each.itertext()) for division in divisions for each in division.findall(f"{TEI}head")]
    parts = [each for division in divisions for each in division.iter() if each.tag in (f"{TEI}p", f"{TEI}formula")]
    return headings, " ".join("".join(each.itertext()) for each in parts)


def body(document: ParsedDocument, first: str, last: str) -> str:
    """The text of the top sections from `first` to `last`, without captions."""
    tops = [section.path[0] if section.path else "" for section in document.sections]
    chosen = document.sections[tops.index(first) : len(tops) - tops[::-1].index(last)]
    kept = [
        each.text for each in chosen if each.kind is SectionKind.BODY and not re.match(r"Fig(ure|\.) \d", each.text)
    ]
    return "\n\n".join(kept)
