"""The formats of an export. A file is a head, records with a separator between them, and a tail; it is UTF-8."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from bio_mcp.exporting.selecting import Record
from bio_mcp.literature.citing import formats, imprint, styles, works
from bio_mcp.literature.citing.works import Work, nlm_notices
from bio_mcp.literature.notices import KINDS
from bio_mcp.literature.records import Article, Author, Book, Journal
from bio_mcp.literature.study_facts import printed
from bio_mcp.retrieval.chunking import abstract_text, study_of
from bio_mcp.screening.reviews import STAGES
from bio_mcp.untrusted import neutral

Name = Literal["ris", "nbib", "bibtex", "csl-json", "csv", "text"]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: the file's ending and media type, and how a record is written; `numbered` leads it by its place."""

    suffix: str
    mime_type: str
    render: Callable[[Record], str]
    head: str = ""
    between: str = ""
    tail: str = ""
    numbered: bool = False

    def written(self, record: Record, place: int) -> str:
        """A record as it stands at a place, counted from 1, in the file."""
        return f"{place}. {self.render(record)}" if self.numbered else self.render(record)


INCLUDED, EXCLUDED = "ASReview_relevant", "ASReview_irrelevant"  # by which ASReview knows what a screening decided


def _ris(record: Record) -> str:
    more = [("AB", abstract_text(record.article)), *(("KW", each) for each in record.subjects)]
    if record.included is not None:
        more.append(("N1", INCLUDED if record.included else EXCLUDED))
    more += [("N1", f"{STAGES[stage]}: {text}") for stage, text in record.said.items()]
    return formats.ris(Work(record.article), more)


def _bibtex(record: Record) -> str:
    """Keywords are joined by semicolons, since MeSH headings have commas."""
    more = {"abstract": abstract_text(record.article), "keywords": "; ".join(record.subjects)}
    return formats.bibtex(Work(record.article), more, record.citekey)


def _csl(record: Record) -> str:
    """An item of the list in one line. Keywords are joined by semicolons, since MeSH headings have commas."""
    more = {"abstract": abstract_text(record.article), "keyword": "; ".join(record.subjects)}
    whole = formats.csl_item(Work(record.article)) | {name: text for name, text in more.items() if text}
    return json.dumps(neutral(whole, places=False), ensure_ascii=False)  # before a control is escaped


def _text(record: Record) -> str:
    """A line as for the list of references of a manuscript, in Vancouver style."""
    return " ".join(neutral(styles.vancouver(Work(record.article)), places=False).split()) + "\n"


_WIDTH = 82  # of a line, without its tag
_TAGS = {kind: tag for tag, kind in KINDS.items()}

Fields = Iterator[tuple[str, str | None]]


def _nbib(record: Record) -> str:
    """MEDLINE's display format: a tag of four characters, a hyphen, a value; longer ones go on after six spaces.

    Tags, and the order in which they are printed, are those of PubMed's own description of its format.
    """
    cited = Work(record.article)
    fields = (*_source(cited), *_subjects(record), *_history(cited))
    return "".join(_line(tag, " ".join(value.split())) for tag, value in fields if value)


def _line(tag: str, value: str) -> str:
    lines = [""]
    for word in value.split(" "):
        if lines[-1] and len(lines[-1]) + len(word) >= _WIDTH:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return f"{tag:<4}- " + "\n      ".join(lines) + "\n"


def _located(article: Article) -> list[str]:
    return [f"{value} [{kind}]" for value, kind in ((article.doi, "doi"), (article.pii, "pii")) if value]


def _source(cited: Work) -> Fields:
    article, journal, book = cited.article, cited.article.journal or Journal(), cited.article.book or Book()
    yield "PMID", article.pmid
    yield "STAT", article.status
    yield "DCOM", f"{article.date_completed:%Y%m%d}" if article.date_completed else ""
    yield "LR", f"{article.date_revised:%Y%m%d}" if article.date_revised else ""
    yield "IS", journal.issn and f"{journal.issn} ({journal.issn_type or 'Print'})"
    yield "IS", journal.issn_l and f"{journal.issn_l} (Linking)"
    yield "VI", journal.volume
    yield "IP", journal.issue
    yield "DP", article.publication_date.text if article.publication_date else ""
    yield "TI", article.title
    yield "TT", article.vernacular_title if cited.original_title else ""
    yield "BTI", book.title
    yield "PB", book.publisher
    yield from (("ISBN", each) for each in book.isbn)
    yield "PG", article.pages
    yield from (("LID", each) for each in _located(article))
    for author in article.authors:
        yield from _person(author)
    yield from (("FED", works.inverted_name(each)) for each in cited.editors)
    yield from (("LA", each) for each in article.languages)
    for grant in article.grants:
        yield "GR", "/".join(filter(None, (grant.number, grant.acronym, grant.agency, grant.country)))


def _subjects(record: Record) -> Fields:
    article, journal = record.article, record.article.journal or Journal()
    online = article.electronic_date
    yield "AB", abstract_text(record.article)
    yield "CI", article.copyright
    yield from (("SI", f"{bank.name}/{each}") for bank in article.databanks for each in bank.accessions)
    yield from (("PT", each.name) for each in article.publication_types)
    yield "DEP", online.iso.replace("-", "") if online and online.iso and online.day else ""
    yield "PL", journal.country
    yield "TA", journal.medline_abbreviation or journal.iso_abbreviation
    yield "JT", journal.title
    yield "JID", journal.nlm_id
    yield from (("RN", f"{each.registry_number} ({each.name})") for each in article.chemicals)
    for heading in article.mesh:  # `*Heading/qualifier/*qualifier`: what an article is mainly about has a mark
        parts = [(heading.name, heading.major), *((part.name, part.major) for part in heading.qualifiers)]
        yield "MH", "/".join(f"*{name}" if major else name for name, major in parts)
    yield from (("OT", each) for each in article.keywords)


def _history(cited: Work) -> Fields:
    article = cited.article
    for notice in article.corrections:
        text = " ".join(filter(None, (notice.citation, notice.pmid and f"PMID: {notice.pmid}")))
        yield _TAGS.get(notice.kind, ""), text if notice.kind in _TAGS else ""
    yield "PMC", (article.pmcid or "").partition(".")[0]  # a preprint has a version of it
    for tag, moment in (("EDAT", article.edat), ("MHDA", article.mhda), ("CRDT", article.crdt)):
        yield tag, moment and moment.replace("-", "/").replace("T", " ")
    yield from (("AID", each) for each in _located(article))
    yield "PST", article.publication_status
    yield "SO", styles.vancouver(cited) if article.pmid else ""


def _person(author: Author) -> Fields:
    if author.collective_name and not author.last_name:
        yield "CN", author.collective_name
    elif author.last_name or author.fore_name:
        given = " ".join(filter(None, (author.fore_name or author.initials, author.suffix)))
        yield "FAU", ", ".join(filter(None, (author.last_name, given)))
        yield "AU", author.short_name
    yield "AUID", author.orcid and f"ORCID: {author.orcid}"
    yield from (("AD", each) for each in author.affiliations)


COLUMNS = (
    "pmid", "doi", "pmcid", "title", "authors", "year", "date", "journal", "journal_abbreviation", "volume", "issue",
    "pages", "issn", "abstract", "mesh", "keywords", "publication_types", "language", "retraction", "notices", "url",
    "included", "decision", "reason", "abstract_decisions", "full_text_decisions", "found_by", "design", "humans",
    "participants", "studies", "effects",
)  # fmt: skip
_QUOTED = re.compile('[,;\t|"\r\n]')
_FORMULA = re.compile(  # what reads a file by another separator takes no quote for one: a cell begins behind it
    r'((?:^|[;\t|])[\s"]*)(?=[=+\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻])|(,[\s"]*)(?=[=@＝＋－＠﹦﹢﹣﹫⁼⁺⁻]|[+\-](?! ?[0-9]))'
)


def _row(cells: Iterable[str]) -> str:
    return ",".join('"{}"'.format(each.replace('"', '""')) if _QUOTED.search(each) else each for each in cells) + "\r\n"


def _csv(record: Record) -> str:
    """The paper as a row (RFC 4180), lists joined by semicolons. An apostrophe leads what is a formula, also where it
    begins behind what another reader takes for a separator; a negative number behind a comma is left."""
    cited = Work(record.article)
    article = cited.article
    cells = {each: getattr(article, each) or "" for each in ("pmid", "doi", "pmcid")}
    cells |= {each: getattr(cited, each) for each in ("title", "volume", "issue", "issn", "language", "url")}
    cells |= {
        "authors": "; ".join(map(works.inverted_name, cited.authors)),
        "year": str(cited.issued.year) if cited.issued and cited.issued.year else "",
        "date": cited.issued.text if cited.issued else "",
        "journal": cited.container,
        "journal_abbreviation": cited.abbreviation,
        "pages": cited.number or imprint.full_pages(cited.page),
        "abstract": abstract_text(record.article),
        "mesh": "; ".join(record.headings),
        "keywords": "; ".join(article.keywords),
        "publication_types": "; ".join(each.name for each in article.publication_types),
        "retraction": article.retraction.value,
        "included": "" if record.included is None else str(int(record.included)),
        "decision": record.decision or "",
        "reason": record.reason or "",
        "abstract_decisions": record.said.get("abstract", ""),
        "full_text_decisions": record.said.get("full_text", ""),
        "found_by": "; ".join(record.found_by),
        "notices": "; ".join(nlm_notices(cited)),
        **_study(article),
    }
    texts = (" ".join(neutral(cells[name], places=False).split()) for name in COLUMNS)
    return _row(_FORMULA.sub(r"\g<0>'", each) for each in texts)


def _study(article: Article) -> dict[str, str]:
    """What the abstract states of the study; an effect as "stroke: HR 0.72, 95 % CI 0.58 to 0.90"."""
    stated = study_of(article).facts
    counted = stated.participants
    return {
        "design": stated.design or "",
        "humans": "" if stated.humans is None else str(int(stated.humans)),
        "participants": str(counted.n) if counted and counted.n else "",
        "studies": str(counted.studies) if counted and counted.studies else "",
        "effects": "; ".join(f"{each.outcome or ''}: {printed(each)}".removeprefix(": ") for each in stated.effects),
    }


FORMATS: Mapping[Name, Format] = {
    "ris": Format(".ris", "application/x-research-info-systems", _ris, between="\n"),
    "nbib": Format(".nbib", "application/nbib", _nbib, between="\n"),
    "bibtex": Format(".bib", "application/x-bibtex", _bibtex, between="\n"),
    "csl-json": Format(
        ".json", "application/vnd.citationstyles.csl+json", _csl, head="[\n", between=",\n", tail="\n]\n"
    ),
    "csv": Format(".csv", "text/csv", _csv, head=_row(COLUMNS)),
    "text": Format(".txt", "text/plain", _text, numbered=True),
}
NAMES: tuple[Name, ...] = get_args(Name)
