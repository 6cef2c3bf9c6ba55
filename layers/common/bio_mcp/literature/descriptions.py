"""What a work is, as a list of references, a library, the corpus or a document describes it."""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import PurePosixPath
from typing import Any

from bio_mcp.errors import InvalidInput
from bio_mcp.literature import identifiers
from bio_mcp.literature.citing.works import Name, names, nlm_name
from bio_mcp.literature.identifiers import normal, year_in
from bio_mcp.literature.quality import year
from bio_mcp.literature.records import Article, Journal

FIRST_AUTHORS = 2  # named before "et al."


@dataclass(frozen=True, slots=True)
class InShort:
    """What cites a paper, in few characters: `Horby P, Lim WS, et al.`, the journal's abbreviation, and the address of
    the paper, which is its DOI's, else PubMed's."""

    authors: str
    journal: str
    year: int | None
    doi: str
    url: str


def first_of(authors: Sequence[str]) -> str:
    """The first authors, and "et al." where there are more."""
    return ", ".join([*authors[:FIRST_AUTHORS], *("et al." for _ in authors[FIRST_AUTHORS:][:1])])


def in_short(article: Article) -> InShort:
    journal = article.journal or Journal()
    return InShort(
        authors=first_of([each.short_name for each in article.authors]),
        journal=journal.iso_abbreviation or journal.medline_abbreviation or journal.title or "",
        year=year(article),
        doi=article.doi or "",
        url=identifiers.doi_page(article.doi) if article.doi else identifiers.pubmed_page(article.pmid),
    )


@dataclass(frozen=True, slots=True)
class Description:
    """A work, as one place knows it. `authors` are family names first ("Doe J"); ids are in their normal form.

    `emptied` names fields that are to stay empty, whatever another place knows.
    """

    title: str | None = None
    citekey: str | None = None
    doi: str | None = None
    pmid: str | None = None
    pmcid: str | None = None
    url: str | None = None
    year: int | None = None
    authors: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    language: str | None = None
    journal: str | None = None
    emptied: frozenset[str] = field(default=frozenset(), repr=False)

    def over(self, other: "Description") -> "Description":
        """This description, with what it lacks from `other`."""
        emptied = self.emptied | other.emptied.difference(self.stated)
        return replace(other, **{name: getattr(self, name) for name in self.stated}, emptied=emptied)

    @property
    def stated(self) -> list[str]:
        """The names of the fields that say something, if only that they are empty."""
        names = (each.name for each in fields(self) if each.name != "emptied")
        return [name for name in names if getattr(self, name) or name in self.emptied]

    @property
    def identifiers(self) -> frozenset[str]:
        """The names by which the work is known anywhere: `pmid:1`, `pmcid:PMC1`, `doi:10.1/x`, `citekey:doe2020`."""
        named = (("pmid", self.pmid), ("pmcid", self.pmcid), ("doi", self.doi), ("citekey", self.citekey))
        return frozenset(f"{kind}:{value}" for kind, value in named if value)


def of_article(article: Article) -> Description:
    """The work that PubMed has a record of."""
    return Description(
        title=article.title or article.vernacular_title,
        doi=normal(identifiers.doi, article.doi),
        pmid=article.pmid,
        pmcid=normal(identifiers.pmcid, article.pmcid),
        year=article.publication_date.year if article.publication_date else None,
        authors=tuple(map(nlm_name, names(article.authors))),
        journal=article.journal.title if article.journal else None,
    )


_LITTLE = frozenset("a an the on in of for to and or is are do does can how what why from with by at new its".split())


def citekey_of(known: Description) -> str | None:
    """`first_author_year_word`: `de_marchis_2016_multi`; None of a work without author and year."""
    if not (known.authors or known.year):
        return None
    family = re.sub(r"\s[A-Z]{1,4}(?:\s\w{2,3})?$", "", known.authors[0]) if known.authors else "anonymous"
    words = [each for each in _plain(known.title or "").split("_") if each.isalpha() and each not in _LITTLE]
    named = (_plain(family) or "anonymous", str(known.year or "nd"), next(iter(words), ""))
    return "_".join(filter(None, named))[:_LONGEST_KEY]


_LONGEST_KEY = 60  # characters
_LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "œ": "oe", "þ": "th", "ð": "d", "ı": "i"})


def _plain(text: str) -> str:
    """The words of a text without accents, in small Latin letters, joined by `_`."""
    letters = unicodedata.normalize("NFKD", text[:500].casefold().translate(_LETTERS))
    return re.sub("[^a-z0-9]+", "_", "".join(each for each in letters if not unicodedata.combining(each))).strip("_")


TELLING = 15  # letters and digits of a title by which it alone names a work


class References:
    """Descriptions of works, of which one may be that of a document."""

    def __init__(self, works: Iterable[Description] = ()) -> None:
        self._by_identifier: dict[str, list[Description]] = {}
        self._by_title: dict[str, list[Description]] = {}
        self._by_citekey: dict[str, list[Description]] = {}
        for each in works:
            for identifier in each.identifiers:
                self._by_identifier.setdefault(identifier, []).append(each)
            self._by_title.setdefault(_letters(each.title), []).append(each)
            self._by_citekey.setdefault(_letters(each.citekey), []).append(each)

    def match(self, known: Description, name: str) -> Description | None:
        """The work with an id of `known`, or else with its title, or else that the file's name names; None for several.

        A file is named after a work by its citekey, or by the beginning of its title, alone or after "Doe - 2020 - ".
        """
        citekeys = {each for each in known.identifiers if each.startswith("citekey:")}
        title, stem = _letters(known.title), PurePosixPath(name).stem
        beginning = _letters(stem.rpartition(" - ")[2])
        begun = [works for title, works in self._by_title.items() if title.startswith(beginning)]
        for found in (
            [each for id_ in known.identifiers - citekeys for each in self._by_identifier.get(id_, ())],
            [each for id_ in citekeys for each in self._by_identifier.get(id_, ())],
            self._by_title.get(title, []) if len(title) >= TELLING else [],
            self._by_citekey.get(_letters(stem), []) if _letters(stem) else [],
            [each for works in begun for each in works] if len(beginning) >= TELLING else [],
        ):
            if len(works := {id(each): each for each in found}) == 1:
                return next(iter(works.values()))
        return None


_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,80}>")
_NOTED = re.compile(r"^\s*(PMID|PMCID|Citation Key)\s*:\s*(\S+)\s*$", re.IGNORECASE | re.MULTILINE)


def csl_items(content: str | bytes, field: str = "") -> list[dict[str, Any]]:
    """The items of CSL-JSON: of a list, of an object's `items`, or the one item.

    Raises `InvalidInput` for anything else, about the input's `field`.
    """
    try:
        items = json.loads(content)
    except (ValueError, RecursionError):
        raise InvalidInput("this file is not CSL-JSON; export the references as CSL JSON", field=field) from None
    if isinstance(items, dict):
        items = [items] if "title" in items else items.get("items")
    if not isinstance(items, list):
        raise InvalidInput("this file is JSON but no list of references; export them as CSL JSON", field=field)
    return [each for each in items if isinstance(each, dict)]


class CslItem:
    """An item of CSL-JSON. Its values may be of any type: what is no text, number or list of them counts as absent."""

    def __init__(self, item: Mapping[str, Any]) -> None:
        self._item = item
        self._noted = {kind.lower(): value for kind, value in _NOTED.findall(self.text("note"))}

    def text(self, name: str) -> str:
        """A variable as text; "" where it has none."""
        return _text(self._item.get(name))

    def noted(self, name: str) -> str:
        """A variable, or else what the item's note says that it is."""
        return self.text(name) or self._noted.get(name.lower(), "")

    @property
    def key(self) -> str:
        return self.text("citation-key") or self._noted.get("citation key") or self.text("id")

    @property
    def title(self) -> str:
        return _TAG.sub("", self.text("title")).strip()

    @property
    def issued(self) -> str:
        """The year in `date-parts`, or else the date as it was typed."""
        issued = self._item.get("issued")
        if not isinstance(issued, dict):
            return _text(issued)
        dates = issued.get("date-parts")
        typed = (issued.get("raw"), issued.get("literal"))
        return " ".join(filter(None, map(_text, (*(dates if isinstance(dates, list) else ()), *typed))))

    def names(self, variable: str) -> list[Name]:
        """People, with particles before their family names, and groups."""
        listed = self._item.get(variable)
        found = []
        for each in listed if isinstance(listed, list) else ():
            part = {name: _text(value) for name, value in each.items()} if isinstance(each, dict) else {}
            family = " ".join(filter(None, (part.get("non-dropping-particle"), part.get("family"))))
            found.append(Name(family=family, given=part.get("given", ""), literal=part.get("literal", "")))
        return found


def _text(value: object) -> str:
    """A text, a number, or the first of several, without spaces around it; "" for anything else."""
    value = value[0] if isinstance(value, list) and value else value
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def parse_csl_json(content: bytes) -> References:
    """The works of a CSL-JSON file. Raises `InvalidInput`."""
    return References([_described(CslItem(each)) for each in csl_items(content, field="references_path")])


def _described(item: CslItem) -> Description:
    url, issued = item.text("URL"), year_in(item.issued)
    people = [
        replace(each, initials="".join(part[0] for part in re.split(r"[\s.-]+", each.given) if part[:1].isupper()))
        for each in item.names("author") or item.names("editor")
    ]
    return Description(
        title=item.title or None,
        citekey=item.key or None,
        doi=normal(identifiers.doi, item.text("DOI")),
        pmid=normal(identifiers.parse_pmid, item.noted("PMID")),
        pmcid=normal(identifiers.pmcid, item.noted("PMCID")),
        url=url if url.startswith(("https://", "http://")) else None,
        year=int(issued) if issued else None,
        authors=tuple(filter(None, map(nlm_name, people))),
        tags=tuple(filter(None, (each.strip() for each in re.split("[,;]", item.text("keyword"))))),
        language=item.text("language") or None,
        journal=item.text("container-title") or None,
    )


def _letters(text: str | None) -> str:
    return "".join(each for each in (text or "").casefold() if each.isalnum())
