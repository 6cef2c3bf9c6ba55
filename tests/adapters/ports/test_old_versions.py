"""Papers as they were at an earlier version, of the port `Documents`."""

from datetime import date

import pytest

from bio_mcp.errors import NotFound
from bio_mcp.literature.records import Article, Document
from tests.support.cases import case
from tests.syncing.stored import gone


def paper(version, title, pmid="7"):
    return Document(Article(pmid, title=title), f"hash of {title}", version)


def titles(documents, *versions):
    return [documents.at_version("7", each).article.title for each in versions]


def test_a_replaced_version_can_still_be_read(documents):
    for each in (paper(1, "first"), paper(2, "second"), paper(3, "third")):
        documents.put([each])
    documents.mark_indexed({"7": 3})
    assert titles(documents, 1, 2, 3) == ["first", "second", "third"]
    assert documents.at_version("7", 2) == Document(Article("7", title="second"), "hash of second", 2)
    assert documents.at_version("7", 3).indexed_version == 0


def test_versions_of_equal_content_are_distinguished_by_their_revision(documents):
    for version in (1, 2, 3):
        article = Article("7", title="same", date_revised=date(2025, version, 1))
        documents.put([Document(article, "hash", version)])
    assert [documents.at_version("7", each).article.date_revised.month for each in (1, 2, 3)] == [1, 2, 3]


def test_a_version_that_never_was_and_one_of_a_paper_that_is_not_there_is_not_found(documents):
    documents.put([paper(1, "first")])
    documents.put([paper(2, "second")])
    for asked in (("7", 0), ("7", -1), ("7", 3), ("8", 1), ("", 1), ("007", 1), ("abc", 1), ("1.5", 1)):
        with case(asked), pytest.raises(NotFound):
            documents.at_version(*asked)


def test_a_late_older_version_changes_nothing(documents):
    documents.put([paper(3, "third")])
    documents.put([paper(2, "second")])
    documents.put([paper(3, "another third")])
    assert titles(documents, 3) == ["third"]


def test_a_deleted_paper_has_no_versions_even_when_it_comes_back(documents):
    documents.put([paper(1, "first")])
    documents.put([paper(2, "second")])
    documents.delete(gone("7"))
    with pytest.raises(NotFound):
        documents.at_version("7", 1)
    documents.put([paper(100, "back")])
    assert titles(documents, 100) == ["back"]


def test_the_last_five_that_were_replaced_are_stored(documents):
    for version in range(1, 9):
        documents.put([paper(version, f"title {version}")])
    assert titles(documents, 3, 7, 8) == ["title 3", "title 7", "title 8"]
    with pytest.raises(NotFound):
        documents.at_version("7", 2)


def test_other_papers_have_versions_of_their_own(documents):
    documents.put([paper(1, "first"), paper(1, "other", "70")])
    documents.put([paper(2, "second")])
    assert titles(documents, 1) == ["first"]
    assert documents.at_version("70", 1).article.title == "other"
