"""The text of an article from where it may be had: each place is asked in turn until one has it, and what each says
is told. PubMed Central, Europe PMC, the article's preprint there; else the address of a legal copy, and the
publisher's page. Nothing is fetched from an address, whose terms are its host's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, Failure, InvalidInput, Misconfigured, NotFound, UpstreamFailed
from bio_mcp.literature.addresses import doi_page, europe_pmc_page, pmc_page
from bio_mcp.literature.identifiers import preprint_id
from bio_mcp.literature.jats import FullText, Licence
from bio_mcp.ports import Backends
from bio_mcp.ports.europe_pmc import EuropePmcRecord
from bio_mcp.ports.ncbi import ArticleIds
from bio_mcp.querying.converting import convert, kind_of
from bio_mcp.querying.partial import status_of

Place = Literal["pubmed_central", "europe_pmc", "preprint", "unpaywall", "publisher"]
Outcome = Literal["available", "absent", "withheld", "failed", "not_asked"]
NOTHING = FullText(None, None, None, "", "", Licence(), (), withheld=True)
PLACE_S = 9.0  # for each place behind the first, all tries together


@dataclass(frozen=True, slots=True)
class Rung:
    """What one place says. `url` is where a reader finds the text, `licence` what its holder says of it."""

    place: Place
    outcome: Outcome
    detail: str = ""
    url: str | None = None
    licence: str = ""


@dataclass(slots=True)
class Climb:
    """The text, if any place gave it, and what each place says. `place` is the one that `text` is from."""

    ids: ArticleIds
    rungs: list[Rung] = field(default_factory=list)
    text: FullText | None = None
    place: Place | None = None
    failure: Failure | None = None  # the first

    title: str = ""

    @property
    def has_text(self) -> bool:
        """Whether there is more than what a publisher leaves of a withheld article."""
        return self.text is not None and not self.text.withheld


def climb(asked: str, backends: Backends, deadline: Deadline) -> Climb:
    """Ask for the article with this PMCID, PMID, DOI or preprint's id ("PPR123").

    Raises `InvalidInput` for text that is no id; the first failure of a service where none has the text and one
    failed; `NotFound` where every place that was asked has neither the text nor the address of a copy.
    """
    ladder = _Ladder(backends, deadline, *_identified(asked, backends, deadline))
    for step in (ladder.pubmed_central, ladder.europe_pmc, ladder.preprint, ladder.unpaywall, ladder.publisher):
        if not ladder.climb.has_text:
            step()
    return _judged(ladder.climb)


def reasons_of(climbed: Climb) -> list[str]:
    """Why the answer is not whole: the text is withheld, or is not the article's own, or a place failed before."""
    reasons = []
    if not climbed.has_text:
        withheld = climbed.text is not None
        why = "the publisher does not let PubMed Central give this text away" if withheld else "no text is given away"
        reasons.append(f"{why}; read it at the publisher's, or at an address in places")
    if climbed.place == "preprint":
        reasons.append("this is the text of the preprint, which may differ from the article")
    failed = [each for each in climbed.rungs if each.outcome == "failed"]
    return [*reasons, *(f"{each.place} was not read: {each.detail}" for each in failed)]


def _judged(climbed: Climb) -> Climb:
    if climbed.text or any(each.place == "unpaywall" and each.outcome == "available" for each in climbed.rungs):
        return climbed
    if climbed.failure is not None:
        climbed.failure.details.setdefault("status", status_of(climbed.failure))
        climbed.failure.details["rungs"] = _details(climbed.rungs)
        raise climbed.failure
    raise NotFound(
        "no place that may be asked gives this article's text away; its abstract is in fetchArticleDetails",
        pmid=climbed.ids.pmid,
        doi=climbed.ids.doi,
        rungs=_details(climbed.rungs),
    )


def _details(rungs: Sequence[Rung]) -> list[dict[str, Any]]:
    return [{"place": each.place, "outcome": each.outcome, "url": each.url} for each in rungs]


def _identified(asked: str, backends: Backends, deadline: Deadline) -> tuple[Climb, str | None]:
    """A climb with the ids of the article, and the id of a preprint if that was asked for."""
    if preprint := preprint_id(asked):
        return Climb(ArticleIds()), preprint
    kind = kind_of(asked)
    if kind is None:
        raise InvalidInput(f"{asked[:60]!r} is not a PMCID, PMID or DOI; give one such as PMC6108041")
    if kind[0] == "pmcid":
        return Climb(ArticleIds(pmcid=kind[1])), None
    [converted], reasons = convert([asked], backends.lookup, backends.pubmed, deadline)
    climbed = Climb(ArticleIds(**{kind[0]: kind[1]}) if converted.state != "found" else converted.ids)
    if converted.state == "unknown":
        climbed.failure = UpstreamFailed(f"NCBI could not say which article this is ({'; '.join(reasons)})")
    return climbed, None


class _Ladder:
    """One climb. Each step asks one place and notes what it says."""

    def __init__(self, backends: Backends, deadline: Deadline, climbed: Climb, preprint: str | None) -> None:
        self._backends, self._deadline = backends, deadline
        self.climb, self._preprint = climbed, preprint
        self._record: EuropePmcRecord | None = None

    def pubmed_central(self) -> None:
        pmcid = self.climb.ids.pmcid
        if not pmcid:
            failed = self.climb.failure is not None
            says = "NCBI could not say whether it is there" if failed else "PubMed Central does not have this article"
            self._note("pubmed_central", "failed" if failed else "absent", says)
            return
        self._try("pubmed_central", lambda: self._fetch_from_pubmed_central(pmcid))

    def europe_pmc(self) -> None:
        self._try("europe_pmc", self._fetch_from_europe_pmc)

    def preprint(self) -> None:
        """Only an article that Europe PMC links to a preprint has one to ask for."""
        if self._record and (ids := [each.id for each in self._record.preprints]):
            self._try("preprint", lambda: self._fetch_preprint(ids))

    def unpaywall(self) -> None:
        if doi := self._doi():
            self._try("unpaywall", lambda: self._look_up_copies(doi))
        else:
            self._note("unpaywall", "absent", "it is asked by DOI, and none is known")

    def publisher(self) -> None:
        if doi := self._doi():
            self._note("publisher", "available", "not fetched; its publisher says who may read it", doi_page(doi))

    def _fetch_from_pubmed_central(self, pmcid: str) -> None:
        text = self._backends.lookup.full_text(pmcid, deadline=self._deadline)
        self.climb.text, self.climb.place = text, "pubmed_central"
        ids = self.climb.ids
        self.climb.ids = ArticleIds(ids.pmid or text.pmid, pmcid, ids.doi or text.doi)
        says = "its publisher does not let PubMed Central give it away" if text.withheld else ""
        outcome: Outcome = "withheld" if text.withheld else "available"
        self._note("pubmed_central", outcome, says, pmc_page(pmcid), text.licence.name)

    def _fetch_from_europe_pmc(self) -> None:
        ids = self.climb.ids
        known = [each for each in (self._preprint, ids.pmid, ids.pmcid, ids.doi) if each]
        found = self._backends.europe_pmc.articles(known, deadline=self._share)
        self._record = next((found[each] for each in known if each in found), None)
        if self._record is None:
            self._note("europe_pmc", "absent", "Europe PMC does not have this article")
            return
        record, self.climb.title = self._record, self._record.title
        self.climb.ids = ArticleIds(ids.pmid or record.pmid, ids.pmcid or record.pmcid, ids.doi or record.doi)
        if record.text_id is None:
            self._note("europe_pmc", "withheld", "Europe PMC has no open text of it", _page(record))
        else:
            self._take("europe_pmc", record)

    def _fetch_preprint(self, ids: Sequence[str]) -> None:
        found = self._backends.europe_pmc.articles(ids, deadline=self._share)
        if readable := [each for each in found.values() if each.text_id]:
            self._take("preprint", readable[0])
        else:
            first = next(iter(found.values()), None)
            outcome: Outcome = "withheld" if first else "absent"
            self._note("preprint", outcome, "Europe PMC has no open text of it", _page(first) if first else None)

    def _take(self, place: Place, record: EuropePmcRecord) -> None:
        text = self._backends.europe_pmc.full_text(record.text_id or "", deadline=self._share)
        self.climb.text, self.climb.place = text, place
        is_preprint = record.source == "PPR"
        says = f"a preprint of {record.journal or 'a server'}, which nobody has reviewed" if is_preprint else ""
        self._note(place, "available", says, _page(record), text.licence.name or record.licence)

    def _look_up_copies(self, doi: str) -> None:
        found = self._backends.open_access.copies(doi, deadline=self._share)
        if not found.copies:
            self._note("unpaywall", "absent", "Unpaywall knows no legal copy")
            return
        best = found.copies[0]
        self.climb.title = self.climb.title or found.title
        says = ", ".join(filter(None, (best.version, best.host)))
        self._note("unpaywall", "available", f"not fetched; {says}", best.pdf_url or best.url, best.licence)

    def _try(self, place: Place, ask: Callable[[], None]) -> None:
        """Ask one place; that it fails, or may not be asked, ends nothing."""
        try:
            ask()
        except NotFound as failure:
            self._note(place, "absent", str(failure))
        except Misconfigured as failure:
            self._note(place, "not_asked", str(failure))
        except (UpstreamFailed, DeadlineExceeded) as failure:
            self.climb.failure = self.climb.failure or failure
            self._note(place, "failed", f"{status_of(failure)}: {failure}")

    def _note(
        self, place: Place, outcome: Outcome, detail: str = "", url: str | None = None, licence: str = ""
    ) -> None:
        self.climb.rungs.append(Rung(place, outcome, detail, url, licence))

    @property
    def _share(self) -> Deadline:
        return self._deadline.share(PLACE_S)

    def _doi(self) -> str | None:
        return self.climb.ids.doi


def _page(record: EuropePmcRecord) -> str:
    return europe_pmc_page(record.source, record.id)
