"""NBIB, MEDLINE's display format: a tag of four characters, a hyphen, a value; longer ones go on after six spaces.

Tags, and the order in which they are printed, are those of PubMed's own description of its format.
"""

from collections.abc import Iterator
from datetime import date

from bio_mcp.exporting.records import Record, starred
from bio_mcp.literature.citing import names, vancouver
from bio_mcp.literature.citing.works import Work, work
from bio_mcp.literature.display_tags import KINDS
from bio_mcp.literature.records import Article, Author, Journal

_WIDTH = 82  # of a line, without its tag
_TAGS = {kind: tag for tag, kind in KINDS.items()}

Fields = Iterator[tuple[str, str | None]]


def render(record: Record) -> str:
    """The record, ended by a line break."""
    cited = work(record.article)
    fields = [*_status(record.article), *_source(cited), *_people(cited), *_subjects(record), *_history(cited)]
    return "".join(_line(tag, " ".join(value.split())) for tag, value in fields if value)


def _line(tag: str, value: str) -> str:
    lines = [""]
    for word in value.split(" "):
        if lines[-1] and len(lines[-1]) + len(word) >= _WIDTH:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return f"{tag:<4}- " + "\n      ".join(lines) + "\n"


def _status(article: Article) -> Fields:
    yield "PMID", article.pmid
    yield "STAT", article.status
    yield "DCOM", _digits(article.date_completed)
    yield "LR", _digits(article.date_revised)


def _source(cited: Work) -> Fields:
    article, journal = cited.article, cited.article.journal or Journal()
    if journal.issn:
        yield "IS", f"{journal.issn} ({journal.issn_type or 'Print'})"
    if journal.issn_l:
        yield "IS", f"{journal.issn_l} (Linking)"
    yield "VI", journal.volume
    yield "IP", journal.issue
    yield "DP", article.publication_date.text if article.publication_date else ""
    yield "TI", article.title
    yield "TT", article.vernacular_title if cited.original_title and article.vernacular_title else ""
    if article.book:
        yield "BTI", article.book.title
        yield "PB", article.book.publisher
        yield from (("ISBN", each) for each in article.book.isbn)
    yield "PG", article.pages
    yield from (("LID", each) for each in _locations(article))


def _locations(article: Article) -> list[str]:
    named = ((article.doi, "doi"), (article.pii, "pii"))
    return [f"{value} [{kind}]" for value, kind in named if value]


def _people(cited: Work) -> Fields:
    article = cited.article
    for each in article.authors:
        yield from _person(each)
    yield from (("FED", names.inverted(each)) for each in cited.editors)
    yield from (("LA", each) for each in article.languages)
    for grant in article.grants:
        yield "GR", "/".join(filter(None, (grant.number, grant.acronym, grant.agency, grant.country)))


def _person(author: Author) -> Fields:
    if author.collective_name and not author.last_name:
        yield "CN", author.collective_name
    elif author.last_name or author.fore_name:
        given = " ".join(filter(None, (author.fore_name or author.initials, author.suffix)))
        yield "FAU", ", ".join(filter(None, (author.last_name, given)))
        yield "AU", author.short_name
    yield "AUID", f"ORCID: {author.orcid}" if author.orcid else ""
    yield from (("AD", each) for each in author.affiliations)


def _subjects(record: Record) -> Fields:
    article, journal = record.article, record.article.journal or Journal()
    yield "AB", record.abstract
    yield "CI", article.copyright
    yield from (("SI", f"{bank.name}/{each}") for bank in article.databanks for each in bank.accessions)
    yield from (("PT", each.name) for each in article.publication_types)
    yield "DEP", _compact(article)
    yield "PL", journal.country
    yield "TA", journal.medline_abbreviation or journal.iso_abbreviation
    yield "JT", journal.title
    yield "JID", journal.nlm_id
    yield from (("RN", f"{each.registry_number} ({each.name})") for each in article.chemicals)
    yield from (("MH", each) for each in starred(article.mesh))
    yield from (("OT", each) for each in article.keywords)


def _history(cited: Work) -> Fields:
    article = cited.article
    for each in article.corrections:
        if tag := _TAGS.get(each.kind):
            yield tag, " ".join(filter(None, (each.citation, f"PMID: {each.pmid}" if each.pmid else "")))
    yield "PMC", (article.pmcid or "").partition(".")[0]  # a preprint has a version of it
    yield "EDAT", _minute(article.edat)
    yield "MHDA", _minute(article.mhda)
    yield "CRDT", _minute(article.crdt)
    yield from (("AID", each) for each in _locations(article))
    yield "PST", article.publication_status
    yield "SO", vancouver.render(cited) if article.pmid else ""


def _compact(article: Article) -> str:
    printed = article.electronic_date
    return f"{printed.year:04}{printed.month:02}{printed.day:02}" if printed and printed.iso and printed.day else ""


def _digits(day: date | None) -> str:
    return day.strftime("%Y%m%d") if day else ""


def _minute(moment: str | None) -> str:
    """`2002/09/17 10:00`."""
    return (moment or "").replace("-", "/").replace("T", " ")
