"""ESearch of the local NCBI: windows, caps, dropped terms, shapes of recorded answers."""

import httpx


def search(ncbi, **params):
    answer = httpx.get(f"{ncbi.base_url}esearch.fcgi", params={"db": "pubmed", "retmode": "json"} | params)
    return answer.json()["esearchresult"]


def test_a_create_date_window_finds_what_the_records_say(ncbi):
    found = search(ncbi, term='("2021/06/03"[crdt] : "2021/06/07"[crdt])', retmax="9999")
    assert sorted(map(int, found["idlist"])) == ncbi.control.pmids("crdt", "2021/06/03", "2021/06/07")
    assert int(found["count"]) == len(found["idlist"]) > 100
