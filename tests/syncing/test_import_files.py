"""Importing files and folders, with workers and without, whole and stopped anywhere."""

import random
from concurrent.futures import Future
from dataclasses import asdict
from datetime import timedelta

import pytest

from bio_mcp.errors import EmbeddingFailed, StoreFailed
from bio_mcp.literature.medline import OddRecord, open_records
from bio_mcp.literature.records import Document
from bio_mcp.syncing.importing import import_files, pieces
from bio_mcp.syncing.indexing import entries_of
from bio_mcp.syncing.pubmed_files import listed
from tests.support.corpus import Corpus, Over
from tests.support.hashed_words import HashedWords
from tests.support.hooked import Hooked, at, beyond, raising
from tests.syncing.medline_files import content, record, write


class Inline:
    """The port `Workers` in this process. `refused` are PMIDs that cannot be embedded."""

    count, died = 2, 0

    @property
    def fingerprint(self):
        return self.model.fingerprint

    def __init__(self, model, refused=()):
        self.model, self.refused, self.asked = model, set(refused), []

    def prepare(self, articles, known):
        self.asked.append([article.pmid for article in articles])
        future = Future()
        entries = entries_of([Document(each, "") for each in articles], known, self.model)
        future.set_result([OddRecord("Odd.") if each.pmid in self.refused else each for each in entries])
        return future


class Failing(Inline):
    """Workers whose model is out of order."""

    def prepare(self, _articles, _known):
        future = Future()
        future.set_exception(EmbeddingFailed("the model is out of order"))
        return future


@pytest.fixture
def corpus(tmp_path):
    with Corpus(tmp_path / "home") as made:
        yield made


def state(corpus):
    """All that is stored and found of each paper."""
    documents = corpus.documents.get_many(list(corpus.documents.pmids()))
    chunks = corpus.passages.chunks(list(documents))
    return {pmid: (asdict(each), [asdict(chunk) for chunk in chunks[pmid]]) for pmid, each in documents.items()}


def counts(report):
    return report.read, report.inserted, report.updated, report.skipped, report.deleted


def papers(first, last, **given):
    return [record(pmid, **given) for pmid in range(first, last)]


def test_workers_leave_the_corpus_that_one_process_leaves(tmp_path, corpus):
    write(tmp_path / "in", 1, papers(1, 90))
    write(tmp_path / "in", 2, [*papers(80, 120, text="New. Words."), record(5, "Later.", version=2)], deleted=[7, 999])
    write(tmp_path / "in", 3, [record(7, "Back again."), record(5, "Earlier."), record(6, "A. B."), record(6, "C. D.")])
    files = listed([tmp_path / "in"])
    reports = import_files(files, corpus, workers=Inline(corpus.model))
    with Corpus(tmp_path / "alone") as alone:
        assert [counts(each) for each in import_files(files, alone)] == list(map(counts, reports))
        assert state(corpus) == state(alone)
        assert corpus.heard.all == alone.heard.all


def test_what_the_workers_made_is_not_embedded_again(tmp_path, corpus):
    write(tmp_path, 1, papers(1, 90))
    workers = Inline(Corpus(tmp_path / "another").model)
    import_files(listed([tmp_path]), corpus, workers=workers)
    assert workers.model.embedded > 0
    assert corpus.model.embedded == 0
    assert [len(each) for each in workers.asked] == [32, 32, 25]


def test_workers_are_given_only_what_changed(tmp_path, corpus):
    import_files(listed([write(tmp_path, 1, papers(1, 40))]), corpus)
    workers = Inline(Corpus(tmp_path / "another").model)
    again = [*papers(1, 20), *papers(20, 23, text="It was treated. It got worse. It died. It was buried.")]
    import_files(listed([write(tmp_path, 2, again)]), corpus, workers=workers)
    assert workers.asked == [["20", "21", "22"]]
    assert workers.model.embedded == 6


def test_a_known_vector_that_went_missing_is_made_by_the_process_that_writes(tmp_path, corpus):
    import_files(listed([write(tmp_path, 1, papers(1, 4))]), corpus)

    class Forgetful(Inline):
        def prepare(self, articles, known):
            future = super().prepare(articles, known)
            corpus.passages.delete(["2"])
            return future

    changed = papers(1, 4, text="It was treated. It got well.", title="Heart failure.", version=2)
    [report] = import_files(listed([write(tmp_path, 2, changed)]), corpus, workers=Forgetful(corpus.model))
    assert counts(report) == (3, 0, 3, 0, 0)
    assert len(corpus.passages.chunks(["2"])["2"]) == 1


def test_an_index_of_another_model_than_the_workers_gets_vectors_of_its_own(tmp_path, corpus):
    articles = list(open_records(write(tmp_path, 1, papers(1, 4))))
    [piece] = pieces(articles, corpus, Inline(HashedWords()))
    corpus.model.fingerprint = "another"
    corpus.passages.ensure_schema("another", corpus.model.dim)
    entries = piece.embedded([Document(each, "", 2) for each in articles], corpus.model, corpus.passages)
    assert corpus.model.embedded == 3
    assert [(entry.pmid, entry.version, len(entry.vectors)) for entry in entries] == [
        ("1", 2, 1),
        ("2", 2, 1),
        ("3", 2, 1),
    ]


def test_a_paper_that_cannot_be_embedded_is_left_out_and_reported(tmp_path, corpus):
    write(tmp_path, 1, papers(1, 5))
    [report] = import_files(listed([tmp_path]), corpus, workers=Inline(corpus.model, refused=["3"]))
    assert (counts(report), report.odd, report.reasons) == ((3, 3, 0, 0, 0), 1, ["Odd."])
    assert sorted(state(corpus)) == ["1", "2", "4"]


def test_workers_that_all_fail_end_the_import(tmp_path, corpus):
    write(tmp_path, 1, papers(1, 5))
    with pytest.raises(EmbeddingFailed, match="out of order"):
        import_files(listed([tmp_path]), corpus, workers=Failing(corpus.model))
    assert state(corpus) == {}


def test_files_that_were_finished_are_not_read_again(tmp_path, corpus):
    folder = tmp_path / "in"
    write(folder, 1, papers(1, 5))
    write(folder, 2, papers(5, 9), deleted=[1])
    first = import_files(listed([folder]), corpus)
    second = import_files(listed([folder]), corpus)
    assert [each.finished_before for each in [*first, *second]] == [False, False, True, True]
    assert list(map(counts, first)) == list(map(counts, second))
    [named] = import_files(listed([folder / "pubmed26n0002.xml.gz"]), corpus)
    assert (named.finished_before, counts(named)) == (False, (5, 0, 0, 4, 0))


def test_a_finished_file_is_known_by_its_size_and_its_time_or_its_bytes(tmp_path, corpus):
    path = write(tmp_path, 1, papers(1, 5))
    import_files(listed([tmp_path]), corpus)
    write(tmp_path, 1, papers(1, 5))
    [touched] = import_files(listed([tmp_path]), corpus)
    assert touched.finished_before
    path.write_bytes(content(papers(1, 6)))
    path.with_name(f"{path.name}.md5").unlink()
    [other] = import_files(listed([tmp_path]), corpus)
    assert counts(other) == (5, 1, 0, 4, 0)


def test_from_the_first_file_that_is_read_on_all_are_read_so_that_deletions_hold(tmp_path, corpus):
    baseline, updates = tmp_path / "baseline", tmp_path / "updatefiles"
    write(baseline, 1, papers(1, 5))
    write(updates, 2, papers(5, 7), deleted=[1])
    import_files(listed([updates]), corpus)
    import_files(listed([baseline]), corpus)
    assert "1" not in state(corpus)
    reports = import_files(listed([baseline, updates]), corpus)
    assert [each.finished_before for each in reports] == [True, False]
    assert sorted(state(corpus)) == ["2", "3", "4", "5", "6"]


class WithClock(Over):
    """A corpus whose clock is `days` ahead."""

    def __init__(self, corpus, days):
        super().__init__(corpus, now=lambda: corpus.now() + timedelta(days=days))


def test_files_finished_while_the_clock_was_wrong_count_as_before_the_later_ones(tmp_path, corpus):
    write(tmp_path, 1, papers(1, 5))
    import_files(listed([tmp_path]), WithClock(corpus, 400))
    write(tmp_path, 2, papers(5, 7), deleted=[1])
    for expected in ([True, False], [True, True]):
        reports = import_files(listed([tmp_path]), corpus)
        assert [each.finished_before for each in reports] == expected


def test_a_file_read_again_by_a_clock_that_is_behind_is_still_later_than_those_that_follow_it(tmp_path, corpus):
    first = write(tmp_path, 1, papers(1, 5))
    write(tmp_path, 2, papers(5, 7), deleted=[1])
    import_files(listed([tmp_path]), corpus)
    import_files(listed([first]), WithClock(corpus, -400))
    assert "1" not in state(corpus)
    assert [each.finished_before for each in import_files(listed([tmp_path]), corpus)] == [True, False]
    assert "1" not in state(corpus)


def test_a_finished_file_that_is_read_again_and_stopped_half_way_is_not_finished(tmp_path, corpus):
    first = write(tmp_path, 1, papers(1, 5))
    write(tmp_path, 2, papers(5, 7), deleted=[1])
    import_files(listed([tmp_path]), corpus)

    with pytest.raises(StoreFailed):
        import_files(listed([first]), corpus, raising(StoreFailed, "stopped"))
    assert not corpus.documents.get_many(["1"])
    assert [each.finished_before for each in import_files(listed([tmp_path]), corpus)] == [False, False]
    assert "1" not in state(corpus)


def test_a_file_with_a_wrong_md5_is_not_read_and_is_tried_again(tmp_path, corpus):
    write(tmp_path, 1, papers(1, 5), md5_of=b"of another file")
    write(tmp_path, 2, papers(5, 9))
    broken, whole = import_files(listed([tmp_path]), corpus)
    assert (broken.read, whole.read) == (0, 4)
    assert broken.problem.startswith("Its MD5 is not the one in pubmed26n0001.xml.gz.md5")
    write(tmp_path, 1, papers(1, 5))
    assert [counts(each) for each in import_files(listed([tmp_path]), corpus)] == [(4, 4, 0, 0, 0), (4, 0, 0, 4, 0)]


def test_a_file_that_is_still_being_written_is_not_finished(tmp_path, corpus):
    path = write(tmp_path, 1, papers(1, 5))

    def lengthen(_done, _total, _note):
        path.write_bytes(content(papers(1, 6)))

    import_files(listed([tmp_path]), corpus, lengthen)
    path.with_name(f"{path.name}.md5").unlink()
    assert counts(import_files(listed([tmp_path]), corpus)[0]) == (5, 1, 0, 4, 0)


@pytest.mark.parametrize("seed", range(2))
def test_an_import_stopped_anywhere_and_repeated_leaves_what_one_run_leaves(tmp_path, seed):
    chance = random.Random(seed)  # noqa: S311  repeatable, and no secret
    for number in range(1, 4):
        pmids = chance.sample(range(1, 60), 40)
        texts = chance.choices(["One. Two.", "Three. Four.", "Five."], k=40)
        records = [record(pmid, text, version=number) for pmid, text in zip(pmids, texts, strict=True)]
        write(tmp_path / "in", number, records, deleted=chance.sample(range(1, 60), 6))
    files = listed([tmp_path / "in"])
    with Corpus(tmp_path / "whole") as whole, Corpus(tmp_path / "stopped") as stopped:
        import_files(files, whole)
        stops = 0
        for _ in range(5):
            stop = at(beyond(chance.randrange(9)), raising(StoreFailed, "stopped"))
            documents = Hooked(stopped.documents, "put", "mark_indexed", "delete", before=stop)
            over = Over(stopped, documents=documents)
            try:
                import_files(files, over, workers=Inline(stopped.model))
            except StoreFailed:
                stops += 1
        assert stops
        import_files(files, stopped, workers=Inline(stopped.model))
        versions = {pmid: document["article"]["pmid_version"] for pmid, (document, _) in state(whole).items()}
        assert {pmid: each[0]["article"]["pmid_version"] for pmid, each in state(stopped).items()} == versions
        assert {pmid: each[1] for pmid, each in state(stopped).items()} == {
            pmid: each[1] for pmid, each in state(whole).items()
        }
