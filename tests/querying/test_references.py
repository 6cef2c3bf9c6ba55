"""The ladder of a reference check: what NCBI is asked, which verdict records give, and what failures leave."""

import random
from dataclasses import replace
from types import SimpleNamespace

import pytest

from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import Misconfigured, NcbiFailed, UpstreamFailed
from bio_mcp.literature.notices import Notice
from bio_mcp.literature.records import Article, Author, Document, Journal, PartialDate, RetractionStatus
from bio_mcp.literature.references.comparing import compare
from bio_mcp.literature.references.files import read_references
from bio_mcp.literature.references.works import CitedWork, work
from bio_mcp.ports.ncbi import Citation
from bio_mcp.ports.scholarly import RegisteredWork
from bio_mcp.querying.references.checking import (
    article_of,
    check_references,
    citation_of,
    field_term,
    first_page,
    title_term,
    verdict_on,
)
from bio_mcp.querying.references.run import row_of
from tests.support.hooked import raising
from tests.support.memory_corpus import Corpus
from tests.support.retracting import doubt, plain_papers, retract
from tests.support.written_references import ALTERATIONS, FORMATS, Writer, altered, cited_of
from tests.tools.live import LiveDesk

WHOLE = work(
    title="Screening for duct-dependent congenital heart disease with pulse oximetry: a critical evaluation",
    authors=["Granelli, Anne de-Wahl", "Ostman-Smith I"],
    journal="Acta Paediatr. (Oslo)",
    year="2007",
    volume="96",
    pages="1455–1459",
)


def test_the_matcher_is_given_the_imprint_and_an_author_only_where_it_lacks_something():
    assert citation_of(WHOLE) == Citation("Acta Paediatr.", "2007", "96", "1455", "")
    assert citation_of(replace(WHOLE, volume="")) == Citation("Acta Paediatr.", "2007", "", "1455", "granelli a")
    for lacking in ({"journal": ""}, {"volume": "", "pages": ""}, {"year": "", "volume": ""}):
        assert citation_of(replace(WHOLE, **lacking)) is None


def test_nothing_of_a_reference_can_end_a_field_or_a_line_of_the_matcher():
    hostile = citation_of(replace(WHOLE, journal="A|B\nC", volume="1|2", pages="3|4"))
    assert not any(mark in field for field in (hostile.journal, hostile.volume, hostile.first_page) for mark in "|\n\r")


def test_a_title_is_searched_by_its_longest_plain_words():
    assert title_term(WHOLE) == " AND ".join(
        f"{word}[ti]" for word in "screening dependent congenital heart disease oximetry critical evaluation".split()
    )
    assert title_term(replace(WHOLE, title="Reply")) == ""
    assert title_term(replace(WHOLE, title="β 12 (of) [ti] OR")) == ""


def test_a_title_cannot_change_the_search():
    term = title_term(replace(WHOLE, title='Heart") OR (cancer[ti] NOT "disease AND everything'))
    assert set(term.replace("[ti]", "").split()) == {"heart", "AND", "cancer", "disease", "everything", "not"}


def test_the_second_search_takes_either_of_two_pairs_of_words_or_without_a_title_the_fields():
    term = field_term(WHOLE)
    assert term.startswith("granelli a[au] AND 2007[dp] AND ((")
    assert (term.count("[ti]"), term.count(" OR ")) == (4, 1)
    bare = replace(WHOLE, title="")
    assert field_term(bare) == "Acta Paediatr.[ta] AND 2007[dp] AND 96[vi] AND 1455[pg] AND granelli a[au]"
    assert field_term(replace(bare, pages="")) == ""


@pytest.mark.parametrize(
    ("pages", "first"), [("1455–1459", "1455"), ("e12-e20", "e12"), ("12, 15", "12"), ("S1—S9", "S1"), ("", "")]
)
def test_the_first_page_is_what_stands_before_the_dash(pages, first):
    assert first_page(replace(WHOLE, pages=pages)) == first


@pytest.mark.parametrize(
    ("author", "asked"),
    [
        ("van der Berg J", "van der berg j"),
        ("J. van der Berg", "van der berg j"),
        ("O'Brien, Mary", "o'brien m"),
        ("Müller Ä", "muller"),
        ("WHO", "who"),
    ],
)
def test_an_author_is_asked_for_by_family_name_and_initial(author, asked):
    assert field_term(replace(WHOLE, authors=(author,))).partition("[au]")[0] == asked


PAPER = Article(
    "17727691", title=WHOLE.title, authors=(Author("Granelli", "Anne", "A"), Author("Ostman-Smith", "Ingegerd", "I")),
    journal=Journal("Acta paediatrica (Oslo, Norway : 1992)", volume="96", medline_abbreviation="Acta Paediatr"),
    publication_date=PartialDate("2007 Oct", 2007, 10), pages="1455-9", doi="10.1000/paper",
    retraction=RetractionStatus.CLEAR,
)  # fmt: skip


def judged(cited, *papers, complete=True):
    return verdict_on(cited, [(each, compare(cited, each)) for each in papers], complete=complete)


def test_of_several_records_the_one_that_confirms_is_meant_and_of_equal_ones_the_oldest():
    twin, other = replace(PAPER, pmid="9"), replace(PAPER, pmid="1", pages="1-2")
    assert judged(WHOLE, other, PAPER).article.pmid == PAPER.pmid
    assert judged(WHOLE, PAPER, twin).article.pmid == "9"


def test_a_verdict_needs_every_answer_unless_a_record_confirms():
    assert judged(WHOLE, PAPER, complete=False).verdict == "found"
    assert judged(replace(WHOLE, year="2001"), PAPER, complete=False).verdict == "unknown"
    assert judged(WHOLE, complete=False).verdict == "unknown"


def test_a_doubt_names_its_fields():
    two = judged(replace(WHOLE, year="2001", volume="7"), PAPER)
    assert ([each.field for each in two.differs], two.reason) == (["year", "volume"], None)
    nearly = judged(replace(WHOLE, doi=PAPER.doi, title=WHOLE.title.replace("congenital ", "")), PAPER)
    assert ([each.words for each in nearly.differs], nearly.reason) == (["lacks “congenital”"], None)
    short = work(title=WHOLE.title)
    assert judged(short, PAPER).reason == "it states too little to be sure that this record is meant"


def test_a_record_that_shares_an_author_and_a_year_is_not_what_is_meant():
    stranger = replace(
        PAPER, title="Something else about other things", pages="1-2", journal=Journal("Gut", volume="1")
    )
    assert judged(WHOLE, stranger).verdict == "not_found"


def test_a_row_has_all_that_a_report_needs():
    row = row_of(
        judged(replace(WHOLE, issue="1", key="doe", line=7), replace(PAPER, retraction=RetractionStatus.RETRACTED))
    )
    assert (row["verdict"], row["retraction"], row["pmid"], row["doi"]) == (
        "retracted", "retracted", PAPER.pmid, "10.1000/paper",
    )  # fmt: skip
    assert (row["key"], row["line"], row["differs"]) == ("doe", 7, [])


def test_a_registered_work_is_a_record_without_a_pmid():
    registered = RegisteredWork(
        "10.1/x", "A title", ("Doe, Jane", "The Group"), "Gut", 2019, "1", "2", "3-9", "journal-article",
        (Notice("concern"),),
    )  # fmt: skip
    made = article_of(registered)
    assert (made.pmid, made.doi, made.pages, made.retraction) == ("", "10.1/x", "3-9", RetractionStatus.CONCERN)
    assert [each.short_name for each in made.authors] == ["Doe Jane", "The Group"]
    assert (made.journal.title, made.publication_date.year) == ("Gut", 2019)
    assert article_of(RegisteredWork("10.1/y")).journal is None


class Checking(Corpus):
    """A corpus, empty at first, the local NCBI, and no Crossref."""

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
def at(ncbi, closed):
    made = Checking(ncbi)
    closed(made.desk)
    return made


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


def test_a_book_a_web_page_and_a_torso_are_unchecked(at):
    assert at.one(work(title="Principles of something", kind="other")).verdict == "unchecked"
    assert at.one(work(authors=["Smith J"], year="2020")).verdict == "unchecked"


def test_a_retracted_paper_is_retracted_and_a_doubted_one_found_with_a_concern(at, ncbi):
    retracted, doubted = plain_papers(ncbi, 2)
    retract(ncbi, retracted)
    doubt(ncbi, doubted, "ExpressionOfConcernIn")
    checked, _ = at.check(replace(BARE, pmid=retracted), replace(BARE, pmid=doubted))
    assert [(each.verdict, each.article.retraction) for each in checked] == [
        ("retracted", "retracted"),
        ("found", "concern"),
    ]


@pytest.mark.parametrize("endpoint", ["efetch", "esearch", "ecitmatch"])
def test_where_ncbi_fails_nothing_is_not_found(ncbi, at, papers, endpoint):
    invented = work(title="A paper that nobody ever wrote", journal="Lancet", year="2019", volume="1", pages="1")
    ncbi.control.fault(endpoint=endpoint, times=50, status=500)
    checked, reasons = at.check(invented, replace(stated(papers[0]), pmid=papers[0].pmid))
    assert [each.verdict for each in checked] == ["unknown", "unknown" if endpoint == "efetch" else "found"]
    assert "some references could not be looked up: " in reasons[0]


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
    at.documents = SimpleNamespace(resolve=raising(NcbiFailed, "not this one"))
    with pytest.raises(NcbiFailed):
        at.check(replace(BARE, pmid="1"))


def test_written_references_are_found_and_altered_ones_are_not_confirmed(at, papers):
    """A small sample of `benchmarks.references`."""
    writer, altering, works = Writer(1), Writer(7), [cited_of(each) for each in papers][:42]
    real, wrong = [], []
    for place, each in enumerate(works):
        form = FORMATS[place % len(FORMATS)]
        real += read_references(getattr(writer, form)(each), "text" if form == "plain_text" else None)[:1]
        changed = altered(each, works, ALTERATIONS[place % len(ALTERATIONS)], random.Random(place))  # noqa: S311
        if changed:
            wrong += read_references(altering.bibtex(replace(changed, doi="")))
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

    away = False

    def __init__(self, ncbi):
        super().__init__(ncbi)
        self.asked = []

    @property
    def notices(self):
        return self

    def of(self, dois, **_):
        self.asked.append(list(dois))
        if self.away:
            raise UpstreamFailed("Crossref is away")
        return {REGISTERED.doi: REGISTERED} if REGISTERED.doi in dois else {}


@pytest.fixture
def crossref(ncbi, closed):
    made = ByCrossref(ncbi)
    closed(made.desk)
    return made


def test_a_work_without_a_pmid_is_found_by_crossref_with_what_became_of_it(crossref):
    found = crossref.one(ELSEWHERE)
    assert (found.verdict, found.article.retraction, row_of(found)["pmid"]) == ("retracted", "retracted", None)
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
