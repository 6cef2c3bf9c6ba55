"""What one PubMed record says, read from its own bytes by a light scan.

The bytes are kept as they came, because EFetch serves them so. Only what a search needs is taken out, and text only
when a search first asks for it. Dates have names that mislead: PubStatus `entrez` is the create date (CRDT), `pubmed`
the entry date (EDAT), `medline` the MeSH date (MHDA, which equals EDAT until the record is indexed).
"""

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from unicodedata import combining

from tests.support.eutils_server import days

_PMID = re.compile(rb'<PMID(?: Version="(\d+)")?>\s*(\d+)\s*</PMID>')
_HISTORY = re.compile(
    rb'<PubMedPubDate PubStatus="(entrez|pubmed|medline)">\s*<Year>(\d+)</Year>\s*<Month>(\d+)</Month>\s*<Day>(\d+)'
)
_REVISED = re.compile(rb"<DateRevised>\s*<Year>(\d+)</Year>\s*<Month>(\d+)</Month>\s*<Day>(\d+)</Day>")
_COMPLETED = re.compile(rb"<DateCompleted>\s*<Year>(\d+)</Year>\s*<Month>(\d+)</Month>\s*<Day>(\d+)</Day>")
_PUBLISHED = re.compile(rb"<(PubDate|ArticleDate)(?: [^>]*)?>(.*?)</\1>", re.DOTALL)
_PART = re.compile(rb"<(Year|Month|Season|Day|MedlineDate)>([^<]*)<")
_KINDS = {b"entrez": "crdt", b"pubmed": "edat", b"medline": "mhda"}
_TAG = re.compile(r"<[^>]*>")
_NOT_WORD = re.compile(r"[\W_]+")


def normalised(text: str) -> str:
    """Words in lower case without accents, each with a space before and after, so that ` a b ` in it finds a phrase."""
    plain = text if text.isascii() else "".join(c for c in unicodedata.normalize("NFD", text) if not combining(c))
    return _NOT_WORD.sub(" ", f" {plain.lower()} ")


def plain(markup: str) -> str:
    """Text of an element's inner XML: inline tags go, entities become characters."""
    text = _TAG.sub("", markup) if "<" in markup else markup
    return html.unescape(text) if "&" in text else text


@dataclass(frozen=True, eq=False)
class Record:
    """One version of one PubMed record; `xml` is the PubmedArticle or PubmedBookArticle element, UTF-8."""

    pmid: int
    version: int
    xml: bytes
    dates: dict[str, tuple[str, ...]]
    """Days per kind: crdt, edat, mhda, mdat, cdat one each (absent if the record has none), pdat one or two."""

    @property
    def created(self) -> str:
        """The day from which PubMed shows the record; a record without CRDT has always been there."""
        return self.dates.get("crdt", ("0000/00/00",))[0]

    @cached_property
    def citation(self) -> str:
        """The record without PubmedData: references and history would match words that are not its own."""
        end = self.xml.find(b"<PubmedData>")
        book_end = self.xml.find(b"<ReferenceList>") if end < 0 else -1
        return self.xml[: end if end >= 0 else book_end if book_end >= 0 else len(self.xml)].decode()

    def elements(self, names: str) -> list[str]:
        """Plain texts of the citation's elements whose name is one of `names` (`A|B`), in document order."""
        pattern = re.compile(rf"<({names})(?: [^>]*\")?>(.*?)</\1>", re.DOTALL)
        return [plain(inner) for _, inner in pattern.findall(self.citation)]

    @cached_property
    def title(self) -> str:
        return next((text for text in self.elements("ArticleTitle|BookTitle|VernacularTitle") if text.strip()), "")

    @cached_property
    def abstract(self) -> str:
        return " ".join(self.elements("AbstractText"))

    @cached_property
    def authors(self) -> list[str]:
        """`Smith JA` and names of groups, in order."""
        return author_names(self.citation)

    @cached_property
    def subjects(self) -> frozenset[str]:
        """MeSH headings and keywords in lower case."""
        return frozenset(text.lower() for text in self.elements("DescriptorName|Keyword"))

    @cached_property
    def own_ids(self) -> dict[str, str]:
        """ArticleIdList of the record itself (not those of its references), by IdType."""
        data = self.xml[max(self.xml.find(b"<PubmedData>"), self.xml.find(b"<PubmedBookData>"), 0) :]
        own = data.partition(b"</ArticleIdList>")[0].rpartition(b"<ArticleIdList>")[2].decode()
        return {kind: plain(value) for kind, value in re.findall(r'<ArticleId IdType="(\w+)">([^<]*)<', own)}

    @cached_property
    def cited(self) -> list[int]:
        """PMIDs in the reference list, in order, each once."""
        references = self.xml[self.xml.find(b"<ReferenceList>") :] if b"<ReferenceList>" in self.xml else b""
        return list(dict.fromkeys(map(int, re.findall(rb'<ArticleId IdType="pubmed">(\d+)<', references))))


def author_names(citation: str) -> list[str]:
    names = []
    for author in re.findall(r"<Author(?: [^>]*\")?>(.*?)</Author>", citation, re.DOTALL):
        parts = dict(re.findall(r"<(LastName|Initials|Suffix|CollectiveName)>(.*?)</\1>", author, re.DOTALL))
        name = [parts.get(part, "") for part in ("LastName", "Initials", "Suffix")]
        names.append(plain(parts.get("CollectiveName") or " ".join(part for part in name if part)))
    return names


def read_record(xml: bytes) -> Record:
    """A record from its element. ValueError if it names no PMID."""
    found = _PMID.search(xml)
    if not found:
        raise ValueError("a record without PMID")
    return Record(int(found[2]), int(found[1] or 1), xml, _dates(xml))


def _dates(xml: bytes) -> dict[str, tuple[str, ...]]:
    dates: dict[str, tuple[str, ...]] = {}
    tail = xml[max(xml.rfind(b"<History>"), 0) :]
    for status, *parts in _HISTORY.findall(tail):
        dates.setdefault(_KINDS[status], (_day(parts),))
    if "edat" in dates:
        dates.setdefault("mhda", dates["edat"])
    for kind, pattern in (("mdat", _REVISED), ("cdat", _COMPLETED)):
        found = pattern.search(xml)
        if found:
            dates[kind] = (_day(found.groups()),)
    published = dict.fromkeys(day for _, inner in _published(xml) if (day := _publication_day(inner)))
    if published:
        dates["pdat"] = tuple(published)
    return dates


def _published(xml: bytes) -> list[tuple[bytes, bytes]]:
    head = xml[: xml.find(b"</Article>")] if b"</Article>" in xml else xml[: xml.find(b"</Book>")]
    return _PUBLISHED.findall(head)


def _publication_day(inner: bytes) -> str | None:
    parts = {name: text.decode() for name, text in _PART.findall(inner)}
    if b"MedlineDate" in parts:
        return days.from_medline_date(parts[b"MedlineDate"])
    if b"Year" not in parts:
        return None
    return days.from_parts(parts[b"Year"], parts.get(b"Month") or parts.get(b"Season", ""), parts.get(b"Day", ""))


def _day(parts: tuple[bytes, ...] | list[bytes]) -> str:
    return days.from_parts(*(part.decode() for part in parts))


def split(xml: bytes) -> Iterator[bytes]:
    """The record elements of a PubmedArticleSet, articles first, then book articles."""
    for name in (b"PubmedArticle", b"PubmedBookArticle"):
        end = b"</" + name + b">"
        *pieces, _ = xml.split(end)
        for piece in pieces:
            yield piece[piece.rfind(b"<" + name + b">") :] + end


def deletions(xml: bytes) -> list[int]:
    """PMIDs in DeleteCitation and DeleteDocument."""
    lists = re.findall(rb"<Delete(?:Citation|Document)>(.*?)</Delete(?:Citation|Document)>", xml, re.DOTALL)
    return [int(pmid) for chunk in lists for _, pmid in _PMID.findall(chunk)]
