"""EFetch over HTTP: bytes as loaded, silent gaps, its own order, history and refusals."""

import re

from lxml import etree

from tests.support.eutils_server.answers import RECORDINGS


def recorded(name):
    return next(RECORDINGS.rglob(name)).read_bytes()


def test_a_batch_of_200_brings_each_record_once(ncbi, fetched):
    pmids = ncbi.control.pmids()[:200]
    assert sorted(fetched(pmids)) == pmids


def test_the_order_is_not_the_one_asked_for_and_is_always_the_same(ncbi, fetched):
    pmids = ncbi.control.pmids()[:50]
    assert fetched(pmids) != pmids
    assert fetched(pmids) == fetched(pmids)


def test_the_record_is_served_byte_for_byte(ncbi, client):
    pmid = ncbi.control.pmids()[0]
    assert ncbi.control.record(pmid) in client.get("efetch.fcgi", params={"id": str(pmid)}).text


def test_every_answer_has_the_doctype(client, ncbi):
    body = client.get("efetch.fcgi", params={"id": str(ncbi.control.pmids()[0])}).content
    assert etree.fromstring(body).getroottree().docinfo.system_url.endswith("pubmed_250101.dtd")


def test_a_pmid_that_is_not_there_is_just_absent(ncbi, fetched):
    pmid = ncbi.control.pmids()[0]
    assert fetched([pmid, 45_555_666_666_666]) == [pmid]


def test_none_there_is_an_empty_set_as_recorded(client):
    answer = client.post("efetch.fcgi", data={"db": "pubmed", "id": "45555666666666"})
    assert answer.status_code == 200
    dates = re.compile(rb"\d{6}\.dtd|January \d{4}")
    name = "sul_Pubmed_Client_fetch_records_for_pmid_list_returns_an_empty_array_yml_0.xml"
    assert dates.sub(b"", answer.content).split() == dates.sub(b"", recorded(name)).split()


def test_an_empty_id_is_the_recorded_error(client):
    name = "sul_Pubmed_MapPubHash_source_as_hash_DOI_extraction_constructs_a_URL_based_0.xml"
    answer = client.post("efetch.fcgi", data={"db": "pubmed", "id": ""})
    assert [answer.status_code, answer.content.strip()] == [200, recorded(name).strip()]


def test_ids_that_are_no_numbers_are_refused(client):
    answer = client.get("efetch.fcgi", params={"id": "abc"})
    assert answer.status_code == 400
    assert b"ID list is empty" in answer.content


def test_a_withdrawn_record_is_gone(ncbi, fetched):
    first, second = ncbi.control.pmids()[:2]
    ncbi.control.withdraw([first])
    assert fetched([first, second]) == [second]


def test_too_many_ids_in_a_url_are_414_and_pass_by_post(ncbi, client, fetched):
    pmids = ncbi.control.pmids()
    answer = client.get("efetch.fcgi", params={"id": ",".join(map(str, pmids))})
    assert [answer.status_code, answer.content] == [414, recorded("414_uri_too_long.html")]
    assert len(fetched(pmids)) == len(pmids)


def test_history_gives_the_whole_set_whatever_retmax_the_search_had(client, search, ncbi, fetched):
    found = search(term="2021/06/07[crdt]", usehistory="y", retmax="1")
    address = {"WebEnv": found["webenv"], "query_key": "1"}
    root = etree.fromstring(client.post("efetch.fcgi", data=address).content)
    assert len(root) == int(found["count"]) > 1
    page = etree.fromstring(client.post("efetch.fcgi", data=address | {"retstart": "1", "retmax": "2"}).content)
    assert len(page) == 2


def test_expired_history_is_the_recorded_error_under_200(client, search, ncbi):
    found = search(term="cancer", usehistory="y")
    ncbi.control.expire_history()
    address = {"WebEnv": found["webenv"], "query_key": "1"}
    answer = client.post("efetch.fcgi", data=address)
    expected = recorded("200_efetch_unable_to_obtain_query.xml")
    assert [answer.status_code, answer.content.strip()] == [200, expected.strip()]
    summary = client.post("esummary.fcgi", data=address | {"retmode": "json"})
    assert summary.json() == {"esummaryresult": ["Unable to obtain query #1"]}


def test_medline_text_names_the_dates_by_their_tags(client, ncbi):
    pmid = ncbi.control.pmids("crdt", "2021/06/07", "2021/06/07")[0]
    text = client.get("efetch.fcgi", params={"id": str(pmid), "rettype": "medline", "retmode": "text"}).text
    assert f"PMID- {pmid}\n" in text
    assert "CRDT- 2021/06/07" in text
    wrapped = [line for line in text.splitlines() if line and not line[:4].strip()]
    assert all(line.startswith("      ") for line in wrapped)
