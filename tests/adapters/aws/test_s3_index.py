"""An index in S3: what a writer was told is done is read by all, and no end of a process leaves half of anything."""

import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread

import pytest

from bio_mcp.adapters.aws import s3_index
from bio_mcp.adapters.aws.s3_index import STALE_S, IndexObjects, Published, private_directory
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedded.schema import MIGRATIONS
from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, IndexUnavailable
from bio_mcp.health import OK, WARN
from bio_mcp.retrieval.passages import PassageQuery
from bio_mcp.scope import bounded_by
from tests.adapters.clocks import Clock
from tests.adapters.entries import DIM, entry
from tests.support.hooked import Hooked, at, beyond, raising
from tests.support.published import MemoryObjects, database
from tests.support.scopes import counting

LOGS = Path(__file__).parents[2] / "data/index_in_s3/log.zip"  # as the version before files were published whole


class Killed(BaseException):
    """The end of a process."""


STEPS = 6  # that a writer takes


@pytest.fixture
def objects():
    return MemoryObjects()


@pytest.fixture
def in_s3(s3):
    return IndexObjects(s3, "bucket", "corpus")


@pytest.fixture
def process(tmp_path, objects):
    made = []

    def another(**options):
        made.append(database(tmp_path / str(len(made)), options.pop("objects", objects), **options))
        return SqlitePassages(made[-1])

    yield another
    for each in made:
        each.close()


def fill(passages, *pmids, version=1):
    passages.ensure_schema("model-a", DIM)
    passages.upsert_chunks([entry(pmid, f"aspirin word{pmid}", version=version) for pmid in pmids])


def found(passages):
    return sorted(each.pmid for each in passages.hybrid_search(PassageQuery((("aspirin", 1.0),), None)))


def test_what_one_process_writes_another_finds_once_it_looks_again(process):
    clock = Clock(1_000.0)
    writer, reader = process(), process(refresh_s=10, clock=clock)
    fill(writer, "1")
    assert found(reader) == ["1"]
    fill(writer, "2")
    clock.now += 9
    assert found(reader) == ["1"]
    clock.now += 1
    assert found(reader) == ["1", "2"]


def test_a_copy_that_is_the_newest_downloads_nothing(process, objects):
    writer, reader = process(), process()
    fill(writer, "1")
    found(reader)
    objects.asked.clear()
    assert found(reader) == found(writer) == ["1"]
    assert objects.asked == ["manifest"] * 2


def test_what_changes_nothing_is_not_published(process, objects):
    writer = process()
    fill(writer, "1")
    before = objects.told
    writer.ensure_schema("model-a", DIM)
    writer.delete(["7"])
    assert objects.told == before


@pytest.mark.parametrize("values", ["aaa", "abab"])
def test_a_file_that_is_published_again_to_the_byte_is_what_is_searched(process, values):
    writer, reader = process(), process()
    fill(writer, "1", "2")
    for value in values:
        with writer._database.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO settings VALUES ('note', ?)", (value,))
        assert found(writer) == found(reader) == ["1", "2"]
    fill(writer, "3")
    assert found(writer) == found(reader) == found(process()) == ["1", "2", "3"]


@pytest.mark.parametrize("step", range(STEPS + 1))
def test_a_writer_killed_at_any_step_leaves_all_of_its_change_or_nothing_and_may_be_repeated(process, objects, step):
    fill(process(), "1")
    try:
        fill(process(objects=Hooked(objects, before=at(beyond(step), raising(Killed)))), "2", "3")
        assert step == STEPS
    except Killed:
        assert step < STEPS
    assert found(process()) in (["1"], ["1", "2", "3"])
    fill(process(), "2", "3")
    assert found(process()) == ["1", "2", "3"]
    assert objects.told.file in objects.objects


def test_a_change_whose_acknowledgement_was_lost_is_published_once(process, objects):
    fill(process(), "1")
    forgetful = process(objects=Hooked(objects, replace=lambda *given: objects.replace(*given) and None))
    fill(forgetful, "2")
    assert found(forgetful) == found(process()) == ["1", "2"]
    assert objects.tag == "3"  # the schema, and two papers


def test_of_two_writers_at_once_one_fails_retryably_and_nothing_of_it_is_written(process, objects):
    second = process()
    fill(second, "1")
    first = process(objects=Hooked(objects, "upload", before=at([1], lambda: fill(second, "2"))))
    with pytest.raises(IndexUnavailable, match="nothing was written") as refused:
        fill(first, "3")
    assert refused.value.retryable
    assert found(first) == found(process()) == ["1", "2"]
    fill(first, "3")
    assert found(second) == ["1", "2", "3"]


def test_a_write_that_fails_leaves_the_copy_as_it_was(process, objects):
    writer = process()
    fill(writer, "1")
    objects.upload = raising(IndexUnavailable, "It could not be reached.")
    with pytest.raises(IndexUnavailable, match="could not be reached"):
        fill(writer, "2")
    assert found(writer) == ["1"]


def test_a_search_that_runs_while_the_copy_is_replaced_is_of_one_state(process, objects):
    writer, reader = process(), process()
    fill(writer, "1")
    with reader._database.reading() as connection:
        for pmid in "234":
            fill(writer, pmid)
            assert found(reader) == list("1234"[: int(pmid)])
        assert connection.execute("SELECT count(*) FROM entries").fetchone()[0] == 1
    assert reader.count()[0] == 4


def test_searches_go_on_while_another_thread_publishes(process, objects):
    fill(process(), "1")
    uploading, goes_on = Event(), Event()
    both = process(objects=Hooked(objects, "upload", before=lambda _: uploading.set() or goes_on.wait(30)))
    writing = Thread(target=fill, args=(both, "2"))
    writing.start()
    assert uploading.wait(30)
    assert found(both) == ["1"]
    goes_on.set()
    writing.join()
    assert found(both) == ["1", "2"]


def test_a_copy_of_an_index_that_was_put_back_to_an_earlier_state_follows_it(process, objects):
    writer, reader = process(), process()
    fill(writer, "1", "2")
    earlier, kept = objects.told, dict(objects.objects)
    fill(writer, "3")
    assert found(reader) == ["1", "2", "3"]
    objects.told, objects.tag, objects.objects = earlier, "100", kept
    assert found(reader) == ["1", "2"]


def test_an_index_that_was_removed_is_empty(process, objects):
    writer, reader = process(), process()
    fill(writer, "1")
    assert found(reader) == ["1"]
    objects.told, objects.tag = Published(), None
    assert found(reader) == found(writer) == []
    fill(writer, "2")
    assert found(reader) == ["2"]


def test_what_a_reader_has_read_of_is_replaced_before_it_downloads_it(process, objects):
    def replaced():
        objects.tag = "another"
        raise IndexUnavailable(s3_index.REPLACED)

    fill(process(), "1")
    assert found(process(objects=Hooked(objects, "download", before=at([1], replaced)))) == ["1"]
    with pytest.raises(IndexUnavailable, match="just been replaced"):
        found(process(objects=Hooked(objects, "download", before=at([1, 2, 3], replaced))))


def test_a_copy_is_searched_for_an_hour_while_s3_is_away_and_a_process_without_one_fails(process, objects, caplog):
    clock = Clock(1_000.0)
    reader = process(refresh_s=10, clock=clock)
    fill(process(), "1")
    assert found(reader) == ["1"]
    objects.broken = IndexUnavailable("The store of the index could not be reached.")
    with pytest.raises(IndexUnavailable, match="could not be reached"):
        found(process())
    clock.now += STALE_S - 1
    assert found(reader) == ["1"]
    assert "an index that is 3599 s old is searched" in caplog.text
    clock.now += 2
    with pytest.raises(IndexUnavailable, match="could not be reached"):
        found(reader)


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
    assert "as of never, 2 of 64 MB" in writer._database.inspect().found
    fill(writer, "1")
    finding = writer._database.inspect()
    assert finding.state == OK
    assert f"as of {objects.told.as_of}, 2 of 64 MB" in finding.found
    assert process(max_bytes=1 << 20)._database.inspect().state == WARN
    with writer._database.writing(IndexUnavailable) as connection:
        connection.execute("INSERT INTO without_fields VALUES (1)")
    finding = writer._database.inspect()
    assert (finding.state, "1 papers are of an earlier version" in finding.found) == (WARN, True)
    assert "admin reindex" in finding.remedy


def test_an_index_of_a_newer_version_is_not_read_by_an_older_one(process):
    older = process(migrations=MIGRATIONS[:-1])
    found(older)
    fill(process(), "1")
    with pytest.raises(IndexUnavailable, match="written by a newer bio-mcp"):
        found(older)


def test_what_an_older_version_goes_on_writing_is_read_by_a_newer_one(process):
    older, newer = process(), process(migrations=(*MIGRATIONS, "CREATE TABLE notes (note TEXT)"))
    fill(older, "1")
    assert found(newer) == ["1"]
    fill(older, "2")
    assert found(newer) == ["1", "2"]
    fill(newer, "3")
    assert found(newer) == ["1", "2", "3"]


def test_a_call_is_reported_as_of_when_the_index_is_that_it_searched(process, objects):
    passages = process()
    fill(passages, "1")
    with counting() as use:
        found(passages)
    assert use.index_as_of == objects.told.as_of
    with counting() as unused:
        pass
    assert unused.index_as_of is None


ONE = Published("a", 100, 17, "2026-11-22T10:00:00+00:00")


def test_a_manifest_replaces_the_one_that_its_writer_has_seen_and_no_other(in_s3):
    assert in_s3.manifest() == (Published(), None)
    first = in_s3.replace(Published(), None)
    assert in_s3.replace(ONE, None) is None
    second = in_s3.replace(ONE, first)
    assert in_s3.replace(Published(), first) is None
    assert in_s3.manifest() == (ONE, second)
    assert in_s3.manifest(second) is None


def uploaded(in_s3, tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    return Published(in_s3.upload(tmp_path / "file"), len(content))


def test_a_file_that_is_not_what_its_name_says_is_damage_and_one_that_is_gone_may_have_been_replaced(
    in_s3, s3, tmp_path
):
    published = uploaded(in_s3, tmp_path, b"content")
    assert in_s3.download(published, tmp_path / "a").read_bytes() == b"content"
    s3.put_object(Bucket="bucket", Key=f"index/corpus/{published.file}", Body=b"another")
    with pytest.raises(IndexUnavailable, match="is damaged") as damaged:
        in_s3.download(published, tmp_path / "b")
    s3.delete_object(Bucket="bucket", Key=f"index/corpus/{published.file}")
    with pytest.raises(IndexUnavailable, match="has just been replaced") as gone:
        in_s3.download(published, tmp_path / "b")
    assert (damaged.value.retryable, gone.value.retryable) == (False, True)


def test_a_download_that_runs_out_of_time_goes_on_in_the_next_call(in_s3, tmp_path):
    in_s3.piece = 10
    content = bytes(range(95))
    published, read = uploaded(in_s3, tmp_path, content), []
    ticks = iter(range(100))
    with bounded_by(Deadline(4, lambda: next(ticks))), pytest.raises(DeadlineExceeded, match="index was downloaded"):
        in_s3.download(published, tmp_path / "a")
    [part] = (tmp_path / "a").glob("*.part")
    assert 0 < part.stat().st_size < len(content)
    in_s3._read = lambda key, begin, put: (read.append(begin), IndexObjects._read(in_s3, key, begin, put))
    begun = part.stat().st_size
    assert in_s3.download(published, tmp_path / "a").read_bytes() == content
    assert read == [begun]


@pytest.mark.parametrize("content", [b'{"format": 3}', b"{", b'{"format": 1, "position": 1}', b'{"format": 2, "a": 1}'])
def test_a_manifest_of_another_format_is_reported_as_such(in_s3, s3, content):
    s3.put_object(Bucket="bucket", Key="index/corpus/manifest.json", Body=content)
    with pytest.raises(IndexUnavailable, match="written by another version"):
        in_s3.manifest()


def test_only_what_is_old_and_unnamed_is_deleted_and_nothing_of_another_index(in_s3, s3, tmp_path):
    used, unused = uploaded(in_s3, tmp_path, b"used"), uploaded(in_s3, tmp_path, b"unused")
    other = IndexObjects(s3, "bucket", "projects")
    others = uploaded(other, tmp_path, b"unused")
    in_s3.replace(used, None)
    assert in_s3.clear(used.file) == 0
    in_s3.spared = timedelta(seconds=-1)
    assert in_s3.clear(used.file) == 1
    assert in_s3.download(used, tmp_path / "a").read_bytes() == b"used"
    assert other.download(others, tmp_path / "a").read_bytes() == b"unused"
    assert in_s3.manifest()[1]
    with pytest.raises(IndexUnavailable):
        in_s3.download(unused, tmp_path / "a")


def test_a_bucket_that_is_not_there_is_no_empty_index(s3):
    with pytest.raises(IndexUnavailable, match="does not exist"):
        IndexObjects(s3, "nobodys", "corpus").manifest()


@pytest.fixture
def logged(s3):
    """The objects of indexes that were made by the version that published each transaction's SQL."""
    with zipfile.ZipFile(LOGS) as logs:
        for name in logs.namelist():
            s3.put_object(Bucket="bucket", Key=name, Body=logs.read(name))
    return s3


NAMES = {"corpus": ["1", "3", "4", "5"], "corpus-0123456789abcdef": ["1", "2", "3"]}  # with a snapshot, and without


@pytest.mark.parametrize(("name", "pmids"), NAMES.items())
def test_an_index_of_the_version_before_is_read_and_published_whole_by_the_first_writer(logged, process, name, pmids):
    objects = IndexObjects(logged, "bucket", name)
    reader, writer = process(objects=objects), process(objects=objects)
    assert found(reader) == pmids
    fill(writer, "7")
    assert found(reader) == found(process(objects=objects)) == [*pmids, "7"]
    assert objects.manifest()[0].log is None


class CountedObjects(IndexObjects):
    gotten = ()

    def get(self, key):
        self.gotten = (*self.gotten, key)
        return super().get(key)


def test_a_copy_of_an_index_of_the_version_before_that_was_not_finished_is_gone_on_with(logged, process):
    objects = CountedObjects(logged, "bucket", "corpus")
    reader, ticks = process(objects=objects), iter(range(1_000))
    calls = 0
    while calls < 20:
        calls += 1
        with bounded_by(Deadline(3, lambda: next(ticks))), suppress(DeadlineExceeded):
            assert found(reader) == NAMES["corpus"]
            break
    assert calls > 1
    assert len(objects.gotten) < 2 * len(set(objects.gotten))


def test_a_part_of_an_index_of_the_version_before_that_is_damaged_is_reported(logged, process):
    objects = IndexObjects(logged, "bucket", "corpus")
    part = objects.manifest()[0].log["snapshot"]["parts"][0]
    logged.put_object(Bucket="bucket", Key=f"index/corpus/{part}", Body=b"other")
    with pytest.raises(IndexUnavailable, match="is damaged"):
        found(process(objects=objects))


KILLED = """
import os, sys
from pathlib import Path
from bio_mcp.adapters.aws.s3_index import private_directory
with private_directory(Path(sys.argv[1])) as made:
    (made / "corpus.sqlite3").write_bytes(b"x")
    os._exit(9)
"""


def test_a_directory_of_copies_is_this_users_alone_and_deleted_at_the_end(tmp_path):
    with private_directory(tmp_path) as made:
        assert made.stat().st_mode & 0o777 == 0o700
        with private_directory(tmp_path) as another:
            assert made.exists()
            assert made != another
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_deleted_by_the_next(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False, timeout=60)
    [left] = tmp_path.iterdir()
    assert (left / "corpus.sqlite3").exists()
    with private_directory(tmp_path):
        assert not left.exists()


def test_one_that_is_being_made_is_not_taken_for_an_abandoned_one(tmp_path):
    def stays(_):
        with private_directory(tmp_path) as made:
            return made.exists()

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(stays, range(500)))
    assert list(tmp_path.iterdir()) == []
