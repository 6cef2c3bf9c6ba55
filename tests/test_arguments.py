"""What arguments are read as, how papers are found by other identifiers than PMIDs, and examples of refusals."""

from typing import Annotated, Literal, get_args, get_origin

import pytest
from pydantic import BaseModel, Field, ValidationError

from bio_mcp.arguments import Day, PaperId, example_of, understood
from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.errors import NotFound, UpstreamFailed
from bio_mcp.ports.stores import ReviewRecord, review_of_query
from bio_mcp.tool import Request
from bio_mcp.tools import lookup, pubmed
from tests.support.sample_corpus import corpus
from tests.support.sample_review import QUERY_KEY
from tests.tools.live import LiveDesk


class Inner(Request):
    number: int = 0
    on: Annotated[str, Day("/")] = ""


class Wanted(Request):
    question: str = ""
    number: int = 0
    share: float = 0
    flag: bool = False
    order: Literal["new-first", "oldest"] = "oldest"
    numbers: list[int] = Field(default_factory=list)
    words: list[str] = Field(default_factory=list)
    inner: Inner = Inner()
    inners: list[Inner] = Field(default_factory=list)
    papers: list[Annotated[str, PaperId()]] = Field(default_factory=list)
    since: Annotated[str, Day("-", whole=True)] = ""


PMIDS = {"doi:10.1000/x": "7", "pmcid:PMC1": "8"}


def read(**given):
    return understood(Wanted, given, lambda named: {each: PMIDS[each] for each in named})


@pytest.mark.parametrize(
    ("given", "meant", "says"),
    [
        ({"number": "5"}, {"number": 5}, 'number: "5" was read as 5.'),
        ({"flag": "True"}, {"flag": True}, 'flag: "True" was read as true.'),
        ({"order": "New first"}, {"order": "new-first"}, 'order: "New first" was read as "new-first".'),
        ({"numbers": "1"}, {"numbers": [1]}, 'numbers: "1" was read as [1].'),
        ({"numbers": ["1", 2, "3"]}, {"numbers": [1, 2, 3]}, 'numbers: "1" was read as 1, and 1 more likewise.'),
        ({"words": "a, b"}, {"words": ["a, b"]}, 'words: "a, b" was read as ["a, b"].'),
        ({"numbers": "[1, 2]"}, {"numbers": [1, 2]}, 'numbers: "[1, 2]" was read as [1, 2].'),
        ({"words": '["a", ["b"]]'}, {"words": ["a", ["b"]]}, 'words: "[\\"a\\", [\\"b\\"]]" was read as ["a", […]].'),
        ({"inner": '{"number": 5}'}, {"inner": {"number": 5}}, 'inner: "{\\"number\\": 5}" was read as {…}.'),
        ({"inner": {"number": "5"}}, {"inner": {"number": 5}}, 'inner.number: "5" was read as 5.'),
        ({"inners": {"number": "5"}}, {"inners": [{"number": 5}]}, "inners: {…} was read as [{…}]."),
        ({"inner": {"on": "2020-1"}}, {"inner": {"on": "2020/01"}}, 'inner.on: "2020-1" was read as "2020/01".'),
        ({"since": 2020}, {"since": "2020-01-01"}, 'since: 2020 was read as "2020-01-01".'),
        ({"papers": "1, 2"}, {"papers": ["1", "2"]}, 'papers: "1, 2" was read as ["1", "2"].'),
        ({"papers": [1, "10.1000/X"]}, {"papers": ["1", "7"]}, 'papers: 1 was read as "1", and 1 more likewise.'),
        ({"papers": "PMC1"}, {"papers": ["8"]}, 'papers: "PMC1" was read as ["8"].'),
        ({"term": "x"}, {"question": "x"}, "term was read as question."),
        ({"question": 34093119}, {"question": "34093119"}, 'question: 34093119 was read as "34093119".'),
        ({"words": "x" * 90}, {"words": ["x" * 90]}, f'words: "{"x" * 59}… was read as ["{"x" * 59}…].'),
    ],
)
def test_what_can_mean_one_thing_is_read_as_that_and_said(given, meant, says):
    assert read(**given) == (meant, [says])


@pytest.mark.parametrize(
    "given",
    [
        {"number": True},
        {"number": 2.5},
        {"number": "9" * 17},
        {"number": "٥"},
        {"share": "0.5"},
        {"flag": 1},
        {"flag": ""},
        {"order": "first"},
        {"numbers": ""},
        {"numbers": None},
        {"numbers": ["1"] * 501},
        {"inner": [{"number": "5"}]},
        {"inner": '{"number": 5'},
        {"inner": "[" * 9_000},
        {"inner": {"on": "2021-02-29"}},
        {"inner": {"on": "2020-01/02"}},
        {"papers": ["1\n2"]},
        {"question": "x", "term": "y"},
        {"text": "x", "term": "y"},
        {"question": 2**60},
        {f"k{number}": "1" for number in range(65)},
        {"since": "next n000000000001 2020-01-01"},
        {"since": "2020-01-01T00:00:00Z"},
    ],
    ids=lambda given: str(given)[:60],
)
def test_what_could_mean_two_things_or_nothing_is_left_as_it_was_sent(given):
    assert read(**given)[0] == given


@pytest.mark.parametrize("depth", [100, 300, 900, 4_000])
def test_a_text_of_any_depth_is_read_or_left(depth):
    read(words="[" * depth + "]" * depth, inner='{"number":' * depth + "1" + "}" * depth)


def test_arguments_are_not_changed_in_place():
    given = {"inner": {"number": "5"}, "numbers": ["1"]}
    read(**given)
    assert given == {"inner": {"number": "5"}, "numbers": ["1"]}


class Desk(LiveDesk):
    """PubMed at a local NCBI, beside a corpus that has none of its papers."""

    documents = corpus().documents


@pytest.fixture
def desk(ncbi):
    made = Desk(ncbi)
    yield made
    made.close()


@pytest.fixture
def record(ncbi, desk):
    """One that PubMed Central has."""
    records = desk.pubmed.efetch([str(pmid) for pmid in ncbi.control.pmids()[-200:]])
    return next(each for each in records if each.doi and each.pmcid)


def test_a_paper_that_the_corpus_lacks_is_found_by_ncbis_converter_where_a_tool_asks_outside_anyway(desk, record):
    for named in (record.doi, f"https://doi.org/{record.doi.upper()}", record.pmcid):
        body = desk.ask(pubmed.fetch_details, pmids=[named], detailLevel="citation_data")
        assert body["requestedPmids"] == [record.pmid]
        assert body["warnings"][0].endswith(f'was read as "{record.pmid}".')


def test_a_paper_that_nobody_has_is_reported_with_what_to_do_next(desk):
    outcome = call(pubmed.relate, {"sourcePmid": "10.5555/nothing"}, desk)
    assert isinstance(outcome.failure, NotFound)
    assert outcome.body["error"]["message"] == (
        "PubMed has no paper with the DOI 10.5555/nothing. "
        "Look for its title with searchPubMedArticles, and give its PMID."
    )


def test_a_paper_that_is_not_here_is_reported_with_how_to_bring_it_in():
    outcome = call(TOOLS["rag.get"], {"doc_id": "PMC12345"}, corpus())
    assert isinstance(outcome.failure, NotFound)
    assert "The corpus has no paper with the PMCID PMC12345." in outcome.body["error"]["message"]
    assert "convertArticleIds" in outcome.body["error"]["message"]
    assert "pubmed_sync_delta with the term PMC12345[pmcid]" in outcome.body["error"]["message"]


def test_a_converter_that_is_down_is_an_outage_and_no_missing_paper(ncbi, desk):
    ncbi.control.fault(endpoint="idconv", times=9, recorded="500_diagnostic.html")
    outcome = call(lookup.get_book, {"id": "PMC999999999"}, desk)
    assert isinstance(outcome.failure, UpstreamFailed)
    assert outcome.body["error"]["message"].startswith("some ids could not be looked up")


def test_a_record_of_a_review_that_has_a_doi_alone_is_named_by_it_in_any_form():
    record = ReviewRecord("doi:10.5555/thesis", "A thesis", "", 2020, "10.5555/thesis")
    corpus().screenings.put(review_of_query("by doi"), [record])
    for named in ("doi:10.5555/thesis", "10.5555/THESIS", "https://doi.org/10.5555/thesis"):
        labels = [{"paper": named, "decision": "include"}]
        body = call(TOOLS["labelPapers"], {"query_key": "by doi", "labels": labels}, corpus()).body
        assert (body["unknown"], body["counts"]["include"]) == ([], 1)
    unknown = [{"paper": "10.5555/other", "decision": "include"}]
    body = call(TOOLS["labelPapers"], {"query_key": QUERY_KEY, "labels": unknown}, corpus()).body
    assert body["unknown"] == ["doi:10.5555/other"]


def models():
    """Every input model, and those within it."""
    found, left = [], [each.input for each in TOOLS.values()]
    while left:
        if (model := left.pop()) not in found:
            found.append(model)
            left += [each for field in model.model_fields.values() for each in within(field.annotation)]
    return found


def within(kind):
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return [kind]
    return [each for part in get_args(kind) if get_origin(kind) is not Literal for each in within(part)]


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
def test_every_argument_has_an_example_that_is_accepted(model):
    for name in model.model_fields:
        assert wrong_with(model, name, example_of(model, name)) == []


def wrong_with(model, name, value):
    """What the model has against the value, if that of this field is given alone."""
    try:
        model.model_validate({name: value})
    except ValidationError as error:
        return [each for each in error.errors() if each["type"] != "missing" and each["loc"]]
    return []
