from datetime import UTC, datetime, timedelta

import pytest

from bio_mcp.literature.clock import sortable
from bio_mcp.literature.records import ChangeKind, CorpusChange
from bio_mcp.ports.state import Found, NewsEntry, going_on

CHANGED, RETRACTED, DELETED, NEW = ChangeKind.CHANGED, ChangeKind.RETRACTED, ChangeKind.DELETED, ChangeKind.NEW
LONG = 120  # seconds after which every adapter gives what was recorded


def change(pmid, version=2, kind=CHANGED):
    return CorpusChange(kind, pmid, version)


@pytest.fixture
def told(news, clock):
    """What a key is told after a while, the oldest first: (kind, PMID, version) of each entry."""

    def entries(query_key="k", after="", limit=100):
        clock.now += LONG
        return [(each.kind, each.pmid, each.version) for each in news.since(query_key, after, limit)]

    return entries


def test_papers_are_found_once_and_listed_by_number(news, told):
    assert (told("k"), list(news.pmids("k")), news.since("k", "", 5, newest_first=True)) == ([], [], [])
    news.find("k", [Found("30", 1), Found("4", 2)])
    news.find("k", [Found("4", 2), Found("100", 1)])
    assert list(news.pmids("k")) == ["4", "30", "100"]
    assert sorted(told()) == [(NEW, "100", 1), (NEW, "30", 1), (NEW, "4", 2)]


def test_more_papers_than_one_request_takes_are_all_found(news, told):
    pmids = [str(number) for number in range(1, 131)]
    news.find("k", [Found(each, 1) for each in pmids])
    assert list(news.pmids("k")) == pmids
    assert {pmid for _, pmid, _ in told(limit=200)} == set(pmids)


def test_a_change_is_reported_to_every_key_that_found_the_paper_and_to_no_other(news, told):
    for key, pmid in (("k", "1"), ("l", "1"), ("m", "2")):
        news.find(key, [Found(pmid, 1)])
    news.record([change("1")])
    assert [told(key)[1:] for key in "klm"] == [[(CHANGED, "1", 2)], [(CHANGED, "1", 2)], []]


def test_a_new_paper_of_the_corpus_is_news_only_where_a_query_finds_it(news, told):
    news.record([change("1", 1, NEW)])
    news.find("k", [Found("1", 1)])
    news.record([change("1", 1, NEW)])
    assert told() == [(NEW, "1", 1)]


def test_a_change_that_is_recorded_again_is_reported_once(news, told):
    news.find("k", [Found("1", 1)])
    for _ in range(2):
        news.record([change("1"), change("1", kind=RETRACTED)])
    news.record([change("1", 3)])
    assert sorted(told()[1:]) == [(CHANGED, "1", 2), (CHANGED, "1", 3), (RETRACTED, "1", 2)]


def test_news_are_reported_in_the_order_of_time_and_behind_a_position(news, clock):
    for pmid in ("9", "5", "7"):
        news.find("k", [Found(pmid, 1)])
        clock.now += 10
    clock.now += LONG
    entries = news.since("k", "", 2)
    assert [each.pmid for each in entries] == ["9", "5"]
    assert [each.pmid for each in news.since("k", entries[-1].position, 2)] == ["7"]
    assert news.since("k", news.since("k", "", 3)[-1].position, 2) == []
    assert [each.pmid for each in news.since("k", "", 2, newest_first=True)] == ["7", "5"]


def test_an_entry_has_the_time_at_which_it_was_recorded(news, clock, told):
    news.find("k", [Found("1", 1)])
    recorded = datetime.fromtimestamp(clock.now, UTC)
    assert told()
    [entry] = news.since("k", "", 1, newest_first=True)
    assert entry.at - recorded < timedelta(seconds=1)
    assert entry == NewsEntry(entry.at, NEW, "1", 1)


CAME = datetime(1969, 5, 6, 7, 8, tzinfo=UTC)


@pytest.mark.parametrize("first", [True, False], ids=["first sync", "later"])
def test_a_paper_with_a_time_of_its_own_is_reported_there_and_what_happens_to_it_later_is_not(news, told, first):
    news.find("k", [Found("1", 1, CAME), Found("2", 1, CAME)], first=first)
    news.record([change("1")])
    assert told() == [(NEW, "1", 1), (NEW, "2", 1), (CHANGED, "1", 2)]
    assert [each.at for each in news.since("k", "", 2)] == [CAME, CAME]


def test_after_the_first_sync_a_paper_with_a_time_of_its_own_comes_behind_what_was_given(news, clock):
    news.find("k", [Found("1", 1, CAME)], first=True)
    news.find("k", [Found("2", 1)])
    position = news.since("k", "", 10)[-1].position
    for _ in range(2):
        news.find("k", [Found("1", 1, CAME), Found("3", 1, CAME), Found("4", 1)])
    behind = [(each.pmid, each.at) for each in news.since("k", position, 10)]
    assert behind == [("3", CAME), ("4", datetime.fromtimestamp(clock.now, UTC))]
    assert [each.pmid for each in news.since("k", moment(clock.now), 10)] == ["2", "4"]


YEARS = 4 * 365 * 86_400


@pytest.mark.parametrize("off_s", [-1, -YEARS, YEARS])
def test_news_come_in_the_order_in_which_they_were_recorded_whatever_the_clocks_say(news, clock, off_s):
    news.find("k", [Found("1", 1), Found("2", 1)])
    first = clock.now
    position = news.since("k", "", 10)[-1].position
    clock.now += off_s
    news.record([change("1")])
    clock.now -= off_s
    clock.now += 1
    news.record([change("2")])
    behind = news.since("k", position, 10)
    assert [(each.pmid, each.at.timestamp()) for each in behind] == [("1", first + off_s), ("2", first + 1)]
    assert [each.pmid for each in news.since("k", behind[0].position, 10)] == ["2"]
    assert [each.pmid for each in news.since("k", "", 2, newest_first=True)] == ["2", "1"]


def test_a_key_that_was_forgotten_goes_on_behind_the_positions_that_it_gave(news):
    news.find("k", [Found("1", 1)])
    [before] = news.since("k", "", 10)
    news.forget("k")
    news.find("k", [Found("1", 1)])
    assert [each.pmid for each in news.since("k", before.position, 10)] == ["1"]


def moment(seconds):
    return sortable(datetime.fromtimestamp(seconds, UTC))


@pytest.mark.parametrize("limit", [1, 2, 10])
def test_what_is_asked_for_since_a_time_is_of_later_times_page_by_page(news, clock, limit):
    news.find("k", [Found("1", 1), Found("2", 1)])
    clock.now += 10
    since = moment(clock.now)
    news.record([change("1")])
    came = [datetime.fromtimestamp(clock.now + days * 86_400, UTC) for days in (-2, 20)]
    news.find("k", [Found("3", 1, came[0]), Found("4", 1, came[1])], first=True)
    after, told = since, []
    while entries := news.since("k", after, limit):
        told += [(each.kind, each.pmid) for each in entries]
        after = going_on(after, entries[-1])
    assert told == [(NEW, "4"), (CHANGED, "1")]


def test_entries_of_before_they_were_numbered_come_first_also_those_of_a_clock_that_was_ahead(ports, news, clock):
    news.find("k", [Found("1", 1)])
    old = NewsEntry(datetime(2040, 1, 1, tzinfo=UTC), CHANGED, "1", 2)
    ports.put_news("k", old.position)
    news.record([change("1", 3)])
    assert [each.version for each in news.since("k", old.position, 10)] == [1, 3]
    assert news.since("k", "", 1) == [old]


def test_a_deleted_paper_is_reported_and_is_of_no_key_any_more(news, clock, told):
    news.find("k", [Found("1", 1), Found("2", 1)])
    clock.now += 1
    for _ in range(2):
        news.record([change("1", 1, DELETED)])
    assert list(news.pmids("k")) == ["2"]
    assert told()[2:] == [(DELETED, "1", 1)]
    news.record([change("1")])
    assert told()[2:] == [(DELETED, "1", 1)]


def test_a_deleted_paper_that_comes_back_is_new_again(news, clock, told):
    news.find("k", [Found("1", 1)])
    clock.now += 1
    news.record([change("1", 1, DELETED)])
    clock.now += 1
    news.find("k", [Found("1", 2)])
    assert told() == [(NEW, "1", 1), (DELETED, "1", 1), (NEW, "1", 2)]


def test_a_key_whose_papers_are_all_known_is_noted_and_forgotten_and_no_other_with_it(news, told):
    for key in ("k", "kk"):
        assert not news.is_whole(key)
        news.find(key, [Found("1", 1)])
        news.set_whole(key)
        assert news.is_whole(key)
    for _ in range(2):
        news.forget("k")
    assert (told("k"), list(news.pmids("k")), news.is_whole("k")) == ([], [], False)
    assert (told("kk"), list(news.pmids("kk")), news.is_whole("kk")) == ([(NEW, "1", 1)], ["1"], True)
    news.record([change("1")])
    assert (told("k"), told("kk")[1:]) == ([], [(CHANGED, "1", 2)])


@pytest.mark.parametrize("query_key", ["a b", "found k", "é/..#", "k" * 200])
def test_a_key_is_any_text(news, told, query_key):
    news.find(query_key, [Found("1", 1)])
    assert told(query_key) == [(NEW, "1", 1)]
    assert told("k") == []


def test_what_a_reader_has_read_only_grows_and_is_nobody_elses(news):
    first, second = "2026-01-01T00:00:00.000000+00:00 0000000001 000001 new", "n000000000001 2020 0000000002 000001 new"
    assert news.read_to("k", "ann") == ""
    for _ in range(2):
        news.mark_read("k", "ann", second)
        news.mark_read("k", "ann", first)
    assert [news.read_to(*each) for each in (("k", "ann"), ("k", "ben"), ("l", "ann"), ("k", ""))] == [
        second,
        "",
        "",
        "",
    ]
    news.mark_read("k", "", first)
    assert news.read_to("k", "") == first


def test_of_a_key_that_is_forgotten_nothing_was_read(news):
    for key in "kl":
        news.mark_read(key, "ann", "2026")
    news.forget("k")
    assert (news.read_to("k", "ann"), news.read_to("l", "ann")) == ("", "2026")
