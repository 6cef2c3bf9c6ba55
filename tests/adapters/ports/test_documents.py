from datetime import UTC, date, datetime

import pytest

from bio_mcp.errors import InvalidInput, NotFound
from bio_mcp.literature.records import AbstractSection, Article, Document, Head, Tombstone
from bio_mcp.ports.stores import StoredDay
from tests.support.cases import case
from tests.syncing.stored import gone


def document(pmid, version=1, text="Aspirin – 5 µg/m² in TNF-α", **fields):
    article = Article(
        pmid, title=text, abstract=(AbstractSection("AIM", None, "𝛽-cells"),), date_revised=date(2024, 2, 29)
    )
    return Document(article, f"hash{version}", version, **fields)


def test_what_was_put_comes_back_equal(documents):
    documents.put([document("12", indexed_version=1)])
    assert documents.get("12") == document("12", indexed_version=1)


def test_what_is_unknown_or_no_pmid_is_not_found(documents):
    documents.put([document("7"), document("1")])
    for text in ("99", "abc", "", "007", "-1", "1.5", "१२", "9" * 30):
        with case(text):
            assert (documents.get_many([text]), documents.heads([text]), documents.delete(gone(text))) == (
                {},
                {},
                set(),
            )
            with pytest.raises(NotFound, match=f"PMID {text}"):
                documents.get(text)


def test_what_is_no_pmid_cannot_be_put_and_nothing_of_its_batch_is(documents):
    with pytest.raises(InvalidInput, match="'abc'"):
        documents.put([document("1"), document("abc")])
    assert documents.count() == 0


def test_more_pmids_than_a_request_or_a_statement_takes(documents, ports):
    documents.put([document(str(n)) for n in range(1, 111)])
    assert documents.get_many([str(n) for n in range(1, ports.many)]).keys() == {str(n) for n in range(1, 111)}


def test_heads_say_what_decides_on_news(documents):
    documents.put([document("5", 3)])
    assert documents.heads(["5", "6"]) == {"5": Head("hash3", 3, 0, 1, date(2024, 2, 29))}


@pytest.mark.parametrize(("version", "title"), [(1, "stored"), (2, "stored"), (3, "late")])
def test_a_newer_version_replaces_and_an_equal_or_older_one_does_not(documents, version, title):
    documents.put([document("5", 2, "stored")])
    documents.put([document("5", version, "late")])
    assert documents.get("5").article.title == title
    assert documents.count() == 1


def test_a_mark_never_goes_down_and_a_new_version_keeps_it(documents):
    documents.put([document("5", 3)])
    documents.mark_indexed({"5": 3, "6": 1})
    documents.mark_indexed({"5": 2})
    assert documents.heads(["5", "6"])["5"].indexed_version == 3
    assert documents.count() == 1
    documents.put([document("5", 4)])
    assert documents.get("5").indexed_version == 3


def test_what_was_deleted_can_come_back_in_a_newer_version(documents):
    documents.put([document("1", 4), document("2")])
    assert documents.delete(gone("1", "2", "3", version=4)) == set()
    documents.mark_indexed({"1": 4})
    with pytest.raises(NotFound):
        documents.get("1")
    assert documents.count() == 0
    assert documents.put([document("1", 4), document("3", 1)]) == {"1", "3"}
    assert (documents.count(), list(documents.pmids())) == (0, [])
    assert documents.put([document("1", 5)]) == set()
    assert (documents.get("1").version, documents.count()) == (5, 1)
    assert dict(documents.tombstones()) == {"2": 4, "3": 4}


def test_a_deletion_of_an_older_version_than_the_stored_one_changes_nothing(documents):
    documents.put([document("1", 3), document("2", 3)])
    assert documents.delete({"1": Tombstone(2), "2": Tombstone(3)}) == {"1"}
    assert (list(documents.pmids()), documents.count()) == (["1"], 1)
    assert documents.standing(["1", "2"])[1].keys() == {"2"}
    assert [documents.at_version("1", 3).version] == [3]


def test_a_tombstone_says_what_was_deleted_and_when_in_order(documents):
    assert documents.deletions() == 0
    documents.put([document("1")])
    documents.delete({"1": Tombstone(1, 2, date(2024, 2, 29))})
    first = documents.deletions()
    documents.delete({"2": Tombstone(1, 1)})
    heads, left = documents.standing(["1", "2", "3"])
    assert (heads, left) == ({}, {"1": Tombstone(1, 2, date(2024, 2, 29)), "2": Tombstone()})
    assert 0 < left["1"].number == first < left["2"].number == documents.deletions()
    documents.put([document("2", 2)])
    heads, left = documents.standing(["1", "2"])
    assert (heads.keys(), left.keys()) == ({"2"}, {"1"})


def test_the_last_file_that_gave_a_paper_is_noted_and_never_an_earlier_one(documents):
    documents.put([document("1", given=26_000_002), document("2"), document("3")])
    documents.delete(gone("3"))
    for place in (26_000_003, 26_000_001):
        documents.mark_given(["1", "2", "3", "9", "abc"], place)
    assert [head.given for head in documents.heads(["1", "2"]).values()] == [26_000_003] * 2
    assert documents.standing(["3", "9"])[0] == {}
    documents.put([document("1", 2, given=26_000_004)])
    assert documents.heads(["1"])["1"].given == 26_000_004


def test_of_two_documents_of_one_version_the_second_is_refused(documents):
    assert documents.put([document("1", 2), document("2", 2)]) == set()
    other = document("1", 2, "Another.")
    other.content_hash = "another"
    assert documents.put([other, document("2", 2), document("3")]) == {"1"}
    assert documents.put([document("2", 1)]) == {"2"}
    assert documents.get("1") == document("1", 2)


def test_nothing_asked_is_nothing_given(documents):
    documents.put([])
    documents.mark_indexed({})
    assert (documents.get_many([]), documents.heads([]), documents.delete({})) == ({}, {}, set())


def test_every_pmid_is_listed_once(documents, ports):
    count = min(ports.many // 8, 2_300)
    documents.put([document(str(n)) for n in range(1, count + 1)])
    documents.delete(gone("7"))
    listed = list(documents.pmids())
    assert (len(listed), set(listed)) == (count - 1, {str(n) for n in range(1, count + 1)} - {"7"})


def test_each_day_has_how_many_papers_were_added_and_how_many_revised(documents, clock):
    first = datetime.fromtimestamp(clock.now, UTC).date()
    documents.put([document("1"), document("2"), document("1", 2)])
    documents.put([document("1", 2)])  # nothing new
    clock.now += 86_400
    documents.put([document("1", 3), document("3")])
    assert documents.stored_by_day(2)[1:] == [StoredDay(date.fromordinal(first.toordinal() + 1), 1, 1)]
    assert documents.stored_by_day(2)[0].added == 2
    clock.now += 2 * 86_400
    assert [each.day.toordinal() - first.toordinal() for each in documents.stored_by_day(3)] == [1]
    assert documents.stored_by_day(2) == []
    assert set(documents.pmids()) == {"1", "2", "3"}
    assert documents.count() == 3
