"""The ladder of a reference check, over the local NCBI, and against its failures."""

import random
from dataclasses import replace
from typing import ClassVar

import pytest

from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import Misconfigured, NcbiFailed, UpstreamFailed
from bio_mcp.literature.notices import Notice
from bio_mcp.literature.records import Document
from bio_mcp.literature.references.files import read_references
from bio_mcp.literature.references.works import CitedWork, work
from bio_mcp.ports.scholarly import RegisteredWork
from bio_mcp.querying.references.checking import check_references
from bio_mcp.querying.references.run import row_of
from tests.support.memory_corpus import Corpus
from tests.support.retracting import doubt, plain_papers, retract
from tests.support.written_references import ALTERATIONS, FORMATS, Writer, altered, cited_of
from tests.tools.live import LiveDesk


class Checking(Corpus):
    """A corpus, empty at first, and the local NCBI."""

    def __init__(self, ncbi):
        super().__init__()
        self.desk = LiveDesk(ncbi, tries=1)
        self.pubmed, self.lookup = self.desk.pubmed, self.desk.lookup

    @property
    def notices(self):
        raise Misconfigured("the settings leave Crossref out")

    def check(self, *works):
        return check_references(works, self, NEVER)

    def one(self, cited):
        [found], reasons = self.check(cited)
        assert reasons == []
        return found


@pytest.fixture
def at(ncbi):
    made = Checking(ncbi)
    yield made
    made.desk.close()


@pytest.fixture
def papers(ncbi, at):
    found = sorted(
        at.pubmed.efetch([str(pmid) for pmid in ncbi.control.pmids()[-200:]]), key=lambda each: int(each.pmid)
    )
    return [each for each in found if cited_of(each) and each.doi and cited_of(each).first.isdigit()]


def stated(paper):
    """The paper as a reference without ids."""
    cited = cited_of(paper)
    return work(
        title=cited.title, authors=[" ".join(each[::2]) for each in cited.people], journal=cited.abbreviation,
        year=cited.year, volume=cited.volume, pages=cited.first,
    )  # fmt: skip


BARE = CitedWork()


def test_each_step_of_the_ladder_finds_a_paper(at, papers):
    whole = stated(papers[0])
    imprint = replace(whole, title="", authors=())
    words = whole.title.split()
    long = max(range(len(words)), key=lambda place: len(words[place]))
    mistyped = " ".join((*words[:long], words[long][:-1], *words[long + 1 :]))
    for cited in (
        replace(BARE, pmid=papers[0].pmid),
        replace(BARE, doi=papers[0].doi.lower()),
        imprint,
        replace(whole, journal="", volume="", pages=""),
        replace(whole, title=mistyped, journal="", volume="", pages=""),
    ):
        found = at.one(cited)
        assert (found.verdict, found.article.pmid) == ("found", papers[0].pmid), cited


def test_what_an_id_confirms_is_not_searched_for(ncbi, at, papers):
    ncbi.control.clear_requests()
    at.one(replace(stated(papers[0]), pmid=papers[0].pmid))
    assert [each["endpoint"] for each in ncbi.control.requests()] == ["efetch"]


def test_an_id_of_another_paper_is_doubtful_and_says_what_is_right(at, papers):
    found = at.one(replace(stated(papers[0]), pmid=papers[1].pmid))
    assert (found.verdict, found.article.pmid) == ("doubtful", papers[0].pmid)
    assert [(each.field, each.stated, each.true) for each in found.differs] == [
        ("pmid", papers[1].pmid, papers[0].pmid)
    ]
    invented = work(title="A paper that nobody ever wrote about anything", authors=["Nobody N"], pmid=papers[1].pmid)
    found = at.one(invented)
    assert (found.verdict, found.reason) == ("doubtful", "its id is of another paper than its title")


def test_an_invented_reference_is_not_found(at):
    invented = work(
        title="A paper that nobody ever wrote",
        authors=["Nobody N"],
        journal="Lancet",
        year="2019",
        volume="1",
        pages="1",
    )
    assert at.one(invented).verdict == "not_found"


def test_a_book_a_web_page_and_a_torso_are_unchecked(at):
    assert at.one(work(title="Principles of something", kind="other")).verdict == "unchecked"
    assert at.one(work(authors=["Smith J"], year="2020")).verdict == "unchecked"


def test_a_retracted_paper_is_retracted_and_a_doubted_one_found_with_a_concern(at, ncbi):
    retracted, doubted = plain_papers(ncbi, 2)
    retract(ncbi, retracted)
    doubt(ncbi, doubted, "ExpressionOfConcernIn")
    checked, _ = at.check(replace(BARE, pmid=retracted), replace(BARE, pmid=doubted))
    assert [(each.verdict, each.retraction) for each in checked] == [("retracted", "retracted"), ("found", "concern")]


@pytest.mark.parametrize("endpoint", ["efetch", "esearch", "ecitmatch"])
def test_where_ncbi_fails_nothing_is_not_found(ncbi, at, papers, endpoint):
    invented = work(title="A paper that nobody ever wrote", journal="Lancet", year="2019", volume="1", pages="1")
    ncbi.control.fault(endpoint=endpoint, times=50, status=500)
    checked, reasons = at.check(invented, replace(stated(papers[0]), pmid=papers[0].pmid))
    assert [each.verdict for each in checked] == ["unknown", "unknown" if endpoint == "efetch" else "found"]
    assert "some references could not be looked up (upstream_failed)" in reasons[0]


def test_a_corpus_answers_where_ncbi_does_not_and_says_so(ncbi, at, papers):
    at.add(Document(papers[0], "hash"))
    ncbi.control.fault(times=50, status=500)
    [found], reasons = at.check(replace(stated(papers[0]), volume="", pages=""))
    assert (found.verdict, found.article.pmid) == ("found", papers[0].pmid)
    assert "PubMed could not be asked, so what was retracted is as the corpus knows it" in reasons


def test_what_became_of_a_paper_of_the_corpus_is_pubmeds_word(at, papers):
    stale = replace(papers[0], retraction="retracted")
    at.add(Document(stale, "hash"))
    assert at.one(stated(papers[0])).verdict == "found"


def test_past_its_time_a_reference_is_unknown(at, papers):
    [found], reasons = check_references([stated(papers[0])], at, Deadline(0))
    assert found.verdict == "unknown"
    assert reasons


def test_a_store_that_fails_fails_the_check(at):
    class Down:
        def resolve(self, _identifiers):
            raise NcbiFailed("not this one")

    at.documents = Down()
    with pytest.raises(NcbiFailed):
        at.check(replace(BARE, pmid="1"))


def test_written_references_are_found_and_altered_ones_are_not_confirmed(at, papers):
    """A small sample of `benchmarks.references`."""
    writer, works = Writer(7), [cited_of(each) for each in papers][:42]
    real, wrong = [], []
    for place, each in enumerate(works):
        form = FORMATS[place % len(FORMATS)]
        real += read_references(getattr(writer, form)(each), "text" if form == "plain_text" else None)[:1]
        changed = altered(each, works, ALTERATIONS[place % len(ALTERATIONS)], random.Random(place))  # noqa: S311
        if changed:
            wrong += read_references(writer.bibtex(replace(changed, doi="")))
    found, _ = at.check(*real)
    right = [each.verdict == "found" and each.article.pmid == one.pmid for each, one in zip(found, works, strict=True)]
    assert sum(right) >= len(works) - 1
    confirmed, _ = at.check(*wrong)
    assert [each.work for each in confirmed if each.verdict in ("found", "retracted")] == []
    assert len(wrong) > 35


REGISTERED = RegisteredWork(
    "10.1000/only.crossref", "A paper of a journal that PubMed does not have", ("Doe, Jane", "The Group"),
    "Journal of Elsewhere", 2019, "7", "1", "11-19", "journal-article", (Notice("retraction", date="2020"),),
)  # fmt: skip
ELSEWHERE = work(
    title=REGISTERED.title, authors=["Doe J"], year="2019", volume="7", pages="11-19", doi=REGISTERED.doi, key="doe"
)  # fmt: skip


class ByCrossref(Checking):
    """Crossref has one work, or fails."""

    asked: ClassVar[list] = []
    away = False

    @property
    def notices(self):
        return self

    def of(self, dois, **_):
        self.asked.append(list(dois))
        if self.away:
            raise UpstreamFailed("Crossref is away")
        return {REGISTERED.doi: REGISTERED} if REGISTERED.doi in dois else {}


@pytest.fixture
def crossref(ncbi):
    made = ByCrossref(ncbi)
    made.asked.clear()
    yield made
    made.desk.close()


def test_a_work_without_a_pmid_is_found_by_crossref_with_what_became_of_it(crossref):
    found = crossref.one(ELSEWHERE)
    assert (found.verdict, found.retraction, row_of(found)["pmid"]) == ("retracted", "retracted", None)
    wrong = crossref.one(replace(ELSEWHERE, year="2011"))
    assert (wrong.verdict, [each.true for each in wrong.differs]) == ("doubtful", ["2019"])
    assert crossref.one(replace(ELSEWHERE, doi="10.1000/nobody")).verdict == "not_found"


def test_crossref_is_asked_only_for_dois_that_pubmed_does_not_confirm(crossref, papers):
    crossref.check(replace(stated(papers[0]), doi=papers[0].doi.lower()), replace(ELSEWHERE, doi=""), ELSEWHERE)
    assert crossref.asked == [[REGISTERED.doi]]


def test_where_crossref_fails_a_doi_is_unknown(crossref):
    crossref.away = True
    [found], reasons = crossref.check(ELSEWHERE)
    assert found.verdict == "unknown"
    assert "Crossref is away" in reasons[0]
