"""Where a full text is looked for, source by source, and how it is cut to what a reader asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, Failure, InvalidInput, Misconfigured, NotFound, UpstreamFailed
from bio_mcp.literature.documents import FullText, Licence, Table, TextSection
from bio_mcp.literature.identifiers import doi_page, europe_pmc_page, pmc_page, preprint_id
from bio_mcp.ports import Backends
from bio_mcp.ports.ncbi import ArticleIds
from bio_mcp.ports.scholarly import EuropePmcRecord
from bio_mcp.querying.identifiers import convert, kind_of
from bio_mcp.querying.search import failure_status

_LEAST_SHOWN = 200  # characters below which the beginning of a section is not worth showing


@dataclass(frozen=True, slots=True)
class Shown:
    """The sections that fit. `cut` is the title of the last if it is not whole, `left_out` the titles of the rest."""

    sections: tuple[TextSection, ...]
    cut: str | None
    left_out: tuple[str, ...]


def choose(sections: Sequence[TextSection], titles: Sequence[str]) -> list[TextSection]:
    """The sections whose title, or a parent's title, contains one of `titles` in any case; all when none is given."""
    wanted = [title.casefold() for title in titles]
    chosen: list[TextSection] = []
    inside = 0  # level of the chosen section that we are in
    for section in sections:
        if inside and section.level <= inside:
            inside = 0
        if not wanted or inside or any(title in section.title.casefold() for title in wanted):
            chosen.append(section)
            inside = inside or section.level
    return chosen


def fit(sections: Sequence[TextSection], budget: int, with_tables: bool) -> Shown:
    """The first sections that fit in `budget` characters, tables included; the first that does not fit is cut."""
    shown: list[TextSection] = []
    left, cut = budget, None
    for place, section in enumerate(sections):
        own = section if with_tables else replace(section, tables=())
        size = length(own)
        if size <= left:
            shown.append(own)
            left -= size
            continue
        if left > _LEAST_SHOWN or not shown:
            shown.append(_cut(own, left))
            cut, place = section.title, place + 1
        return Shown(tuple(shown), cut, tuple(each.title for each in sections[place:]))
    return Shown(tuple(shown), None, ())


def length(section: TextSection) -> int:
    """Characters of a section, its tables included."""
    return len(section.title) + len(section.text) + sum(map(_size, section.tables))


def _size(table: Table) -> int:
    return len(table.label) + len(table.caption) + len(table.note) + sum(len(row) + 1 for row in table.rows)


def _cut(section: TextSection, left: int) -> TextSection:
    """Cut the text at the last whole sentence, or word, that fits; then add the tables that still fit."""
    text = section.text
    left = max(left - len(section.title), 1)
    if len(text) > left:
        head = text[:left]
        at = max(head.rfind(". ") + 1, head.rfind("\n")) if left > _LEAST_SHOWN else 0
        text = head[: at if at > left // 2 else max(head.rfind(" "), 1)].rstrip()
    left -= len(text)
    tables: list[Table] = []
    for table in section.tables:
        if _size(table) > left or len(text) < len(section.text):
            break
        tables.append(table)
        left -= _size(table)
    return replace(section, text=text, tables=tuple(tables))


Place = Literal["pubmed_central", "europe_pmc", "preprint", "unpaywall", "publisher"]
Outcome = Literal["available", "absent", "withheld", "failed", "not_asked"]
NOTHING = FullText(None, None, None, "", "", Licence(), (), withheld=True)
PLACE_S = 9.0  # for each place behind the first, all tries together


@dataclass(frozen=True, slots=True)
class SourceResult:
    """What one place says. `url` is where a reader finds the text, `licence` what its holder says of it."""

    place: Place
    outcome: Outcome
    detail: str = ""
    url: str | None = None
    licence: str = ""


@dataclass(slots=True)
class FullTextSearch:
    """The text, if any place gave it, and what each place says. `place` is the one that `text` is from.

    Each method that is named as a place asks it, and notes what it says. `record` is what Europe PMC has.
    """

    backends: Backends
    deadline: Deadline
    ids: ArticleIds = field(default_factory=ArticleIds)
    preprint_id: str | None = None
    rungs: list[SourceResult] = field(default_factory=list)
    text: FullText | None = None
    place: Place | None = None
    failure: Failure | None = None  # the first
    title: str = ""
    record: EuropePmcRecord | None = None

    @property
    def has_text(self) -> bool:
        """Whether there is more than what a publisher leaves of a withheld article."""
        return self.text is not None and not self.text.withheld

    def ask(self, place: Place, ask: Callable[[Deadline], None]) -> None:
        """Ask one place; that it fails, or may not be asked, ends nothing."""
        try:
            ask(self.deadline if place == "pubmed_central" else self.deadline.share(PLACE_S))
        except NotFound as failure:
            self._note(place, "absent", str(failure))
        except Misconfigured as failure:
            self._note(place, "not_asked", str(failure))
        except (UpstreamFailed, DeadlineExceeded) as failure:
            self.failure = self.failure or failure
            self._note(place, "failed", f"{failure_status(failure)}: {failure}")

    def pubmed_central(self, deadline: Deadline) -> None:
        ids = self.ids
        if not ids.pmcid:
            if self.failure is None:
                raise NotFound("PubMed Central does not have this article")
            self._note("pubmed_central", "failed", "NCBI could not say whether it is there")
            return
        text = self.backends.lookup.full_text(ids.pmcid, deadline=deadline)
        self.text, self.place = text, "pubmed_central"
        self.ids = ArticleIds(ids.pmid or text.pmid, ids.pmcid, ids.doi or text.doi)
        says = "its publisher does not let PubMed Central give it away" if text.withheld else ""
        outcome: Outcome = "withheld" if text.withheld else "available"
        self._note("pubmed_central", outcome, says, pmc_page(ids.pmcid), text.licence.name)

    def europe_pmc(self, deadline: Deadline) -> None:
        ids = self.ids
        known = [each for each in (self.preprint_id, ids.pmid, ids.pmcid, ids.doi) if each]
        found = self.backends.europe_pmc.articles(known, deadline=deadline)
        self.record = record = next((found[each] for each in known if each in found), None)
        if record is None:
            raise NotFound("Europe PMC does not have this article")
        self.title = record.title
        self.ids = ArticleIds(ids.pmid or record.pmid, ids.pmcid or record.pmcid, ids.doi or record.doi)
        self._take("europe_pmc", record, deadline)

    def preprint(self, deadline: Deadline) -> None:
        """Only an article that Europe PMC links to a preprint has one to ask for."""
        if not self.record or not self.record.preprints:
            return
        ids = [each.id for each in self.record.preprints]
        found = list(self.backends.europe_pmc.articles(ids, deadline=deadline).values())
        if not found:
            raise NotFound("Europe PMC has no open text of it")
        self._take("preprint", next((each for each in found if each.text_id), found[0]), deadline)

    def unpaywall(self, deadline: Deadline) -> None:
        if not self.ids.doi:
            raise NotFound("it is asked by DOI, and none is known")
        found = self.backends.open_access.copies(self.ids.doi, deadline=deadline)
        if not found.copies:
            raise NotFound("Unpaywall knows no legal copy")
        best = found.copies[0]
        self.title = self.title or found.title
        says = ", ".join(filter(None, (best.version, best.host)))
        self._note("unpaywall", "available", f"not fetched; {says}", best.pdf_url or best.url, best.licence)

    def publisher(self, _: Deadline) -> None:
        if doi := self.ids.doi:
            self._note("publisher", "available", "not fetched; its publisher says who may read it", doi_page(doi))

    def _take(self, place: Place, record: EuropePmcRecord, deadline: Deadline) -> None:
        page = europe_pmc_page(record.source, record.id)
        if record.text_id is None:
            self._note(place, "withheld", "Europe PMC has no open text of it", page)
            return
        text = self.backends.europe_pmc.full_text(record.text_id, deadline=deadline)
        self.text, self.place = text, place
        is_preprint = record.source == "PPR"
        says = f"a preprint of {record.journal or 'a server'}, which nobody has reviewed" if is_preprint else ""
        self._note(place, "available", says, page, text.licence.name or record.licence)

    def _note(
        self, place: Place, outcome: Outcome, detail: str = "", url: str | None = None, licence: str = ""
    ) -> None:
        self.rungs.append(SourceResult(place, outcome, detail, url, licence))


def find_full_text(asked: str, backends: Backends, deadline: Deadline) -> FullTextSearch:
    """Ask for the article with this PMCID, PMID, DOI or preprint's id ("PPR123").

    Raises `InvalidInput` for text that is no id; the first failure of a service where none has the text and one
    failed; `NotFound` where every place that was asked has neither the text nor the address of a copy.
    """
    found = FullTextSearch(backends, deadline)
    _identify(asked, found)
    steps: dict[Place, Callable[[Deadline], None]] = {
        "pubmed_central": found.pubmed_central,
        "europe_pmc": found.europe_pmc,
        "preprint": found.preprint,
        "unpaywall": found.unpaywall,
        "publisher": found.publisher,
    }
    for place, step in steps.items():
        if not found.has_text:
            found.ask(place, step)
    if found.text or any(each.place == "unpaywall" and each.outcome == "available" for each in found.rungs):
        return found
    rungs = [{"place": each.place, "outcome": each.outcome, "url": each.url} for each in found.rungs]
    if found.failure is not None:
        found.failure.details.setdefault("status", failure_status(found.failure))
        found.failure.details["rungs"] = rungs
        raise found.failure
    raise NotFound(
        "no place that may be asked gives this article's text away; read its abstract with fetchArticleDetails",
        tools=("fetchArticleDetails",),
        pmid=found.ids.pmid,
        doi=found.ids.doi,
        rungs=rungs,
    )


def _identify(asked: str, found: FullTextSearch) -> None:
    """Note the ids of the article, or the id of a preprint if that was asked for."""
    if preprint := preprint_id(asked):
        found.preprint_id = preprint
        return
    kind = kind_of(asked)
    if kind is None:
        raise InvalidInput(f"{asked[:60]!r} is not a PMCID, PMID or DOI; give one such as PMC6108041")
    found.ids = ArticleIds(**{kind[0]: kind[1]})
    if kind[0] == "pmcid":
        return
    [converted], reasons = convert([asked], found.backends.lookup, found.backends.pubmed, found.deadline)
    if converted.state == "found":
        found.ids = converted.ids
    if converted.state == "unknown":
        found.failure = UpstreamFailed(f"NCBI could not say which article this is ({'; '.join(reasons)})")


def reasons_of(found: FullTextSearch) -> list[str]:
    """Why the answer is not whole: the text is withheld, or is not the article's own, or a place failed before."""
    reasons = []
    if not found.has_text:
        withheld = found.text is not None
        why = "the publisher does not let PubMed Central give this text away" if withheld else "no text is given away"
        where = next((each.url for each in found.rungs if each.url), None)
        reasons.append(f"{why}; read it at {where or 'the publisher'}")
    if found.place == "preprint":
        reasons.append("this is the text of the preprint, which may differ from the article")
    failed = [each for each in found.rungs if each.outcome == "failed"]
    return [*reasons, *(f"{each.place} was not read: {each.detail}" for each in failed)]
