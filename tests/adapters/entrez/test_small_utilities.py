import pytest

from bio_mcp.adapters.entrez.client import EntrezLookup
from bio_mcp.adapters.entrez.utilities import read_matches
from bio_mcp.errors import InvalidInput, NcbiUnreadable
from bio_mcp.ports.ncbi import Citation, CitationMatch, Spelling
from tests.adapters.entrez.recordings import answer
from tests.adapters.entrez.scripted import eutils, message

MANN = Citation("proc natl acad sci u s a", "1991", "88", "3248", "mann bj")
FAKE = Citation("fake journal", "2000")


def test_a_database_is_described_with_its_fields():
    client, ncbi = eutils(message(answer("einfo/ik_pubmed_info.json").body))
    info = client.einfo()
    assert (info.name, info.menu_name, info.count) == ("pubmed", "PubMed", 38_997_024)
    assert info.last_update == "2025/06/25 07:12"
    edat = next(field for field in info.fields if field.name == "EDAT")
    assert (edat.full_name, edat.is_date, edat.is_numerical, edat.terms) == ("Date - Entry", True, False, None)
    assert "pubmed_pubmed_refs" in {link.name for link in info.links}
    assert ncbi.forms[0]["db"] == ["pubmed"]


@pytest.mark.parametrize("result", [{"dbinfo": []}, {"dbinfo": [{}]}, {}])
def test_a_description_that_lacks_its_members_is_unreadable(result):
    client, _ = eutils(*[message({"einforesult": result}) for _ in range(6)])
    with pytest.raises(NcbiUnreadable):
        client.einfo()


@pytest.mark.parametrize(("corrected", "expected"), [("asthma", "asthma"), ("", None), ("asthmaa", None)])
def test_a_spelling_is_given_only_where_it_differs(corrected, expected):
    body = f"<eSpellResult><Query>asthmaa</Query><CorrectedQuery>{corrected}</CorrectedQuery><ERROR/></eSpellResult>"
    client, _ = eutils(message(body))
    assert client.espell("asthmaa") == Spelling("asthmaa", expected)


def test_an_empty_query_is_not_spelt():
    client, _ = eutils()
    with pytest.raises(InvalidInput):
        client.espell(" ")


def test_citations_are_matched_in_order_by_their_own_numbers():
    body = "fake journal|2000||||c1|NOT_FOUND;INVALID_JOURNAL\nproc natl|1991|88|3248|mann bj|c0|2014248\n"
    client, ncbi = eutils(message(body))
    assert EntrezLookup(client, client).ecitmatch([MANN, FAKE]) == [
        CitationMatch(MANN, "2014248"),
        CitationMatch(FAKE, None, "NOT_FOUND;INVALID_JOURNAL"),
    ]
    assert ncbi.requests[0].url.path.endswith("/ecitmatch.cgi")
    assert ncbi.forms[0]["bdata"] == ["proc natl acad sci u s a|1991|88|3248|mann bj|c0|\rfake journal|2000||||c1|"]


def test_an_unanswered_citation_is_not_taken_for_not_found():
    with pytest.raises(NcbiUnreadable):
        read_matches(answer("ecitmatch/ik_citmatch_mixed.txt"), [MANN])


@pytest.mark.parametrize("citations", [[], [Citation("a|b")], [Citation(author="x\ry")]])
def test_a_citation_that_would_break_the_line_is_refused(citations):
    client, _ = eutils()
    with pytest.raises(InvalidInput):
        EntrezLookup(client, client).ecitmatch(citations)
