"""An index in S3: what a writer was told is done is read by all, and no end of a process leaves half of anything."""

from contextlib import suppress

import numpy as np
import pytest

from bio_mcp.adapters.aws.snapshots.publishing import publish
from bio_mcp.adapters.aws.snapshots.replaceable import STALE_S
from bio_mcp.adapters.embedded.schema import MIGRATIONS
from bio_mcp.cache_use import counting
from bio_mcp.deadline import Deadline, bounded_by
from bio_mcp.errors import DeadlineExceeded, IndexUnavailable
from bio_mcp.health import OK, WARN
from bio_mcp.retrieval.passages import PassageQuery
from tests.adapters.embedded.engine import passages_in
from tests.adapters.entries import DIM, entry
from tests.published import MemoryObjects, OpenLeases, database

AWAY = IndexUnavailable("The store of the index could not be reached.")


class Killed(BaseException):
    """The end of a process."""


STEPS = 9  # that a writer takes


class Hour:
    now = 1_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def objects():
    return MemoryObjects()


@pytest.fixture
def process(tmp_path, objects):
    """Makes the passages of another process over the same index."""
    made = []

    def another(**options):
        made.append(database(tmp_path / str(len(made)), options.pop("objects", objects), **options))
        return passages_in(made[-1])

    yield another
    for each in made:
        each.close()


def fill(passages, *pmids, version=1):
    passages.ensure_schema("model-a", DIM)
    passages.upsert_chunks([entry(pmid, f"aspirin word{pmid}", version=version) for pmid in pmids])


def found(passages):
    return sorted(each.pmid for each in passages.hybrid_search(PassageQuery((("aspirin", 1.0),), None)))


def test_what_one_process_writes_another_finds_once_it_looks_again(process):
    clock = Hour()
    writer, reader = process(), process(refresh_s=10, clock=clock)
    fill(writer, "1")
    assert found(reader) == ["1"]
    fill(writer, "2")
    clock.now += 9
    assert found(reader) == ["1"]
    clock.now += 1
    assert found(reader) == ["1", "2"]


def test_a_search_asks_s3_for_nothing_until_it_looks_again(process, objects):
    reader = process(refresh_s=10, clock=Hour())
    found(reader)
    objects.asked.clear()
    found(reader)
    assert objects.asked == []


def test_a_copy_that_is_the_newest_downloads_nothing(process, objects):
    writer, reader = process(), process()
    fill(writer, "1")
    found(reader)
    objects.asked.clear()
    found(reader)
    assert objects.asked == ["manifest"]


@pytest.mark.parametrize("step", range(12))
def test_a_writer_killed_at_any_step_leaves_all_of_its_change_or_nothing_and_may_be_repeated(process, step):
    class Dying(MemoryObjects):
        left = None

        def _asked(self, what):
            if self.left == 0:
                raise Killed(what)
            self.left = None if self.left is None else self.left - 1

    objects = Dying()
    fill(process(objects=objects, packed=1), "1")
    objects.left = step
    with suppress(Killed):
        fill(process(objects=objects, packed=1), "2", "3")
    assert (objects.left == 0) == (step < STEPS)
    objects.left = None
    assert found(process(objects=objects)) in (["1"], ["1", "2", "3"])
    fill(process(objects=objects, packed=1), "2", "3")
    assert found(process(objects=objects)) == ["1", "2", "3"]
    assert objects.told.keys <= objects.objects.keys()


def test_a_change_whose_acknowledgement_was_lost_is_published_once(process):
    class Forgetful(MemoryObjects):
        forgets = False

        def replace(self, manifest, seen):
            tag = super().replace(manifest, seen)
            return None if self.forgets else tag

    objects = Forgetful()
    writer = process(objects=objects)
    fill(writer, "1")
    objects.forgets = True
    fill(writer, "2")
    assert found(writer) == found(process(objects=objects)) == ["1", "2"]
    assert objects.told.position == 3  # the schema, and two papers


def test_a_process_that_died_before_it_committed_what_it_published_reads_it(process):
    class Fatal(MemoryObjects):
        kills = False

        def replace(self, manifest, seen):
            tag = super().replace(manifest, seen)
            if self.kills:
                raise Killed
            return tag

    objects = Fatal()
    writer = process(objects=objects)
    fill(writer, "1")
    objects.kills = True
    with pytest.raises(Killed):
        fill(writer, "2")
    objects.kills = False
    assert found(writer) == ["1", "2"]


class Overtaken(MemoryObjects):
    """Before something is put, `meanwhile` happens, once."""

    meanwhile = None

    def put(self, content):
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile:
            meanwhile()
        return super().put(content)


def test_a_snapshot_that_another_process_publishes_fails_no_writer(process, tmp_path):
    objects = Overtaken()
    first, other = process(objects=objects), database(tmp_path / "other", objects)
    fill(first, "1", "2")
    assert found(passages_in(other)) == ["1", "2"]
    objects.meanwhile = lambda: publish(other, objects, OpenLeases, objects.told, objects.tag)
    fill(first, "3")
    other.close()
    assert (objects.told.snapshot.position, objects.told.position) == (2, 3)
    assert found(first) == found(process(objects=objects)) == ["1", "2", "3"]


def test_of_two_writers_at_once_one_fails_retryably_and_nothing_of_it_is_written(process):
    objects = Overtaken()
    first, second = process(objects=objects), process(objects=objects)
    fill(first, "1")
    objects.meanwhile = lambda: fill(second, "2")
    with pytest.raises(IndexUnavailable, match="nothing was written") as refused:
        fill(first, "3")
    assert refused.value.retryable
    assert found(first) == found(process(objects=objects)) == ["1", "2"]
    fill(first, "3")
    assert found(second) == ["1", "2", "3"]


def test_a_new_process_reads_a_snapshot_and_only_the_changes_since(process, objects):
    writer = process(packed=4)
    for pmid in range(1, 8):
        fill(writer, str(pmid))
    assert objects.told.snapshot.position == objects.told.position == 8
    fill(writer, "8")
    objects.asked.clear()
    assert found(process()) == [str(pmid) for pmid in range(1, 9)]
    assert objects.asked == ["manifest", *["get"] * (len(objects.told.snapshot.parts) + 1)]


def test_a_copy_that_has_fallen_behind_reads_changes_and_no_snapshot(process, objects):
    reader, writer = process(), process(packed=3)
    fill(writer, "1")
    found(reader)
    for pmid in "23456":
        fill(writer, pmid)
    objects.asked.clear()
    assert found(reader) == list("123456")
    assert objects.asked == ["manifest", *["get"] * 5]


def test_a_copy_of_an_index_that_was_put_back_to_an_earlier_state_follows_it(process, objects):
    writer, reader = process(packed=3), process()
    fill(writer, "1", "2")
    earlier, kept = objects.told, dict(objects.objects)
    fill(writer, "3")
    assert found(reader) == ["1", "2", "3"]
    objects.told, objects.tag, objects.objects = earlier, "100", kept
    assert found(reader) == ["1", "2"]


def test_parts_that_did_not_change_are_uploaded_once(process, objects):
    writer = process(packed=2, part_bytes=1 << 16)
    fill(writer, *map(str, range(1, 60)))
    first = objects.told.snapshot
    fill(writer, "60")
    fill(writer, "61")
    second = objects.told.snapshot
    assert second.position > first.position
    assert set(first.parts) & set(second.parts)
    assert objects.told.keys == objects.objects.keys()


def test_a_snapshot_that_cannot_be_uploaded_keeps_no_write_from_its_end_and_is_made_later(process, caplog):
    class Full(MemoryObjects):
        puts = 0

        def put(self, content):
            self.puts += 1
            if self.puts == 3:
                raise AWAY
            return super().put(content)

    objects = Full()
    writer = process(objects=objects, packed=2)
    fill(writer, "1")
    assert objects.told.snapshot is None
    assert "no snapshot of the index was published" in caplog.text
    fill(writer, "2")
    assert objects.told.snapshot.position == 3


def test_a_call_without_the_time_for_a_snapshot_leaves_it_to_another(process, objects):
    writer = process(packed=2)
    with bounded_by(Deadline(0.01)):
        fill(writer, "1")
    assert objects.told.snapshot is None
    fill(writer, "2")
    assert objects.told.snapshot is not None


def test_a_download_that_runs_out_of_time_goes_on_in_the_next_call(process, objects):
    class Clock:
        now = 0.0

        def __call__(self):
            return self.now

    class Slow(MemoryObjects):
        def get(self, key):
            clock.now += 1
            return super().get(key)

    clock, slow = Clock(), Slow()
    fill(process(packed=1, part_bytes=1 << 15, objects=slow), *map(str, range(1, 40)))
    parts = len(slow.told.snapshot.parts)
    reader = process(objects=slow)
    slow.asked.clear()
    with bounded_by(Deadline(parts // 2, clock)), pytest.raises(DeadlineExceeded, match="the index was downloaded"):
        found(reader)
    assert 0 < slow.asked.count("get") < parts
    assert len(found(reader)) == 39
    assert slow.asked.count("get") == parts


def test_a_copy_is_searched_for_an_hour_while_s3_is_away_and_no_longer(process, objects, caplog):
    clock = Hour()
    reader = process(refresh_s=10, clock=clock)
    fill(process(), "1")
    assert found(reader) == ["1"]
    objects.broken = AWAY
    clock.now += STALE_S - 1
    assert found(reader) == ["1"]
    assert "an index that is 3599 s old is searched" in caplog.text
    clock.now += 2
    with pytest.raises(IndexUnavailable, match="could not be reached"):
        found(reader)


def test_a_process_without_a_copy_fails_while_s3_is_away_and_finds_nothing_less(process, objects):
    fill(process(), "1")
    objects.broken = AWAY
    with pytest.raises(IndexUnavailable, match="could not be reached"):
        found(process())


def test_an_index_that_is_full_refuses_new_papers_with_what_to_do_and_lets_others_go(process, objects):
    writer = process()
    fill(writer, "1")
    small = process(max_bytes=1 << 20)
    with pytest.raises(
        IndexUnavailable, match=r"may have 1 MB, some 0 papers. Deploy with IndexTier=opensearch"
    ) as full:
        fill(small, *map(str, range(2, 600)))
    assert not full.value.retryable
    assert found(small) == ["1"]
    small.delete(["1"])
    assert found(process()) == []


def test_doctor_says_as_of_when_an_index_is_and_when_it_is_nearly_full(process, objects):
    writer = process()
    assert "as of never, 1 of 64 MB, 0 changes" in writer._database.inspect().found
    fill(writer, "1")
    finding = writer._database.inspect()
    assert finding.state == OK
    assert f"as of {objects.told.as_of}, 1 of 64 MB, 2 changes" in finding.found
    assert process(max_bytes=1 << 20)._database.inspect().state == WARN


def test_an_index_of_a_newer_version_is_not_read_by_an_older_one(process):
    older = process(migrations=MIGRATIONS[:-1])
    found(older)
    fill(process(), "1")
    with pytest.raises(IndexUnavailable, match="written by a newer bio-mcp"):
        found(older)


@pytest.mark.parametrize("packed", [2, 99])
def test_what_an_older_version_goes_on_writing_is_read_by_a_newer_one(process, packed):
    older, newer = process(migrations=MIGRATIONS[:-1], packed=packed), process(packed=packed)
    fill(older, "1")
    assert found(newer) == ["1"]
    fill(older, "2")
    assert found(newer) == ["1", "2"]
    fill(newer, "3")
    assert found(newer) == found(process()) == ["1", "2", "3"]


def test_every_vector_is_the_same_to_the_last_bit_in_another_process(process):
    writer = process(packed=2)
    fill(writer, "1", "2")
    mine, others = writer.document_vectors(["1", "2"]), process().document_vectors(["1", "2"])
    assert all(np.array_equal(mine[pmid], others[pmid]) for pmid in ("1", "2"))


def test_a_call_is_reported_as_of_when_the_index_is_that_it_searched(process, objects):
    passages = process()
    fill(passages, "1")
    with counting() as use:
        found(passages)
    assert use.index_as_of == objects.told.as_of
    with counting() as unused:
        pass
    assert unused.index_as_of is None
