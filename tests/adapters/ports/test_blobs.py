from hashlib import sha256

import pytest

from bio_mcp.errors import InvalidInput, NotFound

PDF = b"%PDF-1.7\x00\xff" * 1_000
HOSTILE = [
    f"raw/{'0' * 64}",
    "../corpus.sqlite3", "/etc/passwd", "", ".", "reports", "reports/", "reports/../../x", "reports//x", "a\x00b",
    f"reports/{'g' * 64}", f"../{'0' * 64}", f"/{'0' * 64}", f"Reports/{'0' * 64}", f"reports/{'0' * 64}.pdf/..",
    f"reports/{'0' * 64}\n", f"reports\\{'0' * 64}", f"{'0' * 64}", f"reports/{'0' * 63}", "x/" * 400 + "0" * 64,
]  # fmt: skip


def test_bytes_come_back_by_a_key_that_names_them(blobs):
    key = blobs.put("papers/pdf", PDF, ".pdf")
    assert key == f"papers/pdf/{sha256(PDF).hexdigest()}.pdf"
    assert blobs.get(key) == PDF


def test_the_same_bytes_are_kept_once_and_others_and_those_of_another_folder_have_another_key(blobs):
    assert blobs.put("a", b"1") == blobs.put("a", b"1")
    keys = {blobs.put("a", b"1"), blobs.put("a", b""), blobs.put("b", b"1"), blobs.put("a", b"1", ".xml.gz")}
    assert len(keys) == 4
    assert {blobs.get(key) for key in keys} == {b"1", b""}


@pytest.mark.parametrize("key", HOSTILE)
def test_a_hostile_key_is_not_found_and_not_repeated(blobs, key):
    blobs.put("reports", PDF)
    with pytest.raises(NotFound) as refused:
        blobs.get(key)
    assert len(str(refused.value)) < 60


@pytest.mark.parametrize(
    "folder", ["", "..", "a/../b", "/a", "a/", "A", "a b", "a\n", "ä", "-a", "a/" * 9 + "a", "." * 3]
)
def test_a_hostile_folder_is_refused(blobs, folder):
    with pytest.raises(InvalidInput):
        blobs.put(folder, b"x")


@pytest.mark.parametrize("suffix", ["pdf", "/x", "..", ".PDF", ".a.b.c", ".", ".pdf\n", "./x"])
def test_a_hostile_suffix_is_refused(blobs, suffix):
    with pytest.raises(InvalidInput):
        blobs.put("a", b"x", suffix)


def test_files_are_joined_in_the_folder_of_the_first(blobs):
    parts = [blobs.put("exports", each, ".csv") for each in (b"a,", PDF, b"", b"b")]
    whole = blobs.join(parts)
    assert whole == f"exports/{sha256(b'a,' + PDF + b'b').hexdigest()}.csv"
    assert blobs.get(whole) == b"a," + PDF + b"b"
    assert blobs.join(parts[:1]) == parts[0]
    assert blobs.join(parts) == whole


def test_nothing_is_joined_where_a_part_is_not_there(blobs):
    with pytest.raises(NotFound):
        blobs.join([blobs.put("exports", b"1"), f"exports/{'0' * 64}"])
    with pytest.raises(NotFound):
        blobs.join(["../corpus.sqlite3"])


def test_a_file_that_was_deleted_is_gone_and_may_be_put_again(blobs):
    key, other = blobs.put("files", PDF, ".pdf"), blobs.put("files", b"other", ".pdf")
    blobs.delete(key)
    blobs.delete(key)
    with pytest.raises(NotFound):
        blobs.get(key)
    assert blobs.get(other) == b"other"
    assert blobs.get(blobs.put("files", PDF, ".pdf")) == PDF


@pytest.mark.parametrize("key", HOSTILE)
def test_a_hostile_key_deletes_nothing(blobs, key):
    kept = blobs.put("reports", PDF)
    blobs.delete(key)
    assert blobs.get(kept) == PDF


def test_the_files_of_a_folder_go_and_those_of_others_stay(blobs):
    gone = [blobs.put("files/0a", each) for each in (PDF, b"", b"1")]
    kept = [blobs.put(folder, PDF) for folder in ("files", "files/0a/t1", "files/0ab", "uploads/0a")]
    blobs.drop("files/0a")
    blobs.drop("files/0a")
    for each in gone:
        with pytest.raises(NotFound):
            blobs.get(each)
    assert [blobs.get(each) for each in kept] == [PDF] * 4
    for folder in ("", "..", "files/"):
        with pytest.raises(InvalidInput):
            blobs.drop(folder)


def test_a_file_is_streamed(blobs):
    content = bytes(range(256)) * 9_000
    pieces = list(blobs.stream(blobs.put("exports", content)))
    assert b"".join(pieces) == content
    assert len(pieces) > 1


@pytest.mark.parametrize("key", [f"exports/{'0' * 64}", "../corpus.sqlite3"])
def test_what_is_not_there_is_not_found_before_it_is_streamed(blobs, key):
    with pytest.raises(NotFound):
        blobs.stream(key)
