from datetime import date

import pytest

from bio_mcp.adapters.entrez.transport import BeyondReach
from bio_mcp.errors import InvalidInput, NcbiUnreadable
from tests.adapters.entrez.recordings import answer
from tests.adapters.entrez.scripted import eutils, found, message


def test_a_search_says_what_pubmed_made_of_it():
    client, ncbi = eutils(message(answer("esearch/biomcp_mlh1_g67e.json").body))
    page = client.esearch("MLH1 G67E")
    assert page.count == 1
    assert page.ids == ("18033691",)
    assert page.translation == '"MLH1"[Title/Abstract] AND "G67E"[Title/Abstract]'
    assert page.warnings == ()
    assert page.web_env is None
    assert ncbi.requests[0].url.path == "/eutils/esearch.fcgi"
    assert ncbi.forms[0]["db"] == ["pubmed"]


@pytest.mark.parametrize(
    ("sent", "day"),
    [
        ("Thu, 01 Jan 2026 04:59:00 GMT", date(2025, 12, 31)),
        ("Thu, 01 Jan 2026 05:00:00 GMT", date(2026, 1, 1)),
        ("tomorrow", None),
        (None, None),
    ],
    ids=["still yesterday at NCBI", "a new day at NCBI", "no date", "no header"],
)
def test_a_search_tells_the_day_that_it_is_at_ncbi(sent, day):
    answer = found(1)
    answer.headers.update({"Date": sent} if sent else {})
    client, _ = eutils(answer)
    assert client.esearch("asthma").day == day


@pytest.mark.parametrize("sort", ["relevance", "pub_date", "Author", "JournalName"])
def test_a_sort_order_is_always_sent(sort):
    client, ncbi = eutils(found(1), found(1))
    client.esearch("asthma")
    client.esearch("asthma", sort=sort)
    assert [form["sort"] for form in ncbi.forms] == [["pub_date"], [sort]]


def test_history_and_dates_are_sent_when_asked_for():
    client, ncbi = eutils(found(1, webenv="MCID_1", querykey="2"), found(1))
    page = client.esearch("asthma", history=True, dates=("edat", "2024/01/01", "2024/01/31"))
    client.esearch("asthma")
    assert (page.web_env, page.query_key) == ("MCID_1", "2")
    assert ncbi.forms[0]["usehistory"] == ["y"]
    assert [ncbi.forms[0][name] for name in ("datetype", "mindate", "maxdate")] == [
        ["edat"],
        ["2024/01/01"],
        ["2024/01/31"],
    ]
    assert not {"usehistory", "datetype", "mindate", "maxdate"} & ncbi.forms[1].keys()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"term": "  "}, "term is empty"),
        ({"term": "a", "sort": "date"}, "choose one of relevance, pub_date, Author, JournalName"),
        ({"term": "a", "retstart": -1}, "negative"),
        ({"term": "a", "retmax": -1}, "negative"),
        ({"term": "a", "dates": ("EDAT", "2024/01/01", "2024/01/31")}, "choose one of pdat, edat, mdat"),
        ({"term": "a", "dates": ("edat", "2024-01-01", "2024/01/31")}, "YYYY/MM/DD"),
        ({"term": "a", "dates": ("edat", "2024/01/01", "")}, "together"),
    ],
)
def test_a_search_that_ncbi_would_misread_is_refused_before_it_is_sent(arguments, sentence):
    client, ncbi = eutils()
    with pytest.raises(InvalidInput, match=sentence):
        client.esearch(**arguments)
    assert ncbi.requests == []


def test_nothing_found_is_an_answer():
    client, _ = eutils(found())
    assert client.esearch("xyzzy").count == 0


def test_dropped_terms_become_warnings():
    client, _ = eutils(
        found(
            1,
            errorlist={"phrasesnotfound": ["p.E1317Q"], "fieldsnotfound": ["gene"]},
            warninglist={
                "phrasesignored": ["the"],
                "quotedphrasesnotfound": ['"blue cancer"'],
                "outputmessages": ["No items found.", "No items found."],
            },
        )
    )
    assert client.esearch("APC p.E1317Q").warnings == (
        "PubMed does not know 'p.E1317Q' and left it out of the search",
        "PubMed has no search field 'gene' and searched without it",
        "PubMed ignored 'the' as too common or not searchable",
        "PubMed does not know the phrase '\"blue cancer\"' and searched its words instead",
    )


def test_a_short_page_is_asked_for_again():
    client, ncbi = eutils(found(1, 2, count=3), found(1, 2, 3, count=3))
    assert client.esearch("asthma").ids == ("1", "2", "3")
    assert len(ncbi.requests) == 2


@pytest.mark.parametrize(
    ("retstart", "retmax", "count", "expected"),
    [
        (0, 20, 12_001, 20),
        (0, 9_999, 12_001, 9_999),
        (0, 100_000, 12_001, 9_999),
        (9_998, 1_000, 12_001, 1),
        (10, 20, 15, 5),
        (20, 20, 15, 0),
        (9_999, 20, 9_999, 0),
        (0, 0, 500, 0),
    ],
)
def test_a_page_is_whole_when_it_holds_what_pubmed_can_give(retstart, retmax, count, expected):
    whole = range(1, expected + 1)
    client, _ = eutils(found(*whole, count=count))
    assert len(client.esearch("asthma", retstart=retstart, retmax=retmax).ids) == expected
    if expected:
        client, _ = eutils(*[found(*whole[1:], count=count) for _ in range(6)])
        with pytest.raises(NcbiUnreadable):
            client.esearch("asthma", retstart=retstart, retmax=retmax)


@pytest.mark.parametrize(
    "result",
    [{}, {"count": "1"}, {"idlist": []}, {"count": "x", "idlist": []}, {"count": "1", "idlist": ["abc"]}, [], "text"],
)
def test_a_search_answer_without_count_or_ids_is_no_empty_result(result):
    client, _ = eutils(*[message({"esearchresult": result}) for _ in range(6)])
    with pytest.raises(NcbiUnreadable):
        client.esearch("asthma")


def test_a_delta_is_every_pmid_of_the_window():
    client, ncbi = eutils(found(3, 2, 1))
    assert client.esearch_delta("asthma", "2024/01/01", "2024/01/02") == ["3", "2", "1"]
    assert ncbi.forms[0]["datetype"] == ["edat"]
    assert ncbi.forms[0]["retmax"] == ["9999"]


def test_a_delta_that_cannot_be_read_whole_is_refused():
    client, _ = eutils(found(*range(1, 10_000), count=12_001))
    with pytest.raises(BeyondReach, match="12,001 records") as refused:
        client.esearch_delta("asthma", "2024/01/01", "2024/12/31")
    assert refused.value.details["count"] == 12_001
