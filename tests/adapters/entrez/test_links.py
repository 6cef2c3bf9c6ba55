import pytest

from bio_mcp.adapters.entrez.utilities import read_links
from bio_mcp.errors import InvalidInput, NcbiUnreadable
from bio_mcp.ports.ncbi import CITED_IN, SIMILAR, Link, LinkSet
from tests.adapters.entrez.recordings import answer, entries
from tests.adapters.entrez.scripted import eutils, message


def test_each_pmid_keeps_its_own_links():
    sets = [
        {"ids": ["1"], "linksetdbs": [{"dbto": "pubmed", "linkname": CITED_IN, "links": ["8", "9"]}]},
        {"ids": ["2"]},
    ]
    client, ncbi = eutils(message({"linksets": sets[::-1]}))
    assert client.elink(["1", "2"], link_name=CITED_IN) == (LinkSet("1", (Link("8"), Link("9"))), LinkSet("2"))
    assert ncbi.forms[0]["id"] == ["1", "2"]
    assert ncbi.forms[0]["linkname"] == [CITED_IN]


def test_scores_are_read_from_xml():
    client, ncbi = eutils(message(answer("elink/syn_neighbor_score.xml").body))
    (found,) = client.elink(["25760099"], command="neighbor_score")
    assert found.links == (Link("25760099", 2_147_483_647), Link("26846451", 37_012_745))
    assert ncbi.forms[0]["cmd"] == ["neighbor_score"]


@pytest.mark.parametrize(
    "entry",
    [entry for entry in entries() if entry["file"].startswith("elink/ik_") and "multiple" not in entry["file"]],
    ids=lambda entry: entry["file"],
)
def test_every_recorded_link_set_is_read(entry):
    recorded = answer(entry["file"])
    (linkset,) = recorded.json["linksets"]
    for found in linkset.get("linksetdbs", []):
        (read,) = read_links(recorded, linkset["ids"], found["linkname"])
        assert [link.uid for link in read.links] == found["links"]


def test_no_links_are_an_empty_set():
    assert read_links(answer("elink/mp_medgen_elink_pubmed_0_entries.xml"), ["0"], SIMILAR) == (LinkSet("0"),)


@pytest.mark.parametrize(
    "content",
    [
        {"linksets": []},
        {"linksets": [{"ids": ["1"]}]},
        {"linksets": [{"ids": ["1", "2"]}]},
        {"linksets": [{"ids": ["1", "2"]}, {"ids": ["2"]}]},
        {"linksets": [{"ids": ["1"], "linksetdbs": [{"linkname": SIMILAR}]}, {"ids": ["2"]}]},
        {"linksets": [{}]},
        {"linksets": None},
    ],
)
def test_links_that_are_missing_or_mixed_up_are_no_empty_result(content):
    client, ncbi = eutils(*[message(content) for _ in range(6)])
    with pytest.raises(NcbiUnreadable):
        client.elink(["1", "2"])
    assert len(ncbi.requests) == 6


def test_an_unknown_command_is_refused():
    client, _ = eutils()
    with pytest.raises(InvalidInput, match="neighbor, neighbor_score"):
        client.elink(["1"], command="prlinks")
