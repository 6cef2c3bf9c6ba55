"""Whoever listens hears what became of the corpus, whichever adapter tells it."""

from bio_mcp.literature.records import ChangeKind, CorpusChange


def news(kind, *pmids):
    return [CorpusChange(kind, str(pmid), 1) for pmid in pmids]


def test_each_piece_of_news_is_heard_by_kind_and_pmid(announcements, ports):
    announcements.publish([*news(ChangeKind.NEW, 1, 2), *news(ChangeKind.RETRACTED, 2), *news(ChangeKind.DELETED, 3)])
    announcements.publish(news(ChangeKind.CHANGED, 4))
    assert sorted(ports.heard()) == [("changed", "4"), ("deleted", "3"), ("new", "1"), ("new", "2"), ("retracted", "2")]


def test_many_at_once_are_all_heard_and_no_change_is_not_announced(announcements, ports):
    announcements.publish([])
    assert ports.heard() == []
    announcements.publish(news(ChangeKind.NEW, *range(1, 64)))
    assert {pmid for _, pmid in ports.heard()} == {str(pmid) for pmid in range(1, 64)}
