"""The Atom feed of a query: valid, read again when something is new, closed to strangers."""

import base64
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

import pytest
from lxml import etree

from bio_mcp.doors.auth.access import access
from bio_mcp.doors.auth.sessions import Sessions, SignedIn
from bio_mcp.literature.records import Correction, RetractionStatus
from bio_mcp.ports.state import Found
from bio_mcp.settings import Settings
from bio_mcp.syncing.applying import apply_records
from tests.doors.auth.minting import SECRET, hs256
from tests.doors.console.pages import browser
from tests.support.corpus import Corpus
from tests.support.memory_corpus import article

KEY = "flu & <colds>"
ATOM = "{http://www.w3.org/2005/Atom}"
RULES = etree.RelaxNG(etree.parse(Path(__file__).parents[2] / "data" / "atom.rng"))
TRIAL = article("1", title="A trial of A & B.", text="It works in ten of twelve patients.")
REVIEW = article("2", title="<b>A review</b>")
GONE = replace(
    TRIAL, retraction=RetractionStatus.RETRACTED, corrections=(Correction("RetractionIn", "J Test. 2026;1:1", "99"),)
)


@pytest.fixture
def corpus(tmp_path):
    with Corpus(tmp_path, day=date(2026, 1, 1)) as made:
        apply_records([TRIAL, REVIEW], made)
        for key in (KEY, "quiet"):
            made.checkpoints.advance(key, "t", None, {"edat": "2025-12-31"})
            made.news.set_whole(key)
        made.news.find(KEY, [Found(pmid, 1, datetime(2025, 12, 20, 8, tzinfo=UTC)) for pmid in ("1", "2")], first=True)
        yield made


def fetched(client, key=KEY, **headers):
    return client.get("/news.atom", params={"query_key": key}, headers=headers, follow_redirects=False)


def parsed(answer):
    """The feed, which must be valid."""
    assert answer.status_code == 200
    root = etree.fromstring(answer.content)
    RULES.assertValid(root)
    return root


def texts(root, name):
    return [each.text for each in root.iter(f"{ATOM}{name}")]


def test_a_feed_is_valid_and_has_an_entry_for_each_paper_that_is_new(corpus):
    answer = fetched(browser(corpus))
    root = parsed(answer)
    assert answer.headers["content-type"].startswith("application/atom+xml")
    assert texts(root, "title") == [f"News of {KEY}", "<b>A review</b>", "A trial of A & B."]
    assert texts(root, "updated")[0] == "2025-12-20T08:00:00Z"
    assert [each.get("href") for each in root.findall(f"{ATOM}entry/{ATOM}link")] == [
        f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" for pmid in ("2", "1")
    ]
    assert len({*texts(root, "id")}) == 3


def test_a_retraction_is_an_entry_of_its_own_with_its_notice_and_other_ids_stay(corpus):
    before = texts(parsed(fetched(browser(corpus))), "id")
    apply_records([GONE], corpus)
    root = parsed(fetched(browser(corpus)))
    assert "Retracted: A trial of A & B." in texts(root, "title")
    assert any("J Test. 2026;1:1" in text for text in texts(root, "summary"))
    assert set(before) < set(texts(root, "id"))


def test_a_feed_without_news_is_valid_too(corpus):
    answer = fetched(browser(corpus), "quiet")
    assert texts(parsed(answer), "title") == ["News of quiet"]
    assert "last-modified" not in answer.headers


def test_addresses_of_the_feed_are_those_of_the_public_host(corpus):
    client = browser(corpus, resource_url="https://mcp.example.org/mcp")
    [own, page] = [each.get("href") for each in parsed(fetched(client)).findall(f"{ATOM}link")]
    named = "query_key=flu+%26+%3Ccolds%3E"
    assert own == f"https://mcp.example.org/news.atom?{named}"
    assert page == "https://mcp.example.org/topics?topic=flu+%26+%3Ccolds%3E"


def test_a_reader_that_has_the_feed_is_sent_nothing_until_something_is_new(corpus):
    client = browser(corpus)
    first = fetched(client)
    etag, modified = first.headers["etag"], first.headers["last-modified"]
    assert modified == "Sat, 20 Dec 2025 08:00:00 GMT"
    had = [{"if-none-match": etag}, {"if-none-match": f'"x", W/{etag}'}, {"if-modified-since": modified}]
    for each in had:
        again = fetched(client, **each)
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    other = [
        {"if-none-match": '"x"'},
        {"if-none-match": '"x"', "if-modified-since": modified},
        {"if-modified-since": "Sat, 20 Dec 2025 07:59:59 GMT"},
        {"if-modified-since": "yesterday"},
    ]
    assert {fetched(client, **each).status_code for each in other} == {200}
    apply_records([GONE], corpus)
    assert {fetched(client, **each).status_code for each in had} == {200}


def test_a_query_that_nothing_follows_and_none_are_refused(corpus):
    client = browser(corpus)
    assert fetched(client, "nothing").status_code == 404
    assert fetched(client, "").status_code == 400


def test_the_page_of_a_topic_leads_to_the_feed(corpus):
    client = browser(corpus)
    page = client.get("/topics", params={"topic": KEY}).text
    assert 'href="/news.atom?query_key=flu%20%26%20%3Ccolds%3E"' in page


@pytest.fixture
def closed(corpus):
    """The console where tokens are needed."""
    settings = Settings(auth_secret=SECRET)
    sessions = Sessions(lambda: corpus.authorizations, https=False)
    return browser(corpus, partial(SignedIn, access=access(settings), sessions=sessions), auth_secret=SECRET)


def basic(password):
    return "Basic " + base64.b64encode(f"reader:{password}".encode()).decode()


def test_a_token_is_taken_as_a_bearer_token_and_as_a_password(closed):
    token = hs256(scope="read")
    for each in (f"Bearer {token}", basic(token)):
        assert len(parsed(fetched(closed, authorization=each)).findall(f"{ATOM}entry")) == 2


@pytest.mark.parametrize("sent", [None, basic("nonsense"), "Basic !", "Basic", "Bearer x"])
def test_without_a_good_token_it_is_closed_and_a_reader_is_asked_for_a_password(closed, sent):
    answer = fetched(closed, **({} if sent is None else {"authorization": sent}))
    assert answer.status_code == 401
    assert any(each.startswith("Basic realm=") for each in answer.headers.get_list("www-authenticate"))
    assert "location" not in answer.headers
    assert b"review" not in answer.content


def test_a_password_opens_no_other_page(closed):
    asked = closed.get("/topics", headers={"authorization": basic(hs256(scope="read"))}, follow_redirects=False)
    assert asked.status_code == 401


def test_a_token_without_the_scope_reads_no_feed(closed):
    assert fetched(closed, authorization=basic(hs256(scope="live"))).status_code == 403
