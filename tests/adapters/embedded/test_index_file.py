"""The file beside the corpus that makes a large one start fast: never trusted without proof, never needed."""

import json
import os
import resource
import shutil
import stat
import tempfile
import time
from contextlib import closing, contextmanager
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.index_file import (
    FIRST_LINE,
    MAGIC,
    PAGE,
    Reason,
    Unusable,
    is_verified,
    read_arrays,
    remember,
    write_arrays,
)
from bio_mcp.adapters.embedded.integrity import index_file
from bio_mcp.adapters.embedded.live_index import MAX_CHANGED
from bio_mcp.adapters.embedded.passages import SqliteIndexes, SqlitePassages
from bio_mcp.health import OK, WARN
from bio_mcp.literature.quality import StaticQuality
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports.models import Role
from bio_mcp.retrieval.passages import Filters, PassageQuery
from tests.adapters.embedded.reader import as_reader
from tests.adapters.entries import DIM, entry, unit

INDEX_FILE = "corpus.index"
QUERY = PassageQuery((("a", 1.0), ("b", 0.5)), unit(1), depth=400)
FILTERED = PassageQuery((("a", 1.0),), unit(2), Filters(year_from=2005, tags=frozenset({"x"})), depth=400)


def opened(directory):
    return SqlitePassages(Database(directory))


def finding(directory):
    """State, sentence and remedy of the doctor."""
    with closing(Database(directory)) as database:
        found = index_file(database)
    return found.state, found.found, found.remedy


def unused_because(path, **how):
    """Why the arrays of a file are not used; None where they are."""
    try:
        read_arrays(path, **how)
    except Unusable as unusable:
        return unusable.reason
    return None


def answers(passages):
    return [
        sorted(passages.hybrid_search(query), key=lambda candidate: int(candidate.pmid)) for query in (QUERY, FILTERED)
    ]


def batch(first, count=400):
    rng = np.random.default_rng(first)
    return [
        entry(
            str(first + n),
            " ".join(rng.choice(list("abcdef"), 5)),
            vectors=[unit(int(seed)) for seed in rng.integers(0, 9_999, 32)],
            year=2000 + n % 10,
            tags=("x", "y") if n % 2 else ("x",),
            quality=StaticQuality(design=n % 4),
            retraction=RetractionStatus.RETRACTED if n % 9 == 0 else RetractionStatus.CLEAR,
        )
        for n in range(count)
    ]


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A corpus with enough windows for its index to be kept, and what a search finds in it."""
    directory = tmp_path_factory.mktemp("large")
    passages = opened(directory)
    passages.ensure_schema("m", DIM)
    passages.upsert_chunks(batch(1))
    return directory, answers(passages)


@pytest.fixture
def corpus(large, tmp_path):
    shutil.copytree(large[0], tmp_path, dirs_exist_ok=True)
    assert (tmp_path / INDEX_FILE).exists()
    return tmp_path


def test_a_saved_index_answers_as_the_corpus_does_and_is_its_owners_alone(corpus, large):
    assert stat.S_IMODE((corpus / INDEX_FILE).stat().st_mode) == 0o600
    assert finding(corpus) == (OK, "corpus.index, 2 MB, 0 papers changed since", "")
    assert answers(opened(corpus)) == large[1]


def test_a_saved_index_is_made_again_when_it_was_deleted_and_a_small_corpus_needs_none(corpus, large, tmp_path_factory):
    small = tmp_path_factory.mktemp("small")
    assert finding(small)[:2] == (OK, "not needed: a corpus of this size is read as fast")
    (corpus / INDEX_FILE).unlink()
    assert finding(corpus) == (OK, "corpus.index is not there; the next search makes it", "")
    assert answers(opened(corpus)) == large[1]
    assert (corpus / INDEX_FILE).exists()


@pytest.mark.parametrize("content", [b"", b"garbage", MAGIC, MAGIC + b'{"size": 3}', MAGIC + b"\xff" * 100])
def test_a_broken_saved_index_is_made_again(corpus, large, content):
    (corpus / INDEX_FILE).write_bytes(content)
    state, found, remedy = finding(corpus)
    assert (state, found.partition(";")[0]) == (WARN, "corpus.index is damaged")
    assert remedy.startswith("The next search makes it again.")
    assert answers(opened(corpus)) == large[1]
    assert finding(corpus)[0] == OK
    assert unused_because(corpus / INDEX_FILE) is None


def test_a_saved_index_is_made_again_whichever_of_its_arrays_is_damaged(corpus, large, caplog):
    """And whatever else a bit of its first page says."""
    whole = (corpus / INDEX_FILE).read_bytes()
    places = json.loads(whole[FIRST_LINE:].partition(b"\0")[0])["arrays"]
    ends = [
        at["at"] + max(1, at["rows"] * np.dtype(at["type"]).itemsize) - 1
        for at in places.values()
        if at["rows"] and 0 not in at["shape"]
    ]
    for at in [3, len(MAGIC) + 4, FIRST_LINE + 60, *ends]:
        (corpus / INDEX_FILE).write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert unused_because(corpus / INDEX_FILE) == Reason.DAMAGED, at
        assert finding(corpus)[0] == WARN
    assert answers(opened(corpus)) == large[1]
    assert caplog.text.count("corpus.index is damaged") == 1
    assert unused_because(corpus / INDEX_FILE) is None


def change_a_byte(path):
    """Change the first byte of a file's last page, and leave its time of modification as it is."""
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    time.sleep(0.05)  # longer than a tick of the clock by which the kernel notes changes
    with path.open("r+b") as file:
        at = file.seek(-PAGE, os.SEEK_END)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))
    os.utime(path, ns=times)


def test_a_file_that_was_found_whole_is_not_read_whole_again_until_it_is_found_damaged(tmp_path):
    path = tmp_path / "arrays"
    assert write_arrays(path, {}, {"x": np.arange(7)})
    change_a_byte(path)
    remember(path, path.stat())
    assert unused_because(path, once=True) is None
    assert unused_because(path) == unused_because(path, once=True) == Reason.DAMAGED


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_was_found_whole_and_changed_since_is_verified(tmp_path, replaced):
    path = tmp_path / "arrays"
    assert write_arrays(path, {}, {"x": np.arange(7)})
    changed = shutil.copy2(path, tmp_path / "copy") if replaced else path
    change_a_byte(changed)
    changed.replace(path)
    assert unused_because(path, once=True) == Reason.DAMAGED


def test_a_search_remembers_that_the_saved_index_is_whole(large, corpus):
    """The one that made it, and the first one of a copy, once that is two seconds old."""
    assert is_verified(large[0] / INDEX_FILE, (large[0] / INDEX_FILE).stat())
    path = corpus / INDEX_FILE
    assert not is_verified(path, path.stat())
    for _ in range(100):
        assert answers(opened(corpus)) == large[1]
        if is_verified(path, path.stat()):
            break
        time.sleep(0.1)
    assert is_verified(path, path.stat())
    assert answers(opened(corpus)) == large[1]


def earlier_sketches(whole):
    """The file as an earlier version wrote it: whole by its checksums, with sketches of another kind."""
    header = json.loads(whole[FIRST_LINE:].partition(b"\0")[0])
    text = json.dumps(header | {"about": header["about"] | {"sketch": [48, 2]}}).encode()
    text += b" " * (4_096 - len(text) % 4_096)
    return MAGIC + b"%010d %08x\n" % (len(text), crc32(text)) + text + whole[FIRST_LINE + len(text) :]


@pytest.mark.parametrize("earlier", [lambda whole: whole.replace(MAGIC, b"bio-mcp index 1\n", 1), earlier_sketches])
def test_the_file_of_an_earlier_version_is_made_again(corpus, large, earlier, caplog):
    (corpus / INDEX_FILE).write_bytes(earlier((corpus / INDEX_FILE).read_bytes()))
    again = "corpus.index is of another version of bio-mcp; the next search makes it"
    assert finding(corpus) == (OK, again, "")
    assert answers(opened(corpus)) == large[1]
    assert finding(corpus)[1] != again
    assert "damaged" not in caplog.text


@pytest.mark.parametrize("harm", ["cut", "overwritten"])
def test_an_index_that_another_program_changes_in_its_place_is_left(corpus, large, harm):
    reader = opened(corpus)
    assert answers(reader) == large[1]
    with (corpus / INDEX_FILE).open("r+b") as file:
        if harm == "cut":
            file.truncate(0)
        else:
            file.write(b"x" * (corpus / INDEX_FILE).stat().st_size)
    assert answers(reader) == large[1]


def test_a_mapped_file_says_when_it_must_not_be_touched_any_more(tmp_path):
    path = tmp_path / "arrays"
    assert write_arrays(path, {}, {"x": np.arange(80_000)})
    file = read_arrays(path, map_from=0)
    assert write_arrays(path, {}, {"x": np.arange(10)})
    assert not file.has_changed
    assert file.arrays["x"][0][79_999] == 79_999
    file = read_arrays(path, map_from=0)
    path.write_bytes(b"")
    assert file.has_changed


def test_what_a_killed_process_left_half_written_is_removed(tmp_path):
    for scratch in ("arrays.1999999999", "arrays.7", "arrays.old"):
        (tmp_path / scratch).write_bytes(b"half")
    assert write_arrays(tmp_path / "arrays", {}, {"x": np.arange(3)})
    assert sorted(each.name for each in tmp_path.glob("arrays*")) == ["arrays", "arrays-verified", "arrays.old"]


def test_what_was_written_since_is_added_to_a_saved_index(corpus):
    writer = opened(corpus)
    writer.upsert_chunks(batch(350, 100))
    writer.delete([str(n) for n in range(1, 50)])
    (corpus / INDEX_FILE).rename(corpus / "aside")
    wanted = answers(opened(corpus))
    (corpus / "aside").rename(corpus / INDEX_FILE)
    before = (corpus / INDEX_FILE).read_bytes()
    reader = opened(corpus)
    assert answers(reader) == wanted
    assert (corpus / INDEX_FILE).read_bytes() == before


def test_a_saved_index_that_lacks_too_much_is_made_again(corpus):
    writer = opened(corpus)
    writer.upsert_chunks([entry(str(5_000 + n), "a b", vectors=[unit(n)]) for n in range(MAX_CHANGED + 1)])
    assert finding(corpus)[1].startswith("corpus.index lacks too many papers that were written since")
    assert len(opened(corpus).hybrid_search(FILTERED)) == len(writer.hybrid_search(FILTERED))
    assert finding(corpus)[:2] == (OK, "corpus.index, 2 MB, 0 papers changed since")


def test_a_corpus_that_was_put_back_to_an_earlier_state_does_not_use_a_later_index(corpus, large, tmp_path_factory):
    earlier = tmp_path_factory.mktemp("earlier")
    shutil.copytree(corpus, earlier, dirs_exist_ok=True)
    opened(corpus).upsert_chunks(batch(1_000))
    (corpus / INDEX_FILE).unlink()
    answers(opened(corpus))  # keeps the later state
    shutil.copy(corpus / INDEX_FILE, earlier / INDEX_FILE)
    assert finding(earlier)[1].startswith("corpus.index is of another corpus, or of another past of this one")
    assert answers(opened(earlier)) == large[1]
    opened(earlier).upsert_chunks(batch(2_000))  # another batch of the same number
    wanted = answers(opened(earlier))
    shutil.copy(corpus / INDEX_FILE, earlier / INDEX_FILE)
    assert answers(opened(earlier)) == wanted


def test_appending_to_mapped_arrays_does_not_touch_the_file(tmp_path):
    path = tmp_path / "arrays"
    assert write_arrays(path, {"a": 1}, {"x": np.arange(80, dtype=np.int32), "y": np.ones((9, 3), np.float32)})
    before = path.read_bytes()
    file = read_arrays(path)
    room, rows = file.arrays["x"]
    assert (file.about, rows, len(room)) == ({"a": 1}, 80, 90)
    room[80:] = 7
    assert file.arrays["y"][0][:9].tolist() == np.ones((9, 3)).tolist()
    assert path.read_bytes() == before


def test_the_file_that_doctor_examines_is_that_of_the_index_that_is_searched(tmp_path):
    with closing(Database(tmp_path)) as database, closing(SqliteIndexes(database)) as indexes:
        indexes.searched()[0].ensure_schema("m", DIM)
        assert indexes.searched_database() is database
        indexes.begin("other", DIM)
        indexes.switch(Role.NEXT)
        assert indexes.searched_database().directory.parent == tmp_path / "indexes"


@contextmanager
def full_disk():
    """No file may become longer than a megabyte, as on a disk that runs full while one is written."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_on_a_full_disk_a_corpus_is_searched_without_a_saved_index_and_nothing_is_left_behind(corpus, large):
    (corpus / INDEX_FILE).write_bytes(b"torn")
    before = {each.name for each in corpus.iterdir()}
    with full_disk():
        assert answers(opened(corpus)) == large[1]
    assert {each.name for each in corpus.iterdir()} <= before | {"processes.lock"}
    assert finding(corpus)[0] == WARN
    assert answers(opened(corpus)) == large[1]
    assert finding(corpus)[0] == OK


def test_a_reader_without_write_permission_searches_it_without_its_saved_index(corpus, large):
    """The file is its owner's alone."""
    home = Path(tempfile.mkdtemp(prefix="bio-mcp-index-"))
    shutil.copytree(corpus, home, dirs_exist_ok=True)
    for each in home.iterdir():
        each.chmod(0o600 if each.name == INDEX_FILE else 0o444)
    home.chmod(0o555)
    wanted = [[candidate.pmid for candidate in found] for found in large[1]]
    assert as_reader(lambda: [[each.pmid for each in found] for found in answers(opened(home))]) == wanted
    state, found, remedy = as_reader(lambda: finding(home))
    assert (state, found.partition(";")[0]) == (WARN, "corpus.index cannot be read")
    assert remedy == f"Make {home} writable for this user; then the next start of a server makes it."
    home.chmod(0o755)
    shutil.rmtree(home)


def test_a_directory_in_its_place_is_reported_and_the_corpus_searched(corpus, large):
    (corpus / INDEX_FILE).unlink()
    (corpus / INDEX_FILE).mkdir()
    assert answers(opened(corpus)) == large[1]
    state, _, remedy = finding(corpus)
    assert (state, remedy) == (WARN, "Delete the directory corpus.index; then the next start of a server makes it.")
