"""The indexes of papers in S3 while the model is changed, as processes see it that search and write meanwhile.

`tests/all/test_published_reembedding.py` asks of them what every engine promises.
"""

from collections import Counter
from itertools import islice

import pytest

from bio_mcp.adapters.aws.s3_indexes import OBJECT, IndexNames
from bio_mcp.answering.search import Question, search_papers
from bio_mcp.errors import IndexUnavailable, NotFound
from bio_mcp.health import OK
from bio_mcp.literature.records import Deletion
from bio_mcp.ports.models import Role
from bio_mcp.retrieval.passages import PassageQuery
from bio_mcp.scope import one_index
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.indexing import searched_index, write_passages
from bio_mcp.syncing.reindexing import begin, fill, reindex, switch
from tests.adapters.aws.dying import Killed, killed_after
from tests.adapters.clocks import Clock
from tests.doors.command_line import sample
from tests.support.aws_ports import client
from tests.support.corpus import HashedWords
from tests.support.hooked import Hooked, raising
from tests.support.published import PublishedCorpus
from tests.support.reembedding import missing, nearness, revised

OLD, NEW = HashedWords(), HashedWords("-2")


@pytest.fixture
def process(tmp_path, s3, closed):

    def another(*models, s3=s3, **options):
        made = closed(PublishedCorpus(tmp_path, s3, **options))
        made.model, made.other_models = models[0], list(models[1:])
        return made

    return another


@pytest.fixture
def papers():
    return list(islice(sample(), 8))


@pytest.fixture
def operator(process, papers):
    """Who changes the model: it has imported the papers with the old one."""
    made = process(OLD, NEW)
    apply_records(papers, made)
    made.model, made.other_models = NEW, [OLD]
    return made


def found(corpus):
    """The number of papers that a search finds, the model by which it does, and how near a paper is to its own text."""
    with one_index():
        model = corpus.embeddings
        hits = corpus.passages.hybrid_search(PassageQuery((), model.embed(["heart"])[0]))
        return len(hits), model, round(nearness(corpus, hits[0].pmid), 2)


def folders(s3):
    listed = s3.list_objects_v2(Bucket="bucket", Prefix="index/").get("Contents", [])
    return {each["Key"].split("/")[1] for each in listed}


STEPS = 8  # writes to the bucket that a reindex takes


@pytest.mark.parametrize("step", range(STEPS + 1))
def test_a_reindex_killed_before_any_write_to_the_bucket_loses_nothing(operator, process, papers, s3, step):
    dying = process(NEW, OLD, s3=killed_after(s3, step, "put_object", "delete_objects"))
    try:
        reindex(dying)
        assert step == STEPS
    except Killed:
        searching = process(OLD, NEW)
        assert found(searching)[::2] == (len(papers), 1)
        apply_records([revised(papers[0], step), Deletion(papers[1].pmid)], searching)
    reindex(operator)
    apply_records([Deletion(papers[1].pmid)], operator)
    assert {missing(operator, each) == set() for each in operator.indexes.all()} == {True}
    operator.indexes.remove()  # a kill after the switch leaves the way back
    assert found(process(NEW)) == (len(papers) - 1, NEW, 1)


def test_until_it_looks_again_a_process_searches_its_copy_of_the_old_index_even_once_that_is_removed(operator, process):
    clock = Clock(1_000.0)
    searching = process(OLD, NEW, refresh_s=10, clock=clock)
    before = found(searching)
    assert before == (8, OLD, 1)
    clock.now += 5
    assert reindex(operator)
    assert found(searching) == before
    clock.now += 5
    assert found(searching) == (8, NEW, 1)
    assert [each.name[:7] for each in searching.copies.iterdir() if each.is_dir()] == ["corpus-"]


def test_a_process_that_has_the_name_and_no_copy_of_a_removed_index_takes_the_new_one(operator, process):
    searching = process(OLD, NEW, refresh_s=10, clock=Clock(1_000.0))
    assert searching.indexes._names.known() == {Role.SEARCHED: "corpus"}
    reindex(operator)
    assert found(searching) == (8, NEW, 1)


def test_a_writer_whose_names_are_old_leaves_a_paper_in_each_index_or_fails_and_is_repeated(operator, process, papers):
    def late():
        made = process(OLD, NEW, refresh_s=10, clock=Clock(1_000.0))
        assert found(made)[:2] == (8, OLD)
        return made

    first, second, third, fourth = late(), late(), late(), late()
    fill(begin(NEW, operator), operator)
    apply_records([revised(papers[0], 1)], first)
    switch(Role.NEXT, operator)
    apply_records([revised(papers[1], 1)], second)
    assert [missing(operator, each) for each in operator.indexes.all()] == [set(), set()]
    operator.indexes.remove()
    apply_records([revised(papers[2], 1)], third)
    with pytest.raises(IndexUnavailable, match="just been replaced") as raised:
        apply_records([Deletion(papers[3].pmid)], fourth)
    assert raised.value.retryable
    fourth.indexes._names._clock.now += 10
    apply_records([Deletion(papers[3].pmid)], fourth)
    assert [missing(operator, each) for each in operator.indexes.all()] == [set()]


def test_a_switch_whose_answer_was_lost_happens_once(operator, process, papers):
    def repeated(**request):
        """Each answer about the names is lost, and the request repeated."""
        put = client("s3").put_object(**request)
        return client("s3").put_object(**request) if request["Key"] == OBJECT else put

    forgetful = process(NEW, OLD, s3=Hooked(client("s3"), put_object=repeated))
    fill(begin(NEW, forgetful), forgetful)
    switch(Role.NEXT, forgetful)
    assert {each.role: each.fingerprint for each in operator.indexes.all()} == {
        Role.SEARCHED: NEW.fingerprint,
        Role.PREVIOUS: OLD.fingerprint,
    }


def test_an_index_that_is_removed_as_it_is_begun_is_not_there(operator, process, s3):
    def meddled(**request):
        """Whatever is named is removed at once."""
        put = s3.put_object(**request)
        if request["Key"] == OBJECT:
            operator.indexes.remove()
        return put

    with pytest.raises(NotFound, match="no next index"):
        begin(NEW, process(NEW, OLD, s3=Hooked(s3, put_object=meddled)))
    assert [each.role for each in operator.indexes.all()] == [Role.SEARCHED]


def test_an_index_that_nobody_named_is_deleted_when_it_is_a_day_old(operator, process, s3):
    with pytest.raises(Killed):
        begin(NEW, process(NEW, OLD, s3=killed_after(s3, 2, "put_object")))
    names = IndexNames(s3, "bucket", refresh_s=0)
    [orphan] = folders(s3) - {"corpus", "corpus-names"}
    names.sweep()
    assert orphan in folders(s3)
    names.objects(orphan).remove()
    assert folders(s3) == {"corpus", "corpus-names"}
    assert [each.role for each in operator.indexes.all()] == [Role.SEARCHED]


READS = {
    "a search": lambda passages, vector, _: passages.hybrid_search(PassageQuery((), vector)),
    "cosines": lambda passages, vector, pmid: passages.chunks([pmid], vector),
    "a paper's vector": lambda passages, _, pmid: passages.document_vectors([pmid]),
    "stored vectors": lambda passages, _, pmid: passages.chunk_vectors([pmid]),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_an_index_that_was_lost_and_made_again_by_another_model_is_refused_to_the_calls_of_before(
    operator, process, papers, read
):
    searching, vector = process(OLD, NEW), OLD.embed([papers[0].title])[0]
    [document] = operator.documents.get_many([papers[0].pmid]).values()
    with searched_index(searching) as (embeddings, passages):
        assert read(passages, vector, papers[0].pmid)
        operator.indexes.searched()[0].renew(NEW.fingerprint, NEW.dim)
        with pytest.raises(IndexUnavailable, match="ask again") as raised:
            read(passages, vector, papers[0].pmid)
        assert raised.value.retryable
        with pytest.raises(IndexUnavailable, match="ask again"):
            write_passages([document], embeddings, passages)
    with pytest.raises(IndexUnavailable, match="the index has none of them"):
        search_papers(Question(papers[0].title), searching)


def test_an_index_that_is_empty_takes_the_configured_model(process, papers):
    first = process(OLD)
    apply_records(papers, first)
    first.passages.delete([each.pmid for each in papers])
    second = process(NEW)
    assert reindex(second) is False
    assert nearness(second, papers[0].pmid) == pytest.approx(1, abs=1e-3)
    assert second.indexes.all()[0].fingerprint == NEW.fingerprint


def test_a_look_at_what_is_searched_takes_no_listing_once_an_index_was_written(operator, process, s3):
    asked = Counter()

    class Counting:
        def __getattr__(self, name):
            asked[name] += 1
            return getattr(s3, name)

    searching = process(OLD, s3=Counting())
    found(searching)
    asked.clear()
    searching.indexes.searched()
    assert asked == {"get_object": 2}


def test_doctor_says_of_each_index_as_of_when_it_is(operator):
    assert operator.indexes.inspect().found.count("as of 20") == 1
    begin(NEW, operator)
    finding = operator.indexes.inspect()
    assert (finding.state, finding.found.count("as of 20")) == (OK, 2)
    assert "next: as of" in finding.found


@pytest.mark.parametrize(
    "content", [b"{", b"[]", b'{"format": 2, "names": {"searched": "a"}}', b'{"format": 1, "names": {}}']
)
def test_names_of_another_format_are_reported_as_such(operator, process, s3, content):
    s3.put_object(Bucket="bucket", Key=OBJECT, Body=content)
    with pytest.raises(IndexUnavailable, match="written by another version"):
        process(OLD).indexes.all()


def test_names_that_are_known_serve_for_an_hour_while_s3_is_away(operator, s3):
    reached, clock = Hooked(s3), Clock(1_000.0)
    names = IndexNames(reached, "bucket", refresh_s=10, clock=clock)
    before = names.known()
    reached.get_object = raising(IndexUnavailable, "away")
    clock.now += 3_000
    assert names.known() == before
    with pytest.raises(IndexUnavailable):
        names.newest()
    clock.now += 3_000
    with pytest.raises(IndexUnavailable):
        names.known()
