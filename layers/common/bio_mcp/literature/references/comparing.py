"""What of a reference its record confirms, and what differs."""

import re
from dataclasses import dataclass

from bio_mcp.literature.citing.pages import spans
from bio_mcp.literature.citing.titles import journal_title
from bio_mcp.literature.citing.works import plain_title
from bio_mcp.literature.descriptions import normal
from bio_mcp.literature.identifiers import doi, pmcid
from bio_mcp.literature.records import Article
from bio_mcp.literature.references.authors import differing_author
from bio_mcp.literature.references.journals import same_journal
from bio_mcp.literature.references.titles import contains_phrase, contains_title, same_title
from bio_mcp.literature.references.works import CitedWork

MINOR = frozenset({"issue"})  # a difference that makes no reference doubtful
_IMPRINT = ("journal", "year", "volume", "pages", "authors")
_ENOUGH = 4  # of these, where a reference states no title
_YEARS = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")


@dataclass(frozen=True, slots=True)
class Difference:
    """A field, what the reference states, and what is right."""

    field: str
    stated: str
    true: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The fields that agree and those that differ; one that either side lacks is in neither."""

    agrees: tuple[str, ...] = ()
    differs: tuple[Difference, ...] = ()
    by_number: bool = False

    @property
    def numbered(self) -> bool:
        """Whether journal and year agree, and an article number of five figures, which no other article of it has."""
        return self.by_number and {"journal", "year"} <= set(self.agrees)

    @property
    def serious(self) -> tuple[Difference, ...]:
        """Those that make the reference doubtful."""
        return tuple(each for each in self.differs if each.field not in MINOR)

    @property
    def names_it(self) -> bool:
        """Whether what agrees is enough to name one work: its title and more, an id and more, or the whole imprint."""
        fields, ids = set(self.agrees), {"pmid", "doi", "pmcid"} & set(self.agrees)
        if "title" in fields or ids:
            return len(fields) > 1 or bool(ids)
        return "pages" in fields and (len(fields.intersection(_IMPRINT)) >= _ENOUGH or self.numbered)

    @property
    def confirms(self) -> bool:
        """Whether the reference is this work's, with nothing serious that differs."""
        return self.names_it and not self.serious

    @property
    def score(self) -> float:
        """How near the work is, to choose among several."""
        differs = {each.field for each in self.serious}
        worth = {"title": 5.0, "pmid": 1.5, "doi": 2.0, "pmcid": 1.5, "pages": 1.5}
        return sum(worth.get(each, 1.0) for each in self.agrees) - sum(worth.get(each, 1.0) for each in differs) / 2

    @property
    def is_near(self) -> bool:
        """Whether the reference may mean this work although something differs."""
        fields = set(self.agrees)
        by_imprint = len(fields.intersection(_IMPRINT)) >= 3 and bool(fields & {"pages", "authors"})
        return bool(fields & {"title", "pmid", "doi", "pmcid"}) or by_imprint


def compare(work: CitedWork, article: Article) -> Comparison:
    """Compare each field that both have. Fields of a reference in plain text are guesses, so its title is looked for in
    the whole text."""
    checks = (
        _id("pmid", work.pmid, article.pmid),
        _id("doi", work.doi, normal(doi, article.doi) or ""),
        _id("pmcid", work.pmcid, normal(pmcid, article.pmcid) or ""),
        _title(work, article),
        _authors(work, article),
        _journal(work, article),
        _year(work, article),
        _volume(work, article),
        _issue(work, article),
        _pages(work, article),
    )
    known = [each for each in checks if each is not None]
    differs = tuple(each for each in known if isinstance(each, Difference))
    agrees = tuple(each for each in known if isinstance(each, str))
    return Comparison(agrees, differs, bool(re.search(r"\d{5}", work.pages.partition("-")[0])))


Check = str | Difference | None
"""The name of a field that agrees, a difference, or None where it cannot be compared."""


def _check(field: str, same: bool | None, stated: str, true: str) -> Check:
    return None if same is None else field if same else Difference(field, stated, true)


def _id(kind: str, stated: str, true: str) -> Check:
    return _check(kind, stated == true, stated, true) if stated and true else None


def _title(work: CitedWork, article: Article) -> Check:
    printed = [each for each in (article.title, article.vernacular_title, _book_title(article)) if each]
    found = [same_title(work.title, each) for each in printed]
    if work.text and not any(found):
        found = [contains_title(work.text, each) for each in printed]
        found = found if work.title else [each or None for each in found]
    same = True if any(found) else None if all(each is None for each in found) else False
    return _check("title", same, work.title, plain_title(article.title))


def _book_title(article: Article) -> str | None:
    return article.book.title if article.book else None


def _authors(work: CitedWork, article: Article) -> Check:
    if not work.authors or not article.authors:
        return None
    different = differing_author(work, article)
    return Difference("authors", *different) if different else "authors"


def _journal(work: CitedWork, article: Article) -> Check:
    same = same_journal(work.journal, article.journal)
    name = article.journal and (article.journal.title or article.journal.medline_abbreviation)
    return _check(
        "journal", same or (None if same is None else _in_text(work, article)), work.journal, journal_title(name or "")
    )


def _in_text(work: CitedWork, article: Article) -> bool:
    """Whether plain text has the journal's abbreviation somewhere, where its place was guessed wrongly."""
    journal = article.journal
    names = (journal.medline_abbreviation, journal_title(journal.title or "")) if work.text and journal else ()
    return any(contains_phrase(work.text, name) for name in names if name)


def _year(work: CitedWork, article: Article) -> Check:
    dates = (article.publication_date, article.electronic_date, article.book and article.book.contribution_date)
    years = [year for date in dates if date for year in _YEARS.findall(f"{date.text} {date.iso or ''}")]
    return _check("year", work.year in years, work.year, years[0]) if work.year and years else None


def _volume(work: CitedWork, article: Article) -> Check:
    printed = (article.journal and article.journal.volume) or ""
    ours, theirs = re.findall(r"\w+", work.volume.casefold()), re.findall(r"\w+", printed.casefold())
    if not ours or not theirs:
        return None
    same = ours[0].lstrip("0") == theirs[0].lstrip("0") or _roman(ours[0]) == _roman(theirs[0]) != 0
    return _check("volume", same, work.volume, printed)


def _roman(text: str) -> int:
    values = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
    if not text or set(text) - set(values):
        return int(text) if text.isdecimal() else 0
    numbers = [values[letter] for letter in text]
    return sum(-a if a < b else a for a, b in zip(numbers, [*numbers[1:], 0], strict=True))


def _issue(work: CitedWork, article: Article) -> Check:
    printed = (article.journal and article.journal.issue) or ""
    ours, theirs = re.findall(r"\d+", work.issue), re.findall(r"\d+", printed)
    return _check("issue", ours[0] == theirs[0], work.issue, printed) if ours and theirs else None


def _pages(work: CitedWork, article: Article) -> Check:
    """The first page, and the last where both state it. An article number compares without its letter."""
    ours, theirs = _span(work.pages), _span(article.pages or "")
    if not ours or not theirs:
        return None
    same = _same_page(ours[0], theirs[0]) and (not ours[1] or not theirs[1] or _same_page(ours[1], theirs[1]))
    return _check("pages", same, work.pages, article.pages or "")


def _span(text: str) -> tuple[str, str] | None:
    found = spans(re.sub(r"[–—‐‑−]+|--+", "-", re.sub(r"\.e\d+$", "", text.strip())))
    return (found[0].first.casefold(), found[0].last.casefold()) if found and found[0].first else None


def _same_page(one: str, other: str) -> bool:
    """Whether two pages are equal, but for leading zeros and for a letter that only one of them has in front."""
    (a, first), (b, second) = (_page(each) for each in (one, other))
    return first == second and (a == b or not a or not b)


def _page(text: str) -> tuple[str, str]:
    found = re.fullmatch(r"([a-z]*)\W*0*(.*?)", text.strip())
    return (found[1], found[2]) if found else ("", text)
