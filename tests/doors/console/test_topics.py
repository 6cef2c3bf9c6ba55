"""The page Topics: a term is counted and followed, its sync is seen to go on, what is new is read by each person."""

from dataclasses import replace
from datetime import UTC, date, datetime
from email import message_from_bytes
from email.policy import default
from functools import partial

import pytest

from bio_mcp.catalog import TOOLS
from bio_mcp.deadline import NEVER
from bio_mcp.doors.auth.access import access
from bio_mcp.doors.auth.sessions import Sessions, SignedIn
from bio_mcp.doors.queue_worker import work_once
from bio_mcp.errors import StoreFailed
from bio_mcp.jobs.runner import leased
from bio_mcp.literature.records import Correction, Deletion, RetractionStatus
from bio_mcp.ports.state import Found
from bio_mcp.settings import Settings
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.delta import lease_name, sync_delta
from bio_mcp.syncing.queries import RETRACTIONS_KEY
from tests.doors.auth.minting import SECRET, hs256
from tests.doors.console.pages import Page, browser
from tests.doors.console.test_views import Broken
from tests.support.corpus import Corpus, Over
from tests.support.memory_corpus import article

HOSTILE = "<script>alert(1)</script>"
TERM = "COVID-19[tiab]"
DAY = date(2026, 1, 1)
LONG_AGO, LATELY = datetime(2020, 1, 1, tzinfo=UTC), datetime(2025, 12, 20, 8, tzinfo=UTC)
OLD, REVISED, GOING = article("1", title="Old."), article("3", title="Another."), article("2", title="Going.")
NOTICE = Correction("RetractionIn", "J Test. 2026;1:1", "99")
RETRACTED = replace(OLD, title=f"{HOSTILE} Old.", retraction=RetractionStatus.RETRACTED, corrections=(NOTICE,))


@pytest.fixture
def corpus(tmp_path):
    """Two topics, of which one has news of every kind."""
    with Corpus(tmp_path, day=DAY) as made:
        apply_records([OLD, GOING, REVISED], made)
        for key in ("topic", HOSTILE):
            made.checkpoints.advance(key, "t", None, {"edat": "2025-12-31"})
            made.news.set_whole(key)
        made.news.find("topic", [Found("1", 1, LONG_AGO), Found("3", 1, LATELY), Found("2", 1)], first=True)
        apply_records([RETRACTED, replace(REVISED, title="A better one."), Deletion("2")], made)
        yield made


@pytest.fixture
def client(corpus):
    return browser(corpus)


def shown(client, path="/topics?topic=topic", **headers):
    return Page(client.get(path, headers=headers))


def sections(page):
    """The headings of the days, each with the titles below it."""
    found = {}
    for tag, _, text in page.elements:
        words = " ".join(text.split())
        if tag == "h3":
            titles = found.setdefault(words, [])
        elif tag == "h4":
            titles.append(words)
    return found


def mark(client, topic="topic", **headers):
    page = shown(client, f"/topics?topic={topic}", **headers)
    [position] = [each[1]["value"] for each in page.all("input", name="position")]
    return client.post("/topics/read", data={"topic": topic, "position": position}, headers=headers)


def test_unread_papers_are_shown_by_day_once_each_with_the_retracted_ones_first(corpus, client):
    page, today = shown(client), corpus.now().date()
    found = sections(page)
    assert list(found) == ["Retracted", f"{today} 1 paper", "2025-12-20 1 paper"]
    assert found["Retracted"] == [f"Retracted {HOSTILE} Old."]
    assert found[f"{today} 1 paper"] == ["Withdrawn PMID 2"]
    assert found["2025-12-20 1 paper"] == ["A better one."]  # new since, and then revised
    assert "Retraction in: J Test. 2026;1:1" in page.texts("p")
    assert "3 unread" in page.text("nav", **{"aria-label": "Followed topics"})


def test_the_first_topic_with_something_unread_is_shown_unless_another_is_asked_for(client):
    assert shown(client, "/topics").text("h2", id="topic-name") == "topic"
    quiet = shown(client, f"/topics?topic={HOSTILE}")
    assert (quiet.text("h2", id="topic-name"), "Mark as read" in quiet.texts("button")) == (HOSTILE, False)
    assert quiet.text("p", cls="empty").startswith("Nothing is unread.")
    assert shown(client, "/topics?topic=other").status == 404


def test_what_was_shown_is_marked_as_read_and_what_comes_later_is_not(corpus, client):
    shown_before = shown(client)
    apply_records([replace(REVISED, title="The best one.", pmid_version=2)], corpus)
    [position] = [each[1]["value"] for each in shown_before.all("input", name="position")]
    for _ in range(2):
        client.post("/topics/read", data={"topic": "topic", "position": position})
    later = shown(client)
    assert list(sections(later).values()) == [["Revised The best one."]]
    assert later.texts("ins") == ["The best"]
    assert mark(client).status_code == 200
    assert sections(shown(client)) == {}
    assert len(sections(shown(client, "/topics?topic=topic&everything=1"))) == 3


def test_a_retraction_is_shown_however_much_has_come_since(corpus, client):
    late = [article(str(number)) for number in range(100, 350)]
    apply_records(late, corpus)
    corpus.news.find("topic", [Found(each.pmid, 1) for each in late])
    page = shown(client)
    assert sections(page)["Retracted"] == [f"Retracted {HOSTILE} Old."]
    assert "The newest 201 are shown. Mark as read is for the older ones too." in page.texts("p")
    assert "more than 201 unread" in page.text("nav", **{"aria-label": "Followed topics"})


@pytest.mark.parametrize("position", ["n999999999999 z", "z", ""])
def test_a_place_that_is_not_in_the_news_marks_nothing(client, position):
    answer = client.post("/topics/read", data={"topic": "topic", "position": position})
    assert (answer.status_code, len(sections(shown(client)))) == (400, 3)


def test_nothing_is_marked_while_the_first_sync_goes_on(corpus, client):
    corpus.checkpoints.advance("begun", "t")
    corpus.news.find("begun", [Found("1", 1, LONG_AGO)])
    page = shown(client, "/topics?topic=begun")
    assert "Mark as read" not in page.texts("button")
    position = corpus.news.since("begun", "", 1)[0].position
    assert client.post("/topics/read", data={"topic": "begun", "position": position}).status_code == 503
    assert corpus.news.read_to("begun", "") == ""


def test_a_store_that_fails_is_no_page_without_news(corpus):
    page = shown(browser(Broken(corpus, "news", StoreFailed("The news are away."))))
    assert (page.status, "The news are away." in page.source) == (503, True)


def test_the_digest_is_an_e_mail_with_the_retracted_papers_first(corpus):
    client = browser(corpus, resource_url="https://lab.example.org/mcp")
    answer = client.get("/topics.eml", params={"topic": "topic"})
    assert answer.headers["content-disposition"] == "attachment; filename*=utf-8''topic.eml"
    message = message_from_bytes(answer.content, policy=default)
    assert (message["subject"], message["x-unsent"]) == ("topic: 3 unread, 1 retracted", "1")
    text, html = (message.get_body((kind,)).get_content() for kind in ("plain", "html"))
    assert "https://lab.example.org/topics?topic=topic" in text
    assert text.index("RETRACTED") < text.index(f"{HOSTILE} Old.") < text.index("A better one.")
    assert "https://lab.example.org/papers/3" in text
    assert HOSTILE not in html
    assert html.index("Retracted") < html.index("A better one.")
    assert client.get("/topics.eml?topic=other").status_code == 404


def test_a_name_cannot_add_a_header_to_the_digest(corpus):
    name = "x\r\nBcc: all@example.org"
    corpus.checkpoints.advance(name, "t", None, {"edat": "2025-12-31"})
    corpus.news.set_whole(name)
    message = message_from_bytes(browser(corpus).get("/topics.eml", params={"topic": name}).content, policy=default)
    assert (message["bcc"], message["subject"]) == (None, "x Bcc: all@example.org: 0 unread")


@pytest.fixture
def team(corpus):
    """The console where tokens are needed."""
    settings = Settings(auth_secret=SECRET)
    sessions = Sessions(lambda: corpus.authorizations, https=False)
    return browser(corpus, partial(SignedIn, access=access(settings), sessions=sessions), auth_secret=SECRET)


def as_(subject, scope="bio:read read", **more):
    return {"authorization": f"Bearer {hs256(sub=subject, scope=scope, **more)}"}


def test_what_one_person_has_read_another_has_not_nor_one_of_that_name_elsewhere(team):
    elsewhere = as_("ann", tenant="north")
    mark(team, **as_("ann"))
    unread = [sections(shown(team, **who)) != {} for who in (as_("ann"), as_("ben"), elsewhere)]
    assert unread == [False, True, True]
    mark(team, **elsewhere)
    assert [sections(shown(team, **who)) != {} for who in (as_("ben"), elsewhere)] == [True, False]


@pytest.mark.parametrize("scope", ["read", "read live", "read sync"])
def test_who_may_not_sync_or_ask_pubmed_sees_no_follow_button(team, scope):
    page = shown(team, **as_("ann", scope))
    assert "Follow" not in page.texts("button")
    assert ("Sync now" in page.texts("button")) is ("sync" in scope)
    refused = team.post("/topics", data={"term": "asthma", "name": "asthma"}, headers=as_("ann", "read live"))
    assert refused.status_code == 403


def test_a_form_of_another_site_is_refused(client):
    for path in ("/topics", "/topics/read", "/topics/sync"):
        answer = client.post(path, data={"topic": "topic"}, headers={"sec-fetch-site": "cross-site"})
        assert answer.status_code == 403


@pytest.fixture
def live(tmp_path, ncbi):
    """A corpus without a topic, over the local NCBI."""
    ncbi.control.set_today("2026/01/01")
    with Corpus(tmp_path, ncbi.base_url, DAY) as made:
        yield made


def offered(client, term=TERM):
    return Page(client.get("/topics", params={"term": term}))


def follow(client, page, **changed):
    """Press the button Follow of the page that asks for it."""
    return client.post("/topics", data={**hidden(page), **changed}, follow_redirects=False)


def hidden(page):
    """The fields of the form with the button."""
    fields = [each[1] for each in page.all("input") if each[1].get("type", "text") in ("hidden", "text")]
    return {each["name"]: each["value"] for each in fields}


def test_a_term_is_counted_then_followed_read_in_the_background_and_shown(live, ncbi):
    client = browser(live)
    offer = offered(client)
    count = int(offer.text("p", cls="count").split()[0])
    assert count > 0
    assert ncbi.control.requests("efetch") == []
    assert hidden(offer) == {"term": TERM, "name": "COVID-19"}
    answer = follow(client, offer)
    assert (answer.status_code, answer.headers["location"]) == (303, "/topics?topic=COVID-19")
    begun = shown(client, answer.headers["location"])
    assert ncbi.control.requests("efetch") == []  # no paper is read while somebody waits
    assert any("papers read" in each for each in begun.texts("p"))
    assert any(each[1].get("hx-trigger") == "every 2s" for each in begun.all("div", id="topics"))
    assert begun.text("noscript") == "See how far it is now"
    while work_once(live.continuations, TOOLS, live):
        pass
    done = shown(client, answer.headers["location"])
    assert f"{count} new" in " ".join(done.texts("p"))
    assert f"{count} unread" in done.text("nav", **{"aria-label": "Followed topics"})
    assert "hx-get" not in done.source
    assert mark(client, "COVID-19").status_code == 200
    assert sections(shown(client, "/topics?topic=COVID-19")) == {}


def test_a_synced_topic_is_synced_again_by_one_press(live):
    client = browser(live)
    follow(client, offered(client))
    while work_once(live.continuations, TOOLS, live):
        pass
    [first] = live.jobs.newest("sync", 9)
    client.post("/topics/sync", data={"topic": "COVID-19", "term": TERM})
    assert len(live.jobs.newest("sync", 9)) == 2
    assert live.jobs.get(first.job_id).state == "succeeded"


def test_papers_of_a_changed_term_are_unread_also_those_that_pubmed_has_had_for_years(live, ncbi):
    other, *first = (f"{each}[uid]" for each in ncbi.control.pmids()[:3])
    client = browser(live)
    sync_delta("topic", " OR ".join(first), 5, live, NEVER, lambda *_: None)
    mark(client)
    assert sections(shown(client)) == {}
    sync_delta("topic", " OR ".join([other, *first]), 5, live, NEVER, lambda *_: None)
    [(day, papers)] = sections(shown(client)).items()
    assert (len(papers), day.startswith(str(live.now().date()))) == (1, False)
    mark(client)
    assert sections(shown(client)) == {}


def test_a_term_that_is_followed_leads_to_its_topic_and_a_name_is_not_taken_twice(live):
    client = browser(live)
    follow(client, offered(client))
    again = client.get("/topics", params={"term": TERM}, follow_redirects=False)
    assert (again.status_code, again.headers["location"]) == (303, "/topics?topic=COVID-19")
    other = offered(client, "COVID-19[ti]")
    assert hidden(other)["name"] == "COVID-19 2"
    refused = Page(follow(client, other, name="COVID-19"))
    assert (refused.status, "Choose another name" in refused.text("div", role="alert")) == (400, True)
    assert Page(follow(client, other, name=RETRACTIONS_KEY)).status == 400
    assert [each.term for each in live.checkpoints.all()] == [TERM]


@pytest.mark.parametrize(
    ("term", "why"),
    [
        (f'{TERM} AND "1990/01/01"[crdt]', "PubMed finds nothing"),
        (f"zzzyx[tiab] OR {TERM}", "PubMed does not know"),
    ],
    ids=["nothing found", "unknown word"],
)
def test_what_pubmed_does_not_know_is_asked_once_more(live, term, why):
    client = browser(live)
    asked = Page(follow(client, offered(client, term)))
    assert asked.status == 400
    assert why in asked.text("div", role="alert")
    assert live.checkpoints.all() == []
    assert follow(client, asked).status_code == 303
    assert [each.term for each in live.checkpoints.all()] == [term]


def test_very_many_papers_are_asked_about_once_more(live):
    client = browser(Over(live, sync_max_records=5))
    asked = Page(follow(client, offered(client, '"2021/01/01"[crdt] : "2021/12/31"[crdt]')))
    assert "records for this sync" in asked.text("div", role="alert")
    assert int(hidden(asked)["max_records"]) > 5
    assert follow(client, asked).status_code == 303


def test_pubmed_that_is_away_is_told_of_and_the_term_stays(live, ncbi):
    ncbi.control.fault(endpoint="esearch", status=503, times=10_000)
    page = offered(browser(live))
    assert page.status == 503
    assert page.all("input", id="term")[0][1]["value"] == TERM
    assert page.all("div", role="alert")


def test_who_administers_stops_following_a_topic_for_everybody_and_its_papers_stay(corpus, team):
    mark(team, **as_("ann"))
    admin = as_("boss", "read admin")
    assert "Stop following" not in shown(team, **as_("ann", "read live sync")).source
    assert "Stop following topic" in shown(team, **admin).texts("button")
    refused = team.post("/topics/remove", data={"topic": "topic"}, headers=as_("ann", "read live sync"))
    assert (refused.status_code, corpus.checkpoints.all("topic") != []) == (403, True)
    page = Page(team.post("/topics/remove", data={"topic": "topic"}, headers=admin))
    assert (page.status, page.text("h2", id="topic-name")) == (200, HOSTILE)
    assert (corpus.news.read_to("topic", "ann"), corpus.documents.count()) == ("", 2)


def test_a_topic_that_is_being_synced_is_stopped_first(live):
    client = browser(live)
    follow(client, offered(client))
    with leased(lease_name("COVID-19"), 60, live):
        refused = Page(client.post("/topics/remove", data={"topic": "COVID-19"}))
    assert (refused.status, "still ending" in refused.text("div", role="alert")) == (503, True)
    assert live.jobs.newest("sync", 1)[0].state == "cancelled"
    assert "No topic is followed yet" in Page(client.post("/topics/remove", data={"topic": "COVID-19"})).source
    while work_once(live.continuations, TOOLS, live):
        pass
    assert (live.checkpoints.all(), live.documents.count()) == ([], 0)


def test_a_sync_that_runs_says_how_long_it_takes(look):
    page = look("/topics?topic=newborns")
    assert "100 of 400 papers read, about 15 minutes left" in page.texts("p")
