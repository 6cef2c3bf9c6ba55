"""PubMed XML in files: the first bytes decide how it is unpacked."""

import gzip
import lzma
import os

import pytest

from bio_mcp.errors import InvalidInput, NcbiUnreadable
from bio_mcp.literature.medline import open_records

XML = (
    b"<PubmedArticleSet>"
    + b"".join(
        b'<PubmedArticle><MedlineCitation><PMID Version="1">%d</PMID></MedlineCitation></PubmedArticle>' % n
        for n in range(1, 2001)
    )
    + b"</PubmedArticleSet>"
)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress], ids=["plain", "gzip", "xz"])
def test_a_file_is_unpacked_whatever_its_name_says(tmp_path, pack):
    path = tmp_path / "records.bin"
    path.write_bytes(pack(XML))
    assert [record.pmid for record in open_records(path)] == [str(n) for n in range(1, 2001)]


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gzip", "xz"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "header only"])
def test_a_damaged_archive_is_reported_without_its_path(tmp_path, pack, damage):
    packed = bytearray(pack(XML))
    if damage == "cut":
        packed = packed[: len(packed) // 2]
    elif damage == "flipped":
        packed[len(packed) // 2] ^= 0xFF
    else:
        packed = packed[:12]
    path = tmp_path / "secret-name.gz"
    path.write_bytes(packed)
    with pytest.raises(NcbiUnreadable) as refused:
        list(open_records(path))
    assert "secret-name" not in str(refused.value)
    assert not refused.value.retryable or "Fetch" in str(refused.value)


@pytest.mark.parametrize("name", ["missing.xml", "."])
def test_a_file_that_cannot_be_read_is_the_callers_to_mend(tmp_path, name):
    with pytest.raises(InvalidInput) as refused:
        list(open_records(tmp_path / name))
    assert str(tmp_path) not in str(refused.value)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="readable file"):
        list(open_records(tmp_path / "pipe"))


def test_an_empty_file_is_no_pubmed_xml(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(NcbiUnreadable, match="empty"):
        list(open_records(tmp_path / "empty"))
