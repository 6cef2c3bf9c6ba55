"""Crossref at a local server: works by DOI, and the notices about them."""

import pytest

from bio_mcp.adapters.scholarly import Crossref
from bio_mcp.deadline import NEVER
from bio_mcp.errors import UpstreamFailed
from bio_mcp.literature.notices import Notice, status_of
from tests.support.scholarly_server.server import Fault
from tests.support.scholarly_server.shapes import crossref_work, update

DOI, CONTROL = "10.1021/am300292v", "10.1371/journal.pbio.1002541"


@pytest.fixture
def crossref(service):
    return Crossref(service("Crossref", "crossref"), CONTROL)


def test_a_work_has_its_fields_as_a_reference_cites_them(crossref, server):
    server.works[DOI] = crossref_work("10.1021/AM300292V")
    [work] = crossref.of([DOI], deadline=NEVER).values()
    assert (work.doi, work.title, work.kind) == (DOI, "The work 10.1021/AM300292V", "journal-article")
    assert work.authors == ("Doe, Jane", "The Group")
    assert (work.journal, work.year, work.volume, work.issue, work.pages) == (
        "Journal of Tests", 2016, "12", "3", "101-109",
    )  # fmt: skip
    assert (work.notices, status_of(work.notices)) == ((), "clear")


def test_a_title_finds_the_works_that_are_nearest(crossref, server):
    for at in range(5):
        server.works[f"10.1000/{at}"] = crossref_work(f"10.1000/{at}", title=[f"Sleep of mice {'at night ' * at}"])
    server.works[DOI] = crossref_work(DOI, title=["The hearts of newborns"])
    found = crossref.titled("The Hearts of  Newborns", deadline=NEVER)
    assert (len(found), found[0].doi, found[0].title) == (3, DOI, "The hearts of newborns")


def test_its_notices_are_reported_oldest_first_each_with_who_says_so(crossref, server):
    server.works[DOI] = crossref_work(
        DOI, update("retraction"), update("erratum", "10.1000/e", (2018, 2), "publisher"), update("new_version", "")
    )
    erratum, version, retraction = crossref.of([DOI], deadline=NEVER)[DOI].notices
    assert erratum == Notice("correction", "10.1000/e", "2018-02", "Erratum", "publisher")
    assert (version.kind, version.doi) == ("other", None)
    assert retraction == Notice("retraction", "10.1000/notice", "2019-07-26", "Retraction", "retraction-watch")


def test_a_preprint_names_the_article_and_the_article_its_preprint(crossref, server):
    relation = {"is-preprint-of": [{"id-type": "doi", "id": "10.1000/ARTICLE", "asserted-by": "subject"}]}
    server.works["10.1101/1"] = crossref_work("10.1101/1", type="posted-content", relation=relation)
    other = {"has-preprint": [{"id-type": "doi", "id": "10.1101/1"}, {"id-type": "uri", "id": "x"}]}
    server.works["10.1000/article"] = crossref_work("10.1000/article", relation=other)
    preprint, article = crossref.of(["10.1101/1", "10.1000/article"], deadline=NEVER).values()
    assert (preprint.preprint_of, article.preprints) == (("10.1000/article",), ("10.1101/1",))


def test_works_come_in_the_order_asked_for_and_unknown_ones_not(crossref, server):
    dois = [f"10.1000/{each}" for each in range(45)]
    server.works |= {each: crossref_work(each) for each in dois[1:]}
    assert list(crossref.of(dois, deadline=NEVER)) == dois[1:]
    assert len(server.requests) == 3


def test_an_index_that_has_nothing_at_all_is_away_and_not_without_these_works(crossref, server):
    with pytest.raises(
        UpstreamFailed, match=r"none of 3 DOIs, nor 10\.1371/journal\.pbio\.1002541, which it has"
    ) as raised:
        crossref.of([DOI, "10.5061/dryad.1", "10.5061/dryad.2"], deadline=NEVER)
    assert raised.value.retryable


def test_a_list_of_another_agencys_dois_alone_is_unknown_once_crossref_has_shown_that_it_answers(crossref, server):
    server.works[CONTROL] = crossref_work(CONTROL)
    assert crossref.of(["10.5061/dryad.1"], deadline=NEVER) == {}
    assert crossref.of([f"10.5061/dryad.{each}" for each in range(25)], deadline=NEVER) == {}
    assert [each.parameters["filter"].count("dryad") for each in server.requests] == [1, 0, 20, 0, 5, 0]


def test_a_doi_that_would_part_the_list_is_asked_for_by_itself(crossref, server):
    odd = "10.1002/1521-4095(200010)12:20<1539::aid,adma>3.0.co;2-s?#/%2f"
    server.works[odd] = crossref_work(odd)
    assert list(crossref.of([odd, "10.1000/a,b"], deadline=NEVER)) == [odd]
    assert [each.path for each in server.requests] == [f"/crossref/works/{odd}", "/crossref/works/10.1000/a,b"]


def test_fields_of_other_types_are_left_out(crossref, server):
    odd = {"title": [], "author": "Doe", "container-title": None, "issued": 7, "volume": 12, "updated-by": "yes"}
    server.works[DOI] = crossref_work(DOI) | odd | {"published-print": {"date-parts": [[None]]}}
    work = crossref.of([DOI], deadline=NEVER)[DOI]
    assert (work.title, work.authors, work.journal, work.year, work.volume, work.notices) == ("", (), "", None, "", ())


@pytest.mark.parametrize(
    ("parts", "day"),
    [
        ([[2019, 7, 26]], "2019-07-26"), ([["2019", "7"]], "2019-07"), ([[2019]], "2019"), ([[2019, 0, 5]], "2019"),
        ([[2019, None, 5]], "2019"), ([[None, 7]], ""), ([[]], ""), ([], ""), ([2019], ""), ("2019", ""),
    ],
)  # fmt: skip
def test_a_date_is_as_exact_as_it_is_known_and_no_day_is_taken_for_a_month(crossref, server, parts, day):
    server.works[DOI] = crossref_work(DOI, update("retraction") | {"updated": {"date-parts": parts}})
    [notice] = crossref.of([DOI], deadline=NEVER)[DOI].notices
    assert notice.date == day


@pytest.mark.parametrize("name", ["published", "issued", "published-online", "created"])
def test_the_year_is_of_the_first_date_that_has_one(crossref, server, name):
    names = ("published-print", "published", "issued", "published-online")
    dates = {each: {"date-parts": [[None]]} for each in names}
    server.works[DOI] = crossref_work(DOI) | dates | {name: {"date-parts": [[2014, 2]]}}
    assert crossref.of([DOI], deadline=NEVER)[DOI].year == 2014


def test_nothing_is_asked_for_without_dois_and_one_of_the_works_that_fails_fails_all(crossref, server):
    assert (crossref.of([], deadline=NEVER), server.requests) == ({}, [])
    server.works[DOI] = crossref_work(DOI)
    server.faults += [Fault("works/", status=500)] * 3
    with pytest.raises(UpstreamFailed, match="HTTP 500"):
        crossref.of([DOI, "10.1000/a,b"], deadline=NEVER)
