"""Writers that meet: whatever comes late, or twice, or half, the corpus is what the newest of it says."""

from datetime import date
from itertools import permutations

import pytest

from bio_mcp.literature.records import Deletion
from bio_mcp.ports.models import Role
from bio_mcp.syncing.applying import Origin, apply_records
from bio_mcp.syncing.importing import import_files
from bio_mcp.syncing.pubmed_files import listed
from bio_mcp.syncing.reindexing import begin, fill, of_role, switch
from tests.support.corpus import Corpus, HashedWords, Over
from tests.support.hooked import Hooked, at
from tests.support.memory_corpus import article
from tests.syncing.medline_files import content, record, write

OLD, NEW, NEWEST = date(2010, 1, 1), date(2021, 1, 1), date(2022, 1, 1)


@pytest.fixture
def corpus(tmp_path):
    with Corpus(tmp_path / "home") as made:
        yield made


def stored(corpus):
    """PMID -> title of each paper, every passage of which is its own, in every index."""
    documents = corpus.documents.get_many(list(corpus.documents.pmids()))
    heads = corpus.documents.heads(list(documents))
    for each in corpus.indexes.all():
        assert dict(each.passages.versions()) == {pmid: head.version for pmid, head in heads.items()}
    for pmid, chunks in corpus.passages.chunks(list(documents)).items():
        assert [each.text for each in chunks if each.section == "title"] in ([], [documents[pmid].article.title])
    assert corpus.documents.count() == corpus.passages.count()[0] == len(documents)
    return {pmid: each.article.title for pmid, each in documents.items()}


STOPS = [("documents", "standing"), ("documents", "put"), ("passages", "upsert_chunks"), ("documents", "mark_indexed")]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("port", "method"), STOPS)
def test_an_import_that_stood_still_while_another_deleted_papers_leaves_nothing_of_them(
    corpus, tmp_path, port, method, when
):
    folder = tmp_path / "in"
    first = write(folder, 1, [record(pmid) for pmid in range(1, 31)])
    write(folder, 2, [record(3, "Revised.", title="Revised."), record(31)])
    write(folder, 3, [record(32)], deleted=range(5, 25))

    def other():
        import_files(listed([folder]), corpus)

    stopped = Hooked(getattr(corpus, port), method, **{when: at([1], other)})
    import_files(listed([first]), Over(corpus, **{port: stopped}))
    assert sorted(stored(corpus), key=int) == [str(pmid) for pmid in (*range(1, 5), *range(25, 33))]
    import_files(listed([folder]), corpus)
    assert len(stored(corpus)) == 12


@pytest.mark.parametrize("order", [(1, 2, 3), (2, 1, 3), (2, 3, 1)])
def test_what_a_file_deletes_stays_deleted_when_an_earlier_one_is_read_after_it_and_comes_back_by_a_later_one(
    corpus, tmp_path, order
):
    files = {
        1: write(tmp_path, 1, [record(1), record(2), record(3)]),
        2: write(tmp_path, 2, [record(4)], deleted=[1, 2]),
        3: write(tmp_path, 3, [record(2, title="Back.")]),
    }
    for number in order:
        import_files(listed([files[number]]), corpus)
    assert sorted(stored(corpus)) == ["2", "3", "4"]
    if order.index(1) < order.index(3):
        assert stored(corpus)["2"] == "Back."


def test_a_deletion_that_is_read_once_more_leaves_what_a_later_file_brought_back(corpus, tmp_path):
    write(tmp_path, 1, [record(1), record(2)])
    second = write(tmp_path, 2, [record(3)], deleted=[1, 2])
    write(tmp_path, 3, [record(2, title="Back.")])
    import_files(listed([tmp_path]), corpus)
    [report] = import_files(listed([second]), corpus)
    assert report.deleted == 0
    assert sorted(stored(corpus)) == ["2", "3"]


@pytest.mark.parametrize("back", ["First.", "Back."])
@pytest.mark.parametrize("order", [(1, 3, 2), (3, 1, 2), (3, 2, 1), (2, 3, 1), (2, 1, 3), (1, 2, 3)])
def test_a_file_that_is_read_alone_after_a_later_one_had_the_paper_deletes_what_only_earlier_ones_had(
    corpus, tmp_path, order, back
):
    files = {
        1: write(tmp_path, 1, [record(pmid, title="First.") for pmid in (1, 2, 3)]),
        2: write(tmp_path, 2, [record(4)], deleted=[1, 2]),
        3: write(tmp_path, 3, [record(2, title=back)]),
    }
    for number in order:
        import_files(listed([files[number]]), corpus)
    assert stored(corpus) == {"2": back, "3": "First.", "4": "Heart failure."}


REVISIONS = [article("1", "Newer.", date_revised=NEW), article("1", "Older.", date_revised=OLD)]


@pytest.mark.parametrize("revisions", [REVISIONS, REVISIONS[::-1]])
@pytest.mark.parametrize("batches", [1, 2])
def test_of_two_revisions_the_newer_stands_in_one_batch_and_in_two(corpus, revisions, batches):
    for batch in [revisions] if batches == 1 else [[each] for each in revisions]:
        apply_records(batch, corpus)
    assert stored(corpus) == {"1": "Newer."}


VERSIONS = [
    ([1], 1, []), ([2], 1, [2]), ([2], 2, []), ([1], 2, []), ([2], None, []), ([1, 2], 1, [2])
]  # fmt: skip


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize(("versions", "deleted", "left"), VERSIONS)
def test_a_deletion_deletes_its_version_and_older_ones_alone(corpus, versions, deleted, left, together):
    papers = [article("1", f"Version {each}.", pmid_version=each) for each in versions]
    for records in permutations([*papers, Deletion("1", deleted)]) if together else [[*papers, Deletion("1", deleted)]]:
        if together and deleted is None:
            continue
        for batch in [records] if together else [[each] for each in records]:
            apply_records(batch, corpus)
        assert sorted(stored(corpus).values()) == [f"Version {each}." for each in left]


DATED = [("Newer.", 2021), ("Older.", 2010)]
REVISED = "</PMID><DateRevised><Year>{}</Year><Month>1</Month><Day>1</Day></DateRevised>"


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("files", [1, 2])
def test_versions_and_revisions_are_told_apart_as_files_write_them(corpus, tmp_path, turned, files):
    two = [record(1, title=title).replace("</PMID>", REVISED.format(year)) for title, year in DATED]
    parts = [two[::-1] if turned else two] if files == 1 else [[each] for each in (two[::-1] if turned else two)]
    for number, part in enumerate(parts, 1):
        write(tmp_path, number, [*part, record(2, version=2), record(3)])
    last = tmp_path / "pubmed26n0009.xml"
    last.write_bytes(content([], [2, 3]).replace(b"<DeleteCitation><PMID>", b'<DeleteCitation><PMID Version="1">'))
    import_files(listed([tmp_path]), corpus)
    assert stored(corpus) == {"1": "Newer.", "2": "Heart failure."}


def test_a_version_that_was_deleted_does_not_come_back_from_a_file_read_late_and_a_newer_one_does(corpus):
    apply_records([article("1", "One.", date_revised=NEW), article("2", "Two.", date_revised=NEW)], corpus)
    apply_records([Deletion("1", 1), Deletion("2", 1), Deletion("3", 1)], corpus)
    late = [article(pmid, "Late.", date_revised=NEW) for pmid in ("1", "2", "3")]
    assert {str(each) for each in apply_records(late, corpus).changes.values()} == {"skipped"}
    assert stored(corpus) == {}
    apply_records(
        [
            article("1", "Revised since.", date_revised=NEWEST),
            article("2", "Second.", pmid_version=2),
            article("3", "Late.", date_revised=NEW),
        ],
        corpus,
    )
    assert stored(corpus) == {"1": "Revised since.", "2": "Second."}
    assert {head.version for head in corpus.documents.heads(["1", "2"]).values()} == {2}


def test_what_pubmed_gives_after_a_deletion_is_back_and_what_it_gave_before_is_not(corpus):
    paper = article("1", "One.", date_revised=OLD)
    apply_records([paper], corpus)
    before = Origin(since=corpus.documents.deletions())
    apply_records([Deletion("1")], corpus)
    apply_records([paper], corpus, origin=before)
    assert stored(corpus) == {}
    apply_records([paper], corpus, origin=Origin(since=corpus.documents.deletions()))
    assert stored(corpus) == {"1": "One."}


@pytest.mark.parametrize("method", ["passages.delete", "documents.delete"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_deletion_that_a_revision_comes_between_leaves_a_whole_corpus(corpus, method, when):
    apply_records([article("1", "One.", date_revised=OLD), article("2", "Two.")], corpus)
    port, name = method.split(".")

    def revised():
        apply_records([article("1", "Second.", pmid_version=2), article("2", "Changed.")], corpus)

    deleting = Hooked(getattr(corpus, port), name, **{when: at([1], revised)})
    apply_records([Deletion("1", 1), Deletion("2", 1)], Over(corpus, **{port: deleting}))
    assert stored(corpus).get("1") == "Second."
    apply_records([Deletion("2", 1)], corpus)
    assert stored(corpus) == {"1": "Second."}


def test_two_writers_of_one_version_leave_the_passages_of_the_one_that_is_stored(corpus):
    apply_records([article("1", "First.", date_revised=OLD)], corpus)
    newest = article("1", "Newest.", "Words of the newest.", date_revised=NEWEST)
    stopped = Hooked(corpus.documents, "put", before=at([1], lambda: apply_records([newest], corpus)))
    later = article("1", "Newer.", "Words of the newer.", date_revised=NEW)
    apply_records([later], Over(corpus, documents=stopped))
    assert stored(corpus) == {"1": "Newest."}
    [[chunk, *_]] = corpus.passages.chunks(["1"]).values()
    assert "newest" in chunk.text


@pytest.mark.parametrize("stop", ["before", "after"])
def test_an_index_that_was_begun_after_a_deletion_refuses_what_a_writer_still_has_in_hand(corpus, stop):
    apply_records([article(str(pmid)) for pmid in range(1, 5)], corpus)
    other = HashedWords()
    other.fingerprint = "another"
    corpus.other_models.append(other)

    def meanwhile():
        apply_records([Deletion("9")], corpus)
        begin(other, corpus)
        fill(of_role(Role.NEXT, corpus), corpus)

    late = Hooked(corpus.documents, "put", **{stop: at([1], meanwhile)})
    apply_records([article("9"), article("8")], Over(corpus, documents=late))
    switch(Role.NEXT, corpus)
    assert sorted(stored(corpus)) == ["1", "2", "3", "4", "8"]
