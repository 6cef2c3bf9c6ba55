"""Unpaywall at a local server: where legal copies are."""

import pytest

from bio_mcp.adapters.scholarly import Unpaywall
from bio_mcp.deadline import NEVER
from bio_mcp.errors import NotFound
from bio_mcp.ports.scholarly import Copy
from tests.support.scholarly_server.shapes import copy, unpaywall_paper

DOI = "10.1000/a?b#c"
REPOSITORY = "https://repository.example.org/1"


@pytest.fixture
def unpaywall(service):
    return Unpaywall(service("Unpaywall", "unpaywall/v2", always={"email": "a@example.org"}))


def test_copies_come_the_best_first_each_once(unpaywall, server):
    publisher = copy("https://publisher.example.org/1", host_type="publisher", license=None, url_for_pdf=None)
    server.copies[DOI] = unpaywall_paper(DOI, copy(REPOSITORY), publisher)
    found = unpaywall.copies(DOI, deadline=NEVER)
    assert found.copies == (
        Copy(REPOSITORY, f"{REPOSITORY}.pdf", "acceptedVersion", "repository", "cc-by"),
        Copy("https://publisher.example.org/1", None, "acceptedVersion", "publisher", ""),
    )
    assert (found.doi, found.title) == (DOI, f"The paper {DOI}")
    assert server.requests[0].parameters == {"email": "a@example.org"}


def test_a_paper_without_a_copy_has_none_and_an_unknown_one_is_not_found(unpaywall, server):
    server.copies[DOI] = unpaywall_paper(DOI)
    assert unpaywall.copies(DOI, deadline=NEVER).copies == ()
    with pytest.raises(NotFound):
        unpaywall.copies("10.1000/unknown", deadline=NEVER)


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "https://user:pass@host/", "http://[", None]
)
def test_what_is_no_address_of_the_web_is_no_copy(unpaywall, server, url):
    server.copies[DOI] = unpaywall_paper(DOI, copy(url, url_for_pdf=url))
    assert unpaywall.copies(DOI, deadline=NEVER).copies == ()


@pytest.mark.parametrize("doi", ["10.1000/../../elsewhere", "10.1000/./x", "10.1000/x/.."])
def test_a_doi_with_dots_is_asked_for_as_it_is_and_leads_nowhere_else(unpaywall, server, doi):
    server.copies[doi] = unpaywall_paper(doi, copy(REPOSITORY))
    assert unpaywall.copies(doi, deadline=NEVER).copies[0].url == REPOSITORY
    assert [each.path for each in server.requests] == [f"/unpaywall/v2/{doi}"]


def test_a_copy_without_a_page_is_named_by_its_address_or_else_by_its_pdf(unpaywall, server):
    by_address = copy(REPOSITORY, url_for_landing_page=None)
    by_pdf = copy(None, url_for_landing_page=None, url_for_pdf="https://other.example.org/2.pdf")
    server.copies[DOI] = unpaywall_paper(DOI, by_address, by_pdf)
    found = unpaywall.copies(DOI, deadline=NEVER).copies
    assert [(each.url, each.pdf_url) for each in found] == [
        (REPOSITORY, f"{REPOSITORY}.pdf"), ("https://other.example.org/2.pdf",) * 2,
    ]  # fmt: skip


def test_places_of_other_types_are_no_copies(unpaywall, server):
    server.copies[DOI] = unpaywall_paper(DOI, is_oa=True) | {"best_oa_location": "here", "oa_locations": [None, 7, {}]}
    assert unpaywall.copies(DOI, deadline=NEVER).copies == ()
