"""Europe PMC at a local server: searches, records by any id, versions, full texts."""

import pytest

from bio_mcp.adapters.scholarly import EuropePmcClient
from bio_mcp.deadline import NEVER
from bio_mcp.errors import InvalidInput, NotFound, UpstreamFailed
from bio_mcp.ports.scholarly import Version
from tests.support.scholarly_server.server import Fault
from tests.support.scholarly_server.shapes import epmc_record, jats, link

NOTE = "Link created based on a title-first author match"


@pytest.fixture
def europe_pmc(service):
    return EuropePmcClient(service("Europe PMC", "europepmc"))


def test_a_preprint_has_its_fields_and_the_article_that_it_became(europe_pmc, server):
    server.records = [epmc_record("PPR", "PPR1", link("Preprint of", "MED", "7"), link("Comment in", "MED", "8"))]
    [record] = europe_pmc.search("SRC:PPR", 5, deadline=NEVER).records
    assert (record.source, record.id, record.title, record.journal) == ("PPR", "PPR1", "The record PPR1.", "medRxiv")
    assert (record.authors, record.year, record.date) == (("Doe, Jane", "The Group"), 2020, "2020-04-17")
    assert record.abstract == "Background Why & how. Results p < 0.05."
    assert (record.articles, record.preprints) == ((Version("MED", "7", NOTE),), ())
    assert (record.pmid, record.doi, record.cited_by, record.licence) == (None, "10.1000/ppr1", 5, "cc by")
    assert record.text_id == "PPR1"


@pytest.mark.parametrize(
    ("more", "text_id"),
    [
        ({"pmcid": "PMC9"}, "PMC9"),
        ({"pmcid": "PMC9", "isOpenAccess": "N"}, None),
        ({"pmcid": "PMC9", "inEPMC": "N"}, None),
        ({"pmcid": "../../elsewhere"}, None),
        ({}, None),
    ],
)
def test_only_an_open_text_that_europe_pmc_has_is_named(europe_pmc, server, more, text_id):
    server.records = [epmc_record("MED", "7", link("Preprint in", "PPR", "PPR1"), **more)]
    [record] = europe_pmc.search("x", 1, deadline=NEVER).records
    assert record.text_id == text_id
    assert (record.pmid, record.preprints) == ("7", (Version("PPR", "PPR1", NOTE),))


def test_records_are_found_by_any_id(europe_pmc, server):
    server.records = [epmc_record("PPR", "PPR1"), epmc_record("MED", "7", pmcid="PMC9"), epmc_record("MED", "8")]
    found = europe_pmc.articles(["PPR1", "7", "PMC9", "10.1000/8", "999", '10.1000/"x"'], deadline=NEVER)
    assert {asked: record.id for asked, record in found.items()} == {
        "PPR1": "PPR1",
        "7": "7",
        "PMC9": "7",
        "10.1000/8": "8",
    }
    assert len(server.requests) == 1


def test_a_doi_of_two_records_is_that_of_pubmeds(europe_pmc, server):
    server.records = [epmc_record("PMC", "PMC9", doi="10.1/x"), epmc_record("MED", "7", doi="10.1000/x")]
    server.records[0]["doi"] = "10.1000/x"
    assert europe_pmc.articles(["10.1000/x"], deadline=NEVER)["10.1000/x"].source == "MED"


def test_a_search_goes_on_by_its_cursor_to_its_end(europe_pmc, server):
    server.records = [epmc_record("PPR", f"PPR{each}") for each in range(1, 6)]
    first = europe_pmc.search("SRC:PPR", 3, order="date", deadline=NEVER)
    second = europe_pmc.search("SRC:PPR", 3, cursor=first.following, deadline=NEVER)
    third = europe_pmc.search("SRC:PPR", 3, cursor=second.following, deadline=NEVER)
    assert first.count == 5
    assert [[each.id for each in page.records] for page in (first, second, third)] == [
        ["PPR1", "PPR2", "PPR3"], ["PPR4", "PPR5"], [],
    ]  # fmt: skip
    assert third.following is None
    assert [each.parameters.get("sort") for each in server.requests] == ["P_PDATE_D desc", None, None]


def test_an_answer_without_a_count_is_asked_for_again_and_never_nothing_found(europe_pmc, server, clock):
    server.faults += [Fault(status=200, body=b'{"version": "6.9"}')]
    assert europe_pmc.search("x", 1, deadline=NEVER).count == 0
    assert clock.pauses == [1.0]
    server.faults += [Fault(status=200, body=b'{"version": "6.9"}')] * 3
    with pytest.raises(UpstreamFailed, match="Europe PMC sent something else"):
        europe_pmc.search("x", 1, deadline=NEVER)


def test_a_query_that_is_refused_is_the_callers_mistake(europe_pmc, server):
    server.faults += [Fault(status=200, body=b'{"errCode": 400, "errMsg": "Invalid query"}')]
    with pytest.raises(InvalidInput, match="could not run the query"):
        europe_pmc.search("((", 1, deadline=NEVER)


def test_a_text_is_read_by_its_sections_with_its_licence(europe_pmc, server):
    server.texts["PPR1"] = jats("A preprint")
    text = europe_pmc.full_text("PPR1", deadline=NEVER)
    assert (text.title, [each.title for each in text.sections], text.licence.name) == (
        "A preprint",
        ["Methods"],
        "CC BY 4.0",
    )


def test_a_text_that_is_not_given_away_is_not_found_and_a_broken_one_a_failure(europe_pmc, server):
    with pytest.raises(NotFound, match="does not give this text away"):
        europe_pmc.full_text("PMC9", deadline=NEVER)
    for broken in (jats("cut")[:200], b"<html></html>", b'<!DOCTYPE a [<!ENTITY b "c">]><article>&b;</article>'):
        server.texts["PMC9"] = broken
        with pytest.raises(UpstreamFailed, match="something else than an answer"):
            europe_pmc.full_text("PMC9", deadline=NEVER)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("H<sub>2</sub>O &amp; <i>E. coli</i>", "H2O & E. coli"),
        ("p < 0.05 in one and > 0.1 in the other", "p < 0.05 in one and > 0.1 in the other"),
        ("&lt;script&gt;", "<script>"),
        (7, ""),
        (None, ""),
    ],
)
def test_marks_are_taken_out_of_a_title_and_signs_stay(europe_pmc, server, given, shown):
    server.records = [epmc_record("MED", "7", title=given)]
    assert europe_pmc.search("x", 1, deadline=NEVER).records[0].title == shown


def test_a_doi_that_the_search_did_not_ask_for_is_of_no_paper(europe_pmc, server):
    body = b'{"hitCount": 1, "resultList": {"result": [{"id": "7", "source": "MED", "doi": "10.1000/other"}]}}'
    server.faults += [Fault(status=200, body=body)]
    assert europe_pmc.articles(["10.1000/x"], deadline=NEVER) == {}


def test_a_record_without_an_id_is_a_failure_and_no_record(europe_pmc, server):
    body = b'{"hitCount": 1, "resultList": {"result": [{"source": "MED", "title": "Which?"}]}}'
    server.faults += [Fault(status=200, body=body)] * 3
    with pytest.raises(UpstreamFailed, match="a record without an id"):
        europe_pmc.search("x", 1, deadline=NEVER)


def test_a_cursor_that_does_not_move_ends_the_search(europe_pmc, server):
    body = b'{"hitCount": 9, "nextCursorMark": "c", "resultList": {"result": [{"id": "7", "source": "MED"}]}}'
    server.faults += [Fault(status=200, body=body)] * 2
    assert europe_pmc.search("x", 1, cursor="b", deadline=NEVER).following == "c"
    assert europe_pmc.search("x", 1, cursor="c", deadline=NEVER).following is None


def test_fields_of_other_types_are_left_out(europe_pmc, server):
    odd = {"authorList": "Doe", "pubYear": "soon", "citedByCount": "many", "doi": "none", "commentCorrectionList": [7]}
    server.records = [epmc_record("PPR", "PPR1", **odd)]
    [record] = europe_pmc.search("x", 1, deadline=NEVER).records
    assert (record.authors, record.year, record.cited_by, record.doi, record.articles) == ((), None, 0, None, ())
