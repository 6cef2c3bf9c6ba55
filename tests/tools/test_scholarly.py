"""The tools over iCite, Crossref and Europe PMC at a local server, as every door calls them."""

from types import SimpleNamespace

import pytest

from bio_mcp.call import call
from bio_mcp.errors import NcbiFailed
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports.ncbi import DocSummary, Summaries
from bio_mcp.ports.projects import Project, ProjectDocument
from bio_mcp.retrieval.project_chunks import Work
from bio_mcp.settings import Settings
from bio_mcp.tools import lookup
from bio_mcp.tools import scholarly as scholarly_tools
from bio_mcp.wiring.embedded import Embedded
from tests.support.scholarly_server.server import Fault
from tests.support.scholarly_server.shapes import crossref_work, epmc_record, icite_paper, jats, link, update


class Pubmed:
    """PubMed, which knows that 8 was retracted."""

    away = False

    def esummary(self, pmids, **_):
        if self.away:
            raise NcbiFailed("NCBI is away")
        standing = {"8": RetractionStatus.RETRACTED}
        found = (DocSummary(each, "A title", retraction=standing.get(each, RetractionStatus.CLEAR)) for each in pmids)
        return Summaries(tuple(found), {})


@pytest.fixture
def at(scholarly, tmp_path, closed):
    """The services of an installation whose cache is off, with a PubMed of a test."""
    backends = closed(Embedded(Settings(home=tmp_path, cache="off", **scholarly.settings)))
    names = ("metrics", "notices", "europe_pmc")
    return SimpleNamespace(pubmed=Pubmed(), now=backends.now, **{name: getattr(backends, name) for name in names})


def ask(at, tool, **arguments):
    return call(tool, arguments, at).body


def test_preprints_are_found_with_the_article_that_they_became_and_its_standing(at, scholarly):
    scholarly.records = [epmc_record("PPR", "PPR1", link("Preprint of", "MED", "8")), epmc_record("PPR", "PPR2")]
    body = ask(at, scholarly_tools.search_europe_pmc, query="statin OR fibrate", order="date")
    assert body["effectiveQuery"] == "(statin OR fibrate) AND SRC:PPR"
    first, second = body["results"]
    assert (first["id"], first["isPreprint"], first["journal"], first["abstract"]) == ("PPR1", True, "medRxiv", None)
    [became] = first["publishedAs"]
    assert (became["pmid"], became["retraction"], became["assertedBy"]) == ("8", "retracted", "europe_pmc")
    assert became["url"] == "https://europepmc.org/article/MED/8"
    assert "title-first author match" in became["note"]
    assert (second["publishedAs"], second["retraction"]) == ([], "unknown")
    assert (body["totalFound"], body["status"]) == (2, "complete")


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ({"query": "a", "preprintsOnly": False}, "(a)"),
        ({"citing": "17727691"}, "CITES:17727691_MED AND SRC:PPR"),
        ({"query": "a", "citing": "ppr7", "preprintsOnly": False}, "(a) AND CITES:PPR7_PPR"),
    ],
)
def test_the_query_that_is_sent_is_reported(at, scholarly, arguments, query):
    assert ask(at, scholarly_tools.search_europe_pmc, **arguments)["effectiveQuery"] == query
    assert scholarly.requests[-1].parameters["query"] == query


REFUSED = [
    {},
    {"query": "  "},
    {"query": "a) OR (b"},
    {"query": 'a "b'},
    {"citing": "10.1/x"},
    {"citing": "7_MED OR a"},
]


@pytest.mark.parametrize("arguments", REFUSED)
def test_a_query_that_would_mean_something_else_is_refused(at, scholarly, arguments):
    assert ask(at, scholarly_tools.search_europe_pmc, **arguments)["error"]["code"] == "VALIDATION"
    assert scholarly.requests == []


def test_pages_follow_by_cursor_and_what_is_too_long_is_asked_for_again(at, scholarly):
    long = {"abstractText": "word " * 3_000}
    scholarly.records = [epmc_record("PPR", f"PPR{each}", **long) for each in range(1, 8)]
    first = ask(at, scholarly_tools.search_europe_pmc, query="a", maxResults=2)
    assert [each["id"] for each in first["results"]] == ["PPR1", "PPR2"]
    second = ask(
        at, scholarly_tools.search_europe_pmc, query="a", maxResults=5, cursor=first["cursor"], includeAbstracts=True
    )
    assert [each["id"] for each in second["results"]] == ["PPR3", "PPR4", "PPR5"]
    assert (second["cursor"], second["status"]) == (first["cursor"], "partial")
    assert "smaller maxResults" in second["reasons"][-1]


def test_figures_of_papers_come_with_their_standing_and_the_unknown_are_named(at, scholarly):
    scholarly.papers |= {"7": icite_paper(7, [1, 2], [9], cited_by_clin=[9]), "8": icite_paper(8, provisional=True)}
    body = ask(at, scholarly_tools.get_citation_metrics, pmids=["8", "7", "99", "007"])
    eight, seven = body["papers"]
    assert (eight["pmid"], eight["retraction"], eight["isProvisional"]) == ("8", "retracted", True)
    assert (seven["citationCount"], seven["relativeCitationRatio"], seven["nihPercentile"]) == (1, 1.25, 60.1)
    assert (seven["references"], seven["citedByClinicalArticles"], seven["retraction"]) == (2, ["9"], "clear")
    assert (body["unknown"], body["status"]) == (["99"], "complete")


def test_figures_without_a_standing_say_that_it_is_lacking(at, scholarly):
    scholarly.papers["7"], at.pubmed.away = icite_paper(7), True
    body = ask(at, scholarly_tools.get_citation_metrics, pmids=["7"])
    assert (body["papers"][0]["retraction"], body["status"]) == ("unknown", "partial")
    assert "whether the article was retracted could not be read" in body["reasons"][0]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("get_citation_metrics", {"pmids": ["7"]}), ("search_europe_pmc", {"query": "a"})],
)
def test_an_outage_is_an_error_and_never_nothing_found(at, scholarly, tool, arguments):
    scholarly.faults += [Fault(status=400)]
    error = ask(at, getattr(scholarly_tools, tool), **arguments)["error"]
    assert (error["code"], error["details"]["status"]) == ("UPSTREAM", "upstream_failed")
    assert "127.0.0.1" not in str(error)


def test_versions_are_reported_by_both_services_with_the_notices_about_a_paper(at, scholarly):
    scholarly.records = [epmc_record("PPR", "PPR1", link("Preprint of", "MED", "8"), doi="10.1101/1")]
    related = {"is-preprint-of": [{"id-type": "doi", "id": "10.1000/8", "asserted-by": "subject"}]}
    more = {"type": "posted-content", "relation": related}
    scholarly.works["10.1101/1"] = crossref_work("10.1101/1", update("retraction"), **more)
    body = ask(at, scholarly_tools.find_versions, ids=["PPR1", "https://doi.org/10.1000/none"])
    preprint, none = body["works"]
    assert (preprint["found"], preprint["isPreprint"], preprint["doi"]) == ("found", True, "10.1101/1")
    assert [(each["assertedBy"], each["pmid"], each["doi"]) for each in preprint["publishedAs"]] == [
        ("europe_pmc", "8", None), ("crossref", None, "10.1000/8"),
    ]  # fmt: skip
    assert (preprint["retraction"], preprint["notices"][0]["assertedBy"]) == ("retracted", "retraction-watch")
    assert (none["found"], none["retraction"], body["status"]) == ("not_found", "unknown", "complete")


def test_a_paper_that_crossref_alone_has_is_found(at, scholarly):
    scholarly.works["10.1000/a"] = crossref_work("10.1000/a", update("expression_of_concern", source="publisher"))
    [work] = ask(at, scholarly_tools.find_versions, ids=["10.1000/a"])["works"]
    assert (work["found"], work["title"], work["retraction"]) == ("found", "The work 10.1000/a", "concern")


def test_a_service_that_fails_leaves_what_it_would_have_known_unknown(at, scholarly):
    scholarly.faults += [Fault("europepmc", status=400)]
    body = ask(at, scholarly_tools.find_versions, ids=["10.1000/a"])
    assert (body["works"][0]["found"], body["status"]) == ("unknown", "partial")
    assert "Europe PMC could not be asked" in body["reasons"][0]


def test_what_is_no_id_is_refused(at):
    assert ask(at, scholarly_tools.find_versions, ids=["what"])["error"]["code"] == "VALIDATION"


def test_a_full_text_names_the_place_it_is_from_and_the_outcome_of_the_others(at, scholarly):
    scholarly.records = [epmc_record("PPR", "PPR1")]
    scholarly.texts["PPR1"] = jats("A preprint")
    body = ask(at, lookup.get_full_text, id="PPR1")
    assert (body["title"], body["available"], body["source"]) == ("A preprint", True, "europe_pmc")
    absent, available = body["places"]
    assert (absent["place"], absent["outcome"]) == ("pubmed_central", "absent")
    assert available["licence"] == "CC BY 4.0"
    assert available["url"] == "https://europepmc.org/article/PPR/PPR1"
    assert (body["retraction"], body["status"]) == ("unknown", "complete")


def test_documents_of_a_project_without_a_pmid_are_checked_at_crossref(scholarly, tmp_path, closed):
    backends = closed(Embedded(Settings(home=tmp_path, cache="off", **scholarly.settings)))
    backends.projects.put(Project("lab", "proj-lab", "model"))
    for doi in ("10.1000/a", "10.1000/b", "10.1000/c"):
        work = Work(f"doi:{doi}", title=f"Work {doi}", doi=doi)
        backends.project_documents.put("lab", ProjectDocument(work, frozenset({work.doc_id})))
    scholarly.works |= {
        "10.1000/a": crossref_work("10.1000/a", update("retraction")),
        "10.1000/b": crossref_work("10.1000/b"),
    }
    body = ask(backends, scholarly_tools.check_notices, project="lab")
    assert (body["checked"], body["unknown"], body["status"]) == (3, 1, "complete")
    [work] = body["works"]
    assert (work["doc_id"], work["retraction"]) == ("doi:10.1000/a", "retracted")
    assert work["notices"][0]["date"] == "2019-07-26"
    scholarly.faults += [Fault(status=400)]
    assert ask(backends, scholarly_tools.check_notices, project="lab")["error"]["code"] == "UPSTREAM"
