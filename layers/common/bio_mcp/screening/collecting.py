"""Bring papers into a review, each once whatever found it, with the text that is screened."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

from bio_mcp.deadline import Deadline
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.records import Article
from bio_mcp.ports import Backends
from bio_mcp.ports.pubmed import LISTABLE
from bio_mcp.ports.screening import ReviewRecord, ReviewSearch
from bio_mcp.querying import fetching
from bio_mcp.querying.partial import required
from bio_mcp.querying.terms import clean
from bio_mcp.screening.reviews import MOST_RECORDS

READ = 500  # papers of the corpus that are read at once
FETCHED = 200  # records that PubMed is asked for at once
SPARE_S = 6.0  # of a call, for storing what was read
LONGEST_ABSTRACT = 20_000  # characters
LONGEST_TITLE = 2_000


@dataclass(frozen=True, slots=True)
class Origin:
    """What found the papers: a `database` by a `term`, or something other. `found` as of `ReviewSearch`."""

    database: str
    term: str | None
    found: int
    method: Literal["database", "other"] = "database"


@dataclass(slots=True)
class Collected:
    """What came of it: records that are `new`, and papers that were `known` to the review; `unknown` to PubMed.

    `left` papers could not be read in time: the same call again goes on.
    """

    new: int = 0
    known: int = 0
    unknown: list[str] = field(default_factory=list)
    left: int = 0


def search_pubmed(review: str, term: str, backends: Backends, deadline: Deadline) -> Collected:
    """Add what PubMed finds. Raises `InvalidInput` for more than PubMed lists."""
    asked = clean(term, "term")
    with required():
        page = backends.pubmed.esearch(asked, deadline=deadline, retmax=LISTABLE, sort="pub_date")
    if page.count > LISTABLE:
        raise InvalidInput(
            f"PubMed finds {page.count} records and lists {LISTABLE} of them: narrow the term, or search it by years"
        )
    return collect(review, page.ids, Origin("PubMed", asked, page.count), backends, deadline)


def collect(review: str, pmids: Sequence[str], origin: Origin, backends: Backends, deadline: Deadline) -> Collected:
    """Add the papers, from the corpus or else from PubMed, and the search that found them.

    Papers are stored as they are read, so that a call that ends early loses none. Raises `InvalidInput` for more
    records than a review may have.
    """
    asked = list(dict.fromkeys(pmids))
    known = {each.record_id for each in backends.screenings.records(review)}
    missing = [each for each in asked if each not in known]
    check_room(len(known), len(missing))
    done = Collected(known=len(asked) - len(missing))
    absent = _read(review, missing, done, backends)
    _fetch(review, absent, done, backends, deadline)
    gone = {*done.unknown, *(absent[-done.left :] if done.left else ())}
    store_search(review, origin, [each for each in asked if each not in gone], backends)
    return done


def _read(review: str, pmids: Sequence[str], done: Collected, backends: Backends) -> list[str]:
    """Store the papers that the corpus has; returns the others."""
    absent: list[str] = []
    for some in _pieces(pmids, READ):
        found = {pmid: each.article for pmid, each in backends.documents.get_many(some).items()}
        _store(review, found, done, backends)
        absent += [each for each in some if each not in found]
    return absent


def _fetch(review: str, pmids: Sequence[str], done: Collected, backends: Backends, deadline: Deadline) -> None:
    """Fetch records from PubMed for as long as there is time; the first are always asked for."""
    for at, some in enumerate(_pieces(pmids, FETCHED)):
        if at and deadline.remaining < SPARE_S:
            done.left = len(pmids) - at * FETCHED
            return
        found = fetching.articles(some, backends.pubmed, deadline)
        _store(review, found, done, backends)
        done.unknown += [each for each in some if each not in found]


def _store(review: str, articles: Mapping[str, Article], done: Collected, backends: Backends) -> None:
    if articles:
        backends.screenings.put_records(review, [record_of(each) for each in articles.values()])
    done.new += len(articles)


def check_room(known: int, more: int) -> None:
    """Raise `InvalidInput` where the review would have more records than it may."""
    if known + more > MOST_RECORDS:
        raise InvalidInput(
            f"the review has {known} records and would have {known + more}; {MOST_RECORDS} are the most: "
            "narrow the search, or make a review of each part"
        )


def store_search(review: str, origin: Origin, record_ids: Iterable[str], backends: Backends) -> None:
    """Store the search. The same one on the same day (UTC) is one, with the records of both."""
    now = backends.now()
    key = "|".join([origin.method, origin.database, origin.term or "", now.date().isoformat()])
    search_id = sha256(key.encode()).hexdigest()[:16]
    before = next((each for each in backends.screenings.searches(review) if each.search_id == search_id), None)
    names = dict.fromkeys([*(before.record_ids if before else ()), *record_ids])
    found = origin.found if origin.term else len(names)
    search = ReviewSearch(search_id, now, origin.database, origin.term, found, tuple(names), origin.method)
    backends.screenings.put_search(review, search)


def record_of(article: Article) -> ReviewRecord:
    """What of an article is screened."""
    abstract = " ".join(f"{each.label}: {each.text}" if each.label else each.text for each in article.abstract)
    date = article.publication_date or article.electronic_date
    title = (article.title or "")[:LONGEST_TITLE]
    return ReviewRecord(article.pmid, title, abstract[:LONGEST_ABSTRACT], date.year if date else None, article.doi)


def _pieces(pmids: Sequence[str], most: int) -> Iterable[Sequence[str]]:
    return (pmids[at : at + most] for at in range(0, len(pmids), most))
